"""A unit cut into tiles, in all ways that are legal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import inf, prod
from typing import TypeAlias

from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.doacross import SharedLoop
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.chip import Chip
from rtlgen.tiling.cut import CutPart, cut_part, tile_ends, word_phases
from rtlgen.tiling.lanes import lanes_are_not_cut, lanes_of
from rtlgen.tiling.loops import UnitLoops
from rtlgen.tiling.parallel import Sharing, no_parallel_tiles, sharing_of
from rtlgen.tiling.refusals import Refusals
from rtlgen.transforms.tile_nests import (
    Lanes,
    Tiling,
    any_loop_first,
    steep_fronts,
    tile_orders,
    woven_order,
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
