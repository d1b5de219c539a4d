"""Arrays of 64-bit integers, points, ranks, times, addresses, and masks of them."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_NUMBER = 1 << 62
"""Rows that as many numbers tell apart are sorted as numbers."""


def distinct(numbers: Ints) -> Ints:
    """Return every number once, sorted: np.unique would hash them, which takes 20 times as long."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    found: Ints = ordered[is_first]
    return found


def distinct_rows(rows: Ints) -> Ints:
    """Return every row once, sorted: np.unique would compare them byte by byte."""
    if not rows.size:
        return rows[:1]
    low = rows.min(axis=0)
    sizes = rows.max(axis=0) - low + 1
    extents = tuple(sizes.tolist())
    if prod(extents) > MAX_NUMBER:
        return np.unique(rows, axis=0)
    # NumPy counts 64 columns; those that tell rows apart are fewer here.
    is_moving = sizes > 1
    extents = tuple(sizes[is_moving].tolist())
    if not extents:
        return rows[:1]
    numbers = distinct(np.ravel_multi_index(tuple((rows - low)[:, is_moving].T), extents))
    found: Ints = np.tile(low, (len(numbers), 1))
    found[:, is_moving] += np.stack(np.unravel_index(numbers, extents), axis=1)
    return found
