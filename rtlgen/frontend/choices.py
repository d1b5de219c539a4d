"""Choices that the iterators decide: where each is made, and what is left there.

a[i < 4 ? i : i + 2] = x;       where i < 4:  a[i] = x;      where i >= 4:  a[i + 2] = x;
j < i % 2                       where i is even:  j < 0;     where i is odd:  j < 1
"""

from __future__ import annotations

from rtlgen.frontend.cases import MAX_CASES, Cases, cases_of, possible
from rtlgen.frontend.divisions import divisions_in
from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Congruence
from rtlgen.ir.expr import Expr, Read, ScalarParameter, Select, children, walk, with_children

MAX_RESIDUES = 16
"""Cases that a quotient or remainder of iterators is taken apart into."""


def is_by_iterators(expr: Expr) -> bool:
    """Return whether a value depends on nothing but the iterators."""
    return not any(isinstance(node, Read | ScalarParameter) for node in walk(expr))


def choice_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where each choice in a value is made in one way, if there is one to be made.

    The cases exclude one another, and one of them always holds.
    """
    for node in walk(expr):
        if not isinstance(node, Select):
            continue
        chosen = cases_of(node.condition, False, ranges, strides=True)
        other = cases_of(node.condition, True, ranges, strides=True)
        if chosen and other is None:
            other = _other_residues(chosen)
        if chosen and other and len(chosen) + len(other) <= MAX_CASES:
            return (*chosen, *other)
    return None


def division_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where a quotient or remainder in a value is affine, if a few cases tell.

    The cases exclude one another, and one of them always holds.
    """
    for division in divisions_in(expr):
        cases = possible(division.cases(ranges, MAX_RESIDUES), ranges)
        if len(cases) > 1:
            return cases
    return None


def _other_residues(cases: Cases) -> Cases | None:
    """Return where a remainder is another one, if that is what the cases are about."""
    match cases:
        case ((Congruence(form, modulus),),) if modulus <= MAX_CASES:
            return tuple((Congruence(form - rest, modulus),) for rest in range(1, modulus))
    return None


def is_decided(condition: Expr, ranges: Ranges) -> bool | None:
    """Return whether a condition always holds, or never; None where it may do either."""
    cases = cases_of(condition, False, ranges, strides=True)
    if cases in ((), ((),)):
        return cases != ()
    return True if cases_of(condition, True, ranges, strides=True) == () else None


def settled(expr: Expr, ranges: Ranges) -> Expr:
    """Return a value without the choices that are made already."""
    if isinstance(expr, Select):
        decided = is_decided(expr.condition, ranges)
        if decided is not None:
            return settled(expr.if_true if decided else expr.if_false, ranges)
    return with_children(expr, tuple(settled(part, ranges) for part in children(expr)))
