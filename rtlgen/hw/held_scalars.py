"""Scalar arguments: captured with start, and handed to the streams that use them."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Module, Shape, Signal, Value

from rtlgen.hw.sites import sites_of
from rtlgen.hw.tile_parts import TileParts
from rtlgen.ir.plan import KernelPlan


class HeldScalars:
    """The scalar arguments that a plan uses.

    Workers side by side have registers of their own: one for all of them is far from most of the
    multipliers that it feeds, and was where the slowest path of four workers began.
    """

    def __init__(self, plan: KernelPlan) -> None:
        used = {name for stream in plan.streams for name in sites_of(stream).parameters}
        self.shapes: Mapping[str, Shape] = {
            scalar.name: Shape(scalar.width_bits, scalar.signed)
            for scalar in plan.scalars
            if scalar.name in used
        }
        self._held: dict[str, Signal] = {}
        self._copies: dict[tuple[TileParts, str], Signal] = {}

    def capture(self, m: Module, accepted: Value, ports: Mapping[str, Value]) -> None:
        """Take the arguments over in the cycle of `accepted`."""
        for name, shape in self.shapes.items():
            self._held[name] = held = Signal(shape, name=f"{name}_held", reset_less=True)
            with m.If(accepted):
                m.d.sync += held.eq(ports[name])

    def shown_to(self, m: Module, name: str, parts: TileParts | None) -> Signal:
        """Return the register that shows an argument to a region, which may be tiled."""
        held = self._held[name]
        if parts is None or not parts.is_shared:
            return held
        if (parts, name) not in self._copies:
            self._copies[parts, name] = parts.kept(m, held)
        return self._copies[parts, name]
