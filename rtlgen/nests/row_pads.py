"""Minimal trip counts of a nest that many dependent pairs need, found without ranking all of them.

A nest is seen as *blocks*, the iterations of its outermost loop, of *rows*, the runs of its
innermost one. A minimal trip count of the second loop makes blocks longer and moves nothing inside
of them; one of the innermost loop makes rows longer. So pairs are told apart by their rows once, by
their blocks for each minimum of the innermost loop, and a minimum of the second loop costs one pass
over pairs of blocks: a few hundred, where there are a hundred thousand dependent pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.ranks import enumerate_nest, trips_of

UNBOUNDED = 1 << 30
"""Extent of a box that ends no loop."""

Gaps = tuple[list[int], list[int]]
"""The smallest and the largest rank(source) - rank(sink) of every precedence."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a nest in their order, the second loop unpadded.

    Members
    -------
    points: (rows, loops - 1) values of the loops outside of the innermost.
    block: (rows,) number of the block of each. low, trips: of the innermost loop, unpadded.
    """

    points: Ints
    block: Ints
    low: Ints
    trips: Ints

    @staticmethod
    def of(loops: Sequence[NestLoop]) -> Rows | None:
        """Return the rows of a nest, or None where some loop is empty in some iteration."""
        *outer, last = loops
        enumerated = enumerate_nest(outer)
        if enumerated is None:
            return None
        points, _ = enumerated
        low, trips = trips_of(last, outer, points)
        _, block = np.unique(points[:, 0], return_inverse=True)
        return Rows(points, block.astype(np.int64), low, trips)

    def find(self, points: Ints) -> tuple[Ints, Ints] | None:
        """Return the row of (n, loops) points and their place in it; None: one is in no row."""
        low = self.points.min(axis=0)
        extents = tuple((self.points.max(axis=0) - low + 1).tolist())
        places = np.ravel_multi_index(tuple((self.points - low).T), extents)
        outer = points[:, :-1] - low
        if len(points) and ((outer < 0) | (outer >= np.array(extents))).any():
            return None
        wanted = np.ravel_multi_index(tuple(outer.T), extents)
        # The rows of a nest are in the order of their places.
        row = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        offset = points[:, -1] - self.low[row]
        inside = (places[row] == wanted) & (offset >= 0) & (offset < self.trips[row])
        return (row, offset) if bool(inside.all()) else None


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Dependent pairs in the dimensions of a nest, outermost first.

    Members
    -------
    sources, sinks: (pairs, loops), those of one precedence after those of the one before.
    starts: where each precedence begins.
    """

    sources: Ints
    sinks: Ints
    starts: Ints

    def gaps_at_least(self) -> list[int | None]:
        """Return what the largest gap of every precedence is at least, whatever the minima are.

        In one row, a gap is that of the innermost loop. To a source that comes after its sink, it
        is one iteration at least, since a minimum adds iterations and takes none. Of a source that
        comes before, nothing is known: None, where there are only such.
        """
        if not len(self.starts):
            return []
        apart = self.sources - self.sinks
        outer = apart[:, :-1]
        is_in_row = ~outer.any(axis=1)
        comes_after = ~is_in_row & (_first_of_each(outer) > 0)
        gaps = np.where(is_in_row, apart[:, -1], np.where(comes_after, 1, -UNBOUNDED))
        largest = np.maximum.reduceat(gaps, self.starts).tolist()
        return [None if gap == -UNBOUNDED else gap for gap in largest]


def _first_of_each(rows: Ints) -> Ints:
    """Return the first number of each row that is not 0; 0 where all are."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    found: Ints = rows[np.arange(len(rows)), np.argmax(rows != 0, axis=1)]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class RowPairs:
    """Dependent pairs, told apart by their rows alone.

    Members
    -------
    origin: (groups,) number of the precedence, increasing; source, sink: (groups,) rows.
    smallest, largest: (groups,) place of the source in its row minus that of the sink in its own.
    """

    origin: Ints
    source: Ints
    sink: Ints
    smallest: Ints
    largest: Ints

    @staticmethod
    def of(rows: Rows, table: PairTable) -> RowPairs | None:
        """Return the pairs of a table, or None where the nest has no iteration for some."""
        early, late = rows.find(table.sources), rows.find(table.sinks)
        if early is None or late is None:
            return None
        counts = np.diff([*table.starts.tolist(), len(table.sources)])
        origin = np.repeat(np.arange(len(table.starts), dtype=np.int64), counts)
        gaps = early[1] - late[1]
        key = (origin * len(rows.low) + early[0]) * len(rows.low) + late[0]
        order = np.argsort(key, kind="stable")
        key, gaps = key[order], gaps[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        return RowPairs(
            origin[order][first],
            early[0][order][first],
            late[0][order][first],
            np.minimum.reduceat(gaps, first) if len(first) else gaps,
            np.maximum.reduceat(gaps, first) if len(first) else gaps,
        )


@dataclass(frozen=True, slots=True, eq=False)
class BlockOrder:
    """Groups of `RowPairs` put in the order of their precedences and blocks.

    Members
    -------
    groups: the groups in this order. first: where a new pair of blocks begins in it.
    source, sink: blocks of every pair. precedence: where each begins among the pairs.
    """

    groups: Ints
    first: Ints
    source: Ints
    sink: Ints
    precedence: Ints

    @staticmethod
    def of(pairs: RowPairs, rows: Rows) -> BlockOrder:
        """Return the order for the pairs of a table."""
        blocks = int(rows.block[-1]) + 1
        source, sink = rows.block[pairs.source], rows.block[pairs.sink]
        key = (pairs.origin * blocks + source) * blocks + sink
        groups = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[groups], prepend=-1))
        chosen = groups[first]
        precedence = np.flatnonzero(np.diff(pairs.origin[chosen], prepend=-1))
        return BlockOrder(groups, first, source[chosen], sink[chosen], precedence)


@dataclass(frozen=True, slots=True, eq=False)
class BlockPairs:
    """Dependent pairs, told apart by their blocks alone.

    Members
    -------
    smallest, largest: place of the source in its block minus that of the sink in its own.
    """

    order: BlockOrder
    smallest: Ints
    largest: Ints

    @staticmethod
    def of(pairs: RowPairs, order: BlockOrder, within: Ints) -> BlockPairs:
        """Return the pairs of a table; `within` is the place of each row in its block."""
        gap = within[pairs.source] - within[pairs.sink]
        smallest, largest = (
            (gap + pairs.smallest)[order.groups],
            (gap + pairs.largest)[order.groups],
        )
        return BlockPairs(
            order,
            np.minimum.reduceat(smallest, order.first),
            np.maximum.reduceat(largest, order.first),
        )

    def gaps(self, lengths: Ints) -> Gaps:
        """Return the gaps when blocks have these lengths."""
        begin = np.cumsum(lengths) - lengths
        apart = begin[self.order.source] - begin[self.order.sink]
        return (
            np.minimum.reduceat(apart + self.smallest, self.order.precedence).tolist(),
            np.maximum.reduceat(apart + self.largest, self.order.precedence).tolist(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class BlockPlaces:
    """Iterations, told by their blocks.

    Members
    -------
    block: (iterations,) of each. place: (iterations,) its number in the block.
    """

    block: Ints
    place: Ints

    @property
    def last(self) -> BlockPlaces:
        """The last of them alone."""
        at = int(np.lexsort((self.place, self.block))[-1])
        return BlockPlaces(self.block[at : at + 1], self.place[at : at + 1])

    def ranks(self, lengths: Ints) -> Ints:
        """Return the ranks when blocks have these lengths."""
        begin = np.cumsum(lengths) - lengths
        found: Ints = begin[self.block] + self.place
        return found


@dataclass(frozen=True, slots=True, eq=False)
class BlockLengths:
    """The lengths of the blocks of a nest, by the minimal trip count of the second loop.

    Members
    -------
    trips: (blocks,) of the second loop, unpadded.
    begin: (blocks,) place of each block in `total`. total: iterations before each iteration of the
        second loop, over all blocks; None where the second loop is the innermost.
    most: the largest minimum that `at` knows.
    """

    trips: Ints
    begin: Ints
    total: Ints | None
    most: int

    def at(self, least: int) -> Ints:
        """Return the lengths of all blocks for a minimal trip count of the second loop."""
        counts = np.maximum(self.trips, least)
        if self.total is None:
            return counts
        found: Ints = self.total[self.begin + counts] - self.total[self.begin]
        return found

    def sum(self, least: int) -> int:
        """Return the number of iterations of the nest, likewise."""
        return int(self.at(least).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _LongRows:
    """The rows of a nest with a minimum for the second loop.

    Members
    -------
    most: the minimum. trips: (rows,) of the innermost loop, unpadded.
    first: where a new iteration of the second loop begins among the rows.
    begin: (blocks,) place of the first one of each block among these iterations.
    is_own: (iterations,) whether it is one without the minimum, too.
    place: (iterations,) number of each in its block.
    """

    most: int
    trips: Ints
    first: Ints
    begin: Ints
    is_own: NDArray[np.bool_]
    place: Ints

    @staticmethod
    def of(loops: Sequence[NestLoop], trips: Ints, most: int) -> _LongRows | None:
        """Return the rows of `loops`; `trips` are those of the second loop without the minimum."""
        enumerated = enumerate_nest(loops[:-1])
        if enumerated is None:
            return None
        points, _ = enumerated
        _, run = trips_of(loops[-1], loops[:-1], points)
        is_next = (np.diff(points[:, :2], axis=0) != 0).any(axis=1)
        first = np.flatnonzero(np.concatenate([[True], is_next]))
        counts = np.maximum(trips, most)
        begin = np.cumsum(counts) - counts
        place = np.arange(len(first)) - np.repeat(begin, counts)
        return _LongRows(most, run, first, begin, place < np.repeat(trips, counts), place)

    def lengths(self, trips: Ints, least: int) -> BlockLengths | None:
        """Return the lengths of the blocks when rows have at least `least` iterations."""
        run = np.maximum(self.trips, least)
        is_empty = np.minimum.reduceat(run, self.first) < 1
        if bool((is_empty & self.is_own).any()):
            return None
        total = np.concatenate([[0], np.cumsum(np.add.reduceat(run, self.first))])
        most = int(self.place[is_empty].min(initial=self.most))
        return BlockLengths(trips, self.begin, total, most)


class BlockForms:
    """The block forms of a nest and its dependent pairs, for any minima of the inner loops.

    Members
    -------
    listed: rows that were looked at to tell how long blocks are.

    Parameters
    ----------
    loops: of two levels at least. points: iterations to be placed, (n, loops), by name.
    """

    def __init__(
        self,
        loops: Sequence[NestLoop],
        tables: Sequence[PairTable],
        points: Mapping[str, Ints],
    ) -> None:
        self._loops = loops
        self._tables = tables
        self._points = points
        self._rows: dict[tuple[int, ...], _TableRows | None] = {}
        self._long_rows: dict[tuple[int, ...], _LongRows | None] = {}
        self.listed = 0
        blocks = enumerate_nest(loops[:1])
        assert blocks is not None, "the outermost loop has some iterations"
        self.blocks = len(blocks[0])
        self._trips = trips_of(loops[1], loops[:1], blocks[0])[1]

    def lengths(self, inner: tuple[int, ...], most: int) -> BlockLengths | None:
        """Return the lengths of the blocks for minima of the second loop up to `most` at least.

        Parameters
        ----------
        inner: minima of the third loop and on.

        None: some loop inside of a block is empty.
        """
        if not inner:
            return BlockLengths(self._trips, np.zeros_like(self._trips), None, most)
        between = inner[:-1]
        known = self._long_rows.get(between)
        if between not in self._long_rows or (known is not None and known.most < most):
            known = _LongRows.of(self._with_minima((0, most, *between, 0)), self._trips, most)
            self._long_rows[between] = known
            self.listed += self._rows_at_most(most) if known is None else len(known.trips)
        return None if known is None else known.lengths(self._trips, inner[-1])

    def _rows_at_most(self, most: int) -> int:
        """Return how many rows are looked at where some loop turns out to be empty."""
        return self.blocks * max(1, most) * prod(loop.extent for loop in self._loops[2:-1])

    def pairs(self, inner: tuple[int, ...]) -> tuple[BlockPairs, ...] | None:
        """Return the pairs of every table, or None where the nest has no iteration for some."""
        known = self._known_rows(inner)
        return None if known is None else known.pairs(inner[-1] if inner else 0)

    def places(self, inner: tuple[int, ...]) -> dict[str, BlockPlaces] | None:
        """Return where the points are, or None where the nest has no iteration for some."""
        known = self._known_rows(inner)
        return None if known is None else known.places(inner[-1] if inner else 0)

    def _known_rows(self, inner: tuple[int, ...]) -> _TableRows | None:
        between = inner[:-1]
        if between not in self._rows:
            self._rows[between] = self._in_rows(between)
        return self._rows[between]

    def _in_rows(self, between: tuple[int, ...]) -> _TableRows | None:
        rows = Rows.of(self._with_minima((0, 0, *between, 0)[: len(self._loops)]))
        if rows is None:
            return None
        found = []
        for table in self._tables:
            pairs = RowPairs.of(rows, table)
            if pairs is None:
                return None
            found.append((pairs, BlockOrder.of(pairs, rows)))
        points = {name: rows.find(points) for name, points in self._points.items()}
        return _TableRows(rows, tuple(found), points)

    def _with_minima(self, least: Sequence[int]) -> list[NestLoop]:
        return [stretched(loop, count) for loop, count in zip(self._loops, least, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class _TableRows:
    """Members: the rows, the pairs of every table, row of points and place in it, if it has one."""

    rows: Rows
    tables: tuple[tuple[RowPairs, BlockOrder], ...]
    points: Mapping[str, tuple[Ints, Ints] | None]

    def pairs(self, least: int) -> tuple[BlockPairs, ...]:
        """Return the pairs of every table when rows have at least `least` iterations."""
        within = self._within(least)
        return tuple(BlockPairs.of(pairs, order, within) for pairs, order in self.tables)

    def places(self, least: int) -> dict[str, BlockPlaces] | None:
        """Return where the points are, likewise; None where some are in no row."""
        within = self._within(least)
        found: dict[str, BlockPlaces] = {}
        for name, place in self.points.items():
            if place is None:
                return None
            row, offset = place
            found[name] = BlockPlaces(self.rows.block[row], within[row] + offset)
        return found

    def _within(self, least: int) -> Ints:
        """Return the place of each row in its block."""
        trips = np.maximum(self.rows.trips, least)
        begin = np.cumsum(trips) - trips
        found: Ints = begin - begin[np.searchsorted(self.rows.block, self.rows.block)]
        return found


def reaching(loops: Sequence[NestLoop], points: Ints) -> tuple[NestLoop, ...] | None:
    """Return `loops` with the minima that give every one of (n, loops) points an iteration.

    None: no minima do, since a point stands before the begin of a loop.
    """
    found: list[NestLoop] = []
    for level, loop in enumerate(loops):
        low, trips = trips_of(loop, found, points[:, :level])
        place = points[:, level] - low
        if bool((place < 0).any()):
            return None
        beyond = place[place >= trips]
        found.append(stretched(loop, int(beyond.max()) + 1) if len(beyond) else loop)
    return tuple(found)


def stretched(loop: NestLoop, least: int) -> NestLoop:
    """Let a loop run at least `least` iterations, in a box that does not end it."""
    least = max(least, loop.at_least)
    if loop.is_box:
        return replace(loop, extent=max(loop.extent, least))
    uppers = loop.uppers or (Bound(Affine((), loop.at + loop.extent - 1)),)
    return replace(loop, extent=UNBOUNDED, uppers=uppers, at_least=least)
