"""Quotients and remainders of affine forms, simplified until they are affine where they can be.

Rewrite
-------
    (8*i + j) / 8   ->   i                   where 0 <= j < 8
    (8*i + j) % 4   ->   j % 4
    (4*i + j) / 8   ->   i / 2               where 0 <= j < 4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.quasi_affine import bit_as_quotient, plain_quasi_affine
from rtlgen.ir.types import INT64
from rtlgen.ir.value_ranges import Range

_DIVISIONS = ("div", "rem", "shr", "and")


@dataclass(frozen=True, slots=True)
class Division:
    """A quotient or remainder of an affine form that is no affine form itself."""

    dividend: Affine
    divisor: int


def simplified(expr: Expr, iterators: Mapping[str, Range]) -> Expr:
    """Return a quasi-affine expression of the same value, an `IndexValue` where it is affine.

    Parameters
    ----------
    expr: as `quasi_affine.quasi_affine` returns it, so that all quotients round down.
    iterators: inclusive range of every iterator, at least.
    """
    match expr:
        case Constant(value):
            return IndexValue(Affine((), value), INT64)
        case IndexValue(affine):
            return IndexValue(affine, INT64)
        case Cast(operand):
            return simplified(operand, iterators)
        case Unary("neg", operand):
            inner = simplified(operand, iterators)
            if isinstance(inner, IndexValue):
                return IndexValue(-inner.affine, INT64)
            return Unary("neg", inner, INT64)
        case Binary() if (form := bit_as_quotient(expr)) is not None:
            return simplified(form, iterators)
        case Binary(op, left, right):
            a, b = simplified(left, iterators), simplified(right, iterators)
            if isinstance(a, IndexValue) and isinstance(b, IndexValue):
                return _combined(op, a.affine, b.affine, iterators)
            return Binary(op, a, _as_constant(b), INT64)
    raise ValueError(f"{expr} is not quasi-affine")


def simplified_parts(expr: Expr, iterators: Mapping[str, Range]) -> Expr:
    """Return an expression with all that is quasi-affine in it simplified, but for constants.

    What is the same in two places, though computed in different types, is equal then.
    """
    if isinstance(expr, Constant):
        return expr
    known = plain_quasi_affine(expr, iterators)
    if known is not None:
        return _as_constant(simplified(known, iterators))
    parts = tuple(simplified_parts(part, iterators) for part in children(expr))
    return with_children(expr, parts)


def division_in(expr: Expr) -> Division | None:
    """Return the first division of an affine form in a simplified expression."""
    for node in walk(expr):
        if isinstance(node, Binary) and node.op in _DIVISIONS:
            left, right = node.left, node.right
            if isinstance(left, IndexValue) and isinstance(right, Constant):
                return Division(left.affine, _divisor(node.op, right.value))
    return None


def quotient(form: Affine, divisor: int, iterators: Mapping[str, Range]) -> Affine | None:
    """Return `form` / `divisor`, rounded down, as an affine form; None if it is none."""
    whole, rest = _split(form, divisor)
    coarse, factor = _coarse(rest, divisor, iterators)
    if factor > 1:
        inner = quotient(coarse, divisor // factor, iterators)
        return None if inner is None else whole + inner
    low, high = rest.range(dict(iterators))
    if low // divisor == high // divisor:
        return whole + low // divisor
    if len(rest.terms) == 1:
        ((name, _),) = rest.terms
        first, last = iterators[name]
        if last == first + 1:
            # A function of two points is affine.
            at = [rest.evaluate({name: x}) // divisor for x in (first, last)]
            step = at[1] - at[0]
            return whole + Affine.variable(name) * step + (at[0] - step * first)
    return None


def _coarse(form: Affine, divisor: int, iterators: Mapping[str, Range]) -> tuple[Affine, int]:
    """Return (coarse, factor): form / divisor == coarse / (divisor / factor), rounded down."""
    for factor in _proper_divisors(divisor):
        coarse, fine = _split(form, factor)
        low, high = fine.range(dict(iterators))
        if low // factor == high // factor:
            return coarse + low // factor, factor
    return form, 1


def _combined(op: str, a: Affine, b: Affine, iterators: Mapping[str, Range]) -> Expr:
    match op:
        case "add":
            return IndexValue(a + b, INT64)
        case "sub":
            return IndexValue(a - b, INT64)
        case "mul":
            return IndexValue(b * a.constant if a.is_constant else a * b.constant, INT64)
        case "shl":
            return IndexValue(a * (1 << b.constant), INT64)
    divisor = _divisor(op, b.constant)
    found = quotient(a, divisor, iterators)
    if found is not None:
        return IndexValue(a - found * divisor if op in ("rem", "and") else found, INT64)
    whole, rest = _split(a, divisor)
    coarse, factor = _coarse(rest, divisor, iterators)
    small = divisor // factor
    # A dividend that is never negative is rounded down in C, too.
    lift = max(0, -(coarse.range(dict(iterators))[0] // small))
    lifted, constant = IndexValue(coarse + lift * small, INT64), Constant(small, INT64)
    if op in ("rem", "and"):
        left = Binary("rem", lifted, constant, INT64)
        if factor == 1:
            return left
        scaled = Binary("mul", left, Constant(factor, INT64), INT64)
        return _sum(scaled, rest - coarse * factor)
    return _sum(Binary("div", lifted, constant, INT64), whole - lift)


def _sum(expr: Expr, form: Affine) -> Expr:
    if form == Affine():
        return expr
    return Binary("add", expr, IndexValue(form, INT64), INT64)


def _as_constant(expr: Expr) -> Expr:
    if isinstance(expr, IndexValue) and expr.affine.is_constant:
        return Constant(expr.affine.constant, INT64)
    return expr


def _divisor(op: str, operand: int) -> int:
    if op == "shr":
        return 1 << operand
    return operand + 1 if op == "and" else operand


def _split(form: Affine, divisor: int) -> tuple[Affine, Affine]:
    """Return (whole, rest): form == divisor * whole + rest, as little as possible in the rest."""
    whole = {name: c // divisor for name, c in form.terms if c % divisor == 0}
    rest = {name: c for name, c in form.terms if c % divisor}
    constant = form.constant // divisor
    return Affine.of(whole, constant), Affine.of(rest, form.constant - constant * divisor)


def _proper_divisors(number: int) -> list[int]:
    """Return the divisors of a number that are neither 1 nor itself, large ones first."""
    small = [n for n in range(2, isqrt(number) + 1) if number % n == 0]
    return sorted({*small, *(number // n for n in small)}, reverse=True)
