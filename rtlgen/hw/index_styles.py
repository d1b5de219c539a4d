"""The choice of an index unit by the plan's index style."""

from __future__ import annotations

from rtlgen.hw.control import active_extents
from rtlgen.hw.flat_index import Divide, Shift, sliceable
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.odometer import Odometer
from rtlgen.hw.ragged import Nest, RaggedOdometer
from rtlgen.ir.plan import KernelPlan, PlanError


def require_index_style(plan: KernelPlan) -> None:
    """Raise PlanError where the plan's index style does not fit one of its nests."""
    for stream in plan.streams:
        if plan.index_style != "odometer" and stream.iterations is not None:
            raise PlanError(f"{stream.statement} has no box to be indexed by {plan.index_style}")
        if plan.index_style == "shift" and not sliceable(active_extents(stream)):
            extents = ", ".join(str(level.extent) for level in stream.levels)
            raise PlanError(f"{stream.statement} with extents {extents} has no bit slices")


def build_index_unit(plan: KernelPlan, nest: Nest, ii: int) -> IndexUnit:
    """Return the unit that enumerates `nest` in the plan's style."""
    match plan.index_style:
        case "odometer" if not nest.is_box:
            return RaggedOdometer(nest, ii)
        case "odometer":
            return Odometer(nest.extents, ii)
        case "divide":
            return Divide(nest.extents, ii, plan.index_latency_cycles)
        case "shift":
            return Shift(nest.extents, ii)
