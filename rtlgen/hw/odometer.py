"""The default index recovery: a chain of wrap counters."""

from __future__ import annotations

from amaranth.hdl import Module

from rtlgen.hw.index_units import IndexUnit, all_of, pace


class Odometer(IndexUnit):
    """Count like the wheels of an odometer, all in one cycle.

    Each counter has a register beside it that says "at its last value", computed one step ahead,
    so that a carry through any number of levels is a conjunction of registers.

    Timing
    ------
    The first iteration is issued in the cycle after `begin`.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issue = pace(m, self.begin, all_of(self.lasts), self.ii)
        m.d.comb += self.valid.eq(issue)
        wheels = zip(self.extents, self.counters, self.lasts, strict=True)
        for level, (extent, counter, last) in enumerate(wheels):
            with m.If(issue & all_of(self.lasts[level + 1 :])):
                m.d.sync += [counter.eq(counter + 1), last.eq(counter == extent - 2)]
                # A counter that fills its bits wraps by itself.
                if extent & (extent - 1):
                    with m.If(last):
                        m.d.sync += counter.eq(0)
        self.encode_step(m)
        return m
