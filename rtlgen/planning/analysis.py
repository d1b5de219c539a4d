"""What the polyhedral half knows of a program, and the program after every pass.

What the polyhedral half knows of a program before any nest of it is flattened.

parse -> prune [-> unroll] -> fold [-> expand] -> normalise [-> reschedule -> tile -> wavefront]

The program after every pass, as what was decided for it asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.bank_map import Cut
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.split_loops import split_strides
from rtlgen.memories.banks import with_cuts
from rtlgen.nests.candidates import Ranking, ragged_statements
from rtlgen.nests.pauses import Pause
from rtlgen.options import CompileOptions, LoopOptions
from rtlgen.options.passes import TRANSFORMS
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.poly.dependences import Dataflow, Dependence, dataflow, memory_dependences, same_values
from rtlgen.poly.liveness import require_written, useless_statements
from rtlgen.poly.lookups import bounded_lookups, unproven_lookups, with_told, with_windows
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.errors import NothingObservable, NothingToBuild
from rtlgen.source import Span
from rtlgen.transforms.fuse import distribute, flatten, fuse, pad, permute
from rtlgen.transforms.lanes import LaneWishes, unroll
from rtlgen.transforms.loop_schedule import Scheduled, schedule_loops
from rtlgen.transforms.normalise import normalise, strided_statements
from rtlgen.transforms.simplify import constant_arrays, folded_and_live, without_dead
from rtlgen.transforms.skew import Skew, Skewed, skew
from rtlgen.transforms.storage import UNLIMITED, ExpandedProgram, Expansion, expand
from rtlgen.transforms.strips import in_strips
from rtlgen.transforms.units import Unit, dependence_units


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What the polyhedral half knows of a program before it is flattened.

    Members
    -------
    program: as parsed; unrolled: its live statements, with loops in lanes; written: the same,
        constants folded, and perhaps with temporaries expanded.
    scop: `written`, normalised, in the loops of a scheduler if one was chosen; sets: the isl view
        of scop.
    earlier: the programs before `scop`, by pass. scheduled: the scheduler's answer.
    skewed: the units that were given skewed loops. pauses: the statements that were given pauses.
    kept: strided statements that run in all iterations. expansions: of the temporaries.
    warnings: of the front end, and about statements that do nothing or read nothing.
    ranking: how iterations of nests that are no boxes are ranked, see there.
    """

    program: ParsedProgram
    unrolled: Scop
    written: Scop
    scop: Scop
    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow
    units: tuple[Unit, ...]
    earlier: Mapping[str, Scop]
    scheduled: Scheduled | None = None
    skewed: Skewed | None = None
    pauses: tuple[Pause, ...] = ()
    kept: frozenset[str] = frozenset()
    expansions: tuple[Expansion, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    ranking: Ranking = "free"

    @property
    def folded(self) -> frozenset[str]:
        """The statements that run in the program, but compute nothing that is not known or used."""
        left = {statement.name for statement in self.written.statements}
        sets = ScopSets(self.unrolled)
        missing = (s.name for s in self.unrolled.statements if s.name not in left)
        return frozenset(name for name in missing if not sets.domains[name].is_empty())

    @property
    def in_order(self) -> frozenset[str]:
        """The statements whose loops were chosen already, order and all."""
        if self.scheduled is not None:
            return frozenset(self.sets.domains)
        return frozenset() if self.skewed is None else self.skewed.in_order

    @property
    def written_dependences(self) -> tuple[Dependence, ...]:
        """The dependences between instances in the loops of the C program."""
        changed = self.scheduled or self.skewed
        return self.dependences if changed is None else changed.written


def examine(program: ParsedProgram) -> Analysis:
    """Judge a program as it was parsed, and compute its dependences, those of dead statements, too.

    Raises
    ------
    NothingObservable, NothingToBuild, OutOfBounds, LookupOutOfRange, ReadBeforeWrite, TooComplex
    """
    _require_observable(program.scop, program.scop.statements)
    with limited_effort():
        require_in_bounds(ScopSets(program.scop))
        analysis = _aligned(program, program.scop, program.scop, frozenset(), ())
        warnings = (*program.warnings, *_judged(analysis))
        told = replace(program, scop=with_told(program.scop, analysis.scop))
        return replace(analysis, program=told, warnings=warnings)


def live_program(examined: Analysis) -> ParsedProgram:
    """Return an examined program without its dead statements, and all that is to be said of it.

    Raises
    ------
    NothingObservable: none is live. RewriteUnsound: some value would be another one. TooComplex
    """
    program = examined.program
    with limited_effort():
        proven = with_windows(program.scop, examined.scop)
        scop = without_dead(proven, examined.sets, examined.flows)
    run = {statement.name for statement in examined.scop.statements}
    _require_observable(scop, [each for each in scop.statements if each.name in run])
    message = "the parameter `{}` is used by dead statements only, and gets no port"
    unused = _without_port(program.scop, scop, message)
    return replace(program, scop=scop, warnings=(*examined.warnings, *unused))


def _without_port(before: Scop, after: Scop, message: str) -> list[Diagnostic]:
    """Return a warning for each parameter that a program has lost."""
    left = _parameters_of(after)
    return [
        Diagnostic("W0102", message.format(name), (Label(span),), severity="warning")
        for name, span in _parameters_of(before).items()
        if name not in left
    ]


def _parameters_of(scop: Scop) -> dict[str, Span]:
    """Return the parameters that statements use, and where they are declared."""
    arrays = {array.name: array.span for array in scop.arrays if array.storage == "parameter"}
    return {**arrays, **{scalar.name: scalar.span for scalar in scop.scalars}}


def analyse(
    program: ParsedProgram, wishes: LaneWishes | None = None, *, in_step: bool = False
) -> Analysis:
    """Compute the dependences of a program that has been examined, without its dead statements.

    Parameters
    ----------
    wishes: which loops are to run in lanes. What is known there, or dead, need not be in the loop.
    in_step: strided statements keep their loops in common with others that run more often: they
        run in turns, or, where several iterators decide, in all iterations.

    Raises
    ------
    NothingToBuild, OutOfBounds, LookupOutOfRange, TooComplex
    """
    lanes = wishes or LaneWishes()
    with limited_effort():
        unrolled = program.scop if lanes.is_empty else unroll(program.scop, lanes)
        analysis = _folded(program, unrolled, in_step)
        circular = [unit for unit in analysis.units if len(unit.statements) > 1]
        if circular and not lanes.is_empty:
            joint = frozenset(name for unit in circular for name in unit.statements)
            sharing = unroll(program.scop, lanes, joint)
            if sharing != unrolled:
                analysis = _folded(program, sharing, in_step)
        if analysis.kept:
            require_in_bounds(analysis.sets)
        message = "no result depends on the parameter `{}`, which gets no port"
        unused = _without_port(program.scop, analysis.written, message)
        return replace(analysis, warnings=(*program.warnings, *unused))


def _folded(program: ParsedProgram, unrolled: Scop, in_step: bool) -> Analysis:
    """Analyse a program in lanes, its constants folded, without its dead statements."""
    if in_step:
        unrolled = split_strides(unrolled)
    kept = strided_statements(unrolled) if in_step else frozenset[str]()
    tabled = constant_arrays(unrolled)
    plain = _aligned(program, unrolled, tabled, frozenset(), ())
    folded = folded_and_live(tabled, plain.sets, plain.flows)
    if folded is tabled and not kept:
        return plain
    return _aligned(program, unrolled, folded, kept, ())


def _require_observable(scop: Scop, run: Sequence[Statement]) -> None:
    """Raise NothingObservable where a run would leave nothing to look at.

    Parameters
    ----------
    run: the statements that may be executed.
    """
    seen = {array.name for array in scop.arrays if array.role not in ("in", "local")}
    if scop.returned is None and not any(each.write.array in seen for each in run):
        raise NothingObservable(
            f"{scop.name} has no result: it writes local variables only",
            labels=[
                Label(scop.array(name).span, "gone after the run")
                for name in dict.fromkeys(s.write.array for s in scop.statements)
            ][:3],
            help="return the value, or write it to a parameter or a global",
        )


def _judged(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """Return the warnings about statements that do nothing, or may read nothing."""
    sets, flows = analysis.sets, analysis.flows
    return (
        *unproven_lookups(analysis.scop),
        *require_written(sets, flows),
        *useless_statements(analysis.program.scop, sets, analysis.dependences, flows),
    )


def expanded(analysis: Analysis) -> Iterator[Analysis]:
    """Yield the analysis with temporaries expanded, as far as these can be.

    First such that each may be kept in a memory on chip. Where iterations of some loop still take
    turns then, with an element for each of them.

    Raises
    ------
    PlanUnsound: some read would get another value. TooComplex
    """
    written = analysis.written
    with limited_effort():
        before, known = analysis.sets, analysis.flows
        if analysis.kept:
            # Strided statements that are kept read what they leave as it is: no written one does.
            before, known = _normalised(analysis)
        narrow = expand(written, before, known, dense=analysis.kept)
        if not narrow.expansions and not narrow.is_limited:
            return
        normal = (before, known) if analysis.kept else _normalised(analysis)
        first = _with_expanded(analysis, narrow, *normal) if narrow.expansions else None
    if first is not None:
        yield first
    if narrow.is_limited:
        with limited_effort():
            unlimited = expand(written, before, known, UNLIMITED, dense=analysis.kept)
            wide = _with_expanded(analysis, unlimited, *normal)
        yield wide


def _with_expanded(
    analysis: Analysis, wider: ExpandedProgram, sets: ScopSets, flows: Dataflow
) -> Analysis:
    """Return the analysis of a program with temporaries expanded.

    Parameters
    ----------
    sets, flows: of the program before it, in loops that count from 0.
    """
    after = ScopSets(normalise(wider.scop), sets)
    if not same_values(flows, dataflow(after)):
        raise PlanUnsound("the expansion of temporaries changes a value")
    found = _aligned(
        analysis.program, analysis.unrolled, wider.scop, analysis.kept, wider.expansions
    )
    return replace(found, warnings=analysis.warnings, ranking=analysis.ranking)


def _normalised(analysis: Analysis) -> tuple[ScopSets, Dataflow]:
    """Return the program and its dataflow with loops that count from 0, all statements as strided.

    As they are where they are so.
    """
    plain = normalise(analysis.written)
    if plain == analysis.scop:
        return analysis.sets, analysis.flows
    sets = ScopSets(plain, analysis.sets)
    return sets, dataflow(sets)


def _aligned(
    program: ParsedProgram,
    unrolled: Scop,
    written: Scop,
    kept: frozenset[str],
    expansions: tuple[Expansion, ...],
) -> Analysis:
    """Analyse a program, its loops counting from 0 where no statements are to share a nest."""
    analysis = _analysed(
        program, unrolled, written, normalise(written, kept=kept), kept, expansions
    )
    strided = strided_statements(written) - kept
    circular = [
        unit
        for unit in analysis.units
        if len(unit.statements) > 1 and not strided.intersection(unit.statements)
    ]
    ragged = ragged_statements(analysis.sets, circular)
    if not ragged:
        return analysis
    # The loops of these may be aligned, for which their iterators must be comparable.
    scop = normalise(written, ragged, kept)
    again = _analysed(program, unrolled, written, scop, kept, expansions)
    return replace(again, units=analysis.units)


def _analysed(
    program: ParsedProgram,
    unrolled: Scop,
    written: Scop,
    scop: Scop,
    kept: frozenset[str],
    expansions: tuple[Expansion, ...],
) -> Analysis:
    if not scop.statements:
        raise NothingToBuild(
            f"no statement of {scop.name} is ever executed",
            help="give the function at least one assignment in a loop that runs",
        )
    values = _values_of(scop)
    scop = values.sets.scop
    return Analysis(
        program=program,
        unrolled=unrolled,
        written=written,
        scop=scop,
        sets=values.sets,
        dependences=values.dependences,
        flows=values.flows,
        units=values.units,
        earlier={
            "parse": program.scop,
            "prune": program.scop,
            "unroll": unrolled,
            "fold": written,
            "expand": written,
            "strip": written,
            "normalise": scop,
        },
        kept=kept,
        expansions=expansions,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What follows from a program alone; see `Analysis`."""

    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow
    units: tuple[Unit, ...]


_BESIDE: ContextVar[ScopSets | None] = ContextVar("sets of one compilation", default=None)


@contextmanager
def analysed_once(scop: Scop) -> Iterator[None]:
    """Analyse no program twice inside, `scop` and what it is rewritten to.

    One compilation looks at a program as it was parsed, without dead statements, folded, and in
    several choices of lanes: most of these are the same one.
    """
    token = _BESIDE.set(ScopSets(scop))
    try:
        yield
    finally:
        _BESIDE.reset(token)


def _values_of(scop: Scop) -> _Values:
    """Return dependences and dataflow of a program, its lookups inside of their arrays."""
    return ScopSets(scop, _BESIDE.get()).once(_values)


def _values(plain: ScopSets) -> _Values:
    sets = ScopSets(bounded_lookups(plain), plain)
    dependences = memory_dependences(sets)
    units = dependence_units(sets.scop, dependences)
    return _Values(sets, dependences, dataflow(sets), units)


def in_banks(analysis: Analysis, cuts: Mapping[str, tuple[Cut, ...]]) -> Analysis:
    """Return the program with arrays cut into banks, which no dependence looks at."""
    scop = with_cuts(analysis.scop, cuts)
    return replace(
        analysis,
        program=replace(analysis.program, scop=with_cuts(analysis.program.scop, cuts)),
        unrolled=with_cuts(analysis.unrolled, cuts),
        written=with_cuts(analysis.written, cuts),
        scop=scop,
        sets=ScopSets(scop, analysis.sets),
        earlier={name: with_cuts(each, cuts) for name, each in analysis.earlier.items()},
    )


def in_chosen_loops(analysis: Analysis, options: LoopOptions) -> Analysis:
    """Return the program in the loops of the chosen scheduler, or as it is."""
    found = schedule_loops(analysis.sets, analysis.dependences, analysis.flows, options)
    if found is None:
        return analysis
    scop = found.sets.scop
    return replace(
        analysis,
        scop=scop,
        sets=found.sets,
        dependences=found.dependences,
        flows=found.flows,
        units=dependence_units(scop, found.dependences),
        earlier={**analysis.earlier, **found.stages},
        scheduled=found,
    )


def cut_into_strips(analysis: Analysis, sizes: Mapping[Span, int]) -> Analysis:
    """Return the program with loops cut into strips."""
    written = in_strips(analysis.written, sizes)
    found = _aligned(
        analysis.program, analysis.unrolled, written, analysis.kept, analysis.expansions
    )
    earlier = {**analysis.earlier, "strip": written, "normalise": found.scop}
    return replace(found, earlier=earlier, warnings=analysis.warnings, ranking=analysis.ranking)


def in_skewed_loops(analysis: Analysis, skews: Sequence[Skew]) -> Analysis:
    """Return the program with units in skewed loops."""
    with limited_effort():
        found = skew(analysis.sets, analysis.dependences, analysis.flows, analysis.units, skews)
    scop = found.sets.scop
    return replace(
        analysis,
        scop=scop,
        sets=found.sets,
        dependences=found.dependences,
        flows=found.flows,
        units=tuple(unit.ordered(scop) for unit in analysis.units),
        earlier={**analysis.earlier, "skew": scop},
        skewed=found,
        pauses=tuple(p for p in analysis.pauses if p.statement not in found.statements),
    )


def with_pauses(analysis: Analysis, pauses: Sequence[Pause]) -> Analysis:
    """Return the program with some of its statements to pause after some of their instances."""
    return replace(analysis, pauses=(*analysis.pauses, *pauses))


def passes_of(
    analysis: Analysis, decision: Decision, options: CompileOptions
) -> Iterator[tuple[str, Scop]]:
    """Yield the program after every pass, by its name."""
    scop = analysis.program.scop
    for name in TRANSFORMS[: TRANSFORMS.index("distribute")]:
        # Without a scheduler the passes over loops leave the program as it was.
        scop = analysis.earlier.get(name, scop)
        yield name, scop
    scop = distribute(scop, analysis.units)
    yield "distribute", scop
    single = [unit.statements[0] for unit in analysis.units if len(unit.statements) == 1]
    for name in single:
        loops = decision.placements[name].loops
        scop = permute(scop, name, [x.iterator for x in loops if x.iterator is not None])
    yield "permute", scop
    for name in single:
        scop = pad(scop, name, decision.placements[name].loops)
    yield "pad", scop
    for number, unit in enumerate(analysis.units):
        flats = {
            name: decision.placements[name].flat(decision.nest_shifts[name])
            for name in unit.statements
        }
        scop = flatten(scop, number, flats)
    yield "flatten", scop
    if options.fuse != "none":
        yield "fuse", fuse(scop, decision.shifts, decision.regions)
