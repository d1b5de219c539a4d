"""Whether the lanes and workers that tiles are asked to have save cycles: a warning where not.

To know, the program is planned once more without them. That is not done where it would surely take
longer: a statement issues once a cycle at most on one worker in one lane.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from rtlgen.errors import Diagnostic
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import improving, more_effort, note_limit, noting_limits
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import NoLanes, RaggedDomain, WindowsTooLarge
from rtlgen.scheduling.workers import ONE_WORKER
from rtlgen.search.lane_worth import LaneAsk, saves_nothing
from rtlgen.target import Target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.plan import TiledProgram
from rtlgen.tiling.written_out import plan_in_lanes

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
