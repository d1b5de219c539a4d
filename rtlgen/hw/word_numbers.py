"""The numbers of words that have been asked for: of the one whose answer is an error, where it is.

They are in a RAM of their own, beside the queue of what is asked for: behind that queue are the
slowest paths of a port, and with the numbers in it, it becomes a block RAM, which is slow to read.
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, Signature


class WordNumbers(wiring.Component):
    """Keep numbers in order, and show the oldest one two cycles later.

    Parameters
    ----------
    depth: numbers that there may be at a time; there never are more.

    Members
    -------
    put, number: In, a number that is put in. take: In(1), the oldest one goes.
    hold: In(1), what is shown stays, from the next cycle on: what was the oldest one in the cycle
        before the first one with `hold`. shown: Out, what was the oldest one two cycles ago.
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self.width = width
        self.address_bits = max(1, (depth - 1).bit_length())
        super().__init__(
            Signature(
                {
                    "put": In(1),
                    "number": In(width),
                    "take": In(1),
                    "hold": In(1),
                    "shown": Out(width),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = Memory(
            shape=self.width, depth=1 << self.address_bits, init=[]
        )
        write = storage.write_port()
        read = storage.read_port()
        behind = Signal(self.address_bits)
        oldest = Signal(self.address_bits)
        # Whether a word is asked for, or answered, is known late in a cycle.
        puts = Signal()
        given = Signal(self.width, reset_less=True)
        takes = Signal()
        holds = Signal()
        m.d.sync += [puts.eq(self.put), given.eq(self.number)]
        m.d.sync += [takes.eq(self.take), holds.eq(self.hold)]
        m.d.sync += [behind.eq(behind + puts), oldest.eq(oldest + takes)]
        m.d.comb += [
            write.addr.eq(behind),
            write.data.eq(given),
            write.en.eq(puts),
            # What was the oldest one a cycle ago was put in before.
            read.addr.eq(oldest),
            read.en.eq(~holds),
            self.shown.eq(read.data),
        ]
        return m
