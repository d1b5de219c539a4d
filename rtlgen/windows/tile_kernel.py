"""The kernel of a tile and its streams: one static island, planned once for all tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import islpy as isl

from rtlgen.datapath.graph import Node
from rtlgen.datapath.lags import Timing
from rtlgen.errors import Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.plan import (
    ALWAYS,
    ChooseOp,
    IndexForm,
    LoadOp,
    Operation,
    Predicate,
    Store,
)
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, bounding_box
from rtlgen.memories.forwarding import Issue, IssueTimes, TapSet, tap_sets
from rtlgen.memories.predicates import counter_box
from rtlgen.nests.candidates import Placement, ragged_loops
from rtlgen.poly.tiling import TileRelations, tiles_behind, tiles_between
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.scheduling.stream_builder import StreamBuilder
from rtlgen.windows.places import Place, Windows

MOST_OVERLAPPING = 4
"""Tiles that may be in a kernel at a time: its statements are seldom in more phases than these."""


@dataclass(frozen=True, eq=False)
class TileKernel:
    """When the instances of a tile issue, and where their values come from.

    Members
    -------
    relations: between all instances of the program in tiles.
    timing: of the program in tiles, with what is between instances of one tile alone.
    decision: for one whole tile.
    tile_loops: the loops over tiles, with their bounds.
    lane_loop: whose iterations run side by side; None where each runs by itself.
    skew_cycles: how far each lane is behind the one before; 0: all issue together.
    """

    relations: TileRelations
    timing: Timing
    decision: Decision
    tile_loops: tuple[NestLoop, ...]
    lane_loop: NestLoop | None = None
    skew_cycles: int = 0

    @property
    def depth(self) -> int:
        return self.relations.depth

    @property
    def sets(self) -> ScopSets:
        return self.relations.sets

    @cached_property
    def times(self) -> IssueTimes:
        """When every statement issues, in cycles from the start of its tile.

        Statements have tiles of different lengths, but all begin a tile with it.
        """
        later = Affine.variable(self.lane) * self.skew_cycles if self.skew_cycles else Affine()
        return {
            name: replace(issue, placement=self._in_tile(name, issue.placement), later=later)
            for name, issue in self.decision.times.items()
        }

    def _in_tile(self, name: str, whole: Placement) -> Placement:
        """Return a placement in which the loops over tiles, and over lanes, are left out."""
        inner = self._inner_loops(name)
        rank = FlatDim(inner, 0).rank
        coefficients = tuple(rank.coefficient(iterator) for iterator in whole.iterators)
        return replace(whole, loops=inner, rank=(coefficients, rank.constant))

    @property
    def statements(self) -> tuple[Statement, ...]:
        return self.sets.scop.statements

    def loops(self, name: str) -> tuple[NestLoop, ...]:
        """Return the loops of a statement: those over tiles, then those inside of one.

        That over lanes, which takes no time, is none of them.
        """
        return (*self.tile_loops, *self._inner_loops(name))

    def counted_loops(self, name: str) -> tuple[NestLoop, ...]:
        """Return the loops of a statement, with that over lanes innermost."""
        lanes = () if self.lane_loop is None else (self.lane_loop,)
        return (*self.loops(name), *lanes)

    @property
    def lanes(self) -> int:
        """How many instances of a statement issue together."""
        return 1 if self.lane_loop is None else self.lane_loop.extent

    def issue_of(self, name: str, lane: int) -> Issue:
        """Return when a lane of a statement issues."""
        issue = self.times[name]
        return replace(issue, offset=issue.offset + self.skew_cycles * lane, later=Affine())

    @property
    def in_step(self) -> bool:
        """Whether all lanes issue together."""
        return self.relations.in_step

    @property
    def lane(self) -> str:
        """The iterator that numbers lanes; "" where there are none."""
        return "" if self.lane_loop is None else self.lane_loop.iterator or ""

    def in_lane(self, name: str, instances: isl.Set, lane: int) -> isl.Set:
        """Return the instances of a statement that are in a lane."""
        if self.lane_loop is None:
            return instances
        place = len(self.sets.scop.statement(name).iterators) - 1
        return instances.fix_val(isl.dim_type.set, place, isl.Val(lane, instances.get_ctx()))

    def soon(self, first: Statement, second: Statement, tiles: int) -> isl.Map:
        """Return {first -> second} in one of so many tiles behind its own, in their order."""
        order = _tiles_of(self.sets, self.tile_loops)
        behind = tiles_behind(order, tiles)
        sides = ((isl.dim_type.in_, first), (isl.dim_type.out, second))
        for kind, statement in sides:
            behind = behind.add_dims(kind, len(statement.iterators) - self.depth)
            behind = behind.set_tuple_name(kind, self.sets.statement_tuple(statement.name))
        return behind

    def _inner_loops(self, name: str) -> tuple[NestLoop, ...]:
        outside = {loop.iterator for loop in self.tile_loops} | {self.lane}
        loops = self.decision.placements[name].loops
        return tuple(loop for loop in loops if loop.iterator not in outside)

    def cycle(self, name: str, stage: int) -> Affine:
        """Return the cycle of a stage, counted from the start of the tile, by the iterators."""
        return self.times[name].cycle(stage)

    def address_cycle(self, name: str, read: int) -> Affine:
        """Return the cycle in its tile in which the address of a read is presented."""
        return self.cycle(name, self.timing.datapaths[name].address_stage(read))

    def store_cycle(self, name: str) -> Affine:
        """Return the cycle in its tile in which a value is stored."""
        return self.cycle(name, self.timing.datapaths[name].result_stage)

    def taps(self, name: str, read: int) -> list[TapSet]:
        """Return the instances that take a value of their own tile before a memory has it."""
        return [
            tap
            for flow in self.timing.dataflow.flows
            if (flow.sink, flow.sink_read) == (name, read)
            for tap in tap_sets(self.timing, self.times[flow.source], self.times[name], flow)
        ]

    def between(self, pairs: isl.Map, loops: int, most: int) -> int:
        """Return how far the second of some pairs of tiles is behind the first, at least.

        Parameters
        ----------
        loops: it is told in iterations of so many outermost tile loops; of all, in tiles.
        most: where it is more, so many.
        """
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            pairs = pairs.project_out(kind, loops, pairs.dim(kind) - loops)
        return tiles_between(_tiles_of(self.sets, self.tile_loops[:loops]), pairs.coalesce(), most)

    def longest(self, access: tuple[str, Affine]) -> int:
        """Return the last cycle of a tile in which a statement makes an access."""
        return self._range(access)[1]

    def shortest(self, access: tuple[str, Affine]) -> int:
        """Return the first one."""
        return self._range(access)[0]

    def _range(self, access: tuple[str, Affine]) -> tuple[int, int]:
        name, cycle = access
        return cycle.range(self.sets.scop.schedule.box(name))

    def distance(
        self,
        relation: isl.Map,
        early: tuple[str, Affine],
        late: tuple[str, Affine],
        known: int = 0,
        *,
        in_turn: bool = False,
    ) -> int:
        """Return the cycles between two tiles from which on pairs in different ones are in order.

        Parameters
        ----------
        early, late: statement and cycle of the first, and of the second of each pair.
        known: cycles between two tiles whatever comes of this; no fewer are returned.
        in_turn: whether the tiles run one after another, as their loops count them. Then pairs that
            are several tiles apart have as many times the cycles between two tiles.
        """
        (first, begin), (second, end) = early, late
        source, sink = (
            [cycle.coefficient(iterator) for iterator in self.sets.scop.statement(name).iterators]
            for name, cycle in ((first, begin), (second, end))
        )
        constant = begin.constant - end.constant + 1
        # That there are no pairs too close is found out faster than how close they are.
        close = self.relations.beyond(relation, source, sink, known - constant)
        if not self.relations.has_across(close):
            return known
        across = self.relations.across(close)
        largest = self.relations.largest(across, source, sink)
        assert largest is not None, "some pair is close"
        tiles = 1
        if in_turn:
            tiles = self.between(self.relations.tile_pairs(across), self.depth, MOST_OVERLAPPING)
        return max(known, -(-(largest + constant) // tiles))


def _tiles_of(sets: ScopSets, loops: Sequence[NestLoop]) -> isl.Set:
    """Return the tiles of all iterations of the loops over them, whether they have work or not."""
    counted = ",".join(f"d{k}" for k in range(len(loops)))
    values = ",".join(f"d{k} + {loop.first}" for k, loop in enumerate(loops))
    shift = sets.read_map(f"{{ [{counted}] -> [{values}] }}")
    return counter_box(sets, loops).apply(shift)


def tile_loops(sets: ScopSets, tiles: isl.Set, names: Sequence[str]) -> tuple[NestLoop, ...]:
    """Return the loops over some tiles, in order; `names` are those of the tile iterators.

    They run over a box where some iteration of an outer one would have none of an inner one.
    """
    boxes = zip(names, bounding_box(tiles), strict=True)
    plain = [NestLoop(name, high - low + 1, low) for name, (low, high) in boxes]
    loops = ragged_loops(tiles, names, plain)
    for k in range(1, len(loops)):
        inner = counter_box(sets, loops[: k + 1]).project_out(isl.dim_type.set, k, 1)
        if not counter_box(sets, loops[:k]).is_subset(inner):
            return tuple(plain)
    return loops


class TileStreamBuilder(StreamBuilder):
    """The stream of a statement in a tile kernel.

    Parameters
    ----------
    place: number of the first stream of every statement among those of the kernel; those of its
        lanes follow each other.
    instances: of the statement. lane: which of those that run side by side.
    """

    def __init__(
        self,
        kernel: TileKernel,
        windows: Windows,
        place: Mapping[str, int],
        statement: Statement,
        instances: int,
        lane: int = 0,
    ) -> None:
        loops = kernel.loops(statement.name)
        issue = kernel.issue_of(statement.name, lane)
        super().__init__(
            kernel.timing, issue, loops, place, statement, kernel.depth, windows.issue_cycles
        )
        self.kernel = kernel
        self.windows = windows
        self.instances = instances
        self.lane = lane
        self.values = {kernel.lane: Affine((), lane)} if kernel.lane else {}
        self.domain = self._here(self.domain)

    def _here(self, instances: isl.Set) -> isl.Set:
        """Return the instances that are in the lane."""
        return self.kernel.in_lane(self.statement.name, instances, self.lane)

    def _places(self, places: Sequence[Place]) -> list[Place]:
        """Return where instances of the lane find or leave their value."""
        found = [place.in_lane(self._here, self.lane) for place in places]
        return [place for place in found if not place.instances.is_empty()]

    def _taps(self, taps: Sequence[TapSet]) -> list[TapSet]:
        """Return the taps of the lane, one for each lane that brings a value."""
        if not self.kernel.lane:
            return list(taps)
        found = []
        for tap in taps:
            flow = tap.flow.relation.intersect_range(self._here(tap.instances))
            for lane in range(self.kernel.lanes):
                sources = self.kernel.in_lane(tap.flow.source, flow.domain(), lane)
                brought = flow.intersect_domain(sources)
                if not brought.is_empty():
                    own = replace(tap.flow, relation=brought)
                    found.append(TapSet(own, tap.delay_cycles, brought.range().coalesce(), lane))
        return found

    def _stream_of(self, tap: TapSet) -> int:
        return super()._stream_of(tap) + tap.lane

    def _form(self, affine: Affine) -> IndexForm:
        return super()._form(affine.substitute(self.values))

    def _instances(self) -> int:
        return self.instances

    def _stores(self) -> list[Store]:
        keep_going(self.kernel.sets.context)
        return [
            self._store(
                target.memory,
                target.address(self.loops, self.values),
                self._predicate(self._here(target.instances)),
            )
            for target in self.windows.targets[self.statement.name]
        ]

    def _load(self, number: int, node: Node) -> int:
        # There are many, in many lanes, each with conditions of its own.
        keep_going(self.kernel.sets.context)
        key = self.statement.name, node.read
        sources = self._places(self.windows.sources[key])
        taps = self._built_taps(self._taps(self.windows.taps[key]), not sources)
        if not sources:
            return self._forwarded(node, self._add(self._nothing(node)), taps)
        anywhere = reduce(isl.Set.union, [source.instances for source in sources])
        value, *others = [self._add(self._loaded(number, node, source)) for source in sources]
        for source, other in zip(sources[1:], others, strict=True):
            when = self._where(
                source, anywhere, [place for place in sources if place is not source]
            )
            value = self._add(self._choice(node, other, value, when, number))
        return self._forwarded(node, value, taps)

    def _loaded(self, number: int, node: Node, source: Place) -> LoadOp:
        return LoadOp(
            width_bits=node.width_bits,
            signed=node.signed,
            stage=self.datapath.starts[number],
            latency_cycles=self.datapath.latencies[number],
            span=self.statement.reads[node.read].span,
            memory=source.memory,
            port=source.port,
            operands=tuple(self.numbers[operand] for operand in node.operands),
            address=source.address(self.loops, self.values),
            needed=self._needed(source),
            read=node.read,
        )

    def _choice(
        self, node: Node, first: int, second: int, when: Predicate, number: int
    ) -> Operation:
        return ChooseOp(
            width_bits=node.width_bits,
            signed=node.signed,
            stage=self.datapath.starts[number] + self.datapath.latencies[number],
            operands=(first, second),
            span=self.statement.reads[node.read].span,
            when=when,
        )

    def _where_read(self, instances: isl.Set) -> Predicate | None:
        # What an iteration reads that is no instance does not matter.
        found = self.space.predicate(instances.gist(self.domain))
        return self.space.predicate(instances) if found is None else found

    def _needed(self, source: Place) -> Predicate:
        """Return where a load is needed, or may be made at least.

        What is loaded where a tap brings the value, or where nothing is read, does no harm: the
        port is the read's own, or that of reads which are in other banks at any time.
        """
        found = self._where_read(source.instances)
        if found is None and source.around is not None:
            found = self._where_read(source.around)
        if found is None:
            return ALWAYS if source.is_folded else self._predicate(source.instances)
        return found

    def _where(self, source: Place, among: isl.Set, others: Sequence[Place]) -> Predicate:
        """Return a predicate for the instances of a source among those of all.

        Parameters
        ----------
        others: the other sources.
        """
        if among.is_subset(source.instances):
            return ALWAYS
        found = self.space.predicate(source.instances.gist(among))
        if found is None and source.around is not None:
            around = source.around
            if all(around.is_disjoint(other.instances) for other in others):
                found = self.space.predicate(around)
        if found is None:
            found = self._where_read(source.instances)
        if found is None:
            raise RaggedDomain(
                f"where {self.statement.name} finds a value has no simple description",
                labels=(Label(self.statement.reads[0].span, "in several memories"),),
                help="choose other tiles, or keep the array on chip",
            )
        return found
