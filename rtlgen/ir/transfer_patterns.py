"""What a transfer moves in each tile: few patterns, however many tiles there are.

Whether an iteration of a transfer moves a word depends on conditions, each a form of the tile's
coordinates plus a form of the counters inside of a tile. Tiles in which the first parts agree, or
lie both where their condition is decided, have the same pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.iterations import (
    Inside,
    first_of_each,
    inner_iterations,
    level_range,
    predicate_mask,
    told_apart,
)
from rtlgen.ir.levels import Level
from rtlgen.ir.memory_side import BURST_WORDS
from rtlgen.ir.plan_error import TooManyTiles
from rtlgen.ir.tiled import Transfer

MOST_TILES = 1 << 22
"""Rows of tiles, and tiles of those that are not alike; more would take gigabytes."""


@dataclass(frozen=True, slots=True)
class Item:
    """An iteration of a transfer that a mover does not drop.

    Members
    -------
    dropped: cycles just before it in which the mover passes by what moves nothing.
    moves: whether it moves a word; else it only says that a tile ends. last: whether it is the last
        one of its tile.
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


def noticed_items(pattern: Pattern, cycles: int) -> tuple[int, ...]:
    """Return the places of the items that a busy port might notice, in order.

    Such a one moves nothing, or is the last one, or comes so late that the access before it may be
    done by then.

    Parameters
    ----------
    cycles: of an access.
    """
    return tuple(
        [
            place
            for place, item in enumerate(pattern)
            if not item.moves or item.last or item.dropped >= cycles - 2
        ]
    )


def patterns_of(transfer: Transfer, tiles: Ints, has_bursts: bool) -> TilePatterns:
    """Return what a transfer moves in every one of some tiles.

    Parameters
    ----------
    has_bursts: whether words that follow each other make one burst.
    """
    of_tile, inner = _alike(transfer, tiles, has_bursts)
    numbers: dict[Pattern, int] = {}
    # Tiles that conditions tell apart may yet move the same.
    renumbered = [
        numbers.setdefault(_pattern(transfer, tiles[tile], inner, has_bursts), len(numbers))
        for tile in first_of_each(of_tile)
    ]
    return TilePatterns(tuple(numbers), np.array(renumbered, dtype=np.int64)[of_tile])


def words_in_tiles(transfer: Transfer, depth: int) -> int:
    """Return how many words a transfer moves in all tiles together; see `_in_tiles`."""
    return _in_tiles(transfer, depth, False)


def bursts_in_tiles(transfer: Transfer, depth: int) -> int:
    """Return how many bursts a transfer makes in all tiles together; see `_in_tiles`."""
    return _in_tiles(transfer, depth, True)


def _in_tiles(transfer: Transfer, depth: int, bursts: bool) -> int:
    """Return how many words a transfer moves in all tiles together, or how many bursts it makes.

    Loop by loop, iterations in which the same is moved further in are looked into once: so the work
    grows with the iterations of one loop, and with the kinds of those outside of it.

    Parameters
    ----------
    depth: levels of the transfer that are the tiles' loops.

    Raises
    ------
    TooManyTiles: too many are in iterations that are not alike.
    PlanError: a level is empty for some outer iteration, or counts below 0.
    """
    outer, counts = np.zeros((1, 0), np.int64), np.ones(1, np.int64)
    for number, level in enumerate(transfer.levels[:depth]):
        low, trips = level_range(level, outer)
        if (count := int(trips.sum())) > MOST_TILES:
            raise TooManyTiles(f"{count:,} tiles in loops whose iterations differ from each other")
        outer, parents = inner_iterations(outer, low, trips)
        kinds = np.zeros(len(outer), np.int64)
        inside = Inside.of(outer, transfer.levels[number + 1 :])
        for values in inside.telling_bounds(depth - number - 1):
            kinds = told_apart(kinds, values)
        for values in telling(transfer, inside, bursts):
            kinds = told_apart(kinds, values)
        counts = np.bincount(kinds, counts[parents]).astype(np.int64)
        outer = outer[first_of_each(kinds)]
    points = _box_points(transfer.levels[depth:])
    if bursts:
        made = [_bursts(_pattern(transfer, tile, points, True)) for tile in outer]
        return int(np.array(made, np.int64) @ counts)
    moved = np.array([_moves(transfer, tile, points)[1].sum() for tile in outer], np.int64)
    return int(moved @ counts)


def _bursts(pattern: Pattern) -> int:
    return sum(item.moves and not item.follows for item in pattern)


def _alike(transfer: Transfer, tiles: Ints, has_bursts: bool) -> tuple[Ints, Ints]:
    """Return numbers that are the same for tiles with one pattern, and the points of a tile."""
    box = transfer.levels[tiles.shape[1] :]
    of_tile: Ints = np.zeros(len(tiles), dtype=np.int64)
    for values in telling(transfer, Inside.of(tiles, box), has_bursts):
        of_tile = told_apart(of_tile, values)
    return of_tile, _box_points(box)


def telling(transfer: Transfer, inside: Inside, has_bursts: bool) -> Iterator[Ints]:
    """Yield numbers that are the same for outer iterations in which a transfer moves the same.

    Parameters
    ----------
    inside: its levels inside of these.
    """
    yield from inside.telling_predicate(transfer.when)
    if has_bursts:
        # Where a burst ends depends on where it begins, and on nothing else of the tile.
        yield inside.values(transfer.word) % BURST_WORDS


def _box_points(box: Sequence[Level]) -> Ints:
    if not box:
        return np.zeros((1, 0), dtype=np.int64)
    grids = np.indices([level.extent for level in box])
    points: Ints = grids.reshape(len(box), -1).T.astype(np.int64)
    return points


def _moves(transfer: Transfer, tile: Ints, inner: Ints) -> tuple[Ints, Bools]:
    """Return the counters of a transfer in a tile, and in which of them it moves a word."""
    counters = np.concatenate([np.tile(tile, (len(inner), 1)), inner], axis=1)
    return counters, predicate_mask(transfer.when, counters)


def _groups(transfer: Transfer, iterations: int) -> Ints:
    """Return the cycle in which a mover looks at each iteration of a tile, if it moved none."""
    if transfer.abreast == 1:
        return np.arange(iterations, dtype=np.int64)
    rows, places = np.divmod(np.arange(iterations, dtype=np.int64), transfer.levels[-1].extent)
    found: Ints = rows * transfer.groups + places // transfer.abreast
    return found


def _pattern(transfer: Transfer, tile: Ints, inner: Ints, has_bursts: bool) -> Pattern:
    counters, moves = _moves(transfer, tile, inner)
    groups = _groups(transfer, len(inner))
    end, kept = len(inner) - 1, np.flatnonzero(moves)
    if not moves[groups == groups[end]].any():
        kept = np.append(kept, end)
    dropped = np.maximum(np.diff(groups[kept], prepend=-1) - 1, 0)
    follows = np.zeros(len(kept), dtype=np.bool_)
    if has_bursts:
        coefficients = np.array(transfer.word.coefficients, dtype=np.int64)
        words = counters[kept] @ coefficients + transfer.word.constant
        follows[1:] = (np.diff(words) == 1) & (words[1:] % BURST_WORDS != 0)
    # Few items differ from each other: a tile of millions of them has each of these once.
    is_last = np.arange(len(kept)) == len(kept) - 1
    kinds = np.stack([dropped, moves[kept], is_last, follows], axis=1)
    told: Ints = np.zeros(len(kept), dtype=np.int64)
    for values in kinds.T:
        told = told_apart(told, values)
    items = [
        Item(dropped, bool(moves), bool(last), bool(follows))
        for dropped, moves, last, follows in kinds[first_of_each(told)].tolist()
    ]
    return tuple([items[number] for number in told.tolist()])
