"""What is proven of the ports of streams."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Signature

from hw_tests.formal.block import held
from hw_tests.formal.harnesses import stable
from rtlgen.hw.queues import SkidBuffer
from rtlgen.hw.stream_ports import SinkPort, SourcePort
from rtlgen.ir.plan import Memory

DEPTH = 2
"""Words of an array: a first one, and a last."""
PLACE_BITS, FRAME_BITS = 2, 2
COUNT_BITS = 4


def array(kind: str, width: int) -> Memory:
    """Return a stream."""
    role = "in" if kind == "source" else "out"
    return Memory("x", width, False, (DEPTH,), role, "parameter", kind, 1, 0, True)  # type: ignore[arg-type]


class Skid(wiring.Component):
    """A skid buffer holds two words at most, and gives each of them back, once and in order.

    Of the words one is looked at, whichever it is: its number is held.
    """

    def __init__(self, kind: type[SkidBuffer] = SkidBuffer) -> None:
        self.buffer = kind(2)
        super().__init__(
            Signature({"w_data": In(2), "w_en": In(1), "r_en": In(1), "which": In(COUNT_BITS)})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.buffer = buffer = self.buffer
        m.d.comb += [
            buffer.w_data.eq(self.w_data),
            buffer.w_en.eq(self.w_en),
            buffer.r_en.eq(self.r_en),
        ]
        puts, takes = self.w_en & buffer.w_rdy, self.r_en & buffer.r_rdy
        put, taken, level = Signal(COUNT_BITS), Signal(COUNT_BITS), Signal(COUNT_BITS)
        m.d.sync += [put.eq(put + puts), taken.eq(taken + takes)]
        m.d.comb += [
            level.eq(put - taken),
            Assert(level <= 2),
            Assert(buffer.r_rdy == (level != 0)),
            Assert(buffer.w_rdy == (level != 2)),
        ]
        stable(m, buffer.r_rdy, self.r_en, buffer.r_data)
        began, before, word = Signal(), Signal(COUNT_BITS), Signal(2)
        m.d.sync += [began.eq(1), before.eq(self.which)]
        with m.If(began):
            m.d.comb += Assume(self.which == before)
        with m.If(puts & (put == self.which)):
            m.d.sync += word.eq(self.w_data)
        with m.If(takes & (taken == self.which)):
            m.d.comb += Assert(buffer.r_data == word)
        return m


class Source(wiring.Component):
    """A run takes the words of one frame, in order, or is told that there are too few or too many.

    A word says where in its frame it is, in which one, and whether it is the last. The kernel wants
    words in any cycles, and is broken off in any.
    """

    def __init__(self, kind: type[SourcePort] = SourcePort) -> None:
        self.port = kind(array("source", PLACE_BITS + FRAME_BITS + 1))
        members = ("tvalid", "tlast", "wants", "stays", "flush", "begin")
        super().__init__(Signature({name: In(1) for name in members}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.port = port = self.port
        place, frame = Signal(PLACE_BITS), Signal(FRAME_BITS)
        m.d.comb += [
            port.tdata.eq(Cat(place, frame, self.tlast)),
            port.tvalid.eq(self.tvalid),
            port.tlast.eq(self.tlast),
            port.wants.eq(self.wants),
            port.moves.eq(~self.stays & (~self.wants | port.can)),
            port.flush.eq(self.flush),
            port.begin.eq(self.begin),
        ]
        held(m, self.tvalid, port.tready, self.tlast)
        with m.If(self.tvalid & port.tready):
            m.d.sync += place.eq(place + 1)
            with m.If(self.tlast):
                m.d.sync += [place.eq(0), frame.eq(frame + 1)]
        # A frame is no longer than can be counted.
        m.d.comb += Assume(self.tlast | (place != (1 << PLACE_BITS) - 1))
        self._runs(m)
        return m

    def _runs(self, m: Module) -> None:
        port = self.port
        goes = self.wants & port.moves & ~self.flush
        index, first, next_frame = Signal(PLACE_BITS), Signal(FRAME_BITS), Signal(FRAME_BITS)
        its_place, its_frame = port.word[:PLACE_BITS], port.word[PLACE_BITS:-1]
        # A run begins with the first word that is wanted; a begin is told before.
        m.d.comb += Assume(~self.begin | ((index == 0) & ~self.wants))
        begun = Signal()
        with m.If(self.begin):
            m.d.sync += begun.eq(1)
        with m.Elif(self.flush | (goes & (index == DEPTH - 1))):
            m.d.sync += begun.eq(0)
        m.d.comb += Assume(~self.wants | begun)
        with m.If(self.flush | (goes & (index == DEPTH - 1))):
            m.d.sync += index.eq(0)
        with m.Elif(goes):
            m.d.sync += index.eq(index + 1)
        short = Signal()
        with m.If(self.flush | (index == 0)):
            m.d.sync += short.eq(goes & port.short & ~self.flush)
        with m.Elif(goes):
            m.d.sync += short.eq(port.short)
        with m.If(goes & ~short):
            m.d.comb += Assert(its_place == index)
            with m.If(index == 0):
                m.d.sync += first.eq(its_frame)
                # What one run has begun with is gone.
                m.d.comb += Assert(its_frame == next_frame)
                m.d.sync += next_frame.eq(its_frame + 1)
            with m.Else():
                m.d.comb += Assert(its_frame == first)
        # A frame that is short is told with its last word; a long one with the last that is taken.
        ends = port.word[-1]
        with m.If(goes & ~short):
            m.d.comb += [
                Assert(port.short == (ends & (index != DEPTH - 1))),
                Assert(port.long == (~ends & (index == DEPTH - 1))),
            ]


class Sink(wiring.Component):
    """What goes out is held until it is taken, and every frame ends where it should.

    A word says where in its run it is. A run that is broken off ends with one word more.
    """

    def __init__(self, kind: type[SinkPort] = SinkPort) -> None:
        self.port = kind(array("sink", PLACE_BITS))
        super().__init__(Signature({name: In(1) for name in ("tready", "wants", "stays", "flush")}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.port = port = self.port
        index, place = Signal(PLACE_BITS), Signal(PLACE_BITS)
        m.d.comb += [
            port.tready.eq(self.tready),
            port.wants.eq(self.wants),
            port.moves.eq(~self.stays & (~self.wants | port.can)),
            port.flush.eq(self.flush),
            port.word.eq(index),
        ]
        stable(m, port.tvalid, self.tready, port.tdata, port.tlast)
        goes = self.wants & port.moves & ~self.flush
        with m.If(self.flush | (goes & (index == DEPTH - 1))):
            m.d.sync += index.eq(0)
        with m.Elif(goes):
            m.d.sync += index.eq(index + 1)
        with m.If(port.tvalid & self.tready):
            m.d.sync += place.eq(place + 1)
            with m.If(port.tlast):
                m.d.sync += place.eq(0)
            m.d.comb += [
                Assert(port.tlast | (port.tdata == place)),
                Assert(port.tlast | (place < DEPTH - 1)),
                # One word more is never all of a frame.
                Assert(~port.tlast | (place != 0) | (port.tdata == 0)),
            ]
        self._account(m, goes, place)
        return m

    def _account(self, m: Module, goes: Signal, place: Signal) -> None:
        """Assert that as many words go out as came, and one more for each run that was cut."""
        port = self.port
        sent, out, cut = Signal(COUNT_BITS), Signal(COUNT_BITS), Signal(COUNT_BITS)
        in_run = Signal(PLACE_BITS)
        with m.If(self.flush):
            m.d.sync += in_run.eq(0)
            with m.If(in_run != 0):
                m.d.sync += cut.eq(cut + 1)
        with m.Elif(goes):
            m.d.sync += [sent.eq(sent + 1), in_run.eq(in_run + 1)]
            with m.If(in_run == DEPTH - 1):
                m.d.sync += in_run.eq(0)
        with m.If(port.tvalid & self.tready):
            m.d.sync += out.eq(out + 1)
        waiting = Signal(COUNT_BITS)
        m.d.comb += [waiting.eq(sent + cut - out), Assert(waiting <= 3)]
        # What was cut is closed when there is room: then all that came is on its way out.
        with m.If(~port.tvalid & (waiting != 0)):
            m.d.comb += Assert(waiting == 1)
        idle = Signal(2)
        m.d.sync += idle.eq(0)
        with m.If(~port.tvalid & ~self.wants & ~self.flush & (idle != 2)):
            m.d.sync += idle.eq(idle + 1)
        with m.If((idle == 2) & ~port.tvalid):
            m.d.comb += [Assert(waiting == 0), Assert(place == in_run)]
