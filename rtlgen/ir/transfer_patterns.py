"""What a transfer moves in each tile: few patterns, however many tiles there are.

Whether an iteration of a transfer moves a word depends on conditions, each a form of the tile's
coordinates plus a form of the counters inside of a tile. Tiles in which the first parts agree, or
lie both where their condition is decided, have the same pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.iterations import predicate_mask
from rtlgen.ir.levels import Condition, Level
from rtlgen.ir.memory_side import BURST_WORDS
from rtlgen.ir.tiled import Transfer

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Item:
    """An iteration of a transfer that a mover does not drop.

    Members
    -------
    dropped: iterations just before it that move nothing. moves: whether it moves a word; else it
        only says that a tile ends. last: whether it is the last one of its tile.
    follows: whether its word goes on with the burst of the one before.
    """

    dropped: int
    moves: bool
    last: bool
    follows: bool = False


Pattern = tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TilePatterns:
    """The patterns of a transfer, and which of them each tile has."""

    patterns: tuple[Pattern, ...]
    of_tile: Ints

    @property
    def words(self) -> int:
        """Words that are moved in all tiles."""
        moved = np.array([sum(item.moves for item in pattern) for pattern in self.patterns])
        return int(moved[self.of_tile].sum())


def patterns_of(transfer: Transfer, tiles: Ints, has_bursts: bool) -> TilePatterns:
    """Return what a transfer moves in every one of some tiles.

    Parameters
    ----------
    has_bursts: whether words that follow each other make one burst.
    """
    depth = tiles.shape[1]
    box = transfer.levels[depth:]
    columns = [
        _decided(condition, tiles, box)
        for conditions in transfer.when.alternatives
        for condition in conditions
    ]
    if has_bursts:
        # Where a burst ends depends on where it begins, and on nothing else of the tile.
        places = tiles @ np.array(transfer.word.coefficients[:depth], dtype=np.int64)
        columns.append(places % BURST_WORDS)
    if not columns:
        columns = [np.zeros(len(tiles), dtype=np.int64)]
    table = np.stack(columns, axis=1)
    _, first, of_tile = np.unique(table, axis=0, return_index=True, return_inverse=True)
    inner = _box_points(box)
    patterns = tuple(_pattern(transfer, tiles[tile], inner, has_bursts) for tile in first)
    return TilePatterns(patterns, of_tile.reshape(-1).astype(np.int64))


def _decided(condition: Condition, tiles: Ints, box: Sequence[Level]) -> Ints:
    """Return the part of a condition that a tile decides, cut off where it decides all."""
    depth = tiles.shape[1]
    coefficients = np.array(condition.form.coefficients, dtype=np.int64)
    inner = list(zip(coefficients[depth:].tolist(), box, strict=True))
    low = sum(min(0, c * (level.extent - 1)) for c, level in inner)
    high = sum(max(0, c * (level.extent - 1)) for c, level in inner)
    values = tiles @ coefficients[:depth] + condition.form.constant
    clipped: Ints = np.clip(values, -high - 1, -low + 1)
    return clipped


def _box_points(box: Sequence[Level]) -> Ints:
    if not box:
        return np.zeros((1, 0), dtype=np.int64)
    grids = np.indices([level.extent for level in box])
    points: Ints = grids.reshape(len(box), -1).T.astype(np.int64)
    return points


def _pattern(transfer: Transfer, tile: Ints, inner: Ints, has_bursts: bool) -> Pattern:
    counters = np.concatenate([np.tile(tile, (len(inner), 1)), inner], axis=1)
    moves = predicate_mask(transfer.when, counters)
    end = len(inner) - 1
    kept = sorted({*np.flatnonzero(moves).tolist(), end})
    words = counters @ np.array(transfer.word.coefficients, dtype=np.int64) + transfer.word.constant
    before = [-1, *kept]
    return tuple(
        Item(
            place - previous - 1,
            bool(moves[place]),
            place == end,
            has_bursts
            and previous >= 0
            and bool(words[place] == words[previous] + 1 and words[place] % BURST_WORDS),
        )
        for previous, place in zip(before, kept, strict=False)
    )
