"""Where the elements of an array come in, or go out, over AXI4-Stream.

The kernel is static: in some cycles it takes a word, and in some it sends one. Where there is none,
or no room, the whole of it stands still. A port never does, nor is it reset with the kernel when a
run is broken off: a word that is offered stays so until it is taken.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.queues import SkidBuffer
from rtlgen.ir.plan import Memory, address_bits


def stream_pins(memory: Memory) -> dict[str, Member]:
    """Return the pins of a stream, as the circuit has them."""
    there, back = (In, Out) if memory.kind == "source" else (Out, In)
    return {
        "tdata": there(memory.width_bits),
        "tvalid": there(1),
        "tready": back(1),
        "tlast": there(1),
    }


class _StreamPort(wiring.Component):
    """What the ports have in common.

    Parameters
    ----------
    memory: the array. A frame, up to `tlast`, is as long as it is.

    Members
    -------
    tdata, tvalid, tready, tlast: the pins.
    wants: In(1), in this cycle the kernel takes, or sends, a word. can: Out(1), there is one, or
        room. moves: In(1), the kernel goes on to its next cycle; only where `can`, if it wants.
    word: Out of a source, In of a sink. flush: In(1), the run is broken off: the kernel is reset.
    """

    def __init__(self, memory: Memory, more: dict[str, Member]) -> None:
        self.memory = memory
        way = Out if memory.kind == "source" else In
        super().__init__(
            Signature(
                {
                    **stream_pins(memory),
                    "wants": In(1),
                    "can": Out(1),
                    "moves": In(1),
                    "word": way(memory.width_bits),
                    "flush": In(1),
                    **more,
                }
            )
        )

    def _count(self, m: Module) -> tuple[Signal, Signal, Signal]:
        """Count the words of a frame; return which is next, whether it is the last, and goes by."""
        index = Signal(address_bits(self.memory.depth))
        is_last = Signal()
        goes = Signal()
        m.d.comb += [
            is_last.eq(index == self.memory.depth - 1),
            goes.eq(self.wants & self.moves & ~self.flush),
        ]
        with m.If(self.flush):
            m.d.sync += index.eq(0)
        with m.Elif(goes):
            m.d.sync += index.eq(Mux(is_last, 0, index + 1))
        return index, is_last, goes


class SourcePort(_StreamPort):
    """The words of an array that come in.

    A frame that ends too early, and one that does not end with the last element, are told; the run
    goes on, and the next one begins with a frame of its own: words are made up until the end of a
    run whose frame was too short, and the rest of a frame that is too long, or whose run was broken
    off, is dropped.

    Members
    -------
    begin: In(1), high in the cycle before a run. short, long: Out(1), the frame of this run is.
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, {"begin": In(1), "short": Out(1), "long": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.buffer = buffer = SkidBuffer(self.memory.width_bits + 1)
        index, is_last, goes = self._count(m)
        ended = Signal()
        drops = Signal()
        taken = Signal()
        ends = Signal()
        m.d.comb += [
            buffer.w_data.eq(Cat(self.tdata, self.tlast)),
            buffer.w_en.eq(self.tvalid),
            self.tready.eq(buffer.w_rdy),
            self.word.eq(buffer.r_data[:-1]),
            self.can.eq(ended | (buffer.r_rdy & ~drops)),
            # Where the frame has ended, what comes is of the next one, and stays.
            taken.eq(goes & ~ended),
            ends.eq(buffer.r_data[-1]),
            buffer.r_en.eq(taken | drops),
        ]
        was_short = Signal()
        was_long = Signal()
        m.d.comb += [
            self.short.eq(was_short | (taken & ends & ~is_last)),
            self.long.eq(was_long | (taken & ~ends & is_last)),
        ]
        m.d.sync += [was_short.eq(self.short & ~self.begin), was_long.eq(self.long & ~self.begin)]
        with m.If(self.flush | (goes & is_last)):
            m.d.sync += ended.eq(0)
        with m.Elif(taken & ends):
            m.d.sync += ended.eq(1)
        with m.If((self.flush & (index != 0) & ~ended) | (taken & is_last & ~ends)):
            m.d.sync += drops.eq(1)
        with m.Elif(buffer.r_rdy & ends):
            m.d.sync += drops.eq(0)
        return m


class SinkPort(_StreamPort):
    """The words of an array that go out, the last one with `tlast`.

    The frame of a run that was broken off is ended by one more word, so that the next run's begins
    behind a `tlast`.
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, {})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.buffer = buffer = SkidBuffer(self.memory.width_bits + 1)
        index, is_last, goes = self._count(m)
        closes = Signal()
        m.d.comb += [
            buffer.w_data.eq(Cat(self.word, is_last | closes)),
            buffer.w_en.eq(goes | closes),
            self.can.eq(buffer.w_rdy & ~closes),
            Cat(self.tdata, self.tlast).eq(buffer.r_data),
            self.tvalid.eq(buffer.r_rdy),
            buffer.r_en.eq(self.tready),
        ]
        with m.If(self.flush & (index != 0)):
            m.d.sync += closes.eq(1)
        with m.Elif(buffer.w_rdy):
            m.d.sync += closes.eq(0)
        return m
