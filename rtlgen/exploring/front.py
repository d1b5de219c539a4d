"""The Pareto front: what nothing else is at least as good as in every figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Figures = tuple[float, ...]


def front(items: Sequence[Item], figures: Callable[[Item], Figures]) -> list[Item]:
    """Return the items that no other one dominates, in their order; of equal ones the first.

    Parameters
    ----------
    figures: of an item, the smaller the better, as many for each.
    """
    known = [(item, figures(item)) for item in items]
    kept: list[Item] = []
    for place, (item, own) in enumerate(known):
        if not any(
            _dominates(other, own) or (other == own and number < place)
            for number, (_, other) in enumerate(known)
        ):
            kept.append(item)
    return kept


def _dominates(one: Figures, other: Figures) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
