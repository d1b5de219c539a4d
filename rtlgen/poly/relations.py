"""What is known of some integers together: how far apart they are, and which sums are the same.

    while (i < n && j < m) if (c) { i++; k++; } else { j++; k++; }         k == i + j,  n >= i

Bounds of x, y, x - y and x + y for each pair are an octagon, a matrix of the bounds of v - w where
v and w are variables or negative ones; affine equations of any number of variables are kept beside
it. Both are closed under joins of ways through a program, at the price of what neither can say.

Source
------
Octagons: Mine, "The octagon abstract domain", Higher-Order and Symbolic Computation 19, 2006.
Equations: Karr, "Affine relationships among variables of a program", Acta Informatica 6, 1976.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, floor, gcd, inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Terms: TypeAlias = Mapping[str, int]
"""Coefficients of variables."""

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest value; infinite where there is none."""

_LARGEST = float(1 << 50)
"""Bounds beyond it are none: sums of them have to be exact."""

_Row: TypeAlias = tuple[int, ...]
"""Coefficients of all variables, and a constant; the sum is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """Integers by name, and what is known of them.

    Members
    -------
    octagon: [2 p, 2 q] bounds x - y, where x has place p and y place q; 2 p + 1 stands for -x.
    equations: in row echelon form.
    """

    names: tuple[str, ...]
    octagon: NDArray[np.float64]
    equations: tuple[_Row, ...] = ()

    @staticmethod
    def unknown(names: Sequence[str]) -> Relations:
        """Return integers of which nothing is known."""
        size = 2 * len(names)
        octagon = np.full((size, size), inf)
        np.fill_diagonal(octagon, 0)
        return Relations(tuple(names), octagon)

    @property
    def is_empty(self) -> bool:
        """Whether no integers are so."""
        is_contradiction = any(not any(row[:-1]) for row in self.equations)
        return is_contradiction or bool((np.diagonal(self.octagon) < 0).any())

    def bounds(self, terms: Terms) -> Bounds:
        """Return between which values a sum lies."""
        least, greatest = -inf, inf
        for form, more in ((terms, 0.0), *self._equal(terms)):
            high = self._highest(form) + more
            low = -self._highest({name: -c for name, c in form.items()}) + more
            least, greatest = max(least, low), min(greatest, high)
        return ceil(least) if least > -inf else least, floor(greatest) if greatest < inf else inf

    def where(self, terms: Terms, constant: int, *, is_equation: bool = False) -> Relations:
        """Return what is known where a sum is >= 0, or 0."""
        known = self
        if is_equation:
            row = self._row(terms, constant)
            known = replace(self, equations=_reduced([*self.equations, row]))
        names = sorted(name for name, c in terms.items() if c)
        found = known.octagon.copy()
        for sign in (1, -1) if is_equation else (1,):
            # -sum <= constant
            form = {name: -sign * terms[name] for name in names}
            for place, one in enumerate(names):
                for other in (None, *names[place + 1 :]):
                    self._bound(found, form, one, other, sign * constant)
        return replace(known, octagon=_closed(found))

    def _bound(
        self, found: NDArray[np.float64], form: Terms, one: str, other: str | None, most: int
    ) -> None:
        """Bound one variable, or the sum of two, that `form <= most` bounds."""
        pair = {one: form[one]} if other is None else {one: form[one], other: form[other]}
        size = abs(form[one])
        if any(abs(c) != size for c in pair.values()):
            return
        rest = {name: -c for name, c in form.items() if name not in pair}
        high = self._highest(rest) + most
        a = self._place(one, form[one])
        b = a ^ 1 if other is None else self._place(other, -pair[other])
        high = floor(high / size) * (2 if other is None else 1) if high < _LARGEST else inf
        for row, column in ((a, b), (b ^ 1, a ^ 1)):
            found[row, column] = min(found[row, column], high)

    def with_value(self, name: str, terms: Terms, limits: Bounds) -> Relations:
        """Return what is known where a variable is set to a sum, and what lies in `limits`."""
        low, high = limits
        place = 2 * self.names.index(name)
        found = self.octagon.copy()
        if dict(terms) == {name: 1} and low == high:
            found[place] += low
            found[:, place] -= low
            found[place + 1] -= low
            found[:, place + 1] += low
        else:
            found[place : place + 2] = inf
            found[:, place : place + 2] = inf
            for row, sign in ((place, 1), (place + 1, -1)):
                form = {other: sign * c for other, c in terms.items()}
                ahead = self._ahead(form) + (high if sign > 0 else -low)
                found[row], found[:, row ^ 1] = ahead, ahead[np.arange(len(ahead)) ^ 1]
            for row, sign in ((place, 1), (place + 1, -1)):
                form = {other: sign * c for other, c in terms.items()}
                more = high if sign > 0 else -low
                found[row, row], found[row, row ^ 1] = 0, 2 * (self.bounds(form)[1] + more)
        found[found > _LARGEST] = inf
        rows: list[_Row] = [(*row, 0) for row in self.equations]
        if low == high:
            # The last column is what the variable becomes.
            rows.append((*self._row(terms, int(low)), -1))
        own = place // 2
        left = [row for row in _reduced([(row[own], *row) for row in rows]) if not row[0]]
        made = (row[1:] for row in left)
        kept = [(*row[:own], row[-1], *row[own + 1 : -1]) for row in made]
        return replace(self, octagon=_closed(found), equations=_reduced(kept))

    def without(self, name: str) -> Relations:
        """Return what is known where a variable may be anything."""
        return self.with_value(name, {}, (-inf, inf))

    def widened(self, later: Relations, ends: NDArray[np.float64]) -> Relations:
        """Return what has got worse since with the next of some bounds, or none.

        Parameters
        ----------
        ends: in rising order, the last one infinite.
        """
        rows = np.arange(len(self.octagon))
        scale = np.ones_like(self.octagon)
        # x - -x is twice x.
        scale[rows, rows ^ 1] = 2
        least = np.searchsorted(ends, later.octagon / scale)
        octagon = np.where(later.octagon > self.octagon, ends[least] * scale, self.octagon)
        return replace(later, octagon=octagon)

    def is_as(self, other: Relations) -> bool:
        """Return whether two are the same."""
        same = bool((self.octagon == other.octagon).all())
        return same and self.equations == other.equations

    def _ahead(self, form: Terms) -> NDArray[np.float64]:
        """Return how far a sum is ahead of each variable, and of each negative one, at most."""
        size = np.arange(len(self.octagon))
        if not form:
            found: NDArray[np.float64] = self.octagon[size ^ 1, size] / 2
            return found
        behind = ({self.names[k // 2]: -1 if k % 2 == 0 else 1} for k in size)
        return np.array([self.bounds(_sum(form, one))[1] for one in behind])

    def _highest(self, terms: Terms) -> float:
        """Return the greatest value of a sum, as far as the octagon tells."""
        own = {
            name: abs(c) * float(self.octagon[place, place ^ 1]) / 2
            for name, c in terms.items()
            if c
            for place in (self._place(name, c),)
        }
        names = sorted(own)
        best = sum(own.values())
        for k, one in enumerate(names):
            for other in names[k + 1 :]:
                a, b = self._place(one, terms[one]), self._place(other, -terms[other])
                both = min(abs(terms[one]), abs(terms[other]))
                high = both * float(self.octagon[a, b])
                for name in (one, other):
                    if abs(terms[name]) > both:
                        high += own[name] / abs(terms[name]) * (abs(terms[name]) - both)
                high += sum(x for name, x in own.items() if name not in (one, other))
                best = min(best, high)
        return best

    def _place(self, name: str, sign: int) -> int:
        return 2 * self.names.index(name) + (0 if sign > 0 else 1)

    def _row(self, terms: Terms, constant: int) -> _Row:
        return (*(terms.get(name, 0) for name in self.names), constant)

    def _equal(self, terms: Terms) -> Iterator[tuple[dict[str, int], float]]:
        """Yield sums that are the same but for a constant, by one of the equations."""
        for row in self.equations:
            for name, c in zip(self.names, row, strict=False):
                if c and terms.get(name) and terms[name] % c == 0:
                    factor = -(terms[name] // c)
                    other = {k: factor * x for k, x in zip(self.names, row, strict=False)}
                    yield _sum(terms, other), factor * row[-1]


def joined(ways: Sequence[Relations]) -> Relations:
    """Return what is known wherever one of some ways is come by."""
    first = ways[0]
    if len(ways) == 1:
        return first
    octagon = reduce(np.maximum, (way.octagon for way in ways))
    equations = reduce(_common, (way.equations for way in ways))
    return replace(first, octagon=octagon, equations=equations)


def _reduced(rows: Sequence[_Row]) -> tuple[_Row, ...]:
    """Return equations in row echelon form, of which each set has one."""
    left = [row for row in rows if any(row)]
    found: list[_Row] = []
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left = [x for row in left if row is not pivot and any(x := _less(row, pivot, column))]
        found = [_less(row, pivot, column) for row in found]
        found.append(_less(pivot, pivot, -1))
    return tuple(found)


def _less(row: _Row, pivot: _Row, column: int) -> _Row:
    """Return an equation without a variable, as small as it gets."""
    if column >= 0 and row[column]:
        own, other = pivot[column], row[column]
        row = tuple(own * x - other * y for x, y in zip(row, pivot, strict=True))
    by = gcd(*row)
    sign = next((1 if x > 0 else -1 for x in row if x), 1)
    return tuple(sign * x // by for x in row) if by else row


def _common(a: tuple[_Row, ...], b: tuple[_Row, ...]) -> tuple[_Row, ...]:
    """Return the equations that hold wherever either of two sets does: both row spaces' common one.

    Zassenhaus: below the rows (a, a) and (b, 0), where the left half is 0 the right one is common.
    """
    if a == b or not a or not b:
        return a if a == b else ()
    width = len(a[0])
    rows = _reduced([*((*row, *row) for row in a), *((*row, *(0,) * width) for row in b)])
    return tuple(row[width:] for row in rows if not any(row[:width]))


def _sum(a: Terms, b: Terms) -> dict[str, int]:
    return {k: c for k in (*a, *b) if (c := a.get(k, 0) + b.get(k, 0))}


def _closed(octagon: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an octagon in which each bound is as small as the others make it."""
    size = len(octagon)
    for k in range(size):
        octagon = np.minimum(octagon, octagon[:, k : k + 1] + octagon[k : k + 1])
    opposite = np.arange(size) ^ 1
    own = 2 * np.floor(octagon[np.arange(size), opposite] / 2)
    found: NDArray[np.float64] = np.minimum(octagon, (own[:, None] + own[opposite]) / 2)
    return found
