"""GNU C's other spellings, and attributes that change no value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedDeclaration
from rtlgen.frontend.text.float_constants import float_constant
from rtlgen.frontend.text.tokens import Token
from rtlgen.ir.float_arithmetic import to_fraction
from rtlgen.ir.types import C_FLOAT_NAMES, FloatType
from rtlgen.source import Span

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
            end = _closing(tokens, index)
            _check(tokens[index:end])
            index = end
        elif token.text == "_Pragma":
            # What directives would have kept of it marks nothing inside of a line.
            index = _closing(tokens, index)
        elif token.text != "__extension__":
            text = _SPELLINGS.get(token.text) or _spelled_number(token.text)
            yield token if text is None else replace(token, text=text)


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


def _closing(tokens: Sequence[Token], start: int) -> int:
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
