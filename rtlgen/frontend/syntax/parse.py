"""Tokens to syntax tree, by pycparser."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from pycparser import c_ast, c_parser

from rtlgen.errors import Label
from rtlgen.frontend.errors import CSyntaxError, TooDeep
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.newer_c import is_newer_c, newer_c_as_older
from rtlgen.frontend.text.headers import header_of
from rtlgen.frontend.text.tokens import Token
from rtlgen.source import SourceFile

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
