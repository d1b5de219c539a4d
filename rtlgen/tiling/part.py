"""One unit of a program, planned in given tiles, with what workers hand over to each other.

Which values workers hand over to each other on chip.

One unit of a program, planned in given tiles.

plan one tile -> windows and movers -> streams
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import islpy as isl

from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import Direction, Memory, Region, TiledRegion, Workers
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import attempt
from rtlgen.ir.transfer_patterns import bursts_in_tiles
from rtlgen.memories.folds import smallest_fold
from rtlgen.nests.candidates import Instances
from rtlgen.nests.precedence import Related
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Flow
from rtlgen.poly.errors import NoLegalSchedule
from rtlgen.scheduling.decide import Decision, decide_fused, relaxing
from rtlgen.scheduling.space import Space
from rtlgen.scheduling.stream_builder import Figures, level_of
from rtlgen.tiling.cut import UNLIMITED, Chip, CutPart
from rtlgen.tiling.lanes import lanes_that_wait, lanes_without_order, skewed
from rtlgen.tiling.loops import Program, UnitLoops
from rtlgen.transforms.tile_nests import TiledScop, Tiling
from rtlgen.windows.accesses import WindowBuilder
from rtlgen.windows.kept_memories import Hands, PeerCollisions
from rtlgen.windows.movers import WordCounts
from rtlgen.windows.places import HandingOver, Scopes, Windows, passing
from rtlgen.windows.planner import FEW, Traffic, WindowPlanner
from rtlgen.windows.tile_kernel import TileKernel, TileStreamBuilder
from rtlgen.windows.waiting import Doacross, SharedLoop, Waiting
from rtlgen.windows.workers import Shared, one_worker, share

COUNT_OPERATIONS = 20_000
"""isl operations that counting values may take."""

FOLD_OPERATIONS = 300_000
"""isl operations that finding a fold may take; where it takes more, there is no room."""


def handing_over(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> HandingOver | None:
    """Return what can be handed over in the RAM that each worker has; None for nothing.

    Those who ask for windows as well may have less. Not to count on what has no room at all keeps
    other orders of tiles from looking worse.
    """
    if shared is None or shared.across is None or not chip.buffer:
        return None
    if shared not in cut.handed:
        cut.handed[shared] = _found(cut, chip, shared)
    return cut.handed[shared]


def _found(cut: CutPart, chip: Chip, shared: SharedLoop) -> HandingOver | None:
    assert shared.across is not None, "rows wait for one another"
    hands = Hands(shared.across, chip.workers.count, shared.across.room is not None)
    by_writer: dict[str, list[Flow]] = {}
    for number, flow in enumerate(cut.relations.flows.flows):
        beside = cut.crossings.beside(number, shared.number)
        array = cut.relations.sets.scop.statement(flow.source).write.array
        if array in chip.off_chip and not beside.is_empty():
            found = Flow(flow.source, flow.sink, flow.sink_read, beside)
            by_writer.setdefault(flow.source, []).append(found)
    having_room = [
        name for name, flows in by_writer.items() if _has_room(cut, chip, name, flows, hands)
    ]
    return HandingOver(shared.number, frozenset(having_room)) if having_room else None


def _has_room(cut: CutPart, chip: Chip, name: str, flows: Sequence[Flow], hands: Hands) -> bool:
    """Tell whether what some reads take from a statement fits, in a copy for each of them."""
    sets = cut.relations.sets
    statement = sets.scop.statement(name)
    shape = sets.scop.array(statement.write.array).shape
    words = chip.worker_bits // (chip.off_chip[statement.write.array].width_bits * len(flows))
    if not words:
        return False
    written = reduce(isl.Set.union, (flow.relation.domain() for flow in flows)).coalesce()
    # All workers together have room for a row's values at least.
    rows = cut.tile_loops[hands.across.space].extent * hands.workers
    values = attempt(sets.context, COUNT_OPERATIONS, lambda: count_points(written))
    if values is not None and values > rows * words:
        return False

    def fits() -> bool:
        losing = PeerCollisions(sets, statement, written, flows, cut.relations.depth, hands)
        fold = smallest_fold(losing, shape, most_bits=words.bit_length() - 1)
        return fold.is_enough

    return bool(attempt(sets.context, FOLD_OPERATIONS, fits))


@dataclass(frozen=True, slots=True, eq=False)
class TiledPart:
    """One unit, planned in tiles.

    Members
    -------
    region: as one worker runs it. team: as it runs, with the memories of all workers.
    shared: the tile loop whose iterations workers share; None for one worker.
    scopes: of the values of each statement, see `windows.places`.
    overlapping: how many tiles may begin while what a tile keeps is yet read.
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
    overlapping: int = 0

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
    def least_kernel_cycles(self) -> int:
        """The same if tiles began as soon as every statement is done with its own one before."""
        issues = self.kernel.times.values()
        return self.region.tiles * max(issue.ii * issue.placement.count for issue in issues)

    @property
    def kernel_cycles(self) -> int:
        """Cycles in which all tiles are computed, as if no word were waited for.

        They are those of the busiest worker, or of all rows, as many as run at a time.
        """
        busiest = max(region.tiles * region.issue_cycles for region in self.workers.regions)
        if self.across is None:
            return busiest
        rows = self.region.tiles * self.region.issue_cycles
        return max(busiest, -(-rows // self.across.rows_at_a_time))

    def judged(self, written: Scop) -> JudgedPart:
        """Return what its replay has to know of it.

        Parameters
        ----------
        written: the program in the order of C.
        """
        loops = {s.name: self.kernel.counted_loops(s.name) for s in self.kernel.statements}
        lanes = self.kernel.lanes
        return JudgedPart(
            written, self.tiled.scop, self.tiled.before, loops, self.team.counters, lanes
        )

    @property
    def words_moved(self) -> int:
        return sum(self.windows.words.values())

    @property
    def bursts(self) -> int:
        """The bursts of consecutive words at least in which they are moved."""
        depth = len(self.region.levels)
        return sum(bursts_in_tiles(transfer, depth) for transfer in self.region.transfers)

    def words_by(self, direction: Direction) -> int:
        """Return the words that are loaded, or stored."""
        moved = [t.window for t in self.region.transfers if t.direction == direction]
        return sum(self.windows.words[window] for window in moved)


def ram_bits(memories: Sequence[Memory]) -> int:
    """Return the bits of RAM in all copies of some memories."""
    return sum(m.depth * m.width_bits * m.read_ports for m in memories if m.is_ram)


def plan_part(
    cut: CutPart,
    chip: Chip,
    taken: Sequence[str],
    shared: SharedLoop | None = None,
    copies: Mapping[str, int] | None = None,
    overlapping: int = 0,
) -> TiledPart:
    """Plan the statements of a unit in given tiles.

    Values stay on chip in as wide a scope as the RAM allows.

    Parameters
    ----------
    taken: names that memories cannot have. shared: the tile loop that workers share; None for one
        worker. copies: log2 of those of some windows, by their names, where these are many.
    overlapping: how many tiles may begin while what a tile keeps is yet read.

    Raises
    ------
    RaggedDomain: something of it takes too many conditions.
    """
    return relaxing(
        cut.issue_space,
        lambda ways: _planned(cut, chip, taken, ways, shared, copies, overlapping),
    )


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


@dataclass(frozen=True, slots=True)
class KeptInRam:
    """What the RAM keeps of the values of a unit, and what is moved beside it.

    Members
    -------
    busy_cycles: of the bus at least. words: that are moved. bits: of RAM.
    keeps_all: whether all values stay on chip.
    """

    busy_cycles: int
    words: int
    bits: int
    keeps_all: bool


def kept_in_ram(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> KeptInRam:
    """Return what the RAM that there is keeps."""
    widest = cut.scopes(widest_scope(cut, chip, shared))

    def measured(ways: Space) -> KeptInRam:
        sized = _planner(cut, ways, chip, shared).within(widest, chip.worker_bits)
        counts = WordCounts()
        busy, words = sized.traffic.least_busy_cycles(counts, chip.bus), sized.traffic.count(counts)
        bits = sized.taken_bits
        if bits > chip.worker_bits:
            return KeptInRam(UNLIMITED, UNLIMITED, bits, keeps_all=False)
        return KeptInRam(busy, words, bits, sized.keeps_all)

    return relaxing(cut.issue_space, measured)


@dataclass(frozen=True, slots=True)
class Held:
    """Bits of RAM that a worker takes to keep all values on chip in some scope.

    Members
    -------
    kept_bits: of the memories that keep them. around_bits: of the windows.
    """

    kept_bits: int
    around_bits: int
    budget_bits: int

    @property
    def fits(self) -> bool:
        return self.kept_bits + self.around_bits <= self.budget_bits


def held_in_scope(cut: CutPart, chip: Chip, shared: SharedLoop | None, levels: int) -> Held | None:
    """Return the RAM that each worker takes to keep all values in a scope of some tile loops.

    None where one memory alone is larger than the RAM.
    """
    scopes, most = cut.scopes(levels), chip.worker_bits

    def measured(ways: Space) -> Held | None:
        sized = _planner(cut, ways, chip, shared).tight(scopes, most)
        if sized is None:
            return None
        around = FEW.ram_bits(sized.traffic)
        return Held(sized.taken_bits - around, around, most)

    return relaxing(cut.issue_space, measured)


def tight_ram_of_part(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> int:
    """Return the bits of RAM that it takes all workers at least to keep as much on chip."""
    widest = cut.scopes(widest_scope(cut, chip, shared))

    def measured(ways: Space) -> int:
        sized = _planner(cut, ways, chip, shared).tight(widest)
        assert sized is not None, "there is RAM for all"
        return sized.taken_bits

    return relaxing(cut.issue_space, measured) * chip.workers.count


def least_ram_of_part(cut: CutPart, chip: Chip, shared: SharedLoop | None) -> int:
    """Return the bits of RAM that it takes each worker at least, whatever stays on chip."""
    widest = cut.scopes(widest_scope(cut, chip, shared))
    return relaxing(
        cut.issue_space, lambda ways: _planner(cut, ways, chip, shared).least_bits(widest)
    )


def _planned(
    cut: CutPart,
    chip: Chip,
    taken: Sequence[str],
    ways: Space,
    shared: SharedLoop | None,
    copies: Mapping[str, int] | None,
    overlapping: int,
) -> TiledPart:
    far = copies is not None
    planner = _planner(cut, ways, chip, shared, far=far, overlapping=overlapping)
    widest, known = cut.scopes(widest_scope(cut, chip, shared)), -1
    # Where the words of a folded window cannot be told, it is larger than it was taken for.
    while len(planner.wide) > known:
        known = len(planner.wide)
        sized = planner.within(widest, chip.worker_bits)
        windows = WindowBuilder(planner, sized, taken, copies).windows()
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
        overlapping,
    )


def _planner(
    cut: CutPart,
    ways: Space,
    chip: Chip,
    shared: SharedLoop | None,
    far: bool = False,
    overlapping: int = 0,
) -> WindowPlanner:
    space = None if shared is None else shared.number
    across = None if shared is None else shared.across
    timing, barrier = ways.timing, chip.workers.barrier
    key = timing.memory_only, timing.apart, shared, barrier, far, overlapping
    if key not in cut.planners:
        kernel = _kernel(cut, ways)
        cut.planners[key] = WindowPlanner(
            kernel,
            cut.crossings,
            chip.off_chip,
            chip.word_bits,
            chip.target,
            cut.loops.folds,
            Waiting(kernel, space, chip.workers.barrier, across, far),
            chip.workers.count,
            handing_over(cut, chip, shared),
            overlapping,
        )
    return cut.planners[key]


def _kernel(cut: CutPart, space: Space) -> TileKernel:
    same = cut.relations.same_tile()
    everywhere = replace(
        space.timing,
        sets=cut.relations.sets,
        dependences=same.dependences,
        dataflow=same.flows,
        related=Related(cut.relations.sets, frozenset()),
        instances=Instances(cut.relations.sets),
    )
    decision = _decision(cut, space)
    kernel = TileKernel(cut.relations, everywhere, decision, cut.tile_loops, cut.lane_loop)
    lanes = cut.tiling.lanes
    return kernel if lanes is None or lanes.in_step else skewed(kernel)


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
        try:
            known[key] = decide_fused(space, {})
        except NoLegalSchedule as error:
            if tiling.lanes is None or tiling.lanes.in_step:
                raise
            # What a lane needs of later ones in a tile asks for more than one lane's order does.
            raise lanes_without_order(space.timing.scop) from error
    lane = None if cut.lane_loop is None else cut.lane_loop.iterator
    placed = known[key].placements.values()
    if lane is not None and any(
        loop.extent > 1 for each in placed for loop in each.loops if loop.iterator == lane
    ):
        raise lanes_that_wait(space.timing.scop, tiling.sizes)
    return known[key]


def traffic_of(cut: CutPart, chip: Chip, levels: int, shared: SharedLoop | None = None) -> Traffic:
    """Return what a unit in tiles moves where values stay on chip in a scope of some tile loops.

    Parameters
    ----------
    shared: the loop that workers share; what they can hand over to each other is not moved.
    """
    sets = cut.relations.sets
    # Taps are within a tile: what is moved does not depend on them.
    reads = [
        ((statement.name, read), instances, instances)
        for statement in sets.scop.statements
        for read, access in enumerate(statement.reads)
        for instances in [sets.accessing(statement, access)]
    ]
    over = handing_over(cut, chip, shared)
    passed = passing(cut.crossings, reads, chip.off_chip, cut.scopes(levels), over)
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
        peers=windows.peers,
        after=windows.after,
        room=windows.room,
    )
