"""Plan one form of a program: its statements in one loop or several, with one write port or more.

All statements share one loop, unless that is too complex or takes longer than they do apart. An
array has one write port, or as many as save cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from rtlgen.ir.effort import TooComplex, improving, limited_effort, more_effort
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.tolerance import PORT_TOLERANCE, is_worth_search
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, in_chosen_loops
from rtlgen.planning.planned import Planned, Tried, cycles_of, lowered
from rtlgen.planning.timing import least_cycles, timing_of
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
from rtlgen.scheduling.regions import cycles_apart, decide_regions, shortest_regions
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.versions import NoVersions, with_versions
from rtlgen.target import get_target
from rtlgen.transforms.ols import ols_applicability
from rtlgen.transforms.outer_shift import outer_loop_shift

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
    """Plan a program with one write port an array, or with as many as are worth it.

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
    if options.shifts or is_short or cycles_of(fused) <= cycles_apart(free):
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
    try:
        several = plan_of(analysis, options, free.retimed(with_versions(free.timing)))
    except NoVersions:
        return plan_of(analysis, options, free)
    # Where nothing is kept apart, often no two stores meet all the same.
    if all(memory.write_ports == 1 for memory in several.plan.memories):
        return several
    if options.write_ports != "one":
        free = free.within(int(cycles_of(several) / PORT_TOLERANCE))
    if options.write_ports == "one":
        return plan_of(analysis, options, free)
    one = several
    with improving("stores through one port an array"), suppress(NoClosedForm):
        one = plan_of(analysis, options, free)
    if cycles_of(several) < cycles_of(one) * PORT_TOLERANCE:
        return _having_tried(several, ONE_PORT, one, several)
    return one if one is several else _having_tried(one, ONE_PORT, one, several)


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
