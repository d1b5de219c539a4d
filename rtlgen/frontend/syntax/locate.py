"""Where a node stands in the user's file, and what a declaration says of its type.

The parser is given one token a line (see `syntax.parse`), so the line of a coordinate is the number
of a token, and the tokens know their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.text.tokens import Token
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType, IntType, NumberType
from rtlgen.source import SourceFile, Span

MAX_ELEMENTS = 1 << 26
"""Of one array: ten times what the largest FPGAs hold, and what a compiler can hold as well."""

_WIDTHS = {(): 32, ("char",): 8, ("short",): 16, ("long",): 64, ("long", "long"): 64}
"""Bits of an integer type by its size words, sign and `int` left out."""

OPEN = 0
"""The extent of the first dimension of a parameter that does not state it."""


@dataclass(frozen=True, slots=True)
class CType:
    """An arithmetic type, or an array of it. `element` None is `void`.

    The first extent of a parameter is `OPEN` where it is a pointer.
    """

    element: NumberType | None
    shape: tuple[int, ...]
    is_const: bool


_FLOATS = {
    "float": FLOAT32, "double": FLOAT64, "_Float16": FLOAT16, "__bf16": BFLOAT16,
    "_Float32": FLOAT32, "_Float64": FLOAT64, "_Float32x": FLOAT64,
}  # fmt: skip
"""Floating-point types: C's, C23's interchange types, and what gcc calls the short one."""


def arithmetic_type(names: Sequence[str]) -> NumberType | None:
    """Return the type of numbers that keywords spell, if they do."""
    return float_type(names) or integer_type(names)


def float_type(names: Sequence[str]) -> FloatType | None:
    """Return the floating-point type that keywords spell, if they do."""
    return _FLOATS.get(names[0]) if len(names) == 1 else None


def integer_type(names: Sequence[str]) -> IntType | None:
    """Return the integer type that keywords spell, if they do (C11 6.7.2).

    There is one sign at most, and one `int` at most, which `char` does not take.
    """
    words = sorted(names)
    if words == ["_Bool"]:
        return IntType(8, False, is_bool=True)
    signs = [word for word in words if word in ("signed", "unsigned")]
    size = tuple(word for word in words if word not in ("signed", "unsigned", "int"))
    most = 0 if size == ("char",) else 1
    if len(signs) > 1 or words.count("int") > most or size not in _WIDTHS:
        return None
    return IntType(_WIDTHS[size], "unsigned" not in signs)


_CLOSER = {"(": ")", "[": "]", "{": "}"}


class Locator:
    """The places of syntax nodes.

    Parameters
    ----------
    tokens: the program; line k of the parser's input is token k - `first_line`.
    """

    def __init__(
        self, tokens: Sequence[Token], first_line: int, sources: dict[str, SourceFile]
    ) -> None:
        self._tokens = tokens
        self._first_line = first_line
        self._sources = sources
        # The node is kept with its range: no other one can have its identity.
        self._ranges: dict[int, tuple[c_ast.Node, tuple[int, int]]] = {}
        self._texts: dict[int, tuple[c_ast.Node, tuple[int, int]]] = {}

    def keep(self, node: c_ast.Node) -> None:
        """Remember the text of a node whose parts are going to be replaced."""
        self._range(node)

    def stand_in(self, made: c_ast.Node, node: c_ast.Node) -> c_ast.Node:
        """Give a node that takes the place of another one the same text; return it."""
        self._texts[id(made)] = made, self._range(node)
        return made

    def is_above(self, node: c_ast.Node) -> bool:
        """Return whether a declaration stands before the program: a header has it."""
        return node.coord is not None and node.coord.line < self._first_line

    def index(self, line: int) -> int:
        """Return the token on `line` of the parser's input, or the nearest one."""
        return max(0, min(line - self._first_line, len(self._tokens) - 1))

    def token_span(self, line: int) -> Span:
        """Return the place of the token on `line` of the parser's input."""
        return self._tokens[self.index(line)].span

    def start(self, node: c_ast.Node) -> Span:
        """Return the place of the first token of `node`, such as a keyword."""
        return self._tokens[self._range(node)[0]].span

    def span(self, node: c_ast.Node) -> Span:
        """Return the place of `node`, up to the end of its first line."""
        first, last = self._range(node)
        return self._join(first, last)

    def text(self, node: c_ast.Node) -> str:
        """Return the user's text of `node`, on one line."""
        first, last = self._range(node)
        spans = [token.span for token in self._tokens[first : last + 1]]
        start = min(spans, key=lambda span: (span.line, span.column))
        end = max(spans, key=lambda span: (span.line, span.column + span.length))
        if any(span.file != start.file for span in spans):
            return " ".join(token.text for token in self._tokens[first : last + 1])
        lines = [self._sources[start.file].line(n) for n in range(start.line, end.line + 1)]
        lines[-1] = lines[-1][: end.column - 1 + end.length]
        lines[0] = lines[0][start.column - 1 :]
        return " ".join(line.strip() for line in lines)

    def name_span(self, node: c_ast.Node, name: str) -> Span:
        """Return the place of the token `name` inside a declaration, or of the declaration."""
        first, last = self._range(node)
        for token in self._tokens[first : last + 1]:
            if token.text == name:
                return token.span
        return self._join(first, last)

    def _join(self, first: int, last: int) -> Span:
        """Return the hull of some tokens, cut off at the end of the line of the first one."""
        start = self._tokens[first].span
        spans = [token.span for token in self._tokens[first : last + 1]]
        same_line = [s for s in spans if (s.file, s.line) == (start.file, start.line)]
        left = min(span.column for span in same_line)
        right = max(span.column + span.length for span in same_line)
        if len(same_line) < len(spans) and spans[-1].line > start.line:
            right = max(right, len(self._sources[start.file].line(start.line).rstrip()) + 1)
        return Span(start.file, start.line, left, right - left)

    def _range(self, node: c_ast.Node) -> tuple[int, int]:
        """Return the first and last token of `node`, brackets matched."""
        known = self._ranges.get(id(node))
        if known is not None:
            return known[1]
        extent = self._extent(node)
        found = self._balance(*extent) if extent else (0, 0)
        self._ranges[id(node)] = node, found
        return found

    def _extent(self, node: c_ast.Node) -> tuple[int, int] | None:
        """Return the hull of what the coordinates at and below `node` name."""
        known = self._texts.get(id(node))
        if known is not None:
            return known[1]
        parts = [self._extent(child) for _, child in node.children()]
        found = [part for part in parts if part is not None]
        if node.coord is not None:
            at = self.index(node.coord.line)
            found.append((at, at))
        if not found:
            return None
        first, last = min(part[0] for part in found), max(part[1] for part in found)
        if isinstance(node, c_ast.UnaryOp):
            if node.op in ("p++", "p--"):
                last = self._find(last, 1, node.op[1:])
            else:
                first = self._find(first, -1, node.op)
        return first, last

    def _find(self, index: int, step: int, text: str) -> int:
        """Return the nearest token `text` from `index` on, with only parentheses in between."""
        at = index
        while 0 <= at < len(self._tokens) and self._tokens[at].text != text:
            if at != index and self._tokens[at].text not in ("(", ")", "]"):
                return index
            at += step
        return at if 0 <= at < len(self._tokens) else index

    def _balance(self, first: int, last: int) -> tuple[int, int]:
        """Widen a range of tokens until its brackets match: coordinates leave them out."""
        pending: list[str] = []
        missing = 0
        for token in self._tokens[first : last + 1]:
            if token.text in _CLOSER:
                pending.append(_CLOSER[token.text])
            elif pending and token.text == pending[-1]:
                pending.pop()
            elif token.text in _CLOSER.values():
                missing += 1
        while missing and first > 0 and self._tokens[first - 1].text in _CLOSER:
            first -= 1
            missing -= 1
        while pending and last + 1 < len(self._tokens):
            last += 1
            if self._tokens[last].text in _CLOSER:
                pending.append(_CLOSER[self._tokens[last].text])
            elif self._tokens[last].text == pending[-1]:
                pending.pop()
        return first, last
