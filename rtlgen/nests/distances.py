"""How far apart units must start, and when stores keep out of each other's way.

How far apart the units of a program must start, for every pair of their candidates.

Cycles in which something is in use: sorted arrays, and masks of those that are soon over.

When a statement stores: what may not meet in a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.nests.candidates import Placement
from rtlgen.nests.precedence import ClosedPairs, Precedence
from rtlgen.poly.extrema import PairExtrema
from rtlgen.poly.instances import Pairs

GAPS_AT_ONCE = 1 << 20
"""Distances of related instances that are computed in one step."""

GAPS_IN_CACHE = 1 << 14
"""Distances of candidates that are worked on at a time."""

GAPS_KEPT = 1 << 22
"""Distances of candidates that are kept for searches to come: 32 MB."""

FEW_POINTS = 16
"""Points up to which all gaps at one of them are computed in one step."""


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


def least_tails(
    units: Sequence[Sequence[Candidate]], distances: Mapping[tuple[int, int], Ints]
) -> list[Ints]:
    """Return for every candidate the least time from its start to the end of what depends on it."""
    tails = [np.array([c.length for c in unit], dtype=np.int64) for unit in units]
    for a, b in sorted(distances, reverse=True):
        tails[a] = np.maximum(tails[a], (distances[a, b] + tails[b]).min(axis=1))
    return tails


class KnownDistances:
    """Distances of units that one search after another asks for, each found once.

    Searches over the regions of a program, with other ports or pads up to another length, ask for
    the same of most units.
    """

    def __init__(self) -> None:
        self._runs: dict[_Run, int] = {}
        self._tables: dict[frozenset[_Question], Ints] = {}
        self._asked: list[object] = []
        self._gaps = 0

    def begin(self) -> None:
        """Begin the next search, with none of them if they are too many by now."""
        if self._gaps > GAPS_KEPT:
            self._runs, self._tables, self._asked, self._gaps = {}, {}, [], 0

    def run(self, unit: Sequence[Candidate], name: str) -> int:
        """Return the number of the run of a statement in all candidates of its unit."""
        run = _run_of(unit, name)
        if run not in self._runs:
            self._runs[run] = len(self._runs)
            # Nests, and related pairs, are kept, so that their ids stay their own.
            self._asked.append(unit)
        return self._runs[run]

    def table(
        self,
        asked: Mapping[_Question, Precedence],
        sources: Sequence[Candidate],
        sinks: Sequence[Candidate],
    ) -> Ints:
        """Return the required start of each sink after each source."""
        questions = frozenset(asked)
        if questions not in self._tables:
            precedences = list(asked.values())
            table = self._tables[questions] = _distances(sources, sinks, precedences)
            self._asked.append(precedences)
            self._gaps += table.size
        return self._tables[questions]


def required_distances(
    units: Sequence[Sequence[Candidate]],
    precedences: Sequence[Precedence],
    known: KnownDistances | None = None,
) -> dict[tuple[int, int], Ints]:
    """Return, for dependent units a and b, the required start_b - start_a of all candidates.

    Those of units that are alike, as lanes are, have one table.

    Parameters
    ----------
    known: what was found before, and will be asked for again.
    """
    known = known or KnownDistances()
    known.begin()
    home = {name: n for n, unit in enumerate(units) for name in unit[0].placements}
    runs = {name: known.run(units[n], name) for name, n in home.items()}
    between: dict[tuple[int, int], dict[_Question, Precedence]] = {}
    for p in precedences:
        key = (home[p.source], home[p.sink])
        if key[0] != key[1]:
            question = (id(p.related), p.lag, p.uniform_lag, runs[p.source], runs[p.sink])
            between.setdefault(key, {})[question] = p
    return {(a, b): known.table(asked, units[a], units[b]) for (a, b), asked in between.items()}


_Run: TypeAlias = tuple[object, ...]
"""When the instances of a statement run, from the start of its unit, in all of its candidates."""

_Question: TypeAlias = tuple[int, int, int | None, int, int]
"""The id of related pairs, the two lags, and the numbers of the runs of source and sink."""


def _run_of(unit: Sequence[Candidate], name: str) -> _Run:
    """Return the run of a statement: one for all that run at the same times where that shows."""
    found: list[object] = []
    for candidate in unit:
        placed = candidate.placements[name]
        rank = id(placed) if placed.rank is None else (*placed.rank[0], placed.rank[1])
        found.append((rank, candidate.ii, candidate.shifts[name]))
    return tuple(found)


def _distances(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedences: Sequence[Precedence]
) -> Ints:
    """Return the required start of each sink after each source."""
    table = np.full((len(sources), len(sinks)), np.iinfo(np.int64).min)
    for precedence in precedences:
        first = 0
        for required in _required_of(sources, sinks, precedence):
            rows = table[first : first + len(required)]
            np.maximum(rows, required, out=rows)
            first += len(required)
    return table


def _required_of(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedence: Precedence
) -> Iterator[Ints]:
    """Yield what one precedence requires, for some sources at a time."""
    related = precedence.related
    if isinstance(related, ClosedPairs) or (isinstance(related, PairExtrema) and related.others):
        for source in sources:
            yield np.array([[_required(precedence, source, sink) for sink in sinks]])
        return
    for largest, is_uniform in _largest_gaps(sources, sinks, precedence):
        lag: int | Ints = precedence.lag
        if precedence.uniform_lag is not None:
            lag = np.where(is_uniform, np.int64(precedence.uniform_lag), np.int64(lag))
        yield largest + lag


def _largest_gaps(
    sources: Sequence[Candidate], sinks: Sequence[Candidate], precedence: Precedence
) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Yield the largest time from a sink to its source, and whether it is that of all pairs.

    Each is counted from the start of its unit.

    Some candidates for the source at a time, with all for the sink: so what is done with them is
    done in the processor's cache.
    """
    name, other, related = precedence.source, precedence.sink, precedence.related
    assert not isinstance(related, ClosedPairs), "these are asked for one by one"
    source_shifts = np.array([c.shifts[name] for c in sources], dtype=np.int64)
    sink_shifts = np.array([c.shifts[other] for c in sinks], dtype=np.int64)
    if isinstance(related, Pairs):
        most, fewest = _extremes(
            np.stack([c.placements[name].ranks(related.sources) * c.ii for c in sources]),
            np.stack([c.placements[other].ranks(related.sinks) * c.ii for c in sinks]),
        )
        yield most + source_shifts[:, None] - sink_shifts, most == fewest
        return
    # Where ranks are affine the vertices stand for all pairs, and each factor adds its own.
    early, start = _affine_times(sources, name)
    late, end = _affine_times(sinks, other)
    start, end = start + source_shifts, end + sink_shifts
    terms = []
    for dims, points in related.factors:
        own = [k for k in dims if k < early.shape[1]]
        others = [k - early.shape[1] for k in dims[len(own) :]]
        # Most candidates differ in loops that a factor has not, and take the same times there.
        some_early, of_sources = _distinct(early[:, own])
        some_late, of_sinks = _distinct(late[:, others])
        most, fewest = _extremes(
            some_early @ points[:, : len(own)].T, some_late @ points[:, len(own) :].T
        )
        terms.append((of_sources, most[:, of_sinks], (most == fewest)[:, of_sinks]))
    step = max(1, GAPS_IN_CACHE // len(sinks))
    for first in range(0, len(sources), step):
        rows = slice(first, first + step)
        keep_going(work=len(end) * step // 100)
        largest = start[rows, None] - end
        is_uniform = np.ones(largest.shape, dtype=np.bool_)
        for of_sources, most, is_same in terms:
            largest += most[of_sources[rows]]
            is_uniform &= is_same[of_sources[rows]]
        yield largest, is_uniform


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """Return the rows of a table that differ, and which of them each row is."""
    if rows.shape[1] == 0:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    if rows.shape[1] == 1:
        values, numbers = np.unique(rows[:, 0], return_inverse=True)
        return values[:, None], numbers
    found, numbers = np.unique(rows, axis=0, return_inverse=True)
    return found, numbers.reshape(-1)


def _affine_times(candidates: Sequence[Candidate], name: str) -> tuple[Ints, Ints]:
    """Return the coefficients, (candidates, iterators), and constants of ii * rank."""
    rows = []
    for candidate in candidates:
        rank = candidate.placements[name].rank
        assert rank is not None, "ragged nests have listed pairs"
        rows.append([candidate.ii * c for c in (*rank[0], rank[1])])
    table = np.array(rows, dtype=np.int64)
    return table[:, :-1], table[:, -1]


def _extremes(early: Ints, late: Ints) -> tuple[Ints, Ints]:
    """Return the largest and the least early - late over all points, for each two rows.

    Parameters
    ----------
    early, late: (rows, points).
    """
    largest = np.empty((len(early), len(late)), dtype=np.int64)
    least = np.empty_like(largest)
    step = max(1, GAPS_AT_ONCE // late.size)
    for first in range(0, len(early), step):
        keep_going(work=min(step, len(early)) * late.size // 100)
        rows = slice(first, first + step)
        if late.shape[1] > FEW_POINTS:
            gaps = early[rows, None, :] - late[None, :, :]
            largest[rows], least[rows] = gaps.max(axis=2), gaps.min(axis=2)
            continue
        # Few at a time, NumPy would spend the time on going from row to row.
        np.subtract.outer(early[rows, 0], late[:, 0], out=largest[rows])
        least[rows] = largest[rows]
        for k in range(1, late.shape[1]):
            gap = np.subtract.outer(early[rows, k], late[:, k])
            np.maximum(largest[rows], gap, out=largest[rows])
            np.minimum(least[rows], gap, out=least[rows])
    return largest, least


def _required(precedence: Precedence, source: Candidate, sink: Candidate) -> int:
    name, other = precedence.source, precedence.sink
    required = precedence.required(
        source.placements[name], sink.placements[other], source.ii, sink.ii
    )
    return required + source.shifts[name] - sink.shifts[other]


MASK_CYCLES = 32_768
"""Cycles of a mask: to compare two of them takes a microsecond, as long as one call of NumPy."""


def share_cycle(a: Ints, b: Ints) -> bool:
    """Tell whether two sorted arrays have an element in common."""
    if not len(a) or not len(b) or a[-1] < b[0] or b[-1] < a[0]:
        return False
    if len(a) > len(b):
        a, b = b, a
    place = np.minimum(np.searchsorted(b, a), len(b) - 1)
    return bool((b[place] == a).any())


def cycle_mask(cycles: Ints) -> int | None:
    """Return a number with a bit for every cycle, the first one lowest, or None if it is long."""
    if not len(cycles):
        return 0
    if cycles.min() < 0 or cycles.max() >= MASK_CYCLES:
        return None
    is_busy = np.zeros(int(cycles.max()) + 1, dtype=np.bool_)
    is_busy[cycles] = True
    return int.from_bytes(np.packbits(is_busy, bitorder="little").tobytes(), "little")


def shifted(mask: int, cycles: int) -> int:
    """Return a mask so many cycles later; those before the first one are left out."""
    return mask << cycles if cycles >= 0 else mask >> -cycles


@dataclass(frozen=True, slots=True)
class StoreSlot:
    """Where and when a statement stores: one store to an array in a cycle.

    Members
    -------
    stage: cycles from issue to the store.
    """

    array: str
    stage: int
