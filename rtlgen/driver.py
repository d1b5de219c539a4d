"""The compiler, as a list of passes.

    parse -> prune -> unroll -> fold -> expand [-> strip] -> normalise
          [-> reschedule -> tile -> wavefront] [-> skew]
          -> distribute -> permute -> pad -> flatten -> fuse -> plan

With arrays off chip:

    parse -> prune -> fold -> normalise -> tile -> transfer -> plan

Every pass takes the program of the one before. After each one the legality checker judges the new
schedule against the dependences of the program as written, and the finished plan is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rtlgen.errors import Diagnostic, Label, RtlgenError
from rtlgen.frontend import (
    FloatRewriting,
    HlsPragma,
    ParsedProgram,
    UnrollPragma,
    deep_recursion,
    not_followed,
    parse_file,
    parse_text,
)
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import (
    TooComplex,
    advising,
    counted_effort,
    improving,
    limited_effort,
    more_effort,
    note_limit,
    noting_limits,
)
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.options.passes import PASSES
from rtlgen.planning.analysis import Analysis, analyse, analysed_once, examine, live_program
from rtlgen.planning.choice import choose_plan
from rtlgen.planning.directives import (
    NO_LOOP,
    Directives,
    directives,
    interval_warnings,
    loops_at,
    to_blame,
    without_dead_loops,
    without_pragmas,
)
from rtlgen.planning.planned import Planned
from rtlgen.poly.barriers import ChainBound, chain_bound
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.poly.legality import Judge
from rtlgen.poly.piecewise import NoClosedForm
from rtlgen.poly.stream_order import require_in_order
from rtlgen.scheduling.binding import with_units
from rtlgen.scheduling.contention import require_free
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.errors import (
    BankContended,
    BankUnknown,
    LookupOffChip,
)
from rtlgen.scheduling.idle_slots import idle_slots
from rtlgen.scheduling.lane_bounds import lane_bounds
from rtlgen.scheduling.replay import replay
from rtlgen.scheduling.store_bounds import store_bounds
from rtlgen.scheduling.stream_replay import require_streamed
from rtlgen.scheduling.waiting_sums import partial_sums, waiting_sums
from rtlgen.scheduling.worth import is_worth_search
from rtlgen.search.compilation import Compilation, IslandCompilation, TiledCompilation
from rtlgen.search.lane_choice import Budget, LaneChoice, choose_lanes
from rtlgen.search.lane_worth import (
    LANE_PRAGMAS,
    LaneAsk,
    asked_by_options,
    asked_by_pragmas,
    lanes_without_gain,
    limit_without_gain,
)
from rtlgen.search.ram_limit import TooLittleRam, within_limit
from rtlgen.search.tile_lane_choice import choose_tile_lanes
from rtlgen.search.tile_worth import tiles_without_gain
from rtlgen.target import Target, get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.placement import Placement, ram_limit_bits
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.tiling.stages import program_in_tiles
from rtlgen.tiling.written_out import plan_in_lanes
from rtlgen.transforms.distribute import distribute
from rtlgen.transforms.double_buffer import double_buffered
from rtlgen.transforms.external import in_external
from rtlgen.transforms.flatten import flatten
from rtlgen.transforms.fuse import fuse
from rtlgen.transforms.lane_wishes import LaneWishes, place_of
from rtlgen.transforms.pad import pad
from rtlgen.transforms.partition import partition
from rtlgen.transforms.permute import permute
from rtlgen.transforms.ragged import Ranking
from rtlgen.transforms.shared_reads import with_shared_reads
from rtlgen.transforms.streams import in_streams
from rtlgen.transforms.strides import strided_statements

UNTILED = (*REFUSALS, LookupOffChip)
"""Why a program cannot be planned in tiles; one that was not asked to be is built on chip then."""

OFF_CHIP = "where arrays are off chip, loops are not unrolled, and banks are those of lanes"
"""Why pragmas are not followed there."""


def parse(path: Path, options: CompileOptions) -> ParsedProgram:
    """Read a C file; see `rtlgen.frontend.parse_file` for what it raises."""

    return _with_wishes(partial(parse_file, path), options)


def parse_source(text: str, name: str, options: CompileOptions) -> ParsedProgram:
    """Read C text; `name` stands for its file in messages."""

    return _with_wishes(partial(parse_text, text, name), options)


def _with_wishes(reader: Callable[..., ParsedProgram], options: CompileOptions) -> ParsedProgram:
    """Return a program whose floats are computed in the order that is asked for.

    Which sums wait for the adder is found out by planning the program as written.
    """
    read = partial(
        reader,
        function=options.function,
        defines=options.defines,
        include_dirs=options.include_dirs,
    )
    wishes = options.floats
    written = read(floats=FloatRewriting(wishes.contract))
    if wishes.reassociate is None:
        return written
    found = compile_program(written, options)
    target = get_target(options.target)
    sums = tuple(
        (place, wishes.reassociate or partial_sums(type_, target))
        for place, type_ in waiting_sums(found.plan, written.scop)
    )
    if not sums:
        note = "no sum waits for its adder"
        return replace(written, warnings=(*written.warnings, _without_effect(note)))
    return read(floats=FloatRewriting(wishes.contract, sums))


def _without_effect(why: str) -> Diagnostic:
    return Diagnostic("W0118", f"--float reassociate changes nothing: {why}", severity="warning")


def compile_program(program: ParsedProgram, options: CompileOptions) -> Compilation:
    """Compile a parsed program to a KernelPlan.

    Raises
    ------
    RtlgenError: the program or an option is refused.
    """
    with (
        noting_limits() as limits,
        quoting(program),
        counted_effort() as tally,
        limited_effort(),
        analysed_once(program.scop),
        # Lanes that are joined to one statement are operators inside of each other.
        deep_recursion(),
    ):
        program = replace(program, scop=_in_places(program.scop, options))
        live = _double_buffered(live_program(examine(program)), options)
        if any(array.is_stream for array in live.scop.arrays):
            live = replace(live, scop=with_shared_reads(live.scop))
            require_in_order(analyse(live).sets)
        options = without_dead_loops(options, program.scop, live.scop)
        within = within_limit(live.scop, options, partial(_compiled, live))
        found = within.compilation
        warnings = _limit_without_gain(live, options, found) if within.is_limited else ()
        known = found.analysis
        return replace(
            found,
            # What is verified is the program as written.
            analysis=replace(known, program=program, warnings=(*known.warnings, *warnings)),
            stages={**found.stages, "parse": program.scop},
            limits=tuple(limits),
            steps=tally.steps,
        )


def _in_places(scop: Scop, options: CompileOptions) -> Scop:
    """Return the program with arrays that are no memories of the circuit's, as is asked for."""
    streamed = in_streams(scop, options.memory, options.checksum)
    return in_external(streamed, options.memory, options.interface, options.top)


def _double_buffered(program: ParsedProgram, options: CompileOptions) -> ParsedProgram:
    """Return the program with two copies of the arrays for which they are asked."""
    elsewhere = [name for name, place in options.memory.items() if place != "onchip"]
    return replace(program, scop=double_buffered(program.scop, options.double_buffers, elsewhere))


def _limit_without_gain(
    program: ParsedProgram, options: CompileOptions, found: Compilation
) -> tuple[Diagnostic, ...]:
    """Return a warning where lanes cost what they save, since RAM is limited."""
    by_options = asked_by_options(program.scop, options.unroll, options.pipeline)
    asked = by_options or asked_by_pragmas(program.pragmas)
    if not asked or any(each.code == "W0114" for each in found.analysis.warnings):
        return ()
    others = tuple(p for p in program.pragmas if not isinstance(p, LANE_PRAGMAS))
    fewer = program if by_options else replace(program, pragmas=others)
    plain = replace(options, unroll={}, pipeline=())
    single: Compilation | None = None
    # What limits did to it is not said, since it is not built.
    with (
        improving("one lane of each loop"),
        more_effort(),
        noting_limits(),
        suppress(TooLittleRam, *UNTILED),
    ):
        single = within_limit(fewer.scop, plain, partial(_compiled, fewer)).compilation
    if single is None:
        return ()
    cycles, single_cycles = predicted_cycles(found.plan), predicted_cycles(single.plan)
    warning = limit_without_gain(asked, cycles, single_cycles)
    return () if warning is None else (warning,)


def _compiled(program: ParsedProgram, options: CompileOptions, placement: Placement) -> Compilation:
    """Compile a program of live statements with its arrays in certain places."""
    if placement.request is not None and placement.is_asked:
        found: Compilation = _in_tiles_as_asked(program, options, placement.request)
    elif placement.request is not None:
        try:
            # Whatever this takes, there is as much for a second attempt.
            with more_effort():
                found = _in_tiles_as_asked(program, options, placement.request)
        except UNTILED as error:
            note_limit(f"{error.diagnostic.message}: all arrays are on chip")
            return replace(_on_chip(program, options), untiled=error)
    else:
        found = _on_chip(program, options)
    return found


def _in_tiles_as_asked(
    program: ParsedProgram, options: CompileOptions, request: TileRequest
) -> TiledCompilation:
    """Compile a program with arrays off chip, in the lanes of a pragma where that can be.

    An option for lanes comes before all pragmas; of several, the first one that can be followed is.
    """
    analysis = analyse(program)
    refused: list[tuple[HlsPragma, str]] = []
    is_free = request.lanes is None and options.max_dsp is None
    found: TiledCompilation | None = None
    for pragma in program.pragmas:
        if not isinstance(pragma, UnrollPragma):
            refused.append((pragma, OFF_CHIP))
        elif found is not None or not is_free:
            refused.append((pragma, "the lanes of tiles are those of another loop"))
        elif not (loops := loops_at(program.scop, pragma.loop)):
            refused.append((pragma, NO_LOOP))
        else:
            name = loops[0].label or loops[0].iterator
            lanes = LaneRequest(name, pragma.lanes, place_of(pragma.loop))
            ask = LaneAsk(f"#pragma {pragma.text}", (Label(pragma.span),))
            wider = replace(request, lanes=lanes)
            try:
                with more_effort():
                    found = _in_tiles(program, options, wider, analysis, ask)
            except UNTILED as error:
                refused.append((pragma, error.diagnostic.message))
    if found is None:
        found = _in_tiles(program, options, request, analysis, _asked_lanes(program, options))
    warnings = tuple(not_followed(pragma.text, pragma.span, why) for pragma, why in refused)
    known = found.analysis
    return replace(found, analysis=replace(known, warnings=(*known.warnings, *warnings)))


def _asked_lanes(program: ParsedProgram, options: CompileOptions) -> LaneAsk | None:
    """Return the option that asks for lanes, if one does."""
    return next(iter(asked_by_options(program.scop, options.unroll, options.pipeline)), None)


def _in_tiles(
    program: ParsedProgram,
    options: CompileOptions,
    request: TileRequest,
    analysis: Analysis,
    lanes: LaneAsk | None,
) -> TiledCompilation:
    """Compile a program with arrays off chip.

    Parameters
    ----------
    lanes: what asks for lanes, if anything does.
    """
    target = get_target(options.target)
    folded = replace(program, scop=analysis.written)
    tiled, choice = _in_tile_lanes(folded, options, request, target)

    def attempt(other: TileRequest) -> TiledProgram:
        return plan_in_lanes(folded, other, target)

    warnings = tuple(tiles_without_gain(tiled, request, lanes, attempt))
    return TiledCompilation(
        analysis=replace(analysis, warnings=(*analysis.warnings, *warnings)),
        plan=tiled.plan,
        target=target,
        stages={
            "parse": program.scop,
            "prune": program.scop,
            "fold": analysis.written,
            "normalise": tiled.program.scop,
            "tile": program_in_tiles(tiled),
        },
        replayed=tiled.replayed,
        tiled=tiled,
        ram_limit_bits=ram_limit_bits(options, target),
        choice=choice,
    )


def _in_tile_lanes(
    program: ParsedProgram, options: CompileOptions, request: TileRequest, target: Target
) -> tuple[TiledProgram, LaneChoice[TiledProgram] | None]:
    """Plan a program in tiles; also return what was found where lanes were to be chosen."""
    if options.max_dsp is None:
        return plan_in_lanes(program, request, target), None

    def attempt(lanes: LaneRequest | None) -> TiledProgram:
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            tiled = plan_in_tiles(program, replace(request, lanes=lanes), target)
        if budget.taken(tiled.plan) <= budget.multipliers:
            return tiled
        shared = with_units(tiled.plan, tiled.program.sets.context, everywhere=True)
        return replace(tiled, plan=shared)

    # What windows may take is a limit of every plan in tiles.
    budget = Budget(options.max_dsp, target, None)
    choice = choose_tile_lanes(program.scop.name, request.lanes, attempt, budget)
    return choice.planned, choice


def _on_chip(program: ParsedProgram, options: CompileOptions) -> IslandCompilation:
    """Compile a program whose arrays are all on chip, with its pragmas where that can be."""
    asked = directives(program, options)
    try:
        return _as_asked(program, options, asked)
    except (TooComplex, BankContended, BankUnknown) as error:
        blamed = to_blame(error, asked.pragmas)
        if not blamed:
            raise
        fewer = without_pragmas(program, blamed, error.diagnostic.message)
    # Whatever this attempt has taken, there is as much for one with fewer pragmas.
    with more_effort():
        return _on_chip(fewer, options)


def _as_asked(
    program: ParsedProgram, options: CompileOptions, asked: Directives
) -> IslandCompilation:
    """Compile a program whose arrays are all on chip, in the lanes and banks that are asked for."""
    options = replace(options, partitions=asked.partitions)
    program = replace(
        program,
        scop=partition(program.scop, asked.partitions),
        warnings=(*program.warnings, *asked.warnings),
    )
    planned, choice = _in_chosen_lanes(program, options, asked)
    # The search may have used up all the time that there was, and found something by then.
    with more_effort():
        found = replace(_proven(planned, options, asked.pragmas), choice=choice)
    warning = _without_gain(program, options, asked, planned)
    if warning is None:
        return found
    analysis = found.analysis
    return replace(found, analysis=replace(analysis, warnings=(*analysis.warnings, warning)))


def _without_gain(
    program: ParsedProgram, options: CompileOptions, asked: Directives, planned: Planned
) -> Diagnostic | None:
    """Return a warning where the lanes that options, or else pragmas, ask for save no cycles."""
    judged = asked_by_options(program.scop, options.unroll, options.pipeline)
    if judged:
        others = directives(program, replace(options, unroll={}, pipeline=())).lanes
    else:
        judged = asked_by_pragmas(asked.pragmas)
        others = LaneWishes()

    def attempt(lanes: LaneWishes) -> Planned:
        return _planned(program, options, lanes)

    return lanes_without_gain(program.scop, judged, asked.lanes, others, planned, attempt)


def _in_chosen_lanes(
    program: ParsedProgram, options: CompileOptions, asked: Directives
) -> tuple[Planned, LaneChoice[Planned] | None]:
    """Plan a program in lanes; also return what was found where these were to be chosen."""
    if options.max_dsp is None:
        return _planned(program, options, asked.lanes), None

    def attempt(lanes: LaneWishes) -> Planned:
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            return _planned(program, options, lanes)

    target = get_target(options.target)
    ram_bits = None if options.max_bram_kib is None else ram_limit_bits(options, target)
    budget = Budget(options.max_dsp, target, ram_bits)
    choice = choose_lanes(program.scop, asked.lanes, attempt, budget)
    return choice.planned, choice


def _planned(program: ParsedProgram, options: CompileOptions, lanes: LaneWishes) -> Planned:
    """Plan a program whose arrays are all on chip, in some lanes."""
    try:
        return _ranked(program, options, lanes, "free")
    except NoClosedForm:
        return _ranked(program, options, lanes, "listed")


def _ranked(
    program: ParsedProgram, options: CompileOptions, lanes: LaneWishes, ranking: Ranking
) -> Planned:
    """Plan a program whose arrays are all on chip; see `Analysis.ranking`.

    Raises
    ------
    NoClosedForm: another ranking is needed. RtlgenError
    """

    def planned_with(kept: frozenset[str]) -> Planned:
        return choose_plan(replace(analyse(program, kept, lanes), ranking=ranking), options)

    try:
        return planned_with(frozenset())
    except NoLegalSchedule:
        strided = strided_statements(analyse(program, wishes=lanes).unrolled)
        if not strided:
            raise
        # In a cycle, a statement may have to keep step with others that run more often.
        return planned_with(strided)


@contextmanager
def quoting(program: ParsedProgram) -> Iterator[None]:
    """Give errors that are raised inside the source text that their spans refer to."""
    try:
        yield
    except RtlgenError as error:
        error.sources = program.sources
        raise


def _proven(
    planned: Planned, options: CompileOptions, pragmas: Iterable[HlsPragma]
) -> IslandCompilation:
    """Judge the program after every pass, and the plan."""
    analysis, decision, plan = planned.analysis, planned.decision, planned.plan
    stages = dict(_transformed(analysis, decision, options))
    placed = stages["flatten"].schedule
    replayed = replay(plan, analysis.scop, analysis.scop.schedule, placed)
    if replayed:
        require_free(plan, analysis.scop, analysis.scop.schedule, placed, options.partitions)
        require_streamed(plan, analysis.scop, analysis.scop.schedule, placed)
    others = interval_warnings(pragmas, analysis.unrolled, plan)
    return IslandCompilation(
        analysis=replace(analysis, warnings=(*analysis.warnings, *others)),
        plan=plan,
        target=planned.target,
        stages=stages,
        replayed=replayed,
        decision=decision,
        idle=idle_slots(plan, planned.space, decision),
        bounds=tuple(store_bounds(plan, analysis.scop, decision.routing)),
        chain=_chain(planned),
        expanded=planned.expanded,
        lanes=lane_bounds(analysis.scop, analysis.units, analysis.flows, plan)
        if analysis.unrolled is not analysis.program.scop
        else (),
    )


def _chain(planned: Planned) -> ChainBound | None:
    """Return a bound that is above the longest statement, where the plan is longer, too."""
    plan, analysis = planned.plan, planned.analysis
    if not is_worth_search(plan.fused_iterations, plan.floor_iterations):
        return None
    groups = [unit.statements for unit in analysis.units]
    with advising():
        found = chain_bound(analysis.sets, analysis.dependences, groups)
        if found is not None and found.iterations > plan.floor_iterations:
            return found
    return None


def _transformed(
    analysis: Analysis, decision: Decision, options: CompileOptions
) -> Iterator[tuple[str, Scop]]:
    """Yield the program after every pass, each judged by the legality checker."""

    judge = Judge(analysis.sets, tuple(analysis.dependences))

    def judged(scop: Scop, what: str) -> Scop:
        judge.require_legal(scop.schedule, what)
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
