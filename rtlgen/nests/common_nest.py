"""Common nests: several statements in one nest of any shape, ranked by lists or in closed form.

Let the last rows in one iteration of an outer loop run together with the first in the next.

Where the rows of a nest are short at both ends, as the wavefronts of a rectangle are, each has to
be made as long as what the next one waits for. In front of the outer loop comes a new one that
counts the rows of all of its iterations, the last few of each along with the first few of the next:
what is short in one is filled up by the other. At the very ends it is filled up by iterations that
are not there.

Rewrite
-------
    for t<5 for w<112                  ->   for f = w + 104 * t
      for i in row w, at least 5: S            for t with 0 <= f - 104 * t < 112
                                                 for i in row w = f - 104 * t: S

Issue times for statements that share one nest of any shape, padded where they must wait.

All statements of the group run through the same iterations, each with a shift of its own. Where
a dependence would come too early in some iteration of an outer loop, because the loops inside of
it have become short, those loops are made to run for a minimal number of iterations.

Rewrite
-------
    for k<32 for j>=k for i>k: S   ->   for k<32 for j>=k, at least 6, for i>k, at least 8: S

Common nests of statements that have too many instances to be listed, ranked in closed form.

Where ranks are polynomials, one nest is judged at a cost that does not depend on its size, but in
a second or so. So minimal trip counts are chosen by a sample of the dependent pairs, those near the
corners of their relations: first the same minimum for all inner loops, and then a smaller one for
each. What is chosen is proven for all pairs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, permutations

import numpy as np

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop, only
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.nests.candidates import Placement
from rtlgen.nests.distances import StoreSlot
from rtlgen.nests.padding import Effort, NestPairs, PaddingSearch, least_end
from rtlgen.nests.period import LAST_ISSUE, Ending, Grouping, Member
from rtlgen.nests.precedence import ClosedPairs, Precedence, smallest_shifts, strongest
from rtlgen.nests.row_pads import UNBOUNDED, reaching, stretched
from rtlgen.nests.sinking import CommonNest, Sinking
from rtlgen.poly.closed_ranks import Sunk, common_ranks, exact_loops
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.poly.ranks import enumerate_nest, rank_table


def overlapping(nest: CommonNest, padded: Sequence[NestLoop]) -> CommonNest | None:
    """Return a nest in which iterations of the outermost loop overlap by their short rows.

    None: it has no such rows, or they are not the same in all iterations.

    Parameters
    ----------
    padded: its loops with the minimal trip counts that they need without.
    """
    if len(nest.loops) < 3:
        return None
    outer, rows, *inner = nest.loops
    least = max(loop.at_least for loop in padded[2:])
    if least < 2 or outer.extent < 2 or not (outer.is_box and rows.is_box):
        return None
    if any(_mentions(loop, outer) for loop in inner) or not _are_affine(nest, outer, rows):
        return None
    overlap = _short_rows(nest.loops[1:], least)
    if overlap == 0 or 2 * overlap >= rows.extent:
        return None
    return _overlapped(nest, rows.extent - overlap)


def _mentions(loop: NestLoop, outer: NestLoop) -> bool:
    bounds = (*loop.lowers, *loop.uppers)
    assert outer.counter is not None, "every loop of the nest is a common dimension"
    return any(bound.form.coefficient(outer.counter) for bound in bounds)


def _are_affine(nest: CommonNest, *loops: NestLoop) -> bool:
    """Tell whether the places of every member in these loops are affine."""
    places = [nest.dims.index(loop.counter or "") for loop in loops]
    return all(len(own[place]) == 1 for own in nest.sinking.values.values() for place in places)


def _short_rows(loops: Sequence[NestLoop], least: int) -> int:
    """Return how many rows are shorter than `least` at either end, at least."""
    enumerated = enumerate_nest(loops)
    if enumerated is None:
        return 0
    rows = enumerated[0][:, 0]
    lengths = np.bincount(rows - rows.min())
    long = np.flatnonzero(lengths >= least)
    return 0 if len(long) == 0 else int(min(long[0], len(lengths) - 1 - long[-1]))


def _overlapped(nest: CommonNest, stride: int) -> CommonNest:
    """Return the nest in which an iteration of the outer loop begins so many rows after another."""
    outer, rows, *inner = nest.loops
    assert outer.counter is not None and rows.counter is not None, "both are common dimensions"
    first, last = rows.at, rows.at + rows.extent - 1
    front = f"d{len(nest.dims)}"
    at, here = Affine.variable(front), Affine.variable(outer.counter)
    row = Bound(at - here * stride)
    loops = (
        NestLoop(front, rows.extent + stride * (outer.extent - 1), first + stride * outer.at),
        replace(
            outer,
            extent=outer.extent + 2,
            at=outer.at - 1,
            lowers=(Bound(at - last, stride),),
            uppers=(Bound(at - first, stride),),
        ),
        replace(rows, lowers=(row,), uppers=(row,)),
        *inner,
    )
    places = nest.dims.index(outer.counter), nest.dims.index(rows.counter)
    values = {
        name: (*own, (affine_sum([only(own[places[0]]) * stride, only(own[places[1]])]),))
        for name, own in nest.sinking.values.items()
    }
    pinned = {name: (*own, None) for name, own in nest.sinking.own.items()}
    return replace(
        nest,
        sinking=Sinking(values, pinned),
        dims=(*nest.dims, front),
        loops=loops,
        gain=min(nest.gain, TOLERANCE),
        iterations=0,
        overlaps=True,
    )


NEST_EFFORT = 16_000_000
"""Iterations and dependent pairs that are looked at for one nest."""

MAX_EFFORT = 40_000_000
"""The same for all nests of a group: some ten seconds."""

EXCHANGED_EFFORT = 20_000_000
"""The same for nests with loops in an order of each statement's own."""


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
    ending: Ending = LAST_ISSUE,
    floor: int = 0,
) -> Grouping | None:
    """Return the grouping that ends first, before `limit` if given, or None.

    Parameters
    ----------
    nests: those that are tried, the likeliest first.
    points: the instances of every member.
    precedences: in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    stores: by statement; empty where stores may meet.
    most_effort: iterations and dependent pairs that are looked at.
    may_overlap: whether iterations of an outer loop may share rows.
    ending: what ends first is best. floor: a time before which no grouping ends.
    """
    best: Grouping | None = None
    forward = True
    left = most_effort
    others = iter(nests)
    overlapped: CommonNest | None = None
    while (nest := overlapped or next(others, None)) is not None:
        overlapped = None
        if limit is not None and limit <= floor:
            break
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
            ending,
        )
        if found is not None:
            best = _in_own_names(members, nest, found)
            limit = ending.of(best)
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
    ending: Ending = LAST_ISSUE,
) -> Grouping | None:
    """Return the grouping with the smallest pads of one nest, over the common dimensions.

    Parameters
    ----------
    points, precedences, iteration_precedences, stores, limit, ending: see `best_common_nest`.
    """
    places = {m.name: nest.coordinates(m, points[m.name]) for m in members}
    loops = reaching(nest.loops, np.concatenate(list(places.values()))[:, nest.order])
    if loops is None:
        return None
    nest = replace(nest, loops=loops)
    in_order = {name: points[:, nest.order] for name, points in places.items()}
    if limit is not None and least_end(loops, in_order, ending) >= limit:
        return None
    search = PaddingSearch(
        nest,
        places,
        NestPairs.of(nest, members, precedences, _in_step(stores)),
        NestPairs.of(nest, members, iteration_precedences),
        stores,
        effort,
        replace(ending, last_rank=lambda name, placed: int(placed.ranks(places[name]).max())),
    )
    return search.best(UNBOUNDED if limit is None else limit)


def _in_step(stores: Mapping[str, StoreSlot]) -> dict[tuple[str, str], int]:
    """Return the distances at which statements store to an array in the same cycle."""
    return {
        (a, b): stores[a].stage - stores[b].stage
        for a, b in permutations(stores, 2)
        if stores[a].array == stores[b].array
    }


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


MAX_PROVEN = 8
"""Nests with given minima that are judged for one group of statements, all pairs looked at."""

LEAST = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Minimal trip counts of inner loops that are tried."""


_Gaps = Callable[[Precedence], tuple[int, int]]
"""The smallest and the largest rank(source) - rank(sink) of the pairs of a precedence."""


@dataclass(frozen=True, slots=True, eq=False)
class NestProblem:
    """Statements of one cycle that are to share a nest, and what orders them.

    Members
    -------
    precedences: in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    stores: by statement; empty where stores may meet.
    ending: what ends first is best.
    """

    members: Sequence[Member]
    sets: ScopSets
    precedences: Sequence[Precedence]
    iteration_precedences: Sequence[Precedence]
    stores: Mapping[str, StoreSlot]
    ending: Ending = LAST_ISSUE

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def every(self) -> tuple[Precedence, ...]:
        return (*self.precedences, *self.iteration_precedences)


@dataclass(frozen=True, slots=True, eq=False)
class _Samples:
    """The pairs of all precedences that are looked at first.

    Members
    -------
    points: by member, instances; pairs: by the id of a precedence, places in those of its source
        and of its sink.
    """

    points: Mapping[str, Ints]
    pairs: Mapping[int, tuple[slice, slice]]

    @staticmethod
    def of(problem: NestProblem) -> _Samples:
        points: dict[str, list[Ints]] = {name: [] for name in problem.names}
        ends = dict.fromkeys(points, 0)

        def added(name: str, more: Ints) -> slice:
            begin, ends[name] = ends[name], ends[name] + len(more)
            points[name].append(more)
            return slice(begin, ends[name])

        pairs = {}
        for p in problem.every:
            assert isinstance(p.related, ClosedPairs), "pairs that are too many to be listed"
            found = p.related.samples()
            pairs[id(p)] = added(p.source, found.sources), added(p.sink, found.sinks)
        return _Samples(
            {name: np.concatenate(parts) for name, parts in points.items() if parts}, pairs
        )

    def gaps(self, placed: Mapping[str, Placement]) -> _Gaps:
        """Return what tells the gaps in a nest; without a sample nothing is asked for."""
        ranks = {name: placed[name].ranks(points) for name, points in self.points.items()}

        def gaps(p: Precedence) -> tuple[int, int]:
            early, late = self.pairs[id(p)]
            apart = ranks[p.source][early] - ranks[p.sink][late]
            return int(apart.min(initial=UNBOUNDED)), int(apart.max(initial=-UNBOUNDED))

        return gaps


def best_closed_nest(
    problem: NestProblem,
    nests: Iterable[CommonNest],
    limit: int | None,
    is_short: Callable[[Grouping], bool],
) -> Grouping | None:
    """Return the grouping that ends first, before `limit` if given, or None.

    Parameters
    ----------
    nests: those that are tried, the likeliest first.
    is_short: tells what is not worth to be beaten.
    """
    best: Grouping | None = None
    samples, left = _Samples.of(problem), MAX_PROVEN
    for nest in nests:
        if not left or (nest.backward and best is not None):
            break
        trial = _Trial(problem, samples, nest, left)
        found = trial.best(UNBOUNDED if limit is None else int(limit * nest.gain))
        left = trial.left
        if found is not None:
            best, limit = found, problem.ending.of(found)
            if is_short(found):
                break
    return best


@dataclass(eq=False)
class _Trial:
    """One common nest, to be padded.

    Members
    -------
    left: how often it may be proven.
    """

    problem: NestProblem
    samples: _Samples
    nest: CommonNest
    left: int
    _known: dict[tuple[int, ...], dict[str, Placement] | None] = field(default_factory=dict)

    def best(self, limit: int) -> Grouping | None:
        """Return the group with the smallest minima that ends before `limit`."""
        inner = len(self.nest.loops) - 1
        if self._count((0,) * inner) > limit or self._stores_share_places():
            return None
        least = self._smallest([(value,) * inner for value in LEAST])
        if least is None:
            unpadded = (0,) * inner
            # With a longer interval, fewer iterations end by the limit.
            most_ii = limit // max(1, self._count(unpadded))
            if most_ii < 2 or not self._may_suffice(unpadded, most_ii):
                return None
            return self._proven(unpadded, limit, most_ii)
        for level in range(inner):
            values = [value for value in LEAST if value <= least[level]]
            tried = [(*least[:level], value, *least[level + 1 :]) for value in values]
            least = self._smallest(tried) or least
        while self._count(least) <= limit:
            found = self._proven(least, limit, 1)
            if found is not None or max(least, default=LEAST[-1]) == LEAST[-1] or not self.left:
                return found
            # Away from the corners something is closer than there.
            least = tuple(LEAST[LEAST.index(value) + 1] for value in least)
        return None

    def _count(self, least: tuple[int, ...]) -> int:
        """Return how many iterations the nest has; where that is not known, 0."""
        if not any(least) and self.nest.iterations:
            return self.nest.iterations
        placed = self._placed(least)
        return 0 if placed is None else placed[self.problem.names[0]].count

    def _smallest(self, tried: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
        """Return the first minima that may suffice, if the last ones may."""
        if not self._may_suffice(tried[-1]):
            return None
        return tried[bisect_left(tried, True, key=self._may_suffice)]

    def _may_suffice(self, least: tuple[int, ...], most_ii: int = 1) -> bool:
        """Tell whether the nest keeps the precedences near their corners."""
        placed = self._placed(least)
        if placed is None:
            return False
        return self._shifts(self.samples.gaps(placed), most_ii) is not None

    def _proven(self, least: tuple[int, ...], limit: int, most_ii: int) -> Grouping | None:
        """Return the group with given minima of the inner loops.

        None: it does not keep all precedences, needs a longer interval, or ends too late.
        """
        placed = self._placed(least)
        if placed is None or self.left <= 0:
            return None
        self.left -= 1
        known: dict[int, tuple[int, int]] = {}

        def gaps(p: Precedence) -> tuple[int, int]:
            if id(p) not in known:
                known[id(p)] = p.gaps(placed[p.source], placed[p.sink], 1, 1)
            return known[id(p)]

        try:
            shifts = self._shifts(gaps, most_ii)
        except NoClosedForm:
            return None
        if shifts is None:
            return None
        found = Grouping(placed, *shifts)
        return found if self.problem.ending.of(found) < limit else None

    def _placed(self, least: tuple[int, ...]) -> dict[str, Placement] | None:
        """Return the nest with minima for the inner loops, in the names of every member.

        None: it has no closed form.
        """
        if least not in self._known:
            self._known[least] = self._padded(least)
        return self._known[least]

    def _padded(self, least: tuple[int, ...]) -> dict[str, Placement] | None:
        outermost, *others = self.nest.loops
        wide = [outermost, *(stretched(loop, n) for loop, n in zip(others, least, strict=True))]
        try:
            loops = exact_loops(wide, self.problem.sets.context)
        except NoClosedForm:
            return None
        ranks = common_ranks(loops, self._sunk)
        if ranks is None:
            return None
        return {
            member.name: Placement(
                member.iterators,
                self.nest.loops_of(member.name, loops),
                None,
                None,
                closed.count,
                0,
                closed,
            )
            for member, closed in zip(self.problem.members, ranks, strict=True)
        }

    @cached_property
    def _sunk(self) -> list[Sunk]:
        sets = self.problem.sets
        order = [self.nest.dims.index(loop.counter or "") for loop in self.nest.loops]
        found = []
        for member in self.problem.members:
            own = self.nest.sinking.values[member.name]
            values = tuple(own[place] for place in order)
            places = sets.place_map(sets.scop.statement(member.name), values).range()
            found.append(Sunk(sets.domains[member.name], member.iterators, values, places))
        return found

    def _shifts(self, gaps: _Gaps, most_ii: int) -> tuple[int, dict[str, int]] | None:
        """Return II and smallest shifts, those of stores to one array in step."""
        names, precedences = self.problem.names, self.problem.precedences
        ii = 1
        for p in precedences:
            if p.source == p.sink:
                largest = gaps(p)[1]
                ii = most_ii + 1 if largest >= 0 else max(ii, -(p.lag // largest))
            if ii > most_ii:
                return None
        shifted = self._required(self.problem.iteration_precedences, gaps, 1)
        required = self._required(precedences, gaps, ii)
        if required is None or shifted is None:
            return None
        stores = self.problem.stores
        # They have places of their own in the nest, and never meet when in step.
        apart = (
            ((a, b), stores[a].stage - stores[b].stage)
            for a, b in permutations(stores, 2)
            if stores[a].array == stores[b].array
        )
        shifts = smallest_shifts(names, strongest(chain(required.items(), apart)), {})
        return None if shifts is None else (ii, shifts)

    def _required(
        self, precedences: Sequence[Precedence], gaps: _Gaps, ii: int
    ) -> dict[tuple[str, str], int] | None:
        """Return the distances that precedences ask for; None: there are no such shifts."""
        required: dict[tuple[str, str], int] = {}
        for p in precedences:
            smallest, largest = gaps(p)
            distance, pair = p.required_between(ii * smallest, ii * largest), (p.source, p.sink)
            required[pair] = max(distance, required.get(pair, distance))
        return None if smallest_shifts(self.problem.names, required, {}) is None else required

    def _stores_share_places(self) -> bool:
        """Tell whether statements with one write port run in one and the same iteration."""
        names, stores = self.problem.names, self.problem.stores
        places = {name: each.places for name, each in zip(names, self._sunk, strict=True)}
        return any(
            not places[a].is_disjoint(places[b])
            for a, b in combinations(stores, 2)
            if stores[a].array == stores[b].array
        )
