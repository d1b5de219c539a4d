"""Values that follow from the iterators alone: they may stand wherever a scalar holds them.

int odd = i % 2;        int ok = j >= 0 && j < N;        int n = MIN(8, N - i);
"""

from __future__ import annotations

from itertools import islice

from rtlgen.frontend.choices import settled
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.values import Obstacle, ObstacleKind, Value, exact, opaque
from rtlgen.ir.expr import COMPARISONS, Binary, Cast, Expr, IndexValue, Read, Select, Unary, walk
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.quotients import simplified
from rtlgen.source import Span

MAX_NODES = 96
"""Largest expression that is computed again at each of its uses."""

_CHEAP = frozenset((*COMPARISONS, "and", "or", "add", "sub"))


def known_by_iterators(expr: Expr, ranges: Ranges) -> Expr | None:
    """Return an expression if it is cheap, and known for every iteration."""
    nodes = list(islice(walk(expr), MAX_NODES + 1))
    # A value may be known whatever is read for it, but a read belongs to its statement.
    if len(nodes) > MAX_NODES or any(isinstance(node, Read) for node in nodes):
        return None
    return expr if _is_known(expr, ranges) else None


def _is_known(expr: Expr, ranges: Ranges) -> bool:
    if quasi_affine(expr, ranges.boxes()) is not None:
        return True
    match expr:
        case Binary(op, left, right) if op in _CHEAP:
            return _is_known(left, ranges) and _is_known(right, ranges)
        case Unary("lnot", operand) | Cast(operand):
            return _is_known(operand, ranges)
        case Select(condition, if_true, if_false):
            return all(_is_known(part, ranges) for part in (condition, if_true, if_false))
    return False


def known_value_at(expr: Expr, ranges: Ranges, span: Span) -> Value:
    """Return the value of a scalar that holds a known expression, where it is used."""
    expr = settled(expr, ranges)
    reason = "a choice by iterators"
    known = quasi_affine(expr, ranges.boxes())
    if known is not None:
        found = simplified(known, ranges.boxes())
        if isinstance(found, IndexValue):
            return exact(found.affine, expr.type, span)
        reason = "a quotient or remainder of iterators"
    return opaque(expr, Obstacle(ObstacleKind.NONLINEAR, reason, span), span)
