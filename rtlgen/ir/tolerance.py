"""How many cycles decide between designs; within that, what they take beside does.

A form of a program that costs memory, subscripts or a search has to save some. One constant says
how many, for all that is chosen by cycles: lanes, copies, skewed loops, pauses, strips, expansions,
bounds that are quotients.
"""

from __future__ import annotations

TOLERANCE = 0.98
"""Share of the cycles of a simpler design below which another one is worth what it costs."""

PORT_TOLERANCE = 0.995
"""The same where the loops stay as they are, and only write ports, banks or rows are others."""

SLACK_SLOTS = 8
"""Issue slots above the instances that are not worth a search."""


def is_worth_search(slots: int, instances: int) -> bool:
    """Tell whether statements take so many more issue slots than instances that others may do."""
    return slots > max(instances + SLACK_SLOTS, instances / TOLERANCE)
