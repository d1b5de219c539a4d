"""What is known beforehand of one worker whose tiles are followed: what it moves in which tile."""

from __future__ import annotations

from bisect import bisect_left
from typing import TypeAlias

import numpy as np

from rtlgen.ir.alike import told_apart
from rtlgen.ir.ints import Ints
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.tile_rows import RowView, TileSequence, tile_rows
from rtlgen.ir.tiled import Mark, Workers
from rtlgen.ir.transfer_patterns import (
    Item,
    TilePatterns,
    noticed_items,
    patterns_of,
)

QUEUED = 2
"""Items that a mover's queue holds."""


Look: TypeAlias = "tuple[Track, int, int]"
"""A worker, a tile of its, counted from the one that it started last, and what that is like."""

Flags: TypeAlias = list[bool] | None
"""For tiles that stand for others, whether they count; None where all do."""


class Track:
    """One worker: its transfers, its tiles, and how far it has come.

    Parameters
    ----------
    number: of it among the workers. first: number of its first mover among those of all.

    Members
    -------
    tile: the one that was started last; -1 before the first. row: the one it is in.
    """

    def __init__(self, workers: Workers, number: int, bus: Bus, first: int) -> None:
        self.tiled = tiled = workers.regions[number]
        self.movers = range(first, first + len(tiled.transfers))
        depth = len(tiled.levels)
        transfers = tiled.transfers
        marks = dict.fromkeys(mark for t in transfers for mark in workers.marks(t, depth))
        kernel_marks = workers.kernel_marks(number)
        marks |= dict.fromkeys(mark for mark in kernel_marks if mark != Mark(depth))
        rows = tile_rows(tiled.levels, transfers, bus.has_bursts, marks)
        self.patterns: list[TilePatterns] = [
            patterns_of(t, rows.tiles, bus.has_bursts) for t in transfers
        ]
        self.noticed = [
            [noticed_items(pattern, bus.latency_cycles) for pattern in found.patterns]
            for found in self.patterns
        ]
        self._opens = {mark: flags.tolist() for mark, flags in rows.opens.items()}
        self._closes = {mark: flags.tolist() for mark, flags in rows.closes.items()}
        copies = max((transfer.copies for transfer in transfers), default=0)
        # A control is at most so far behind the tile that was started last, or ahead of it.
        self.behind = copies + 1
        if kernel_marks:
            # So many tiles are in a kernel at a time that is not done with the first one.
            self.behind = max(self.behind, -(-tiled.handed_cycle // tiled.issue_cycles) + 1)
        self.ahead = copies + QUEUED + 3
        kinds: Ints = np.zeros(len(rows.tiles), dtype=np.int64)
        for pattern in self.patterns:
            kinds = told_apart(kinds, pattern.of_tile)
        for flags in (*rows.opens.values(), *rows.closes.values()):
            kinds = told_apart(kinds, flags.astype(np.int64))
        self.sequence = TileSequence(rows, kinds, self.behind, self.ahead)
        tiles = self.sequence.firsts[-1] + self.sequence.row(self.sequence.rows - 1).count
        if tiles != tiled.tiles:
            raise PlanError(f"{tiles} tiles, not {tiled.tiles}")
        # So many credits are not used up from one start to the next.
        self.enough = self.behind + self.ahead + 1
        self.number = 0
        self.row: RowView = self.sequence.row(0)
        self.tile = -1
        self._kinds: list[int] = kinds.tolist()
        self._looks: list[Look] = []
        self._looked_at: set[int] = set()

    def opens(self, mark: Mark) -> Flags:
        """Return which tiles are the first ones in iterations that count."""
        return self._opens.get(mark)

    def closes(self, mark: Mark) -> Flags:
        """Return which tiles are the last ones in iterations that count."""
        return self._closes.get(mark)

    def watch(self, looks: list[Look]) -> None:
        """Write down from now on which tiles are looked at."""
        self._looks = looks
        self._looked_at = set()

    def kind_of(self, tile: int) -> int:
        """Return what a tile is like, counted from the one that was started last: -1 for none."""
        if self.tile + tile >= self.tiled.tiles:
            return -1
        return self._kinds[self.row.place(self.tile + tile)]

    def _place(self, tile: int) -> int:
        """Return where a tile is among those that stand for others, and look at it."""
        self._look(tile)
        return self.row.place(self.tile + tile)

    def _look(self, tile: int) -> None:
        if tile not in self._looked_at:
            self._looked_at.add(tile)
            self._looks.append((self, tile, self.kind_of(tile)))

    def enter(self, number: int) -> None:
        """Go to a row."""
        self.number = number
        self.row = self.sequence.row(number)

    def start(self) -> None:
        """Go on to the next tile."""
        self.tile += 1
        if self.tile == self.row.first + self.row.count:
            self.enter(self.number + 1)

    @property
    def is_over(self) -> bool:
        """Whether there is no next tile."""
        self._look(1)
        return self.tile + 1 == self.tiled.tiles

    def has(self, tile: int) -> bool:
        """Tell whether there is such a tile, counted from the one that was started last."""
        self._look(tile)
        return self.tile + tile < self.tiled.tiles

    def pattern(self, mover: int, tile: int) -> tuple[Item, ...]:
        """Return what a mover shows for a tile."""
        patterns = self.patterns[mover - self.movers.start]
        return patterns.patterns[patterns.of_tile[self._place(tile)]]

    def end_of_plain(self, mover: int, tile: int, item: int) -> int:
        """Return the first item that ends a stretch of words from the one at hand on."""
        if not self.has(tile):
            return item
        number = mover - self.movers.start
        kind = int(self.patterns[number].of_tile[self._place(tile)])
        noticed = self.noticed[number][kind]
        # The last item of a tile is one of them.
        return noticed[bisect_left(noticed, item)]

    def counts(self, tile: int, flags: Flags) -> bool:
        """Tell whether a tile is one of those that `flags` tell of."""
        return flags is None or flags[self._place(tile)]
