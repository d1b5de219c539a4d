"""Loop orders of their own for statements that depend on each other in a cycle.

Give statements that depend on each other in a cycle any loop orders and pads that suit.

Such statements need not run through the same loops: it is enough that all their dependences hold
at once. Here every one of them is free to take any of its nests, and of all combinations for which
there are shifts the shortest is taken.

Rewrite
-------
    for q { for p { sum[p] = 0;                  ->   S0: [q<8, p<8, pad@0<8] + 0
                    for s  sum[p] += a[q][s]; }       S1: [q<8, p<8, s<8]     + 0
            for p  a[q][p] = sum[p]; }                S2: [q<8, pad@7<8, p<8] + 0

S2 runs one column after another in the last eight iterations of a row: behind the sums that it
reads, and before the next row begins to write them.

Give the sweeps of an outer loop loop orders and pads of their own.

Statements that depend on each other in a cycle often do so around an outer loop only. Within one of
its iterations they are *sweeps* that follow each other, and each of them may be distributed,
permuted and padded as if it stood alone: one that waits for its own results runs another of its
loops inside, padded until the results are there. The iterations of the outer loop have a common
period, and each sweep divides it into whole runs of its inner loops.

Rewrite
-------
    for t  for i<8 {                                         (period 370)
      for j<8  p[i][j] = 7 / p[i][j-1];               ->     S0: [t, j<10, i<37]
      for j<8  v[j][i] = v[j-1][i] + p[i][j]; }              S1: [t, j<37, i<10]
    ...

Reference: loop distribution level by level, Allen and Kennedy, TOPLAS 1987.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate, chain, combinations, permutations
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import NestLoop
from rtlgen.nests.candidates import Placement, box_placement
from rtlgen.nests.distances import Candidate, StoreSlot, required_distances, share_cycle
from rtlgen.nests.period import LAST_ISSUE, Ending, Grouping, Member, self_distance, shared_depth
from rtlgen.nests.precedence import (
    Precedence,
    Related,
    Requirements,
    among,
    requirements,
    smallest_shifts,
)
from rtlgen.nests.search import best_choice
from rtlgen.poly.strong_components import strong_components

BoolArray = NDArray[np.bool_]

MAX_TABLE = 1_000_000
"""Pairs of nests of two statements whose distance is computed."""

MAX_NODES = 5_000
"""Partial choices that are extended."""

NEVER = -(10**12)
"""A distance that asks for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderSearch:
    """The best combination of nests that was found, if any.

    Members
    -------
    exhausted: whether no combination was left out.
    """

    best: Grouping | None
    exhausted: bool


def best_orders(
    nests: Mapping[str, Sequence[Placement]],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    ii: int,
    limit: int | None,
    ending: Ending = LAST_ISSUE,
) -> OrderSearch:
    """Return the nests with which the last statement ends first, before `limit` if given.

    Parameters
    ----------
    nests: by statement, those that keep its precedences with itself at `ii`, the preferred first.
    precedences: between the statements, in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    """
    candidates = {
        name: [Candidate({name: placed}, ii, {name: 0}, 0, placed.changes) for placed in found]
        for name, found in nests.items()
    }
    sizes = sorted((len(found) for found in candidates.values()), reverse=True)
    if not sizes[-1]:
        return OrderSearch(None, exhausted=True)
    if len(sizes) > 1 and sizes[0] * sizes[1] > MAX_TABLE:
        return OrderSearch(None, exhausted=False)
    names = list(candidates)
    tables = {
        (names[a], names[b]): table
        for (a, b), table in required_distances(list(candidates.values()), precedences).items()
    }
    search = _Search(nests, ii, tables, iteration_precedences, ending)
    search.limit = None if limit is None else limit - 1
    search.run()
    return OrderSearch(search.best, search.nodes <= MAX_NODES)


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """Nests of some of the statements.

    Members
    -------
    names, nests: the statements, and the column of the nest of each.
    into, out: longest paths of distances from and to each of them, to and from the nests of all
        statements; NEVER where there is none: (chosen, columns) each.
    """

    names: tuple[str, ...]
    nests: tuple[int, ...]
    into: Ints
    out: Ints


def _with(chosen: _Chosen, name: str, nest: int, into: Ints, out: Ints) -> _Chosen:
    """Return what is chosen and a nest more, with the longest paths that lead through it.

    Parameters
    ----------
    into, out: (columns,) the distances to and from all nests that the new one itself asks for.
    """
    before, after = chosen.into[:, nest, None], chosen.out[:, nest, None]
    # From the new nest on, also by way of one that was chosen before; and to it.
    into = np.maximum(into, (after + chosen.into).max(axis=0, initial=NEVER))
    out = np.maximum(out, (before + chosen.out).max(axis=0, initial=NEVER))
    return _Chosen(
        (*chosen.names, name),
        (*chosen.nests, nest),
        np.vstack([np.maximum(chosen.into, before + into), into]),
        np.vstack([np.maximum(chosen.out, after + out), out]),
    )


@dataclass(eq=False)
class _Search:
    """Depth first, the nearest end first.

    The nests of all statements are columns, those of one statement next to each other.

    Members
    -------
    limit: the latest end that is of use.
    """

    nests: Mapping[str, Sequence[Placement]]
    ii: int
    tables: Mapping[tuple[str, str], Ints]
    iteration_precedences: Sequence[Precedence]
    ending: Ending
    limit: int | None = None
    best: Grouping | None = None
    nodes: int = 0
    columns: Sequence[Placement] = field(init=False)
    first: Mapping[str, int] = field(init=False)
    lengths: Ints = field(init=False)
    changes: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.columns = [placed for found in self.nests.values() for placed in found]
        before = accumulate((len(found) for found in self.nests.values()), initial=0)
        self.first = dict(zip(self.nests, before, strict=False))
        spans = [
            self.ending.span(name, placed, self.ii)
            for name, found in self.nests.items()
            for placed in found
        ]
        self.lengths = np.array(spans, dtype=np.int64)
        self.changes = np.array([placed.changes for placed in self.columns], dtype=np.int64)

    def run(self) -> None:
        """Look for the best combination."""
        none = np.zeros((0, len(self.columns)), dtype=np.int64)
        self._extend(_Chosen((), (), none, none))

    def _extend(self, chosen: _Chosen) -> None:
        """Look for better combinations that have what is chosen."""
        left = [name for name in self.nests if name not in chosen.names]
        keep_going(work=4 * len(chosen.names) * len(left))
        if not left:
            self._finish(chosen)
            return
        self.nodes += 1
        ends, possible = self._options(chosen)
        found = {name: np.flatnonzero(possible[self._own(name)]) for name in left}
        # The statement with the fewest nests left: a contradiction shows soonest.
        name = min(left, key=lambda n: len(found[n]))
        nests = found[name] + self.first[name]
        nests = nests[np.lexsort((nests, self.changes[nests], ends[nests]))]
        for nest, end in zip(nests.tolist(), ends[nests].tolist(), strict=True):
            if self.nodes > MAX_NODES:
                return
            if self.limit is None or end <= self.limit:
                self._extend(_with(chosen, name, nest, *self._distances(name, nest)))

    def _own(self, name: str) -> slice:
        """Return the columns of the nests of a statement."""
        return slice(self.first[name], self.first[name] + len(self.nests[name]))

    def _distances(self, name: str, nest: int) -> tuple[Ints, Ints]:
        """Return the distances to and from all nests that one nest asks for."""
        into, out = np.full((2, len(self.columns)), NEVER)
        own = nest - self.first[name]
        for other in self.nests:
            if (name, other) in self.tables:
                into[self._own(other)] = self.tables[name, other][own]
            if (other, name) in self.tables:
                out[self._own(other)] = self.tables[other, name][:, own]
        return into, out

    def _options(self, chosen: _Chosen) -> tuple[Ints, BoolArray]:
        """Return the end with each nest beside those chosen, and which are possible."""
        into, out, nests = chosen.into, chosen.out, list(chosen.nests)
        start = into.max(axis=0, initial=0)
        earliest = start[nests, None]
        ends = self.lengths[nests, None] + np.maximum(earliest, start + out)
        ends = np.maximum(start + self.lengths, ends.max(axis=0, initial=0))
        possible: BoolArray = np.all(into + out <= 0, axis=0)
        if self.limit is not None:
            possible = possible & (ends <= self.limit)
        return ends, possible

    def _finish(self, chosen: _Chosen) -> None:
        chosen_nests = list(chosen.nests)
        placed = dict(zip(chosen.names, (self.columns[n] for n in chosen_nests), strict=True))
        ones = dict.fromkeys(placed, 1)
        required = requirements(self.iteration_precedences, placed, ones)
        if smallest_shifts(list(placed), required, {}) is None:
            return
        starts = chosen.into[:, chosen_nests].max(axis=0, initial=0).tolist()
        shifts = dict(zip(chosen.names, starts, strict=True))
        names = list(self.nests)
        self.best = Grouping(
            {name: placed[name] for name in names}, self.ii, {name: shifts[name] for name in names}
        )
        self.limit = self.ending.of(self.best) - 1


MAX_ROW = 4_096
"""Iterations to which a loop of a sweep is padded, at most."""

MAX_PERIODS = 1_000
"""Periods that are tried, from the smallest that holds every sweep."""

MAX_STORE_MOVES = 64
"""One-cycle moves that keep stores to one array apart."""


@dataclass(frozen=True, eq=False)
class SweepProblem:
    """Statements of one cycle, as boxes, and what orders them.

    Members
    -------
    precedences: in the unit of time of the result's shifts. related: the pairs behind them.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    points: the instances of every statement. stores: by statement; empty where stores may meet.
    ending: what ends first is best.
    """

    members: Sequence[Member]
    precedences: Sequence[Precedence]
    iteration_precedences: Sequence[Precedence]
    related: Related
    points: Mapping[str, Ints]
    stores: Mapping[str, StoreSlot]
    ending: Ending = LAST_ISSUE

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @cached_property
    def longest_lag(self) -> int:
        """That of all precedences."""
        return max((p.lag for p in self.precedences), default=0)

    @cached_property
    def required(self) -> Requirements:
        """What the precedences require of placements."""
        return Requirements(self.precedences)

    @cached_property
    def required_of_iterations(self) -> Requirements:
        """The same of the iteration precedences."""
        return Requirements(self.iteration_precedences)


def best_sweeps(problem: SweepProblem, limit: int | None) -> Grouping | None:
    """Return the grouping that ends first, before `limit` if given, or None.

    It has an initiation interval of 1. None also where the statements of some sweep depend on each
    other in a cycle, whatever loops are around it.
    """
    best: Grouping | None = None
    for depth in range(1, shared_depth(problem.members) + 1):
        orders = _orders_of_all(problem, depth)
        if orders is None:
            continue
        chosen = _chosen_sweeps(orders, _within(problem, problem.precedences, depth))
        found = _best_with_period(problem, orders, chosen, limit)
        if found is not None:
            best, limit = found, problem.ending.of(found)
    return best


def _best_with_period(
    problem: SweepProblem,
    orders: Mapping[str, Sequence[_Sweep]],
    chosen: Mapping[str, _Sweep],
    limit: int | None,
) -> Grouping | None:
    """Return the grouping of some sweeps, with one after the other exchanged while that helps."""
    found = _with_period(problem, chosen, limit)
    tried, best = dict(chosen), found
    while best is not None:
        found, best = best, None
        for name, own in orders.items():
            for sweep in own:
                if sweep == tried[name]:
                    continue
                trial = {**tried, name: sweep}
                better = _with_period(problem, trial, problem.ending.of(best or found))
                if better is not None:
                    best, tried = better, trial
    return found


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One statement within an iteration of the loops that all share.

    Members
    -------
    outer: those loops. loops: its own, outermost first; the second one may be longer than needed.
    """

    iterators: tuple[str, ...]
    outer: tuple[NestLoop, ...]
    loops: tuple[NestLoop, ...]

    @property
    def count(self) -> int:
        return prod(loop.extent for loop in self.loops)

    @property
    def alone(self) -> Placement:
        """The sweep without the loops around it."""
        return box_placement(self.loops, self.iterators)

    @property
    def row(self) -> int:
        """Iterations of one iteration of its outermost loop."""
        return prod(loop.extent for loop in self.loops[1:])

    def with_row(self, level: int, extent: int) -> _Sweep:
        """Return the sweep with one loop made longer."""
        loops = list(self.loops)
        loops[level] = replace(loops[level], extent=extent)
        return replace(self, loops=tuple(loops))

    def in_period(self, period: int) -> tuple[NestLoop, ...] | None:
        """Return its loops made so long that they take a whole period, or None.

        The second loop becomes longer until whole rows fit, then the first one.
        """
        if not self.loops:
            return (NestLoop(None, period),)
        first, *inner = self.loops
        if not inner:
            return (replace(first, extent=period),)
        second, *innermost = inner
        total, rest = divmod(period, prod(loop.extent for loop in innermost))
        longest = total // first.extent
        row = next((r for r in range(second.extent, longest + 1) if total % r == 0), None)
        if rest or row is None:
            return None
        return replace(first, extent=total // row), replace(second, extent=row), *innermost


def _orders_of_all(problem: SweepProblem, depth: int) -> dict[str, list[_Sweep]] | None:
    """Return the sweeps that statements may be inside of the `depth` outermost loops.

    None: one has none, or some depend on each other in a cycle there.
    """
    inside = _within(problem, problem.precedences, depth)
    orders = _within(problem, problem.iteration_precedences, depth)
    parts = strong_components(problem.names, [(p.source, p.sink) for p in (*inside, *orders)])
    if any(len(part) > 1 for part in parts):
        return None
    members = {member.name: member for member in problem.members}
    sweeps: dict[str, list[_Sweep]] = {}
    for (name,) in parts:
        sweeps[name] = list(_orders(members[name], depth, among(inside, [name])))
        if not sweeps[name]:
            return None
    return sweeps


def _chosen_sweeps(
    orders: Mapping[str, Sequence[_Sweep]], inside: Sequence[Precedence]
) -> dict[str, _Sweep]:
    """Return the sweeps with which one iteration of the loops around them ends soonest."""
    units = [
        [Candidate({name: sweep.alone}, 1, {name: 0}, sweep.count, 0) for sweep in found]
        for name, found in orders.items()
    ]
    choice = best_choice(units, inside)
    assert choice is not None, "without a limit there is a choice"
    return {
        name: found[own.index(candidate)]
        for own, candidate, (name, found) in zip(
            units, choice.candidates, orders.items(), strict=True
        )
    }


def _within(
    problem: SweepProblem, precedences: Sequence[Precedence], depth: int
) -> list[Precedence]:
    found = (problem.related.restricted(p, depth) for p in precedences)
    return [p for p in found if p is not None]


def _orders(member: Member, depth: int, own: Sequence[Precedence]) -> Iterator[_Sweep]:
    """Yield the orders of a statement's loops in which it need not wait, padded for it."""
    outer, inner = member.loops[:depth], member.loops[depth:]
    for order in permutations(inner):
        sweep = _Sweep(member.iterators, outer, order)
        if _keeps(sweep, own):
            yield sweep
            continue
        if len(order) == 1:
            sweep = replace(sweep, loops=(*order, NestLoop(None, 1)))
        for level in range(1, len(sweep.loops)):
            padded = _padded(sweep, level, own)
            if padded is not None:
                yield padded


def _keeps(sweep: _Sweep, own: Sequence[Precedence]) -> bool:
    keep_going()
    return all(self_distance(p, sweep.alone) >= max(1, p.lag) for p in own)


def _padded(sweep: _Sweep, level: int, own: Sequence[Precedence]) -> _Sweep | None:
    """Return a sweep with one loop just long enough for its own precedences, if any length is."""
    low, high = sweep.loops[level].extent, MAX_ROW
    if not _keeps(sweep.with_row(level, high), own):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _keeps(sweep.with_row(level, middle), own):
            high = middle
        else:
            low = middle
    return sweep.with_row(level, high)


def _with_period(
    problem: SweepProblem, sweeps: Mapping[str, _Sweep], limit: int | None
) -> Grouping | None:
    """Return the sweeps with the smallest period that keeps all precedences."""
    shortest = max(sweep.count for sweep in sweeps.values())
    trips = prod(loop.extent for loop in next(iter(sweeps.values())).outer)
    unit = lcm(*(sweep.row for sweep in sweeps.values()))
    # One sweep after the other.
    most = sum(sweep.count + problem.longest_lag + unit for sweep in sweeps.values())
    if limit is not None:
        ends = partial(problem.ending.at_least_in_trips, trips)
        most = bisect_left(range(most), limit, lo=min(shortest, most), key=ends)
    # Where no row gets longer, all that a longer period changes is that later iterations of the
    # outer loops wait for less.
    whole = range(-(-shortest // unit) * unit, most, unit)
    first = bisect_left(whole, True, key=lambda p: _keeps_order(problem, sweeps, p))
    end = whole[first] if first < len(whole) else most
    shorter = range(max(shortest, end - MAX_PERIODS), end) if unit > 1 else range(0)
    periods = chain(shorter, whole[first : first + MAX_PERIODS])
    for period in periods:
        placed = _placed(sweeps, period)
        if placed is None:
            continue
        shifts = _shifts(problem, placed)
        if shifts is None:
            continue
        found = _started_early(sweeps, Grouping(placed, 1, shifts))
        if limit is None or problem.ending.of(found) < limit:
            return found
    return None


def _placed(sweeps: Mapping[str, _Sweep], period: int) -> dict[str, Placement] | None:
    """Return the sweeps made to take a whole period, or None where one of them does not divide."""
    placed = {}
    for name, sweep in sweeps.items():
        loops = sweep.in_period(period)
        if loops is None:
            return None
        placed[name] = box_placement((*sweep.outer, *loops), sweep.iterators)
    return placed


def _keeps_order(problem: SweepProblem, sweeps: Mapping[str, _Sweep], period: int) -> bool:
    """Tell whether sweeps of a period keep all precedences, their stores not looked at."""
    placed = _placed(sweeps, period)
    return placed is not None and _required(problem, placed) is not None


def _required(
    problem: SweepProblem, placed: Mapping[str, Placement]
) -> dict[tuple[str, str], int] | None:
    """Return the distances that precedences require, or None where no shifts have them."""
    keep_going()
    ones = dict.fromkeys(problem.names, 1)
    for required in (problem.required_of_iterations, problem.required):
        found = required.between(placed, ones)
        if smallest_shifts(problem.names, found, {}) is None:
            return None
    return found


def _shifts(problem: SweepProblem, placed: Mapping[str, Placement]) -> dict[str, int] | None:
    """Return the smallest shifts that keep all precedences and stores apart, or None."""
    required = _required(problem, placed)
    if required is None:
        return None
    stored = _store_cycles(problem, placed)
    for _ in range(MAX_STORE_MOVES):
        shifts = smallest_shifts(problem.names, required, {})
        if shifts is None:
            return None
        meeting = _meeting(stored, shifts)
        if meeting is None:
            return shifts
        a, b = sorted(meeting, key=lambda name: (shifts[name], problem.names.index(name)))
        required[a, b] = shifts[b] - shifts[a] + 1
    return None


def _store_cycles(problem: SweepProblem, placed: Mapping[str, Placement]) -> list[dict[str, Ints]]:
    """Return for each array the cycles in which statements store to it, but for their shifts."""
    found: dict[str, dict[str, Ints]] = {}
    for name, store in problem.stores.items():
        cycles = placed[name].ranks(problem.points[name]) + store.stage
        found.setdefault(store.array, {})[name] = np.sort(cycles)
    return list(found.values())


def _meeting(
    stored: Sequence[Mapping[str, Ints]], shifts: Mapping[str, int]
) -> tuple[str, str] | None:
    """Return two statements that store to one array in one cycle, if there are any."""
    for cycles in stored:
        for a, b in combinations(cycles, 2):
            if share_cycle(cycles[a] + (shifts[a] - shifts[b]), cycles[b]):
                return a, b
    return None


def _started_early(sweeps: Mapping[str, _Sweep], grouping: Grouping) -> Grouping:
    """Return the same issue times, with the spare rows of a period before those that are needed.

    A sweep that starts a shift behind the others would count its spare rows after its last one.
    """
    placements, shifts = dict(grouping.placements), dict(grouping.shifts)
    for name, sweep in sweeps.items():
        placed, depth = placements[name], len(sweep.outer)
        if not sweep.loops:
            continue
        first = placed.loops[depth]
        row = prod(loop.extent for loop in placed.loops[depth + 1 :])
        spare = min(shifts[name] // row, first.extent - sweep.loops[0].extent)
        if spare == 0:
            continue
        begun = replace(first, at=first.at - spare)
        loops = (*placed.loops[:depth], begun, *placed.loops[depth + 1 :])
        placements[name] = box_placement(loops, placed.iterators)
        shifts[name] -= spare * row
    return Grouping(placements, grouping.ii, shifts)
