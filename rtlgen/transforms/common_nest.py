"""Issue times for statements that share one nest of any shape, padded where they must wait.

All statements of the group run through the same iterations, each with a shift of its own. Where
a dependence would come too early in some iteration of an outer loop, because the loops inside of
it have become short, those loops are made to run for a minimal number of iterations.

Rewrite
-------
    for k<32 for j>=k for i>k: S   ->   for k<32 for j>=k, at least 6, for i>k, at least 8: S
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.instances import Pairs
from rtlgen.poly.ranks import enumerate_nest, rank_table, ranks_of
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.period import Grouping, Member
from rtlgen.transforms.precedence import Precedence, smallest_shifts
from rtlgen.transforms.sink import CommonNest, common_nests

Ints = NDArray[np.int64]

INNER_LEAST = (0, 1, 2, 4, 8, 16, 32, 64)
"""Minimal trip counts tried for the loops inside of the one whose own is found exactly."""

MAX_PADDINGS = 64

MAX_EFFORT = 4_000_000
"""Iterations and dependent pairs that are looked at for one nest."""

UNBOUNDED = 1 << 30
"""Extent of a box that ends no loop."""


@dataclass(frozen=True, slots=True)
class StoreSlot:
    """Where and when a statement stores: one store to an array in a cycle.

    Members
    -------
    stage: cycles from issue to the store.
    """

    array: str
    stage: int


def best_common_nest(
    members: Sequence[Member],
    sets: ScopSets,
    points: Mapping[str, Ints],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    stores: Mapping[str, StoreSlot],
    limit: int | None,
    in_order: bool = False,
) -> Grouping | None:
    """Return the grouping with the earliest last issue, before `limit` if given, or None.

    Parameters
    ----------
    points: the instances of every member.
    precedences: in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    stores: by statement; empty where stores may meet.
    in_order: keep the loops in the order of the program.
    """
    best: Grouping | None = None
    forward = True
    for nest in common_nests(members, sets, iteration_precedences, in_order):
        # Orders that run backward somewhere are for groups that have no other.
        if nest.backward and forward and best is not None:
            break
        forward = forward and not nest.backward
        found = padded_nest(
            members,
            nest,
            points,
            precedences,
            iteration_precedences,
            stores,
            limit,
            Effort(MAX_EFFORT),
            # A single nest is what was chosen beforehand: it is worth the time.
            thorough=in_order,
        )
        if found is not None:
            best, limit = _in_own_names(members, nest, found), found.last_issue
    return best


def padded_nest(
    members: Sequence[Member],
    nest: CommonNest,
    points: Mapping[str, Ints],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    stores: Mapping[str, StoreSlot],
    limit: int | None,
    effort: Effort,
    *,
    thorough: bool,
) -> Grouping | None:
    """Return the grouping with the smallest pads of one nest, over the common dimensions.

    Parameters
    ----------
    points, precedences, iteration_precedences, stores, limit: see `best_common_nest`.
    thorough: pad also for an initiation interval of 1, where a longer one needs less padding.
    """
    trial = _Trial(
        nest,
        {m.name: nest.coordinates(m, points[m.name]) for m in members},
        _Bundle.of(nest, members, precedences),
        _Bundle.of(nest, members, iteration_precedences),
        stores,
        effort,
        thorough,
    )
    return trial.best(UNBOUNDED if limit is None else limit)


@dataclass(frozen=True, slots=True, eq=False)
class _Bundle:
    """Precedences between places in the common nest, all pairs in one table.

    Members
    -------
    origins: the precedences. sources, sinks: (pairs, dims), those of one precedence after those of
        the one before; starts: where each begins.
    """

    origins: tuple[Precedence, ...]
    sources: Ints
    sinks: Ints
    starts: Ints

    @staticmethod
    def of(
        nest: CommonNest, members: Sequence[Member], precedences: Sequence[Precedence]
    ) -> _Bundle:
        by_name = {member.name: member for member in members}
        sources, sinks = [np.zeros((0, len(nest.dims)), dtype=np.int64)], []
        sinks += sources
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            sources.append(nest.coordinates(by_name[p.source], p.related.sources))
            sinks.append(nest.coordinates(by_name[p.sink], p.related.sinks))
        ends = np.cumsum([len(found) for found in sources])
        return _Bundle(
            tuple(precedences), np.concatenate(sources), np.concatenate(sinks), ends[:-1]
        )

    def gaps(self, common: Placement) -> tuple[list[int], list[int]]:
        """Return the smallest and the largest rank(source) - rank(sink) of every precedence."""
        if not self.origins:
            return [], []
        gaps = common.ranks(self.sources) - common.ranks(self.sinks)
        return (
            np.minimum.reduceat(gaps, self.starts).tolist(),
            np.maximum.reduceat(gaps, self.starts).tolist(),
        )

    def required(self, gaps: tuple[list[int], list[int]], ii: int) -> dict[tuple[str, str], int]:
        """Return the largest required distance of every ordered pair of statements."""
        found: dict[tuple[str, str], int] = {}
        for p, smallest, largest in zip(self.origins, *gaps, strict=True):
            distance = p.required_between(ii * smallest, ii * largest)
            key = (p.source, p.sink)
            found[key] = max(distance, found.get(key, distance))
        return found

    def initiation_interval(self, gaps: tuple[list[int], list[int]]) -> int | None:
        """Return the smallest II of all members, or None where a statement runs backward."""
        ii = 1
        for p, _, largest in zip(self.origins, *gaps, strict=True):
            if p.source == p.sink:
                if largest >= 0:
                    return None
                ii = max(ii, -(p.lag // largest))
        return ii


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """One common nest, to be padded.

    Members
    -------
    points, precedences, iteration_precedences: in the common dimensions.
    """

    nest: CommonNest
    points: Mapping[str, Ints]
    precedences: _Bundle
    iteration_precedences: _Bundle
    stores: Mapping[str, StoreSlot]
    effort: Effort
    thorough: bool

    def best(self, limit: int) -> Grouping | None:
        """Return the grouping with the smallest pads whose last issue is before `limit`."""
        depth = len(self.nest.loops)
        best: Grouping | None = None
        try:
            best = self._attempt((0,) * depth, limit)
        except TooLong:
            return None
        if depth == 1 or (best is not None and (best.ii == 1 or not self.thorough)):
            return best
        limit = limit if best is None else best.last_issue
        intervals = [UNBOUNDED] if best is None else []
        for inner in list(product(INNER_LEAST, repeat=depth - 2))[:MAX_PADDINGS]:
            # In loops that run longer, iterations may need not wait for each other.
            for most_ii in [1, *intervals] if self.thorough else intervals:
                found = self._bisected(inner, limit, most_ii)
                if found is not None:
                    best, limit = found, found.last_issue
                    break
        return self._tightened(best) if self.thorough and best is not None else best

    def _tightened(self, best: Grouping) -> Grouping:
        """Let the loops inside of the second one run less, as far as that shortens the nest."""
        least = [loop.at_least for loop in next(iter(best.placements.values())).loops]
        for level in reversed(range(2, len(least))):
            for count in range(least[level] - 1, least[level] // 2, -1):
                tried = (*least[:level], count, *least[level + 1 :])
                try:
                    found = self._attempt(tried, best.last_issue, best.ii)
                except TooLong:
                    return best
                if found is not None:
                    best, least[level] = found, count
        return best

    def _bisected(self, inner: tuple[int, ...], limit: int, most_ii: int) -> Grouping | None:
        """Find the smallest minimal trip count of the second loop."""
        low, high = 0, 1
        best: Grouping | None = None
        while best is None:
            try:
                best = self._attempt((0, high, *inner), limit, most_ii)
            except TooLong:
                return None
            if best is None:
                low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            try:
                found = self._attempt((0, middle, *inner), limit, most_ii)
            except TooLong:
                return best
            if found is None:
                low = middle
            else:
                best, high = found, middle
        return best

    def _attempt(
        self, least: tuple[int, ...], limit: int, most_ii: int = UNBOUNDED
    ) -> Grouping | None:
        """Return the group over the common dimensions, with given minimal trip counts.

        None: it does not keep all precedences, or needs a longer interval than `most_ii`.

        Raises
        ------
        TooLong: it cannot end before `limit`, nor can any with larger minima; or enough was tried.
        """
        keep_going()
        padded = _padded(self.nest.loops, least, limit)
        if padded is None:
            return None
        loops, rows = padded
        self.effort.spend(len(rows) + len(self.precedences.sources))
        table = ranks_of(rows, np.ones(len(rows), dtype=np.int64), loops, self.nest.dims)
        if not all(table.covers(points) for points in self.points.values()):
            return None
        placed = Placement(self.nest.dims, loops, None, table, table.count, 1)
        iterations = self.iteration_precedences
        shifted = iterations.required(iterations.gaps(placed), 1)
        if smallest_shifts(list(self.points), shifted, {}) is None:
            return None
        gaps = self.precedences.gaps(placed)
        ii = self.precedences.initiation_interval(gaps)
        if ii is None or ii > most_ii:
            return None
        shifts = self._shifts(placed, ii, self.precedences.required(gaps, ii))
        if shifts is None:
            return None
        attempt = Grouping(dict.fromkeys(self.points, placed), ii, shifts)
        return attempt if attempt.last_issue < limit else None

    def _shifts(
        self, common: Placement, ii: int, required: Mapping[tuple[str, str], int]
    ) -> dict[str, int] | None:
        """Return the smallest shifts at which no two stores to an array meet."""
        names = list(self.points)
        shifts = smallest_shifts(names, required, {})
        if shifts is None or not self._stores_meet(common, ii, shifts):
            return shifts
        # Members with places of their own in the common nest never meet when in step.
        in_step = dict(required)
        for a, b in product(self.stores, repeat=2):
            if a != b and self.stores[a].array == self.stores[b].array:
                apart = self.stores[a].stage - self.stores[b].stage
                in_step[a, b] = max(apart, in_step.get((a, b), apart))
        shifts = smallest_shifts(names, in_step, {})
        if shifts is None or self._stores_meet(common, ii, shifts):
            return None
        return shifts

    def _stores_meet(self, common: Placement, ii: int, shifts: Mapping[str, int]) -> bool:
        cycles: dict[str, list[Ints]] = {}
        for name, store in self.stores.items():
            when = common.ranks(self.points[name]) * ii + (shifts[name] + store.stage)
            cycles.setdefault(store.array, []).append(when)
        every = [np.concatenate(found) for found in cycles.values() if len(found) > 1]
        return any(len(np.unique(found)) < len(found) for found in every)


def _in_own_names(members: Sequence[Member], nest: CommonNest, common: Grouping) -> Grouping:
    """Return a group over the common dimensions in the statements' iterators."""
    placed = {}
    for member in members:
        shared = common.placements[member.name]
        loops = nest.loops_of(member.name, shared.loops)
        table = rank_table(loops, member.iterators)
        assert table is not None, "the nest has been enumerated before"
        placed[member.name] = Placement(
            member.iterators, loops, None, table, table.count, shared.changes
        )
    return replace(common, placements=placed)


class TooLong(Exception):
    """A nest has too many iterations to be of use, or too much has been tried."""


@dataclass
class Effort:
    """What may still be spent. Counted, not timed: every machine builds the same.

    Members
    -------
    each: what every step costs whatever its size.
    """

    left: int
    each: int = 0

    def spend(self, amount: int) -> None:
        """Count work that is about to be done.

        Raises
        ------
        TooLong: nothing is left.
        """
        if self.left <= 0:
            raise TooLong
        self.left -= amount + self.each


def _padded(
    loops: Sequence[NestLoop], least: tuple[int, ...], limit: int
) -> tuple[tuple[NestLoop, ...], Ints] | None:
    """Return `loops` with minimal trip counts, in boxes that hold all their iterations, and these.

    None: some loop would be empty in some iteration of the outer ones.

    Raises
    ------
    TooLong: there are more than `limit` iterations.
    """
    # A level's own trips are no more than those of the whole nest.
    if max(least) > limit:
        raise TooLong
    wide = [
        _stretched(loop, max(count, loop.at_least))
        for loop, count in zip(loops, least, strict=True)
    ]
    enumerated = enumerate_nest(wide)
    if enumerated is None:
        return None
    rows, _ = enumerated
    if len(rows) > limit:
        raise TooLong
    exact = tuple(
        replace(loop, extent=int(column.max()) - loop.at + 1)
        for loop, column in zip(wide, rows.T, strict=True)
    )
    return exact, rows


def _stretched(loop: NestLoop, least: int) -> NestLoop:
    """Let a loop run at least `least` iterations, in a box that does not end it."""
    if loop.is_box:
        return replace(loop, extent=max(loop.extent, least))
    uppers = loop.uppers or (Bound(Affine((), loop.at + loop.extent - 1)),)
    return replace(loop, extent=UNBOUNDED, uppers=uppers, at_least=least)
