"""Flatten each nest into one counter.

Rewrite
-------
    for i<8 for j<9 for k<11 S   ->   for n<792: S with n = 99*i + 11*j + k

Reference: MFF (Ishikawa et al., VLD2017-97). The rank is kept as the loops it is made of, so that
the hardware can count them directly instead of dividing n again.
"""

from __future__ import annotations

from collections.abc import Mapping

from rtlgen.ir.schedule import FlatDim, ScalarDim
from rtlgen.ir.scop import Scop


def flatten(scop: Scop, nest: int, flats: Mapping[str, FlatDim]) -> Scop:
    """Return `scop` with the statements of nest number `nest` on one flat counter.

    Parameters
    ----------
    flats: the flattened loops of every statement of the nest, and its shift within the nest, which
        is 0 for a nest of one statement.
    """
    schedule = scop.schedule
    for place, (name, flat) in enumerate(flats.items()):
        schedule = schedule.replaced(name, (ScalarDim(nest), flat, ScalarDim(place)))
    return scop.with_schedule(schedule)
