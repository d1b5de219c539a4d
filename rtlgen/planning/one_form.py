"""Plan one form of a program: loops, ports, rows beside arrays, values that wait.

All statements share one loop, unless that is too complex or takes longer than they do apart. An
array has one write port, or as many as save cycles.

Values beside their arrays, in rows: where that saves RAM at the same cycles.

Values that wait a cycle: for the clock, or so that operations can share functional units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce

from rtlgen.datapath.binding import with_units
from rtlgen.ir.block_rams import block_rams, distributed_ram_bits, with_small_memories
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, limited_effort, more_effort
from rtlgen.ir.operation_costs import blocks_on
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.tolerance import PORT_TOLERANCE, is_worth_search
from rtlgen.memories.forwarding import Routing, Unforwardable
from rtlgen.memories.ports import NoVersions, with_versions
from rtlgen.memories.read_buffers import keep_loaded, part_arrays, pass_loaded
from rtlgen.memories.row_buffers import Beside, Rows, fold_rows
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, in_chosen_loops
from rtlgen.planning.planned import (
    Planned,
    Tried,
    beside_of,
    cycles_of,
    least_cycles,
    lowered,
    timing_of,
)
from rtlgen.poly.errors import UnknownStatement
from rtlgen.poly.legality import find_violation, illegal_shift
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.scheduling.decide import (
    Decision,
    StoresCollide,
    are_shorter_apart,
    decide_fused,
    decide_regions,
    decide_sequential,
    decide_shifted,
    iteration_shifts,
    relaxing,
    shortest_regions,
)
from rtlgen.scheduling.operand_registers import (
    Wait,
    affordable_waits,
    decide_later,
    useful_waits,
    waits_in_turn,
    waits_to_share,
    with_wait,
)
from rtlgen.scheduling.space import Space
from rtlgen.target import Target, get_target
from rtlgen.transforms.outer_shift import ols_applicability, outer_loop_shift

ONE_PORT = "one write port an array"
SEVERAL_LOOPS = "several loops, one after another"
"""What is tried of every form of a program."""


def _having_tried(chosen: Planned, form: str, found: Planned, other: Planned) -> Planned:
    """Return which of two plans was chosen, with a note of one of them: it was tried."""
    why_not = "" if chosen is found else f"{cycles_of(other):,} cycles are taken without it"
    return replace(chosen, tried=(Tried("fuse", form, cycles_of(found), why_not),))


def plan_in_loops(analysis: Analysis, options: CompileOptions) -> Planned:
    """Plan a program in the loops of the scheduler that was chosen, if one was."""
    return plan_form(in_chosen_loops(analysis, options.loops), options)


def plan_form(analysis: Analysis, options: CompileOptions, *, may_overlap: bool = False) -> Planned:
    """Plan a program with as many write ports an array as it takes; see `with_few_ports`.

    All statements share one loop unless that is too complex, or takes longer than they do apart.

    Parameters
    ----------
    may_overlap: whether iterations of an outer loop may share rows.
    """
    timing = replace(timing_of(analysis, get_target(options.target)), may_overlap=may_overlap)
    free = Space(timing, analysis.scop, analysis.in_order, pauses=analysis.pauses)
    if options.fuse != "mf3":
        return plan_of(analysis, options, free)
    try:
        with limited_effort():
            fused = _in_one_loop(analysis, options, free)
    except TooComplex as error:
        if options.shifts:
            raise
        why = f"the search for one loop is too complex: {error.diagnostic.notes[0]}"
        with more_effort():
            return min(_in_regions(analysis, options, free, why), key=cycles_of)
    is_short = not is_worth_search(cycles_of(fused), free.floor_iterations)
    is_short = is_short or least_cycles(timing, fused.target, options) >= cycles_of(fused)
    if options.shifts or is_short or not are_shorter_apart(free, cycles_of(fused)):
        return fused
    why = f"the search for one loop found none with fewer than {cycles_of(fused):,} cycles"
    apart = min(_in_regions(analysis, options, free, why), key=cycles_of)
    best = min(fused, apart, key=cycles_of)
    tried = _having_tried(best, SEVERAL_LOOPS, apart, fused)
    return replace(tried, tried=(*fused.tried, *tried.tried))


def _in_regions(
    analysis: Analysis, options: CompileOptions, free: Space, why: str
) -> list[Planned]:
    """Plan a program in the nests that it has, some of them fused or none."""

    def joined(space: Space) -> Decision:
        return decide_regions(space, shortest_regions(space), why)

    def apart(space: Space) -> Decision:
        return decide_regions(space, [[unit] for unit in space.timing.units], why)

    written = free.as_written()
    found = [plan_of(analysis, options, written, apart)]
    with improving("nests that share loops"):
        found.insert(0, plan_of(analysis, options, written, joined))
    return found


def _in_one_loop(analysis: Analysis, options: CompileOptions, free: Space) -> Planned:
    """Plan a program with all statements in one loop."""
    if options.write_ports != "one":
        with suppress(NoVersions):
            return plan_of(analysis, options, free.retimed(with_versions(free.timing)))
    return plan_of(analysis, options, free)


def with_few_ports(several: Planned, options: CompileOptions) -> Planned:
    """Return the same form with one write port an array, where that costs hardly any cycles.

    Where nothing is kept apart, often no two stores meet all the same.
    """
    if all(memory.write_ports == 1 for memory in several.plan.memories):
        return several
    timing = replace(
        several.space.timing, banked=frozenset(), memory_only=frozenset(), apart=frozenset()
    )
    free = several.space.retimed(timing).within(int(cycles_of(several) / PORT_TOLERANCE))
    one = several
    with improving("stores through one port an array"), suppress(NoClosedForm):
        one = plan_of(several.analysis, options, free)
    if one is several:
        return several
    best = several if cycles_of(several) < cycles_of(one) * PORT_TOLERANCE else one
    return _having_tried(best, ONE_PORT, one, several)


def plan_of(
    analysis: Analysis,
    options: CompileOptions,
    space: Space,
    decide: Callable[[Space], Decision] | None = None,
) -> Planned:
    """Plan a program as the options say, or as `decide` does."""
    target = get_target(options.target)

    def attempt(tried: Space) -> Planned:
        decision = decide(tried) if decide else _decide(analysis, tried, options)
        plan = lowered(tried.timing, decision, target, options)
        return Planned(analysis, tried, decision, plan, target)

    planned = relaxing(space, attempt)
    is_relaxed = planned.space.timing.memory_only > space.timing.memory_only
    if is_relaxed and any(p.overlaps for p in planned.decision.placements.values()):
        # Where rows are shared, less can be said of how old values are, and they go by a memory.
        with improving("sweeps that do not overlap"):
            apart = replace(space.timing, may_overlap=False)
            return min(planned, relaxing(space.retimed(apart), attempt), key=cycles_of)
    return planned


def _decide(analysis: Analysis, space: Space, options: CompileOptions) -> Decision:
    names = [statement.name for statement in analysis.scop.statements]
    for name in options.shifts:
        if name not in names:
            raise UnknownStatement(
                f"there is no statement {name}", help=f"the statements are {', '.join(names)}"
            )
    if options.fuse == "none":
        return decide_sequential(space)
    if options.fuse == "ols":
        return decide_shifted(space, _outer_shifted(analysis))
    decision = decide_fused(space, {})
    if options.shifts:
        _require_legal_shifts(analysis, space, decision, options.shifts)
        decision = decide_fused(space, options.shifts)
    return decision


def _outer_shifted(analysis: Analysis) -> Mapping[str, FlatDim]:
    verdict = ols_applicability(analysis.scop, analysis.sets, analysis.dependences)
    return outer_loop_shift(analysis.sets, analysis.dependences, verdict)


def _require_legal_shifts(
    analysis: Analysis, space: Space, decision: Decision, overrides: Mapping[str, int]
) -> None:
    schedule = Schedule(
        {
            statement.name: (
                decision.placements[statement.name].flat(
                    overrides.get(statement.name, decision.shifts[statement.name])
                ),
                ScalarDim(place),
            )
            for place, statement in enumerate(analysis.scop.statements)
        }
    )
    # Other statements move with an override that is larger than needed: only sinks come too early.
    early = [d for d in analysis.dependences if d.sink in overrides]
    violation = find_violation(analysis.sets, early, schedule)
    if violation is not None:
        sink = violation.dependence.sink
        others = {name: shift for name, shift in overrides.items() if name != sink}
        smallest = iteration_shifts(space, decision.placements, others)[sink]
        raise illegal_shift(analysis.scop, violation, schedule, smallest)


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
        every = list(waits_to_share(best.space.timing, best.plan))
        # Those of lanes are alike: mostly all of them can wait, or none.
        together = tuple(sorted({wait for waits in every for wait in waits}))
        found = _waiting(best, together, later, options) if len(every) > 1 else None
        if found is not None:
            return found
        for waits in every:
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
