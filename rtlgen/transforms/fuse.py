"""Fuse flattened nests into one shifted, guarded loop.

Rewrite
-------
    for n<792 S0(n);  for n<864 S1(n);   ->   for n<890: if (n < 792) S0(n);
                                                         if (26 <= n) S1(n - 26);

Reference: MF3 (Izawa et al.). Statement s runs for shift_s <= n < shift_s + count_s; within one
iteration statements stand in program order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtlgen.ir.schedule import Dim, FlatDim, ScalarDim
from rtlgen.ir.scop import Scop


def fuse(
    scop: Scop, shifts: Mapping[str, int], regions: Sequence[Sequence[str]] | None = None
) -> Scop:
    """Return `scop` with all statements in one loop, each shifted as given.

    Parameters
    ----------
    regions: the statements of each loop, where there are several, one after another.

    Raises
    ------
    ValueError: a statement has not been flattened.
    """
    schedule = scop.schedule
    several = regions is not None and len(regions) > 1
    home = {name: n for n, names in enumerate(regions or ()) for name in names}
    for place, statement in enumerate(scop.statements):
        flat = schedule.dims[statement.name][1]
        if not isinstance(flat, FlatDim):
            raise ValueError(f"{statement.name} is not flattened")
        fused: tuple[Dim, ...] = (
            replace(flat, shift=shifts[statement.name]),
            ScalarDim(place),
        )
        if several:
            fused = (ScalarDim(home[statement.name]), *fused)
        schedule = schedule.replaced(statement.name, fused)
    return scop.with_schedule(schedule)


def fused_iterations(scop: Scop) -> int:
    """Return max(shift + count) of a fused program."""
    flats = (scop.schedule.dims[s.name][0] for s in scop.statements)
    return max(flat.shift + flat.count for flat in flats if isinstance(flat, FlatDim))
