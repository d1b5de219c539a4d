"""Which copies of a block memory a plan needs: one for each bank and port that something reads."""

from __future__ import annotations

from rtlgen.ir.plan import KernelPlan, LoadOp, Memory
from rtlgen.target import Target


def banks_of(load: LoadOp) -> tuple[int, ...]:
    """Return the banks in which the value of a load may be, in order."""
    others = [n for n, where in enumerate(load.banks, start=1) if not where.is_false]
    is_elsewhere = any(where.is_true for where in load.banks)
    return tuple(others) if is_elsewhere else (0, *others)


def bank_copies(plan: KernelPlan, memory: Memory) -> tuple[tuple[int, int], ...]:
    """Return the (bank, read port) of every block RAM of a memory, in order.

    The host, and the checksum unit, read the homes of the elements through port 0.
    """
    is_visible = memory.has_host_port or memory.name in (plan.checksum or ())
    # The mover of a drained window is its only reader.
    is_read = is_visible or memory.kind == "drained"
    found = {(bank, 0) for bank in memory.home_banks} if is_read else set()
    for stream in plan.streams:
        for op in stream.operations:
            if isinstance(op, LoadOp) and op.memory == memory.name:
                found |= {(bank, op.port) for bank in banks_of(op)}
    return tuple(sorted(found))


def block_rams(plan: KernelPlan, target: Target) -> int:
    """Return the number of block RAMs that a plan needs on a family."""
    return sum(
        len(bank_copies(plan, memory)) * target.block_rams(memory.ram_words, memory.ram_word_bits)
        for memory in plan.memories
        if memory.is_block_ram
    )
