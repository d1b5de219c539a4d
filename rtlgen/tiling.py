"""Plan a program whose arrays are off chip: in tiles, each unit of its statements by itself.

    parse -> normalise -> units -> cut into tiles -> plan one tile -> windows and movers -> plan

The statements of a unit depend on each other in a cycle and share their tiles. Units run one after
another, and what passes between them passes through the memory off chip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from rtlgen.ir.iterations import level_iterations
from rtlgen.ir.plan import Level, OffChip, Region, TiledRegion
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import correspondence, moved_dataflow, moved_dependences
from rtlgen.poly.dependences import Dataflow, Dependence, dataflow, memory_dependences
from rtlgen.poly.legality import require_legal
from rtlgen.poly.tiling import TileRelations, range_of
from rtlgen.scheduling.datapath import build_datapath
from rtlgen.scheduling.decide import decide_fused
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures, level_of
from rtlgen.scheduling.tile_kernel import TileKernel, tile_loops
from rtlgen.scheduling.tile_streams import TileStreamBuilder
from rtlgen.scheduling.windows import WindowPlanner, Windows
from rtlgen.target import Target
from rtlgen.timing import recurrent_reads
from rtlgen.transforms.candidates import box_placement
from rtlgen.transforms.instance_ranks import Instances
from rtlgen.transforms.normalise import boxed, normalise, program_order, restricted
from rtlgen.transforms.precedence import Related
from rtlgen.transforms.tile_nests import TiledScop, Tiling, cut_into_tiles
from rtlgen.transforms.units import dependence_units


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program whose loops count as in C, and what depends on what in it."""

    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow

    @property
    def scop(self) -> Scop:
        return self.sets.scop


def as_written(scop: Scop) -> Program:
    """Return a parsed program with the iterators of the C program."""
    names = frozenset(statement.name for statement in scop.statements)
    sets = ScopSets(normalise(scop, names))
    return Program(sets, memory_dependences(sets), dataflow(sets))


def part_of(program: Program, names: frozenset[str]) -> Program:
    """Return some statements of a program, and what is between them alone."""
    scop = program.scop
    tree = restricted(scop.tree, names)
    statements = tuple(s for s in scop.statements if s.name in names)
    own = boxed(replace(scop, statements=statements, tree=tree, schedule=program_order(tree)))
    sets = ScopSets(own, program.sets.context)
    old = {program.sets.statement_tuple(n): sets.statement_tuple(n) for n in names}

    def renamed(relation: isl.Map) -> isl.Map:
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            relation = relation.set_tuple_name(kind, old[relation.get_tuple_name(kind)])
        return relation

    return Program(
        sets,
        tuple(
            replace(d, relation=renamed(d.relation))
            for d in program.dependences
            if {d.source, d.sink} <= names
        ),
        Dataflow(
            tuple(
                replace(f, relation=renamed(f.relation))
                for f in program.flows.flows
                if {f.source, f.sink} <= names
            ),
            {
                n: _outliving(program, n, names).set_tuple_name(sets.statement_tuple(n))
                for n in names
            },
        ),
    )


def _outliving(program: Program, name: str, names: frozenset[str]) -> isl.Set:
    """Return the instances whose value is needed after the statements of these names."""
    array = program.scop.array(program.scop.statement(name).write.array)
    alive = program.flows.live_out[name]
    if array.storage == "local" and array.name != program.scop.returned:
        alive = alive.subtract(alive)
    for flow in program.flows.flows:
        if flow.source == name and flow.sink not in names:
            alive = alive.union(flow.relation.domain())
    return alive.coalesce()


@dataclass(frozen=True, slots=True, eq=False)
class TiledPart:
    """One unit, planned in tiles."""

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
    return TiledPart(tiling, tiled, kernel, windows, _region(kernel, windows))


def _kernel(relations: TileRelations, tiled: TiledScop, target: Target) -> TileKernel:
    """Plan one whole tile."""
    inside = ScopSets(tiled.inside, relations.sets.context)
    one = relations.at_origin(inside)
    timing = _timing(one, tiled.inside, tiled.scop, target)
    decision = decide_fused(Space(timing, tiled.inside), {})
    same = relations.same_tile()
    everywhere = replace(
        timing,
        sets=relations.sets,
        dependences=same.dependences,
        dataflow=same.flows,
        related=Related(tiled.scop, frozenset(), True),
        instances=Instances(relations.sets),
    )
    boxes = _tile_boxes(relations, tiled.tile_iterators)
    return TileKernel(relations, everywhere, decision, tile_loops(relations, boxes))


def _tile_boxes(relations: TileRelations, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    tiles = relations.tiles()
    return {name: range_of(tiles, k) for k, name in enumerate(names)}


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
        tiles=_count(levels),
        issue_cycles=windows.issue_cycles,
        transfers=windows.transfers,
    )


def _count(levels: Sequence[Level]) -> int:
    count = 1
    for rows, _ in level_iterations(levels):
        count = len(rows)
    return count


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
