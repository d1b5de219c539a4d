"""Which arrays of a finished plan are made of the memories of logic cells.

A block RAM is taken whole, whatever is in it, and a device has few. An array that is no deeper than
a cell's memory needs nothing but the cells, neither a choice of data nor time, so it is never worth
one. Of those some cells deep, whose data has to be chosen from several, only as many move as the
device lacks block RAMs: with those that nobody else wants, the circuit is smaller. What stands
beside arrays, parts and windows, is there in many copies, and was placed when it was planned.
"""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.memories import Memory
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.ram_copies import block_rams, memory_block_rams, memory_ram_bits
from rtlgen.target import Target


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
