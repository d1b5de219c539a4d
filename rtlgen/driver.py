"""The compiler, as a list of passes.

    parse -> prune -> unroll -> fold -> expand [-> strip] -> normalise
          [-> reschedule -> tile -> wavefront] [-> skew]
          -> distribute -> permute -> pad -> flatten -> fuse -> plan

With arrays off chip:

    parse -> prune -> fold -> normalise -> tile -> transfer -> plan

The walk from a parsed program to a proven plan goes downward only. `planning.ram_limit` puts arrays
on chip or off it; `planning.on_chip` and `planning.in_tiles` choose lanes; `planning.choice` and
`tiling.plan` plan the program in these. Nothing there judges: the legality checker judges every
pass's schedule against the dependences of the program as written, and the plan that was chosen is
replayed, both here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.frontend import (
    FloatRewriting,
    ParsedProgram,
    deep_recursion,
    parse_file,
    parse_text,
)
from rtlgen.ir.effort import (
    advising,
    counted_effort,
    limited_effort,
    more_effort,
    noting_limits,
)
from rtlgen.ir.float_flushing import is_flushing
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import is_worth_search
from rtlgen.judges.replay import replay
from rtlgen.judges.stream_replay import require_streamed
from rtlgen.judges.tile_replay import replay_parts
from rtlgen.memories.bounds import lane_bounds, store_bounds
from rtlgen.options import CompileOptions
from rtlgen.options.passes import TRANSFORMS, does
from rtlgen.planning.analysis import analyse, analysed_once, examine, live_program, passes_of
from rtlgen.planning.compilation import (
    Chosen,
    Compilation,
    InTiles,
    IslandCompilation,
    OnChip,
    TiledCompilation,
)
from rtlgen.planning.directives import without_dead_loops
from rtlgen.planning.planned import Planned, Tried
from rtlgen.planning.ram_limit import best_within_limits
from rtlgen.poly.barriers import ChainBound, chain_bound
from rtlgen.poly.legality import Judge
from rtlgen.poly.stream_order import require_in_order
from rtlgen.scheduling.idle_slots import idle_slots, partial_sums, waiting_sums
from rtlgen.source import Span
from rtlgen.target import get_target
from rtlgen.tiling.plan import program_in_tiles
from rtlgen.transforms.interfaces import double_buffered, in_external, in_streams, with_shared_reads

JUDGED = TRANSFORMS[TRANSFORMS.index("distribute") :]
"""Loops of a scheduler and skewed ones are judged where they are made: these come behind them."""


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
    rewriting = FloatRewriting(wishes.contract, wishes.flush)
    written = read(floats=rewriting)
    notes = []
    # Which of the products of a file are the kernel's is known when it has been read.
    if wishes.contract and written.scop == read(floats=replace(rewriting, contract=False)).scop:
        notes.append(_without_effect("contract", "no product is added to anything"))
    if wishes.flush and not is_flushing(written.scop):
        notes.append(_without_effect("ftz", "there is no operation on floats"))
    sums: tuple[tuple[Span, int], ...] = ()
    if wishes.reassociate is not None:
        found = compile_program(written, options)
        target = get_target(options.target)
        sums = tuple(
            (place, wishes.reassociate or partial_sums(type_, target))
            for place, type_ in waiting_sums(found.plan, written.scop)
        )
        if not sums:
            notes.append(_without_effect("reassociate", "no sum waits for its adder"))
    program = read(floats=replace(rewriting, sums=sums)) if sums else written
    return replace(program, warnings=(*program.warnings, *notes)) if notes else program


def _without_effect(word: str, why: str) -> Diagnostic:
    return Diagnostic("W0118", f"--float {word} changes nothing: {why}", severity="warning")


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
        examined = examine(program)
        program = examined.program
        live = _double_buffered(live_program(examined), options)
        if any(array.is_stream for array in live.scop.arrays):
            live = replace(live, scop=with_shared_reads(live.scop))
            require_in_order(analyse(live).sets)
        options = without_dead_loops(options, program.scop, live.scop)
        chosen = best_within_limits(live, options)
        # The search may have used up all the time that there was, and found something by then.
        with more_effort():
            found = _proven(chosen, live, options)
        return replace(
            found,
            # What is verified is the program as written.
            analysis=replace(found.analysis, program=program),
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


@contextmanager
def quoting(program: ParsedProgram) -> Iterator[None]:
    """Give errors that are raised inside the source text that their spans refer to."""
    try:
        yield
    except RtlgenError as error:
        error.sources = program.sources
        raise


def _proven(chosen: Chosen, program: ParsedProgram, options: CompileOptions) -> Compilation:
    """Judge the program after every pass, and the plan; say what was found on the way.

    Raises
    ------
    PlanUnsound, IllegalSchedule: a bug of this compiler.
    """
    if isinstance(chosen, OnChip):
        return _proven_on_chip(chosen, options)
    return _proven_in_tiles(chosen, program, options)


def _proven_on_chip(chosen: OnChip, options: CompileOptions) -> IslandCompilation:
    planned = chosen.planned
    analysis, decision, plan = planned.analysis, planned.decision, planned.plan
    stages = dict(passes_of(analysis, decision, options))
    judge = Judge(analysis.sets, tuple(analysis.dependences))
    for name, scop in stages.items():
        # What comes before does not change when instances run, or is judged where it does.
        if name in JUDGED:
            judge.require_legal(scop.schedule, does(name))
    placed = stages["flatten"].schedule
    replayed = replay(plan, analysis.scop, analysis.scop.schedule, placed)
    if replayed:
        require_streamed(plan, analysis.scop, analysis.scop.schedule, placed)
    return IslandCompilation(
        analysis=replace(analysis, warnings=(*analysis.warnings, *chosen.warnings)),
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
        choice=chosen.choice,
        untiled=chosen.untiled,
        tried=(*_tried_lanes(chosen), *planned.tried),
    )


def _proven_in_tiles(
    chosen: InTiles, program: ParsedProgram, options: CompileOptions
) -> TiledCompilation:
    analysis, tiled = chosen.analysis, chosen.tiled
    return TiledCompilation(
        analysis=replace(analysis, warnings=(*analysis.warnings, *chosen.warnings)),
        plan=tiled.plan,
        target=get_target(options.target),
        stages={
            "parse": program.scop,
            "prune": program.scop,
            "fold": analysis.written,
            "normalise": tiled.program.scop,
            "tile": program_in_tiles(tiled),
        },
        replayed=replay_parts(tiled.plan, tiled.judged_parts, tiled.program.scop),
        tiled=tiled,
        ram_limit_bits=chosen.ram_limit_bits,
        choice=chosen.choice,
        tried=_tried_lanes(chosen),
    )


def _tried_lanes(chosen: Chosen) -> tuple[Tried, ...]:
    """Return which lanes were tried, where they were to be chosen."""
    return () if chosen.choice is None else chosen.choice.tried


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
