"""Values that wait a cycle: for the clock, or so that operations can share functional units."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import improving, limited_effort
from rtlgen.ir.partial_products import blocks_on
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.small_memories import with_small_memories
from rtlgen.options import CompileOptions
from rtlgen.planning.planned import Planned, cycles_of, lowered
from rtlgen.scheduling.binding import with_units
from rtlgen.scheduling.decide import StoresCollide
from rtlgen.scheduling.forwarding import Unforwardable
from rtlgen.scheduling.settling import (
    Wait,
    affordable_waits,
    decide_later,
    useful_waits,
    waits_in_turn,
    waits_to_share,
    with_wait,
)
from rtlgen.scheduling.versions import NoVersions


def with_own_parts(planned: Planned, options: CompileOptions) -> Planned:
    """Return the plan with the memories and the functional units that its circuit has."""
    plan = with_small_memories(planned.plan, planned.target)
    return replace(planned, plan=_with_units(planned, plan, options))


def multipliers_of(planned: Planned) -> int:
    """Return how many multiplier blocks a plan takes on its target."""
    return blocks_on(planned.plan, planned.target)


def _with_units(planned: Planned, plan: KernelPlan, options: CompileOptions) -> KernelPlan:
    """Let operations share functional units: if they have to, at the cost of the clock, too."""
    context = planned.analysis.sets.context
    bound = with_units(plan, context)
    if not takes_too_many(replace(planned, plan=bound), options):
        return bound
    return with_units(plan, context, everywhere=True)


def takes_too_many(planned: Planned, options: CompileOptions) -> bool:
    """Tell whether a plan takes more multiplier blocks than it may."""
    return options.max_dsp is not None and multipliers_of(planned) > options.max_dsp


def with_shared_multipliers(planned: Planned, options: CompileOptions) -> Planned:
    """Let operands settle where operations can share a unit then, and no cycle is lost by it.

    To keep to a limit, each may take a cycle: the clock would lose more.
    """
    best = planned
    later = int(takes_too_many(planned, options))
    with improving("operations that share multipliers"), limited_effort():
        if later:
            best = _taking_turns(best, options)
        for waits in waits_to_share(best.space.timing, best.plan):
            best = _waiting(best, waits, later, options) or best
    return best


def _taking_turns(planned: Planned, options: CompileOptions) -> Planned:
    """Let multipliers of a statement begin in different cycles of its initiation interval."""
    tried = set[tuple[Wait, ...]]()
    while True:
        every = waits_in_turn(planned.space.timing, planned.plan)
        waits = next((w for w in every if w not in tried), None)
        if waits is None:
            return planned
        tried.add(waits)
        planned = _waiting(planned, waits, 1, options) or planned


def _waiting(
    planned: Planned, waits: Sequence[Wait], later: int, options: CompileOptions
) -> Planned | None:
    """Return the plan with all of some more waits, or None where that cannot be.

    Parameters
    ----------
    later: cycles that each may take.
    """
    with suppress(Unforwardable, StoresCollide, NoVersions):
        fitting = affordable_waits(planned.space.timing, planned.decision, waits, later)
        if len(fitting) == len(waits):
            found = _replanned(planned, fitting, options)
            if cycles_of(found) <= cycles_of(planned) + later * len(waits):
                return found
    return None


def with_settled(planned: Planned, options: CompileOptions) -> Planned:
    """Let values settle before they are used, where the clock gains by it and nothing waits."""
    best, tried = planned, set[Wait]()
    # Where no value can settle longer, what was found so far is as good as it was.
    with (
        improving("values that settle before they are used"),
        suppress(Unforwardable, StoresCollide, NoVersions),
        limited_effort(),
    ):
        while (later := _with_waits(best, options, tried)) is not None:
            best = later
    return best


def _with_waits(planned: Planned, options: CompileOptions, tried: set[Wait]) -> Planned | None:
    """Return the plan with more waits, or None; `tried` gets those that were looked at."""
    timing = planned.space.timing
    useful = [w for w in useful_waits(timing, planned.plan, planned.target) if w not in tried]
    tried |= set(useful)
    waits = affordable_waits(timing, planned.decision, useful)
    if not waits:
        return None
    later = _replanned(planned, waits, options)
    if predicted_cycles(later.plan) > predicted_cycles(planned.plan) + len(waits):
        return None
    return later


def _replanned(planned: Planned, waits: Sequence[Wait], options: CompileOptions) -> Planned:
    """Return the plan with more waits."""
    space = planned.space.retimed(reduce(with_wait, waits, planned.space.timing))
    decision = decide_later(space, planned.decision)
    plan = lowered(space.timing, decision, planned.target, options)
    return replace(planned, space=space, decision=decision, plan=plan)
