"""Keep the stores of different statements to one array apart while the search is still choosing.

An array has one write port, unless several are being tried. For each candidate placement the cycles
in which a statement stores, relative to its first issue, are enumerated; two candidates fit at a
distance when the two sets, moved apart by it, do not meet.

A statement whose values all go to one other statement, at one distance, and are overwritten there
(C[i][j] *= beta before a sum into C[i][j]) is delayed until the values are forwarded just in time.
It then stores nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from hashlib import blake2b

import islpy as isl
import numpy as np

from rtlgen.datapath.lags import Timing
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints, distinct
from rtlgen.memories.forwarding import Issue, TapSet, tap_sets
from rtlgen.memories.ports import banks_at
from rtlgen.nests.distances import Candidate, cycle_mask, share_cycle, shifted
from rtlgen.nests.precedence import Precedence
from rtlgen.poly.dependences import Flow
from rtlgen.poly.instances import members

MAX_INSTANCES = 2_000_000
"""Statements with more instances are not looked at here; a later check moves their stores apart."""

MAX_TRIALS = 64
"""Distances of two nests that are tried one by one before all of them are computed at once.

Where masks of cycles do, that is one after another each time.
"""

MAX_ROUNDS = 8
"""Rounds in which a nest avoids one of the others after another, before it avoids all at once."""

MAX_ALONE = 8
"""Choices for each of which that is done by itself."""

_NONE: Ints = np.empty(0, dtype=np.int64)

NEVER = 1 << 62
"""No distance at all."""


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
        self._kept: dict[str, isl.Set] = {}
        self._cycles: dict[tuple[int, int, str], Mapping[int, Ints]] = {}
        self._alike: dict[bytes, Ints] = {}
        self._trials: dict[tuple[int, int, int, int], int] = {}
        self._meetings: dict[tuple[int, int, int], bool] = {}
        self._forbidden: dict[tuple[int, int], tuple[Ints, Ints]] = {}
        self._masks: dict[tuple[int, int], Mapping[tuple[str, int], int] | None] = {}
        self._places: dict[tuple[int, int, int, int, int], int] = {}
        self._handed: dict[tuple[int, int, int, int], int | None] = {}
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
        # What every statement writes is asked for at every distance that is tried.
        self._array = {s.name: s.write.array for s in timing.scop.statements}
        self._rivals = [
            [other for other in range(n) if arrays[n] & arrays[other]] for n in range(len(units))
        ]

    def least_end(self) -> int:
        """Return an end before which no choice has stored all values, one a cycle and bank."""
        scop = self._timing.scop
        totals, stages = dict[tuple[str, int], int](), dict[tuple[str, int], int]()
        for unit, (first, *_) in enumerate(self._units):
            for name in first.placements:
                array = scop.statement(name).write.array
                stage = self._timing.datapaths[name].result_stage
                if array in self._timing.banked or self._may_hand_over(unit):
                    continue
                points = self._instances(name)
                stored = points[members(self._surely_stored(name), points)]
                banks, counts = np.unique(self._banks_of(name, stored), return_counts=True)
                for bank, count in zip(banks.tolist(), counts.tolist(), strict=True):
                    place = array, bank
                    totals[place] = totals.get(place, 0) + count
                    stages[place] = min(stage, stages.get(place, stage))
        return max((stages[place] + total for place, total in totals.items()), default=0)

    def settle(
        self,
        chosen: Ints,
        starts: Ints,
        candidates: Ints,
        earliest: Ints,
        latest: Ints | None,
    ) -> Ints:
        """Return starts at which the next unit fits the ones before, none earlier than given.

        Parameters
        ----------
        chosen, starts: (choices, units) candidate and start of every unit before it.
        candidates, earliest: (choices,) of the unit that is being placed.
        latest: where it need not be placed later; then a start past it may be returned.
        """
        unit = chosen.shape[1]
        settled = np.column_stack([starts, earliest])
        handed = [
            (rival, self._handovers(rival, chosen[:, rival], unit, candidates))
            for rival in self._rivals[unit]
        ]
        left, rounds = np.arange(len(settled)), 0
        while len(left):
            keep_going(work=len(left) * len(handed))
            rounds += 1
            if rounds > MAX_ROUNDS and len(left) <= MAX_ALONE:
                for row in left.tolist():
                    ends = {rival: int(starts[row, rival] + d[row]) for rival, d in handed}
                    settled[row, unit] = self._free_of_all(
                        chosen[row],
                        starts[row],
                        ends,
                        int(candidates[row]),
                        int(settled[row, unit]),
                    )
                break
            before = settled[left, unit]
            for rival, distances in handed:
                gaps = settled[left, unit] - settled[left, rival]
                stays = gaps < distances[left]
                rows, gaps = left[stays], gaps[stays]
                free = self._next_free(rival, chosen[rows, rival], unit, candidates[rows], gaps)
                settled[rows, unit] += free - gaps
            is_later = settled[left, unit] > before
            if latest is not None:
                is_later &= settled[left, unit] <= latest[left]
            left = left[is_later]
        for rival, distances in handed:
            given = distances < NEVER
            least = settled[given, unit] - distances[given]
            settled[given, rival] = np.maximum(settled[given, rival], least)
        return settled

    def _free_of_all(
        self,
        chosen: Ints,
        starts: Ints,
        ends: Mapping[int, int],
        candidate: int,
        earliest: int,
    ) -> int:
        """Return the first start, not below `earliest`, at which a unit meets none before it.

        Parameters
        ----------
        chosen, starts: candidate and start of every unit before it. candidate: of the unit.
        ends: by rival, from which start on it meets it no more, whatever they store.
        """
        unit, met = len(chosen), list[tuple[Ints, Ints]]()
        for rival, end in ends.items():
            start = starts[rival]
            for early, late in self._store_pairs(rival, int(chosen[rival]), unit, candidate):
                firsts, lasts = self._met(early, late)
                until = int(np.searchsorted(firsts + start, end))
                met.append((firsts[:until] + start, np.minimum(lasts[:until] + start, end - 1)))
        firsts, lasts = (np.concatenate(column) for column in zip(*met, strict=True))
        order = np.argsort(firsts)
        return _past(*_joined(firsts[order], lasts[order]), earliest)

    def _handovers(self, a: int, chosen_a: Ints, b: int, chosen_b: Ints) -> Ints:
        """Return the distance at which `a` hands all its values to `b` and stores none, or NEVER.

        That is a column for the candidates of both.
        """
        if self._successors[a] != {b}:
            return np.full(len(chosen_a), NEVER)

        def distance(number_a: int, number_b: int) -> int:
            found = self._handover(a, number_a, b, number_b)
            return NEVER if found is None else found

        return _each(distance, chosen_a, chosen_b)

    def _handover(self, a: int, chosen_a: int, b: int, chosen_b: int) -> int | None:
        """Return the distance at which unit `a` hands all its values to `b` and stores none."""
        key = (a, chosen_a, b, chosen_b)
        if key not in self._handed:
            self._handed[key] = self._handover_distance(*key)
        return self._handed[key]

    def _handover_distance(self, a: int, chosen_a: int, b: int, chosen_b: int) -> int | None:
        first, second = self._units[a][chosen_a], self._units[b][chosen_b]
        if not self._may_hand_over(a):
            return None
        (name,) = first.placements
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

    def _may_hand_over(self, unit: int) -> bool:
        """Tell whether all values of a unit may go to one other and none need be stored."""
        (name, *others) = self._units[unit][0].placements
        return (
            not others
            and len(self._successors[unit]) == 1
            and self._timing.dataflow.outliving(self._timing.scop, name).is_empty()
        )

    def _next_free(self, a: int, chosen_a: Ints, b: int, chosen_b: Ints, gaps: Ints) -> Ints:
        """Return the smallest distances, none below `gaps`, at which no two stores meet."""

        def place(number_a: int, number_b: int, gap: int) -> int:
            key = (a, number_a, b, number_b, gap)
            if key not in self._places:
                self._places[key] = self._place(*key)
            return self._places[key]

        return _each(place, chosen_a, chosen_b, gaps)

    def _place(self, a: int, chosen_a: int, b: int, chosen_b: int, gap: int) -> int:
        pair = (a, chosen_a, b, chosen_b)
        masks = self._pair_masks(*pair)
        left = MAX_TRIALS if masks is not None else self._trials.setdefault(pair, MAX_TRIALS)
        for place in range(gap, gap + left):
            if masks is None:
                self._trials[pair] -= 1
                meet = self._meet(*pair, place)
            else:
                meet = any(early & shifted(late, place) for early, late in masks)
            if not meet:
                return place
        return self._after_forbidden(*pair, gap + left)

    def _pair_masks(
        self, a: int, chosen_a: int, b: int, chosen_b: int
    ) -> list[tuple[int, int]] | None:
        """Return the store cycles of two units to every bank that both store to, as masks.

        None: some are too long for masks.
        """
        first, second = self._unit_masks(a, chosen_a), self._unit_masks(b, chosen_b)
        if first is None or second is None:
            return None
        return [(mask, second[place]) for place, mask in first.items() if place in second]

    def _unit_masks(self, unit: int, chosen: int) -> Mapping[tuple[str, int], int] | None:
        """Return the store cycles of a unit by array and bank, or None where some are too long."""
        key = (unit, chosen)
        if key not in self._masks:
            self._masks[key] = self._masks_of(unit, chosen)
        return self._masks[key]

    def _masks_of(self, unit: int, chosen: int) -> Mapping[tuple[str, int], int] | None:
        found: dict[tuple[str, int], int] = {}
        for name in self._units[unit][chosen].placements:
            array = self._array[name]
            if array in self._timing.banked:
                continue
            for bank, cycles in self._store_cycles(unit, chosen, name).items():
                mask = cycle_mask(cycles)
                if mask is None:
                    return None
                found[array, bank] = found.get((array, bank), 0) | mask
        return found

    def _after_forbidden(self, a: int, chosen_a: int, b: int, chosen_b: int, distance: int) -> int:
        pairs = self._store_pairs(a, chosen_a, b, chosen_b)
        while True:
            later = max(self._after(early, late, distance) for early, late in pairs)
            if later == distance:
                return distance
            distance = later

    def _after(self, early: Ints, late: Ints, distance: int) -> int:
        """Return the smallest distance, not below the one given, at which two sets do not meet."""
        return _past(*self._met(early, late), distance)

    def _met(self, early: Ints, late: Ints) -> tuple[Ints, Ints]:
        """Return the first and the last of each run of distances at which two sets meet."""
        key = id(early), id(late)
        if key not in self._forbidden:
            self._forbidden[key] = _differences(early, late)
        return self._forbidden[key]

    def _meet(self, a: int, chosen_a: int, b: int, chosen_b: int, distance: int) -> bool:
        pairs = self._store_pairs(a, chosen_a, b, chosen_b)
        return any(self._share(early, late, distance) for early, late in pairs)

    def _share(self, early: Ints, late: Ints, distance: int) -> bool:
        key = id(early), id(late), distance
        if key not in self._meetings:
            self._meetings[key] = (
                share_cycle(early - distance, late)
                if len(early) < len(late)
                else share_cycle(early, late + distance)
            )
        return self._meetings[key]

    def _store_pairs(self, a: int, chosen_a: int, b: int, chosen_b: int) -> list[tuple[Ints, Ints]]:
        """Return the cycles in which both store to one bank, for every two statements and bank."""
        found: list[tuple[Ints, Ints]] = []
        for first in self._units[a][chosen_a].placements:
            for second in self._units[b][chosen_b].placements:
                if self._array[first] != self._array[second]:
                    continue
                if self._array[first] in self._timing.banked:
                    continue
                early = self._store_cycles(a, chosen_a, first)
                late = self._store_cycles(b, chosen_b, second)
                found += [(early[bank], late[bank]) for bank in early if bank in late]
        return found or [(_NONE, _NONE)]

    def _banks_of(self, name: str, points: Ints) -> Ints:
        """Return the bank to which each of some instances stores."""
        own = self._timing.scop.statement(name)
        return banks_at(self._timing.scop, own, own.write, points)

    def _store_cycles(self, unit: int, chosen: int, name: str) -> Mapping[int, Ints]:
        """Return the sorted cycles in which a statement stores, by bank."""
        key = (unit, chosen, name)
        if key not in self._cycles:
            candidate = self._units[unit][chosen]
            points = self._instances(name)
            ranks = candidate.placements[name].ranks(points)
            kept = members(self._stored(candidate, name), points)
            stage = self._timing.datapaths[name].result_stage
            cycles = candidate.ii * ranks[kept] + candidate.shifts[name] + stage
            banks = self._banks_of(name, points[kept])
            self._cycles[key] = {
                int(bank): self._kept_once(np.sort(cycles[banks == bank]))
                for bank in distinct(banks)
            }
        return self._cycles[key]

    def _kept_once(self, cycles: Ints) -> Ints:
        """Return the one array with these contents: lanes store in the same cycles."""
        return self._alike.setdefault(blake2b(cycles.tobytes()).digest(), cycles)

    def _instances(self, name: str) -> Ints:
        if name not in self._points:
            if self._timing.instances.count(name) > MAX_INSTANCES:
                loops = self._timing.scop.statement(name).loops
                self._points[name] = np.zeros((0, len(loops)), dtype=np.int64)
            else:
                self._points[name] = self._timing.instances.points(name)
        return self._points[name]

    def _stored(self, candidate: Candidate, name: str) -> isl.Set:
        """Return the instances whose value reaches the memory, as far as is known so early.

        Values that go to another statement are taken to be stored; those that the statement itself
        picks up from its own pipeline are not.
        """
        stored = self._surely_stored(name)
        for flow in self._picked_up(name):
            relation = flow.relation
            for tap in self._self_taps(candidate, flow):
                relation = relation.subtract(relation.intersect_range(tap.instances))
            stored = stored.union(relation.domain())
        return stored.coalesce()

    def _surely_stored(self, name: str) -> isl.Set:
        """Return the instances whose value reaches the memory in every nest."""
        if name not in self._kept:
            own = self._picked_up(name)
            others = [f for f in self._flows_from(name) if f not in own]
            keep_going(self._timing.sets.context)
            domains = (flow.relation.domain() for flow in others)
            self._kept[name] = reduce(
                isl.Set.union, domains, self._timing.dataflow.outliving(self._timing.scop, name)
            ).coalesce()
        return self._kept[name]

    def _flows_from(self, name: str) -> list[Flow]:
        flows = self._timing.dataflow.flows
        return [flow for flow in flows if flow.source == name and self._timing.matters(flow)]

    def _picked_up(self, name: str) -> list[Flow]:
        """Return the flows whose values a statement may pick up from its own pipeline."""
        own = [flow for flow in self._flows_from(name) if flow.sink == name]
        return [flow for flow in own if self._timing.may_forward(flow)]

    def _self_taps(self, candidate: Candidate, flow: Flow) -> list[TapSet]:
        issue = Issue(candidate.placements[flow.source], 0, candidate.ii)
        return tap_sets(self._timing, issue, issue, flow)


def _each(function: Callable[..., int], *columns: Ints) -> Ints:
    """Return the values of a function for every row, asked once for rows that are alike."""
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    ranges = [(int(c.min(initial=0)), int(c.max(initial=0)) + 1) for c in columns]
    for column, (low, high) in zip(columns, ranges, strict=True):
        # A few candidates and a distance in cycles: the product stays far below 2^63.
        numbers = numbers * (high - low) + (column - low)
    different = distinct(numbers)
    rows, left = [], different
    for low, high in reversed(ranges):
        left, rest = np.divmod(left, high - low)
        rows.append((rest + low).tolist())
    values = [function(*row) for row in zip(*reversed(rows), strict=True)]
    found: Ints = np.array(values, dtype=np.int64)[np.searchsorted(different, numbers)]
    return found


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last of every run of consecutive values; these are sorted."""
    begins = np.diff(values, prepend=values[:1] - 2) > 1
    return values[begins], values[np.roll(begins, -1)]


def _differences(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last of each run of values x - y, x in a and y in b, both sorted."""
    if not len(a) or not len(b):
        return _NONE, _NONE
    low = int(a[0] - b[-1])
    # A power of two, since a length with large prime factors takes several times as long.
    size = 1 << int(a[-1] - a[0] + b[-1] - b[0]).bit_length()
    (first_a, last_a), (first_b, last_b) = _runs(a), _runs(b)
    if len(first_a) * len(first_b) <= size:
        # To sort the pairs takes less than to transform all distances there may be.
        firsts = (first_a[:, None] - last_b[None, :]).reshape(-1)
        order = np.argsort(firsts)
        lasts = (last_a[:, None] - first_b[None, :]).reshape(-1)[order]
        return _joined(firsts[order], lasts)
    marks_a, marks_b = np.zeros(size), np.zeros(size)
    marks_a[a - a[0]] = 1
    marks_b[b[-1] - b] = 1
    # The convolution counts the pairs of each difference; rounding errors stay far below 1/2.
    counts = np.fft.irfft(np.fft.rfft(marks_a) * np.fft.rfft(marks_b), size)
    return _runs(np.flatnonzero(counts > 0.5) + low)


def _past(firsts: Ints, lasts: Ints, value: int) -> int:
    """Return the smallest value, not below the one given, that is in no run."""
    run = int(np.searchsorted(firsts, value, side="right")) - 1
    return value if run < 0 else max(value, int(lasts[run]) + 1)


def _joined(firsts: Ints, lasts: Ints) -> tuple[Ints, Ints]:
    """Return runs of values, ordered by their firsts, with those that touch or overlap joined."""
    lasts = np.maximum.accumulate(lasts)
    begins = np.ones(len(firsts), dtype=np.bool_)
    begins[1:] = firsts[1:] > lasts[:-1] + 1
    return firsts[begins], lasts[np.roll(begins, -1)]
