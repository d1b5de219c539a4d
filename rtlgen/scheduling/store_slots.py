"""Keep the stores of different statements to one array apart while the search is still choosing.

An array has one write port, unless several are being tried. For each candidate placement the cycles
in which a statement stores, relative to its first issue, are enumerated; two candidates fit at a
distance when the two sets, moved apart by it, do not meet.

A statement whose values all go to one other statement, at one distance, and are overwritten there
(C[i][j] *= beta before a sum into C[i][j]) is delayed until the values are forwarded just in time.
It then stores nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.sets import count_points
from rtlgen.poly.dependences import Flow
from rtlgen.poly.instances import members, statement_points
from rtlgen.scheduling.forwarding import Issue, TapSet, tap_sets
from rtlgen.scheduling.lags import Timing
from rtlgen.transforms.distances import Candidate
from rtlgen.transforms.precedence import Precedence

Ints = NDArray[np.int64]

MAX_INSTANCES = 2_000_000
"""Statements with more instances are not looked at here; a later check moves their stores apart."""

MAX_TRIALS = 64
"""Distances tried one by one before all of them are computed at once."""


class StoreSlots:
    """Store cycles of every candidate, computed when they are first asked for."""

    def __init__(
        self,
        timing: Timing,
        units: Sequence[Sequence[Candidate]],
        precedences: Sequence[Precedence],
    ) -> None:
        self._timing = timing
        self._units = units
        self._points: dict[str, Ints] = {}
        self._cycles: dict[tuple[int, int, str], Ints] = {}
        self._meetings: dict[tuple[int, int, int, int, int], bool] = {}
        self._forbidden: dict[tuple[int, int, int, int], Ints] = {}
        self._handovers: dict[tuple[int, int, int, int], int | None] = {}
        self._precedences = precedences
        home = {name: n for n, unit in enumerate(units) for name in unit[0].placements}
        self._successors: list[set[int]] = [set() for _ in units]
        for p in precedences:
            if home[p.source] != home[p.sink]:
                self._successors[home[p.source]].add(home[p.sink])
        arrays = [
            {timing.scop.statement(name).write.array for name in unit[0].placements}
            for unit in units
        ]
        self._rivals = [
            [other for other in range(n) if arrays[n] & arrays[other]] for n in range(len(units))
        ]

    def settle(
        self,
        chosen: Sequence[int],
        starts: Sequence[int],
        candidate: int,
        start: int,
        latest: int | None,
    ) -> tuple[int, ...]:
        """Return starts at which unit `len(chosen)` fits the ones before, none earlier than given.

        Parameters
        ----------
        chosen, starts: candidate and start of every unit before it.
        candidate, start: of the unit that is being placed.
        latest: where it need not be placed later; then a start past it may be returned.
        """
        unit = len(chosen)
        handed = {
            rival: distance
            for rival in self._rivals[unit]
            if (distance := self._handover(rival, chosen[rival], unit, candidate)) is not None
        }
        moved = True
        while moved:
            moved = False
            for rival in self._rivals[unit]:
                if rival in handed and start - handed[rival] >= starts[rival]:
                    continue
                distance = start - starts[rival]
                last = None if latest is None else latest - starts[rival]
                free = self._next_free(rival, chosen[rival], unit, candidate, distance, last)
                moved |= free != distance
                start = starts[rival] + free
        delayed = list(starts)
        for rival, distance in handed.items():
            delayed[rival] = max(delayed[rival], start - distance)
        return (*delayed, start)

    def _handover(self, a: int, chosen_a: int, b: int, chosen_b: int) -> int | None:
        """Return the distance at which unit `a` hands all its values to `b` and stores none."""
        key = (a, chosen_a, b, chosen_b)
        if key not in self._handovers:
            self._handovers[key] = self._handover_distance(*key)
        return self._handovers[key]

    def _handover_distance(self, a: int, chosen_a: int, b: int, chosen_b: int) -> int | None:
        first, second = self._units[a][chosen_a], self._units[b][chosen_b]
        if self._successors[a] != {b} or len(first.placements) != 1:
            return None
        (name,) = first.placements
        live = self._timing.dataflow.live_out[name]
        array = self._timing.scop.array(self._timing.scop.statement(name).write.array)
        if not live.is_empty() and (
            array.storage != "local" or array.name == self._timing.scop.returned
        ):
            return None
        distances = set()
        for p in self._precedences:
            if p.source != name or not isinstance(p.origin, Flow):
                continue
            if p.sink == name or p.uniform_lag is None:
                return None
            smallest, largest = p.gaps(
                first.placements[name], second.placements[p.sink], first.ii, second.ii
            )
            if smallest != largest:
                return None
            distances.add(largest + p.uniform_lag - second.shifts[p.sink])
        required = [
            p.required(first.placements[name], second.placements[p.sink], first.ii, second.ii)
            - second.shifts[p.sink]
            for p in self._precedences
            if p.source == name and p.sink in second.placements
        ]
        if len(distances) != 1 or max(required) > max(distances):
            return None
        return distances.pop()

    def _next_free(
        self, a: int, chosen_a: int, b: int, chosen_b: int, distance: int, last: int | None
    ) -> int:
        pair = (a, chosen_a, b, chosen_b)
        for tried in range(MAX_TRIALS):
            place = distance + tried
            if (last is not None and place > last) or not self._meet(*pair, place):
                return place
        return self._after_forbidden(*pair, distance + MAX_TRIALS)

    def _after_forbidden(self, a: int, chosen_a: int, b: int, chosen_b: int, distance: int) -> int:
        key = (a, chosen_a, b, chosen_b)
        if key not in self._forbidden:
            pairs = self._store_pairs(*key)
            self._forbidden[key] = np.unique(
                np.concatenate([_differences(early, late) for early, late in pairs])
            )
        forbidden = self._forbidden[key]
        later = forbidden[np.searchsorted(forbidden, distance) :]
        # The first place where the forbidden distances are no longer consecutive.
        gaps = np.flatnonzero(later != distance + np.arange(len(later)))
        return distance + (int(gaps[0]) if len(gaps) else len(later))

    def _meet(self, a: int, chosen_a: int, b: int, chosen_b: int, distance: int) -> bool:
        key = (a, chosen_a, b, chosen_b, distance)
        if key not in self._meetings:
            self._meetings[key] = any(
                _share(early - distance, late)
                if len(early) < len(late)
                else _share(early, late + distance)
                for early, late in self._store_pairs(a, chosen_a, b, chosen_b)
            )
        return self._meetings[key]

    def _store_pairs(self, a: int, chosen_a: int, b: int, chosen_b: int) -> list[tuple[Ints, Ints]]:
        scop = self._timing.scop
        return [
            (self._store_cycles(a, chosen_a, first), self._store_cycles(b, chosen_b, second))
            for first in self._units[a][chosen_a].placements
            for second in self._units[b][chosen_b].placements
            if scop.statement(first).write.array == scop.statement(second).write.array
            and scop.statement(first).write.array not in self._timing.banked
        ]

    def _store_cycles(self, unit: int, chosen: int, name: str) -> Ints:
        key = (unit, chosen, name)
        if key not in self._cycles:
            candidate = self._units[unit][chosen]
            points = self._instances(name)
            ranks = candidate.placements[name].ranks(points)
            kept = members(self._stored(candidate, name), points)
            stage = self._timing.datapaths[name].result_stage
            cycles = candidate.ii * ranks[kept] + candidate.shifts[name] + stage
            self._cycles[key] = np.sort(cycles)
        return self._cycles[key]

    def _instances(self, name: str) -> Ints:
        if name not in self._points:
            scop = self._timing.scop
            statement = scop.statement(name)
            if count_points(self._timing.sets.domains[name]) > MAX_INSTANCES:
                self._points[name] = np.zeros((0, len(statement.loops)), dtype=np.int64)
            else:
                self._points[name] = statement_points(scop, statement)
        return self._points[name]

    def _stored(self, candidate: Candidate, name: str) -> isl.Set:
        """Return the instances whose value reaches the memory, as far as is known so early.

        Values that go to another statement are taken to be stored; those that the statement itself
        picks up from its own pipeline are not.
        """
        timing = self._timing
        array = timing.scop.array(timing.scop.statement(name).write.array)
        stored = timing.dataflow.live_out[name]
        if array.storage == "local" and array.name != timing.scop.returned:
            stored = stored.subtract(stored)
        for flow in timing.dataflow.flows:
            if flow.source != name or not timing.matters(flow):
                continue
            relation = flow.relation
            if flow.sink == name and timing.may_forward(flow):
                for tap in self._self_taps(candidate, flow):
                    relation = relation.subtract(relation.intersect_range(tap.instances))
            stored = stored.union(relation.domain())
        return stored.coalesce()

    def _self_taps(self, candidate: Candidate, flow: Flow) -> list[TapSet]:
        issue = Issue(candidate.placements[flow.source], 0, candidate.ii)
        return tap_sets(self._timing, issue, issue, flow)


def _share(a: Ints, b: Ints) -> bool:
    """Tell whether two sorted arrays have an element in common."""
    if not len(a) or not len(b) or a[-1] < b[0] or b[-1] < a[0]:
        return False
    if len(a) > len(b):
        a, b = b, a
    place = np.minimum(np.searchsorted(b, a), len(b) - 1)
    return bool((b[place] == a).any())


def _differences(a: Ints, b: Ints) -> Ints:
    """Return every value of x - y with x in a, y in b, sorted."""
    if not len(a) or not len(b):
        return np.empty(0, dtype=np.int64)
    if len(a) * len(b) <= 1_000_000:
        return np.unique(a[:, None] - b[None, :])
    low = int(a[0] - b[-1])
    size = int(a[-1] - a[0] + b[-1] - b[0]) + 1
    marks_a, marks_b = np.zeros(size), np.zeros(size)
    marks_a[a - a[0]] = 1
    marks_b[b[-1] - b] = 1
    # The convolution counts the pairs of each difference; rounding errors stay far below 1/2.
    counts = np.fft.irfft(np.fft.rfft(marks_a) * np.fft.rfft(marks_b), size)
    result: Ints = np.flatnonzero(counts > 0.5) + low
    return result
