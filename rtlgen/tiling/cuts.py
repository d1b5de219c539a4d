"""All legal ways to cut a unit into tiles, and the loop over tiles that workers can share.

Which loop over tiles workers can share.

The iterations of a loop can go to different workers where, in one iteration of the loops outside of
it, nothing passes between them: no dependence through an array that they share. An array that is
never off chip, since all of its values are read in the iteration that writes them, is in a memory
of each worker's own.

Where no loop is like that, the iterations of the outermost one may still wait for one another:
`windows.waiting`.

A unit cut into tiles, in all ways that are legal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, prod
from typing import TypeAlias

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.cut import Chip, CutPart, Refusals, cut_part, tile_ends, word_phases
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.lanes import lanes_are_not_cut, lanes_of
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.part import traffic_of
from rtlgen.transforms.tile_nests import (
    Lanes,
    Tiling,
    any_loop_first,
    steep_fronts,
    tile_orders,
    woven_order,
)
from rtlgen.windows.waiting import Doacross, SharedLoop, doacross


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """The loop over tiles that workers can share, or what is in the way.

    Members
    -------
    loop: None where there is none. obstacle: what every loop has in its way.
    writer: the statement that writes an array on chip. may_wait: whether one could be shared if its
        iterations waited for one another.
    """

    loop: SharedLoop | None
    obstacle: Dependence | None = None
    writer: str | None = None
    may_wait: bool = False


def sharing_of(cut: CutPart, chip: Chip) -> Sharing:
    """Return which loop over tiles workers can share."""
    for statement in cut.relations.sets.scop.statements:
        if statement.write.array not in chip.off_chip:
            # Its memory has one write port.
            return Sharing(None, writer=statement.name)
    obstacle: Dependence | None = None
    for number, loop in enumerate(cut.tile_loops):
        if loop.extent == 1:
            continue
        between = [
            d for d in cut.relations.dependences if not _between(d.relation, number).is_empty()
        ]
        if between:
            moved = _moved(cut, chip, number + 1)
            between = [d for d in between if d.array in moved]
        if not between:
            return Sharing(SharedLoop(number))
        obstacle = obstacle or between[0]
    across = _across(cut, chip)
    if across is None:
        return Sharing(None, obstacle)
    if chip.workers.policy != "cyclic" or chip.workers.barrier:
        return Sharing(None, obstacle, may_wait=True)
    return Sharing(SharedLoop(across.space, across))


def _across(cut: CutPart, chip: Chip) -> Doacross | None:
    """Return how the iterations of the outermost loop can wait for one another, if they can."""
    for number, loop in enumerate(cut.tile_loops):
        if loop.extent > 1:
            moved = _moved(cut, chip, number + 1)
            pairs = [
                cut.relations.tile_pairs(dependence.relation)
                for dependence in cut.relations.dependences
                if dependence.array in moved
            ]
            return doacross(cut.relations.sets, cut.tile_loops, number, pairs, chip.workers.count)
    return None


def _between(relation: isl.Map, number: int) -> isl.Map:
    """Restrict a relation to one iteration of the loops outside, and to two of this one."""
    for k in range(number):
        relation = relation.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    earlier = relation.order_lt(isl.dim_type.in_, number, isl.dim_type.out, number)
    later = relation.order_gt(isl.dim_type.in_, number, isl.dim_type.out, number)
    return earlier.union(later)


def _moved(cut: CutPart, chip: Chip, levels: int) -> set[str]:
    """Return the arrays that are moved where values stay on chip within some loops."""
    traffic = traffic_of(cut, chip, levels)
    moved = [moved for moved, _ in traffic.loads()] + list(traffic.stores())
    return {each.footprint.array.name for each in moved}


def no_parallel_tiles(cut: CutPart, found: Sharing, workers: int) -> NoParallelTiles:
    """Return what says why workers cannot share tiles."""
    what = f"no loop over tiles can be shared by {workers} workers"
    if found.obstacle is None:
        if found.writer is None:
            return NoParallelTiles(f"{what}: there is one tile", help="ask for smaller tiles")
        scop = cut.relations.sets.scop
        access = scop.statement(found.writer).write
        remedy = "keep that array off chip, or use one worker"
        if scop.array(access.array).depth == 1:
            # One element is never off chip.
            remedy = "compute it in a loop of its own, or use one worker"
        return NoParallelTiles(
            f"{what}: {found.writer} writes {access.array}, which is on chip",
            labels=(Label(access.span, "all workers would write it"),),
            help=remedy,
        )
    between = found.obstacle
    remedy = "use one worker, or other sizes of tiles"
    if found.may_wait:
        remedy = (
            "share them by `cyclic`, without a barrier: each tile then waits for those it needs; "
            f"or {remedy}"
        )
    return NoParallelTiles(
        f"{what}: tiles of one wave depend on each other through {between.array}",
        labels=(
            Label(between.sink_access.span, f"{between.sink} depends on it"),
            Label(between.source_access.span, f"{between.source}, in another tile"),
        ),
        help=remedy,
    )


BEHIND = 1.5
"""Tiles, over those with no unit behind another, from which on units run one after the other."""

Order: TypeAlias = tuple[tuple[int, ...], ...]


class Cuts:
    """A unit in certain loops, cut into tiles of any size, in any order; each once.

    Parameters
    ----------
    refused: gets what stands in the way of tiles. like: the same loops, cut already.
    """

    def __init__(
        self, loops: UnitLoops, chip: Chip, refused: Refusals, like: Cuts | None = None
    ) -> None:
        self.loops = loops
        self.chip = chip
        self.refused = refused
        self._known: dict[Tiling, CutPart | None] = {} if like is None else like._known
        self._sharings: dict[Tiling, Sharing] = {} if like is None else like._sharings
        # Orders that come first: that keeps least on chip, and that was the fastest that was tried.
        self.orders: tuple[Order, ...] = () if like is None else like.orders

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """For every loop that is cut, one more than its last iteration: a tile of all of them."""
        scop = self.loops.program.scop
        lasts = [
            [last for _, last in list(scop.schedule.box(s.name).values())[: self.loops.depth]]
            for s in scop.statements
        ]
        return tuple(max(ends) + 1 for ends in zip(*lasts, strict=True))

    @cached_property
    def lanes(self) -> Lanes | None:
        """Which iterations of a tile run side by side.

        Raises
        ------
        NoLanes
        """
        if self.chip.lanes is None:
            return None
        return lanes_of(self.chip.lanes, self.loops, self.lengths)

    @property
    def has_lanes(self) -> bool:
        """Whether the loop that is to run in lanes, if one is, is among those that are cut."""
        try:
            _ = self.lanes
        except NoLanes:
            return False
        return True

    def fitting(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return sizes that are multiples of the lanes, no smaller than those given.

        Raises
        ------
        NoLanes: the loop that is to run in lanes is not cut.
        """
        lanes = self.lanes
        if lanes is None:
            return sizes
        if lanes.loop >= len(sizes):
            assert self.chip.lanes is not None, "lanes are asked for"
            raise lanes_are_not_cut(self.chip.lanes, sizes, lanes.loop)
        whole = -(-sizes[lanes.loop] // lanes.count) * lanes.count
        return (*sizes[: lanes.loop], whole, *sizes[lanes.loop + 1 :])

    def first(self, sizes: tuple[int, ...]) -> CutPart | None:
        """Return the unit in tiles of these sizes, in some order; None where none is legal."""
        return next(self.legal(sizes), None)

    def legal(self, sizes: tuple[int, ...]) -> Iterator[CutPart]:
        """Yield the unit in tiles of these sizes, in the orders that workers can share."""
        return filter(self._is_shared, self.in_sizes(sizes))

    def in_sizes(self, sizes: tuple[int, ...]) -> Iterator[CutPart]:
        """Yield the same in all legal orders, whether workers can share them or not."""
        try:
            lanes, sizes = self.lanes, self.fitting(sizes)
        except NoLanes as error:
            self.refused.add(error)
            return
        orders = tile_orders(len(sizes))
        if self.chip.workers.count > 1:
            orders += steep_fronts(len(sizes))
        if self.orders and len(self.orders[0]) == len(sizes):
            orders = tuple(dict.fromkeys([*self.orders, *orders]))
        tilings = [Tiling(sizes, order, lanes=lanes) for order in orders]
        if not self.chip.buffer and len(sizes) > 1:
            tilings.append(woven_order(sizes))
        fewest = inf
        for cut in filter(None, map(self._cut_as, tilings)):
            fewest = min(fewest, cut.tiles)
            yield cut
        if len(self.loops.moved) > 1 and fewest > BEHIND * self._tiles_side_by_side(sizes):
            others = [order for order in any_loop_first(len(sizes)) if order not in orders]
            tilings = [Tiling(sizes, order, lanes=lanes) for order in others]
            yield from filter(None, map(self._cut_as, tilings))

    def _tiles_side_by_side(self, sizes: tuple[int, ...]) -> int:
        """Return how many tiles of these sizes there would be with no unit behind another one."""
        return prod(-(-length // size) for length, size in zip(self.lengths, sizes, strict=False))

    def in_order(self, tiling: Tiling) -> CutPart | None:
        """Return the unit in tiles in a certain order, in its lanes; None where it is not legal."""
        return self._cut_as(replace(tiling, lanes=self.lanes))

    def ending_with_loops(self, cut: CutPart) -> CutPart:
        """Return the same with tiles that end where loops end, where there are fewer of them.

        A loop of a triangle begins where an outer one is, and ends where it always does: what the
        last tile lacks is lacking in all rows of tiles.
        """
        sizes = cut.tiling.sizes
        ends = tile_ends(self.loops, sizes, self.lengths[: len(sizes)], self.lanes, self.chip)
        best = cut
        for loop, before in enumerate(ends):
            if before:
                found = self.in_order(best.tiling.begun_before(loop, before))
                if found is not None and found.tiles < best.tiles:
                    best = found
        return best

    def known(self, tiling: Tiling) -> CutPart:
        """Return the unit as it was cut before."""
        cut = self._known[tiling]
        assert cut is not None, "it was legal"
        return cut

    def _cut_as(self, plain: Tiling) -> CutPart | None:
        """Return the unit cut like that; None where that is not legal."""
        tiling = word_phases(self.loops, plain, self.chip)
        if tiling not in self._known:
            lanes = tiling.lanes
            try:
                with limited_effort():
                    self._known[tiling] = cut_part(
                        self.loops, tiling, self.chip.target, self.chip.off_chip
                    )
            except NoLanes as error:
                if lanes is None or not lanes.in_step:
                    self.refused.add(error)
                    self._known[tiling] = None
                else:
                    behind = replace(plain, lanes=replace(lanes, in_step=False))
                    self._known[tiling] = self._cut_as(behind)
            except (IllegalSchedule, TooComplex) as error:
                self.refused.add(error)
                self._known[tiling] = None
        return self._known[tiling]

    def shared(self, cut: CutPart) -> SharedLoop | None:
        """Return the tile loop that workers share; None for one worker."""
        return None if self.chip.workers.count == 1 else self._sharing(cut).loop

    def _sharing(self, cut: CutPart) -> Sharing:
        if cut.tiling not in self._sharings:
            self._sharings[cut.tiling] = sharing_of(cut, self.chip)
        return self._sharings[cut.tiling]

    def _is_shared(self, cut: CutPart) -> bool:
        """Tell whether as many workers can run these tiles as are asked for."""
        if self.chip.workers.count == 1:
            return True
        try:
            with limited_effort():
                found = self._sharing(cut)
        except TooComplex as error:
            self.refused.add(error)
            return False
        if found.loop is None:
            self.refused.rather(no_parallel_tiles(cut, found, self.chip.workers.count))
        return found.loop is not None
