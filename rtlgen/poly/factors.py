"""Sets as products: dimensions that no constraint relates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import prod

import islpy as isl
import numpy as np
import rustworkx

from rtlgen.ir.ints import Ints
from rtlgen.ir.sets import coefficients_of, integer, linear_constraint


def factors(piece: isl.BasicSet) -> Iterator[tuple[list[int], isl.BasicSet]]:
    """Yield the dimensions that constraints relate with each other, and their set."""
    width = piece.dim(isl.dim_type.set)
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * width)
    constraints = []
    for constraint in piece.get_constraints():
        row = coefficients_of(constraint)
        used = [k for k, coefficient in enumerate(row) if coefficient]
        constraints.append((constraint, row, used))
        related.add_edges_from_no_data(list(pairwise(used)))
    for component in rustworkx.connected_components(related):
        dims = sorted(component)
        space = isl.Space.set_alloc(piece.get_ctx(), 0, len(dims))
        factor = isl.BasicSet.universe(space)
        for constraint, row, used in constraints:
            if used and used[0] in component:
                factor = factor.add_constraint(
                    linear_constraint(
                        space,
                        [row[k] for k in dims],
                        integer(constraint.get_constant_val()),
                        equal=constraint.is_equality(),
                    )
                )
        yield dims, factor


def widest_factor(piece: isl.BasicSet) -> int:
    """Return the most dimensions that constraints relate with each other, by divisions, too."""
    width = piece.dim(isl.dim_type.set)
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * (width + piece.dim(isl.dim_type.div)))
    for constraint in piece.get_constraints():
        row = [
            k + offset
            for kind, offset in ((isl.dim_type.set, 0), (isl.dim_type.div, width))
            for k in range(piece.dim(kind))
            if constraint.involves_dims(kind, k, 1)
        ]
        related.add_edges_from_no_data(list(pairwise(row)))
    groups = rustworkx.connected_components(related)
    return max((sum(k < width for k in group) for group in groups), default=0)


def product_factors(points: Ints) -> list[tuple[list[int], Ints]]:
    """Return sets of fewer dimensions whose product the (n, dims) points are.

    Each comes with its dimensions. Of a sum with one summand a factor, the largest value over all
    points is the sum of the largest over each factor: tens of points instead of all combinations.
    """
    width = points.shape[1]
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * width)
    columns = [np.unique(points[:, k], return_inverse=True) for k in range(width)]
    for a, b in combinations(range(width), 2):
        (first, place), (second, other) = columns[a], columns[b]
        if len(np.unique(place * len(second) + other)) < len(first) * len(second):
            related.add_edge(a, b, None)
    groups = sorted(map(sorted, rustworkx.connected_components(related)))
    found = [(dims, np.unique(points[:, dims], axis=0)) for dims in groups]
    # What no two dimensions show may still relate three.
    if prod(len(own) for _, own in found) != len(np.unique(points, axis=0)):
        return [(list(range(width)), points)]
    return found
