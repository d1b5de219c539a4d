"""Loops, tests and assignments as lines of C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rtlgen.emit.indices import index_text
from rtlgen.ir.code import Assign, Code, For, If, Index, Let, Number, Operation, Run, Variable

INDENT = "  "


@dataclass(frozen=True, slots=True)
class LineWriter:
    """Writes code trees.

    Members
    -------
    calls: what each function of `indices.CALLS` is called.
    instance: the lines of a statement instance.
    """

    calls: Mapping[str, str]
    instance: Callable[[Run], list[str]]

    def lines(self, nodes: tuple[Code, ...], depth: int) -> Iterator[str]:
        """Yield the lines of `nodes`, indented `depth` times."""
        pad = INDENT * depth
        for node in nodes:
            match node:
                case For():
                    yield f"{pad}for ({self._header(node)}) {{"
                    yield from self.lines(node.body, depth + 1)
                    yield f"{pad}}}"
                case If():
                    yield from self._test(node, depth, f"{pad}if")
                case Let(variables, body):
                    begun = ", ".join(f"{name} = {self._text(value)}" for name, value in variables)
                    yield f"{pad}{{"
                    yield f"{pad}{INDENT}int64_t {begun};"
                    yield from self.lines(body, depth + 1)
                    yield f"{pad}}}"
                case Assign(variable, value):
                    yield f"{pad}{self._assignment(variable, value)};"
                case Run():
                    yield from (f"{pad}{line}" for line in self.instance(node))

    def _test(self, node: If, depth: int, head: str) -> Iterator[str]:
        pad = INDENT * depth
        yield f"{head} ({self._text(node.condition)}) {{"
        yield from self.lines(node.then, depth + 1)
        match node.otherwise:
            case ():
                yield f"{pad}}}"
            case (If() as following,):
                yield from self._test(following, depth, f"{pad}}} else if")
            case otherwise:
                yield f"{pad}}} else {{"
                yield from self.lines(otherwise, depth + 1)
                yield f"{pad}}}"

    def _header(self, loop: For) -> str:
        step = f"{loop.variable}++" if loop.step == 1 else f"{loop.variable} += {loop.step}"
        if loop.step < 0:
            step = f"{loop.variable}--" if loop.step == -1 else f"{loop.variable} -= {-loop.step}"
        first, condition = self._text(loop.first), self._text(loop.condition)
        return f"int64_t {loop.variable} = {first}; {condition}; {step}"

    def _assignment(self, variable: str, value: Index) -> str:
        if value == Operation("add", (Variable(variable), Number(1))):
            return f"{variable}++"
        return f"{variable} = {self._text(value)}"

    def _text(self, index: Index) -> str:
        return index_text(index, self.calls)


def bare(text: str) -> str:
    """Return an expression without the parentheses around all of it."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text
