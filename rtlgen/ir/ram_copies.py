"""Which block RAMs a plan needs: one for each bank, version and port that something reads."""

from __future__ import annotations

from collections.abc import Iterable

from rtlgen.ir.levels import banks_named
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
