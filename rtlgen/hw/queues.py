"""Queues: two words between streams, and one that says from registers what it has room for.

Two words between a stream and what takes them: no path leads through, and none is ever lost.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
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


class ReadyFIFO(wiring.Component):
    """Do what Amaranth's `SyncFIFO` does, cycle by cycle, in a way that makes no path slow.

    Between registers and `rdy` there is nothing: there it is a comparison of a count, at the
    beginning of the slowest paths of a port. And the items are in RAM of LUTs, however many they
    are: where a register takes `r_data`, yosys would make one block RAM of both, whose output comes
    5 ns later than that of a register. A queue of 128 items behind a DRAM held 59 MHz so. What is
    put in waits a cycle beside the RAM, so that whoever puts it in, at the end of a slow path, has
    only registers of its own to reach, and not all of the RAM's.

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
        m.submodules.storage = storage = Memory(
            shape=self.width, depth=self.depth, init=[], attrs={"ram_style": "distributed"}
        )
        writes = storage.write_port()
        reads = storage.read_port(domain="comb")
        full = Signal()
        has = Signal()
        level = Signal(range(self.depth + 1))
        puts = Signal()
        takes = Signal()
        # What was put in in the cycle before, and whether nothing is before it.
        late = Signal(self.width, reset_less=True)
        late_puts = Signal()
        late_first = Signal(init=1)
        m.d.comb += [
            puts.eq(self.w_en & ~full),
            takes.eq(self.r_en & has),
            writes.data.eq(late),
            writes.en.eq(late_puts),
            self.r_data.eq(Mux(late_first, late, reads.data)),
            self.w_rdy.eq(~full),
            self.r_rdy.eq(has),
        ]
        m.d.sync += [
            late.eq(self.w_data),
            late_puts.eq(puts),
            # Where there is no item, too: of a RAM that nothing was put in yet, nothing is shown.
            late_first.eq(~has | (takes & (level == 1))),
        ]
        for name, port, moves in (("put", writes, late_puts), ("taken", reads, takes)):
            place = Signal(range(self.depth), name=f"{name}_place")
            m.d.comb += port.addr.eq(place)
            with m.If(moves):
                m.d.sync += place.eq(self._behind(place))
        with m.If(puts & ~takes):
            m.d.sync += [level.eq(level + 1), has.eq(1), full.eq(level == self.depth - 1)]
        with m.Elif(takes & ~puts):
            m.d.sync += [level.eq(level - 1), has.eq(level != 1), full.eq(0)]
        return m

    def _behind(self, place: Signal) -> Value:
        """Return the place behind one."""
        return Mux(place == self.depth - 1, 0, place + 1)
