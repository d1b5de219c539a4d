"""Two words between a stream and what takes them: no path leads through, and none is ever lost."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature


class SkidBuffer(wiring.Component):
    """Hold up to two words. Everything that it shows is a register.

    So neither side waits for the other within a cycle, and still a word passes in every cycle.

    Parameters
    ----------
    width: bits of a word.

    Members
    -------
    w_data: In, w_en: In(1), a word is offered. w_rdy: Out(1), it is taken, if one is.
    r_data: Out, r_rdy: Out(1), there is a word. r_en: In(1), it is taken, if there is one.

    Timing
    ------
    A word shows in the cycle after the one that took it in.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(
            Signature(
                {
                    "w_data": In(width),
                    "w_en": In(1),
                    "w_rdy": Out(1, init=1),
                    "r_data": Out(width),
                    "r_rdy": Out(1),
                    "r_en": In(1),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # A word that came when the first one was not taken; `w_rdy` says that there is none.
        spare = Signal(self.width)
        with m.If(~self.r_rdy | self.r_en):
            with m.If(self.w_rdy):
                m.d.sync += self.r_rdy.eq(self.w_en)
                # What is beside a word may be undefined, and is never shown.
                with m.If(self.w_en):
                    m.d.sync += self.r_data.eq(self.w_data)
            with m.Else():
                m.d.sync += [self.r_data.eq(spare), self.w_rdy.eq(1)]
        with m.Elif(self.w_en & self.w_rdy):
            m.d.sync += [spare.eq(self.w_data), self.w_rdy.eq(0)]
        return m
