"""How far affine expressions go inside of loops and conditions.

Conditions on data: evaluated beside a statement, they choose between its value and the old one.

if (a[i] > m) m = a[i];        m = a[i] > m ? a[i] : m;
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import (
    Binary,
    Constant,
    Expr,
    Read,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32

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
