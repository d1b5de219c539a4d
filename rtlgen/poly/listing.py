"""The points of a bounded set, listed dimension by dimension and all at once."""

from __future__ import annotations

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.sets import coefficients_of, for_each, integer, point_values
from rtlgen.poly.instances import members


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
