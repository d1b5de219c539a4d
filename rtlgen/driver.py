"""The compiler, as a list of passes.

    parse -> expand -> normalise [-> reschedule -> tile -> wavefront] [-> skew]
          -> distribute -> permute -> pad -> flatten -> fuse -> plan

Every pass takes the program of the one before. After each one the legality checker judges the new
schedule against the dependences of the program as written, and the finished plan is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from rtlgen.analysis import (
    Analysis,
    analyse,
    expanded,
    in_chosen_loops,
    in_skewed_loops,
    strided_statements,
)
from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.frontend import ParsedProgram, parse_file
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, limited_effort, more_effort
from rtlgen.ir.plan import IndexStyle, KernelPlan
from rtlgen.ir.schedule import FlatDim, ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.poly.errors import NoLegalSchedule, UnknownStatement
from rtlgen.poly.legality import find_violation, illegal_shift, require_legal
from rtlgen.poly.pluto.components import Fusion
from rtlgen.scheduling.banks import Unbankable, assign_banks, with_banks
from rtlgen.scheduling.datapath import build_datapath
from rtlgen.scheduling.decide import (
    Decision,
    StoresCollide,
    decide_fused,
    decide_sequential,
    decide_shifted,
    iteration_shifts,
    with_apart,
    with_memory_only,
)
from rtlgen.scheduling.forwarding import Unforwardable
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.lower import Figures, PlanOptions, lower
from rtlgen.scheduling.ports import assign_read_ports
from rtlgen.scheduling.regions import cycles_apart, decide_regions, shortest_regions
from rtlgen.scheduling.replay import replay
from rtlgen.scheduling.skewing import find_skews
from rtlgen.scheduling.space import Space
from rtlgen.target import Target, get_target
from rtlgen.transforms.candidates import Placement, box_placement, placement
from rtlgen.transforms.distribute import distribute
from rtlgen.transforms.flatten import flatten
from rtlgen.transforms.fuse import fuse
from rtlgen.transforms.loop_schedule import LoopOptions, Scheduler
from rtlgen.transforms.ols import ols_applicability
from rtlgen.transforms.outer_shift import outer_loop_shift
from rtlgen.transforms.pad import pad
from rtlgen.transforms.period import self_distance
from rtlgen.transforms.permute import permute
from rtlgen.transforms.precedence import Precedence, Related
from rtlgen.transforms.ragged import ragged_loops, ragged_statements

FuseMode: TypeAlias = Literal["mf3", "ols", "none"]
FUSE_MODES: tuple[FuseMode, ...] = ("mf3", "ols", "none")

ExpandMode: TypeAlias = Literal["auto", "never", "always"]
EXPAND_MODES: tuple[ExpandMode, ...] = ("auto", "never", "always")

WritePorts: TypeAlias = Literal["auto", "one"]
WRITE_PORTS: tuple[WritePorts, ...] = ("auto", "one")

SKEW_GAIN = 0.98
"""Share of the cycles below which skewed loops are worth their subscripts."""

EXPANSION_GAIN = 0.98
"""Share of the cycles below which an expansion is worth its memory."""

BANKING_GAIN = 0.995
"""Share of the cycles below which several write ports are worth their memory."""

PASSES = (
    "parse", "expand", "normalise", "reschedule", "tile", "wavefront", "skew", "distribute",
    "permute", "pad", "flatten", "fuse", "plan",
)  # fmt: skip
TRANSFORMS = PASSES[:-1]
"""The passes whose result is a program."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Everything that decides what is built.

    Members
    -------
    defines: macro or scalar parameter -> text, as given by -D.
    shifts: statement -> MF3 shift that replaces the compiler's.
    index_latency_cycles: pipeline depth of the index recovery, None for the target's choice.
    scheduler, fusion, tile, wavefront: see `LoopOptions`.
    expand: whether temporaries are expanded; auto: where that shortens the fused loop.
    write_ports: how many an array may have; auto: several where that shortens the fused loop.
    """

    function: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()
    target: str = "ecp5"
    fuse: FuseMode = "mf3"
    shifts: Mapping[str, int] = field(default_factory=dict)
    index_style: IndexStyle = "odometer"
    index_latency_cycles: int | None = None
    checksum: bool = False
    expand: ExpandMode = "auto"
    write_ports: WritePorts = "auto"
    scheduler: Scheduler | None = None
    fusion: Fusion = "smart"
    tile: tuple[int, ...] = ()
    wavefront: bool = False

    @property
    def loops(self) -> LoopOptions:
        """Which loops the program is brought into before it is flattened."""
        return LoopOptions(self.scheduler, self.fusion, self.tile, self.wavefront)


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """A compiled program.

    Members
    -------
    stages: the program after every pass, by name.
    replayed: whether the plan was small enough to be replayed exhaustively.
    """

    analysis: Analysis
    decision: Decision
    stages: Mapping[str, Scop]
    plan: KernelPlan
    target: Target
    replayed: bool

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.analysis.warnings


@dataclass(frozen=True, slots=True, eq=False)
class _Planned:
    """A plan that nobody has proven yet."""

    analysis: Analysis
    space: Space
    decision: Decision
    plan: KernelPlan
    target: Target


def parse(path: Path, options: CompileOptions) -> ParsedProgram:
    """Read a C file; see `rtlgen.frontend.parse_file` for what it raises."""
    return parse_file(
        path,
        function=options.function,
        defines=options.defines,
        include_dirs=options.include_dirs,
    )


def compile_program(program: ParsedProgram, options: CompileOptions) -> Compilation:
    """Compile a parsed program to a KernelPlan.

    Raises
    ------
    RtlgenError: the program or an option is refused.
    """
    with quoting(program), limited_effort():
        try:
            planned = _chosen(analyse(program), options)
        except NoLegalSchedule:
            strided = strided_statements(program.scop)
            if not strided:
                raise
            # In a cycle, a statement may have to keep step with others that run more often.
            planned = _chosen(analyse(program, strided), options)
        return _proven(planned, options)


def _chosen(written: Analysis, options: CompileOptions) -> _Planned:
    """Plan a program in the form and the loops with the fewest cycles, as far as it is free."""
    freely = replace(options, shifts={})
    best = _less_waiting(_less_sharing(written, freely), freely)
    return _with_ports(best.analysis, options) if options.shifts else best


def _less_sharing(written: Analysis, options: CompileOptions) -> _Planned:
    """Plan a program with its temporaries as declared or expanded, as the options say."""
    # The other modes are baselines: they build what the program says.
    wider = expanded(written) if options.fuse == "mf3" and options.expand != "never" else None
    if wider is None:
        return _in_loops(written, options)
    if options.expand == "always":
        return _in_loops(wider, options)
    first = _in_loops(written, options)
    try:
        second = _in_loops(wider, options)
    except TooComplex:
        # More arrays and fewer dependences can be more to search through.
        return first
    is_worth_it = predicted_cycles(second.plan) < predicted_cycles(first.plan) * EXPANSION_GAIN
    return second if is_worth_it else first


def _less_waiting(plain: _Planned, options: CompileOptions) -> _Planned:
    """Plan a program in skewed loops too, where it waits for its own results."""
    if options.loops.chosen is not None or options.fuse != "mf3":
        return plain
    best, limit = plain, predicted_cycles(plain.plan) * SKEW_GAIN
    try:
        for skews in find_skews(plain.space, plain.decision, plain.target):
            skewed = _with_ports(in_skewed_loops(plain.analysis, skews), options)
            cycles = predicted_cycles(skewed.plan)
            if cycles < limit:
                best, limit = skewed, cycles
    except TooComplex:
        # What was found so far is as good as it was.
        pass
    return best


def _in_loops(analysis: Analysis, options: CompileOptions) -> _Planned:
    """Plan a program in the loops of the scheduler that was chosen, if one was."""
    return _with_ports(in_chosen_loops(analysis, options.loops), options)


def _with_ports(analysis: Analysis, options: CompileOptions) -> _Planned:
    """Plan a program with one write port an array, or with as many as are worth it.

    All statements share one loop unless that is too complex, or takes longer than they do apart.
    """
    timing = _timing(analysis, get_target(options.target))
    free = Space(timing, analysis.scop, analysis.in_order)
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
    if options.shifts or _cycles(fused) <= cycles_apart(free):
        return fused
    why = f"the search for one loop found none with fewer than {_cycles(fused):,} cycles"
    return min(fused, *_in_regions(analysis, options, free, why), key=_cycles)


def _cycles(planned: _Planned) -> int:
    return predicted_cycles(planned.plan)


def _in_regions(
    analysis: Analysis, options: CompileOptions, free: Space, why: str
) -> list[_Planned]:
    """Plan a program in the nests that it has, some of them fused or none."""

    def joined(space: Space) -> Decision:
        return decide_regions(space, shortest_regions(space), why)

    def apart(space: Space) -> Decision:
        return decide_regions(space, [[unit] for unit in space.timing.units], why)

    written = free.as_written()
    return [_plan_of(analysis, options, written, decide) for decide in (joined, apart)]


def _in_one_loop(analysis: Analysis, options: CompileOptions, free: Space) -> _Planned:
    """Plan a program with all statements in one loop."""
    try:
        several = _plan_of(analysis, options, free.retimed(with_banks(free.timing)))
    except Unbankable:
        return _plan_of(analysis, options, free)
    # Where nothing is kept apart, often no two stores meet all the same.
    if all(memory.write_ports == 1 for memory in several.plan.memories):
        return several
    try:
        one = _plan_of(analysis, options, free)
    except TooComplex:
        if options.write_ports == "one":
            raise
        return several
    if options.write_ports == "one":
        return one
    return several if _cycles(several) < _cycles(one) * BANKING_GAIN else one


@contextmanager
def quoting(program: ParsedProgram) -> Iterator[None]:
    """Give errors that are raised inside the source text that their spans refer to."""
    try:
        yield
    except RtlgenError as error:
        error.sources = program.sources
        raise


def _plan_of(
    analysis: Analysis,
    options: CompileOptions,
    space: Space,
    decide: Callable[[Space], Decision] | None = None,
) -> _Planned:
    """Plan a program as the options say, or as `decide` does."""
    target = get_target(options.target)
    while True:
        try:
            decision = decide(space) if decide else _decide(analysis, space, options)
            plan = _plan(space.timing, decision, target, options)
            return _Planned(analysis, space, decision, plan, target)
        except Unforwardable as barred:
            space = space.retimed(with_memory_only(space.timing, barred.flow))
        except StoresCollide as collision:
            space = space.retimed(with_apart(space.timing, collision.pairs))


def _proven(planned: _Planned, options: CompileOptions) -> Compilation:
    """Judge the program after every pass, and the plan."""
    analysis, decision, plan = planned.analysis, planned.decision, planned.plan
    stages = dict(_transformed(analysis, decision, options))
    placed = stages["flatten"].schedule
    replayed = replay(plan, analysis.scop, analysis.scop.schedule, placed)
    return Compilation(analysis, decision, stages, plan, planned.target, replayed)


def _timing(analysis: Analysis, target: Target) -> Timing:
    scop = analysis.scop
    datapaths = {}
    ragged = ragged_statements(analysis.sets, analysis.units)
    if analysis.skewed is not None:
        ragged |= analysis.skewed.statements
    related = Related(scop, ragged)
    for statement in scop.statements:
        loops = scop.schedule.loops(statement.name)
        box = {str(x.iterator): (x.at, x.at + x.extent - 1) for x in loops}
        late = _recurrent_reads(analysis, related, statement.name)
        datapaths[statement.name] = build_datapath(scop, statement, box, target, late)
    return Timing(
        analysis.sets,
        analysis.units,
        datapaths,
        analysis.dependences,
        analysis.flows,
        related,
    )


def _recurrent_reads(analysis: Analysis, related: Related, statement: str) -> dict[int, int]:
    """Return the reads whose value comes from the statement's own unit, with its smallest age.

    The age is counted in iterations of the nest as written; a value of another statement of the
    unit counts as new.
    """
    unit = next(unit for unit in analysis.units if statement in unit.statements)
    written = _as_written(analysis, related, statement)
    ages: dict[int, int] = {}
    for flow in analysis.flows.flows:
        if flow.sink != statement or flow.source not in unit.statements:
            continue
        age = 1
        if flow.source == statement:
            pairs = related.of(flow)
            assert pairs is not None, "a flow relates some instances"
            age = self_distance(Precedence(statement, statement, 0, pairs, flow), written)
        ages[flow.sink_read] = min(age, ages.get(flow.sink_read, age))
    return ages


def _as_written(analysis: Analysis, related: Related, statement: str) -> Placement:
    """Return the iterations of a statement in the order of the program."""
    iterators = analysis.scop.statement(statement).iterators
    loops = analysis.scop.schedule.loops(statement)
    if statement in related.ragged:
        exact = ragged_loops(analysis.sets.domains[statement], iterators, loops)
        return placement(exact, iterators) or box_placement(loops, iterators)
    return box_placement(loops, iterators)


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


def _transformed(
    analysis: Analysis, decision: Decision, options: CompileOptions
) -> Iterator[tuple[str, Scop]]:
    """Yield the program after every pass, each judged by the legality checker."""

    def judged(scop: Scop, what: str) -> Scop:
        require_legal(analysis.sets, analysis.dependences, scop.schedule, what)
        return scop

    scop = analysis.program.scop
    for name in PASSES[: PASSES.index("distribute")]:
        # Without a scheduler the passes over loops leave the program as it was.
        scop = analysis.earlier.get(name, scop)
        yield name, scop
    scop = judged(distribute(scop, analysis.units), "distributing the statements into nests")
    yield "distribute", scop
    single = [unit.statements[0] for unit in analysis.units if len(unit.statements) == 1]
    for name in single:
        loops = decision.placements[name].loops
        scop = permute(scop, name, [x.iterator for x in loops if x.iterator is not None])
    yield "permute", judged(scop, "interchanging loops")
    for name in single:
        scop = pad(scop, name, decision.placements[name].loops)
    yield "pad", judged(scop, "padding loops")
    for number, unit in enumerate(analysis.units):
        flats = {
            name: decision.placements[name].flat(decision.nest_shifts[name])
            for name in unit.statements
        }
        scop = flatten(scop, number, flats)
    scop = judged(scop, "flattening nests")
    yield "flatten", scop
    if options.fuse != "none":
        yield "fuse", judged(fuse(scop, decision.shifts, decision.regions), "fusing nests")


def _plan(
    timing: Timing, decision: Decision, target: Target, options: CompileOptions
) -> KernelPlan:
    return lower(
        timing,
        decision.regions,
        decision.times,
        decision.routing,
        assign_read_ports(timing, decision.times, decision.routing),
        assign_banks(timing, decision.times, decision.routing),
        Figures(
            decision.shifts,
            decision.ii_reasons,
            decision.fused_iterations,
            decision.floor_iterations,
        ),
        target,
        PlanOptions(options.index_style, options.index_latency_cycles, options.checksum),
    )
