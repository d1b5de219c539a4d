"""Sets as products: dimensions that no constraint relates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import islpy as isl
import rustworkx

from rtlgen.ir.sets import integer, linear_constraint


def factors(piece: isl.BasicSet) -> Iterator[tuple[list[int], isl.BasicSet]]:
    """Yield the dimensions that constraints relate with each other, and their set."""
    width = piece.dim(isl.dim_type.set)
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * width)
    constraints = []
    for constraint in piece.get_constraints():
        row = [integer(constraint.get_coefficient_val(isl.dim_type.set, k)) for k in range(width)]
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
