"""Loops, tests, assignments and index expressions as lines of C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rtlgen.ir.code import Assign, Code, For, If, Index, Let, Number, Operation, Run, Variable

_PRECEDENCE = {
    "or": 1, "and": 2, "eq": 3, "ne": 3, "lt": 4, "le": 4, "gt": 4, "ge": 4, "add": 5, "sub": 5,
    "mul": 6, "div": 6, "mod": 6, "neg": 7,
}  # fmt: skip
_SYMBOLS = {
    "or": "||", "and": "&&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%",
}  # fmt: skip
_ATOM = 8

CALLS = {
    "floord": "a < 0 ? -((b - 1 - a) / b) : a / b",
    "ceild": "a < 0 ? -(-a / b) : (a + b - 1) / b",
    "min": "a < b ? a : b",
    "max": "a > b ? a : b",
}
"""The functions that C does not have, by their values for `a` and `b`."""


def index_text(index: Index, calls: Mapping[str, str]) -> str:
    """Return `index` as C.

    Parameters
    ----------
    calls: what each function of `CALLS` is called.
    """
    return _text(index, calls)[0]


def _text(index: Index, calls: Mapping[str, str]) -> tuple[str, int]:
    """Return the text of an index and how tightly its outermost operator binds."""
    match index:
        case Number(value):
            return str(value), _ATOM if value >= 0 else _PRECEDENCE["add"]
        case Variable(name):
            return name, _ATOM
        case Operation("neg", (operand,)):
            return f"-{_inside(operand, calls, _ATOM)}", _PRECEDENCE["neg"]
        case Operation("select", (condition, a, b)):
            parts = [_inside(part, calls, 1) for part in (condition, a, b)]
            return f"({parts[0]} ? {parts[1]} : {parts[2]})", _ATOM
        case Operation(op, operands) if op in CALLS:
            return f"{calls[op]}({', '.join(_text(o, calls)[0] for o in operands)})", _ATOM
        case Operation(op, (left, right)):
            own = _PRECEDENCE[op]
            first, second = _tightness(op, left)
            texts = (_inside(left, calls, first), _inside(right, calls, second))
            return f"{texts[0]} {_SYMBOLS[op]} {texts[1]}", own
        case _:
            raise ValueError(f"{index} is no index")


def _tightness(op: str, left: Index) -> tuple[int, int]:
    """Return how tightly the operands of `op` must bind to stand without parentheses."""
    own = _PRECEDENCE[op]
    if own >= _PRECEDENCE["add"]:
        return own, own + 1
    if own >= _PRECEDENCE["eq"]:
        return _PRECEDENCE["add"], _PRECEDENCE["add"]
    # && inside || needs none, but compilers warn of it.
    same = isinstance(left, Operation) and left.op == op
    return own if same else _PRECEDENCE["eq"], _PRECEDENCE["eq"]


def _inside(index: Index, calls: Mapping[str, str], tightness: int) -> str:
    """Return the text of an operand, in parentheses unless it binds at least so tightly."""
    text, own = _text(index, calls)
    return text if own >= tightness else f"({text})"


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
