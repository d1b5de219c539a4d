"""Cycles in which something is in use, as sorted arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def share_cycle(a: Ints, b: Ints) -> bool:
    """Tell whether two sorted arrays have an element in common."""
    if not len(a) or not len(b) or a[-1] < b[0] or b[-1] < a[0]:
        return False
    if len(a) > len(b):
        a, b = b, a
    place = np.minimum(np.searchsorted(b, a), len(b) - 1)
    return bool((b[place] == a).any())
