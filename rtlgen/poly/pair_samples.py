"""Some of the related pairs of a relation that has too many to be listed: those near its corners.

A distance that a nest keeps too short is mostly too short where some loop is shortest, which is at
a corner of the relation. So a nest that fits these pairs is worth a proof for all of them.
"""

from __future__ import annotations

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.poly.closed_extrema import flattened
from rtlgen.poly.extrema import set_extrema
from rtlgen.poly.instances import Pairs
from rtlgen.poly.listing import listed_points

REACH = 2
"""How far from a corner pairs are listed, in every dimension."""

MAX_SAMPLES = 2_000
"""Pairs of one relation that are listed, and no more than those of one corner beyond it."""


def corner_pairs(relation: isl.Map) -> Pairs:
    """Return the pairs of a bounded relation that are near its integer vertices."""
    pairs = flattened(relation)
    dims = relation.dim(isl.dim_type.in_)
    vertices = set_extrema(pairs).vertices
    found = [vertices]
    for vertex in vertices.tolist():
        if sum(map(len, found)) > MAX_SAMPLES:
            break
        found.append(_near(pairs, vertex))
    rows = np.unique(np.concatenate(found), axis=0)
    return Pairs(rows[:, :dims], rows[:, dims:])


def _near(pairs: isl.Set, vertex: list[int]) -> Ints:
    context = pairs.get_ctx()
    keep_going(context)
    for k, value in enumerate(vertex):
        pairs = pairs.lower_bound_val(isl.dim_type.set, k, isl.Val(value - REACH, context))
        pairs = pairs.upper_bound_val(isl.dim_type.set, k, isl.Val(value + REACH, context))
    return listed_points(pairs)
