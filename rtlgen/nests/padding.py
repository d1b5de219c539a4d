"""The smallest trip counts of a nest, from the pairs of instances that depend on each other in it.

Dependent pairs of instances, at their places in a nest that several statements share.

The minimal trip counts of one nest: the smallest with which its statements keep what they must.

The second loop's is found by bisection, for each of some for the loops inside of it. What a choice
means for dependences and stores is told of blocks first (`nests.row_pads`); a nest is listed
where nothing speaks against it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import prod
from types import MappingProxyType

import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.nests.candidates import Placement
from rtlgen.nests.distances import StoreSlot
from rtlgen.nests.period import LAST_ISSUE, Ending, Grouping, LastPlaces, Member
from rtlgen.nests.precedence import Feasibility, Precedence, smallest_shifts, strongest
from rtlgen.nests.row_pads import (
    UNBOUNDED,
    BlockForms,
    BlockLengths,
    BlockPairs,
    BlockPlaces,
    Gaps,
    PairTable,
    stretched,
)
from rtlgen.nests.sinking import CommonNest
from rtlgen.poly.instances import Pairs
from rtlgen.poly.ranks import begins_with_box, enumerate_nest, ranks_of


@dataclass(frozen=True, slots=True, eq=False)
class NestPairs:
    """Precedences between places in the common nest, all pairs in one table.

    Members
    -------
    origins: the precedences. sources, sinks: (pairs, dims), those of one precedence after those of
        the one before; starts: where each begins. names: the statements.
    own: numbers of the precedences of a statement with itself.
    feasibility: of the origins. in_step: of these and of statements that are in step.
    """

    origins: tuple[Precedence, ...]
    names: tuple[str, ...]
    feasibility: Feasibility
    in_step: Feasibility
    sources: Ints
    sinks: Ints
    starts: Ints
    own: tuple[int, ...]

    @staticmethod
    def of(
        nest: CommonNest,
        members: Sequence[Member],
        precedences: Sequence[Precedence],
        in_step: Mapping[tuple[str, str], int] = MappingProxyType({}),
    ) -> NestPairs:
        """Return those of some statements.

        Parameters
        ----------
        in_step: distances of statements that are in step.
        """
        related = []
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            related.append(p.related)
        sources = [(p.source, pairs.sources) for p, pairs in zip(precedences, related, strict=True)]
        sinks = [(p.sink, pairs.sinks) for p, pairs in zip(precedences, related, strict=True)]
        ends = np.cumsum([0, *(len(points) for _, points in sources)])
        names = tuple(member.name for member in members)
        return NestPairs(
            tuple(precedences),
            names,
            Feasibility.of(names, precedences),
            Feasibility.of(names, precedences, in_step),
            _places(nest, members, sources),
            _places(nest, members, sinks),
            ends[:-1],
            tuple(n for n, p in enumerate(precedences) if p.source == p.sink),
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

    def gaps(self, common: Placement) -> Gaps:
        """Return the smallest and the largest rank(source) - rank(sink) of every precedence."""
        if not self.origins:
            return [], []
        gaps = common.ranks(self.sources) - common.ranks(self.sinks)
        return (
            np.minimum.reduceat(gaps, self.starts).tolist(),
            np.maximum.reduceat(gaps, self.starts).tolist(),
        )

    def can_be_kept(self, gaps: Gaps, ii: int) -> bool:
        """Tell whether some shifts keep all precedences."""
        return self.feasibility.shifts(*gaps, ii) is not None

    def shifts(self, gaps: Gaps, ii: int) -> Iterator[dict[str, int]]:
        """Yield the smallest shifts that keep all precedences, and those of statements in step."""
        for feasibility in (self.feasibility, self.in_step):
            found = feasibility.shifts(*gaps, ii)
            if found is None:
                return
            yield dict(zip(self.names, found.tolist(), strict=True))

    def initiation_interval(self, gaps: Gaps) -> int | None:
        """Return the smallest II of all members, or None where a statement runs backward."""
        ii, largest = 1, gaps[1]
        for number in self.own:
            if largest[number] >= 0:
                return None
            ii = max(ii, -(self.origins[number].lag // largest[number]))
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


INNER_LEAST = (0, 1, 2, 4, 8, 16, 32, 64)
"""Minimal trip counts tried for the loops inside of the one whose own is found exactly."""

FINE_LEAST = (*range(16), *range(16, 32, 2), *range(32, 65, 4))
"""The same where there is only one such loop."""

MAX_PADDINGS = 64
"""Minimal trip counts of all inner loops together that are tried to begin with."""

MAX_LEAST = 4_096
"""Minimal trip count of a second loop up to which one is looked for."""

STORE_TRIALS = 16
"""Larger ones that are tried where stores meet at the smallest."""


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


@dataclass(frozen=True, slots=True, eq=False)
class PaddingSearch:
    """One common nest, to be padded.

    Members
    -------
    points, precedences, iteration_precedences: in the common dimensions.
    ending: of groupings over the common dimensions.
    """

    nest: CommonNest
    points: Mapping[str, Ints]
    precedences: NestPairs
    iteration_precedences: NestPairs
    stores: Mapping[str, StoreSlot]
    effort: Effort
    ending: Ending = LAST_ISSUE

    def best(self, limit: int) -> Grouping | None:
        """Return the grouping with the smallest pads that ends before `limit`."""
        depth = len(self.nest.loops)
        best: Grouping | None = None
        try:
            if not self._may_be_padded():
                return None
            if depth == 1:
                return self._attempt((0,), limit, limit)
            forms = self._forms()
            for inner in _inner_minima(depth):
                found = self._padded(forms, inner, limit)
                if found is not None:
                    best, limit = found, self.ending.of(found)
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

    def _forms(self) -> BlockForms:
        """Return the block forms of the nest, with the last instances and those that store.

        Raises
        ------
        TooLong: enough was tried.
        """
        tables = [self.precedences.table(self.nest), self.iteration_precedences.table(self.nest)]
        in_order = {name: points[:, self.nest.order] for name, points in self.points.items()}
        placed = {
            name: points if name in self.stores else last_of(points)
            for name, points in in_order.items()
        }
        forms = BlockForms(self.nest.loops, tables, placed)
        self.effort.spend(sum(len(table.sources) for table in tables))
        return forms

    def _padded(self, forms: BlockForms, inner: tuple[int, ...], limit: int) -> Grouping | None:
        """Return the group with the smallest minimum of the second loop, the inner ones given."""
        keep_going()
        before = forms.listed
        # With a minimum for every loop, there are at least so many iterations in each; those of
        # the last block may be padding behind the end.
        blocks = max(1, forms.blocks - 1)
        least_in_second = blocks * prod(max(1, least) for least in inner)
        lengths = forms.lengths(inner, min(limit // least_in_second + 1, MAX_LEAST))
        self.effort.spend(forms.listed - before)
        places = forms.places(inner)
        if lengths is None or places is None:
            return None
        last = self.ending.last_places(places)
        if self.ending.at_least(lengths.at(0), last) >= limit:
            return None
        pairs = forms.pairs(inner)
        if pairs is None:
            return None
        self.effort.spend(len(lengths.begin) + sum(len(each.smallest) for each in pairs))
        stores = _StorePlaces(self.stores, {name: places[name] for name in self.stores})
        for most_ii in (1, UNBOUNDED):
            found = self._smallest(lengths, pairs, stores, last, inner, limit, most_ii)
            if found is not None:
                return found
        return None

    def _smallest(
        self,
        lengths: BlockLengths,
        pairs: Sequence[BlockPairs],
        stores: _StorePlaces,
        last: LastPlaces,
        inner: tuple[int, ...],
        limit: int,
        most_ii: int,
    ) -> Grouping | None:
        # With a longer interval, fewer iterations end by the limit.
        least_ii = 1 if most_ii == 1 else 2

        def least_end_with(least: int) -> int:
            return self.ending.at_least(lengths.at(least), last, least_ii)

        def is_enough(least: int) -> bool:
            return self._keeps_precedences(pairs, lengths.at(least), most_ii)

        high = bisect_left(range(lengths.most + 1), limit, key=least_end_with) - 1
        if high < 0 or not is_enough(high):
            return None
        least = bisect_left(range(high), True, key=is_enough)
        most = min(high, least + STORE_TRIALS) if self.stores else least
        for tried in range(least, most + 1):
            try:
                if self.stores and not self._may_do(
                    pairs, stores, last, lengths, tried, limit, most_ii
                ):
                    continue
                most_rows = max(limit, lengths.sum(tried))
                found = self._attempt((0, tried, *inner), limit, most_rows, most_ii)
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
        ii = self._interval(cycles, most_ii)
        return ii is not None and self.precedences.can_be_kept(cycles, ii)

    def _interval(self, gaps: Gaps, most_ii: int) -> int | None:
        """Return the initiation interval that gaps ask for, or None if that is above `most_ii`."""
        ii = self.precedences.initiation_interval(gaps)
        return ii if ii is not None and ii <= most_ii else None

    def _may_do(
        self,
        pairs: Sequence[BlockPairs],
        stores: _StorePlaces,
        last: LastPlaces,
        padded: BlockLengths,
        least: int,
        limit: int,
        most_ii: int,
    ) -> bool:
        """Tell whether with blocks padded to a minimum no stores meet, before `limit`.

        Raises
        ------
        TooLong: enough was tried.
        """
        lengths = padded.at(least)
        self.effort.spend(len(lengths) + sum(len(each.smallest) for each in pairs) + stores.count)
        gaps = pairs[0].gaps(lengths)
        ii = self._interval(gaps, most_ii)
        if ii is None or (ii == 1 and least in stores.vain):
            return False
        may_do = any(
            self.ending.at_least(lengths, last, ii, shifts) < limit
            and not stores.meet(lengths, ii, shifts)
            for shifts in self.precedences.shifts(gaps, ii)
        )
        if ii == 1 and not may_do:
            stores.vain.add(least)
        return may_do

    def _attempt(
        self, least: tuple[int, ...], limit: int, most_count: int, most_ii: int = UNBOUNDED
    ) -> Grouping | None:
        """Return the group over the common dimensions, with given minimal trip counts.

        None: it does not keep all precedences, or needs a longer interval than `most_ii`, or ends
        no sooner than `limit`.

        Raises
        ------
        TooLong: it has more iterations than `most_count`; or enough was tried.
        """
        keep_going()
        padded = nest_with_minima(self.nest.loops, least, most_count)
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
        ii = self._interval(gaps, most_ii)
        if ii is None:
            return None
        cycles = {name: ii * placed.ranks(self.points[name]) for name in self.stores}
        for shifts in self.precedences.shifts(gaps, ii):
            if not share_slots(self.stores, cycles, shifts):
                attempt = Grouping(dict.fromkeys(self.points, placed), ii, shifts)
                return attempt if self.ending.of(attempt) < limit else None
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _StorePlaces:
    """The stores of a nest, told by their blocks, for blocks of one length after another.

    Members
    -------
    meeting: intervals and shifts at which stores of one block meet, however long blocks are.
    vain: minima at which no shifts do for an interval of one.
    """

    stores: Mapping[str, StoreSlot]
    places: Mapping[str, BlockPlaces]
    meeting: set[tuple[int, ...]] = field(default_factory=set)
    vain: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        return sum(len(each.block) for each in self.places.values())

    def meet(self, lengths: Ints, ii: int, shifts: Mapping[str, int]) -> bool:
        """Tell whether two stores to an array meet when blocks have these lengths."""
        asked = (ii, *(shifts[name] for name in self.stores))
        if asked in self.meeting:
            return True
        cycles = {name: ii * place.ranks(lengths) for name, place in self.places.items()}
        if not share_slots(self.stores, cycles, shifts):
            return False
        # As if blocks were so far apart that no two stores of different ones can meet.
        most = max(int(place.place.max()) for place in self.places.values())
        far = ii * most + 2 * max(abs(shifts[n] + self.stores[n].stage) for n in self.stores) + 1
        alone = {name: place.block * far + ii * place.place for name, place in self.places.items()}
        if share_slots(self.stores, alone, shifts):
            self.meeting.add(asked)
        return True


def share_slots(
    stores: Mapping[str, StoreSlot], cycles: Mapping[str, Ints], shifts: Mapping[str, int]
) -> bool:
    """Tell whether two statements store to an array in one cycle.

    Parameters
    ----------
    cycles: of the instances of each statement that stores, but for its shift and its latency.
    """
    found: dict[str, list[Ints]] = {}
    for name, store in stores.items():
        found.setdefault(store.array, []).append(cycles[name] + (shifts[name] + store.stage))
    every = [np.sort(np.concatenate(several)) for several in found.values() if len(several) > 1]
    return any(bool((each[1:] == each[:-1]).any()) for each in every)


def least_end(loops: Sequence[NestLoop], points: Mapping[str, Ints], ending: Ending) -> int:
    """Return a time before which a nest does not end with whatever minima; 0: it is not known.

    Parameters
    ----------
    points: (n, loops) instances of every statement.
    """
    if len(loops) < 2:
        return 0
    inner = (0,) * (len(loops) - 2)
    forms = BlockForms(loops, (), {name: last_of(each) for name, each in points.items()})
    lengths, places = forms.lengths(inner, 0), forms.places(inner)
    if lengths is None or places is None:
        return 0
    return ending.at_least(lengths.at(0), ending.last_places(places))


def last_of(points: Ints) -> Ints:
    """Return the last of (n, loops) iterations, outermost loop first, as one row."""
    last: Ints = points[np.lexsort(points.T[::-1])[-1:]]
    return last


def _inner_minima(depth: int) -> Sequence[tuple[int, ...]]:
    """Return the minimal trip counts of the third loop and on that are tried."""
    if depth == 3:
        return [(least,) for least in FINE_LEAST]
    return list(islice(product(INNER_LEAST, repeat=depth - 2), MAX_PADDINGS))


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
