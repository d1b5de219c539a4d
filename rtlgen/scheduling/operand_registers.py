"""Which values settle: they are there a cycle before they are used, and wait in a register.

A multiplier takes nearly all of a cycle. What comes to it straight from a choice (a memory's value
or one that is forwarded, one bank or another) or from other logic makes that cycle too long, and
so does a word that has come a long way: the many block RAMs of a large memory drive all others away
from their readers. A register in between costs a cycle of latency. So it is only there where
nothing waits for that cycle: no initiation interval grows, and the whole ends no more than one
cycle later.

Rewrite
-------
    %1 = load B[..], bank 1 if i <= 6 @0..2           %1 = load B[..], bank 1 if i <= 6 @0..2
    %2 = mul %0, %1 @2..4                       ->    %2 = mul %0, %1 @3..5
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rtlgen.datapath.binding import SharedUnit, Use, shared_units
from rtlgen.datapath.build import Datapath
from rtlgen.datapath.graph import Node
from rtlgen.datapath.lags import Timing
from rtlgen.ir.block_rams import versions_of
from rtlgen.ir.functional_units import has_slack
from rtlgen.ir.operation_costs import is_sum
from rtlgen.ir.operations import FloatingOp, UnitOp
from rtlgen.ir.plan import ChooseOp, ForwardOp, KernelPlan, LoadOp, Stream
from rtlgen.memories.store_slots import StoreSlots
from rtlgen.nests.distances import Candidate
from rtlgen.nests.precedence import Precedence, among, requirements, smallest_shifts, strongest
from rtlgen.nests.search import best_choice
from rtlgen.scheduling.decide import Decision, ii_reasons, requirements_apart, without_conflicts
from rtlgen.scheduling.space import Space
from rtlgen.target import Target
from rtlgen.transforms.units import Unit


@dataclass(frozen=True, slots=True, order=True)
class Wait:
    """A cycle that one value of a statement's graph waits in a register.

    Members
    -------
    is_word: the word that a load reads waits, before forwarded values may take its place; else
        what goes to the users of the node does.
    """

    statement: str
    node: int
    is_word: bool


def with_wait(timing: Timing, wait: Wait) -> Timing:
    """Return the timing with one more wait."""
    datapath, nodes = timing.datapaths[wait.statement], (wait.node,)
    if wait.is_word:
        datapath = datapath.with_waits(held=nodes)
    else:
        datapath = datapath.with_waits(settled=nodes)
    return replace(timing, datapaths={**timing.datapaths, wait.statement: datapath})


def useful_waits(timing: Timing, plan: KernelPlan, target: Target) -> tuple[Wait, ...]:
    """Return the waits that would shorten slow paths of a plan, in order."""
    found = set(waits_before_multipliers(timing, plan.streams))
    blocks = [memory for memory in plan.memories if memory.is_block_ram]
    is_scattered = any(
        target.block_rams(memory.depth, memory.width_bits) > target.near_block_rams
        for memory in blocks
    )
    far_memories = {memory.name for memory in blocks} if is_scattered else set()
    for stream in plan.streams:
        datapath = timing.datapaths[stream.statement]
        far = {datapath.node_of_read[load.read] for load in _loads(stream, far_memories)}
        found |= {Wait(stream.statement, node, True) for node in far - datapath.held}
    return tuple(sorted(found))


def waits_before_multipliers(timing: Timing, streams: Iterable[Stream]) -> Iterator[Wait]:
    """Yield the waits of what goes straight from a choice, or from logic, into a multiplier."""
    for stream in streams:
        datapath = timing.datapaths[stream.statement]
        late = set(_before_multipliers(datapath, _chosen_nodes(datapath, stream)))
        for node in late - set(datapath.settled):
            yield Wait(stream.statement, node, False)


def _loads(stream: Stream, memories: set[str]) -> list[LoadOp]:
    return [op for op in stream.operations if isinstance(op, LoadOp) and op.memory in memories]


def _chosen_nodes(datapath: Datapath, stream: Stream) -> set[int]:
    """Return the loads whose value is one of several: from a bank, a memory, a tap."""
    reads = set()
    for number, op in enumerate(stream.operations):
        match op:
            case LoadOp() if len(versions_of(op)) > 1:
                reads.add(op.read)
            case ChooseOp():
                reads.add(stream.read_of(number))
            case ForwardOp(taps=taps, operands=(operand,)):
                if len(taps) > 1 or stream.is_brought(operand):
                    reads.add(op.read)
            case _:
                pass
    return {datapath.node_of_read[read] for read in reads}


def _is_product(datapath: Datapath, node: Node) -> bool:
    """Tell whether a node takes a multiplier."""
    factors = [datapath.nodes[operand] for operand in node.operands]
    return node.op == "mul" and not any(f.op == "constant" and is_sum(f.value) for f in factors)


def _before_multipliers(datapath: Datapath, chosen: set[int]) -> Iterator[int]:
    """Yield the nodes that are logic behind registers and go straight into a multiplier."""
    nodes = datapath.nodes

    def is_logic(number: int) -> bool:
        if number in chosen:
            return True
        return bool(nodes[number].operands) and datapath.latencies[number] == 0

    for node in nodes:
        if not _is_product(datapath, node):
            continue
        for operand in node.operands:
            while nodes[operand].op == "cast":
                (operand,) = nodes[operand].operands
            if is_logic(operand):
                yield operand


def waits_to_share(timing: Timing, plan: KernelPlan) -> Iterator[tuple[Wait, ...]]:
    """Yield the waits that would each let operations share a unit without a slower clock.

    Lanes that share what is common to them wait together, or it would not be the same any more.
    """
    units = shared_units(plan, timing.sets.context, everywhere=True)
    lanes = _sharing_lanes(units)
    for unit in units:
        if len(unit.twins) == 1:
            continue
        found: set[Wait] = set()
        for use in unit.uses:
            datapath = timing.datapaths[use.of.statement]
            if has_slack(use.of, use.op) or (isinstance(use.op, FloatingOp) and not use.blocks):
                continue
            found |= {
                Wait(lane, node, False)
                for node in _late_operands(datapath, _node_of(datapath, use))
                for lane in lanes[use.of.statement]
            }
        if found:
            yield tuple(sorted(found))


def _sharing_lanes(units: Sequence[SharedUnit]) -> dict[str, set[str]]:
    """Return the lanes of statements that compute something together, by each of them."""
    found = defaultdict[str, set[str]](set)
    for unit in units:
        for twins in unit.twins:
            for use in twins:
                found[use.of.statement] |= {
                    other.of.statement for other in twins if other.of.span == use.of.span
                }
    return found


def waits_in_turn(timing: Timing, plan: KernelPlan) -> Iterator[tuple[Wait, ...]]:
    """Yield the waits that would each let multipliers of a statement begin in turn.

    They do where its initiation interval has a cycle in which none of the others begins.
    """
    for stream in plan.streams:
        datapath = timing.datapaths[stream.statement]
        products = [n for n, node in enumerate(datapath.nodes) if _is_product(datapath, node)]
        begins = [datapath.starts[n] % stream.ii for n in products]
        for node, begin in zip(products, begins, strict=True):
            if begins.count(begin) == 1:
                continue
            for cycles in range(1, stream.ii):
                if (begin - cycles) % stream.ii not in begins:
                    yield (Wait(stream.statement, node, False),) * cycles


def _node_of(datapath: Datapath, use: Use) -> int:
    """Return the node that became an operation: those of a kind keep their order."""
    kinds = [_kind(op) for op in use.of.operations[: use.number] if isinstance(op, UnitOp)]
    kind = _kind(use.op)
    nodes = [n for n, node in enumerate(datapath.nodes) if (node.floating or node.op) == kind]
    return nodes[kinds.count(kind)]


def _kind(op: UnitOp) -> object:
    """Return what says in a node which operation it is."""
    return (op.op, op.of, op.to) if isinstance(op, FloatingOp) else op.op


def _late_operands(datapath: Datapath, number: int) -> Iterator[int]:
    """Yield the operands of a node that are there just when it uses them."""
    for operand in datapath.nodes[number].operands:
        source = operand
        while datapath.nodes[source].op == "cast":
            (source,) = datapath.nodes[source].operands
        is_stable = datapath.nodes[source].op in ("constant", "parameter")
        if not is_stable and source not in datapath.settled:
            yield source


def affordable_waits(
    timing: Timing, decision: Decision, waits: Sequence[Wait], later: int = 1
) -> tuple[Wait, ...]:
    """Return those of the waits that fit together in the nests and intervals of a decision.

    Parameters
    ----------
    later: cycles by which each may put off the end.
    """
    measure = _Measure(timing, decision)
    end = measure.end(timing)
    if end is None:
        # Lanes behind each other keep more than their decision, which is that of one lane.
        return ()
    found = []
    for wait in waits:
        tried = with_wait(timing, wait)
        tried_end = measure.end(tried)
        if tried_end is not None and tried_end <= end + later:
            found.append(wait)
            timing, end = tried, tried_end
    return tuple(found)


class _Measure:
    """When a program ends whose nests and intervals are given and whose latencies vary."""

    def __init__(self, timing: Timing, decision: Decision) -> None:
        self._decision = decision
        self._gaps = [self._gap(precedence) for precedence in timing.precedences()]

    def _gap(self, p: Precedence) -> tuple[int, int] | None:
        source, sink = self._decision.placements[p.source], self._decision.placements[p.sink]
        if not p.binds(source, sink):
            return None
        return p.gaps(source, sink, self._decision.iis[p.source], self._decision.iis[p.sink])

    def end(self, timing: Timing) -> int | None:
        """Return the cycles of everything, ports not counted; None: an interval is too short."""
        required = strongest(
            ((p.source, p.sink), p.required_between(*gap))
            for p, gap in zip(timing.precedences(), self._gaps, strict=True)
            if gap is not None
        )
        starts = smallest_shifts(list(self._decision.placements), required, {})
        if starts is None:
            return None
        return max(start + _length(timing, self._decision, s) for s, start in starts.items())


def decide_later(space: Space, decision: Decision) -> Decision:
    """Return the decision with the offsets that larger latencies need, all else being as it was.

    Raises
    ------
    Unforwardable, StoresCollide: they do not fit.
    """
    timing, placed, iis = space.timing, decision.placements, decision.iis
    required = requirements_apart(space, decision.regions, placed, iis)
    least = dict(decision.offsets)
    base = 0
    for names in decision.regions:
        units = [unit for unit in timing.units if unit.statements[0] in names]
        nests = [[_candidate(space, decision, unit)] for unit in units]
        inside = among(space.cycles, names)
        choice = best_choice(nests, inside, StoreSlots(timing, nests, inside).settle)
        assert choice is not None, "without a limit there is a choice"
        for name, start in choice.shifts.items():
            least[name] = max(least[name], base + start)
        base += choice.end
    offsets, routing = without_conflicts(timing, placed, iis, required, least)
    reasons = ii_reasons(space, placed, iis)
    return replace(decision, offsets=offsets, routing=routing, ii_reasons=reasons)


def _candidate(space: Space, decision: Decision, unit: Unit) -> Candidate:
    """Return the nests of a unit in a decision."""
    names = unit.statements
    placed = {name: decision.placements[name] for name in names}
    first = min(decision.offsets[name] for name in names)
    least = {name: decision.offsets[name] - first for name in names}
    required = requirements(among(space.cycles, names), placed, decision.iis)
    shifts = smallest_shifts(names, required, least)
    assert shifts is not None, "only affordable latencies are asked for"
    end = max(shifts[name] + _length(space.timing, decision, name) for name in names)
    changes = sum(nest.changes for nest in placed.values())
    return Candidate(placed, decision.iis[names[0]], shifts, end, changes)


def _length(timing: Timing, decision: Decision, name: str) -> int:
    return timing.length_cycles(name, decision.placements[name], decision.iis[name])
