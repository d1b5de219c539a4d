"""Look for loops to cut into strips, where others wait for sums that take turns in them.

    for (i...) { for (j...) t[i] += a[i][j] * x[j];        for (j...) y[j] += a[i][j] * t[i]; }

An addition takes some cycles, and the next one to the same t[i] waits for it: so the sums of all
rows take turns, i innermost, and t is complete at the end only. Turns among as many rows as the
addition takes cycles wait as little, and y follows one strip of rows behind.
"""

from __future__ import annotations

from collections.abc import Mapping

from rtlgen.ir.scop import Scop
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.source import Span
from rtlgen.transforms.unroll import trips_of


def find_strips(written: Scop, space: Space, decision: Decision) -> dict[Span, int]:
    """Return the iterations of a strip of each loop to cut, by its place.

    Parameters
    ----------
    written: the program whose loops are to be cut. space, decision: a plan for it.
    """
    sizes: dict[Span, int] = {}
    read_elsewhere = _read_elsewhere(space)
    lags = _lags(space)
    for name, placed in decision.placements.items():
        order = [loop.iterator for loop in placed.loops if loop.iterator is not None]
        loops = {loop.iterator: loop for loop in written.statement(name).loops}
        # A loop further out in the program has become the innermost one.
        if name in read_elsewhere and order and order[-1] != placed.iterators[-1]:
            loop = loops[order[-1]]
            size = _size(trips_of(loop), lags.get(name, 1))
            if size is not None:
                sizes[loop.span] = max(size, sizes.get(loop.span, 1))
    return sizes


def _size(trips: int | None, lag: int) -> int | None:
    """Return the smallest size of strips, all full, in which a value exists when it is needed."""
    if trips is None or lag < 2:
        return None
    return next((size for size in range(lag, trips // 2 + 1) if trips % size == 0), None)


def _read_elsewhere(space: Space) -> frozenset[str]:
    """Return the statements whose values those of another unit read."""
    unit_of = {name: unit for unit in space.timing.units for name in unit.statements}
    flows = space.timing.dataflow.flows
    return frozenset(f.source for f in flows if unit_of[f.source] != unit_of[f.sink])


def _lags(space: Space) -> Mapping[str, int]:
    """Return how many cycles a statement waits for its own last value, where it does."""
    lags: dict[str, int] = {}
    for precedence in space.timing.precedences():
        if precedence.source == precedence.sink:
            lags[precedence.sink] = max(precedence.lag, lags.get(precedence.sink, 0))
    return lags
