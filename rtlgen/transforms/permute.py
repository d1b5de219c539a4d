"""Interchange the loops of a perfect nest.

Rewrite
-------
    for i for j S   ->   permute(S, ("j", "i"))   ->   for j for i S
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.ir.schedule import Dim, LoopDim
from rtlgen.ir.scop import Scop


def permute(scop: Scop, statement: str, order: Sequence[str]) -> Scop:
    """Return `scop` with the loops of a statement's nest in `order`, outermost first.

    Raises
    ------
    ValueError: `order` does not name every iterator of the nest once.
    """
    dims = scop.schedule.dims[statement]
    loops = {dim.loop.iterator: dim for dim in dims if isinstance(dim, LoopDim)}
    if sorted(order) != sorted(name for name in loops if name is not None):
        raise ValueError(f"{statement} has the loops {sorted(map(str, loops))}, not {list(order)}")
    replacement = iter([loops[name] for name in order])
    changed: list[Dim] = [next(replacement) if isinstance(dim, LoopDim) else dim for dim in dims]
    return scop.with_schedule(scop.schedule.replaced(statement, tuple(changed)))
