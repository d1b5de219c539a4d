"""Why issue slots idle, and which sums wait for their adder.

Why issue slots idle: each slot in which the longest statement issues nothing has a cause.

A program that issues from one loop takes as many slots as its longest statement has instances, if
nothing stands in the way. What does is told apart by where it stands: before the first iteration
and behind the last one, between iterations that begin further apart than a cycle, in iterations of
padded loops, and in regions of other statements. The slots of all causes and the instances of the
longest statement are the issue slots, exactly.

A pad is there for the dependences that leave the least to spare: those of the statement on itself,
or a cycle of them through other statements.

Sums of floats that wait for their adder: what `--float reassociate` is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

from rtlgen.datapath.build import float_latency_cycles
from rtlgen.ir.effort import TooComplex, more_effort
from rtlgen.ir.expr import FloatOperation, Read, Select
from rtlgen.ir.plan import KernelPlan, Level, Region, Stream, Workers
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.types import FloatType
from rtlgen.nests.candidates import Placement, box_placement
from rtlgen.nests.period import self_distance
from rtlgen.nests.precedence import Precedence, among
from rtlgen.poly.dependences import Dependence, Flow
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.source import Span
from rtlgen.target import Target


@dataclass(frozen=True, slots=True)
class IdleSlots:
    """Issue slots in which the longest statement of a program issues nothing, and why."""

    slots: int
    cause: str

    def to_json(self) -> dict[str, object]:
        return {"slots": self.slots, "cause": self.cause}


def idle_slots(plan: KernelPlan, space: Space, decision: Decision) -> tuple[IdleSlots, ...]:
    """Return the idle slots of a plan whose arrays are all on chip, those of most slots first."""
    streams = [(stream.instances, -n) for n, stream in enumerate(plan.streams)]
    longest = plan.streams[-max(streams)[1]]
    found: list[IdleSlots] = []
    for part in plan.body:
        assert not isinstance(part, Workers), "its arrays are on chip"
        if not any(stream is longest for stream in part.streams):
            names = ", ".join(dict.fromkeys(stream.statement for stream in part.streams))
            why = f"a region of its own for {names}: {decision.why}"
            found.append(IdleSlots(part.issue_slots, why))
        else:
            found += _in_region(part, longest, space, decision)
    return tuple(sorted((idle for idle in found if idle.slots), key=lambda idle: -idle.slots))


def _in_region(
    region: Region, longest: Stream, space: Space, decision: Decision
) -> Iterator[IdleSlots]:
    """Yield the idle slots of the region in which the longest statement issues."""
    name, issued = longest.statement, region.issued(longest)
    first = next(s.statement for s in region.streams if s.offset_cycles == 0)
    yield IdleSlots(
        longest.offset_cycles, f"filling: {name} begins behind {first}, whose results it needs"
    )
    last = max(region.streams, key=region.last_issue)
    yield IdleSlots(
        region.issue_slots - 1 - region.last_issue(longest),
        f"draining: {last.statement} issues behind the last iteration of {name}",
    )
    yield IdleSlots(
        (longest.ii - 1) * (issued - 1),
        f"{name} issues every {longest.ii} cycles: {longest.ii_reason}",
    )
    yield from _in_nest(longest, issued, space, decision)


def _in_nest(longest: Stream, issued: int, space: Space, decision: Decision) -> Iterator[IdleSlots]:
    """Yield the iterations of a nest in which it has no instance."""
    name, rest = longest.statement, issued - longest.instances
    placed = decision.placements[name]
    needed = _needed(space.timing.sets, placed, name)
    pads = _padded(longest.levels, needed, prod(x.extent for x in longest.levels) - issued)
    if needed is None or sum(pads) > rest:
        why = _why(space, decision, name, placed)
        yield IdleSlots(rest, f"iterations of the nest of {name} in which it does nothing: {why}")
        return
    for place, idle in enumerate(pads):
        if not idle:
            continue
        level, taken = longest.levels[place], placed.loops[place]
        loop = level.name or "a pad loop"
        unpadded = [
            replace(x, extent=needed[n]) if n == place and taken.iterator is not None else x
            for n, x in enumerate(placed.loops)
        ]
        why = _why(space, decision, name, placed, box_placement(unpadded, placed.iterators))
        yield IdleSlots(
            idle,
            f"{name}: {loop} runs for {level.extent} iterations and needs {needed[place]}: {why}",
        )
    yield IdleSlots(rest - sum(pads), f"iterations around {name} that are not in its domain")


def _needed(sets: ScopSets, placed: Placement, name: str) -> list[int] | None:
    """Return how many iterations of each loop of a box have instances; None for other nests."""
    box = sets.bounding_box(sets.scop.statement(name))
    if box is None or placed.rank is None or not all(loop.is_box for loop in placed.loops):
        return None
    trips = dict(zip(placed.iterators, box, strict=True))
    needed = []
    for loop in placed.loops:
        low, high = (0, 0) if loop.iterator is None else trips[loop.iterator]
        needed.append(high - low + 1)
    return needed


def _padded(levels: Sequence[Level], needed: Sequence[int] | None, cut: int) -> list[int]:
    """Return the iterations that the pad of each level adds.

    Parameters
    ----------
    cut: iterations behind the last instance, which nobody waits for.
    """
    if needed is None:
        return []
    found = []
    for place, level in enumerate(levels):
        inner = prod(x.extent for x in levels[place + 1 :])
        times = prod(needed[:place])
        spare = (level.extent - needed[place]) * inner
        unissued = min(cut, spare)
        cut -= unissued
        found.append(times * spare - unissued)
    return found


NOT_TOLD = "no shorter nest was found that keeps all dependences and write ports"


def _why(
    space: Space,
    decision: Decision,
    name: str,
    placed: Placement,
    unpadded: Placement | None = None,
) -> str:
    """Return what a nest is padded for, and what the pad buys, as far as that is soon told."""
    with suppress(TooComplex, NoClosedForm), more_effort():
        return _told(space, decision, name, placed, unpadded)
    return NOT_TOLD


def _told(
    space: Space, decision: Decision, name: str, placed: Placement, unpadded: Placement | None
) -> str:
    """Return which dependences leave least to spare in a nest, and what its pads buy."""
    ii = decision.iis[name]
    # What any order of the iterations keeps asks for no pad.
    own = [p for p in among(space.cycles, [name]) if p.lag > ii and p.binds(placed, placed)]
    if unpadded is not None:
        own = [p for p in own if self_distance(p, unpadded) * ii < p.lag]
    if own:
        tightest = min(own, key=lambda p: self_distance(p, placed) * ii - p.lag)
        distance = 0 if unpadded is None else self_distance(tightest, unpadded)
        apart = -(-tightest.lag // distance) if distance > 0 else 0
        bought = f"; without it, all would be {apart} cycles apart" if apart > ii else ""
        return f"{_said(tightest)}{bought}"
    around = _circle(space, decision, name)
    if around is not None:
        return f"in one period, {', '.join(around)}"
    return NOT_TOLD


def _circle(space: Space, decision: Decision, name: str) -> list[str] | None:
    """Return the cycle of dependences through a statement that leaves least to spare."""
    unit = next(unit for unit in space.timing.units if name in unit.statements)
    edges: dict[tuple[str, str], tuple[int, Precedence]] = {}
    for p in among(space.cycles, unit.statements):
        ends = decision.placements[p.source], decision.placements[p.sink]
        if p.source == p.sink or not p.binds(*ends):
            continue
        need = p.required(*ends, decision.iis[p.source], decision.iis[p.sink])
        if (p.source, p.sink) not in edges or edges[p.source, p.sink][0] < need:
            edges[p.source, p.sink] = need, p
    longest = _longest_paths(edges, name, len(unit.statements))
    back = [
        (at[0] + edges[end, name][0], end) for end, at in longest.items() if (end, name) in edges
    ]
    if not back:
        return None
    end = max(back)[1]
    said = [_said(edges[end, name][1])]
    while end != name:
        before = longest[end][1]
        said.insert(0, _said(edges[before, end][1]))
        end = before
    return said


def _longest_paths(
    edges: Mapping[tuple[str, str], tuple[int, Precedence]], start: str, count: int
) -> dict[str, tuple[int, str]]:
    """Return the length of the longest path to each statement, and the one before it there.

    No cycle of them is longer than 0: the shifts of the statements keep all of them.
    """
    found = {start: (0, start)}
    for _ in range(count - 1):
        for (source, sink), (need, _precedence) in edges.items():
            if source in found and sink != start:
                length = found[source][0] + need
                if sink not in found or length > found[sink][0]:
                    found[sink] = length, source
    return found


def _said(precedence: Precedence) -> str:
    """Return what a precedence asks for."""
    origin, source, sink = precedence.origin, precedence.source, precedence.sink
    if isinstance(origin, Flow):
        other = f"another {sink}" if source == sink else sink
        later = f", {precedence.lag} cycle{'s' * (precedence.lag != 1)} later"
        return f"{other} needs what {source} computes{later if precedence.lag > 0 else ''}"
    assert isinstance(origin, Dependence)
    did = "read" if origin.kind == "anti" else "written"
    return f"{sink} writes to {origin.array} behind where {source} has {did} it"


def waiting_sums(plan: KernelPlan, scop: Scop) -> tuple[tuple[Span, FloatType], ...]:
    """Return the statements that add to a float and begin less often than in every cycle.

    With the type of the sum, each place in the program once.
    """
    slow = {stream.span for region in plan.regions for stream in region.streams if stream.ii > 1}
    return tuple(
        {
            statement.span: type_
            for statement in scop.statements
            if statement.span in slow and (type_ := _summed(statement)) is not None
        }.items()
    )


def _summed(statement: Statement) -> FloatType | None:
    """Return the type of the sum to which a statement adds, if that is what it does."""
    expr = statement.expr
    # What is added only where a condition holds leaves the sum as it is elsewhere.
    while isinstance(expr, Select):
        arms = [arm for arm in (expr.if_true, expr.if_false) if not isinstance(arm, Read)]
        if len(arms) != 1:
            return None
        expr = arms[0]
    match expr:
        case FloatOperation("add" | "sub", operands, FloatType() as type_):
            for operand in operands:
                if isinstance(operand, Read):
                    read = statement.reads[operand.index]
                    if read.array == statement.write.array:
                        return type_
    return None


def partial_sums(type_: FloatType, target: Target) -> int:
    """Return how many sums an adder can take turns with: a power of two."""
    latency = float_latency_cycles("add", type_, type_, target)
    return max(2, 1 << (latency - 1).bit_length())
