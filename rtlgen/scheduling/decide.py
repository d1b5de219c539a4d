"""Decide loop orders, pads, initiation intervals and issue cycles for a whole program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.poly.dependences import Dependence, Flow
from rtlgen.poly.describe import access_text
from rtlgen.scheduling.forwarding import Issue, IssueTimes, Routing, route
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.ports import store_conflicts
from rtlgen.scheduling.store_slots import StoreSlots
from rtlgen.transforms.candidates import Bounding, Placement, box_placement, placements
from rtlgen.transforms.period import Member, common_period, initiation_interval, self_distance
from rtlgen.transforms.precedence import (
    Precedence,
    iteration_precedences,
    requirements,
    smallest_shifts,
)
from rtlgen.transforms.ragged import ragged_loops
from rtlgen.transforms.search import Candidate, Choice, best_choice
from rtlgen.transforms.units import Unit, loop_paths

_CandidateSource = Callable[[Unit, int | None], list[Candidate]]
"""The candidates of a unit, padded up to a number of iterations, or unpadded for None."""

SMALL_SLACK_CYCLES = 48
"""What waiting for free ports may cost in the first attempt of the search."""

MAX_CONFLICT_MOVES = 64
"""One-cycle moves tried to keep stores to one array apart, before statements are separated."""


class StoresCollide(Exception):
    """Pairs of statements of one unit store to one array in the same cycle."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__(pairs)
        self.pairs = frozenset(pairs)


@dataclass(frozen=True, slots=True)
class Decision:
    """Where and when every statement issues.

    Members
    -------
    placements, iis, offsets: loops, initiation interval and first issue cycle of every statement.
    shifts: MF3's shifts for these loops, in iterations.
    nest_shifts: the same within each unit.
    fused_iterations: smallest total over all orders and pads, latencies not counted.
    fused_proven: whether every order and pad was considered for that figure.
    floor_iterations: the largest instance count of a statement: no fused loop is shorter.
    ii_reasons: a sentence for every statement.
    routing: the value routing that belongs to the offsets.
    """

    placements: Mapping[str, Placement]
    iis: Mapping[str, int]
    offsets: Mapping[str, int]
    shifts: Mapping[str, int]
    nest_shifts: Mapping[str, int]
    fused_iterations: int
    fused_proven: bool
    floor_iterations: int
    ii_reasons: Mapping[str, str]
    routing: Routing

    @property
    def times(self) -> IssueTimes:
        return issue_times(self.placements, self.offsets, self.iis)


def issue_times(
    placed: Mapping[str, Placement], offsets: Mapping[str, int], iis: Mapping[str, int]
) -> IssueTimes:
    """Return when every statement issues."""
    return {name: Issue(p, offsets[name], iis[name]) for name, p in placed.items()}


class Space:
    """The candidates of every unit of a program, and the precedences between them."""

    def __init__(self, timing: Timing, boxed: Scop) -> None:
        self.timing = timing
        self.boxed = boxed
        self.paths = loop_paths(boxed.tree)
        self._cycles: dict[tuple[Unit, bool], Candidate] = {}
        self.cycles = timing.precedences()
        self.iterations = iteration_precedences(boxed, timing.dependences, timing.related)
        self.extents = [
            loop.extent for s in boxed.statements for loop in boxed.schedule.loops(s.name)
        ]
        self.depth = max(len(path) for path in self.paths.values())

    @property
    def is_free(self) -> bool:
        """Whether every statement may be placed alone; cycles keep the loop orders as written."""
        return all(len(unit.statements) == 1 for unit in self.timing.units)

    def latency_free(self) -> Choice:
        """Return MF3's optimum: fewest fused iterations over orders and pads."""

        def candidates(unit: Unit, largest: int | None) -> list[Candidate]:
            return self._candidates(unit, largest, self.iterations, with_latency=False)

        return self._search(candidates, self.iterations, with_ports=False)

    def fastest(self) -> Choice:
        """Return the choice with the fewest cycles, latencies counted."""

        def candidates(unit: Unit, largest: int | None) -> list[Candidate]:
            return self._candidates(unit, largest, self.cycles, with_latency=True)

        return self._search(candidates, self.cycles, with_ports=True)

    def as_written(self) -> list[Candidate]:
        """Return every unit in the loop order of the program, without pads that are not needed."""
        return [
            self._candidates(unit, None, self.cycles, with_latency=True)[0]
            for unit in self.timing.units
        ]

    def _search(
        self,
        candidates: _CandidateSource,
        precedences: Sequence[Precedence],
        *,
        with_ports: bool,
    ) -> Choice:
        plain = best_choice([candidates(unit, None) for unit in self.timing.units], precedences)
        assert plain is not None, "without a limit there is a choice"
        padded = [candidates(unit, plain.end) for unit in self.timing.units]
        if not with_ports:
            return best_choice(padded, precedences, limit=plain.end) or plain
        settle = StoreSlots(self.timing, padded, precedences).settle
        # Ports cost little more than the plain end when pads are chosen well: try that first.
        for slack in (SMALL_SLACK_CYCLES, plain.end // 8, plain.end):
            found = best_choice(padded, precedences, settle, limit=plain.end + slack)
            if found is not None:
                return found
        found = best_choice(padded, precedences, settle)
        assert found is not None, "without a limit there is a choice"
        return found

    def _candidates(
        self,
        unit: Unit,
        largest: int | None,
        precedences: Sequence[Precedence],
        with_latency: bool,
    ) -> list[Candidate]:
        if len(unit.statements) > 1:
            key = (unit, with_latency)
            if key not in self._cycles:
                self._cycles[key] = self._cycle(unit, precedences, with_latency)
            return [self._cycles[key]]
        name = unit.statements[0]
        own = self.boxed.schedule.loops(name)
        iterators = self.boxed.statement(name).iterators
        depth = len(own) if largest is None else self.depth
        found = []
        self_precedences = [p for p in precedences if p.source == p.sink == name]
        order_kept = [p for p in self.iterations if p.source == p.sink == name]
        bounded = self._bounding(name) if name in self.timing.related.ragged else None
        for placed in placements(own, iterators, self.extents, depth, largest or 0, bounded):
            if any(self_distance(p, placed) <= 0 for p in order_kept):
                continue
            ii = 1
            if with_latency:
                ii = max((initiation_interval(p, placed) for p in self_precedences), default=1)
            length = self._length(name, placed, ii, with_latency)
            found.append(Candidate({name: placed}, ii, {name: 0}, length, placed.changes))
        return found

    def _bounding(self, name: str) -> Bounding:
        domain = self.timing.sets.domains[name]
        iterators = self.boxed.statement(name).iterators

        def bounded(order: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
            return ragged_loops(domain, iterators, order)

        return bounded

    def _length(self, name: str, placed: Placement, ii: int, with_latency: bool) -> int:
        tail = self.timing.datapaths[name].result_stage + 1 if with_latency else 1
        return ii * (placed.count - 1) + tail

    def _cycle(
        self, unit: Unit, precedences: Sequence[Precedence], with_latency: bool
    ) -> Candidate:
        members = [
            Member(
                name,
                self.boxed.statement(name).iterators,
                self.boxed.schedule.loops(name),
                self.paths[name],
            )
            for name in unit.statements
        ]
        names = set(unit.statements)
        own = [p for p in precedences if p.source in names and p.sink in names]
        orders = [p for p in self.iterations if p.source in names and p.sink in names]
        grouping = common_period(members, own, self.timing.related, orders)
        length = max(
            grouping.shifts[name]
            + self._length(name, grouping.placements[name], grouping.ii, with_latency)
            for name in unit.statements
        )
        return Candidate(grouping.placements, grouping.ii, grouping.shifts, length, 0)


def decide_fused(space: Space, overrides: Mapping[str, int]) -> Decision:
    """Return the decision with the fewest predicted cycles for one fused loop.

    Parameters
    ----------
    overrides: MF3 shifts asked for by the user, not smaller than the smallest legal ones.
    """
    choice = space.fastest()
    fused = space.latency_free()
    placed, iis = choice.placements, choice.iis
    shifts = iteration_shifts(space, placed, {})
    later = {name: iis[name] * (n - shifts[name]) for name, n in overrides.items()}
    least = {name: start + later.get(name, 0) for name, start in choice.shifts.items()}
    obeyed = iteration_shifts(space, placed, overrides)
    proven = fused.proven and space.is_free
    return _fused(space, placed, iis, obeyed, least, fused.end, proven)


def decide_shifted(space: Space, flats: Mapping[str, FlatDim]) -> Decision:
    """Return the decision for one fused loop whose loops and shifts are given.

    Parameters
    ----------
    flats: legal flattened loops of every statement, which are boxes.
    """
    scop = space.timing.scop
    placed = {
        name: box_placement(flat.loops, scop.statement(name).iterators)
        for name, flat in flats.items()
    }
    shifts = {name: flat.shift for name, flat in flats.items()}
    end = max(flat.shift + flat.count for flat in flats.values())
    # A schedule that is legal without latencies is legal with them, if its iterations are far
    # enough apart.
    for ii in count(1):
        iis = dict.fromkeys(placed, ii)
        least = {name: ii * shift for name, shift in shifts.items()}
        required = requirements(space.cycles, placed, iis)
        if smallest_shifts(list(placed), required, least) is not None:
            return _fused(space, placed, iis, shifts, least, end, proven=True)
    raise AssertionError("counting never ends")


def _fused(
    space: Space,
    placed: Mapping[str, Placement],
    iis: Mapping[str, int],
    shifts: Mapping[str, int],
    least: Mapping[str, int],
    fused_iterations: int,
    proven: bool,
) -> Decision:
    """Return the decision for given loops; `least` are first issue cycles, `shifts` iterations."""
    required = requirements(space.cycles, placed, iis)
    offsets, routing = _without_conflicts(space.timing, placed, iis, required, least)
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=shifts,
        nest_shifts=_nest_shifts(space, placed),
        fused_iterations=fused_iterations,
        fused_proven=proven,
        floor_iterations=floor_iterations(space),
        ii_reasons=_ii_reasons(space, placed, iis),
        routing=routing,
    )


def decide_sequential(space: Space) -> Decision:
    """Return the unfused baseline: nests as written, one after another."""
    timing = space.timing
    fused = space.latency_free()
    placed: dict[str, Placement] = {}
    iis: dict[str, int] = {}
    offsets: dict[str, int] = {}
    base = 0
    for candidate in space.as_written():
        placed |= candidate.placements
        iis |= dict.fromkeys(candidate.placements, candidate.ii)
        offsets |= {name: base + shift for name, shift in candidate.shifts.items()}
        base += candidate.length
    times = issue_times(placed, offsets, iis)
    routing = route(timing, times)
    conflicts = store_conflicts(timing, times, routing)
    if conflicts:
        raise StoresCollide(conflicts)
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=dict.fromkeys(placed, 0) | _nest_shifts(space, placed),
        nest_shifts=_nest_shifts(space, placed),
        fused_iterations=fused.end,
        fused_proven=fused.proven and space.is_free,
        floor_iterations=floor_iterations(space),
        ii_reasons=_ii_reasons(space, placed, iis),
        routing=routing,
    )


def iteration_shifts(
    space: Space, placed: Mapping[str, Placement], least: Mapping[str, int]
) -> dict[str, int]:
    """Return MF3's smallest legal shifts for given placements."""
    names = [s.name for s in space.timing.scop.statements]
    required = requirements(space.iterations, placed, dict.fromkeys(names, 1))
    shifts = smallest_shifts(names, required, least)
    assert shifts is not None, "placements are made to have legal shifts"
    return shifts


def _nest_shifts(space: Space, placed: Mapping[str, Placement]) -> dict[str, int]:
    found: dict[str, int] = {}
    for unit in space.timing.units:
        names = set(unit.statements)
        inside = [p for p in space.iterations if p.source in names and p.sink in names]
        required = requirements(inside, placed, dict.fromkeys(names, 1))
        shifts = smallest_shifts(unit.statements, required, {})
        assert shifts is not None, "placements are made to have legal shifts"
        found |= shifts
    return found


def _without_conflicts(
    timing: Timing,
    placed: Mapping[str, Placement],
    iis: Mapping[str, int],
    required: Mapping[tuple[str, str], int],
    least: Mapping[str, int],
) -> tuple[dict[str, int], Routing]:
    """Return the smallest offsets at which no two stores to one array meet.

    Raises
    ------
    StoresCollide: two statements of one unit cannot be moved far enough apart.
    """
    distances = dict(required)
    names = [s.name for s in timing.scop.statements]
    moves: dict[frozenset[str], int] = {}
    while True:
        offsets = smallest_shifts(names, distances, least)
        assert offsets is not None, "only statements of different units are moved, and only later"
        times = issue_times(placed, offsets, iis)
        routing = route(timing, times)
        conflicts = store_conflicts(timing, times, routing)
        if not conflicts:
            return offsets, routing
        inner = [
            pair
            for pair in conflicts
            if any(set(pair) <= set(unit.statements) for unit in timing.units)
        ]
        if inner:
            raise StoresCollide(inner)
        conflict = conflicts[0]
        first, second = sorted(conflict, key=lambda name: (_unit_number(timing, name), name))
        moves[frozenset(conflict)] = tried = moves.get(frozenset(conflict), 0) + 1
        distances[first, second] = (
            max(distances.get((first, second), 0), offsets[second] - offsets[first]) + 1
        )
        if tried > MAX_CONFLICT_MOVES:
            stages = (timing.datapaths[name].result_stage for name in (first, second))
            early, late = stages
            distances[first, second] = iis[first] * placed[first].count + early - late


def _unit_number(timing: Timing, name: str) -> int:
    return next(n for n, unit in enumerate(timing.units) if name in unit.statements)


def floor_iterations(space: Space) -> int:
    """Return the largest number of instances of one statement."""
    domains = space.timing.sets.domains.values()
    return max(int(domain.count_val().to_python()) for domain in domains)


def _ii_reasons(
    space: Space, placed: Mapping[str, Placement], iis: Mapping[str, int]
) -> dict[str, str]:
    reasons = {}
    for name, ii in iis.items():
        if ii == 1:
            reasons[name] = "no dependence or port asks for more than one cycle"
            continue
        own = [p for p in space.cycles if p.source == p.sink == name]
        bound = [p for p in own if initiation_interval(p, placed[name]) == ii]
        reasons[name] = (
            _recurrence_reason(space.timing.scop, bound[0], placed[name])
            if bound
            else "it keeps step with the statements that it depends on in a cycle"
        )
    return reasons


def _recurrence_reason(scop: Scop, precedence: Precedence, placed: Placement) -> str:
    origin = precedence.origin
    distance = self_distance(precedence, placed)
    if isinstance(origin, Flow):
        access = scop.statement(origin.sink).reads[origin.sink_read]
    else:
        assert isinstance(origin, Dependence)
        access = origin.sink_access
    iterations = "the iteration" if distance == 1 else f"{distance} iterations"
    return (
        f"{access_text(scop, access)} (line {access.span.line}) needs the result of {iterations} "
        f"before, which takes {precedence.lag} cycles"
    )


def with_memory_only(timing: Timing, flow: tuple[str, str, int]) -> Timing:
    """Return the timing with one flow barred from forwarding."""
    return replace(timing, memory_only=timing.memory_only | {flow})


def with_apart(timing: Timing, pairs: frozenset[tuple[str, str]]) -> Timing:
    """Return the timing with pairs of statements of one unit kept from overlapping."""
    return replace(timing, apart=timing.apart | pairs)
