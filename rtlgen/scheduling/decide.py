"""Decide loop orders, pads, initiation intervals and issue cycles, in one fused loop or in several.

Decide loop orders, pads, initiation intervals and issue cycles for a whole program.

Several fused loops, one after another, for programs that are better off without one for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import TypeVar

from rtlgen.datapath.floor import floor_cycles
from rtlgen.datapath.lags import Timing
from rtlgen.ir.schedule import FlatDim
from rtlgen.ir.scop import Scop
from rtlgen.memories.forwarding import Issue, IssueTimes, Routing, Unforwardable, route
from rtlgen.memories.ports import store_conflicts
from rtlgen.nests.candidates import Placement, box_placement
from rtlgen.nests.period import initiation_interval, self_distance
from rtlgen.nests.precedence import Precedence, among, requirements, smallest_shifts
from rtlgen.poly.dependences import Dependence, Flow, access_text
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.scheduling.space import Space
from rtlgen.transforms.units import Unit

T = TypeVar("T")

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
    regions: the statements that issue together, region after region; why: a reason for them.
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
    regions: Sequence[Sequence[str]]
    why: str

    @property
    def times(self) -> IssueTimes:
        return issue_times(self.placements, self.offsets, self.iis)


def issue_times(
    placed: Mapping[str, Placement], offsets: Mapping[str, int], iis: Mapping[str, int]
) -> IssueTimes:
    """Return when every statement issues."""
    return {name: Issue(p, offsets[name], iis[name]) for name, p in placed.items()}


def decide_fused(space: Space, overrides: Mapping[str, int]) -> Decision:
    """Return the decision with the fewest predicted cycles for one fused loop.

    Parameters
    ----------
    overrides: MF3 shifts asked for by the user, not smaller than the smallest legal ones.
    """
    choice = space.fastest
    fused = space.latency_free
    placed, iis = choice.placements, choice.iis
    shifts = iteration_shifts(space, placed, {})
    later = {name: iis[name] * (n - shifts[name]) for name, n in overrides.items()}
    least = {name: start + later.get(name, 0) for name, start in choice.shifts.items()}
    obeyed = iteration_shifts(space, placed, overrides)
    return _fused(space, placed, iis, obeyed, least, fused.end, space.is_proven)


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
    offsets, routing = without_conflicts(space.timing, placed, iis, required, least)
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=shifts,
        nest_shifts=nest_shifts(space, placed),
        fused_iterations=fused_iterations,
        fused_proven=proven,
        floor_iterations=space.floor_iterations,
        ii_reasons=ii_reasons(space, placed, iis),
        routing=routing,
        regions=[[statement.name for statement in space.timing.scop.statements]],
        why="no other choice that was looked at takes fewer cycles",
    )


def decide_sequential(space: Space) -> Decision:
    """Return the unfused baseline: nests as written, one after another."""
    timing = space.timing
    fused = space.latency_free
    placed: dict[str, Placement] = {}
    iis: dict[str, int] = {}
    offsets: dict[str, int] = {}
    base = 0
    for candidate in map(space.nest_as_written, timing.units):
        placed |= candidate.placements
        iis |= dict.fromkeys(candidate.placements, candidate.ii)
        offsets |= {name: base + shift for name, shift in candidate.shifts.items()}
        base += candidate.length
    times = issue_times(placed, offsets, iis)
    routing = route(timing, times)
    conflicts = store_conflicts(timing, times, routing)
    if conflicts:
        raise StoresCollide(conflicts)
    shifts = nest_shifts(space, placed)
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=shifts,
        nest_shifts=shifts,
        fused_iterations=fused.end,
        fused_proven=space.is_proven,
        floor_iterations=space.floor_iterations,
        ii_reasons=ii_reasons(space, placed, iis),
        routing=routing,
        regions=[unit.statements for unit in timing.units],
        why="no fusion was asked for",
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


def nest_shifts(space: Space, placed: Mapping[str, Placement]) -> dict[str, int]:
    """Return MF3's smallest legal shifts within every unit."""
    return shifts_within(space, [unit.statements for unit in space.timing.units], placed)


def shifts_within(
    space: Space, groups: Sequence[Sequence[str]], placed: Mapping[str, Placement]
) -> dict[str, int]:
    """Return MF3's smallest legal shifts within groups of statements that know no other group."""
    found: dict[str, int] = {}
    for names in groups:
        inside = among(space.iterations, names)
        required = requirements(inside, placed, dict.fromkeys(names, 1))
        shifts = smallest_shifts(names, required, {})
        assert shifts is not None, "placements are made to have legal shifts"
        found |= shifts
    return found


def without_conflicts(
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
        # Of instances that are not listed nobody can say at which distance their stores fit.
        if tried > MAX_CONFLICT_MOVES or not timing.related.is_listed:
            stages = (timing.datapaths[name].result_stage for name in (first, second))
            early, late = stages
            distances[first, second] = iis[first] * placed[first].count + early - late


def _unit_number(timing: Timing, name: str) -> int:
    return next(n for n, unit in enumerate(timing.units) if name in unit.statements)


def ii_reasons(
    space: Space, placed: Mapping[str, Placement], iis: Mapping[str, int]
) -> dict[str, str]:
    reasons = {}
    for name, ii in iis.items():
        if ii == 1:
            reasons[name] = "no dependence or port asks for more than one cycle"
            continue
        own = among(space.cycles, [name])
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


def relaxing(space: Space, attempt: Callable[[Space], T]) -> T:
    """Return what an attempt gives in a space whose flows and statements ask for what can be built.

    Where a value cannot be forwarded, it goes through the memory; where stores collide, their
    statements are kept apart; and the attempt is made again.

    Raises
    ------
    NoClosedForm: nobody can say when stores that are too many to be listed do not meet.
    """
    while True:
        try:
            return attempt(space)
        except Unforwardable as barred:
            space = space.retimed(with_memory_only(space.timing, barred.flow))
        except StoresCollide as collision:
            timing = space.timing
            if collision.pairs <= timing.apart and not timing.related.is_listed:
                raise NoClosedForm from collision
            space = space.retimed(with_apart(space.timing, collision.pairs))


def are_shorter_apart(space: Space, cycles: int) -> bool:
    """Tell whether all units one after another, in the nests of the program, take fewer cycles.

    Nests of statements in a cycle take long to find, and are looked for where floors do not tell,
    as long as they would leave enough for the others.
    """
    units = sorted(space.timing.units, key=lambda unit: len(unit.statements))
    floors = {unit: floor_cycles(space.timing, unit.statements) for unit in units}
    left = cycles - sum(floors.values())
    for unit in units:
        if left <= 0:
            return False
        most = left + floors[unit]
        left = most - space.within(most).nest_as_written(unit).length
    return left > 0


def lanes_together(space: Space) -> list[list[Unit]]:
    """Return the units in their order, those of the lanes of a statement in the same region."""
    lines = {statement.name: statement.span for statement in space.timing.scop.statements}
    regions: list[list[Unit]] = []
    for unit in space.timing.units:
        spans = {lines[name] for name in unit.statements}
        own = [
            n
            for n, region in enumerate(regions)
            if any(lines[name] in spans for other in region for name in other.statements)
        ]
        first = min(own, default=len(regions))
        regions[first:] = [[*(other for region in regions[first:] for other in region), unit]]
    return regions


def shortest_regions(
    space: Space,
    start: Sequence[Sequence[Unit]] | None = None,
    fits: Callable[[Sequence[Unit]], bool] = lambda _: True,
) -> list[list[Unit]]:
    """Return neighbouring regions joined as long as that saves cycles.

    Parameters
    ----------
    start: the regions to begin with; None: one for each unit. fits: whether units may be in one.
    """
    regions = [[unit] for unit in space.timing.units] if start is None else list(map(list, start))

    def gain(left: Sequence[Unit], right: Sequence[Unit]) -> int:
        if not fits([*left, *right]):
            return 0
        apart = sum(space.fastest_of(part).end for part in (left, right))
        return apart - space.fastest_of([*left, *right]).end

    while len(regions) > 1:
        gains = [gain(left, right) for left, right in pairwise(regions)]
        best = max(range(len(gains)), key=lambda n: (gains[n], -n))
        if gains[best] <= 0:
            break
        regions[best : best + 2] = [[*regions[best], *regions[best + 1]]]
    return regions


def decide_regions(space: Space, regions: Sequence[Sequence[Unit]], why: str) -> Decision:
    """Return the decision for several fused loops.

    Parameters
    ----------
    regions: all units, in their order. why: the reason for them.
    """
    timing = space.timing
    placed: dict[str, Placement] = {}
    iis: dict[str, int] = {}
    least: dict[str, int] = {}
    base = 0
    for units in regions:
        choice = space.fastest_of(units)
        placed |= choice.placements
        iis |= choice.iis
        least |= {name: base + shift for name, shift in choice.shifts.items()}
        base += choice.end
    names = [[name for unit in units for name in unit.statements] for units in regions]
    required = requirements_apart(space, names, placed, iis)
    offsets, routing = without_conflicts(timing, placed, iis, required, least)
    fused = space.latency_free
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=shifts_within(space, names, placed),
        nest_shifts=nest_shifts(space, placed),
        fused_iterations=fused.end,
        fused_proven=space.is_proven,
        floor_iterations=space.floor_iterations,
        ii_reasons=ii_reasons(space, placed, iis),
        routing=routing,
        regions=names,
        why=why,
    )


def requirements_apart(
    space: Space,
    regions: Sequence[Sequence[str]],
    placed: Mapping[str, Placement],
    iis: Mapping[str, int],
) -> dict[tuple[str, str], int]:
    """Return the required distances of statements when each region waits for the one before it."""
    required = requirements(space.cycles, placed, iis)
    for before, after in pairwise(regions):
        for first in before:
            length = space.timing.length_cycles(first, placed[first], iis[first])
            for second in after:
                pair = first, second
                required[pair] = max(length, required.get(pair, length))
    return required
