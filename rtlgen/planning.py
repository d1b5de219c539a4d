"""Which form of a program is built: the one with the fewest cycles.

The same program can have its temporaries expanded, its loops skewed, its arrays in several banks,
and its statements in one loop or in several. Each form is planned in full, and compared by the
cycles of its plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce

from rtlgen.analysis import (
    Analysis,
    expanded,
    in_banks,
    in_chosen_loops,
    in_skewed_loops,
    with_pauses,
)
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, limited_effort, more_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.ram_copies import block_ram_bits, block_rams, distributed_ram_bits
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.ir.small_memories import with_small_memories
from rtlgen.options import CompileOptions
from rtlgen.poly.errors import UnknownStatement
from rtlgen.poly.legality import find_violation, illegal_shift
from rtlgen.poly.piecewise import NoClosedForm
from rtlgen.scheduling.array_parts import part_arrays
from rtlgen.scheduling.beside import Beside
from rtlgen.scheduling.decide import (
    Decision,
    StoresCollide,
    decide_fused,
    decide_sequential,
    decide_shifted,
    iteration_shifts,
    relaxing,
)
from rtlgen.scheduling.forwarding import Routing, Unforwardable
from rtlgen.scheduling.kept_values import Rows, without_rows
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.loaded_rows import keep_loaded
from rtlgen.scheduling.loaded_taps import pass_loaded
from rtlgen.scheduling.lower import PlanOptions, lower
from rtlgen.scheduling.pausing import find_pauses
from rtlgen.scheduling.ports import assign_read_ports
from rtlgen.scheduling.regions import cycles_apart, decide_regions, shortest_regions
from rtlgen.scheduling.replay import is_replayable
from rtlgen.scheduling.row_memories import fold_rows
from rtlgen.scheduling.settling import (
    Wait,
    affordable_waits,
    decide_later,
    useful_waits,
    with_wait,
)
from rtlgen.scheduling.skewing import find_skews
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures
from rtlgen.scheduling.versions import NoVersions, VersionMap, assign_versions, with_versions
from rtlgen.scheduling.worth import is_worth_search
from rtlgen.target import Target, get_target
from rtlgen.timing import timing_of
from rtlgen.transforms.derive_banks import derived_cuts
from rtlgen.transforms.ols import ols_applicability
from rtlgen.transforms.outer_shift import outer_loop_shift

DISTRIBUTED_BITS = 3_500
"""Of memories of logic cells, which take as large a part of a device as a block RAM: 64 words of 32
bits are about 250 LUT on ECP5, of 24,288 beside 56 block RAMs."""

SKEW_GAIN = 0.98
"""Share of the cycles below which skewed loops are worth their subscripts."""

RAM_GAIN = 0.995
"""Share of the cycles down to which skewed loops are as good as others in which less RAM does."""

PAUSE_GAIN = 0.98
"""Share of the cycles below which pauses are worth the loop that counts them."""

EXPANSION_GAIN = 0.98
"""Share of the cycles below which an expansion is worth its memory."""

BANKING_GAIN = 0.995
"""Share of the cycles below which several write ports, or banks, are worth their memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Expanded:
    """The plans between which it was chosen to expand temporaries, neither skewed nor paused."""

    before: KernelPlan
    after: KernelPlan


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan that nobody has proven yet, and what it was made from.

    Members
    -------
    expanded: what an expansion costs and saves, where one was chosen.
    """

    analysis: Analysis
    space: Space
    decision: Decision
    plan: KernelPlan
    target: Target
    expanded: Expanded | None = None


def choose_plan(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program in the form and the loops with the fewest cycles, as far as it is free."""
    planned = _choose_form(written, options)
    return replace(planned, plan=with_small_memories(planned.plan, planned.target))


def _choose_form(written: Analysis, options: CompileOptions) -> Planned:
    first = _in_given_banks(written, options)
    # The other modes are baselines: they build what the program says.
    if options.fuse != "mf3":
        return first
    derived = derived_cuts(written.scop, options.partitions)
    banked = in_banks(written, derived)
    if any(
        _may_start_earlier(first, written.scop, array)
        or (banked.scop.array(array).is_register and array in _copied_arrays(first.plan))
        for array in derived
    ):
        with improving("arrays in banks"), more_effort():
            second = _in_given_banks(banked, options)
            if _is_worth_banks(first, second):
                return _in_rows(second, options)
    return _in_rows(_with_less_ram(first, options), options)


def _in_rows(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan with values beside their arrays, where that saves RAM."""
    # What is not replayed is not proven.
    if not _has_copies(planned.plan, planned.target) or not is_replayable(planned.plan):
        return planned
    timing, decision, target = planned.space.timing, planned.decision, planned.target
    best = planned.plan

    def take(rows: Rows) -> None:
        nonlocal best
        plan = _plan(timing, decision, target, options, rows)
        best = plan if _is_smaller(plan, best, target) else best

    with improving("values in rows"), suppress(NoVersions), limited_effort():
        take(fold_rows(_beside(timing, decision), decision.routing))
    with improving("what is loaded in rows"), suppress(NoVersions), more_effort():
        take(_loaded_once(_beside(timing, decision), decision.routing))
    return replace(planned, plan=best)


def _loaded_once(beside: Beside, routing: Routing) -> Rows:
    """Return memories beside the arrays with which a value is loaded once, as far as that goes."""
    rows = fold_rows(beside, pass_loaded(beside, routing))
    rows = part_arrays(beside, keep_loaded(beside, rows))
    return replace(rows, routing=beside.stored(rows.routing, routing))


def _beside(timing: Timing, decision: Decision) -> Beside:
    return Beside(timing, decision.times, decision.regions)


def _has_copies(plan: KernelPlan, target: Target) -> bool:
    """Tell whether some memory may take more than one block RAM."""
    return block_rams(plan, target) > len(plan.memories)


def _is_smaller(one: KernelPlan, other: KernelPlan, target: Target) -> bool:
    """Tell whether a plan needs less RAM than another one."""
    return _ram_cost(one, target) < _ram_cost(other, target)


def _ram_cost(plan: KernelPlan, target: Target) -> int:
    placed = with_small_memories(plan, target)
    return DISTRIBUTED_BITS * block_rams(placed, target) + distributed_ram_bits(placed)


def _is_worth_banks(one: Planned, several: Planned) -> bool:
    """Tell whether banks save cycles, or at no more cycles block RAM."""
    if _cycles(several) < _cycles(one) * BANKING_GAIN:
        return True
    is_short = _cycles(several) <= _cycles(one)
    return is_short and block_ram_bits(several.plan) < block_ram_bits(one.plan)


def _copied_arrays(plan: KernelPlan) -> frozenset[str]:
    """Return the arrays of which there are copies, for several loads in one cycle."""
    return frozenset(m.name for m in plan.memories if m.read_ports > 1 and m.kind == "block")


def _may_start_earlier(planned: Planned, scop: Scop, array: str) -> bool:
    """Tell whether statements may have waited for the write port of an array."""
    writers = [s for s in scop.statements if s.write.array == array]
    return len(writers) > 1 and is_worth_search(_cycles(planned), planned.space.floor_iterations)


def _with_less_ram(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan with arrays in banks, where that saves copies of them."""
    given = [array.name for array in planned.analysis.scop.arrays if array.cuts]
    shared = _copied_arrays(planned.plan)
    derived = derived_cuts(planned.analysis.scop, given)
    cuts = {
        name: cut
        for name, cut in derived.items()
        if name in shared and not replace(planned.analysis.scop.array(name), cuts=cut).is_register
    }
    if not cuts:
        return planned
    analysis = in_banks(planned.analysis, cuts)
    space = planned.space.retimed(replace(planned.space.timing, sets=analysis.sets))
    # A bank is in fewer versions than an array may be.
    with suppress(NoVersions):
        plan = _plan(space.timing, planned.decision, planned.target, options)
        if block_ram_bits(plan) < block_ram_bits(planned.plan):
            return replace(planned, analysis=analysis, space=space, plan=plan)
    return planned


def _in_given_banks(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program with its arrays in the banks that they are in."""
    freely = replace(options, shifts={})
    sharing = _less_sharing(written, freely)
    best = _less_waiting(sharing, freely)
    planned = _settled(_with_ports(best.analysis, options) if options.shifts else best, options)
    return replace(planned, expanded=sharing.expanded)


def _settled(planned: Planned, options: CompileOptions) -> Planned:
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
    space = planned.space.retimed(reduce(with_wait, waits, timing))
    decision = decide_later(space, planned.decision)
    plan = _plan(space.timing, decision, planned.target, options)
    if predicted_cycles(plan) > predicted_cycles(planned.plan) + len(waits):
        return None
    return replace(planned, space=space, decision=decision, plan=plan)


def _less_sharing(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program with its temporaries as declared or expanded, as the options say."""
    # The other modes are baselines: they build what the program says.
    wider = expanded(written) if options.fuse == "mf3" and options.expand != "never" else None
    if wider is None:
        return _in_loops(written, options)
    if options.expand == "always":
        return _in_loops(wider, options)
    first = second = _in_loops(written, options)
    # More arrays and fewer dependences can be more to search through.
    with improving("temporaries that are expanded"):
        second = _in_loops(wider, options)
    is_worth_it = predicted_cycles(second.plan) < predicted_cycles(first.plan) * EXPANSION_GAIN
    return replace(second, expanded=Expanded(first.plan, second.plan)) if is_worth_it else first


def _less_waiting(plain: Planned, options: CompileOptions) -> Planned:
    """Plan a program with pauses and in skewed loops too, where it waits for its own results."""
    if options.fuse != "mf3":
        return plain
    best = _less_often_waiting(plain, options)
    if options.loops.chosen is not None:
        return best
    skewed: list[Planned] = []
    with improving("skewed loops"):
        for skews in find_skews(plain.space, plain.decision, plain.target, best.space):
            overlap = not skewed and any(skew.overlaps for skew in skews)
            analysis = in_skewed_loops(best.analysis, skews)
            skewed.append(_with_ports(analysis, options, may_overlap=overlap))
            # What others could save is not worth the search for it.
            if overlap and _cycles(skewed[0]) * SKEW_GAIN <= sum(skew.slots for skew in skews):
                break
    shortest = min(map(_cycles, skewed), default=_cycles(best))
    if shortest >= _cycles(best) * SKEW_GAIN:
        return best
    near = [each for each in skewed if _cycles(each) * RAM_GAIN <= shortest]
    if len(near) == 1:
        return near[0]
    # Whether values are soon read again, and rows of them will do, depends on the loops.
    return min(near, key=lambda each: (_ram_of_rows(each, options), _cycles(each)))


def _ram_of_rows(planned: Planned, options: CompileOptions) -> int:
    return _ram_cost(_in_rows(planned, options).plan, planned.target)


def _less_often_waiting(plain: Planned, options: CompileOptions) -> Planned:
    """Plan a program with pauses after some instances, where all wait for the sake of those."""
    paused = plain
    with improving("pauses"), suppress(NoClosedForm):
        pauses = find_pauses(plain.space, plain.decision)
        if not pauses:
            return plain
        paused = _with_ports(with_pauses(plain.analysis, pauses), options)
    is_worth_it = predicted_cycles(paused.plan) < predicted_cycles(plain.plan) * PAUSE_GAIN
    return paused if is_worth_it else plain


def _in_loops(analysis: Analysis, options: CompileOptions) -> Planned:
    """Plan a program in the loops of the scheduler that was chosen, if one was."""
    return _with_ports(in_chosen_loops(analysis, options.loops), options)


def _with_ports(
    analysis: Analysis, options: CompileOptions, *, may_overlap: bool = False
) -> Planned:
    """Plan a program with one write port an array, or with as many as are worth it.

    All statements share one loop unless that is too complex, or takes longer than they do apart.

    Parameters
    ----------
    may_overlap: whether iterations of an outer loop may share rows.
    """
    timing = replace(timing_of(analysis, get_target(options.target)), may_overlap=may_overlap)
    free = Space(timing, analysis.scop, analysis.in_order, pauses=analysis.pauses)
    if options.fuse != "mf3":
        return _plan_of(analysis, options, free)
    try:
        with limited_effort():
            fused = _in_one_loop(analysis, options, free)
    except TooComplex as error:
        if options.shifts:
            raise
        why = f"the search for one loop is too complex: {error.diagnostic.notes[0]}"
        with more_effort():
            return min(_in_regions(analysis, options, free, why), key=_cycles)
    is_short = not is_worth_search(_cycles(fused), free.floor_iterations)
    if options.shifts or is_short or _cycles(fused) <= cycles_apart(free):
        return fused
    why = f"the search for one loop found none with fewer than {_cycles(fused):,} cycles"
    return min(fused, *_in_regions(analysis, options, free, why), key=_cycles)


def _cycles(planned: Planned) -> int:
    return predicted_cycles(planned.plan)


def _in_regions(
    analysis: Analysis, options: CompileOptions, free: Space, why: str
) -> list[Planned]:
    """Plan a program in the nests that it has, some of them fused or none."""

    def joined(space: Space) -> Decision:
        return decide_regions(space, shortest_regions(space), why)

    def apart(space: Space) -> Decision:
        return decide_regions(space, [[unit] for unit in space.timing.units], why)

    written = free.as_written()
    found = [_plan_of(analysis, options, written, apart)]
    with improving("nests that share loops"):
        found.insert(0, _plan_of(analysis, options, written, joined))
    return found


def _in_one_loop(analysis: Analysis, options: CompileOptions, free: Space) -> Planned:
    """Plan a program with all statements in one loop."""
    try:
        several = _plan_of(analysis, options, free.retimed(with_versions(free.timing)))
    except NoVersions:
        return _plan_of(analysis, options, free)
    # Where nothing is kept apart, often no two stores meet all the same.
    if all(memory.write_ports == 1 for memory in several.plan.memories):
        return several
    if options.write_ports != "one":
        free = free.within(int(_cycles(several) / BANKING_GAIN))
    if options.write_ports == "one":
        return _plan_of(analysis, options, free)
    one = several
    with improving("stores through one port an array"), suppress(NoClosedForm):
        one = _plan_of(analysis, options, free)
    return several if _cycles(several) < _cycles(one) * BANKING_GAIN else one


def _plan_of(
    analysis: Analysis,
    options: CompileOptions,
    space: Space,
    decide: Callable[[Space], Decision] | None = None,
) -> Planned:
    """Plan a program as the options say, or as `decide` does."""
    target = get_target(options.target)

    def attempt(tried: Space) -> Planned:
        decision = decide(tried) if decide else _decide(analysis, tried, options)
        plan = _plan(tried.timing, decision, target, options)
        return Planned(analysis, tried, decision, plan, target)

    planned = relaxing(space, attempt)
    is_relaxed = planned.space.timing.memory_only > space.timing.memory_only
    if is_relaxed and any(p.overlaps for p in planned.decision.placements.values()):
        # Where rows are shared, less can be said of how old values are, and they go by a memory.
        with improving("sweeps that do not overlap"):
            apart = replace(space.timing, may_overlap=False)
            return min(planned, relaxing(space.retimed(apart), attempt), key=_cycles)
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


def _plan(
    timing: Timing,
    decision: Decision,
    target: Target,
    options: CompileOptions,
    rows: Rows | None = None,
) -> KernelPlan:
    times = decision.times
    rows, versions = _with_versions(timing, decision, rows)
    plan = lower(
        timing,
        decision.regions,
        times,
        rows,
        assign_read_ports(timing, times, rows.routing),
        versions,
        Figures(
            decision.shifts,
            decision.ii_reasons,
            decision.fused_iterations,
            decision.floor_iterations,
        ),
        target,
        PlanOptions(options.index_style, options.index_latency_cycles, options.checksum),
    )
    if rows.memories and not is_replayable(plan):
        raise NoVersions(rows.memories[0].array.name)
    return plan


def _with_versions(
    timing: Timing, decision: Decision, rows: Rows | None
) -> tuple[Rows, VersionMap]:
    """Return what is in rows and the versions of what is not; None: in rows where it needs to be.

    What is in rows needs no versions.
    """
    times = decision.times
    if rows is None:
        rows = without_rows(decision.routing)
        with suppress(NoVersions):
            return rows, assign_versions(timing, times, rows.routing)
        rows = fold_rows(_beside(timing, decision), decision.routing)
    return rows, assign_versions(timing, times, rows.routing)
