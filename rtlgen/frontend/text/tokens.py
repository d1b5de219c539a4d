"""C tokens: how text is cut into them, where each stood, and GNU C's other spellings.

pcpp's lexer, with C's numbers (C23 6.4.8): `0x1F`, `12ULL`, `1e-5` and `1'000` are one token.

pcpp cuts them where its own patterns end, and takes what is left for something else: the `x` of
`0x##x` for a parameter of the macro, the separators of digits for the quotes of a character.

GNU C's other spellings, and attributes that change no value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

from pcpp import parser

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedDeclaration
from rtlgen.frontend.text.constants import float_constant
from rtlgen.ir.float_arithmetic import to_fraction
from rtlgen.ir.types import C_FLOAT_NAMES, FloatType
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Origin:
    """A stretch of a file: absolute path, offset, length."""

    path: str
    offset: int
    length: int


def adjacent(left: Any, right: Any) -> bool:
    """Return whether two pieces stood side by side in one text, so that they may be one token."""
    return bool(
        left.lexpos + len(left.value) == right.lexpos
        and getattr(left, "expanded_from", []) == getattr(right, "expanded_from", [])
        and left.source == right.source
    )


def mark_results(before: list[Any], after: list[Any]) -> None:
    """Give every token of `after` that a macro made the place of the macro's call.

    Tokens that no macro touched are the same objects in both lists, in the same order; what lies
    between two of them in `before` is the call of the macro that made what lies between them in
    `after`. An argument of a macro keeps the place where it was written.
    """
    position = {id(token): index for index, token in enumerate(before)}
    untouched = [
        (index, position[id(token)])
        for index, token in enumerate(after)
        if id(token) in position and not token.expanded_from
    ]
    previous_after, previous_before = -1, -1
    for index, place in [*untouched, (len(after), len(before))]:
        call = [t for t in before[previous_before + 1 : place] if t.value.strip()]
        for token in after[previous_after + 1 : index]:
            if not hasattr(token, "origin"):
                token.origin = _call_origin(call) if call else before[-1].origin
        previous_after, previous_before = index, place


def _call_origin(call: list[Any]) -> Origin:
    first: Origin = call[0].origin
    last: Origin = call[-1].origin
    return Origin(first.path, first.offset, last.offset + last.length - first.offset)


class LineTable:
    """Offsets of the lines of a file as pcpp sees it: right-stripped, joined by newlines."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = [line.rstrip() for line in text.splitlines()]
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, offset: int, length: int) -> Span:
        """Return the place of a stretch of text, cut off at the end of its first line."""
        index = min(bisect_right(self._starts, offset), len(self._lines)) - 1
        if index < 0:
            return Span(self._path, 1, 1)
        column = offset - self._starts[index]
        room = len(self._lines[index]) - column
        return Span(self._path, index + 1, column + 1, max(1, min(length, room)))

    def line_span(self, number: int) -> Span:
        """Return the place of a whole line without its indentation."""
        text = self._lines[number - 1] if number <= len(self._lines) else ""
        lead = len(text) - len(text.lstrip())
        return Span(self._path, number, lead + 1, max(1, len(text) - lead))


_PUNCTUATOR = (
    r"<<=|>>=|\.\.\.|::|->|\+\+|--|<<|>>|&&|\|\||[<>=!+\-*/%&|^]=|##|[][(){}.&*+\-~!/%<>^|?:;=,#]"
)

NUMBER = r"0[xX](?:[pP][+-]|'(?=\w)|[\w.])*|\.?\d(?:[eE][+-]|'(?=\w)|[\w.])*"
"""Numbers as the preprocessor has them, whatever they mean."""

_TOKEN = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<wide>(?:u8|[LuU])'(?:\\.|[^'\\\n])*'?)"
    r"|(?P<word>[A-Za-z_]\w*)"
    rf"|(?P<number>{NUMBER})"
    r"|(?P<quoted>'(?:\\.|[^'\\\n])*'?|\"(?:\\.|[^\"\\\n])*\"?)"
    rf"|(?P<punctuator>{_PUNCTUATOR})"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the preprocessed program, or a whole `#pragma` line.

    Members
    -------
    span: the place in the user's file; for the result of a macro, the call of the macro.
    """

    text: str
    span: Span


def split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each C token of `text`, without comments and white space."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup not in ("comment", "space"):
            yield match.start(), match.group()


def open_comment(text: str) -> int | None:
    """Return the offset of a comment that is never closed, if there is one."""
    for match in _TOKEN.finditer(text):
        comment = match.group("comment")
        if comment is not None and comment.startswith("/*") and not comment[2:].endswith("*/"):
            return match.start()
    return None


def torn_token(text: str) -> int | None:
    """Return the offset of a token that goes on behind a backslash at the end of its line."""
    end, before = 0, ""
    continued = False
    for offset, token in split(text):
        if continued and offset == end and len(list(split(before[-1] + token[0]))) == 1:
            return offset
        is_adjacent = offset == end and bool(before)
        continued = token == "\\" and is_adjacent and text[offset + 1 : offset + 2] == "\n"
        if continued:
            end = offset + 2
        else:
            end, before = offset + len(token), token
    return None


def words(text: str) -> frozenset[str]:
    """Return every identifier and keyword in `text`, comments left out."""
    return frozenset(word for _, word in split(text) if word[0].isalpha() or word[0] == "_")


def scalar_parameter_names(text: str) -> dict[str, frozenset[str]]:
    """Return, for each function defined in `text`, the names of its scalar parameters.

    It looks at the text before preprocessing: a `-D` that fixes a parameter must be told from
    one that defines a macro before the macro destroys the parameter list.
    """
    tokens = [token for _, token in split(text)]
    found: dict[str, frozenset[str]] = {}
    depth = 0
    for index, token in enumerate(tokens):
        if token == "(" and depth == 0 and index and words(tokens[index - 1]):
            close = _closing(tokens, index)
            typed = None if close is None else _types_behind(tokens, close + 1)
            if close is not None and typed is not None:
                found[tokens[index - 1]] = _scalars([*tokens[index + 1 : close], *typed])
        depth += {"{": 1, "}": -1}.get(token, 0)
    return found


def _closing(tokens: list[str], start: int) -> int | None:
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index], 0)
        if depth == 0:
            return index
    return None


def _types_behind(tokens: list[str], start: int) -> list[str] | None:
    """Return the declarations between a parameter list and a function's body, each behind a comma.

    There are some in definitions in the old style only; None is returned where no body follows.
    """
    end = next((k for k in range(start, len(tokens)) if tokens[k] in ("{", "(", ")", "=")), None)
    if end is None or tokens[end] != "{" or (end > start and tokens[end - 1] != ";"):
        return None
    declared: list[str] = []
    for token in tokens[start:end]:
        if token == ";":
            declared.append(",")
        elif token == "," and declared:
            # One type for several names.
            declared += [",", "int"]
        else:
            declared.append(token)
    return [",", *declared]


def _scalars(tokens: list[str]) -> frozenset[str]:
    """Return the names in a parameter list whose last token is a plain name after a type."""
    names: set[str] = set()
    part: list[str] = []
    depth = 0
    for token in [*tokens, ","]:
        if token == "," and depth == 0:
            if len(part) > 1 and all(words(piece) for piece in part):
                names.add(part[-1])
            part = []
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        part.append(token)
    return frozenset(names)


def preprocessor_lexer() -> Any:
    """Return a lexer for one run of pcpp."""
    return _lexer().clone()


@cache
def _lexer() -> Any:
    rules = ModuleType("rules")
    mine = {name: rule for name, rule in vars(parser).items() if name.startswith("t_")}
    vars(rules).update(mine, t_CPP_INTEGER=_number)
    vars(rules).update(tokens=parser.tokens, literals=parser.literals, __file__=parser.__file__)
    return parser.lex.lex(module=rules, optimize=True, lextab="")


def _number(token: Any) -> Any:
    return token


_number.__doc__ = NUMBER


_ATTRIBUTE = ("__attribute__", "__attribute")
_SPELLINGS = {
    f"__{word}{end}": word
    for word in ("restrict", "inline", "const", "signed", "volatile")
    for end in ("", "__")
} | {"__typeof": "typeof", "__typeof__": "typeof", "__auto_type": "auto"}
_HARMLESS = frozenset(
    (
        "access", "aligned", "alloc_align", "alloc_size", "always_inline", "artificial",
        "assume_aligned", "cold", "const", "deprecated", "fallthrough", "flatten", "format",
        "format_arg", "gnu_inline", "hot", "leaf", "malloc", "may_alias", "noclone", "noinline",
        "no_instrument_function", "nonnull", "noreturn", "no_sanitize", "nothrow", "optimize",
        "pure", "returns_nonnull", "section", "sentinel", "target", "unused", "used",
        "visibility", "warn_unused_result",
    )
)  # fmt: skip


def plain_c(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the tokens of the program in standard C.

    Raises
    ------
    UnsupportedDeclaration: an attribute may change what the program computes.
    """
    return tuple(_plain(tokens))


def _plain(tokens: Sequence[Token]) -> Iterator[Token]:
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.text in _ATTRIBUTE:
            end = _behind_brackets(tokens, index)
            _check(tokens[index:end])
            index = end
        elif token.text == "_Pragma":
            # What directives would have kept of it marks nothing inside of a line.
            index = _behind_brackets(tokens, index)
        elif token.text == "..." and tokens[index - 2].text not in ("(", ","):
            # Not the open end of parameters but a range, `case 1 ... 4:`.
            yield replace(token, text=f"? {THROUGH} :")
        elif token.text not in ("__extension__", "register"):
            text = _SPELLINGS.get(token.text) or _spelled_number(token.text)
            yield token if text is None else replace(token, text=text)


THROUGH = "__through"
"""What GNU C's ranges choose: `1 ... 4` is read as `1 ? __through : 4`, which binds as loosely."""

_HEXADECIMAL = re.compile(r"(0[xX][0-9a-fA-F']+)([pP].*)")
_NAMED = re.compile(
    r"0[xX][0-9a-fA-F'.]+[pP][+-]?\d+(?:(?:bf|BF|[fF])\d+|[fF])"
    r"|[\d'.]+(?:[eE][+-]?\d+)?(?:bf|BF|[fF])\d+"
)


def _spelled_number(text: str) -> str | None:
    """Return a floating constant as older C spells it, if it has another form.

    Rewrite
    -------
        0x1p-3f         0x1.p-3f
        0.1f16          ((_Float16)0x1.998p-4)      that number, which is a `double`, too
    """
    if _NAMED.fullmatch(text):
        try:
            bits, type_ = float_constant(text)
        except ValueError:
            return None
        if bits >= type_.infinity:
            return f"(({C_FLOAT_NAMES[type_]})(1e999))"
        return f"(({C_FLOAT_NAMES[type_]}){_as_double(bits, type_).hex()})"
    match = _HEXADECIMAL.fullmatch(text)
    return None if match is None else f"{match[1]}.{match[2]}"


def _as_double(bits: int, type_: FloatType) -> float:
    value = to_fraction(bits, type_)
    return value.numerator / value.denominator


def _behind_brackets(tokens: Sequence[Token], start: int) -> int:
    """Return where the brackets that open at `start` are closed, or `start`."""
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index + 1 if index > start else start
    return start


def _check(attributes: Sequence[Token]) -> None:
    """Refuse an attribute that is not known to be harmless."""
    depth = 0
    for token in attributes:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        is_name = depth == 2 and (token.text[0].isalpha() or token.text[0] == "_")
        if is_name and not is_harmless(token.text):
            raise attribute_refusal(token.text, token.span)


def is_harmless(attribute: str) -> bool:
    """Return whether an attribute of GNU C is known to change no value."""
    return attribute.strip("_") in _HARMLESS


def attribute_refusal(name: str, span: Span) -> UnsupportedDeclaration:
    """Return the refusal of an attribute that is not known to be harmless."""
    return UnsupportedDeclaration(
        f"the attribute `{name}` is not supported",
        labels=(Label(span),),
        help="leave it out, if the values do not depend on it",
    )
