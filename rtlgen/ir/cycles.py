"""The cycle model: how many cycles a KernelPlan takes, from the plan alone.

Cycles are counted from the clock edge that sees `start` to the edge that sees `done`. Cycle 0
begins at the first of the two; `done` is high in the cycle of the last store (or of the checksum's
last step), so a kernel of L busy cycles takes exactly L.
"""

from __future__ import annotations

from rtlgen.ir.plan import KernelPlan, Region

CHECKSUM_LATENCY_CYCLES = 3
"""From the address of the last element to the finished checksum: RAM, output register, CRC step."""


def region_cycles(plan: KernelPlan, region: Region) -> int:
    """Return the cycles between the start of `region` and the start of what follows it."""
    return plan.index_latency_cycles + region.length_cycles


def body_cycles(plan: KernelPlan) -> tuple[int, ...]:
    """Return the cycles of every part of the body; of tiles as if no word were waited for."""
    return tuple(
        region_cycles(plan, part)
        if isinstance(part, Region)
        else (part.tiles - 1) * part.issue_cycles + part.kernel.length_cycles
        for part in plan.body
    )


def checksum_cycles(plan: KernelPlan) -> int:
    """Return the cycles that the checksum unit adds: one an element, and its latency once."""
    if plan.checksum is None:
        return 0
    return sum(plan.memory(name).depth for name in plan.checksum) + CHECKSUM_LATENCY_CYCLES


def predicted_cycles(plan: KernelPlan) -> int:
    """Return the exact number of cycles from start to done."""
    return sum(body_cycles(plan)) + checksum_cycles(plan)
