"""Why workers gain less than there are of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

UNFAIR = 1.05
"""Of an equal share, what the busiest worker may have before it is said."""


def worker_limits(units: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what keeps the units of a report from going as much faster as they have workers.

    A sentence for each thing; none for what one worker runs of its own accord.
    """
    for unit in units:
        yield from _limits_of(unit)
    for unit, behind in pairwise(units):
        why = unit["workers"]["apart"]
        if why is not None:
            yield (
                f"{_names(unit)} come before {_names(behind)}, not beside: in common tiles "
                f"{why}; one worker can run both side by side"
            )


def _limits_of(unit: Mapping[str, Any]) -> Iterator[str]:
    workers, where = unit["workers"], _names(unit)
    count = workers["count"]
    if count == 1:
        return
    at_a_time = workers["at_a_time"]
    if at_a_time is not None and at_a_time < count:
        verb = "computes" if at_a_time == 1 else "compute"
        yield (
            f"{where}: {at_a_time} of {count} workers {verb} at a time, since each iteration of "
            f"{workers['loop']} waits for the one before; more workers gain nothing"
        )
    elif unit["bus_cycles"] >= unit["kernel_cycles"]:
        yield (
            f"{where}: {count} workers compute for {unit['kernel_cycles']:,} cycles, and all share "
            f"a bus that is busy for {unit['bus_cycles']:,}; more workers gain nothing"
        )
    if workers["busiest"] > UNFAIR:
        yield (
            f"{where}: the busiest worker has {workers['busiest']:.2f} of an equal share, and all "
            "end with it"
        )


def _names(unit: Mapping[str, Any]) -> str:
    return ", ".join(unit["statements"])
