"""Choices that the iterators decide: where each is made, and what is left there.

a[i < 4 ? i : i + 2] = x;       where i < 4:  a[i] = x;      where i >= 4:  a[i + 2] = x;
j < i % 2                       where i is even:  j < 0;     where i is odd:  j < 1
"""

from __future__ import annotations

from rtlgen.frontend.cases import MAX_CASES, Cases, cases_of, possible
from rtlgen.frontend.divisions import divisions_in
from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import (
    Binary,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    children,
    walk,
    with_children,
)

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


def truncation_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where the dividend of a quotient or remainder has one sign, if it may have either.

    C rounds towards zero: in each of the two cases that is one way.
    """
    for division in divisions_in(expr):
        cases = possible(division.signs(ranges), ranges)
        if len(cases) > 1:
            return cases
    return None


def product_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where a factor or divisor in a value is a number, if it is one of a few.

    a[i * j] = x;       where i = 0:  a[0] = x;     where i = 1:  a[j] = x;     ...
    """
    for node in walk(expr):
        match node:
            case Binary("mul", IndexValue(left), IndexValue(right)):
                forms = [left, right]
            case Binary("div" | "rem" | "shl" | "shr", _, IndexValue(right)):
                forms = [right]
            case _:
                continue
        cases = min((values_of(form, ranges) for form in forms), key=len)
        if 1 < len(cases) <= MAX_RESIDUES:
            return possible(cases, ranges)
    return None


def values_of(form: Affine, ranges: Ranges) -> Cases:
    """Return the cases in which a form has each of its values, as far as ranges tell."""
    low, high = ranges.minimum(form), ranges.maximum(form)
    # Of many there is no need to list more than tells that they are many.
    last = min(high, low + MAX_RESIDUES)
    return tuple((form - value, -form + value) for value in range(low, last + 1))


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
