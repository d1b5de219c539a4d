"""Values that are affine functions of the iterators, or quotients of such, each where a case holds.

a < b ? a : b                         a where a < b, else b: the least of them
n < 0 ? -((-n + 7) / 8) : n / 8       n / 8 rounded down, in both cases

However a value was written (macro, function, `?:`), it is the least of what it is in some case if
none of the others is less there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import Literal, Never, TypeAlias

from rtlgen.frontend.analysis.ranges import Cases, Conjunction, Ranges
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Select,
    Unary,
)
from rtlgen.ir.types import IntType

Extreme: TypeAlias = Literal["least", "greatest"]

NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

MAX_PARTS = 16
"""Cases in which a value is looked at."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """form / divisor, rounded down."""

    form: Affine
    divisor: int = 1

    @staticmethod
    def of(form: Affine, divisor: int) -> Quotient:
        """Return the quotient with the smallest divisor."""
        common = gcd(divisor, *(c for _, c in form.terms))
        terms = {name: c // common for name, c in form.terms}
        return Quotient(Affine.of(terms, form.constant // common), divisor // common)

    def __add__(self, by: Affine) -> Quotient:
        return Quotient.of(self.form + by * self.divisor, self.divisor)

    def __neg__(self) -> Quotient:
        return Quotient.of(-self.form + (self.divisor - 1), self.divisor)

    def range(self, ranges: Ranges) -> tuple[int, int]:
        """Return its smallest and its largest value."""
        low, high = ranges.minimum(self.form), ranges.maximum(self.form)
        return low // self.divisor, high // self.divisor

    def least_above(self, value: Affine) -> Affine:
        """Return what is >= 0 just where `value` is not below the quotient."""
        return value * self.divisor - self.form + (self.divisor - 1)

    def least_below(self, value: Affine) -> Affine:
        """Return what is >= 0 just where `value` is not above the quotient."""
        return self.form - value * self.divisor

    def compared(self, op: str, other: Affine) -> Cases:
        """Return where `self op other` holds."""
        match op:
            case "lt":
                return ((self.least_above(other - 1),),)
            case "le":
                return ((self.least_above(other),),)
            case "gt":
                return ((self.least_below(other + 1),),)
            case "ge":
                return ((self.least_below(other),),)
            case "eq":
                return ((self.least_below(other), self.least_above(other)),)
        return (*self.compared("lt", other), *self.compared("gt", other))


Part: TypeAlias = tuple[Conjunction, Quotient]
"""What a value is, and where."""


class _NoQuotientError(Exception):
    """A value is neither affine nor a quotient, or its type wraps it."""


def compared(op: str, left: Quotient, right: Quotient) -> Cases | None:
    """Return where `left op right` holds; None where both divide."""
    if right.divisor == 1:
        return left.compared(op, right.form)
    return right.compared(_MIRRORED[op], left.form) if left.divisor == 1 else None


def extremes(expr: Expr, extreme: Extreme, ranges: Ranges) -> tuple[Quotient, ...] | None:
    """Return quotients of which a value is the least, or greatest; None if it is not.

    Parameters
    ----------
    ranges: where it is; no type on the way may wrap inside of them.
    """
    parts = _parts_if_any(expr, ranges)
    found = tuple(dict.fromkeys(part for _, part in parts))
    for case, own in parts:
        inside = ranges.under(case)
        pairs = ((own, x) if extreme == "least" else (x, own) for x in found)
        if any(inside.minimum(_ahead(low, high)) < 0 for low, high in pairs):
            return None
    return found or None


def quotient_of(expr: Expr, ranges: Ranges) -> Quotient | None:
    """Return the quotient that a value is, in all of its cases."""
    found = {part for _, part in _parts_if_any(expr, ranges)}
    return found.pop() if len(found) == 1 else None


def _ahead(low: Quotient, high: Quotient) -> Affine:
    """Return what is below 0 where one quotient is more than another one."""
    if high.divisor == 1:
        return low.least_above(high.form)
    if low.divisor == 1:
        return high.least_below(low.form)
    return high.form * low.divisor - low.form * high.divisor


def _parts_if_any(expr: Expr, ranges: Ranges) -> list[Part]:
    try:
        return _parts(expr, ranges)
    except _NoQuotientError:
        return []


def _parts(expr: Expr, ranges: Ranges) -> list[Part]:
    """Return what a value is in each of its cases, which are all that there are."""
    found: list[Part] = []
    match expr:
        case Constant(value):
            found = [((), Quotient(Affine((), value)))]
        case IndexValue(affine):
            found = [((), Quotient(affine))]
        case Cast(operand):
            found = _parts(operand, ranges)
        case Unary("neg", operand):
            found = [(case, -part) for case, part in _parts(operand, ranges)]
        case Binary("add" | "sub" as op, left, right):
            found = [(case, _sum(op, a, b)) for case, a, b in _pairs(left, right, ranges)]
        case Binary("div" | "shr" as op, operand, Constant(by)):
            for case, part in _parts(operand, ranges):
                found += _divided(op, case, part, by, ranges)
        case Select(Binary(op, left, right), if_true, if_false) if op in COMPARISONS:
            for around, a, b in _pairs(left, right, ranges):
                for asked, arm in ((op, if_true), (NEGATED[op], if_false)):
                    for case in compared(asked, a, b) or _no_quotient():
                        found += _under((*around, *case), arm, ranges)
    if not 0 < len(found) <= MAX_PARTS or not all(_is_held(expr, *x, ranges) for x in found):
        raise _NoQuotientError
    return found


def _no_quotient() -> Never:
    raise _NoQuotientError


def _is_held(expr: Expr, case: Conjunction, part: Quotient, ranges: Ranges) -> bool:
    """Return whether a type holds what a value is in some case."""
    type_ = expr.type
    low, high = part.range(ranges.under(case))
    return isinstance(type_, IntType) and type_.minimum <= low and high <= type_.maximum


def _under(case: Conjunction, expr: Expr, ranges: Ranges) -> list[Part]:
    """Return the parts of a value where a case holds; none if it never does."""
    inside = ranges.under(case)
    if any(inside.maximum(c) < 0 for c in case if isinstance(c, Affine)):
        return []
    return [((*case, *more), part) for more, part in _parts(expr, inside)]


def _pairs(left: Expr, right: Expr, ranges: Ranges) -> list[tuple[Conjunction, Quotient, Quotient]]:
    """Return what two values are in each case of both."""
    return [
        ((*case, *more), a, b)
        for case, a in _parts(left, ranges)
        for more, b in _parts(right, ranges)
    ]


def _sum(op: str, left: Quotient, right: Quotient) -> Quotient:
    right = -right if op == "sub" else right
    if right.divisor == 1:
        return left + right.form
    return right + left.form if left.divisor == 1 else _no_quotient()


def _divided(op: str, case: Conjunction, part: Quotient, by: int, ranges: Ranges) -> Iterator[Part]:
    """Yield what a quotient, or shifted number, is by the sign of the dividend."""
    by = 1 << by if op == "shr" else by
    if by < 1:
        raise _NoQuotientError
    size = part.divisor * by
    down = Quotient.of(part.form, size)
    # Towards zero is up where the dividend is negative.
    up = Quotient.of(part.form + (size - part.divisor), size)
    low, high = part.range(ranges.under(case))
    if op == "shr" or low >= 0:
        yield case, down
    elif high <= 0:
        yield case, up
    else:
        yield (*case, part.least_below(Affine())), down
        yield (*case, part.least_above(Affine((), -1))), up
