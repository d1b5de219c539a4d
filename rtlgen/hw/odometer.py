"""The default index recovery: a chain of wrap counters."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.index_units import IndexUnit, all_of, pace


class Odometer(IndexUnit):
    """Count like the wheels of an odometer, all in one cycle.

    Each counter has a register beside it that says "at its last value", computed one step ahead,
    so that a carry through any number of levels is a conjunction of registers.

    Timing
    ------
    The first iteration is issued in the cycle after it begins.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issue = pace(m, self.begin, self.pauses, self.ii)
        m.d.comb += self.valid.eq(issue)
        turn_wheels(m, issue, self.extents, self.counters, self.lasts)
        self.encode_step(m)
        return m


def turn_wheels(
    m: Module,
    issue: Value,
    extents: Sequence[int],
    counters: Sequence[Signal],
    lasts: Sequence[Signal],
) -> None:
    """Let counters step after each `issue`, the last one first, and their flags with them."""
    wheels = zip(extents, counters, lasts, strict=True)
    for level, (extent, counter, last) in enumerate(wheels):
        with m.If(issue & all_of(lasts[level + 1 :])):
            m.d.sync += [counter.eq(counter + 1), last.eq(counter == extent - 2)]
            # A counter that fills its bits wraps by itself.
            if extent & (extent - 1):
                with m.If(last):
                    m.d.sync += counter.eq(0)
