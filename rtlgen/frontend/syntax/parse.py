"""Tokens to syntax tree, by pycparser, with C23's spellings in those of C11.

Rewrite
-------
    bool on = true;                        _Bool on = 1;
    constexpr int n = 8;                   static const int n = 8;
    [[maybe_unused]] int t;                int t;
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from pycparser import c_ast, c_parser

from rtlgen.errors import Label
from rtlgen.frontend.errors import CSyntaxError, TooDeep
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.text.headers import header_of
from rtlgen.frontend.text.tokens import Token, attribute_refusal, is_harmless
from rtlgen.source import SourceFile

_KEYWORDS = frozenset(
    (
        "alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert",
        "thread_local", "true", "typeof", "typeof_unqual",
    )
)  # fmt: skip
_NUMBERS = {"true": "1", "false": "0"}


def is_newer_c(tree: c_ast.FileAST, words: frozenset[str]) -> bool:
    """Return whether a file that is C11 means keywords of C23 by names that it does not declare.

    Parameters
    ----------
    words: the tokens of the program.
    """
    used = _KEYWORDS & words
    if not used:
        return False
    named = {node.name for node in below(tree) if isinstance(node, c_ast.ID)}
    declared = {
        node.name
        for node in below(tree)
        if isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Enumerator)
    }
    return bool(used & named - declared)


def newer_c_as_older(tree: c_ast.FileAST, locator: Locator) -> c_ast.FileAST:
    """Rewrite a file of C23 in place, and return it.

    Types that the file leaves to be found, and bit-precise ones, stay.

    Raises
    ------
    UnsupportedDeclaration: an attribute may change what the program computes.
    """
    for node in below(tree):
        if isinstance(node, c_ast.Attribute):
            _check(node, locator)
    for node in below(tree):
        for field in node.__slots__:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [_older(part) for part in value if not _is_attribute(part)]
            elif isinstance(value, c_ast.Node):
                setattr(node, field, _older(value))
    return tree


def _check(node: c_ast.Attribute, locator: Locator) -> None:
    # To pass over one of the standard's own never changes what is right (C23 6.7.13.2).
    if node.namespace is not None and not is_harmless(node.name):
        span = locator.span(node)
        raise attribute_refusal(f"{node.namespace}::{node.name}", span)


def _is_attribute(part: object) -> bool:
    return isinstance(part, c_ast.AttributeSpecifier | c_ast.AttributeDeclaration)


def _older(node: object) -> object:
    """Return what stands in place of a part of a node."""
    match node:
        case c_ast.AttributedStatement(stmt=inner) | c_ast.AttributedType(type=inner):
            return _older(inner)
        case c_ast.IdentifierType(names=names):
            node.names = ["_Bool" if name == "bool" else name for name in names]
        case c_ast.Constant(type="bool", value=text):
            return c_ast.Constant("int", _NUMBERS[text], node.coord)
        case c_ast.Decl(storage=[*storage]) if "constexpr" in storage:
            node.storage = [name for name in storage if name not in ("constexpr", "static")]
            node.storage.append("static")
            _make_const(node)
        case c_ast.Decl(storage=[*storage]) if "thread_local" in storage:
            node.storage = ["_Thread_local" if n == "thread_local" else n for n in storage]
    return node


def _make_const(node: c_ast.Decl) -> None:
    node.quals = [*node.quals, "const"]
    inner = node.type
    while isinstance(inner, c_ast.ArrayDecl):
        inner = inner.type
    if isinstance(inner, c_ast.TypeDecl | c_ast.PtrDecl):
        inner.quals = [*inner.quals, "const"]


_PLACE = re.compile(r"[^:\n]*:(\d+)(?::\d+)?: ")

MAX_BRACKETS = 200
MAX_LEVELS = 200

# Recursive descent takes some 20 Python frames a level of C; these do not use the C stack
# (CPython 3.11 and later), so the limit only stops what is deeper than is accepted anyway.
_PARSER_FRAMES = 20_000

_FIRST_LINE = 2
"""Line of the first token: above it are declarations that the text does not have."""


def parse(
    declarations: str, tokens: Sequence[Token], sources: dict[str, SourceFile]
) -> tuple[c_ast.FileAST, Locator]:
    """Return the syntax tree, and the locator of its nodes.

    Parameters
    ----------
    declarations: what stands before the program, on one line.

    Raises
    ------
    CSyntaxError: the tokens are not C.
    TooDeep: they are nested beyond the limits.
    """
    locator = Locator(tokens, _FIRST_LINE, sources)
    _check_brackets(tokens)
    text = "\n".join((declarations, *(token.text for token in tokens)))
    try:
        with deep_recursion():
            tree = _tree(text, frozenset(token.text for token in tokens), locator)
    except c_parser.ParseError as error:
        raise _syntax_error(str(error), tokens, locator) from error
    except RecursionError as error:
        raise TooDeep(
            f"the program is nested more than {MAX_LEVELS} levels deep",
            labels=(Label(tokens[0].span, "somewhere after here"),),
        ) from error
    _check_levels(tree, locator)
    return tree, locator


def _tree(text: str, words: frozenset[str], locator: Locator) -> c_ast.FileAST:
    """Return the syntax tree of a text: as C11, or as C23 where that cannot be meant."""
    try:
        tree = c_parser.CParser().parse(text)
    except c_parser.ParseError as error:
        try:
            return newer_c_as_older(c_parser.CParser(dialect="c23").parse(text), locator)
        except c_parser.ParseError as newer_error:
            # What gets further understands more of it.
            raise max(error, newer_error, key=_line) from error
    if is_newer_c(tree, words):
        with suppress(c_parser.ParseError):
            return newer_c_as_older(c_parser.CParser(dialect="c23").parse(text), locator)
    return tree


def _line(error: c_parser.ParseError) -> int:
    match = _PLACE.match(str(error))
    # What has no place is found at the end.
    return int(match[1]) if match else sys.maxsize


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow the recursion that the accepted nesting needs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _PARSER_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _check_brackets(tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        if depth > MAX_BRACKETS:
            raise TooDeep(
                f"brackets are nested more than {MAX_BRACKETS} deep", labels=(Label(token.span),)
            )


def _check_levels(tree: c_ast.FileAST, locator: Locator) -> None:
    stack: list[tuple[c_ast.Node, int]] = [(tree, 0)]
    while stack:
        node, level = stack.pop()
        if level > MAX_LEVELS:
            raise TooDeep(
                f"the program is nested more than {MAX_LEVELS} levels deep",
                labels=(Label(locator.token_span(node.coord.line)),) if node.coord else (),
                help="split the expression into several statements",
            )
        stack.extend((child, level + 1) for _, child in node.children())


def _syntax_error(text: str, tokens: Sequence[Token], locator: Locator) -> CSyntaxError:
    match = _PLACE.match(text)
    if match is None:
        # pycparser gives no place at the end of the input.
        message = text.rsplit(": ", 1)[-1].strip().lower()
        return CSyntaxError(
            f"syntax error {message}"
            if message.startswith("at end")
            else f"syntax error: {message}",
            labels=(Label(tokens[-1].span, "the last token"),) if tokens else (),
            help="a bracket or semicolon is missing" if message.startswith("at end") else None,
        )
    line = int(match.group(1))
    message = text[match.end() :].strip()
    if message.startswith("before: "):
        message = f"unexpected `{message.removeprefix('before: ')}`"
    else:
        message = message[:1].lower() + message[1:]
    labels = [Label(locator.token_span(line))]
    before = locator.index(line) - 1
    if before >= 0 and tokens[before].span.line < labels[0].span.line:
        labels.append(Label(tokens[before].span, "after this"))
    help_ = None
    if before >= 0 and _is_unknown_type(tokens[before].text, tokens[before + 1].text):
        word = tokens[before].text
        header = header_of(word)
        help_ = f"if `{word}` is a type, declare or include it before it is used"
        if header is not None:
            help_ = f"include the header that declares `{word}`: #include <{header}>"
    return CSyntaxError(f"syntax error: {message}", labels=labels, help=help_)


def _is_unknown_type(word: str, follower: str) -> bool:
    """Return whether two words in a row look like a declaration with a type nobody declared."""
    return bool(re.fullmatch(r"[A-Za-z_]\w*", word) and re.fullmatch(r"[A-Za-z_]\w*", follower))
