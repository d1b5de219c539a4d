"""What a plan takes for its arrays: block RAMs, the memories of logic cells, addresses.

A block RAM is taken whole, whatever is in it, and a device has few. An array that is no deeper than
a cell's memory needs nothing but the cells, neither a choice of data nor time, so it is never worth
one. Of those some cells deep, whose data has to be chosen from several, only as many move as the
device lacks block RAMs: with those that nobody else wants, the circuit is smaller. What stands
beside arrays, parts and windows, is there in many copies, and was placed when it was planned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rtlgen.ir.levels import banks_named
from rtlgen.ir.memories import address_bits
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory
from rtlgen.target import Target


def versions_of(load: LoadOp) -> tuple[int, ...]:
    """Return the versions in which the value of a load may be, in order."""
    others = [n for n, where in enumerate(load.versions, start=1) if not where.is_false]
    is_elsewhere = any(where.is_true for where in load.versions)
    return tuple(others) if is_elsewhere else (0, *others)


def banks_read(load: LoadOp, memory: Memory) -> tuple[int, ...]:
    """Return the banks in which the element of a load may be, in order."""
    if load.address is None:
        return tuple(range(memory.bank_map.banks))
    return banks_named(load.address)


def ram_copies(plan: KernelPlan, memory: Memory) -> tuple[tuple[int, int, int], ...]:
    """Return the (bank, version, read port) of every block RAM of a memory, in order.

    The host, and the checksum unit, read the homes of the elements through port 0.
    """
    loads = (op for s in plan.streams for op in s.operations if isinstance(op, LoadOp))
    return _copies(plan, memory, [load for load in loads if load.memory == memory.name])


def _copies(
    plan: KernelPlan, memory: Memory, loads: Iterable[LoadOp]
) -> tuple[tuple[int, int, int], ...]:
    is_visible = memory.has_host_port or memory.name in (plan.checksum or ())
    # The mover of a drained window is its only reader.
    is_read = is_visible or memory.kind == "drained"
    banks = range(memory.bank_map.banks)
    found = {(bank, home, 0) for bank in banks for home in memory.home_versions if is_read}
    for load in loads:
        found |= {
            (bank, version, load.port)
            for bank in banks_read(load, memory)
            for version in versions_of(load)
        }
    return tuple(sorted(found))


def _copies_of_all(plan: KernelPlan) -> dict[str, int]:
    """Return how many RAMs each memory is made of, looking at every load once."""
    loads: dict[str, list[LoadOp]] = {}
    for stream in plan.streams:
        for op in stream.operations:
            if isinstance(op, LoadOp):
                loads.setdefault(op.memory, []).append(op)
    return {
        memory.name: memory.twins * len(_copies(plan, memory, loads.get(memory.name, ())))
        for memory in plan.memories
    }


def external_ports(plan: KernelPlan, memory: Memory) -> tuple[tuple[int, ...], bool]:
    """Return which read ports of an array outside are used, and whether it is written."""
    reads = tuple(port for _, _, port in ram_copies(plan, memory))
    stores = (store for stream in plan.streams for store in stream.stores)
    return reads, any(store.memory == memory.name for store in stores)


def block_rams(plan: KernelPlan, target: Target) -> int:
    """Return the number of block RAMs that a plan needs on a family."""
    copies = _copies_of_all(plan)
    return sum(
        copies[memory.name] * target.block_rams(memory.ram_words, memory.ram_word_bits)
        for memory in plan.memories
        if memory.is_block_ram
    )


def memory_block_rams(plan: KernelPlan, memory: Memory, target: Target) -> int:
    """Return the number of block RAMs of a memory that is made of them, all copies counted."""
    each = target.block_rams(memory.ram_words, memory.ram_word_bits)
    return memory.twins * len(ram_copies(plan, memory)) * each


def memory_ram_bits(plan: KernelPlan, memory: Memory) -> int:
    """Return the bits of a memory that is RAM, all copies counted."""
    copies = memory.twins * len(ram_copies(plan, memory))
    return copies * memory.ram_words * memory.ram_word_bits


def distributed_ram_bits(plan: KernelPlan) -> int:
    """Return the bits that a plan keeps in memories of logic cells, all copies counted."""
    return _ram_bits(plan, [m for m in plan.memories if m.style == "distributed"])


def block_ram_bits(plan: KernelPlan) -> int:
    """Return the bits that a plan keeps in block RAM, all copies counted."""
    return _ram_bits(plan, [m for m in plan.memories if m.is_block_ram])


def _ram_bits(plan: KernelPlan, memories: Iterable[Memory]) -> int:
    copies = _copies_of_all(plan)
    return sum(copies[m.name] * m.ram_words * m.ram_word_bits for m in memories)


def with_small_memories(plan: KernelPlan, target: Target) -> KernelPlan:
    """Return the plan with small memories made of logic cells; no cycle changes.

    Parameters
    ----------
    target: whose cells and block RAMs there are. Without memories in its cells nothing moves.
    """
    rows = {
        memory.name
        for memory in _in_block_ram(plan)
        # Banks are read side by side: each would have the registers that a block RAM has inside.
        if memory.ram_words <= target.distributed_row_words and not memory.cuts
    }
    plan = _moved(plan, rows)
    lacking = block_rams(plan, target) - target.device_block_rams
    if lacking <= 0:
        return plan
    small = [m for m in _in_block_ram(plan) if m.ram_words <= target.distributed_words]
    blocks = {m.name: memory_block_rams(plan, m, target) for m in small}
    # The bits that go into logic cells for each block RAM that becomes free.
    bits_each = {m.name: memory_ram_bits(plan, m) / max(1, blocks[m.name]) for m in small}
    moving: set[str] = set()
    for name in sorted(blocks, key=lambda name: bits_each[name]):
        if lacking > 0:
            moving.add(name)
            lacking -= blocks[name]
    # Half of what is lacking is no help: such a design needs another device anyway.
    return plan if lacking > 0 else _moved(plan, moving)


def _in_block_ram(plan: KernelPlan) -> list[Memory]:
    return [m for m in plan.memories if m.is_block_ram and m.kind != "rom"]


def _moved(plan: KernelPlan, names: set[str]) -> KernelPlan:
    return replace(
        plan,
        memories=tuple(
            replace(m, style="distributed") if m.name in names else m for m in plan.memories
        ),
    )


@dataclass(frozen=True, slots=True)
class Footprint:
    """The storage of a plan.

    Members
    -------
    block_rams: with all copies and banks. register_bits: of arrays that are flip-flops.
    address_bits: of all loads and stores together, each of which counts its own address.
    """

    block_rams: int
    register_bits: int
    address_bits: int

    @staticmethod
    def of(plan: KernelPlan, target: Target) -> Footprint:
        """Return what a plan takes on a family, with its small arrays in logic cells."""
        plan = with_small_memories(plan, target)
        deep = {m.name: address_bits(m.depth) for m in plan.memories if m.ram_words > 1}
        loads = [
            op.memory
            for stream in plan.streams
            for op in stream.operations
            if isinstance(op, LoadOp)
        ]
        stores = [store.memory for stream in plan.streams for store in stream.stores]
        return Footprint(
            block_rams(plan, target),
            sum(m.depth * m.width_bits for m in plan.memories if m.kind == "register"),
            sum(deep.get(name, 0) for name in (*loads, *stores)),
        )
