"""Choose how a program with arrays off chip runs: its lanes, by options, pragmas or a limit."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.errors import Label
from rtlgen.frontend import HlsPragma, ParsedProgram, UnrollPragma, not_followed
from rtlgen.ir.effort import more_effort
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse
from rtlgen.planning.directives import NO_LOOP, loops_at
from rtlgen.scheduling.errors import LookupOffChip
from rtlgen.search.chosen import InTiles
from rtlgen.search.lane_choice import Budget, LaneChoice
from rtlgen.search.lane_worth import LaneAsk, asked_by_options
from rtlgen.search.tile_lane_choice import choose_tile_lanes
from rtlgen.search.tile_worth import tiles_without_gain
from rtlgen.target import Target, get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.placement import ram_limit_bits
from rtlgen.tiling.plan import TiledProgram
from rtlgen.tiling.written_out import plan_in_lanes
from rtlgen.transforms.lane_wishes import place_of

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
