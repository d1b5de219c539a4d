"""One unit of a program, planned in given tiles.

cut into tiles -> plan one tile -> windows and movers -> streams
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd, lcm

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.plan import Bus, Direction, Memory, OffChip, Region, TiledRegion, Workers
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.correspondence import (
    Correspondence,
    correspondence,
    moved_dataflow,
    moved_dependences,
)
from rtlgen.poly.counting import count_points
from rtlgen.poly.crossings import Crossings
from rtlgen.poly.legality import find_violation
from rtlgen.poly.tiling import TileGrid, TileRelations
from rtlgen.scheduling.datapath import build_datapath
from rtlgen.scheduling.decide import Decision, decide_fused, relaxing
from rtlgen.scheduling.doacross import Doacross, SharedLoop
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.passing import Scopes, passing
from rtlgen.scheduling.places import Windows
from rtlgen.scheduling.predicates import counter_box
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures, level_of
from rtlgen.scheduling.tile_issue import Part
from rtlgen.scheduling.tile_kernel import TileKernel, tile_loops
from rtlgen.scheduling.tile_streams import TileStreamBuilder
from rtlgen.scheduling.traffic import Traffic
from rtlgen.scheduling.waiting import Waiting
from rtlgen.scheduling.windows import WindowPlanner
from rtlgen.scheduling.workers import ONE_WORKER, Shared, WorkerRequest, one_worker, share
from rtlgen.target import Target
from rtlgen.tiling.illegal import illegal_tiles
from rtlgen.tiling.lanes import LaneRequest, require_lanes_apart
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.program import Program
from rtlgen.timing import recurrent_reads
from rtlgen.transforms.candidates import box_placement
from rtlgen.transforms.instance_ranks import Instances
from rtlgen.transforms.precedence import Related
from rtlgen.transforms.tile_nests import TiledScop, Tiling, cut_into_tiles
from rtlgen.transforms.units import dependence_units

UNLIMITED = 1 << 62
"""More bits of RAM than anything takes."""

MOST_TILES_BEHIND = 3
"""Tiles that a unit may be behind one that it is cut together with."""


@dataclass(frozen=True, slots=True)
class Chip:
    """What the parts of a program are planned for.

    Members
    -------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    budget_bits: RAM that windows and kept memories may take. buffer: see `TileRequest`.
    workers: among which tiles are shared. lanes: what is to run side by side; None: nothing.
    """

    off_chip: Mapping[str, OffChip]
    word_bits: int
    bus: Bus
    budget_bits: int
    buffer: bool
    target: Target
    workers: WorkerRequest = ONE_WORKER
    lanes: LaneRequest | None = None

    @property
    def worker_bits(self) -> int:
        """The RAM that each worker may take."""
        return self.budget_bits // self.workers.count


@dataclass(frozen=True, eq=False)
class CutPart:
    """A unit in tiles whose order is legal.

    Members
    -------
    loops: those that were cut. tiled: `before` gives the iterators of the C program.
    planners: those that were made, by what their kernel may not do.
    """

    loops: UnitLoops
    tiling: Tiling
    target: Target
    off_chip: frozenset[str]
    tiled: TiledScop
    relations: TileRelations
    crossings: Crossings
    tile_loops: tuple[NestLoop, ...]
    planners: dict[tuple[object, ...], WindowPlanner] = field(default_factory=dict)

    @cached_property
    def issue_space(self) -> Space:
        """The ways to issue the statements of one tile."""
        inside = ScopSets(self.tiled.inside, self.relations.sets)
        one = self.relations.at_origin(inside)
        timing = _timing(one, inside.scop, self.tiled.scop, self.target)
        # Off chip, what each statement writes goes through a window of its own.
        return Space(replace(timing, banked=self.off_chip), inside.scop)

    @cached_property
    def tiles(self) -> int:
        """How many tiles run."""
        return count_points(counter_box(self.relations.sets, self.tile_loops))

    @cached_property
    def tile_rows(self) -> int:
        """How many iterations all tile loops but the innermost one have together."""
        return count_points(counter_box(self.relations.sets, self.tile_loops[:-1]))

    @property
    def tile_iterations(self) -> int:
        """Iterations of a whole tile of the statement that has the most."""
        found = []
        for statement in self.tiled.inside.statements:
            count = 1
            for loop in self.tiled.inside.schedule.loops(statement.name):
                count *= loop.extent
            found.append(count)
        return max(found)

    @property
    def lane_loop(self) -> NestLoop | None:
        """The loop over lanes, which takes no time."""
        lanes = self.tiling.lanes
        return None if lanes is None else NestLoop(self.tiled.lane, lanes.count)

    def scopes(self, levels: int) -> dict[str, int]:
        """Return one scope for all statements."""
        return {statement.name: levels for statement in self.tiled.scop.statements}


@dataclass(frozen=True, slots=True, eq=False)
class TiledPart:
    """One unit, planned in tiles.

    Members
    -------
    region: as one worker runs it. team: as it runs, with the memories of all workers.
    shared: the tile loop whose iterations workers share; None for one worker.
    scopes: of the values of each statement, see `scheduling.passing`.
    """

    loops: UnitLoops
    tiling: Tiling
    tiled: TiledScop
    kernel: TileKernel
    windows: Windows
    region: TiledRegion
    team: Shared
    shared: SharedLoop | None
    scopes: Scopes

    @property
    def program(self) -> Program:
        """Its statements, in the loops that were cut."""
        return self.loops.program

    @property
    def across(self) -> Doacross | None:
        """How iterations of that loop wait for one another; None where they need not."""
        return None if self.shared is None else self.shared.across

    @property
    def ram_bits(self) -> int:
        """Bits of RAM that its windows and kept memories take."""
        return ram_bits(self.team.memories)

    @property
    def workers(self) -> Workers:
        return self.team.workers

    @property
    def space(self) -> int | None:
        """The number of the tile loop that workers share; None for one worker."""
        return None if self.shared is None else self.shared.number

    @property
    def kernel_cycles(self) -> int:
        """Cycles that the busiest worker takes for its tiles, as if no word were waited for."""
        return max(region.tiles * region.issue_cycles for region in self.workers.regions)

    def judged(self, written: Scop) -> Part:
        """Return what its replay has to know of it.

        Parameters
        ----------
        written: the program in the order of C.
        """
        loops = {s.name: self.kernel.counted_loops(s.name) for s in self.kernel.statements}
        lanes = self.kernel.lanes
        return Part(written, self.tiled.scop, self.tiled.before, loops, self.team.counters, lanes)

    @property
    def words_moved(self) -> int:
        return sum(self.windows.words.values())

    def words_by(self, direction: Direction) -> int:
        """Return the words that are loaded, or stored."""
        moved = [t.window for t in self.region.transfers if t.direction == direction]
        return sum(self.windows.words[window] for window in moved)


def ram_bits(memories: Sequence[Memory]) -> int:
    """Return the bits of all copies of some memories."""
    return sum(m.depth * m.width_bits * m.read_ports for m in memories)


def word_phases(loops: UnitLoops, tiling: Tiling, chip: Chip) -> Tiling:
    """Return a tiling whose outer tile loops step by whole words.

    Then the words of a tile are few, counted from there; else they are somewhere in a whole row.
    """
    rows = [f"row {k}" for k in range(tiling.depth)]
    coordinates = replace(tiling, phases=(), woven=False).coordinates(rows)
    phases = list(tiling.phases or (1,) * tiling.depth)
    for statement in loops.program.scop.statements:
        cut = list(zip(statement.iterators, coordinates, tiling.sizes, strict=False))
        for access in (statement.write, *statement.reads):
            if access.array not in chip.off_chip:
                continue
            lanes = chip.word_bits // chip.off_chip[access.array].width_bits
            last = access.affine[-1]
            low = affine_sum(tile * (last.coefficient(name) * size) for name, tile, size in cut)
            for k, row in enumerate(rows):
                phases[k] = lcm(phases[k], lanes // gcd(low.coefficient(row), lanes))
    return replace(tiling, phases=tuple(phases)) if max(phases, default=1) > 1 else tiling


def cut_part(
    loops: UnitLoops, tiling: Tiling, target: Target, off_chip: Collection[str]
) -> CutPart:
    """Cut a unit into tiles, or several, of which each may be some tiles behind those before it.

    Parameters
    ----------
    off_chip: names of arrays.

    Raises
    ------
    IllegalSchedule: a dependence runs from a tile to one before it.
    NoLanes: one runs from lane to lane.
    """
    behind = [0] * max(1, len(loops.units))
    while True:
        there = _tiles_behind(loops, tiling, behind)
        tiled, moved, relations = _in_tiles(there, tiling)
        violation = find_violation(relations.sets, relations.dependences, tiled.scop.schedule)
        if violation is None:
            break
        first = loops.unit_of(violation.dependence.source)
        second = loops.unit_of(violation.dependence.sink)
        if first == second or behind[second] >= behind[first] + MOST_TILES_BEHIND:
            raise illegal_tiles(tiled, tiling, violation)
        behind[second] += 1
    require_lanes_apart(tiling, relations)
    tiled = replace(tiled, before=_composed(there, tiled))
    nest = tile_loops(relations.sets, relations.tiles(), tiled.tile_iterators)
    if tiling.woven:
        # The innermost loop runs through all of its tiles always, and so keeps others apart.
        nest = (*nest[:-1], replace(nest[-1], lowers=(), uppers=(), at=0, extent=tiling.phases[0]))
    grid = TileGrid(
        there.program.flows.flows,
        moved,
        tuple(
            None if block is None else (block.loop, block.size, block.begin)
            for block in tiling.blocks(tiled.tile_iterators)
        ),
    )
    crossings = Crossings(relations, grid)
    return CutPart(there, tiling, target, frozenset(off_chip), tiled, relations, crossings, nest)


def _tiles_behind(loops: UnitLoops, tiling: Tiling, behind: Sequence[int]) -> UnitLoops:
    """Return loops with each unit so many tiles later in the first of the order."""
    if not any(behind):
        return loops
    level = next(k for k, c in enumerate(tiling.order[0]) if c)
    return loops.delayed(level, tuple(tiles * tiling.sizes[level] for tiles in behind))


def _in_tiles(loops: UnitLoops, tiling: Tiling) -> tuple[TiledScop, Correspondence, TileRelations]:
    """Return loops in tiles, which instance became which, and what depends on what there."""
    part = loops.program
    tiled = cut_into_tiles(part.scop, tiling)
    sets = ScopSets(tiled.scop, part.sets)
    correspondence(part.sets, sets)
    moved = _numbered(part.sets, sets, tiled, tiling)
    relations = TileRelations(
        sets,
        tiling.loop_count,
        moved_dependences(part.dependences, sets, moved),
        moved_dataflow(part.flows, moved),
        tiling.lanes is not None,
    )
    return tiled, moved, relations


def _numbered(
    before: ScopSets, after: ScopSets, tiled: TiledScop, tiling: Tiling
) -> Correspondence:
    """Return which instance became which, with nothing said of where instances are.

    The relations that are moved say that; saying it twice leaves quotients in what is made of them.
    """
    found = {}
    for statement in after.scop.statements:
        names = statement.iterators
        dims = ",".join(f"d{k}" for k in range(len(names)))
        old = ",".join(affine_text(form, names) for form in tiled.before[statement.name])
        inside = range(tiling.loop_count, tiling.loop_count + tiling.depth)
        extents = [*zip(inside, tiling.trips, strict=True), *tiling.phase_loops]
        if tiling.lanes is not None:
            extents.append((len(names) - 1, tiling.lanes.count))
        where = " and ".join(f"0 <= d{k} < {extent}" for k, extent in extents)
        source = f"{after.statement_tuple(statement.name)}[{dims}]"
        target = f"{before.statement_tuple(statement.name)}[{old}]"
        text = f"{{ {source} -> {target} : {where or 'true'} }}"
        found[statement.name] = after.read_map(text).reverse()
    return found


def _composed(loops: UnitLoops, tiled: TiledScop) -> dict[str, tuple[Affine, ...]]:
    """Return the iterators of C by those of the program in tiles."""
    found = {}
    for statement in loops.program.scop.statements:
        values = dict(zip(statement.iterators, tiled.before[statement.name], strict=True))
        forms = loops.before[statement.name]
        found[statement.name] = tuple(form.substitute(values) for form in forms)
    return found


def plan_part(
    cut: CutPart, chip: Chip, taken: Sequence[str], shared: SharedLoop | None = None
) -> TiledPart:
    """Plan the statements of a unit in given tiles.

    Values stay on chip in as wide a scope as the RAM allows.

    Parameters
    ----------
    taken: names that memories cannot have. shared: the tile loop that workers share; None for one
        worker.

    Raises
    ------
    RaggedDomain: something of it takes too many conditions.
    """
    return relaxing(cut.issue_space, lambda ways: _planned(cut, chip, taken, ways, shared))


def widest_scope(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> int:
    """Return the number of tile loops in one iteration of which values stay on chip at most.

    That is one iteration of the loop that workers share: what is in it is one worker's.
    """
    if not chip.buffer:
        return cut.tiling.loop_count
    return 0 if shared is None else shared.number + 1


def ram_of_part(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> int:
    """Return the bits of RAM that it takes each worker to keep on chip what is read again."""
    widest = cut.scopes(widest_scope(cut, chip, shared))

    def measured(ways: Space) -> int:
        return _planner(cut, ways, chip, shared).within(widest, UNLIMITED).taken_bits

    return relaxing(cut.issue_space, measured)


def _planned(
    cut: CutPart, chip: Chip, taken: Sequence[str], ways: Space, shared: SharedLoop | None
) -> TiledPart:
    planner = _planner(cut, ways, chip, shared)
    sized = planner.within(cut.scopes(widest_scope(cut, chip, shared)), chip.worker_bits)
    windows = planner.plan(sized, taken)
    region = _region(planner.kernel, windows, cut)
    team = one_worker(region, windows.memories)
    if shared is not None:
        team = share(region, windows.memories, chip.workers, shared.number, windows.held, taken)
    return TiledPart(
        cut.loops,
        cut.tiling,
        cut.tiled,
        planner.kernel,
        windows,
        region,
        team,
        shared,
        sized.scopes,
    )


def _planner(cut: CutPart, ways: Space, chip: Chip, shared: SharedLoop | None) -> WindowPlanner:
    space = None if shared is None else shared.number
    across = None if shared is None else shared.across
    key = ways.timing.memory_only, ways.timing.apart, shared, chip.workers.barrier
    if key not in cut.planners:
        kernel = _kernel(cut, ways)
        cut.planners[key] = WindowPlanner(
            kernel,
            cut.crossings,
            chip.off_chip,
            chip.word_bits,
            chip.target.memory_read_latency_cycles,
            cut.loops.folds,
            Waiting(kernel, space, chip.workers.barrier, across),
        )
    return cut.planners[key]


def _kernel(cut: CutPart, space: Space) -> TileKernel:
    same = cut.relations.same_tile()
    everywhere = replace(
        space.timing,
        sets=cut.relations.sets,
        dependences=same.dependences,
        dataflow=same.flows,
        related=Related(cut.tiled.scop, frozenset(), True),
        instances=Instances(cut.relations.sets),
    )
    decision = _decision(cut, space)
    return TileKernel(cut.relations, everywhere, decision, cut.tile_loops, cut.lane_loop)


def _decision(cut: CutPart, space: Space) -> Decision:
    """Return when the statements of a tile issue: the same in whatever order its tiles run.

    What is between the instances of one tile does not depend on the order, and of the datapaths
    only the latencies matter.
    """
    timing, tiling = space.timing, cut.tiling
    stages = tuple(
        (name, datapath.result_stage, tuple(datapath.starts), tuple(datapath.latencies))
        for name, datapath in timing.datapaths.items()
    )
    key = tiling.sizes, tiling.lanes, tiling.loop_count, timing.memory_only, timing.apart, stages
    known = cut.loops.decisions
    if key not in known:
        known[key] = decide_fused(space, {})
    return known[key]


def traffic_of(cut: CutPart, chip: Chip, levels: int) -> Traffic:
    """Return what a unit in tiles moves where values stay on chip in a scope of some tile loops."""
    sets = cut.relations.sets
    reads = [
        ((statement.name, read), sets.accessing(statement, access))
        for statement in sets.scop.statements
        for read, access in enumerate(statement.reads)
    ]
    passed = passing(cut.crossings, reads, chip.off_chip, cut.scopes(levels))
    return Traffic(
        cut.relations, cut.tile_loops, chip.off_chip, chip.word_bits, passed, cut.lane_loop
    )


def _region(kernel: TileKernel, windows: Windows, cut: CutPart) -> TiledRegion:
    names = [statement.name for statement in kernel.statements]
    place = {name: n * kernel.lanes for n, name in enumerate(names)}
    decision = kernel.decision
    figures = Figures(
        decision.shifts, decision.ii_reasons, decision.fused_iterations, decision.floor_iterations
    )
    base = min(kernel.times[name].offset for name in names)
    streams = tuple(
        TileStreamBuilder(
            kernel, windows, place, statement, cut.loops.instances[statement.name], lane
        ).stream(figures, base)
        for statement in kernel.statements
        for lane in range(kernel.lanes)
    )
    levels = tuple(level_of(loop, kernel.tile_loops) for loop in kernel.tile_loops)
    return TiledRegion(
        kernel=Region.whole(streams),
        levels=levels,
        tiles=cut.tiles,
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
