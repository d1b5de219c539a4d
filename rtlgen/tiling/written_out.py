"""Lanes that cannot be those of a tile: written out, as statements side by side or as longer sums.

Lanes of a tile are iterations of a loop that all of its statements share, and issue in step or one
behind the other. A sum along the lanes, or a loop that some statements do not have, is no such
thing; but a statement may add several terms, and tiles may have more statements:

    for k  y[i] += a[i][k] * x[k]    ->    for k by 2  y[i] += a[i][k] * x[k] + a[i][k+1] * x[k+1]

Each of these reads has a copy of its window, and each statement windows of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from rtlgen.frontend import ParsedProgram
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import more_effort, note_limits, noting_limits
from rtlgen.poly.errors import NothingToTile
from rtlgen.scheduling.errors import NoLanes, WindowsTooLarge
from rtlgen.target import Target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import REFUSALS
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.part import TiledPart
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.tiling.units import OUT_OF_LANES
from rtlgen.transforms.fold_constants import folded_program
from rtlgen.transforms.lane_wishes import LaneWishes
from rtlgen.transforms.unroll import NotUnrollable, unroll

UNTILED = (*REFUSALS, NotUnrollable, NothingToTile)
"""Why a program cannot be planned with its lanes written out."""


def plan_in_lanes(program: ParsedProgram, request: TileRequest, target: Target) -> TiledProgram:
    """Plan a program whose arrays are off chip, its lanes written out where they cannot be others.

    Where some units can run in lanes, the others have one lane each, or all are written out:
    whatever takes fewer cycles.

    Raises
    ------
    NoLanes, WindowsTooLarge: it can be planned in neither way; what `plan_in_tiles` raises.
    """
    lanes = request.lanes
    if lanes is None:
        return plan_in_tiles(program, request, target)
    try:
        some = replace(request, lanes=replace(lanes, where_possible=True))
        found = plan_in_tiles(program, some, target)
    except OUT_OF_LANES as error:
        if isinstance(error, NoLanes) and error.is_of_sizes:
            raise
        written, limits = _written_out(program, request, target)
        if written is None:
            if isinstance(error, WindowsTooLarge):
                # How much RAM the lanes would take is known of no other tiles than those tried.
                remedy = "ask for fewer lanes, or leave out --unroll"
                error.diagnostic = replace(error.diagnostic, help=remedy)
            raise
        how = f"{error.diagnostic.message}: {_how(program, written, lanes)}"
        return _noted(written, [*limits, how])
    without = [
        (part, why) for part, why in zip(found.parts, found.single, strict=True) if why is not None
    ]
    if not without:
        return found
    written, limits = _written_out(program, request, target)
    if written is not None and predicted_cycles(written.plan) < predicted_cycles(found.plan):
        first = without[0][1].diagnostic.message
        return _noted(written, [*limits, f"{first}: {_how(program, written, lanes)}"])
    return _noted(found, [f"{why.diagnostic.message}: {_in_one(part)}" for part, why in without])


def _noted(found: TiledProgram, limits: Iterable[str]) -> TiledProgram:
    """Return a plan, and say what limits have changed in it."""
    note_limits(limits)
    return found


def _in_one(part: TiledPart) -> str:
    names = [statement.name for statement in part.program.scop.statements]
    return f"{', '.join(names)} {'runs' if len(names) == 1 else 'run'} in one lane"


def _written_out(
    program: ParsedProgram, request: TileRequest, target: Target
) -> tuple[TiledProgram | None, Collection[str]]:
    """Return a program whose lanes are written out, if it can be planned, and what limits did."""
    lanes = request.lanes
    assert lanes is not None, "they are asked for"
    wishes = LaneWishes(unroll={lanes.loop: lanes.count})
    if lanes.place is not None:
        wishes = LaneWishes(marked={lanes.place: lanes.count})
    try:
        # Whatever the lanes of tiles took, there is as much for these.
        with more_effort(), noting_limits() as limits:
            wider = replace(program, scop=folded_program(unroll(program.scop, wishes)))
            return plan_in_tiles(wider, replace(request, lanes=None), target), limits
    except UNTILED:
        return None, ()


def _how(program: ParsedProgram, found: TiledProgram, lanes: LaneRequest) -> str:
    """Return what became of the lanes."""
    written, before = len(found.program.scop.statements), len(program.scop.statements)
    if written <= before:
        return f"the lanes of {lanes.loop} are terms of one sum"
    return (
        f"the lanes of {lanes.loop} are statements, {written} instead of {before}, "
        "each with windows of its own"
    )
