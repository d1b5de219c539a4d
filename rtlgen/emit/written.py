"""The program as parsed, whose order is that of its own loops."""

from __future__ import annotations

from collections.abc import Mapping

from rtlgen.ir.affine import Affine
from rtlgen.ir.code import (
    Code,
    For,
    If,
    Operation,
    Run,
    all_of,
    condition_of,
    fresh,
    index_of,
)
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, StatementNode


def written(scop: Scop, taken: frozenset[str]) -> tuple[Code, ...]:
    """Return the loop tree of `scop`; no variable is called as one of `taken`."""
    return _nodes(scop, scop.tree, {}, taken)


def _nodes(
    scop: Scop, nodes: tuple[Node, ...], names: Mapping[str, Affine], taken: frozenset[str]
) -> tuple[Code, ...]:
    code: list[Code] = []
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                name = fresh(loop.iterator, taken)
                inner = {**names, loop.iterator: Affine.variable(name)}
                code.append(_loop(loop, name, names, _nodes(scop, body, inner, taken | {name})))
            case ConditionNode(conditions, body):
                condition = all_of([condition_of(c.substitute(names)) for c in conditions])
                inside = _nodes(scop, body, names, taken)
                code += inside if condition is None else [If(condition, inside)]
            case StatementNode(statement):
                iterators = scop.statement(statement).iterators
                code.append(Run(statement, tuple(index_of(names[i]) for i in iterators)))
    return tuple(code)


def _loop(loop: Loop, name: str, names: Mapping[str, Affine], body: tuple[Code, ...]) -> For:
    counter = index_of(Affine.variable(name) * loop.scale)
    stop = index_of(loop.stop.substitute(names))
    before = Operation("lt" if loop.step > 0 else "gt", (counter, stop))
    return For(name, index_of(loop.start.substitute(names)), before, loop.step, body)
