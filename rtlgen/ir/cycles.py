"""The cycle model: how many cycles a KernelPlan takes, from the plan alone.

Cycles are counted from the clock edge that sees `start` to the edge that sees `done`. Cycle 0
begins at the first of the two; `done` is high in the cycle of the last store (or of the checksum's
last step), so a kernel of L busy cycles takes exactly L.
"""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.plan import KernelPlan, PlanError, Region, Workers
from rtlgen.ir.timeline import workers_cycles

CHECKSUM_LATENCY_CYCLES = 3
"""From the address of the last element to the finished checksum: RAM, output register, CRC step."""


def region_cycles(plan: KernelPlan, region: Region) -> int:
    """Return the cycles between the start of `region` and the start of what follows it."""
    return plan.index_latency_cycles + region.length_cycles


def body_cycles(plan: KernelPlan) -> tuple[int, ...]:
    """Return for every part of the body the cycles between its start and that of what follows."""
    return tuple(_part_cycles(plan, part) for part in plan.body)


def _part_cycles(plan: KernelPlan, part: Region | Workers) -> int:
    if isinstance(part, Region):
        return region_cycles(plan, part)
    if plan.memory_side is None:
        raise PlanError(f"{plan.name} has tiles and no memory off chip")
    return workers_cycles(part, plan.memory_side.bus)


def checksum_cycles(plan: KernelPlan) -> int:
    """Return the cycles that the checksum unit adds: one an element, and its latency once."""
    if plan.checksum is None:
        return 0
    return sum(plan.memory(name).depth for name in plan.checksum) + CHECKSUM_LATENCY_CYCLES


def predicted_cycles(plan: KernelPlan) -> int:
    """Return the exact number of cycles from start to done."""
    return sum(body_cycles(plan)) + checksum_cycles(plan)


def cycles_behind(plan: KernelPlan, latency_cycles: int) -> int:
    """Return how many cycles a plan takes whose memory off chip has another latency."""
    side = plan.memory_side
    if side is None:
        raise PlanError(f"{plan.name} has nothing off chip")
    return predicted_cycles(
        replace(plan, memory_side=replace(side, bus=side.bus.behind(latency_cycles)))
    )
