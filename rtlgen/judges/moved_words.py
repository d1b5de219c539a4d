"""The words that movers carry between windows and the memory off chip, in all tiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.iterations import address_values, form_values, level_iterations, predicate_mask
from rtlgen.ir.plan import KernelPlan, LoadOp, Transfer
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access
from rtlgen.ir.write_history import INITIAL, WriteHistory, history_of
from rtlgen.judges.histories import UNKNOWN
from rtlgen.judges.replay import repeats
from rtlgen.judges.tile_clocks import Issued


class MovedWords:
    """The words that one transfer moves, tile by tile.

    Parameters
    ----------
    worker: whose transfer it is. tile_levels: how many of its levels are tile loops.
    """

    def __init__(self, plan: KernelPlan, worker: int, tile_levels: int, transfer: Transfer) -> None:
        assert plan.memory_side is not None
        self.plan = plan
        self.worker = worker
        self.transfer = transfer
        self.word_bits = plan.memory_side.word_bits
        (self.array,) = (a for a in plan.memory_side.arrays if a.name == transfer.array)
        self.lanes = plan.memory(transfer.window).lanes
        rows = np.zeros((1, 0), dtype=np.int64)
        tiles = np.zeros(1, dtype=np.int64)
        for depth, (inner, parents) in enumerate(level_iterations(transfer.levels)):
            rows = inner
            own = depth < tile_levels
            tiles = np.arange(len(inner), dtype=np.int64) if own else tiles[parents]
        mask = predicate_mask(transfer.when, rows)
        self.rows, self.tiles = rows[mask], tiles[mask]
        self.words = form_values(transfer.word, self.rows)
        self.places = address_values(transfer.at, self.rows, self.tiles)
        self.keys = self._keys(self.tiles, self.places)
        self.order = np.argsort(self.keys, kind="stable")

    def _keys(self, tiles: Ints, places: Ints) -> Ints:
        """Return a number for every place of a window in every tile."""
        return (tiles << self.transfer.at.width_bits) | places

    def check_places(self) -> None:
        """Check that words stay in their array, and that no place of a tile has two."""
        first = self.array.base_words
        last = first + self.array.words(self.word_bits)
        if np.any((self.words < first) | (self.words >= last)):
            self._fail(f"{self.transfer.window} moves words that are not of {self.array.name}")
        if repeats(self.keys):
            self._fail(f"{self.transfer.window} has two words in one place")

    def _find(self, tiles: Ints, places: Ints) -> Ints:
        """Return which moved word is in a place of a tile; -1 for none."""
        if not len(self.keys):
            return np.full(len(tiles), -1, dtype=np.int64)
        keys, moved = self._keys(tiles, places), self.keys[self.order]
        at = np.minimum(np.searchsorted(moved, keys), len(moved) - 1)
        return np.where(moved[at] == keys, self.order[at], -1)

    def shown(
        self, member: Issued, op: LoadOp, addresses: Ints, needed: Bools
    ) -> tuple[Ints, Bools]:
        """Return the tiles of the needed iterations, and which of these find their element."""
        place, lane = np.divmod(addresses[needed], self.lanes)
        found = self._find(member.tiles[needed], place)
        word, where = self._located(member, member.statement.reads[op.read])
        right = (found >= 0) & (lane == where[needed])
        right[right] &= self.words[found[right]] == word[needed][right]
        return member.tiles[needed], right

    def _located(self, member: Issued, access: Access) -> tuple[Ints, Ints]:
        """Return word and lane off chip of the element of each iteration."""
        values = [
            affine_values(s, member.statement.iterators, member.points) for s in access.affine
        ]
        row = np.zeros_like(member.tiles)
        for value, extent in zip(values[:-1], self.array.shape, strict=False):
            row = row * extent + value
        column, lane = np.divmod(values[-1], self.lanes)
        length = self.array.row_words(self.word_bits)
        return self.array.base_words + row * length + column, lane

    def written(self, members: Sequence[Issued]) -> tuple[Ints, Ints, Ints]:
        """Return (element, tile, token) of all that a store brings off chip.

        Parameters
        ----------
        members: the streams of its worker.
        """
        tokens = self._tokens_in_window(members)
        length = self.array.row_words(self.word_bits)
        elements, tiles, found = [], [], []
        for lane, strobe in enumerate(self.transfer.strobes):
            mask = predicate_mask(strobe, self.rows)
            row, column = np.divmod(self.words[mask] - self.array.base_words, length)
            subscript = column * self.lanes + lane
            if np.any(subscript >= self.array.shape[-1]):
                self._fail(f"{self.transfer.window} stores behind a row of {self.array.name}")
            keys = self.keys[mask] * self.lanes + lane
            elements.append(row * self.array.shape[-1] + subscript)
            tiles.append(self.tiles[mask])
            left = tokens.last(keys)
            found.append(np.where(left == INITIAL, UNKNOWN, left))
        return np.concatenate(elements), np.concatenate(tiles), np.concatenate(found)

    def _tokens_in_window(self, members: Sequence[Issued]) -> WriteHistory:
        """Return what the kernel leaves in each place of each tile, lane by lane."""
        found, cycles, tokens = [], [], []
        for member in members:
            for store in member.stream.stores:
                if store.memory != self.transfer.window:
                    continue
                assert store.address is not None, "what is moved is written where iterators say"
                mask = predicate_mask(store.when, member.counters)
                address = address_values(store.address, member.counters, member.tiles)[mask]
                place, lane = np.divmod(address, self.lanes)
                found.append(self._keys(member.tiles[mask], place) * self.lanes + lane)
                cycles.append(member.cycles[mask] + store.stage)
                tokens.append(member.moments[mask])
        return history_of(found, cycles, tokens)

    def _fail(self, what: str) -> None:
        raise PlanUnsound(f"the plan of {self.plan.name} is not sound: {what}")
