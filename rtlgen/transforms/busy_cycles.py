"""Cycles in which something is in use: sorted arrays, and masks of those that are soon over."""

from __future__ import annotations

import numpy as np

from rtlgen.ir.ints import Ints

MASK_CYCLES = 32_768
"""Cycles of a mask: to compare two of them takes a microsecond, as long as one call of NumPy."""


def share_cycle(a: Ints, b: Ints) -> bool:
    """Tell whether two sorted arrays have an element in common."""
    if not len(a) or not len(b) or a[-1] < b[0] or b[-1] < a[0]:
        return False
    if len(a) > len(b):
        a, b = b, a
    place = np.minimum(np.searchsorted(b, a), len(b) - 1)
    return bool((b[place] == a).any())


def cycle_mask(cycles: Ints) -> int | None:
    """Return a number with a bit for every cycle, the first one lowest, or None if it is long."""
    if not len(cycles):
        return 0
    if cycles.min() < 0 or cycles.max() >= MASK_CYCLES:
        return None
    is_busy = np.zeros(int(cycles.max()) + 1, dtype=np.bool_)
    is_busy[cycles] = True
    return int.from_bytes(np.packbits(is_busy, bitorder="little").tobytes(), "little")


def shifted(mask: int, cycles: int) -> int:
    """Return a mask so many cycles later; those before the first one are left out."""
    return mask << cycles if cycles >= 0 else mask >> -cycles
