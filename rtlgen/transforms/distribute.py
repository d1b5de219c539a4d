"""Distribute a program into perfect nests, as far as its dependences allow.

Rewrite
-------
    for i { S0; for j S1; }     S0: (0, i, 0)       ->   for i S0;          S0: (0, i)
                                S1: (0, i, 1, j, 0)      for i for j S1;    S1: (1, i, j)

Reference: Allen and Kennedy, TOPLAS 9(4), 1987. Statements of one strongly connected component stay
together, in the loops that they share.
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.ir.schedule import Dim, LoopDim, ScalarDim
from rtlgen.ir.scop import Scop
from rtlgen.transforms.units import Unit


def distribute(scop: Scop, units: Sequence[Unit]) -> Scop:
    """Return `scop` with one nest a unit, run in the order of `units`."""
    dims: dict[str, tuple[Dim, ...]] = {}
    for number, unit in enumerate(units):
        for name in unit.statements:
            own = scop.schedule.dims[name]
            if len(unit.statements) == 1:
                # Alone in its loops, a statement may count them in any way.
                own = tuple(LoopDim(dim.loop) for dim in own if isinstance(dim, LoopDim))
            dims[name] = (ScalarDim(number), *own)
    schedule = scop.schedule
    for statement in scop.statements:
        schedule = schedule.replaced(statement.name, dims[statement.name])
    return scop.with_schedule(schedule)
