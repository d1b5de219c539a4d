"""Choose how a program with arrays off chip runs: its lanes, and whether they pay.

The loops that may run in lanes are known from their dependences (`tiling.lanes`), and one of them
is given some. Tiles are chosen anew every time, since more lanes ask for more words.

Whether the lanes and workers that tiles are asked to have save cycles: a warning where not.

To know, the program is planned once more without them. That is not done where it would surely take
longer: a statement issues once a cycle at most on one worker in one lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from rtlgen.datapath.binding import with_units
from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend import HlsPragma, ParsedProgram, UnrollPragma, not_followed
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import improving, more_effort, note_limit, noting_limits
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse
from rtlgen.planning.choice import NotFaster
from rtlgen.planning.compilation import InTiles
from rtlgen.planning.directives import NO_LOOP, loops_at
from rtlgen.planning.lane_choice import LaneAsk, asked_by_options, saves_nothing
from rtlgen.planning.lane_search import (
    Budget,
    LaneChoice,
    Lanes,
    LoopGroup,
    Planner,
    climb,
    require_multipliers,
)
from rtlgen.planning.moves import IN_ANY_ORDER
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import LookupOffChip, NoLanes, RaggedDomain, WindowsTooLarge
from rtlgen.target import Target, get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import REFUSALS, NoParallelTiles
from rtlgen.tiling.lanes import LaneRequest, free_loops
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.placement import ram_limit_bits
from rtlgen.tiling.plan import TiledProgram, plan_in_lanes, plan_in_tiles
from rtlgen.transforms.lanes import MOST_LANES, place_of
from rtlgen.windows.workers import ONE_WORKER


class _Tiles(Planner[TiledProgram]):
    """Plans a program in tiles; where it takes too many multipliers, they are shared."""

    refusals = REFUSALS
    is_slow = True

    def __init__(self, program: ParsedProgram, request: TileRequest, budget: Budget) -> None:
        self.program, self.request, self.budget = program, request, budget
        self.units: Sequence[UnitLoops] = ()

    def planned(self, lanes: Lanes, below: float | None = None) -> TiledProgram:
        request = self.request
        for loop, count in lanes.items():
            asked = LaneRequest(loop, count)
            request = replace(request, lanes=asked)
            least = _least_cycles(self.units, asked)
            if below is not None and least >= below:
                raise NotFaster(IN_ANY_ORDER.format(least))
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            tiled = plan_in_tiles(self.program, request, self.budget.target)
        if self.budget.taken(tiled.plan) <= self.budget.multipliers:
            return tiled
        shared = with_units(tiled.plan, tiled.program.sets.context, everywhere=True)
        return replace(tiled, plan=shared)

    def waits(self, found: TiledProgram) -> str:
        return ""


def choose_tile_lanes(
    program: ParsedProgram, request: TileRequest, budget: Budget
) -> LaneChoice[TiledProgram]:
    """Return the lanes with the fewest cycles that were found within a budget.

    Parameters
    ----------
    request: if it asks for lanes already, these are judged alone.

    Raises
    ------
    TooFewMultipliers: what is asked for takes more. RtlgenError: it cannot be planned.
    """
    planner = _Tiles(program, request, budget)
    best = planner.planned({})
    has_lanes = request.lanes is not None
    require_multipliers(program.scop.name, budget, best.plan, has_lanes=has_lanes)
    loops: dict[str, None] = {}
    if not has_lanes:
        longest = max(best.parts, key=lambda part: part.kernel_cycles)
        # Units that are cut together in one lane may be faster apart in several.
        planner.units = [unit for part in best.parts for unit in part.loops.apart]
        for unit in longest.loops.apart:
            loops |= dict.fromkeys(free_loops(unit).values())
    factors = tuple(2**n for n in range(1, MOST_LANES.bit_length()))
    groups = [LoopGroup((loop,), factors) for loop in loops]
    return climb(planner, budget, best, groups, most_groups=1)


def _least_cycles(units: Sequence[UnitLoops], request: LaneRequest) -> int:
    """Return the cycles that a program takes at least, some of whose units run in lanes.

    Those that have the loop may be cut together in lanes, and the others in one, but not both.
    """
    within, without = [0], [0]
    for unit in units:
        has_loop = any(request.names(loop) for s in unit.written.statements for loop in s.loops)
        (within if has_loop else without).append(max(unit.instances.values()))
    assert request.count is not None, "it is asked for"
    return max(within) // request.count + max(without)


REFUSED = (IllegalSchedule, NoLanes, NoParallelTiles, RaggedDomain, WindowsTooLarge)
"""Why a program may not be planned without lanes or on one worker."""

MOST_TILES = 1 << 13
"""Of a program that is planned again to know what workers save in tiles that are asked for."""


def tiles_without_gain(
    tiled: TiledProgram,
    request: TileRequest,
    lanes: LaneAsk | None,
    program: ParsedProgram,
    target: Target,
) -> Iterator[Diagnostic]:
    """Yield a warning for lanes with which a program takes as long as without, and for workers.

    Parameters
    ----------
    tiled: the program as it was asked for. lanes: what asks for lanes, if anything does.
    program: it, its constants folded.
    """
    cycles = predicted_cycles(tiled.plan)
    workers = request.workers.count
    if lanes is not None and _lanes(tiled) == 1 and any(tiled.single):
        yield saves_nothing([lanes], [f"{cycles:,} cycles, in one lane"])
    elif lanes is not None and cycles * workers >= _longest(tiled):
        single = _instead(program, target, replace(request, lanes=None), "one lane")
        if single is not None and predicted_cycles(single.plan) <= cycles:
            figures = f"{cycles:,} cycles, with one lane {predicted_cycles(single.plan):,}"
            yield saves_nothing([lanes], [figures])
    if workers > 1:
        yield from _workers_without_gain(tiled, request, program, target)


def _workers_without_gain(
    tiled: TiledProgram, request: TileRequest, program: ParsedProgram, target: Target
) -> Iterator[Diagnostic]:
    option = LaneAsk(f"--threads {request.workers.count}", ())
    for part, sooner in zip(tiled.parts, tiled.sooner, strict=True):
        if sooner is not None:
            names = ", ".join(statement.name for statement in part.program.scop.statements)
            figures = f"{sooner.shared_cycles:,} cycles, on one worker {sooner.cycles:,}"
            if len(part.workers.regions) == 1:
                figures += ": it is built on one"
            yield saves_nothing([option], [figures], where=f" of {names}")
    cycles = predicted_cycles(tiled.plan)
    is_chosen = not request.sizes and request.buffer
    if is_chosen or cycles * _lanes(tiled) < _longest(tiled):
        return
    tiles = sum(part.region.tiles for part in tiled.parts)
    if tiles > MOST_TILES:
        note_limit(f"{option.text} is not compared with one worker, in {tiles:,} tiles")
        return
    single = _instead(program, target, replace(request, workers=ONE_WORKER), "one worker")
    if single is not None and predicted_cycles(single.plan) <= cycles:
        yield saves_nothing(
            [option], [f"{cycles:,} cycles, on one worker {predicted_cycles(single.plan):,}"]
        )


def _instead(
    program: ParsedProgram, target: Target, request: TileRequest, what: str
) -> TiledProgram | None:
    """Return the program planned otherwise, where that can be and does not take too long."""
    found: TiledProgram | None = None
    # What limits did to it is not said, since it is not built.
    with improving(what), more_effort(), suppress(*REFUSED), noting_limits():
        found = plan_in_lanes(program, request, target)
    return found


def _longest(tiled: TiledProgram) -> int:
    """Return the instances of the statement of a program that has most."""
    return max(n for part in tiled.parts for n in part.loops.instances.values())


def _lanes(tiled: TiledProgram) -> int:
    return max(part.kernel.lanes for part in tiled.parts)


UNTILED = (*REFUSALS, LookupOffChip)
"""Why a program cannot be planned in tiles; one that was not asked to be is built on chip then."""

OFF_CHIP = "where arrays are off chip, loops are not unrolled, and banks are those of lanes"
"""Why pragmas are not followed there."""


def in_tiles(program: ParsedProgram, options: CompileOptions, request: TileRequest) -> InTiles:
    """Plan a program with arrays off chip, in the lanes of a pragma where that can be.

    An option for lanes comes before all pragmas; of several, the first one that can be followed is.
    """
    analysis = analyse(program)
    refused: list[tuple[HlsPragma, str]] = []
    is_free = request.lanes is None and options.max_dsp is None
    found: InTiles | None = None
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
                    found = _as_asked(program, options, wider, analysis, ask)
            except UNTILED as error:
                refused.append((pragma, error.diagnostic.message))
    if found is None:
        found = _as_asked(program, options, request, analysis, _asked_lanes(program, options))
    warnings = tuple(not_followed(pragma.text, pragma.span, why) for pragma, why in refused)
    return found.with_warnings(*warnings)


def _asked_lanes(program: ParsedProgram, options: CompileOptions) -> LaneAsk | None:
    """Return the option that asks for lanes, if one does."""
    return next(iter(asked_by_options(program.scop, options.unroll, options.pipeline)), None)


def _as_asked(
    program: ParsedProgram,
    options: CompileOptions,
    request: TileRequest,
    analysis: Analysis,
    lanes: LaneAsk | None,
) -> InTiles:
    """Plan a program with arrays off chip.

    Parameters
    ----------
    lanes: what asks for lanes, if anything does.
    """
    target = get_target(options.target)
    folded = replace(program, scop=analysis.written)
    tiled, choice = _in_tile_lanes(folded, options, request, target)
    warnings = tuple(tiles_without_gain(tiled, request, lanes, folded, target))
    return InTiles(analysis, tiled, ram_limit_bits(options, target), warnings, choice)


def _in_tile_lanes(
    program: ParsedProgram, options: CompileOptions, request: TileRequest, target: Target
) -> tuple[TiledProgram, LaneChoice[TiledProgram] | None]:
    """Plan a program in tiles; also return what was found where lanes were to be chosen."""
    if options.max_dsp is None:
        return plan_in_lanes(program, request, target), None

    # What windows may take is a limit of every plan in tiles.
    budget = Budget(options.max_dsp, target, None)
    choice = choose_tile_lanes(program, request, budget)
    return choice.planned, choice
