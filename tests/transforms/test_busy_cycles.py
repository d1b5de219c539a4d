"""Masks and sorted arrays tell the same of cycles that two share."""

from __future__ import annotations

import numpy as np

from rtlgen.transforms.busy_cycles import MASK_CYCLES, cycle_mask, share_cycle, shifted


def test_masks_and_arrays_agree_at_every_distance() -> None:
    draw = np.random.default_rng(3)
    met = 0
    for _ in range(40):
        a, b = (np.unique(draw.integers(0, 40, draw.integers(1, 6))) for _ in range(2))
        one, other = cycle_mask(a), cycle_mask(b)
        assert one is not None and other is not None
        for distance in range(-45, 46):
            expected = bool(set(a.tolist()) & set((b + distance).tolist()))
            assert bool(one & shifted(other, distance)) == expected
            assert share_cycle(a, b + distance) == expected
            met += expected
    assert met


def test_long_times_have_no_mask() -> None:
    assert cycle_mask(np.array([], dtype=np.int64)) == 0
    assert cycle_mask(np.array([MASK_CYCLES - 1])) == 1 << (MASK_CYCLES - 1)
    assert cycle_mask(np.array([0, MASK_CYCLES])) is None
    assert cycle_mask(np.array([-1, 0])) is None
