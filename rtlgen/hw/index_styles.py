"""The choice of an index unit by the plan's index style."""

from __future__ import annotations

from rtlgen.hw.elastic import ElasticOdometer
from rtlgen.hw.flat_index import Divide, Shift, sliceable
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.levels import active_extents
from rtlgen.hw.odometer import Odometer
from rtlgen.hw.ragged import RaggedOdometer, nest_of
from rtlgen.hw.tile_odometer import TileOdometer
from rtlgen.ir.plan import IndexStyle, KernelPlan, Level, PlanError


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
    levels: tuple[Level, ...],
    ii: int,
    latency_cycles: int,
    outer_levels: int = 0,
) -> IndexUnit:
    """Return the unit that enumerates `levels`, each of which counts something, in a style.

    Parameters
    ----------
    latency_cycles: of the index recovery. outer_levels: see `IndexUnit`; odometers alone have some.
    """
    extents = tuple(level.extent for level in levels)
    match style:
        case "odometer" if all(level.is_box for level in levels):
            return Odometer(extents, ii, outer_levels=outer_levels)
        case "odometer":
            nest = nest_of(levels)
            if nest is not None:
                return RaggedOdometer(nest, ii, outer_levels)
            if outer_levels:
                return TileOdometer(levels[:outer_levels], extents[outer_levels:], ii)
            return ElasticOdometer(levels, ii)
        case "divide":
            return Divide(extents, ii, latency_cycles)
        case "shift":
            return Shift(extents, ii)
