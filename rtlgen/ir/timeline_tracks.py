"""What is known beforehand of tiles: row by row, and of each worker whose tiles are followed.

Tiles row by row: a row is one iteration of all tile loops but the innermost ones.

There are far fewer rows than tiles, and most of them are alike: what a row of tiles moves depends
on the outer loops only through conditions, most of which are decided for the whole row.

What is known beforehand of one worker whose tiles are followed: what it moves in which tile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.iterations import (
    Inside,
    first_of_each,
    inner_iterations,
    iterations_of,
    level_range,
    predicate_mask,
    told_apart,
)
from rtlgen.ir.levels import Level
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError, TooManyTiles
from rtlgen.ir.tiled import Mark, Transfer, Workers
from rtlgen.ir.transfer_patterns import (
    MOST_TILES,
    Item,
    TilePatterns,
    noticed_items,
    patterns_of,
    telling,
)

ROW_TILES = 64
"""Tiles up to which a row is one of several loops."""

SHORT_ROW = 8
"""Tiles up to which rows are too many to be told from each other, if longer ones do."""

LONG_ROW = 2048
"""Tiles of a row that is longer for that."""


def row_depth(extents: Sequence[int]) -> int:
    """Return how many tile loops are outside of the rows.

    The innermost loop with several iterations is in them, and those outside of it as long as rows
    stay short, or would be very short without: what is known of rows grows with their number.

    Parameters
    ----------
    extents: of the tile loops.
    """
    place = max(0, len(extents) - 1)
    tiles = extents[place] if extents else 1
    while place:
        longer = tiles * extents[place - 1]
        most = LONG_ROW if tiles <= SHORT_ROW else ROW_TILES
        if tiles > 1 and longer > most:
            break
        place, tiles = place - 1, longer
    return place


@dataclass(frozen=True, slots=True, eq=False)
class TileRows:
    """Tiles, of whose rows those that are alike are there once.

    Members
    -------
    of_row: for each row, the number of the one that stands for it.
    tiles: (count, levels) counters of the tiles of the rows that stand for others, row after row.
    ends: where each of these ends in `tiles`.
    opens, closes: by what is counted, which of the tiles begin such an iteration, and which end
        one.
    """

    of_row: Ints
    tiles: Ints
    ends: Ints
    opens: Mapping[Mark, Bools]
    closes: Mapping[Mark, Bools]


def tile_rows(
    levels: Sequence[Level],
    transfers: Sequence[Transfer],
    has_bursts: bool,
    marks: Collection[Mark] = (),
) -> TileRows:
    """Return the rows of the tiles of some loops, alike where all transfers move the same in them.

    Parameters
    ----------
    has_bursts: whether words that follow each other make one burst.
    marks: iterations at which something waits, or is waited for.

    Raises
    ------
    TooManyTiles: too many are in rows that are not alike.
    PlanError: a level is empty for some outer iteration, or counts below 0.
    """
    if not levels:
        one = np.ones(1, np.int64)
        return TileRows(one - 1, np.zeros((1, 0), np.int64), one, {}, {})
    depth = len(levels)
    row = row_depth([level.extent for level in levels])
    outer = iterations_of(levels[:row])
    of_row: Ints = np.zeros(len(outer), np.int64)
    outside = {mark.loops for mark in marks if mark.loops <= row}
    ends_of = {loops: _ends_of_iterations(outer[:, :loops]) for loops in outside}
    for first_row, last_row in ends_of.values():
        of_row = told_apart(of_row, first_row + 2 * last_row)
    inside = Inside.of(outer, levels[row:])
    for values in inside.telling_bounds(depth - row):
        of_row = told_apart(of_row, values)
    for mark in marks:
        for values in inside.telling_predicate(mark.when):
            of_row = told_apart(of_row, values)
    for transfer in transfers:
        words = Inside.of(outer, (*levels[row:], *transfer.levels[depth:]))
        for values in telling(transfer, words, has_bursts):
            of_row = told_apart(of_row, values)
    first = first_of_each(of_row)
    tiles, parents = outer[first], np.arange(len(first))
    for level in levels[row:]:
        low, trips = level_range(level, tiles)
        if (found := int(trips.sum())) > MOST_TILES:
            raise TooManyTiles(f"{found:,} tiles in rows that differ from each other")
        tiles, own = inner_iterations(tiles, low, trips)
        parents = parents[own]
    begins = np.diff(parents, prepend=-1) != 0
    closing = np.append(begins[1:], True)
    opens, closes = {}, {}
    for mark in marks:
        opens[mark] = closes[mark] = predicate_mask(mark.when, tiles)
        if mark.loops <= row:
            first_row, last_row = ends_of[mark.loops]
            opens[mark] = opens[mark] & (first_row[first][parents] == 1) & begins
            closes[mark] = closes[mark] & (last_row[first][parents] == 1) & closing
        elif mark.loops < depth:
            own_first, own_last = _ends_of_iterations(tiles[:, : mark.loops])
            opens[mark] = opens[mark] & ((own_first == 1) | begins)
            closes[mark] = closes[mark] & ((own_last == 1) | closing)
    return TileRows(of_row, tiles, np.flatnonzero(closing) + 1, opens, closes)


def _ends_of_iterations(counters: Ints) -> tuple[Ints, Ints]:
    """Return 1 for the rows that begin an iteration of some loops, and for those that end one."""
    changes = np.any(np.diff(counters, axis=0) != 0, axis=1)
    begins = np.concatenate([[True], changes]).astype(np.int64)
    return begins, np.concatenate([changes, [True]]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RowView:
    """A row of tiles and those around it.

    Members
    -------
    first: number of its first tile. count: of its tiles.
    places: where the tiles around, from `before` tiles before the first one on, are among those
        that stand for others; -1 for what is no tile.
    ends: for each of its tiles, the first one behind it that has other tiles around it, counted
        from the first.
    """

    context: tuple[int, ...]
    first: int
    count: int
    before: int
    places: list[int]
    ends: list[int]

    def place(self, tile: int) -> int:
        """Return where a tile is among those that stand for others."""
        return self.places[tile - self.first + self.before]


class TileSequence:
    """All tiles in order, looked at row by row.

    Parameters
    ----------
    kinds: for each tile that stands for others, what it is like.
    before, behind: tiles around one that matter to it.
    """

    def __init__(self, rows: TileRows, kinds: Ints, before: int, behind: int) -> None:
        self.before, self.behind = before, behind
        self.of_row: list[int] = rows.of_row.tolist()
        lengths = np.diff(rows.ends, prepend=0)
        self.begins: list[int] = (rows.ends - lengths).tolist()
        self.lengths: list[int] = lengths.tolist()
        of_row = rows.of_row
        self.firsts: list[int] = (np.cumsum(lengths[of_row]) - lengths[of_row]).tolist()
        changes = np.flatnonzero(np.diff(of_row)) + 1
        places = np.searchsorted(changes, np.arange(len(of_row)), side="right")
        self.run_ends: list[int] = np.append(changes, len(of_row))[places].tolist()
        self.run_begins: list[int] = np.concatenate([[0], changes])[places].tolist()
        self._kinds = kinds
        self._known: dict[tuple[int, ...], RowView] = {}

    @property
    def rows(self) -> int:
        return len(self.of_row)

    def row(self, number: int) -> RowView:
        """Return one of the rows."""
        begin, end = self._around(number)
        outside = (number - begin, int(begin == 0), int(end == self.rows))
        context = (*outside, *self.of_row[begin:end])
        known = self._known.get(context)
        if known is None:
            known = self._known[context] = self._viewed(number, begin, end, context)
        return replace(known, first=self.firsts[number])

    def alike(self, number: int) -> int:
        """Return how many rows from one on have the same rows around them."""
        length = self.lengths[self.of_row[number]]
        margin = -(-max(self.before, self.behind) // length)
        if number - self.run_begins[number] < margin:
            return 1
        return max(1, self.run_ends[number] - margin - number)

    def _around(self, number: int) -> tuple[int, int]:
        """Return the first of the rows that matter to one, and the first behind them."""
        begin, tiles = number, 0
        while begin > 0 and tiles < self.before:
            begin -= 1
            tiles += self.lengths[self.of_row[begin]]
        end, tiles = number + 1, 0
        while end < self.rows and tiles < self.behind:
            tiles += self.lengths[self.of_row[end]]
            end += 1
        return begin, end

    def _viewed(self, number: int, begin: int, end: int, context: tuple[int, ...]) -> RowView:
        parts = [np.arange(self.lengths[row]) + self.begins[row] for row in self.of_row[begin:end]]
        left = sum(len(part) for part in parts[: number - begin])
        count = len(parts[number - begin])
        padding = [np.full(size, -1) for size in (self.before, self.behind)]
        places = np.concatenate([padding[0], *parts, padding[1]])
        places = places[left : left + self.before + count + self.behind]
        told = np.where(places < 0, 0, self._kinds[places] + 1)
        changes = self._changes(told, count)
        behind = np.searchsorted(changes, np.arange(count), side="right")
        ends = np.append(changes, count)[behind]
        return RowView(context, 0, count, self.before, places.tolist(), ends.tolist())

    def _changes(self, told: Ints, count: int) -> Ints:
        """Return the tiles that have others around them than the one before."""
        tiles = self.before + 1 + self.behind
        # The surroundings are the same if nothing changes in them from tile to tile.
        changes = np.concatenate([[0], np.cumsum(told[1:] != told[:-1])])
        found: Ints = np.flatnonzero(changes[tiles : tiles + count - 1] != changes[: count - 1]) + 1
        return found


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
