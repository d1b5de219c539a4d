"""When more issue slots than instances are worth a search for other loops."""

SEARCH_GAIN = 0.98
"""Share of the issue slots below which other nests are worth a search, and skewed loops theirs."""

SLACK_SLOTS = 8
"""Issue slots above the instances that are not worth a search."""


def is_worth_search(slots: int, instances: int) -> bool:
    """Tell whether statements take so many more issue slots than instances that others may do."""
    return slots > max(instances + SLACK_SLOTS, instances / SEARCH_GAIN)
