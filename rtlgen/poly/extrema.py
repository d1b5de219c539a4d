"""Exact extrema of affine functions over dependence relations.

A search asks for the maximum of many functions over the same relation (one a loop order and pad).
The relation's vertices are computed once: where they are all integer, the maximum of every
affine function is at one of them, and a matrix product answers the question. Of a piece that has a
fractional vertex the points take their place, of which those between two others are left out. Where
they are too many, the piece is given to isl's integer maximisation, question by question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints, distinct_rows
from rtlgen.ir.sets import ScopSets, attempt, for_each, integer, lifted
from rtlgen.poly.counting import LARGEST, factors, points_by_rows, product_factors

MOST_POINTS = 1 << 14
"""Points that are listed where vertices are fractional: as long as isl takes for some questions."""

MOST_CORNERS = 1 << 14
"""Points of a piece that are kept: a question about more of them takes isl no longer."""

VERTEX_OPERATIONS = 2_000_000
"""isl operations for the vertices of a set: in a dozen dimensions half a million take a second."""

STEPS = 4
"""Distances between neighbours along each dimension of which it is asked what lies between two."""


@dataclass(frozen=True, slots=True, eq=False)
class PairExtrema:
    """Extrema over a relation {source[...] -> sink[...]} of functions of both instances.

    Members
    -------
    vertices: (number, source dims + sink dims) integer points of which all others of their pieces
        are between some: vertices, and at most some more.
    others: the remaining pieces, as sets over the concatenated dimensions.
    """

    vertices: Ints
    others: tuple[isl.Set, ...]
    _known: dict[tuple[int, ...], int] = field(default_factory=dict)
    _factors: list[tuple[list[int], Ints]] = field(default_factory=list)

    @property
    def factors(self) -> list[tuple[list[int], Ints]]:
        """The dimensions and points of sets whose product the vertices are."""
        if not self._factors:
            self._factors.extend(product_factors(self.vertices))
        return self._factors

    def maximum(self, coefficients: Sequence[int], constant: int) -> int:
        """Return the largest value of coefficients . (source, sink) + constant."""
        # A search asks the same question for each of its choices that is alike here.
        key = tuple(coefficients)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._maximum(key)
        return found + constant

    def _maximum(self, coefficients: Sequence[int]) -> int:
        best: int | None = None
        if len(self.vertices):
            best = int((self.vertices @ np.asarray(coefficients, dtype=np.int64)).max())
        for piece in self.others:
            value = _isl_maximum(piece, coefficients)
            best = value if best is None else max(best, value)
        assert best is not None, "a dependence relation is not empty"
        return best

    def minimum(self, coefficients: Sequence[int], constant: int) -> int:
        """Return the smallest value of coefficients . (source, sink) + constant."""
        return -self.maximum([-c for c in coefficients], -constant)


def known_extrema(sets: ScopSets, relation: isl.Map) -> PairExtrema | None:
    """Prepare a bounded relation for extremum queries; None: it is empty.

    That is done once for all relations that read the same, whatever statements they are between.
    """
    keep_going(sets.context)
    flat = relation.wrap().flatten()
    return sets.found_once(
        (known_extrema, flat.to_str()), lambda: None if flat.is_empty() else set_extrema(flat)
    )


def set_extrema(flat: isl.Set) -> PairExtrema:
    """Prepare a non-empty bounded set for extremum queries about its points."""
    keep_going(flat.get_ctx())
    width = flat.dim(isl.dim_type.set)
    rows = [np.zeros((0, width), dtype=np.int64)]
    others: list[isl.Set] = []
    for piece in for_each(flat.foreach_basic_set):
        found = _corners(piece)
        if found is not None:
            rows.append(found)
        elif not piece.is_empty():
            # With quantified variables a piece may hold no integer point at all.
            others.append(isl.Set.from_basic_set(piece))
    return PairExtrema(distinct_rows(np.concatenate(rows)), tuple(others))


def _corners(piece: isl.BasicSet) -> Ints | None:
    """Return integer points of a piece between which are all others; None: they are too many.

    Dimensions that no constraint relates are a product, whose vertices are all combinations of the
    vertices of its factors: factor by factor, isl finds them in a small fraction of the time.
    """
    width = piece.dim(isl.dim_type.set)
    whole = lifted(piece) if piece.dim(isl.dim_type.div) else piece
    product = np.zeros((1, whole.dim(isl.dim_type.set)), dtype=np.int64)
    for dims, factor in factors(whole):
        found = _vertices_of_factor(factor)
        if found is None:
            found = _listed_corners(factor)
        if found is None or len(product) * len(found) > MOST_CORNERS:
            return None
        vertices = np.repeat(product, len(found), axis=0)
        vertices[:, dims] = np.tile(found, (len(product), 1))
        product = vertices
    return product[:, :width]


def _listed_corners(factor: isl.BasicSet) -> Ints | None:
    """Return the points of a set but those midway between two others; None: they are too many."""
    points = points_by_rows(factor, MOST_POINTS)
    before = None
    while points is not None and len(points) != before:
        before = len(points)
        points = _without_middles(points)
    return points


def _without_middles(points: Ints) -> Ints:
    """Leave out points that are as far from one other point as from another, the other way."""
    low = points.min(axis=0, initial=0)
    # With margins as wide as the points, what is beyond them is taken for none of them.
    sizes = points.max(axis=0, initial=0) - low + 1
    if prod(3 * sizes.astype(object)) >= LARGEST:
        return points
    weights = np.cumprod(np.concatenate([[1], 3 * sizes]))[:-1]
    places = (points - low + sizes) @ weights
    is_between = np.zeros(len(points), dtype=np.bool_)
    for step in _steps(points) @ weights:
        is_between |= np.isin(places + step, places) & np.isin(places - step, places)
    return points[~is_between]


def _steps(points: Ints) -> Ints:
    """Return the distances of neighbours along each dimension that are the most frequent."""
    found = [np.zeros((0, points.shape[1]), dtype=np.int64)]
    for k in range(points.shape[1]):
        keep_going(work=len(points) // 4)
        others = [points[:, other] for other in range(points.shape[1]) if other != k]
        order = np.lexsort((points[:, k], *others))
        steps, counts = np.unique(np.diff(points[order], axis=0), axis=0, return_counts=True)
        found.append(steps[np.argsort(-counts, kind="stable")[:STEPS]])
    return distinct_rows(np.concatenate(found))


def _vertices_of_factor(factor: isl.BasicSet) -> Ints | None:
    """Return the vertices of a set; None: some are fractional, there are none, or it takes long."""
    rows = []
    context = factor.get_ctx()
    positions = attempt(context, VERTEX_OPERATIONS, lambda: _vertices(factor))
    for position in positions or ():
        keep_going(context)
        row = []
        for k in range(position.dim(isl.dim_type.out)):
            value = position.get_aff(k).get_constant_val()
            if not value.is_int():
                return None
            row.append(integer(value))
        rows.append(row)
    return np.array(rows, dtype=np.int64) if rows else None


def _vertices(factor: isl.BasicSet) -> list[isl.MultiAff]:
    vertices = for_each(factor.compute_vertices().foreach_vertex)
    return [vertex.get_expr() for vertex in vertices]


def _isl_maximum(piece: isl.Set, coefficients: Sequence[int]) -> int:
    keep_going(piece.get_ctx())
    objective = isl.Aff.zero_on_domain_space(piece.get_space())
    for k, c in enumerate(coefficients):
        objective = objective.set_coefficient_val(isl.dim_type.in_, k, int(c))
    return integer(piece.max_val(objective))
