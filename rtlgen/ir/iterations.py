"""What the levels of a stream mean: every iteration that they issue, in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.plan import IndexForm, PlanError, Stream

Ints = NDArray[np.int64]


def stream_iterations(stream: Stream) -> Ints:
    """Return the (count, levels) counters of all iterations of `stream`.

    Raises
    ------
    PlanError: a level is empty for some outer iteration, counts below 0, or the number of
        iterations is not the stream's.
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    for depth, level in enumerate(stream.levels):
        low = np.zeros(len(rows), dtype=np.int64)
        if level.lowers:
            starts = [-(-_outer_values(b.form, rows, depth) // b.divisor) for b in level.lowers]
            low = np.max(starts, axis=0)
        high = np.full(len(rows), level.extent - 1, dtype=np.int64)
        for upper in level.uppers:
            high = np.minimum(high, _outer_values(upper.form, rows, depth) // upper.divisor)
        trips = high - low + 1
        if trips.min() < 1 or low.min() < 0:
            raise PlanError(f"level {depth} of {stream.statement} is empty or starts below 0")
        first = np.repeat(np.cumsum(trips) - trips, trips)
        counter = np.repeat(low, trips) + np.arange(trips.sum()) - first
        rows = np.concatenate([np.repeat(rows, trips, axis=0), counter[:, None]], axis=1)
    if len(rows) != stream.count:
        raise PlanError(f"{stream.statement} issues {len(rows)} iterations, not {stream.count}")
    return rows


def _outer_values(form: IndexForm, rows: Ints, depth: int) -> Ints:
    result: Ints = rows @ np.array(form.coefficients[:depth], dtype=np.int64) + form.constant
    return result
