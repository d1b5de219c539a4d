"""How far an affine expression can go inside the loops and conditions around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine, Congruence, Constraint


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
