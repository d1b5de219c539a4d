"""A unit cut into tiles, in an order that keeps its dependences, or the reason why there is none.

What the units of a program in tiles are planned for.

Tiles that no order allows: which two of them need each other, and what would work.

A unit cut into tiles: in words of the bus, in an order that keeps its dependences.

Units that are cut together are as many tiles behind each other as their dependences ask for.

Why a unit cannot run in tiles that were tried, and how much RAM would do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import gcd, lcm

from rtlgen.datapath.build import Datapath, build_datapath
from rtlgen.datapath.lags import Timing, recurrent_reads
from rtlgen.errors import RtlgenError
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.ir.plan import Bus, OffChip
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.ir.timeline_tracks import row_depth
from rtlgen.ir.transfer_patterns import MOST_TILES
from rtlgen.memories.predicates import counter_box
from rtlgen.nests.candidates import Instances, box_placement
from rtlgen.nests.precedence import Related
from rtlgen.poly.correspondence import (
    Correspondence,
    correspondence,
    moved_dataflow,
    moved_dependences,
)
from rtlgen.poly.counting import count_points
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.poly.legality import Violation, find_violation, illegal_schedule
from rtlgen.poly.tiling import Crossings, TileGrid, TileRelations
from rtlgen.scheduling.errors import NoLanes, RaggedDomain, WindowsTooLarge
from rtlgen.scheduling.operand_registers import Wait, with_wait
from rtlgen.scheduling.space import Space
from rtlgen.target import Target
from rtlgen.tiling.lanes import LaneRequest, lanes_out_of_order, require_lanes_apart
from rtlgen.tiling.loops import BrokenPair, UnitLoops
from rtlgen.transforms.tile_nests import Lanes, TiledScop, Tiling, WitnessTiles, cut_into_tiles
from rtlgen.transforms.units import dependence_units
from rtlgen.windows.places import HandingOver
from rtlgen.windows.planner import WindowPlanner
from rtlgen.windows.tile_kernel import tile_loops
from rtlgen.windows.waiting import SharedLoop
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest

UNLIMITED = 1 << 62
"""More bits of RAM than anything takes."""


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


def illegal_tiles(
    tiled: TiledScop, tiling: Tiling, violation: Violation
) -> IllegalSchedule | NoLanes:
    """Return the error for tiles whose order breaks a dependence; its witness is two tiles.

    Or where that is inside of a tile, two lanes.
    """
    scop = tiled.scop
    tiles = WitnessTiles(tiled, tiling, violation)
    is_inside = tiles.first == tiles.second
    if is_inside and tiling.lanes is not None:
        return lanes_out_of_order(scop, violation)
    sizes = ",".join(map(str, tiling.sizes))
    # One iteration of the outer loops after another is the order of the program itself.
    *outer, last = tiling.sizes
    strips = ",".join(map(str, [*(1 for _ in outer), last]))
    note = f"tile {tiles.first} has to be done before tile {tiles.second}, which runs first"
    if is_inside:
        note = f"inside of tile {tiles.first} they run the other way round"
    remedy = f"tiles of {strips} iterations run in the order of the program: --tile {strips}"
    if strips == sizes or is_inside:
        remedy = "keep all arrays on chip: --memory onchip"
    return illegal_schedule(
        scop,
        violation,
        f"cutting the loops into tiles of {sizes} iterations",
        where=tiles.where,
        notes=(f"{note}; other orders of the tiles fail, too",),
        remedy=remedy,
    )


MOST_TILES_BEHIND = 3
"""Tiles that a unit may be behind one that it is cut together with."""


@dataclass(frozen=True, eq=False)
class CutPart:
    """A unit in tiles whose order is legal.

    Members
    -------
    loops: those that were cut. tiled: `before` gives the iterators of the C program.
    waits: for values that settle in its tiles.
    planners: those that were made, by what their kernel may not do. handed: what can be handed over
        by workers, by what they share.
    """

    loops: UnitLoops
    tiling: Tiling
    target: Target
    off_chip: frozenset[str]
    tiled: TiledScop
    relations: TileRelations
    crossings: Crossings
    tile_loops: tuple[NestLoop, ...]
    waits: tuple[Wait, ...] = ()
    planners: dict[tuple[object, ...], WindowPlanner] = field(default_factory=dict)
    handed: dict[SharedLoop, HandingOver | None] = field(default_factory=dict)

    @cached_property
    def issue_space(self) -> Space:
        """The ways to issue the statements of one tile."""
        inside = ScopSets(self.tiled.inside, self.relations.sets)
        one = self.relations.at_origin(inside)
        lanes = self.tiling.lanes
        timing = _timing(one, inside.scop, self.tiled.scop, self.target)
        if lanes is not None and lanes.in_step:
            timing = replace(timing, datapaths=_addressed_together(timing))
        timing = reduce(with_wait, self.waits, timing)
        # Off chip, what each statement writes goes through a window of its own.
        return Space(replace(timing, banked=self.off_chip), inside.scop)

    def with_waits(self, waits: tuple[Wait, ...]) -> CutPart:
        """Return the same with values that settle in its tiles."""
        # What is handed over does not depend on when statements issue.
        return replace(self, waits=waits, planners={})

    @cached_property
    def tiles(self) -> int:
        """How many tiles run."""
        return count_points(counter_box(self.relations.sets, self.tile_loops))

    @cached_property
    def tile_rows(self) -> int:
        """How many iterations the tile loops outside of rows have together."""
        outside = row_depth([loop.extent for loop in self.tile_loops])
        return count_points(counter_box(self.relations.sets, self.tile_loops[:outside]))

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
        """The loop over lanes, which is none over time."""
        lanes = self.tiling.lanes
        return None if lanes is None else NestLoop(self.tiled.lane, lanes.count)

    def scopes(self, levels: int) -> dict[str, int]:
        """Return one scope for all statements."""
        return {statement.name: levels for statement in self.tiled.scop.statements}


def word_phases(loops: UnitLoops, tiling: Tiling, chip: Chip) -> Tiling:
    """Return a tiling whose outer tile loops step by whole words.

    Then the words of a tile are few, counted from there; else they are somewhere in a whole row.
    """
    rows = [f"row {k}" for k in range(tiling.depth)]
    coordinates = replace(tiling, phases=(), woven=None, spread=False).coordinates(rows)
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


def tile_ends(
    loops: UnitLoops, sizes: Sequence[int], lengths: Sequence[int], lanes: Lanes | None, chip: Chip
) -> tuple[int, ...]:
    """Return how many iterations before 0 tiles have to begin that end where their loop does.

    Words and lanes begin where tiles do, so these are multiples of both, and the last tile of a
    loop may lack a few iterations.

    Parameters
    ----------
    sizes: of the tiles. lengths: by loop, one more than its last iteration.
    """
    grains = [1] * len(sizes)
    if lanes is not None:
        grains[lanes.loop] = lanes.count
    for statement in loops.program.scop.statements:
        for access in (statement.write, *statement.reads):
            if access.array not in chip.off_chip:
                continue
            elements = chip.word_bits // chip.off_chip[access.array].width_bits
            for k, name in enumerate(statement.iterators[: len(sizes)]):
                step = access.affine[-1].coefficient(name)
                grains[k] = lcm(grains[k], elements // gcd(step, elements))
    return tuple(
        -length % size // grain * grain
        for length, size, grain in zip(lengths, sizes, grains, strict=True)
    )


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
    behind = [0] * len(loops.moved)
    begun = _begun_before(loops, tiling)
    while True:
        _catch_up(loops, tiling, behind)
        there = _tiles_behind(begun, tiling, behind)
        tiled, moved, relations = _in_tiles(there, tiling)
        violation = find_violation(relations.sets, relations.dependences, tiled.scop.schedule)
        if violation is None:
            break
        first = loops.unit_of(violation.dependence.source)
        second = loops.unit_of(violation.dependence.sink)
        if first == second or behind[second] >= behind[first] + MOST_TILES_BEHIND:
            raise illegal_tiles(tiled, tiling, violation)
        loops.broken.append(_broken_pair(loops, tiling, behind, tiled, violation))
        behind[second] += 1
    require_lanes_apart(tiling, relations)
    tiled = replace(tiled, before=_composed(there, tiled))
    nest = tile_loops(relations.sets, relations.tiles(), tiled.tile_iterators)
    if tiling.spread:
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


def _begun_before(loops: UnitLoops, tiling: Tiling) -> UnitLoops:
    """Return loops whose iterations are so much later that tiles begin where they are to begin."""
    for level, origin in enumerate(tiling.origins):
        if origin:
            loops = loops.delayed(level, (origin,) * len(loops.moved))
    return loops


def _tiles_behind(loops: UnitLoops, tiling: Tiling, behind: Sequence[int]) -> UnitLoops:
    """Return loops with each unit so many tiles later in the first of the order."""
    if not any(behind):
        return loops
    level = tiling.outermost
    return loops.delayed(level, tuple(tiles * tiling.sizes[level] for tiles in behind))


def _delays(tiling: Tiling, tiles: int) -> tuple[int, ...]:
    """Return how much later a unit is in each loop that is so many tiles behind."""
    origins = tiling.origins or (0,) * tiling.depth
    level = tiling.outermost
    return tuple(
        origin + (tiles * tiling.sizes[k] if k == level else 0) for k, origin in enumerate(origins)
    )


def _catch_up(loops: UnitLoops, tiling: Tiling, behind: list[int]) -> None:
    """Let units be as many tiles behind as pairs ask for that other tiles have broken.

    That is told at once, where a proof that nothing is broken takes long.
    """

    def tile(unit: int, iterations: Sequence[int]) -> tuple[int, ...]:
        delays = _delays(tiling, behind[unit])
        cut = iterations[: tiling.depth]
        at = [(i + d) // n for i, d, n in zip(cut, delays, tiling.sizes, strict=True)]
        return tuple(sum(c * t for c, t in zip(row, at, strict=True)) for row in tiling.order)

    waiting = True
    while waiting:
        waiting = False
        for pair in loops.broken:
            late = tile(pair.first, pair.source) > tile(pair.second, pair.sink)
            if late and behind[pair.second] < behind[pair.first] + MOST_TILES_BEHIND:
                behind[pair.second] += 1
                waiting = True


def _broken_pair(
    loops: UnitLoops,
    tiling: Tiling,
    behind: Sequence[int],
    tiled: TiledScop,
    violation: Violation,
) -> BrokenPair:
    """Return which iterations of all loops were in the wrong order: other tiles may cut more."""

    def iterations(unit: int, name: str, instance: Sequence[int]) -> tuple[int, ...]:
        values = dict(zip(tiled.scop.statement(name).iterators, instance, strict=True))
        at = [form.evaluate(values) for form in tiled.before[name]]
        for level, delay in enumerate(_delays(tiling, behind[unit])):
            at[level] -= delay
        return tuple(at)

    source, sink = violation.dependence.source, violation.dependence.sink
    first, second = loops.unit_of(source), loops.unit_of(sink)
    return BrokenPair(
        first,
        second,
        iterations(first, source, violation.source_instance),
        iterations(second, sink, violation.sink_instance),
    )


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
        tiling.lanes is None or tiling.lanes.in_step,
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


def _timing(one: TileRelations, inside: Scop, whole: Scop, target: Target) -> Timing:
    """Return the datapaths of the statements, and what is between the instances of one tile."""
    units = dependence_units(inside, one.dependences)
    related = Related(one.sets, frozenset())
    datapaths = {}
    for statement in inside.statements:
        unit = next(unit for unit in units if statement.name in unit.statements)
        written = box_placement(inside.schedule.loops(statement.name), statement.iterators)
        late = recurrent_reads(unit, one.flows, related, statement.name, written)
        box = whole.schedule.box(statement.name)
        datapaths[statement.name] = build_datapath(inside, statement, box, target, late)
    return Timing(
        one.sets,
        units,
        datapaths,
        one.dependences,
        one.flows,
        related,
        Instances(one.sets),
        compares=False,
    )


def _addressed_together(timing: Timing) -> dict[str, Datapath]:
    """Return datapaths in which more reads that step alike are made in one cycle.

    Banks tell apart what lanes read in one cycle, but not in neighbouring ones. A word that is read
    a cycle early is held.
    """
    found = {}
    for statement in timing.scop.statements:
        datapath = timing.datapaths[statement.name]
        alike: dict[object, set[int]] = {}
        for read, node in datapath.node_of_read.items():
            access = statement.reads[read]
            if not access.is_lookup:
                steps = tuple(subscript.terms for subscript in access.affine)
                alike.setdefault((access.array, steps), set()).add(node)
        late = {
            node
            for nodes in alike.values()
            for node in nodes
            if datapath.starts[node] == min(datapath.starts[n] for n in nodes) + 1
        }
        found[statement.name] = datapath.with_waits(held=late)
    return found


MOST_UNFITTING = 6
"""Tiles of which it is asked how little RAM would do, where none fit."""


class Refusals:
    """Why tiles of a unit were refused: the first reason, or the least RAM that was missing.

    Parameters
    ----------
    scop: its statements. budget_bits: the RAM that there is.
    """

    def __init__(self, scop: Scop, budget_bits: int) -> None:
        self.scop = scop
        self.budget_bits = budget_bits
        self._first: RtlgenError | None = None
        self._unfitting: list[tuple[int, CutPart]] = []

    def add(self, error: RtlgenError) -> None:
        """Note an error; of several, the first one counts.

        That some order of the tiles is illegal says less than why a legal one cannot be built.
        """
        if self._first is None or (_is_illegal(self._first) and not _is_illegal(error)):
            self._first = error

    def rather(self, error: RtlgenError) -> None:
        """Note an error that says more than those before it."""
        self._first = error

    def too_many(self, count: str) -> None:
        """Note that tiles are too many to be followed.

        Parameters
        ----------
        count: how many there are of what.
        """
        names = ", ".join(s.name for s in self.scop.statements)
        self.add(
            TooComplex(
                f"{names} would run in {count}",
                notes=(f"their cycles are predicted up to {MOST_TILES:,}",),
                help="choose larger tiles: --tile",
            )
        )

    def too_large(self, bits: int, cut: CutPart) -> None:
        """Note that tiles take more RAM than there is."""
        self._unfitting.append((bits, cut))

    def why(self, least_bits: Callable[[CutPart], int]) -> RtlgenError | None:
        """Return why no tiles do; that RAM is missing says more than anything else.

        What did not fit was narrowed down to the RAM that there is. That may take more than what
        keeps more on chip, and so moves less through windows.

        Parameters
        ----------
        least_bits: returns the bits of RAM that a unit in tiles takes at least.
        """
        if not self._unfitting:
            return self._first
        smallest = sorted(self._unfitting, key=lambda pair: pair[0])[:MOST_UNFITTING]
        least = smallest[0][0]
        for _, cut in smallest:
            with suppress(RaggedDomain, TooComplex, NoLanes), limited_effort():
                least = min(least, least_bits(cut))
        return WindowsTooLarge.of([self.scop.statements[0]], [least], self.budget_bits)


def _is_illegal(error: RtlgenError) -> bool:
    return isinstance(error, IllegalSchedule)
