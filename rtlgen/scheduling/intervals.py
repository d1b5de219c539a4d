"""How far apart the instances of a statement issue, for units that need not begin one every cycle.

A statement in a nest with others may have an instance in few of its iterations: the division of an
LU decomposition has one in each row. What computes it may take as many cycles over a part of its
work as there are between two instances.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
import numpy as np

from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import Level, Predicate
from rtlgen.ir.sets import integer

MAX_LISTED = 1_000_000
"""Iterations of a nest that is no box up to which they are listed."""


def in_starts(counted: isl.Set, extents: Sequence[int], tile_levels: int) -> isl.Set:
    """Return instances by the counters of their tile, and by which of its iterations they are.

    Parameters
    ----------
    counted: the instances, by the counters of their loops, which are boxes inside of a tile.
    extents: of the loops. tile_levels: how many of them are stepped from start to start.
    """
    names = [f"d{k}" for k in range(len(extents))]
    rank = "0"
    for name, extent in list(zip(names, extents, strict=True))[tile_levels:]:
        rank = f"{extent} * ({rank}) + {name}"
    placed = f"{{ [{','.join(names)}] -> [{','.join([*names[:tile_levels], rank])}] }}"
    return counted.apply(isl.Map.read_from_str(counted.get_ctx(), placed))


def iterations_apart(placed: isl.Set, most: int) -> int:
    """Return the fewest iterations from one instance to the next of a start; `most` for more.

    Parameters
    ----------
    placed: see `in_starts`.
    """
    last = placed.dim(isl.dim_type.set) - 1
    tiles = [f"t{k}" for k in range(last)]
    near = isl.Map.read_from_str(
        placed.get_ctx(),
        f"{{ [{','.join([*tiles, 'r'])}] -> [{','.join([*tiles, 's'])}] : r < s < r + {most} }}",
    )
    pairs = near.intersect_domain(placed).intersect_range(placed)
    return most if pairs.is_empty() else integer(pairs.deltas().dim_min_val(last))


def iterations_between_starts(placed: isl.Set, start: int) -> int:
    """Return the fewest iterations from the last instance of a start to the first of the next.

    Parameters
    ----------
    placed: see `in_starts`. start: iterations from one start to the next, at least.
    """
    last = placed.dim(isl.dim_type.set) - 1
    return start + integer(placed.dim_min_val(last)) - integer(placed.dim_max_val(last))


def listed_iterations_apart(levels: Sequence[Level], when: Predicate, most: int) -> int:
    """Return the same for a nest of any shape that starts once.

    Parameters
    ----------
    when: the iterations that are instances.
    """
    rows = iterations_of(levels)
    places = np.flatnonzero(predicate_mask(when, rows))
    return min(most, int(np.diff(places).min(initial=most)))
