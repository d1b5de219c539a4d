"""AXI4-Lite in, one access at a time out."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

DATA_BITS = 32
OKAY, SLVERR = 0, 2


def axi_lite_members(address_bits: int) -> dict[str, Member]:
    """Return the pins of a subordinate port with words of 32 bits."""
    return {
        "awaddr": In(address_bits),
        "awprot": In(3),
        "awvalid": In(1),
        "awready": Out(1),
        "wdata": In(DATA_BITS),
        "wstrb": In(DATA_BITS // 8),
        "wvalid": In(1),
        "wready": Out(1),
        "bresp": Out(2),
        "bvalid": Out(1),
        "bready": In(1),
        "araddr": In(address_bits),
        "arprot": In(3),
        "arvalid": In(1),
        "arready": Out(1),
        "rdata": Out(DATA_BITS),
        "rresp": Out(2),
        "rvalid": Out(1),
        "rready": In(1),
    }


class AxiLite(wiring.Component):
    """Take reads and writes in turns, and hand on one after the other.

    Every output comes from a register. A write is taken when both its address and its word are
    there; until its access is over they stay on the pins, which saves registers for them.

    Members
    -------
    the pins, see `axi_lite_members`.
    access: Out(1), high until `over`: an access. is_write: Out(1). word: Out, its address in words.
    wdata, wstrb: the pins have them. over: In(1), the access ends in this cycle.
    failed: In(1), with it: it does nothing, and is answered with SLVERR.
    read_data: In, valid in the cycle behind `over`, and until the next access.
    """

    def __init__(self, address_bits: int) -> None:
        self.address_bits = address_bits
        super().__init__(
            Signature(
                {
                    **axi_lite_members(address_bits),
                    "access": Out(1),
                    "is_write": Out(1),
                    "word": Out(address_bits - 2),
                    "over": In(1),
                    "failed": In(1),
                    "read_data": In(DATA_BITS),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        is_error = Signal()
        answer = Mux(is_error, SLVERR, OKAY)
        m.d.comb += [
            self.rdata.eq(self.read_data),
            self.rresp.eq(answer),
            self.bresp.eq(answer),
        ]
        # Who was served last waits, when both ask.
        wants_write = self.awvalid & self.wvalid
        writes = wants_write & ~(self.arvalid & self.is_write)
        with m.FSM(name="state"):
            with m.State("idle"):
                m.d.sync += self.word.eq(Mux(writes, self.awaddr, self.araddr)[2:])
                with m.If(writes | self.arvalid):
                    m.d.sync += [self.is_write.eq(writes), self.access.eq(1)]
                    m.d.sync += self.arready.eq(~writes)
                    m.next = "access"
            with m.State("access"):
                m.d.sync += self.arready.eq(0)
                with m.If(self.over):
                    m.d.sync += [self.access.eq(0), is_error.eq(self.failed)]
                    m.d.sync += [
                        self.awready.eq(self.is_write),
                        self.wready.eq(self.is_write),
                        self.bvalid.eq(self.is_write),
                        self.rvalid.eq(~self.is_write),
                    ]
                    m.next = "answer"
            with m.State("answer"):
                m.d.sync += [self.awready.eq(0), self.wready.eq(0)]
                with m.If((self.bvalid & self.bready) | (self.rvalid & self.rready)):
                    m.d.sync += [self.bvalid.eq(0), self.rvalid.eq(0)]
                    m.next = "idle"
        return m
