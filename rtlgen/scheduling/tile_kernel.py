"""The kernel of a tile: its statements issued as one static island, planned once for all tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, bounding_box
from rtlgen.poly.tiling import TileRelations, tiles_between
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.forwarding import Issue, IssueTimes, TapSet, tap_sets
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.predicates import counter_box
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.ragged import ragged_loops


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
    ) -> int:
        """Return the cycles between two tiles from which on pairs in different ones are in order.

        Parameters
        ----------
        early, late: statement and cycle of the first, and of the second of each pair.
        known: cycles between two tiles whatever comes of this; no fewer are returned.
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
        largest = self.relations.largest(self.relations.across(close), source, sink)
        assert largest is not None, "some pair is close"
        return largest + constant


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
