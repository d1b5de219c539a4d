"""The judge of streams: does the plan access each element once, in order, one in a cycle?

As `judges.replay`, it enumerates the iterations of the plan and uses nothing that made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.issued_instances import IssuedInstances, issued_instances
from rtlgen.ir.iterations import element_numbers, predicate_mask
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory, Stream
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Array, Scop
from rtlgen.poly.stream_order import Touched, disorder


def require_streamed(plan: KernelPlan, scop: Scop, program: Schedule, placed: Schedule) -> None:
    """Require that a plan takes and sends the elements of its streams in order.

    Parameters
    ----------
    scop, program, placed: see `judges.replay`.

    Raises
    ------
    StreamOutOfOrder: lanes, or two reads of one statement, access elements in one cycle.
    PlanUnsound: the order is another one.
    """
    if not plan.stream_memories:
        return
    regions = issued_instances(plan, scop, program, placed)
    members = [member for region in regions for member in region]
    for memory in plan.stream_memories:
        _require_in_order(memory, scop, members)


@dataclass(frozen=True, slots=True, eq=False)
class _Uses:
    """All instances that make one access, with the cycle and the element of each."""

    member: IssuedInstances
    access: Access
    cycles: Ints
    elements: Ints
    points: Ints

    def touched(self, row: int, array: Array) -> Touched:
        index = [int(k) for k in np.unravel_index(int(self.elements[row]), array.shape)]
        point = tuple(self.points[row].tolist())
        return Touched(self.member.statement, point, self.access, index)


def _require_in_order(memory: Memory, scop: Scop, members: Sequence[IssuedInstances]) -> None:
    for member in members:
        _require_idle_padding(memory, member)
    uses = [use for member in members for use in _uses(memory, member)]
    cycles = np.concatenate([use.cycles for use in uses])
    elements = np.concatenate([use.elements for use in uses])
    users = np.concatenate([np.full(len(use.cycles), n) for n, use in enumerate(uses)])
    rows = np.concatenate([np.arange(len(use.cycles)) for use in uses])
    order = np.lexsort((elements, cycles))
    met = np.flatnonzero(np.diff(cycles[order]) == 0)
    if len(met):
        array = scop.array(memory.name)
        early, late = (
            uses[int(users[n])].touched(int(rows[n]), array) for n in order[met[0] : met[0] + 2]
        )
        raise disorder(scop, early, late, at_once=True)
    if not np.array_equal(elements[order], np.arange(memory.depth)):
        raise PlanUnsound(f"the elements of the stream {memory.name} are not accessed in order")


def _require_idle_padding(memory: Memory, member: IssuedInstances) -> None:
    """Require that iterations of the plan that are none of the program's leave a stream alone."""
    stream = member.stream
    uses = [(s.when, s.stage) for s in stream.stores if s.memory == memory.name]
    uses += [(op.needed, op.stage) for op in _loads(memory, stream)]
    for when, stage in uses:
        cycles = member.bubble_cycles[predicate_mask(when, member.bubbles)] + stage
        if np.any(cycles < member.end_cycle):
            raise PlanUnsound(f"{stream.statement} accesses the stream {memory.name} in padding")


def _loads(memory: Memory, stream: Stream) -> list[LoadOp]:
    operations = (stream.operations[number] for number in stream.live)
    return [op for op in operations if isinstance(op, LoadOp) and op.memory == memory.name]


def _uses(memory: Memory, member: IssuedInstances) -> Iterator[_Uses]:
    stream = member.stream
    for store in stream.stores:
        if store.memory == memory.name:
            mask = predicate_mask(store.when, member.counters)
            assert store.address is not None, "words of a stream are written in order"
            elements = element_numbers(memory, store.address, member.counters)[mask]
            cycles = member.cycles[mask] + store.stage
            yield _Uses(member, member.statement.write, cycles, elements, member.points[mask])
    for op in _loads(memory, stream):
        if op.address is None:
            raise PlanUnsound(f"{stream.statement} looks up an element of {memory.name}")
        mask = predicate_mask(op.needed, member.counters)
        elements = element_numbers(memory, op.address, member.counters)[mask]
        read = member.statement.reads[op.read]
        yield _Uses(member, read, member.cycles[mask] + op.stage, elements, member.points[mask])
