"""Which form of a program is built: the one with the fewest cycles.

The same program can have its temporaries expanded, its loops skewed, its arrays in several banks,
and its statements in one loop or in several. Each form is planned in full, and compared by the
cycles of its plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, limited_effort, more_effort, spare_effort
from rtlgen.ir.partial_products import blocks_of
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.ram_copies import block_ram_bits
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import PORT_TOLERANCE, TOLERANCE, is_worth_search
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import (
    Analysis,
    cut_into_strips,
    expanded,
    in_banks,
    in_chosen_loops,
    in_skewed_loops,
    with_pauses,
)
from rtlgen.planning.planned import Expanded, Planned, cycles_of, lowered
from rtlgen.planning.rows import in_rows, ram_cost
from rtlgen.planning.timing import least_cycles, timing_of
from rtlgen.planning.waits import (
    multipliers_of,
    takes_too_many,
    with_own_parts,
    with_settled,
    with_shared_multipliers,
)
from rtlgen.poly.errors import UnknownStatement
from rtlgen.poly.legality import find_violation, illegal_shift
from rtlgen.poly.piecewise import NoClosedForm
from rtlgen.scheduling.decide import (
    Decision,
    decide_fused,
    decide_sequential,
    decide_shifted,
    iteration_shifts,
    relaxing,
)
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.pausing import find_pauses
from rtlgen.scheduling.regions import (
    cycles_apart,
    decide_regions,
    lanes_together,
    shortest_regions,
)
from rtlgen.scheduling.skewing import find_skews
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.store_bounds import fewest_cycles
from rtlgen.scheduling.stripping import find_strips
from rtlgen.scheduling.versions import NoVersions, with_versions
from rtlgen.target import get_target
from rtlgen.transforms.derive_banks import derived_cuts
from rtlgen.transforms.ols import ols_applicability
from rtlgen.transforms.outer_shift import outer_loop_shift
from rtlgen.transforms.units import Unit


def choose_plan(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program in the form and the loops with the fewest cycles, as far as it is free."""
    planned = with_own_parts(_choose_form(written, options), options)
    if options.fuse != "mf3" or not takes_too_many(planned, options):
        return planned
    apart = planned
    with improving("regions that share multipliers"):
        found = _in_sharing_regions(planned, options)
        if found is None:
            return planned
        found = with_shared_multipliers(with_settled(found, options), options)
        apart = with_own_parts(found, options)
    return min(planned, apart, key=multipliers_of)


def _in_sharing_regions(fused: Planned, options: CompileOptions) -> Planned | None:
    """Plan a program in regions that run one after another and share their multipliers.

    None: all of its statements have to be in one.

    Parameters
    ----------
    fused: the program in one region, which takes more multipliers than it may.
    """
    analysis = fused.analysis
    blocks = Counter[str]()
    for stream in fused.plan.streams:
        for op in stream.operations:
            blocks[stream.statement] += blocks_of(op, stream.operations)

    def fits(units: Sequence[Unit]) -> bool:
        taken = sum(blocks[name] for unit in units for name in unit.statements)
        return options.max_dsp is not None and taken <= options.max_dsp

    def apart(space: Space) -> Decision:
        why = f"all statements at once take {multipliers_of(fused)} multiplier blocks"
        return decide_regions(space, shortest_regions(space, lanes_together(space), fits), why)

    timing = timing_of(analysis, fused.target)
    space = Space(timing, analysis.scop, analysis.in_order, pauses=analysis.pauses).as_written()
    if len(lanes_together(space)) == 1:
        return None
    if options.write_ports != "one":
        with suppress(NoVersions):
            return _plan_of(analysis, options, space.retimed(with_versions(timing)), apart)
    return _plan_of(analysis, options, space, apart)


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
                return _in_settled_rows(second, options)
    return _in_settled_rows(_with_less_ram(first, options), options)


def _in_settled_rows(planned: Planned, options: CompileOptions) -> Planned:
    """Return the same plan in rows, whose words settle as others do where they are chosen from."""
    rows = in_rows(planned, options)
    if rows.plan is planned.plan:
        return rows
    settled = with_settled(rows, options)
    if settled is rows:
        return rows
    later = in_rows(settled, options)
    if ram_cost(later) > ram_cost(rows):
        return rows
    # What settles in a stage of its own can end the run a cycle later.
    return later if cycles_of(later) * PORT_TOLERANCE <= cycles_of(planned) else planned


def _is_worth_banks(one: Planned, several: Planned) -> bool:
    """Tell whether banks save cycles, or at no more cycles block RAM."""
    if cycles_of(several) < cycles_of(one) * PORT_TOLERANCE:
        return True
    is_short = cycles_of(several) <= cycles_of(one)
    return is_short and block_ram_bits(several.plan) < block_ram_bits(one.plan)


def _copied_arrays(plan: KernelPlan) -> frozenset[str]:
    """Return the arrays of which there are copies, for several loads in one cycle."""
    return frozenset(m.name for m in plan.memories if m.read_ports > 1 and m.kind == "block")


def _may_start_earlier(planned: Planned, scop: Scop, array: str) -> bool:
    """Tell whether statements may have waited for the write port of an array."""
    writers = [s for s in scop.statements if s.write.array == array]
    return len(writers) > 1 and is_worth_search(cycles_of(planned), planned.space.floor_iterations)


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
        plan = lowered(space.timing, planned.decision, planned.target, options)
        if block_ram_bits(plan) < block_ram_bits(planned.plan):
            return replace(planned, analysis=analysis, space=space, plan=plan)
    return planned


def _in_given_banks(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program with its arrays in the banks that they are in."""
    freely = replace(options, shifts={})
    sharing = _less_sharing(written, freely)
    best = _less_waiting(sharing, freely)
    if options.shifts:
        best = _with_ports(best.analysis, options)
    best = with_shared_multipliers(with_settled(best, options), options)
    return replace(best, expanded=sharing.expanded)


def _less_sharing(written: Analysis, options: CompileOptions) -> Planned:
    """Plan a program with its temporaries as declared or expanded, as the options say."""
    # The other modes are baselines: they build what the program says.
    wider = expanded(written) if options.fuse == "mf3" and options.expand != "never" else None
    if wider is None:
        return _in_loops(written, options)
    if options.expand == "always":
        return _in_loops(wider, options)
    least = fewest_cycles(written.sets) * TOLERANCE
    if fewest_cycles(wider.sets) < least:
        # What is wrong with banks is told of the arrays as declared.
        with suppress(TooComplex, BankContended, BankUnknown), spare_effort():
            second = _in_loops(wider, options)
            if predicted_cycles(second.plan) < least:
                # Whatever is planned for the program as declared takes longer.
                before = cache(lambda: _in_loops(written, options).plan)
                return replace(second, expanded=Expanded(before, second.plan))
    first = second = _in_loops(written, options)
    if not _may_take_less(timing_of(wider, first.target), first, TOLERANCE, options):
        return first
    # More arrays and fewer dependences can be more to search through.
    with improving("temporaries that are expanded"):
        second = _in_loops(wider, options)
    is_worth_it = predicted_cycles(second.plan) < predicted_cycles(first.plan) * TOLERANCE
    found = Expanded(lambda: first.plan, second.plan)
    return replace(second, expanded=found) if is_worth_it else first


def _less_waiting(plain: Planned, options: CompileOptions) -> Planned:
    """Plan a program with pauses and in skewed loops too, where it waits for its own results."""
    if options.fuse != "mf3":
        return plain
    if options.loops.chosen is not None:
        return _less_often_waiting(plain, options)
    plain = _in_strips(plain, options)
    best = _less_often_waiting(plain, options)
    if not _may_take_less(best.space.timing, best, TOLERANCE, options):
        return best
    skewed: list[Planned] = []
    with improving("skewed loops"):
        for skews in find_skews(plain.space, plain.decision, plain.target, best.space):
            overlap = not skewed and any(skew.overlaps for skew in skews)
            analysis = in_skewed_loops(best.analysis, skews)
            skewed.append(_with_ports(analysis, options, may_overlap=overlap))
            # What others could save is not worth the search for it.
            if overlap and cycles_of(skewed[0]) * TOLERANCE <= sum(skew.slots for skew in skews):
                break
    shortest = min(map(cycles_of, skewed), default=cycles_of(best))
    if shortest >= cycles_of(best) * TOLERANCE:
        return best
    near = [each for each in skewed if cycles_of(each) * PORT_TOLERANCE <= shortest]
    if len(near) == 1:
        return near[0]
    # Whether values are soon read again, and rows of them will do, depends on the loops.
    return min(near, key=lambda each: (ram_cost(in_rows(each, options)), cycles_of(each)))


def _in_strips(plain: Planned, options: CompileOptions) -> Planned:
    """Plan a program with loops in strips, where statements wait for sums that take turns."""
    if not is_worth_search(cycles_of(plain), plain.space.floor_iterations):
        return plain
    if not _may_take_less(plain.space.timing, plain, TOLERANCE, options):
        return plain
    sizes = find_strips(plain.analysis.written, plain.space, plain.decision)
    cut = plain
    if sizes:
        with improving("loops in strips"):
            cut = _with_ports(cut_into_strips(plain.analysis, sizes), options)
    return cut if cycles_of(cut) < cycles_of(plain) * TOLERANCE else plain


def _less_often_waiting(plain: Planned, options: CompileOptions) -> Planned:
    """Plan a program with pauses after some instances, where all wait for the sake of those."""
    paused = plain
    if not _may_take_less(plain.space.timing, plain, TOLERANCE, options):
        return plain
    with improving("pauses"), suppress(NoClosedForm):
        pauses = find_pauses(plain.space, plain.decision)
        if not pauses:
            return plain
        paused = _with_ports(with_pauses(plain.analysis, pauses), options)
    is_worth_it = predicted_cycles(paused.plan) < predicted_cycles(plain.plan) * TOLERANCE
    return paused if is_worth_it else plain


def _may_take_less(timing: Timing, best: Planned, gain: float, options: CompileOptions) -> bool:
    """Tell whether a form of a program may take fewer cycles than `gain` times those of a plan.

    Where its values come one after another for so long, it does not in any order.
    """
    return least_cycles(timing, best.target, options) < cycles_of(best) * gain


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
            return min(_in_regions(analysis, options, free, why), key=cycles_of)
    is_short = not is_worth_search(cycles_of(fused), free.floor_iterations)
    is_short = is_short or not _may_take_less(timing, fused, 1.0, options)
    if options.shifts or is_short or cycles_of(fused) <= cycles_apart(free):
        return fused
    why = f"the search for one loop found none with fewer than {cycles_of(fused):,} cycles"
    return min(fused, *_in_regions(analysis, options, free, why), key=cycles_of)


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
        free = free.within(int(cycles_of(several) / PORT_TOLERANCE))
    if options.write_ports == "one":
        return _plan_of(analysis, options, free)
    one = several
    with improving("stores through one port an array"), suppress(NoClosedForm):
        one = _plan_of(analysis, options, free)
    return several if cycles_of(several) < cycles_of(one) * PORT_TOLERANCE else one


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
