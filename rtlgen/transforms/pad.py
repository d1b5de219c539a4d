"""Pad a nest: insert loops that repeat nothing, or lengthen loops by empty iterations.

Rewrite
-------
    for i<8 S   ->   for i<8 for p<8 if (p == 7) S
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.ir.schedule import Dim, LoopDim, NestLoop
from rtlgen.ir.scop import Scop


def pad(scop: Scop, statement: str, loops: Sequence[NestLoop]) -> Scop:
    """Return `scop` with the loops of a statement's nest replaced by the padded `loops`.

    Raises
    ------
    ValueError: `loops` lacks or reorders an iterator of the nest, or cuts its range.
    """
    dims = scop.schedule.dims[statement]
    before = scop.schedule.loops(statement)
    after = [loop for loop in loops if loop.iterator is not None]
    kept = len(before) == len(after) and all(
        old.iterator == new.iterator
        and new.at <= old.at
        and old.at + old.extent <= new.at + new.extent
        for old, new in zip(before, after, strict=True)
    )
    if not kept:
        raise ValueError(f"{list(map(str, loops))} does not pad the nest of {statement}")
    prefix: list[Dim] = []
    for dim in dims:
        if isinstance(dim, LoopDim):
            break
        prefix.append(dim)
    padded = (*prefix, *(LoopDim(loop) for loop in loops))
    return scop.with_schedule(scop.schedule.replaced(statement, padded))
