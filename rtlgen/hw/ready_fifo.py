"""A queue that says from registers whether it has room, and whether it holds something."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, Signature


class ReadyFIFO(wiring.Component):
    """Do what `SyncFIFO` does, cycle by cycle, with nothing between registers and `rdy`.

    There it is a comparison of a count, at the beginning of the slowest paths of a port.

    Members
    -------
    w_data, w_en, w_rdy, r_data, r_en, r_rdy: as of `SyncFIFO`.
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self.width = width
        self.depth = depth
        super().__init__(
            Signature(
                {
                    "w_data": In(width),
                    "w_en": In(1),
                    "w_rdy": Out(1, init=1),
                    "r_data": Out(width),
                    "r_en": In(1),
                    "r_rdy": Out(1),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = SyncFIFO(width=self.width, depth=self.depth)
        full, has = Signal(), Signal()
        puts, takes = Signal(), Signal()
        m.d.comb += [
            puts.eq(self.w_en & ~full),
            takes.eq(self.r_en & has),
            queue.w_data.eq(self.w_data),
            queue.w_en.eq(puts),
            queue.r_en.eq(takes),
            self.r_data.eq(queue.r_data),
            self.w_rdy.eq(~full),
            self.r_rdy.eq(has),
        ]
        with m.If(puts & ~takes):
            m.d.sync += [has.eq(1), full.eq(queue.level == self.depth - 1)]
        with m.Elif(takes & ~puts):
            m.d.sync += [has.eq(queue.level != 1), full.eq(0)]
        return m
