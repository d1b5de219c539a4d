"""The search over loop orders and pads that makes the fused loop shortest.

Every unit (a statement, or a cycle of statements with their common period) has a list of
candidates. The shifts follow from the choice: they are the longest paths through the required
distances. Units are taken in topological order, and of all partial choices only those are kept that
no other one beats in every respect that a later unit can see: same candidates for the units with
dependences still to come, no larger shift for any of them, no later end. That is exact (dynamic
programming over the frontier of the dependence graph), so the result is the optimum over the
candidates. A narrow search first finds an end to beat, and lower bounds cut off what cannot beat
it. Where more partial choices remain than can be followed, those with the best bounds are, and the
result says that it is not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.poly.extrema import PairExtrema
from rtlgen.poly.instances import Pairs
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.precedence import Precedence

IntArray = NDArray[np.int64]

MAX_STATES = 4_000
"""Partial choices followed at a time."""

FIRST_STATES = 50
"""Partial choices followed by the narrow search that comes first."""

MAX_EXTENSIONS = 4_000_000
"""Partial choices made in one run; programs with many statements get a narrower search."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One placement of all statements of a unit.

    Members
    -------
    placements: by statement; ii: initiation interval of them all.
    shifts: of the statements relative to the unit's own shift.
    length: time from the unit's shift to the end of its last instance.
    changes: see `Placement.changes`.
    """

    placements: Mapping[str, Placement]
    ii: int
    shifts: Mapping[str, int]
    length: int
    changes: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The best choice found.

    Members
    -------
    candidates: one a unit; starts: shift of every unit; end: time after the last instance.
    proven: no other choice among the candidates ends earlier.
    """

    candidates: tuple[Candidate, ...]
    starts: tuple[int, ...]
    end: int
    proven: bool

    @property
    def placements(self) -> dict[str, Placement]:
        return {name: p for c in self.candidates for name, p in c.placements.items()}

    @property
    def shifts(self) -> dict[str, int]:
        return {
            name: start + shift
            for c, start in zip(self.candidates, self.starts, strict=True)
            for name, shift in c.shifts.items()
        }

    @property
    def iis(self) -> dict[str, int]:
        return {name: c.ii for c in self.candidates for name in c.placements}


@dataclass(frozen=True, slots=True)
class _State:
    """A partial choice: candidate and start of every unit so far.

    Members
    -------
    bound: no completion of the choice ends earlier.
    """

    chosen: tuple[int, ...]
    starts: tuple[int, ...]
    end: int
    changes: int
    bound: int

    @property
    def merit(self) -> tuple[int, int, int, tuple[int, ...]]:
        """What a search that cannot follow every choice orders them by."""
        return self.bound, self.end, self.changes, self.chosen


Settle = Callable[[Sequence[int], Sequence[int], int, int, int | None], tuple[int, ...]]
"""(candidates chosen so far, their starts, candidate, earliest start, latest start of use or None)
-> all the starts, moved; the last one is past the latest where nothing before it fits."""


def best_choice(
    units: Sequence[Sequence[Candidate]],
    precedences: Sequence[Precedence],
    settle: Settle | None = None,
    limit: int | None = None,
    *,
    fewest_changes: bool = True,
) -> Choice | None:
    """Return the choice with the earliest end, and among those the fewest changes.

    None: no choice that was followed ends by `limit`.

    Parameters
    ----------
    units: the candidates of every unit, in an order in which precedences point forward.
    precedences: between statements of different units; others are ignored.
    settle: moves units later where they would collide over a resource. With it the choice is no
        longer proven to be the best: another move might have been shorter.
    limit: what ends later is not pursued.
    fewest_changes: without it, any choice with the earliest end will do, which is found sooner.
    """
    distances = _distances(units, precedences)
    search = _Search(units, distances, _tails(units, distances), settle)
    best, exhausted = search.run(FIRST_STATES, limit)
    if not exhausted and fewest_changes:
        wide, exhausted = search.run(search.width, limit if best is None else best.end)
        best = wide or best
    while not exhausted and settle is None and best is not None:
        shorter, exhausted = search.run(search.width, best.end - 1, fewest_changes=False)
        if shorter is None:
            break
        best = shorter
    if best is None:
        return None
    chosen = tuple(units[n][k] for n, k in enumerate(best.chosen))
    return Choice(chosen, best.starts, best.end, exhausted and settle is None)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """One search problem, to be run with different limits.

    Members
    -------
    distances: for dependent units a and b, the required start_b - start_a of all candidates.
    tails: for every unit, the least time from the start of each candidate to the end of everything.
    """

    units: Sequence[Sequence[Candidate]]
    distances: Mapping[tuple[int, int], IntArray]
    tails: Sequence[IntArray]
    settle: Settle | None

    @property
    def width(self) -> int:
        """How many partial choices may be followed."""
        return max(FIRST_STATES, min(MAX_STATES, MAX_EXTENSIONS // sum(map(len, self.units))))

    def run(
        self, width: int, limit: int | None, *, fewest_changes: bool = True
    ) -> tuple[_State | None, bool]:
        """Return the best choice that ends by `limit`, and whether no choice was left out.

        Parameters
        ----------
        fewest_changes: among choices with one end, find that with the fewest changes; without it
            fewer partial choices have to be followed.
        """
        last_use = {a: max(b for (x, b) in self.distances if x == a) for (a, _) in self.distances}
        states = [_State((), (), 0, 0, 0)]
        exhausted = True
        for number in range(len(self.units)):
            grown = [state for old in states for state in self._extended(old, number, limit)]
            open_units = [u for u in range(number + 1) if last_use.get(u, -1) > number]
            states = _undominated(grown, open_units, fewest_changes)
            if len(states) > width:
                states = sorted(states, key=lambda s: s.merit)[:width]
                exhausted = False
        best = min(states, key=lambda s: (s.end, s.changes, s.chosen), default=None)
        return best, exhausted

    def _extended(self, state: _State, number: int, limit: int | None) -> list[_State]:
        keep_going()
        candidates = self.units[number]
        earliest = np.zeros(len(candidates), dtype=np.int64)
        for unit, (chosen, start) in enumerate(zip(state.chosen, state.starts, strict=True)):
            if (unit, number) in self.distances:
                earliest = np.maximum(earliest, start + self.distances[unit, number][chosen])
        bounds = np.maximum(earliest + self.tails[number], state.bound)
        possible = np.arange(len(bounds)) if limit is None else np.flatnonzero(bounds <= limit)
        found = []
        for k in possible.tolist():
            starts, bound = (*state.starts, int(earliest[k])), int(bounds[k])
            if self.settle is not None:
                latest = None if limit is None else limit - int(self.tails[number][k])
                starts = self.settle(state.chosen, state.starts, k, starts[-1], latest)
                bound = max(bound, starts[-1] + int(self.tails[number][k]))
            if limit is None or bound <= limit:
                end = max(state.end, starts[-1] + candidates[k].length)
                changes = state.changes + candidates[k].changes
                found.append(_State((*state.chosen, k), starts, end, changes, bound))
        return found


def _tails(
    units: Sequence[Sequence[Candidate]], distances: Mapping[tuple[int, int], IntArray]
) -> list[IntArray]:
    """Return for every candidate the least time from its start to the end of what depends on it."""
    tails = [np.array([c.length for c in unit], dtype=np.int64) for unit in units]
    for a, b in sorted(distances, reverse=True):
        tails[a] = np.maximum(tails[a], (distances[a, b] + tails[b]).min(axis=1))
    return tails


def _distances(
    units: Sequence[Sequence[Candidate]], precedences: Sequence[Precedence]
) -> dict[tuple[int, int], IntArray]:
    """Return, for dependent units a and b, the required start_b - start_a of all candidates."""
    home = {name: n for n, unit in enumerate(units) for name in unit[0].placements}
    distances: dict[tuple[int, int], IntArray] = {}
    for precedence in precedences:
        key = (home[precedence.source], home[precedence.sink])
        if key[0] == key[1]:
            continue
        table = distance_table(units[key[0]], units[key[1]], precedence)
        distances[key] = np.maximum(distances[key], table) if key in distances else table
    return distances


def distance_table(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedence: Precedence
) -> IntArray:
    table = np.empty((len(sources), len(sinks)), dtype=np.int64)
    related = precedence.related
    if isinstance(related, PairExtrema) and related.others:
        for a, source in enumerate(sources):
            for b, sink in enumerate(sinks):
                table[a, b] = _required(precedence, source, sink)
        return table
    if isinstance(related, Pairs):
        points = related
    else:
        # Where ranks are affine the vertices stand for all pairs.
        dims = len(sources[0].placements[precedence.source].iterators)
        points = Pairs(related.vertices[:, :dims], related.vertices[:, dims:])
    sink_times = np.stack([_times(points.sinks, c, precedence.sink) for c in sinks])
    for a, candidate in enumerate(sources):
        keep_going()
        gaps = _times(points.sources, candidate, precedence.source) - sink_times
        largest = gaps.max(axis=1)
        table[a] = largest + precedence.lag
        if precedence.uniform_lag is not None:
            uniform = gaps.min(axis=1) == largest
            table[a, uniform] = largest[uniform] + precedence.uniform_lag
    source_shifts = np.array([c.shifts[precedence.source] for c in sources], dtype=np.int64)
    sink_shifts = np.array([c.shifts[precedence.sink] for c in sinks], dtype=np.int64)
    return table + source_shifts[:, None] - sink_shifts[None, :]


def _times(points: IntArray, candidate: Candidate, name: str) -> IntArray:
    """Return ii * rank of every point."""
    return candidate.placements[name].ranks(points) * candidate.ii


def _required(precedence: Precedence, source: Candidate, sink: Candidate) -> int:
    name, other = precedence.source, precedence.sink
    required = precedence.required(
        source.placements[name], sink.placements[other], source.ii, sink.ii
    )
    return required + source.shifts[name] - sink.shifts[other]


def _undominated(
    states: Sequence[_State], open_units: Sequence[int], fewest_changes: bool
) -> list[_State]:
    groups: dict[tuple[int, ...], list[_State]] = {}
    for state in sorted(states, key=lambda s: (s.end, s.changes, s.chosen)):
        keep_going()
        kept = groups.setdefault(tuple(state.chosen[u] for u in open_units), [])
        if not any(_dominates(other, state, open_units, fewest_changes) for other in kept):
            kept.append(state)
    return [state for kept in groups.values() for state in kept]


def _dominates(a: _State, b: _State, open_units: Sequence[int], fewest_changes: bool) -> bool:
    return (
        a.end <= b.end
        and (a.changes <= b.changes or not fewest_changes)
        and all(a.starts[u] <= b.starts[u] for u in open_units)
    )
