"""Accesses that meet in a bank: two elements of it that are wanted in one cycle.

The plan resolves them, with copies of the bank for loads and versions of it for stores. Who asked
for a partition so that an array needs neither is told what meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rtlgen.errors import Label
from rtlgen.ir.ints import Ints
from rtlgen.ir.issued_instances import IssuedInstances, issued_instances
from rtlgen.ir.iterations import element_numbers, predicate_mask
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Scop, Statement, loop_paths
from rtlgen.transforms.derive_banks import other_partition


@dataclass(frozen=True, slots=True)
class Request:
    """An instance that wants an element.

    Members
    -------
    statement, point: the instance. access: its access. element: the row-major number.
    is_load: whether it reads, or else writes.
    """

    statement: Statement
    point: tuple[int, ...]
    access: Access
    element: int
    is_load: bool


@dataclass(frozen=True, slots=True)
class Contention:
    """Two requests to one bank in one cycle, counted from the start of the run."""

    memory: str
    bank: int
    cycle: int
    requests: tuple[Request, Request]


def require_free(
    plan: KernelPlan,
    scop: Scop,
    program: Schedule,
    placed: Schedule,
    names: Iterable[str],
    written: Scop,
) -> None:
    """Raise BankContended where lanes of one nest meet in a bank that somebody has asked for.

    That is in arrays which are written: of what is only read there may be copies, which stay alike.
    So there may of banks in which different nests meet, since these need not run side by side.

    Parameters
    ----------
    names: the arrays that are asked for in banks.
    scop, program, placed: see `judges.replay`.
    written: the program whose nests count: loops that are chosen for a unit are for it alone.
    """
    stored = {statement.write.array for statement in scop.statements}
    suspects = [
        memory
        for memory in plan.memories
        if memory.name in names
        and memory.name in stored
        and (memory.write_ports > 1 or memory.read_ports > 1)
        and memory.kind == "block"
    ]
    if not suspects:
        return
    regions = issued_instances(plan, scop, program, placed)
    paths, nests = loop_paths(written.tree), dict[tuple[int, ...], list[IssuedInstances]]()
    for member in (member for region in regions for member in region):
        nests.setdefault(tuple(paths[member.statement.name]), []).append(member)
    for memory, members, is_load in product(suspects, nests.values(), (False, True)):
        found = contention(memory, members, is_load=is_load)
        if found is not None:
            raise _refusal(scop, memory, found)


def contention(
    memory: Memory, members: Sequence[IssuedInstances], *, is_load: bool
) -> Contention | None:
    """Return the first two loads, or stores, of a memory that want one bank in one cycle."""
    requests = list(_requests(memory, members, is_load))
    if not requests:
        return None
    cycles = np.concatenate([each.cycles for each in requests])
    elements = np.concatenate([each.elements for each in requests])
    users = np.concatenate([np.full(len(r.cycles), n) for n, r in enumerate(requests)])
    rows = np.concatenate([np.arange(len(each.cycles)) for each in requests])
    banks, _ = memory.bank_map.of_elements(elements)
    order = np.lexsort((elements, banks, cycles))
    keys = np.stack([cycles, banks], axis=1)[order]
    meets = (keys[1:] == keys[:-1]).all(axis=1) & (elements[order][1:] != elements[order][:-1])
    if not meets.any():
        return None
    first = int(np.flatnonzero(meets)[0])
    pair = [requests[int(users[n])].request(int(rows[n])) for n in order[first : first + 2]]
    return Contention(
        memory.name, int(banks[order[first]]), int(cycles[order[first]]), (pair[0], pair[1])
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Requests:
    """All needed instances of one access, with the cycle and the element of each."""

    member: IssuedInstances
    access: Access
    cycles: Ints
    elements: Ints
    points: Ints
    is_load: bool

    def request(self, row: int) -> Request:
        point = tuple(self.points[row].tolist())
        element = int(self.elements[row])
        return Request(self.member.statement, point, self.access, element, self.is_load)


def _requests(
    memory: Memory, members: Sequence[IssuedInstances], is_load: bool
) -> Iterator[_Requests]:
    for member in members:
        stream = member.stream
        if not is_load:
            store = stream.store
            if store.memory == memory.name and store.address is not None:
                mask = predicate_mask(store.when, member.counters)
                elements = element_numbers(memory, store.address, member.counters)[mask]
                cycles = member.cycles[mask] + store.stage
                write = member.statement.write
                yield _Requests(member, write, cycles, elements, member.points[mask], False)
            continue
        for op in stream.operations:
            if isinstance(op, LoadOp) and op.memory == memory.name and op.address is not None:
                mask = predicate_mask(op.needed, member.counters)
                elements = element_numbers(memory, op.address, member.counters)[mask]
                cycles = member.cycles[mask] + op.stage
                read = member.statement.reads[op.read]
                yield _Requests(member, read, cycles, elements, member.points[mask], True)


def _refusal(scop: Scop, memory: Memory, found: Contention) -> BankContended:
    first, second = found.requests
    what = "read" if first.is_load else "written"
    many = memory.read_ports if first.is_load else memory.write_ports
    other = other_partition(scop, found.memory) or f"cut {found.memory} in another way"
    refusal = BankContended(
        f"{_element(scop, first)} and {_element(scop, second)} are {what} in one cycle, and both "
        f"are in bank {found.bank}",
        labels=[
            Label(
                request.access.span,
                f"{what} by {request.statement.instance_text(request.point)}, cycle {found.cycle}",
            )
            for request in found.requests
        ],
        help=f"{other}, or leave out --partition: there are then as many copies as are needed, "
        f"here {many}",
    )
    refusal.array = found.memory
    return refusal


def _element(scop: Scop, request: Request) -> str:
    index = np.unravel_index(request.element, scop.array(request.access.array).shape)
    return request.access.array + "".join(f"[{int(k)}]" for k in index)
