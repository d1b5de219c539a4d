"""The unknowns of one hyperplane: the bound u, w and the coefficients of every statement.

Their order is that of the lexicographic minimum. Of each statement the innermost coefficient comes
first, so that among equally good hyperplanes the one of the outermost loop is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.affine import Affine

Vector = tuple[int, ...]
BOUND_DIMS = 2
"""u and w stand before the coefficients."""


@dataclass(frozen=True, slots=True)
class Unknowns:
    """The vector (u, w, then of every statement c_m, ..., c_1, c_0).

    Members
    -------
    iterators: of every statement, outermost first.
    """

    iterators: Mapping[str, tuple[str, ...]]

    @property
    def size(self) -> int:
        return BOUND_DIMS + sum(len(names) + 1 for names in self.iterators.values())

    def place(self, statement: str) -> int:
        """Return the position of c_m of a statement."""
        position = BOUND_DIMS
        for name, iterators in self.iterators.items():
            if name == statement:
                return position
            position += len(iterators) + 1
        raise KeyError(statement)

    def linear(self, statement: str, coefficients: Sequence[int]) -> Vector:
        """Return the row whose product with the unknowns is coefficients . (c_1, ..., c_m)."""
        row = [0] * self.size
        last = self.place(statement) + len(coefficients) - 1
        for k, coefficient in enumerate(coefficients):
            row[last - k] = coefficient
        return tuple(row)

    def form(self, statement: str, values: Vector) -> Affine:
        """Return the hyperplane of a statement that the unknowns' `values` stand for."""
        names = self.iterators[statement]
        first = self.place(statement)
        own = values[first : first + len(names) + 1]
        terms = dict(zip(reversed(names), own[:-1], strict=True))
        return Affine.of(terms, own[-1])
