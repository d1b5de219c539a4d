"""All instances of a program, and the pairs that depend on each other, listed.

All instances of a program and the pairs of them that depend on each other, enumerated.

Where the rank of an iteration is no affine function, extrema over a dependence cannot be left to
integer programming. Then the instances are enumerated, and the pairs are found by sorting the
accesses to every element in program order: each read with the last write before it (flow), each
read with the next write (anti), each write with the next one (output). All other dependences
follow from these. Of a stream it is each access with that to the next element.

The points of a bounded set, listed dimension by dimension and all at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.quasi_affine import affine_values, quasi_affine_values
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import coefficients_of, for_each, integer, point_values

MAX_INSTANCES = 2_000_000
"""Programs with more statement instances are not enumerated."""

MANY_INSTANCES = 200_000
"""Programs with more statement instances are not enumerated where closed forms do as well."""

MANY_OF_EACH = 20_000
"""Instances of a statement, on average, up to which lists cost less than closed forms do."""

PairKey = tuple[str, str, int | None, int | None]
"""(source, sink, read of the source or None for its write, read of the sink or None)."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Dependent instances: row k of `sources` must run before row k of `sinks`."""

    sources: Ints
    sinks: Ints


def enumerated_size(scop: Scop, counts: Mapping[str, int]) -> int:
    """Return how many places an enumeration of all instances looks at.

    An instance counts once more for each element that it may look up, or write, of an array that
    changes.

    Parameters
    ----------
    counts: number of instances of every statement.
    """
    changing = {statement.write.array for statement in scop.statements}
    total = 0
    for statement in scop.statements:
        accesses = (statement.write, *statement.reads)
        looked_up = [a for a in accesses if a.is_uncertain and a.array in changing]
        places = sum((window_size(access) for access in looked_up), start=1)
        total += counts[statement.name] * places
    return total


def window_size(access: Access) -> int:
    """Return the number of elements that one instance may touch."""
    return prod(reach.size for reach in access.reaches)


def touched_elements(scop: Scop, statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the (n, k) row-major places of the elements that each instance may touch.

    What lies outside of the array is -1: the program does not touch it.
    """
    array, names = scop.array(access.array), statement.iterators
    places = np.zeros((len(points), 1), dtype=np.int64)
    inside = np.ones((len(points), 1), dtype=np.bool_)
    for form in access.where:
        inside &= (affine_values(form, names, points) >= 0)[:, None]
    for subscript, extent in zip(access.subscripts, array.shape, strict=True):
        if isinstance(subscript, Affine):
            values = affine_values(subscript, names, points)[:, None]
        elif subscript.known is not None:
            values = quasi_affine_values(subscript.known, names, points)[:, None]
        else:
            reach = subscript.reach
            offsets = np.arange(reach.low, reach.high + 1, dtype=np.int64)
            values = affine_values(reach.base, names, points)[:, None] + offsets[None, :]
        shape = (len(points), places.shape[1] * values.shape[1])
        within = np.broadcast_to((values >= 0) & (values < extent), (len(points), values.shape[1]))
        inside = (inside[:, :, None] & within[:, None, :]).reshape(shape)
        places = (places[:, :, None] * extent + values[:, None, :]).reshape(shape)
    return np.where(inside, places, -1)


def statement_points(scop: Scop, statement: Statement) -> Ints:
    """Return the (n, iterators) instances of a statement of a normalised program, in their order.

    Loop by loop: each gets the bounds that follow from what is fixed outside of it.
    """
    names = statement.iterators
    boxes = {loop.iterator: loop for loop in scop.schedule.loops(statement.name)}
    points = np.zeros((1, 0), dtype=np.int64)
    bounds = statement.bounds
    if any(b.is_constant and b.constant < 0 for b in bounds):
        return np.zeros((0, len(names)), dtype=np.int64)
    for depth, name in enumerate(names):
        box = boxes[name]
        low = np.full(len(points), box.at, dtype=np.int64)
        high = low + (box.extent - 1)
        for bound in bounds:
            own = bound.coefficient(name)
            if not own or not bound.variables <= set(names[: depth + 1]):
                continue
            rest = affine_values(bound - Affine.variable(name) * own, names[:depth], points)
            if own > 0:
                low = np.maximum(low, -(rest // own))
            else:
                high = np.minimum(high, rest // -own)
        points = _extended(points, low, np.maximum(high - low + 1, 0))
    real = np.ones(len(points), dtype=np.bool_)
    for congruence in statement.conditions:
        if isinstance(congruence, Congruence):
            real &= affine_values(congruence.form, names, points) % congruence.modulus == 0
    return points[real]


def _extended(points: Ints, low: Ints, trips: Ints) -> Ints:
    """Return every point once for each of its `trips` values from `low` on, in a new column."""
    starts = np.repeat(np.cumsum(trips) - trips, trips)
    column = np.repeat(low, trips) + np.arange(len(starts), dtype=np.int64) - starts
    return np.concatenate([np.repeat(points, trips, axis=0), column[:, None]], axis=1)


def dependent_pairs(scop: Scop) -> Mapping[PairKey, Pairs]:
    """Return the pairs of a normalised program, scheduled in program order."""
    points = {s.name: statement_points(scop, s) for s in scop.statements}
    moments = _moments(scop, points)
    found: dict[PairKey, Pairs] = {}
    changing = {statement.write.array for statement in scop.statements}
    for array in scop.arrays:
        if array.is_stream:
            _Events(scop, array.name, points, moments).collect_order(found)
        # Nothing depends on what never changes.
        elif array.name in changing:
            _Events(scop, array.name, points, moments).collect(found)
    return found


def _moments(scop: Scop, points: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return the place of every instance in program order."""
    vectors = [
        np.stack(
            [affine_values(dim, s.iterators, points[s.name]) for dim in scop.schedule.time(s.name)],
            axis=1,
        )
        for s in scop.statements
    ]
    every = np.concatenate(vectors)
    place = np.empty(len(every), dtype=np.int64)
    place[np.lexsort(every.T[::-1])] = np.arange(len(every))
    ends = np.cumsum([len(v) for v in vectors])[:-1]
    return {s.name: p for s, p in zip(scop.statements, np.split(place, ends), strict=True)}


class _Events:
    """The accesses to one array, in the order of their elements and moments."""

    def __init__(
        self, scop: Scop, array: str, points: Mapping[str, Ints], moments: Mapping[str, Ints]
    ) -> None:
        self.points = points
        self.accesses: list[tuple[str, int | None]] = []
        columns: list[Ints] = []
        for statement in scop.statements:
            own: list[tuple[int | None, Access]] = [(None, statement.write)]
            own += list(enumerate(statement.reads))
            for read, access in own:
                if access.array != array:
                    continue
                elements = touched_elements(scop, statement, access, points[statement.name])
                instance, slot = np.nonzero(elements >= 0)
                # In one instance the reads come before the write.
                when = 2 * moments[statement.name] + (1 if read is None else 0)
                columns.append(
                    np.stack(
                        [
                            elements[instance, slot],
                            when[instance],
                            np.full(len(instance), len(self.accesses), dtype=np.int64),
                            instance,
                        ]
                    )
                )
                self.accesses.append((statement.name, read))
        table = np.concatenate(columns, axis=1)
        self.element, self.when, self.access, self.instance = table[
            :, np.lexsort((table[1], table[0]))
        ]

    def collect(self, found: dict[PairKey, Pairs]) -> None:
        """Add the pairs of this array."""
        size = len(self.element)
        if size == 0:
            return
        place = np.arange(size, dtype=np.int64)
        is_write = np.array([read is None for _, read in self.accesses])[self.access]
        last_write = np.maximum.accumulate(np.where(is_write, place, -1))
        next_write = np.minimum.accumulate(np.where(is_write, place, size)[::-1])[::-1]
        # An access is no neighbour of itself.
        previous = np.concatenate([[-1], last_write[:-1]])
        following = np.concatenate([next_write[1:], [size]])
        self._add(found, previous, place, ~is_write)
        self._add(found, place, following, np.ones(size, dtype=np.bool_))

    def collect_order(self, found: dict[PairKey, Pairs]) -> None:
        """Add the pairs of neighbours of this array, which is a stream."""
        place = np.arange(len(self.element) - 1, dtype=np.int64)
        self._add_pairs(found, place, place + 1)

    def _add(
        self, found: dict[PairKey, Pairs], sources: Ints, sinks: Ints, wanted: NDArray[np.bool_]
    ) -> None:
        size = len(self.element)
        inside = wanted & (sources >= 0) & (sinks < size)
        a, b = sources[inside], sinks[inside]
        same = (self.element[a] == self.element[b]) & (self.when[a] // 2 != self.when[b] // 2)
        self._add_pairs(found, a[same], b[same])

    def _add_pairs(self, found: dict[PairKey, Pairs], a: Ints, b: Ints) -> None:
        for first in np.unique(self.access[a]):
            for second in np.unique(self.access[b]):
                chosen = (self.access[a] == first) & (self.access[b] == second)
                if chosen.any():
                    (source, source_read), (sink, sink_read) = (
                        self.accesses[first],
                        self.accesses[second],
                    )
                    found[source, sink, source_read, sink_read] = Pairs(
                        self.points[source][self.instance[a[chosen]]],
                        self.points[sink][self.instance[b[chosen]]],
                    )


def members(instances: isl.Set, points: Ints) -> NDArray[np.bool_]:
    """Tell which points are in a set; pieces with a modulus count as the whole space."""
    mask = np.zeros(len(points), dtype=np.bool_)
    for piece in for_each(instances.foreach_basic_set):
        every = np.ones(len(points), dtype=np.bool_)
        if not piece.dim(isl.dim_type.div):
            for constraint in for_each(piece.foreach_constraint):
                every &= _satisfied(constraint, points)
        mask |= every
    return mask


def _satisfied(constraint: isl.Constraint, points: Ints) -> NDArray[np.bool_]:
    values = points @ np.array(coefficients_of(constraint), dtype=np.int64).reshape(points.shape[1])
    values = values + integer(constraint.get_constant_val())
    result: NDArray[np.bool_] = values == 0 if constraint.is_equality() else values >= 0
    return result


def listed_points(points: isl.Set) -> Ints:
    """Return the (number, dims) points of a bounded set, each once."""
    dims = points.dim(isl.dim_type.set)
    found = [np.zeros((0, dims), dtype=np.int64)]
    keep_going(points.get_ctx())
    for piece in for_each(points.make_disjoint().foreach_basic_set):
        if piece.dim(isl.dim_type.div):
            every = for_each(isl.Set.from_basic_set(piece).foreach_point)
            rows = [point_values(point) for point in every]
            found.append(np.array(rows, dtype=np.int64).reshape(len(rows), dims))
        else:
            found.append(_listed(piece))
        keep_going(points.get_ctx(), work=len(found[-1]))
    return np.concatenate(found)


def _listed(piece: isl.BasicSet) -> Ints:
    """Return the points of a set without existentially quantified dimensions.

    Each dimension gets the bounds that follow from those before it. A point that only a fraction
    could continue has none.
    """
    dims = piece.dim(isl.dim_type.set)
    points = np.zeros((1, 0), dtype=np.int64)
    if piece.is_empty():
        return np.zeros((0, dims), dtype=np.int64)
    for k in range(dims):
        shadow = piece.project_out(isl.dim_type.set, k + 1, dims - k - 1).remove_divs()
        low = np.full(len(points), np.iinfo(np.int64).min // 2)
        high = np.full(len(points), np.iinfo(np.int64).max // 2)
        for constraint in for_each(shadow.foreach_constraint):
            *outer, own = coefficients_of(constraint)
            rest = points @ np.array(outer, dtype=np.int64).reshape(k)
            rest = rest + integer(constraint.get_constant_val())
            signs = (1, -1) if constraint.is_equality() else (1,)
            for sign in signs:
                if own * sign > 0:
                    low = np.maximum(low, -((rest * sign) // (own * sign)))
                elif own * sign < 0:
                    high = np.minimum(high, (rest * sign) // -(own * sign))
        trips = np.maximum(high - low + 1, 0)
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        column = np.repeat(low, trips) + np.arange(len(starts), dtype=np.int64) - starts
        points = np.concatenate([np.repeat(points, trips, axis=0), column[:, None]], axis=1)
    return points[members(isl.Set.from_basic_set(piece), points)]
