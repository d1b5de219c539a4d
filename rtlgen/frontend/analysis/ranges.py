"""How far affine expressions go: inside of loops and conditions, and as the least of several.

Expressions that are the least or the greatest of several affine functions, or quotients of such.

a < b ? a : b              the least of a and b, however it was written: macro, function, `?:`
n < 0 ? -((-n + 7) / 8) : n / 8        n / 8 rounded down

Conditions on data: evaluated beside a statement, they choose between its value and the old one.

if (a[i] > m) m = a[i];        m = a[i] > m ? a[i] : m;
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32, IntType

Conjunction: TypeAlias = tuple[Constraint, ...]
"""What holds all at once where the condition holds. `()` always holds."""

Cases: TypeAlias = tuple[Conjunction, ...]
"""Conjunctions of which at most one holds at a time. `()` never holds."""


@dataclass(frozen=True, slots=True)
class IteratorRange:
    """The inclusive bounds of an iterator, affine in the iterators outside of it."""

    name: str
    low: Affine
    high: Affine


@dataclass(frozen=True, slots=True)
class Ranges:
    """The loops (outermost first) and conditions (each >= 0) around a place in the program.

    Members
    -------
    congruences: what is a multiple there; they bound nothing.

    The bounds returned are safe: no value lies outside of them. They are exact where the loops
    are never empty and no condition cuts into them.
    """

    iterators: tuple[IteratorRange, ...] = ()
    conditions: tuple[Affine, ...] = ()
    congruences: tuple[Congruence, ...] = ()

    def inside(self, iterator: IteratorRange) -> Ranges:
        """Return the ranges inside one more loop."""
        return replace(self, iterators=(*self.iterators, iterator))

    def under(self, conditions: tuple[Constraint, ...]) -> Ranges:
        """Return the ranges where `conditions` hold as well."""
        affine = (c for c in conditions if isinstance(c, Affine))
        congruences = (c for c in conditions if isinstance(c, Congruence))
        return replace(
            self,
            conditions=(*self.conditions, *affine),
            congruences=(*self.congruences, *congruences),
        )

    def residue(self, wanted: Congruence) -> int | None:
        """Return what the form of a congruence is modulo its modulus, if that is known."""
        for known in self.congruences:
            ahead = wanted.form - known.form
            if known.modulus % wanted.modulus == 0 and ahead.is_constant:
                return ahead.constant % wanted.modulus
        return None

    def boxes(self) -> dict[str, tuple[int, int]]:
        """Return the smallest and the largest value of every iterator."""
        found = {}
        for iterator in self.iterators:
            value = Affine.variable(iterator.name)
            low, high = self.minimum(value), self.maximum(value)
            found[iterator.name] = (low, max(low, high))
        return found

    def minimum(self, expression: Affine) -> int:
        """Return a lower bound of `expression`."""
        low = max(self._lowest(part) for part in self._relaxed(expression))
        for known in self.congruences:
            ahead = expression - known.form
            if ahead.is_constant:
                # The first value from there on that has the residue.
                low += (ahead.constant - low) % known.modulus
        return low

    def maximum(self, expression: Affine) -> int:
        """Return an upper bound of `expression`."""
        return -self.minimum(-expression)

    def _relaxed(self, expression: Affine) -> Iterator[Affine]:
        """Yield expressions that are nowhere larger: a condition taken off is never negative."""
        yield expression
        for condition in self.conditions:
            for name, coefficient in condition.terms:
                factor = expression.coefficient(name) // coefficient
                if factor > 0:
                    yield expression - condition * factor

    def _lowest(self, expression: Affine) -> int:
        """Replace each iterator by the bound where `expression` is lowest, innermost first."""
        for iterator in reversed(self.iterators):
            coefficient = expression.coefficient(iterator.name)
            if coefficient:
                bound = iterator.low if coefficient > 0 else iterator.high
                expression = expression.substitute({iterator.name: bound})
        return expression.constant


Extreme: TypeAlias = Literal["least", "greatest"]

_CHOOSES_LEFT: dict[str, Extreme] = {
    "lt": "least", "le": "least", "gt": "greatest", "ge": "greatest",
}  # fmt: skip


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


def affine_parts(expr: Expr, extreme: Extreme, ranges: Ranges) -> tuple[Quotient, ...] | None:
    """Return quotients of which `expr` is the least, or greatest; None if it is not.

    Parameters
    ----------
    ranges: where it is; no type on the way may wrap inside of them.
    """
    match expr:
        case Constant(value):
            return (Quotient(Affine((), value)),)
        case IndexValue(affine):
            return (Quotient(affine),)
        case Cast(operand, IntType() as type_):
            parts = affine_parts(operand, extreme, ranges)
            return None if parts is None else _held(parts, type_, ranges)
        case Binary("add" | "sub", _, _, type_):
            terms = _sum(expr, extreme, ranges)
            return None if terms is None else _held(terms, type_, ranges)
        case Binary("div" | "shr"):
            part = _truncated(expr, ranges)
            return None if part is None else (part,)
        case Select(Binary(op, left, right), if_true, if_false) if op in _CHOOSES_LEFT:
            rounded = _rounded(op, left, right, if_true, if_false, ranges)
            if rounded is not None:
                return (rounded,)
            if _is_extreme(op, left, right, if_true, if_false, extreme, ranges):
                forms = (_one(arm, ranges) for arm in (if_true, if_false))
                return tuple(dict.fromkeys(Quotient(form) for form in forms if form is not None))
            if _CHOOSES_LEFT[op] != extreme:
                if_true, if_false = if_false, if_true
            if not (_is_same(left, if_true) and _is_same(right, if_false)):
                return None
            first = affine_parts(if_true, extreme, ranges)
            second = affine_parts(if_false, extreme, ranges)
            # What is compared may have been converted for it.
            compared = [affine_parts(side, extreme, ranges) for side in (left, right)]
            if first is None or second is None or compared != [first, second]:
                return None
            return tuple(dict.fromkeys((*first, *second)))
    return None


_SLACK = {"lt": (-1, 0), "le": (0, 1), "gt": (0, 1), "ge": (-1, 0)}
"""What a comparison may be off by, where both sides are the same anyway."""


def _is_extreme(
    op: str,
    left: Expr,
    right: Expr,
    if_true: Expr,
    if_false: Expr,
    extreme: Extreme,
    ranges: Ranges,
) -> bool:
    """Return whether a choice between affine functions is the least or greatest of them.

    t + 6 > n ? n - t : 6        compares other functions than it chooses from, by the same distance
    """
    forms = [_one(part, ranges) for part in (left, right, if_true, if_false)]
    if any(form is None for form in forms):
        return False
    a, b, first, second = (form for form in forms if form is not None)
    ahead = first - second if extreme == "least" else second - first
    off = a - b - ahead if op in ("lt", "le") else a - b + ahead
    return off.is_constant and off.constant in _SLACK[op]


def _one(expr: Expr, ranges: Ranges) -> Affine | None:
    """Return an affine function, converted or not."""
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
        case Cast(operand, IntType() as type_):
            form = _one(operand, ranges)
            held = form is not None and _held((Quotient(form),), type_, ranges) is not None
            return form if held else None
    return None


def _sum(expr: Binary, extreme: Extreme, ranges: Ranges) -> Sequence[Quotient] | None:
    """Return the parts of a sum or difference, one side of which is affine."""
    same = extreme
    if expr.op == "sub":
        # What is taken off is least where the difference is greatest.
        same = "least" if extreme == "greatest" else "greatest"
    left, right = affine_parts(expr.left, extreme, ranges), affine_parts(expr.right, same, ranges)
    if left is None or right is None:
        return None
    if expr.op == "sub":
        if any(part.divisor != 1 for part in right):
            return None
        right = tuple(Quotient(-part.form) for part in right)
    for parts, others in ((left, right), (right, left)):
        if len(others) == 1 and others[0].divisor == 1:
            return [part + others[0].form for part in parts]
    return None


def _truncated(expr: Expr, ranges: Ranges) -> Quotient | None:
    """Return a quotient, or shifted form, that C rounds the same way everywhere."""
    match expr:
        case IndexValue(form):
            return Quotient(form)
        case Binary("shr", IndexValue(form), Constant(count)):
            return Quotient.of(form, 1 << count)
        case Binary("div", IndexValue(form), Constant(divisor)) if divisor > 0:
            if ranges.minimum(form) >= 0:
                return Quotient.of(form, divisor)
            # Towards zero is up.
            return Quotient.of(form + (divisor - 1), divisor) if ranges.maximum(form) <= 0 else None
        case Cast(operand, IntType() as type_):
            part = _truncated(operand, ranges)
            return None if part is None or _held((part,), type_, ranges) is None else part
    return None


def _rounded(
    op: str, left: Expr, right: Expr, if_true: Expr, if_false: Expr, ranges: Ranges
) -> Quotient | None:
    """Return the quotient that `floord` and `ceild` of several tools compute, by the sign of n."""
    match left, right:
        case IndexValue(form), Constant(0):
            pass
        case _:
            return None
    negative, other = (-form - 1, form) if op in ("lt", "ge") else (-form, form - 1)
    below, above = (if_true, if_false) if op in ("lt", "le") else (if_false, if_true)
    first = _up(below, ranges.under((negative,)))
    second = affine_parts(above, "least", ranges.under((other,)))
    if first is None or second != (first,):
        return None
    return first


def _up(expr: Expr, ranges: Ranges) -> Quotient | None:
    """Return -(a / b), where a is not negative, as a quotient that is rounded down."""
    match expr:
        case Unary("neg", operand):
            part = _truncated(operand, ranges)
            return part and Quotient.of(-part.form + (part.divisor - 1), part.divisor)
        case Cast(operand, IntType() as type_):
            part = _up(operand, ranges)
            return None if part is None or _held((part,), type_, ranges) is None else part
    return _truncated(expr, ranges)


def _held(parts: Sequence[Quotient], type_: IntType, ranges: Ranges) -> tuple[Quotient, ...] | None:
    """Return the parts if the type holds each of them everywhere."""
    for part in parts:
        low, high = part.range(ranges)
        if low < type_.minimum or high > type_.maximum:
            return None
    return tuple(parts)


def _is_same(compared: Expr, chosen: Expr) -> bool:
    """Return whether two expressions differ in their conversions only."""
    return _bare(compared) == _bare(chosen)


def _bare(expr: Expr) -> object:
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
        case Cast(operand, _):
            return _bare(operand)
    return expr


_ZERO = Constant(0, INT32)


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition with the reads that it makes, apart from any statement.

    Members
    -------
    expr: an int, 0 or 1; its `Read`s count in `reads`.
    """

    expr: Expr
    reads: tuple[Access, ...]

    def negated(self) -> Guard:
        """Return the guard that holds where this one does not."""
        return Guard(Unary("lnot", self.expr, INT32), self.reads)

    def then(self, inner: Guard) -> Guard:
        """Return the guard of an `if` inside of an `if`; `inner` counts only where this holds."""
        numbers = [len(self.reads) + k for k in range(len(inner.reads))]
        chosen = renumbered(inner.expr, numbers)
        return Guard(Select(self.expr, chosen, _ZERO, INT32), (*self.reads, *inner.reads))


def renumbered(expr: Expr, numbers: Sequence[int] | Mapping[int, int]) -> Expr:
    """Return `expr` with read k replaced by read `numbers[k]`."""
    operands = tuple(renumbered(part, numbers) for part in children(expr))
    if isinstance(expr, Read):
        return Read(numbers[expr.index], expr.type, operands)
    return with_children(expr, operands)


def with_own_reads(expr: Expr, reads: Sequence[Access]) -> tuple[Expr, tuple[Access, ...]]:
    """Return an expression whose reads count in `reads` with those that it makes itself."""
    made = dict.fromkeys(node.index for node in walk(expr) if isinstance(node, Read))
    places = {number: place for place, number in enumerate(made)}
    return renumbered(expr, places), tuple(reads[number] for number in made)


def is_total(expr: Expr) -> bool:
    """Return whether C defines the value of `expr` for all operands that it may meet."""
    for node in walk(expr):
        if isinstance(node, Binary) and node.op in ("div", "rem", "shl", "shr"):
            right = node.right
            if not isinstance(right, Constant) or (node.op in ("div", "rem") and right.value == -1):
                return False
    return True
