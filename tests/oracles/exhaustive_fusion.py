"""The shortest fused loop of a program, by trying every loop order and padding of every statement.

It shares nothing with the search of the compiler. Instances and dependent pairs come from walking
the program; every nest is an explicit list of ranks; and the choice is a constraint search: the
statement with the fewest nests left is placed next, and a nest is struck out only when the ones
already placed leave it no legal shift within the limit. So "no" means that every combination was
excluded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations, product

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.scop import Scop
from tests.poly.enumeration import Instance, Point, element, instances

Ints = NDArray[np.int64]

NEVER = -(10**9)
"""A distance that asks for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """One loop order and padding of a statement: the rank of each instance, and all iterations."""

    ranks: Ints
    count: int


class ExhaustiveFusion:
    """Every nest of every statement of a normalised program, and the distances between them."""

    def __init__(self, scop: Scop) -> None:
        self.names = [statement.name for statement in scop.statements]
        walked = instances(scop)
        self._points = {name: _points_of(walked, name) for name in self.names}
        self._pairs = _dependent_rows(scop, walked, self._points)
        depth = max(points.shape[1] for points in self._points.values())
        extents = sorted(
            {int(extent) for points in self._points.values() for extent in _extents(points)} - {1}
        )
        common = _common_nest(self._points, depth)
        self.nests = {
            name: self._ordered(name, _nests(points, extents, depth, common))
            for name, points in self._points.items()
        }
        self._gaps: dict[tuple[str, str], Ints] = {}

    def _ordered(self, name: str, nests: Iterator[Nest]) -> list[Nest]:
        """Return the nests that keep the statement's own order, without those that others beat."""
        own = self._pairs.get((name, name))
        kept: dict[bytes, list[Nest]] = {}
        for nest in nests:
            if own is not None and (nest.ranks[own[0]] >= nest.ranks[own[1]]).any():
                continue
            first = int(nest.ranks.min())
            same = kept.setdefault((nest.ranks - first).tobytes(), [])
            if not any(
                int(other.ranks.min()) <= first
                and other.count - int(other.ranks.min()) <= nest.count - first
                for other in same
            ):
                same.append(nest)
        return [nest for same in kept.values() for nest in same]

    def gaps(self, source: str, sink: str) -> Ints | None:
        """Return the required shift_sink - shift_source for all nests of the two, or None."""
        rows = self._pairs.get((source, sink))
        if rows is None:
            return None
        if (source, sink) not in self._gaps:
            early = [nest.ranks[rows[0]].astype(np.int32) for nest in self.nests[source]]
            late = [nest.ranks[rows[1]].astype(np.int32) for nest in self.nests[sink]]
            lag = 0 if self.names.index(source) < self.names.index(sink) else 1
            table = [[int((p - q).max()) + lag for q in late] for p in early]
            self._gaps[source, sink] = np.array(table, dtype=np.int64)
        return self._gaps[source, sink]

    def reaches(self, limit: int) -> bool:
        """Tell whether some choice of nests takes at most `limit` iterations."""
        left = {}
        for name in self.names:
            counts = np.array([nest.count for nest in self.nests[name]])
            left[name] = np.flatnonzero(counts <= limit)
        return self._extend(_Partial({}, {}, np.zeros((0, 0), dtype=np.int64), []), left, limit)

    def _extend(self, partial: _Partial, left: dict[str, Ints], limit: int) -> bool:
        if not left:
            return True
        # The fewest nests first; among those the largest statement.
        name = min(left, key=lambda n: (len(left[n]), -len(self._points[n])))
        remaining = {other: rows for other, rows in left.items() if other != name}
        for nest in left[name].tolist():
            extended = partial.with_nest(self, name, nest)
            if extended is None or extended.end(self) > limit:
                continue
            open_ones = {
                other: rows[extended.earliest_ends(self, other, rows) <= limit]
                for other, rows in remaining.items()
            }
            if all(map(len, open_ones.values())) and self._extend(extended, open_ones, limit):
                return True
        return False


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Nests chosen so far, with the smallest shifts that they need.

    Members
    -------
    paths: longest path between the chosen statements, in order of `order`; NEVER where none is.
    """

    chosen: dict[str, int]
    shifts: dict[str, int]
    paths: Ints
    order: list[str]

    def end(self, fusion: ExhaustiveFusion) -> int:
        return max(s + fusion.nests[n][self.chosen[n]].count for n, s in self.shifts.items())

    def _gap(self, fusion: ExhaustiveFusion, source: str, sink: str, row: int, column: int) -> int:
        table = fusion.gaps(source, sink)
        return NEVER if table is None else int(table[row, column])

    def with_nest(self, fusion: ExhaustiveFusion, name: str, nest: int) -> _Partial | None:
        """Return the choice with one more nest, or None where no shifts are legal."""
        size = len(self.order)
        into = np.array(
            [self._gap(fusion, other, name, self.chosen[other], nest) for other in self.order],
            dtype=np.int64,
        )
        out = np.array(
            [self._gap(fusion, name, other, nest, self.chosen[other]) for other in self.order],
            dtype=np.int64,
        )
        paths = np.full((size + 1, size + 1), NEVER, dtype=np.int64)
        paths[:size, :size] = self.paths
        if size:
            paths[:size, size] = np.maximum(into, (self.paths + into[None, :]).max(axis=1))
            paths[size, :size] = np.maximum(out, (out[:, None] + self.paths).max(axis=0))
            cycle = int((paths[size, :size] + into).max())
            if cycle > 0:
                return None
            through = paths[:size, size][:, None] + paths[size, :size][None, :]
            paths[:size, :size] = np.maximum(paths[:size, :size], through)
        order = [*self.order, name]
        starts = np.maximum(paths, NEVER).max(axis=0)
        shifts = {other: max(0, int(start)) for other, start in zip(order, starts, strict=True)}
        return _Partial({**self.chosen, name: nest}, shifts, paths, order)

    def earliest_ends(self, fusion: ExhaustiveFusion, name: str, rows: Ints) -> Ints:
        """Return when nests of a further statement would end at the earliest."""
        starts = np.zeros(len(rows), dtype=np.int64)
        for other, nest in self.chosen.items():
            table = fusion.gaps(other, name)
            if table is not None:
                starts = np.maximum(starts, self.shifts[other] + table[nest, rows])
        counts = [fusion.nests[name][row].count for row in rows.tolist()]
        return starts + np.array(counts, dtype=np.int64)


def _points_of(walked: Sequence[Instance], name: str) -> Ints:
    points = [instance.point for instance in walked if instance.statement == name]
    return np.array(points, dtype=np.int64).reshape(len(points), len(points[0]))


def _extents(points: Ints) -> Ints:
    extents: Ints = points.max(axis=0) - points.min(axis=0) + 1
    return extents


def _dependent_rows(
    scop: Scop, walked: Sequence[Instance], points: dict[str, Ints]
) -> dict[tuple[str, str], tuple[Ints, Ints]]:
    """Return neighbouring dependent instances of all statements, as rows of their points.

    Neighbours are a write and the reads up to the next write, those reads and that write, and two
    writes in a row. The order of all other dependent instances follows from theirs.
    """
    row = {
        (name, tuple(point)): n
        for name, own in points.items()
        for n, point in enumerate(own.tolist())
    }
    writes: dict[tuple[str, Point], Instance] = {}
    reads: dict[tuple[str, Point], list[Instance]] = {}
    found: dict[tuple[str, str], set[tuple[int, int]]] = {}

    def follows(source: Instance, sink: Instance) -> None:
        pair = row[source.statement, source.point], row[sink.statement, sink.point]
        found.setdefault((source.statement, sink.statement), set()).add(pair)

    for sink in walked:
        statement = scop.statement(sink.statement)
        for access in statement.reads:
            place = element(scop, sink, access)
            if place in writes:
                follows(writes[place], sink)
            reads.setdefault(place, []).append(sink)
        place = element(scop, sink, statement.write)
        for reader in reads.pop(place, []):
            if reader != sink:
                follows(reader, sink)
        if place in writes:
            follows(writes[place], sink)
        writes[place] = sink
    return {
        key: (np.array([p for p, _ in rows]), np.array([q for _, q in rows]))
        for key, rows in found.items()
    }


def _common_nest(points: dict[str, Ints], depth: int) -> Ints | None:
    """Return the iterations of the one nest that all statements fit into, where there is one.

    It holds the instances of the deepest statements, and for every instance of a shallower one
    without any, one iteration at 0.
    """
    deep = [own for own in points.values() if own.shape[1] == depth]
    nest = {tuple(point) for own in deep for point in own.tolist()}
    for own in points.values():
        missing = depth - own.shape[1]
        inside = {point[: own.shape[1]] for point in nest}
        nest |= {
            (*point, *[0] * missing) for point in map(tuple, own.tolist()) if point not in inside
        }
    return np.array(sorted(nest), dtype=np.int64)


def _nests(points: Ints, extents: Sequence[int], depth: int, common: Ints | None) -> Iterator[Nest]:
    """Yield every order and padding with up to `depth` loops; the real trip is first or last."""
    own = points.shape[1]
    is_box = len(points) == int(np.prod(_extents(points)))
    for pads in range(depth - own + 1):
        for sizes in combinations_with_replacement(extents, pads):
            for ends in product((0, 1), repeat=pads):
                loops = [*range(own), *zip(sizes, ends, strict=True)]
                for order in set(permutations(loops)):
                    yield _box_nest(points, order) if is_box else _ragged_nest(points, order)
    if (common is not None and not is_box) or own < depth:
        assert common is not None
        yield from _nests_within(points, common)


Order = Sequence[int | tuple[int, int]]
"""Iterators by number, and (trips, real trip is the last one) of pad loops; outermost first."""


def _box_nest(points: Ints, order: Order) -> Nest:
    weight, ranks = 1, np.zeros(len(points), dtype=np.int64)
    for loop in reversed(order):
        if isinstance(loop, tuple):
            ranks += weight * (loop[0] - 1) * loop[1]
            weight *= loop[0]
        else:
            ranks += weight * (points[:, loop] - points[:, loop].min())
            weight *= int(_extents(points)[loop])
    return Nest(ranks, weight)


def _ragged_nest(points: Ints, order: Order) -> Nest:
    """Count the instances before each one, level by level from the inside."""
    ranks = np.zeros(len(points), dtype=np.int64)
    sizes = np.ones(len(points), dtype=np.int64)
    for level in range(len(order) - 1, -1, -1):
        loop = order[level]
        if isinstance(loop, tuple):
            ranks += sizes * (loop[0] - 1) * loop[1]
            sizes = sizes * loop[0]
            continue
        outer = [k for k in order[:level] if not isinstance(k, tuple)]
        _, parents = np.unique(points[:, outer], axis=0, return_inverse=True)
        parents = parents.reshape(-1) if outer else np.zeros(len(points), dtype=np.int64)
        before = np.zeros(len(points), dtype=np.int64)
        total = np.zeros(len(points), dtype=np.int64)
        for parent in np.unique(parents):
            rows = np.flatnonzero(parents == parent)
            values, firsts, inverse = np.unique(
                points[rows, loop], return_index=True, return_inverse=True
            )
            ends = np.cumsum(sizes[rows][firsts])
            before[rows] = (ends - sizes[rows][firsts])[inverse.reshape(-1)]
            total[rows] = ends[-1]
            assert len(values)
        ranks += before
        sizes = total
    return Nest(ranks, int(sizes[0]))


def _nests_within(points: Ints, common: Ints) -> Iterator[Nest]:
    """Yield the nests of a statement that runs in the first or last fitting iteration of another.

    The iterations of `common` are run through in any order of its loops.
    """
    own = points.shape[1]
    for order in permutations(range(common.shape[1])):
        ordered = common[np.lexsort([common[:, k] for k in reversed(order)])]
        places: dict[Point, list[int]] = {}
        for rank, iteration in enumerate(map(tuple, ordered.tolist())):
            places.setdefault(iteration[:own], []).append(rank)
        fitting = [places.get(tuple(point)) for point in points.tolist()]
        if any(ranks is None for ranks in fitting):
            return
        for end in (0, -1):
            ranks = np.array([r[end] for r in fitting if r is not None], dtype=np.int64)
            yield Nest(ranks, len(common))
