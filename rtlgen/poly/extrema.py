"""Exact extrema of affine functions over dependence relations.

A search asks for the maximum of many functions over the same relation (one a loop order and pad).
The relation's vertices are computed once: where they are all integer, the maximum of every
affine function is at one of them, and a matrix product answers the question. A piece that has a
fractional vertex, or existentially quantified variables, is given to isl's integer maximisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import COUNTING_OPERATIONS, keep_going
from rtlgen.ir.sets import for_each, integer, operations


@dataclass(frozen=True, slots=True, eq=False)
class PairExtrema:
    """Extrema over a relation {source[...] -> sink[...]} of functions of both instances.

    Members
    -------
    vertices: (number, source dims + sink dims) integer vertices of the pieces that have only such.
    others: the remaining pieces, as sets over the concatenated dimensions.
    """

    vertices: NDArray[np.int64]
    others: tuple[isl.Set, ...]

    def maximum(self, coefficients: Sequence[int], constant: int) -> int:
        """Return the largest value of coefficients . (source, sink) + constant."""
        best: int | None = None
        if len(self.vertices):
            best = int((self.vertices @ np.asarray(coefficients, dtype=np.int64)).max())
        for piece in self.others:
            value = _isl_maximum(piece, coefficients)
            best = value if best is None else max(best, value)
        assert best is not None, "a dependence relation is not empty"
        return best + constant

    def minimum(self, coefficients: Sequence[int], constant: int) -> int:
        """Return the smallest value of coefficients . (source, sink) + constant."""
        return -self.maximum([-c for c in coefficients], -constant)


def pair_extrema(relation: isl.Map) -> PairExtrema:
    """Prepare a non-empty bounded relation for extremum queries."""
    keep_going(relation.get_ctx())
    flat = relation.wrap().flatten()
    rows: list[list[int]] = []
    others: list[isl.Set] = []
    for piece in for_each(flat.foreach_basic_set):
        found = _integer_vertices(piece)
        if found is None:
            # With quantified variables a piece may hold no integer point at all.
            if not piece.is_empty():
                others.append(isl.Set.from_basic_set(piece))
        else:
            rows += found
    width = flat.dim(isl.dim_type.set)
    vertices = np.array(rows, dtype=np.int64).reshape(len(rows), width)
    return PairExtrema(np.unique(vertices, axis=0), tuple(others))


def _integer_vertices(piece: isl.BasicSet) -> list[list[int]] | None:
    if piece.dim(isl.dim_type.div):
        return None
    rows = []
    context = piece.get_ctx()
    keep_going(context)
    with operations(context, COUNTING_OPERATIONS):
        vertices = for_each(piece.compute_vertices().foreach_vertex)
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
    return rows or None


def _isl_maximum(piece: isl.Set, coefficients: Sequence[int]) -> int:
    keep_going(piece.get_ctx())
    objective = isl.Aff.zero_on_domain_space(piece.get_space())
    for k, c in enumerate(coefficients):
        objective = objective.set_coefficient_val(isl.dim_type.in_, k, int(c))
    return integer(piece.max_val(objective))
