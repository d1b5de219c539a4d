"""The choice of an index unit by the plan's index style."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.hw.elastic import ElasticOdometer, TileOdometer
from rtlgen.hw.flat_index import Divide, Shift, sliceable
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.levels import active_extents, active_levels
from rtlgen.hw.odometer import Odometer
from rtlgen.hw.ragged import RaggedOdometer, nest_of
from rtlgen.ir.plan import KernelPlan, Level, PlanError
from rtlgen.options import IndexStyle


def require_index_style(plan: KernelPlan) -> None:
    """Raise PlanError where the plan's index style does not fit one of its nests."""
    for stream in plan.streams:
        if plan.index_style != "odometer" and stream.iterations is not None:
            raise PlanError(f"{stream.statement} has no box to be indexed by {plan.index_style}")
        if plan.index_style == "shift" and not sliceable(active_extents(stream)):
            extents = ", ".join(str(level.extent) for level in stream.levels)
            raise PlanError(f"{stream.statement} with extents {extents} has no bit slices")


def build_index_unit(
    style: IndexStyle,
    levels: Sequence[Level],
    ii: int,
    latency_cycles: int,
    tile_levels: int = 0,
) -> IndexUnit:
    """Return the unit that enumerates the active ones of `levels`, in a style.

    Parameters
    ----------
    latency_cycles: of the index recovery. tile_levels: how many of the outermost levels take one
        iteration a `begin`, see `IndexUnit`; odometers alone have some.
    """
    active = active_levels(levels)
    extents = tuple(level.extent for level in active)
    outer = sum(level.extent > 1 for level in levels[:tile_levels])
    match style:
        case "odometer" if all(level.is_box for level in active):
            return Odometer(extents, ii, outer_levels=outer)
        case "odometer":
            nest = nest_of(active)
            if nest is not None:
                return RaggedOdometer(nest, ii, outer)
            if outer:
                return TileOdometer(active[:outer], extents[outer:], ii)
            return ElasticOdometer(active, ii)
        case "divide":
            return Divide(extents, ii, latency_cycles)
        case "shift":
            return Shift(extents, ii)
