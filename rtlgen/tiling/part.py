"""One unit of a program, planned in given tiles.

cut into tiles -> plan one tile -> windows and movers -> streams
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.plan import OffChip, Region, TiledRegion
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import correspondence, moved_dataflow, moved_dependences
from rtlgen.poly.counting import count_points
from rtlgen.poly.legality import require_legal
from rtlgen.poly.tiling import TileRelations
from rtlgen.scheduling.datapath import build_datapath
from rtlgen.scheduling.decide import decide_fused, relaxing
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.predicates import counter_box
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures, level_of
from rtlgen.scheduling.tile_kernel import TileKernel, tile_loops
from rtlgen.scheduling.tile_streams import TileStreamBuilder
from rtlgen.scheduling.windows import WindowPlanner, Windows
from rtlgen.target import Target
from rtlgen.tiling.program import Program
from rtlgen.timing import recurrent_reads
from rtlgen.transforms.candidates import box_placement
from rtlgen.transforms.instance_ranks import Instances
from rtlgen.transforms.precedence import Related
from rtlgen.transforms.tile_nests import TiledScop, Tiling, cut_into_tiles
from rtlgen.transforms.units import dependence_units


@dataclass(frozen=True, slots=True, eq=False)
class TiledPart:
    """One unit, planned in tiles."""

    program: Program
    tiling: Tiling
    tiled: TiledScop
    kernel: TileKernel
    windows: Windows
    region: TiledRegion


def plan_part(
    part: Program,
    tiling: Tiling,
    off_chip: Mapping[str, OffChip],
    word_bits: int,
    target: Target,
    taken: Sequence[str],
) -> TiledPart:
    """Plan the statements of a unit in given tiles.

    Raises
    ------
    IllegalSchedule: a dependence runs from a tile to one before it.
    """
    tiled = cut_into_tiles(part.scop, tiling)
    sets = ScopSets(tiled.scop, part.sets.context)
    moved = correspondence(part.sets, sets)
    relations = TileRelations(
        sets,
        tiling.depth,
        moved_dependences(part.dependences, sets, moved),
        moved_dataflow(part.flows, moved),
    )
    require_legal(sets, relations.dependences, tiled.scop.schedule, "cutting the loops into tiles")
    kernel = _kernel(relations, tiled, target)
    windows = WindowPlanner(
        kernel,
        off_chip,
        word_bits,
        relations.flows.live_out,
        target.memory_read_latency_cycles,
        taken,
    ).plan()
    return TiledPart(part, tiling, tiled, kernel, windows, _region(kernel, windows))


def _kernel(relations: TileRelations, tiled: TiledScop, target: Target) -> TileKernel:
    """Plan one whole tile."""
    inside = ScopSets(tiled.inside, relations.sets.context)
    timing = _timing(relations.at_origin(inside), tiled.inside, tiled.scop, target)
    timing, decision = relaxing(
        Space(timing, tiled.inside), lambda space: (space.timing, decide_fused(space, {}))
    )
    same = relations.same_tile()
    everywhere = replace(
        timing,
        sets=relations.sets,
        dependences=same.dependences,
        dataflow=same.flows,
        related=Related(tiled.scop, frozenset(), True),
        instances=Instances(relations.sets),
    )
    loops = tile_loops(relations.tiles(), tiled.tile_iterators)
    return TileKernel(relations, everywhere, decision, loops)


def _region(kernel: TileKernel, windows: Windows) -> TiledRegion:
    names = [statement.name for statement in kernel.statements]
    place = {name: n for n, name in enumerate(names)}
    decision = kernel.decision
    figures = Figures(
        decision.shifts, decision.ii_reasons, decision.fused_iterations, decision.floor_iterations
    )
    base = min(kernel.times[name].offset for name in names)
    streams = tuple(
        TileStreamBuilder(kernel, windows, place, statement).stream(figures, base)
        for statement in kernel.statements
    )
    levels = tuple(level_of(loop, kernel.tile_loops) for loop in kernel.tile_loops)
    return TiledRegion(
        kernel=Region.whole(streams),
        levels=levels,
        tiles=count_points(counter_box(kernel.sets, kernel.tile_loops)),
        issue_cycles=windows.issue_cycles,
        transfers=windows.transfers,
    )


def _timing(one: TileRelations, inside: Scop, whole: Scop, target: Target) -> Timing:
    """Return the datapaths of the statements, and what is between the instances of one tile."""
    units = dependence_units(inside, one.dependences)
    related = Related(inside, frozenset(), True)
    datapaths = {}
    for statement in inside.statements:
        unit = next(unit for unit in units if statement.name in unit.statements)
        written = box_placement(inside.schedule.loops(statement.name), statement.iterators)
        late = recurrent_reads(unit, one.flows, related, statement.name, written)
        box = whole.schedule.box(statement.name)
        datapaths[statement.name] = build_datapath(inside, statement, box, target, late)
    return Timing(
        one.sets, units, datapaths, one.dependences, one.flows, related, Instances(one.sets)
    )
