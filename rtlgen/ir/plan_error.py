"""What is raised for a plan that cannot be."""

from __future__ import annotations


class PlanError(ValueError):
    """A KernelPlan that contradicts itself: a bug of the planner, never of the user."""


class TooManyTiles(PlanError):
    """More tiles, or rows of tiles, than can be followed."""
