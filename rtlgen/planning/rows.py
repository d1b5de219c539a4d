"""Values beside their arrays, in rows: where that saves RAM at the same cycles."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import improving, limited_effort, more_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.ram_copies import block_rams, distributed_ram_bits
from rtlgen.ir.small_memories import with_small_memories
from rtlgen.options import CompileOptions
from rtlgen.planning.planned import Planned, beside_of, cycles_of, lowered
from rtlgen.scheduling.array_parts import part_arrays
from rtlgen.scheduling.beside import Beside
from rtlgen.scheduling.forwarding import Routing
from rtlgen.scheduling.kept_values import Rows
from rtlgen.scheduling.loaded_rows import keep_loaded
from rtlgen.scheduling.loaded_taps import pass_loaded
from rtlgen.scheduling.row_memories import fold_rows
from rtlgen.scheduling.versions import NoVersions
from rtlgen.target import Target

DISTRIBUTED_BITS = 3_500
"""Of memories of logic cells, which take as large a part of a device as a block RAM: 64 words of 32
bits are about 250 LUT on ECP5, of 24,288 beside 56 block RAMs."""


def in_rows(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan with values beside their arrays, where that saves RAM."""
    # What is not replayed is not proven.
    if not _has_copies(planned.plan, planned.target) or not planned.plan.is_replayable:
        return planned
    timing, decision, target = planned.space.timing, planned.decision, planned.target
    best, cycles = planned.plan, cycles_of(planned)

    def take(rows: Rows) -> None:
        nonlocal best
        plan = lowered(timing, decision, target, options, rows)
        # A choice among places can take a stage of its own, and end the run a cycle later.
        if predicted_cycles(plan) <= cycles and _is_smaller(plan, best, target):
            best = plan

    with improving("values in rows"), suppress(NoVersions), limited_effort():
        take(fold_rows(beside_of(timing, decision), decision.routing))
    with improving("what is loaded in rows"), suppress(NoVersions), more_effort():
        take(_loaded_once(beside_of(timing, decision), decision.routing))
    return replace(planned, plan=best)


def _loaded_once(beside: Beside, routing: Routing) -> Rows:
    """Return memories beside the arrays with which a value is loaded once, as far as that goes."""
    rows = fold_rows(beside, pass_loaded(beside, routing))
    rows = part_arrays(beside, keep_loaded(beside, rows))
    return replace(rows, routing=beside.stored(rows.routing, routing))


def _has_copies(plan: KernelPlan, target: Target) -> bool:
    """Tell whether some memory may take more than one block RAM."""
    return block_rams(plan, target) > len(plan.memories)


def _is_smaller(one: KernelPlan, other: KernelPlan, target: Target) -> bool:
    """Tell whether a plan needs less RAM than another one."""
    return _ram_bits(one, target) < _ram_bits(other, target)


def _ram_bits(plan: KernelPlan, target: Target) -> int:
    placed = with_small_memories(plan, target)
    return DISTRIBUTED_BITS * block_rams(placed, target) + distributed_ram_bits(placed)


def ram_cost(planned: Planned) -> int:
    """Return the RAM that a program takes, in bits of logic cells."""
    return _ram_bits(planned.plan, planned.target)
