"""Ranks of the iterations of loop nests whose bounds depend on outer loops, by enumeration.

The rank of an iteration in such a nest is a quasi-polynomial of the iterators (Clauss and Loechner,
"Parametric analysis of polyhedral iteration spaces", 1998). Sizes are fixed here, so it is counted:
the nest is enumerated once and the ranks are kept in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import NestLoop

MAX_ITERATIONS = 2_000_000
"""Nests with more iterations are not enumerated: they get a rectangular box."""


MAX_SPARSITY = 8
"""Points of a box for each iteration up to which all have an entry; above, only iterations do."""


@dataclass(frozen=True, slots=True, eq=False)
class RankTable:
    """Ranks of the iterations of a nest.

    Members
    -------
    low, extents: smallest value of each iterator, and number of its values.
    places: for each rank in `ranks` the row-major position in the box, increasing; None: all are
        there, -1 where the nest has no iteration.
    first: rank of the first iteration that is no pad; 0 if there is none.
    count: number of iterations, pads included.
    """

    low: Ints
    extents: tuple[int, ...]
    places: Ints | None
    ranks: Ints
    first: int
    count: int

    def covers(self, points: Ints) -> bool:
        """Tell whether the nest has an iteration for each of (n, iterators) points."""
        places = points - self.low
        inside = bool(((places >= 0) & (places < np.array(self.extents))).all())
        return inside and bool((self.of(points) >= 0).all())

    def of(self, points: Ints) -> Ints:
        """Return the ranks of (n, iterators) points."""
        if not self.extents:
            return np.broadcast_to(self.ranks, (len(points),))
        wanted = np.ravel_multi_index(tuple((points - self.low).T), self.extents)
        if self.places is None:
            result: Ints = self.ranks[wanted]
            return result
        found = np.searchsorted(self.places, wanted)
        is_there = found < len(self.places)
        is_there[is_there] = self.places[found[is_there]] == wanted[is_there]
        ranks = np.full(len(wanted), -1, dtype=np.int64)
        ranks[is_there] = self.ranks[found[is_there]]
        return ranks


def enumerate_nest(loops: Sequence[NestLoop]) -> tuple[Ints, Ints] | None:
    """Return every iteration of a nest in its order, or None where that is not possible.

    The first array is (n, loops): the values of iterators and pad loops. The second is (n,), 1
    where all pad loops are in their real iteration. None means that some inner loop
    would be empty, or that the nest is too large.
    """
    columns: list[Ints] = []
    names: list[str | None] = []
    size = 1
    for loop in loops:
        low, trips = _trips(loop, columns, names, size)
        if trips.min() < 1 or trips.sum() > MAX_ITERATIONS:
            return None
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        size = int(trips.sum())
        columns = [np.repeat(column, trips) for column in columns]
        columns.append(np.repeat(low, trips) + np.arange(size, dtype=np.int64) - starts)
        names.append(loop.counter)
    points = np.stack(columns, axis=1) if columns else np.zeros((1, 0), dtype=np.int64)
    real = np.ones(size, dtype=np.int64)
    for column, loop in zip(columns, loops, strict=True):
        if loop.iterator is None:
            places = [_values(value, columns, names, size) for value in loop.place]
            real &= column == np.max(places, axis=0)
    return points, real


def trips_of(loop: NestLoop, outer: Sequence[NestLoop], points: Ints) -> tuple[Ints, Ints]:
    """Return where a loop begins and how often it runs, for (n, outer) iterations outside of it.

    Where its bounds leave no iteration, the trips are not positive.
    """
    names = [other.counter for other in outer]
    return _trips(loop, list(points.T), names, len(points))


def begins_with_box(loop: NestLoop, outer: Sequence[NestLoop], points: Ints) -> bool:
    """Tell whether a loop begins where its box does, and not where a bound says, somewhere.

    Parameters
    ----------
    points: (n, outer) iterations of the loops outside of it.
    """
    if not loop.lowers:
        return True
    names, columns = [other.counter for other in outer], list(points.T)
    bounds = [
        -(-_values(lower.form, columns, names, len(points)) // lower.divisor)
        for lower in loop.lowers
    ]
    return bool((np.max(bounds, axis=0) < loop.first).any())


def _trips(
    loop: NestLoop, columns: Sequence[Ints], names: Sequence[str | None], size: int
) -> tuple[Ints, Ints]:
    low = np.full(size, loop.first, dtype=np.int64)
    for lower in loop.lowers:
        low = np.maximum(low, -(-_values(lower.form, columns, names, size) // lower.divisor))
    high = np.full(size, loop.first + loop.extent - 1, dtype=np.int64)
    for upper in loop.uppers:
        high = np.minimum(high, _values(upper.form, columns, names, size) // upper.divisor)
    return low, np.maximum(high - low + 1, loop.at_least)


def _values(form: Affine, columns: Sequence[Ints], names: Sequence[str | None], size: int) -> Ints:
    total = np.full(size, form.constant, dtype=np.int64)
    for name, coefficient in form.terms:
        total += coefficient * columns[names.index(name)]
    return total


def rank_table(loops: Sequence[NestLoop], iterators: Sequence[str]) -> RankTable | None:
    """Return the ranks of a nest, or None where it cannot be enumerated."""
    keep_going()
    enumerated = enumerate_nest(loops)
    if enumerated is None:
        return None
    rows, real = enumerated
    # A search keeps the tables of thousands of nests: their size is limited with the work.
    keep_going(work=len(rows))
    return ranks_of(rows, real, loops, iterators)


def ranks_of(
    rows: Ints, real: Ints, loops: Sequence[NestLoop], iterators: Sequence[str]
) -> RankTable:
    """Return the ranks of an enumerated nest, as `enumerate_nest` gives it."""
    place = {loop.iterator: n for n, loop in enumerate(loops) if loop.iterator is not None}
    own = [loops[place[name]] for name in iterators]
    low = np.array([loop.at for loop in own], dtype=np.int64)
    extents = tuple(loop.extent for loop in own)
    kept = np.flatnonzero(real)
    first = int(kept[0]) if len(kept) else 0
    points = rows[kept][:, [place[name] for name in iterators]]
    if not extents:
        return RankTable(low, extents, None, kept, first, len(rows))
    places = np.ravel_multi_index(tuple((points - low).T), extents)
    if prod(extents) > MAX_SPARSITY * len(kept):
        order = np.argsort(places)
        return RankTable(low, extents, places[order], kept[order], first, len(rows))
    ranks = np.full(prod(extents), -1, dtype=np.int64)
    ranks[places] = kept
    return RankTable(low, extents, None, ranks, first, len(rows))
