"""Where a condition on iterators holds: cases that exclude one another, each a conjunction.

i != j                       i < j   or   i > j
i > 2 ? j < 4 : j == 0       i > 2 and j < 4   or   i <= 2 and j == 0
"""

from __future__ import annotations

from typing import TypeAlias

from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.remainders import remainder_cases
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.conditions import is_truth
from rtlgen.ir.expr import COMPARISONS, Binary, Cast, Constant, Expr, IndexValue, Select, Unary

Conjunction: TypeAlias = tuple[Constraint, ...]
"""What holds all at once where the condition holds. `()` always holds."""

Cases: TypeAlias = tuple[Conjunction, ...]
"""Conjunctions of which at most one holds at a time. `()` never holds."""

MAX_CASES = 8

_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


def cases_of(expr: Expr, negated: bool, ranges: Ranges, strides: bool) -> Cases | None:
    """Return the cases in which a value is not 0 (or is, if `negated`); None if it is not affine.

    Parameters
    ----------
    strides: take comparisons of remainders as affine conditions, too.
    """
    match expr:
        case Unary("lnot", operand):
            return cases_of(operand, not negated, ranges, strides)
        case Binary("ne" | "eq" as op, left, Constant(0)) if is_truth(left):
            return cases_of(left, negated != (op == "eq"), ranges, strides)
        case Binary(op, left, right) if op in COMPARISONS:
            return _compared(_NEGATED[op] if negated else op, left, right, ranges, strides)
        case Binary("and" | "or" as op, left, right) if is_truth(left) and is_truth(right):
            return _joined((op == "and") != negated, left, right, negated, ranges, strides)
        case Select(condition, if_true, if_false):
            arms = []
            for arm, otherwise in ((if_true, False), (if_false, True)):
                chosen = cases_of(condition, otherwise, ranges, strides)
                arms.append(both(chosen, cases_of(arm, negated, ranges, strides), ranges))
            return None if None in arms else tuple(case for arm in arms for case in arm or ())
        case Cast(operand) if is_truth(operand):
            return cases_of(operand, negated, ranges, strides)
        case _:
            zero = Constant(0, expr.type)
            return _compared("eq" if negated else "ne", expr, zero, ranges, strides)


def _compared(op: str, left: Expr, right: Expr, ranges: Ranges, strides: bool) -> Cases | None:
    a, b = _affine(left), _affine(right)
    if a is not None and b is not None:
        return possible(compared(op, a - b), ranges)
    if strides and op in ("eq", "ne"):
        for value, other in ((left, b), (right, a)):
            if other is not None and other.is_constant:
                cases = remainder_cases(value, op, other.constant, ranges)
                return None if cases is None else possible(cases, ranges)
    return None


def _joined(
    is_both: bool, left: Expr, right: Expr, negated: bool, ranges: Ranges, strides: bool
) -> Cases | None:
    first = cases_of(left, negated, ranges, strides)
    second = cases_of(right, negated, ranges, strides)
    if is_both:
        return both(first, second, ranges)
    return either(first, cases_of(left, not negated, ranges, strides), second, ranges)


def compared(op: str, difference: Affine) -> Cases:
    """Return where `difference op 0` holds."""
    below, above = -difference - 1, difference - 1
    match op:
        case "lt":
            return ((below,),)
        case "le":
            return ((-difference,),)
        case "gt":
            return ((above,),)
        case "ge":
            return ((difference,),)
        case "eq":
            return ((difference, -difference),)
        case _:
            return ((below,), (above,))


def both(left: Cases | None, right: Cases | None, ranges: Ranges) -> Cases | None:
    """Return where two conditions hold."""
    if left is None or right is None:
        return None
    return possible(tuple((*a, *b) for a in left for b in right), ranges)


def either(
    left: Cases | None, otherwise: Cases | None, right: Cases | None, ranges: Ranges
) -> Cases | None:
    """Return where one of two conditions holds; `otherwise` is where `left` does not."""
    rest = both(otherwise, right, ranges)
    return None if left is None or rest is None else (*left, *rest)


def possible(cases: Cases, ranges: Ranges) -> Cases:
    """Leave out cases that cannot hold, and conditions that hold anyway."""
    kept = []
    for case in cases:
        inside = ranges.under(case)
        if any(inside.maximum(c) < 0 for c in case if isinstance(c, Affine)):
            continue
        residues = {c: ranges.residue(c) for c in case if isinstance(c, Congruence)}
        if any(residues.values()):
            continue
        needed = [
            c
            for c in case
            if (residues[c] is None if isinstance(c, Congruence) else ranges.minimum(c) < 0)
        ]
        kept.append(tuple(dict.fromkeys(needed)))
    return tuple(kept)


def _affine(expr: Expr) -> Affine | None:
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
    return None
