"""Which scalars a run on intervals keeps apart: flags, and those that say where something lies."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    Read,
    Scatter,
    Select,
    children,
    walk,
)
from rtlgen.ir.scop import ConditionNode, LoopNode, Node, Scop, Statement
from rtlgen.ir.types import IntType
from rtlgen.ir.value_ranges import is_truth

MAX_RELATED = 10
"""Scalars of which it is known how they are related."""


def likely_ends(scop: Scop) -> list[float]:
    """Return numbers that may bound something, in rising order, and infinity."""
    nodes = [node for s in scop.statements for node in walk(s.expr)]
    asked = [x for x in nodes if isinstance(x, Binary) and x.op in COMPARISONS]
    found = {side.value for x in asked for side in children(x) if isinstance(side, Constant)}
    found |= {extent for array in scop.arrays for extent in array.shape}
    near = {sign * x + by for x in (*found, 0) for sign in (1, -1) for by in (-1, 0, 1)}
    return [*sorted(float(x) for x in near if abs(x) < 1 << 32), inf]


def flags_of(scop: Scop) -> list[str]:
    """Return the scalars that are 0 or 1 whenever the program sets them."""
    found = {a.name: None for a in scop.arrays if not a.shape}

    def is_flag(expr: Expr, statement: Statement) -> bool:
        match expr:
            case Read(index):
                return statement.reads[index].array in found
            case Cast(operand):
                return is_flag(operand, statement)
            case Select(_, if_true, if_false):
                return is_flag(if_true, statement) and is_flag(if_false, statement)
        return is_truth(expr)

    is_less = True
    while is_less:
        others = [s.write.array for s in scop.statements if not is_flag(s.expr, s)]
        is_less = not found.keys().isdisjoint(others)
        found = {name: None for name in found if name not in others}
    return list(found)


def related_scalars(scop: Scop) -> list[str]:
    """Return the scalars that say where something lies, and those that these hang together with."""
    flags = flags_of(scop)
    whole = {a.name for a in scop.arrays if not a.shape and isinstance(a.element, IntType)}
    found: dict[str, None] = {}
    linked: list[list[str]] = []
    for statement in scop.statements:

        def scalars(expr: Expr, statement: Statement = statement) -> list[str]:
            names = (statement.reads[x.index].array for x in walk(expr) if isinstance(x, Read))
            return [name for name in names if name in whole]

        for node in walk(statement.expr):
            if isinstance(node, Read | Scatter):
                at = node.at
                found |= dict.fromkeys(name for part in at for name in scalars(part))
            if isinstance(node, Binary) and node.op in COMPARISONS:
                linked.append([*_summed(node.left, statement), *_summed(node.right, statement)])
        if statement.write.array in whole and statement.write.array not in flags:
            linked.append([statement.write.array, *_summed(statement.expr, statement)])
    linked = [[name for name in names if name in whole] for names in linked]
    is_more = True
    while is_more and len(found) < MAX_RELATED:
        more = [n for names in linked if not found.keys().isdisjoint(names) for n in names]
        is_more = not found.keys() >= set(more)
        found |= dict.fromkeys(more)
    return list(found)[:MAX_RELATED]


def _summed(expr: Expr, statement: Statement) -> list[str]:
    """Return the scalars that an expression is a sum, or a choice, of."""
    match expr:
        case Read(index) if not expr.at:
            return [statement.reads[index].array]
        case Cast() | Binary("add" | "sub" | "mul" | "div" | "shr"):
            return [name for part in children(expr) for name in _summed(part, statement)]
        case Select(_, if_true, if_false):
            return [*_summed(if_true, statement), *_summed(if_false, statement)]
    return []


def iterators_of(nodes: Sequence[Node]) -> list[str]:
    """Return the names of iterators."""
    found: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, LoopNode):
            found[node.loop.iterator] = None
        if isinstance(node, LoopNode | ConditionNode):
            found |= dict.fromkeys(iterators_of(node.body))
    return list(found)
