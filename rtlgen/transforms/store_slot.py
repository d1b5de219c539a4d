"""When a statement stores: what may not meet in a cycle."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreSlot:
    """Where and when a statement stores: one store to an array in a cycle.

    Members
    -------
    stage: cycles from issue to the store.
    """

    array: str
    stage: int
