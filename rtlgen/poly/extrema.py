"""Exact extrema of affine functions over dependence relations.

A search asks for the maximum of many functions over the same relation (one a loop order and pad).
The relation's vertices are computed once: where they are all integer, the maximum of every
affine function is at one of them, and a matrix product answers the question. A piece that has a
fractional vertex, or existentially quantified variables, is given to isl's integer maximisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import COUNTING_OPERATIONS, keep_going
from rtlgen.ir.sets import for_each, integer, operations
from rtlgen.poly.factors import factors, product_factors

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PairExtrema:
    """Extrema over a relation {source[...] -> sink[...]} of functions of both instances.

    Members
    -------
    vertices: (number, source dims + sink dims) integer vertices of the pieces that have only such.
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


def pair_extrema(relation: isl.Map) -> PairExtrema:
    """Prepare a non-empty bounded relation for extremum queries."""
    return set_extrema(relation.wrap().flatten())


def set_extrema(flat: isl.Set) -> PairExtrema:
    """Prepare a non-empty bounded set for extremum queries about its points."""
    keep_going(flat.get_ctx())
    width = flat.dim(isl.dim_type.set)
    rows = [np.zeros((0, width), dtype=np.int64)]
    others: list[isl.Set] = []
    for piece in for_each(flat.foreach_basic_set):
        found = _integer_vertices(piece)
        if found is not None:
            rows.append(found)
        elif not piece.is_empty():
            # With quantified variables a piece may hold no integer point at all.
            others.append(isl.Set.from_basic_set(piece))
    return PairExtrema(np.unique(np.concatenate(rows), axis=0), tuple(others))


def _integer_vertices(piece: isl.BasicSet) -> Ints | None:
    """Return the vertices of a piece, or None where some are fractional, or there are none.

    Dimensions that no constraint relates are a product, whose vertices are all combinations of the
    vertices of its factors: factor by factor, isl finds them in a small fraction of the time.
    """
    if piece.dim(isl.dim_type.div):
        return None
    product = np.zeros((1, piece.dim(isl.dim_type.set)), dtype=np.int64)
    for dims, factor in factors(piece):
        found = _vertices_of_factor(factor)
        if found is None:
            return None
        vertices = np.repeat(product, len(found), axis=0)
        vertices[:, dims] = np.tile(found, (len(product), 1))
        product = vertices
    return product


def _vertices_of_factor(factor: isl.BasicSet) -> Ints | None:
    """Return the vertices of a set, or None where some are fractional, or there are none."""
    rows = []
    context = factor.get_ctx()
    keep_going(context)
    with operations(context, COUNTING_OPERATIONS):
        vertices = for_each(factor.compute_vertices().foreach_vertex)
        positions = [vertex.get_expr() for vertex in vertices]
    for position in positions:
        keep_going(context)
        row = []
        for k in range(position.dim(isl.dim_type.out)):
            value = position.get_aff(k).get_constant_val()
            if not value.is_int():
                return None
            row.append(integer(value))
        rows.append(row)
    return np.array(rows, dtype=np.int64) if rows else None


def _isl_maximum(piece: isl.Set, coefficients: Sequence[int]) -> int:
    keep_going(piece.get_ctx())
    objective = isl.Aff.zero_on_domain_space(piece.get_space())
    for k, c in enumerate(coefficients):
        objective = objective.set_coefficient_val(isl.dim_type.in_, k, int(c))
    return integer(piece.max_val(objective))
