"""Issue times for statements that share one nest of any shape, padded where they must wait.

All statements of the group run through the same iterations, each with a shift of its own. Where
a dependence would come too early in some iteration of an outer loop, because the loops inside of
it have become short, those loops are made to run for a minimal number of iterations.

Rewrite
-------
    for k<32 for j>=k for i>k: S   ->   for k<32 for j>=k, at least 6, for i>k, at least 8: S
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.instances import Pairs
from rtlgen.poly.ranks import begins_with_box, enumerate_nest, rank_table, ranks_of
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.overlapping import overlapping
from rtlgen.transforms.period import Grouping, Member
from rtlgen.transforms.precedence import Feasibility, Precedence, smallest_shifts, strongest
from rtlgen.transforms.row_pads import (
    UNBOUNDED,
    BlockForms,
    BlockLengths,
    BlockPairs,
    BlockPlaces,
    PairTable,
    reaching,
    stretched,
)
from rtlgen.transforms.sink import CommonNest

Ints = NDArray[np.int64]

INNER_LEAST = (0, 1, 2, 4, 8, 16, 32, 64)
"""Minimal trip counts tried for the loops inside of the one whose own is found exactly."""

FINE_LEAST = (*range(16), *range(16, 32, 2), *range(32, 65, 4))
"""The same where there is only one such loop."""

MAX_PADDINGS = 64

NEST_EFFORT = 16_000_000
"""Iterations and dependent pairs that are looked at for one nest."""

MAX_EFFORT = 40_000_000
"""The same for all nests of a group: some ten seconds."""

EXCHANGED_EFFORT = 20_000_000
"""The same for nests with loops in an order of each statement's own."""

MAX_LEAST = 4_096
"""Minimal trip count of a second loop up to which one is looked for."""

STORE_TRIALS = 16
"""Larger ones that are tried where stores meet at the smallest."""


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
    nests: Iterable[CommonNest],
    points: Mapping[str, Ints],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    stores: Mapping[str, StoreSlot],
    limit: int | None,
    most_effort: int = MAX_EFFORT,
    *,
    may_overlap: bool,
) -> Grouping | None:
    """Return the grouping with the earliest last issue, before `limit` if given, or None.

    Parameters
    ----------
    nests: those that are tried, the likeliest first.
    points: the instances of every member.
    precedences: in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    stores: by statement; empty where stores may meet.
    most_effort: iterations and dependent pairs that are looked at.
    may_overlap: whether iterations of an outer loop may share rows.
    """
    best: Grouping | None = None
    forward = True
    left = most_effort
    others = iter(nests)
    overlapped: CommonNest | None = None
    while (nest := overlapped or next(others, None)) is not None:
        overlapped = None
        # Orders that run backward somewhere are for groups that have no other.
        if nest.backward and forward and best is not None:
            break
        forward = forward and not nest.backward
        effort = Effort(min(NEST_EFFORT, left))
        before = effort.left
        found = padded_nest(
            members,
            nest,
            points,
            precedences,
            iteration_precedences,
            stores,
            limit if limit is None else int(limit * nest.gain),
            effort,
        )
        if found is not None:
            best, limit = _in_own_names(members, nest, found), found.last_issue
            overlapped = overlapping(nest, found.loops) if may_overlap else None
        left -= before - effort.left
        if left <= 0:
            break
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
) -> Grouping | None:
    """Return the grouping with the smallest pads of one nest, over the common dimensions.

    Parameters
    ----------
    points, precedences, iteration_precedences, stores, limit: see `best_common_nest`.
    """
    places = {m.name: nest.coordinates(m, points[m.name]) for m in members}
    order = [nest.dims.index(loop.counter or "") for loop in nest.loops]
    loops = reaching(nest.loops, np.concatenate(list(places.values()))[:, order])
    if loops is None:
        return None
    nest = replace(nest, loops=loops)
    if limit is not None and _least_length(loops) > limit:
        return None
    trial = _Trial(
        nest,
        places,
        _Bundle.of(nest, members, precedences),
        _Bundle.of(nest, members, iteration_precedences),
        stores,
        _in_step(stores),
        effort,
    )
    return trial.best(UNBOUNDED if limit is None else limit)


def _in_step(stores: Mapping[str, StoreSlot]) -> dict[tuple[str, str], int]:
    """Return the distances at which statements store to an array in the same cycle."""
    return {
        (a, b): stores[a].stage - stores[b].stage
        for a, b in permutations(stores, 2)
        if stores[a].array == stores[b].array
    }


def _least_length(loops: Sequence[NestLoop]) -> int:
    """Return how many iterations a nest has with whatever minima; 0 where that is not known."""
    if len(loops) < 2:
        return 0
    shortest = BlockForms(loops, (), {}).lengths((0,) * (len(loops) - 2), 0)
    return 0 if shortest is None else shortest.sum(0)


@dataclass(frozen=True, slots=True, eq=False)
class _Bundle:
    """Precedences between places in the common nest, all pairs in one table.

    Members
    -------
    origins: the precedences. sources, sinks: (pairs, dims), those of one precedence after those of
        the one before; starts: where each begins. feasibility: of the origins.
    """

    origins: tuple[Precedence, ...]
    feasibility: Feasibility
    sources: Ints
    sinks: Ints
    starts: Ints

    @staticmethod
    def of(
        nest: CommonNest, members: Sequence[Member], precedences: Sequence[Precedence]
    ) -> _Bundle:
        related = []
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            related.append(p.related)
        sources = [(p.source, pairs.sources) for p, pairs in zip(precedences, related, strict=True)]
        sinks = [(p.sink, pairs.sinks) for p, pairs in zip(precedences, related, strict=True)]
        ends = np.cumsum([0, *(len(points) for _, points in sources)])
        return _Bundle(
            tuple(precedences),
            Feasibility.of([member.name for member in members], precedences),
            _places(nest, members, sources),
            _places(nest, members, sinks),
            ends[:-1],
        )

    def table(self, nest: CommonNest) -> PairTable:
        """Return the pairs in the order of the loops of the nest."""
        return PairTable(self.sources[:, nest.order], self.sinks[:, nest.order], self.starts)

    def however_padded(self, nest: CommonNest) -> dict[tuple[str, str], int]:
        """Return what every ordered pair of statements requires at least, whatever the minima."""
        gaps = self.table(nest).gaps_at_least()
        return strongest(
            ((p.source, p.sink), p.required_between(gap, gap))
            for p, gap in zip(self.origins, gaps, strict=True)
            if gap is not None
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
        return strongest(
            ((p.source, p.sink), p.required_between(ii * smallest, ii * largest))
            for p, smallest, largest in zip(self.origins, *gaps, strict=True)
        )

    def can_be_kept(self, gaps: tuple[list[int], list[int]], ii: int) -> bool:
        """Tell whether some shifts keep all precedences."""
        return self.feasibility.holds(*gaps, ii)

    def initiation_interval(self, gaps: tuple[list[int], list[int]]) -> int | None:
        """Return the smallest II of all members, or None where a statement runs backward."""
        ii = 1
        for p, _, largest in zip(self.origins, *gaps, strict=True):
            if p.source == p.sink:
                if largest >= 0:
                    return None
                ii = max(ii, -(p.lag // largest))
        return ii


def _places(
    nest: CommonNest, members: Sequence[Member], points: Sequence[tuple[str, Ints]]
) -> Ints:
    """Return the places in a nest of instances of members, given by name, one after another."""
    rows = np.cumsum([0, *(len(each) for _, each in points)])
    found = np.zeros((int(rows[-1]), len(nest.dims)), dtype=np.int64)
    numbers: dict[str, list[int]] = {}
    for n, (name, _) in enumerate(points):
        numbers.setdefault(name, []).append(n)
    for member in members:
        own = numbers.get(member.name)
        if own:
            places = nest.coordinates(member, np.concatenate([points[n][1] for n in own]))
            found[np.concatenate([np.arange(rows[n], rows[n + 1]) for n in own])] = places
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """One common nest, to be padded.

    Members
    -------
    points, precedences, iteration_precedences: in the common dimensions.
    in_step: the distances at which statements store to an array in the same cycle of an iteration.
    """

    nest: CommonNest
    points: Mapping[str, Ints]
    precedences: _Bundle
    iteration_precedences: _Bundle
    stores: Mapping[str, StoreSlot]
    in_step: Mapping[tuple[str, str], int]
    effort: Effort

    def best(self, limit: int) -> Grouping | None:
        """Return the grouping with the smallest pads whose last issue is before `limit`."""
        depth = len(self.nest.loops)
        best: Grouping | None = None
        try:
            if not self._may_be_padded():
                return None
            if depth == 1:
                return self._attempt((0,), limit)
            forms = self._forms(limit)
            for inner in _inner_minima(depth):
                found = self._padded(forms, inner, limit)
                if found is not None:
                    best, limit = found, found.last_issue
                if best is not None and best.ii == 1 and self._is_unpadded(best):
                    # Without a pad nothing is shorter.
                    break
        except TooLong:
            return best
        return best

    def _may_be_padded(self) -> bool:
        """Tell whether there could be shifts for some minima, counting iterations."""
        self.effort.spend(len(self.iteration_precedences.sources))
        required = self.iteration_precedences.however_padded(self.nest)
        return smallest_shifts(list(self.points), required, {}) is not None

    def _is_unpadded(self, grouping: Grouping) -> bool:
        return [x.at_least for x in grouping.loops] == [x.at_least for x in self.nest.loops]

    def _forms(self, limit: int) -> BlockForms:
        """Return the block forms of the nest.

        Raises
        ------
        TooLong: it cannot end before `limit`; or enough was tried.
        """
        if _least_length(self.nest.loops) > limit:
            raise TooLong
        tables = [self.precedences.table(self.nest), self.iteration_precedences.table(self.nest)]
        stored = {name: self.points[name][:, self.nest.order] for name in self.stores}
        forms = BlockForms(self.nest.loops, tables, stored)
        self.effort.spend(sum(len(table.sources) for table in tables))
        return forms

    def _padded(self, forms: BlockForms, inner: tuple[int, ...], limit: int) -> Grouping | None:
        """Return the group with the smallest minimum of the second loop, the inner ones given."""
        keep_going()
        before = forms.listed
        # With a minimum for every loop, there are at least so many iterations in each.
        least_in_second = forms.blocks * prod(max(1, least) for least in inner)
        lengths = forms.lengths(inner, min(limit // least_in_second + 1, MAX_LEAST))
        self.effort.spend(forms.listed - before)
        if lengths is None or lengths.sum(0) > limit:
            return None
        pairs, places = forms.pairs(inner), forms.places(inner)
        if pairs is None:
            return None
        self.effort.spend(len(lengths.begin) + sum(len(each.smallest) for each in pairs))
        for most_ii in (1, UNBOUNDED):
            # With a longer interval, fewer iterations end by the limit.
            most_count = limit if most_ii == 1 else limit // 2 + 1
            found = self._smallest(lengths, pairs, places, inner, limit, most_ii, most_count)
            if found is not None:
                return found
        return None

    def _smallest(
        self,
        lengths: BlockLengths,
        pairs: Sequence[BlockPairs],
        places: Mapping[str, BlockPlaces] | None,
        inner: tuple[int, ...],
        limit: int,
        most_ii: int,
        most_count: int,
    ) -> Grouping | None:
        def is_enough(least: int) -> bool:
            return self._keeps_precedences(pairs, lengths.at(least), most_ii)

        high = bisect_right(range(lengths.most + 1), most_count, key=lengths.sum) - 1
        if high < 0 or not is_enough(high):
            return None
        least = bisect_left(range(high), True, key=is_enough)
        last = min(high, least + STORE_TRIALS) if self.stores else least
        for tried in range(least, last + 1):
            try:
                if places is not None and self._meets(pairs, places, lengths.at(tried), most_ii):
                    continue
                found = self._attempt((0, tried, *inner), limit, most_ii)
            except TooLong:
                return None
            if found is not None:
                return found
        return None

    def _keeps_precedences(self, pairs: Sequence[BlockPairs], lengths: Ints, most_ii: int) -> bool:
        """Tell whether there are shifts for blocks of these lengths, the stores not looked at."""
        cycles, iterations = (each.gaps(lengths) for each in pairs)
        if not self.iteration_precedences.can_be_kept(iterations, 1):
            return False
        ii = self.precedences.initiation_interval(cycles)
        if ii is None or ii > most_ii:
            return False
        return self.precedences.can_be_kept(cycles, ii)

    def _meets(
        self,
        pairs: Sequence[BlockPairs],
        places: Mapping[str, BlockPlaces],
        lengths: Ints,
        most_ii: int,
    ) -> bool:
        """Tell whether with blocks of these lengths some stores meet, or a precedence is broken.

        Raises
        ------
        TooLong: enough was tried.
        """
        looked_at = (*(each.smallest for each in pairs), *(each.block for each in places.values()))
        self.effort.spend(len(lengths) + sum(map(len, looked_at)))
        gaps = pairs[0].gaps(lengths)
        ii = self.precedences.initiation_interval(gaps)
        if ii is None or ii > most_ii:
            return True
        ranks = {name: place.ranks(lengths) for name, place in places.items()}
        return self._shifts(ranks, ii, self.precedences.required(gaps, ii)) is None

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
        padded = nest_with_minima(self.nest.loops, least, limit)
        if padded is None:
            return None
        loops, rows = padded
        self.effort.spend(len(rows) + len(self.precedences.sources))
        table = ranks_of(rows, np.ones(len(rows), dtype=np.int64), loops, self.nest.dims)
        if not all(table.covers(points) for points in self.points.values()):
            return None
        placed = Placement(self.nest.dims, loops, None, table, table.count, 1)
        iterations = self.iteration_precedences
        if not iterations.can_be_kept(iterations.gaps(placed), 1):
            return None
        gaps = self.precedences.gaps(placed)
        ii = self.precedences.initiation_interval(gaps)
        if ii is None or ii > most_ii:
            return None
        ranks = {name: placed.ranks(self.points[name]) for name in self.stores}
        shifts = self._shifts(ranks, ii, self.precedences.required(gaps, ii))
        if shifts is None:
            return None
        attempt = Grouping(dict.fromkeys(self.points, placed), ii, shifts)
        return attempt if attempt.last_issue < limit else None

    def _shifts(
        self, ranks: Mapping[str, Ints], ii: int, required: Mapping[tuple[str, str], int]
    ) -> dict[str, int] | None:
        """Return the smallest shifts at which no two stores to an array meet.

        Parameters
        ----------
        ranks: of the instances of each statement that stores.
        """
        names = list(self.points)
        shifts = smallest_shifts(names, required, {})
        if shifts is None or not self._stores_meet(ranks, ii, shifts):
            return shifts
        # Members with places of their own in the common nest never meet when in step.
        in_step = dict(self.in_step)
        for pair, distance in required.items():
            in_step[pair] = max(distance, in_step.get(pair, distance))
        shifts = smallest_shifts(names, in_step, {})
        if shifts is None or self._stores_meet(ranks, ii, shifts):
            return None
        return shifts

    def _stores_meet(self, ranks: Mapping[str, Ints], ii: int, shifts: Mapping[str, int]) -> bool:
        cycles: dict[str, list[Ints]] = {}
        for name, store in self.stores.items():
            when = ranks[name] * ii + (shifts[name] + store.stage)
            cycles.setdefault(store.array, []).append(when)
        every = [np.concatenate(found) for found in cycles.values() if len(found) > 1]
        return any(int(np.bincount(found - found.min()).max()) > 1 for found in every)


def _in_own_names(members: Sequence[Member], nest: CommonNest, common: Grouping) -> Grouping:
    """Return a group over the common dimensions in the statements' iterators."""
    placed = {}
    for member in members:
        shared = common.placements[member.name]
        loops = nest.loops_of(member.name, shared.loops)
        table = rank_table(loops, member.iterators)
        assert table is not None, "the nest has been enumerated before"
        placed[member.name] = Placement(
            member.iterators,
            loops,
            None,
            table,
            table.count,
            shared.changes,
            overlaps=nest.overlaps,
        )
    return replace(common, placements=placed)


def _inner_minima(depth: int) -> Sequence[tuple[int, ...]]:
    """Return the minimal trip counts of the third loop and on that are tried."""
    if depth == 3:
        return [(least,) for least in FINE_LEAST]
    return list(islice(product(INNER_LEAST, repeat=depth - 2), MAX_PADDINGS))


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


def nest_with_minima(
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
    wide = [stretched(loop, count) for loop, count in zip(loops, least, strict=True)]
    enumerated = enumerate_nest(wide)
    if enumerated is None:
        return None
    rows, _ = enumerated
    if len(rows) > limit:
        raise TooLong
    exact = tuple(
        replace(_begun(wide, level, rows), extent=int(column.max()) - loop.at + 1)
        for level, (loop, column) in enumerate(zip(wide, rows.T, strict=True))
    )
    return exact, rows


def _begun(loops: Sequence[NestLoop], level: int, rows: Ints) -> NestLoop:
    """Return a loop that says itself where it begins.

    Inside of the domain its bounds never do before its box; in iterations that a minimum adds
    outside of it, they may.
    """
    loop = loops[level]
    if not loop.lowers or not begins_with_box(loop, loops[:level], rows[:, :level]):
        return loop
    return replace(loop, lowers=(*loop.lowers, Bound(Affine((), loop.first))))
