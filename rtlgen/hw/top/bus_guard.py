"""Between a kernel and its AXI4 bus: what is under way is counted, and a run can be broken off."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature


class BusGuard(wiring.Component):
    """Let a kernel's channels through; when told to stop, end what is under way.

    AXI4 lets nobody take back what was offered: an address that waits is held, the words of each
    address that was taken are sent, each answer is taken. Then the bus is quiet, and the kernel can
    be reset. Nothing new goes out meanwhile, and nothing that comes reaches the kernel but that its
    words are taken.

    Parameters
    ----------
    bursts: that may be under way at a time, of each direction.

    Members
    -------
    stop: In(1), high until the kernel is reset. quiet: Out(1), with `stop`: nothing is under way.
    k_NAME: the handshakes of the kernel. b_NAME: those of the bus.
    wlast, rlast: In, of the pins.
    loads_wait, stores_wait: Out(1), a channel waits for the bus in this cycle.
    read, written: Out(1), a word goes over the bus in this cycle.
    reads_under_way, writes_under_way: Out, bursts whose address was taken and whose last word, or
        whose answer, is still to come. words_owed: Out, bursts whose address was taken and whose
        last word was not; -1 where the word was first.
    """

    def __init__(self, bursts: int) -> None:
        self.bursts = bursts
        super().__init__(
            Signature(
                {
                    "stop": In(1),
                    "quiet": Out(1),
                    "wlast": In(1),
                    "rlast": In(1),
                    "loads_wait": Out(1),
                    "stores_wait": Out(1),
                    "read": Out(1),
                    "written": Out(1),
                    "reads_under_way": Out(range(self.bursts + 1)),
                    "writes_under_way": Out(range(self.bursts + 1)),
                    "words_owed": Out(range(-1, self.bursts + 1)),
                    **{f"k_{channel}valid": In(1) for channel in ("aw", "w", "ar")},
                    **{f"k_{channel}ready": Out(1) for channel in ("aw", "w", "ar")},
                    **{f"k_{channel}valid": Out(1) for channel in ("b", "r")},
                    **{f"k_{channel}ready": In(1) for channel in ("b", "r")},
                    **{f"b_{channel}valid": Out(1) for channel in ("aw", "w", "ar")},
                    **{f"b_{channel}ready": In(1) for channel in ("aw", "w", "ar")},
                    **{f"b_{channel}valid": In(1) for channel in ("b", "r")},
                    **{f"b_{channel}ready": Out(1) for channel in ("b", "r")},
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stop = self.stop
        for channel in ("aw", "ar"):
            valid, ready = getattr(self, f"b_{channel}valid"), getattr(self, f"b_{channel}ready")
            # What was offered in the cycle before and not taken is offered on.
            offered = Signal(name=f"{channel}_offered")
            m.d.sync += offered.eq(valid & ~ready)
            passes = ~stop | offered
            m.d.comb += [
                valid.eq(getattr(self, f"k_{channel}valid") & passes),
                getattr(self, f"k_{channel}ready").eq(ready & passes),
            ]
        # Bursts whose address was taken, and whose last word, or whose answer, is still to come;
        # words may go before the address is taken, but not without one that is offered.
        reads, writes, owed = self.reads_under_way, self.writes_under_way, self.words_owed
        told = self.b_awvalid & self.b_awready
        self._count(m, reads, self.b_arvalid & self.b_arready, self._last_read())
        self._count(m, writes, told, self.b_bvalid & self.b_bready)
        sent = self.b_wvalid & self.b_wready & self.wlast
        m.d.sync += owed.eq(owed + told - sent)
        sends = ~stop | (owed > 0) | ((owed == 0) & self.b_awvalid)
        m.d.comb += [
            self.b_wvalid.eq(self.k_wvalid & sends),
            self.k_wready.eq(self.b_wready & sends),
            self.k_bvalid.eq(self.b_bvalid & ~stop),
            self.k_rvalid.eq(self.b_rvalid & ~stop),
            self.b_bready.eq(self.k_bready | stop),
            self.b_rready.eq(self.k_rready | stop),
            # No word is owed where no burst waits for its answer.
            self.quiet.eq((reads == 0) & (writes == 0) & ~self.b_awvalid & ~self.b_arvalid),
            self.read.eq(self.b_rvalid & self.b_rready),
            self.written.eq(self.b_wvalid & self.b_wready),
            self.loads_wait.eq(
                (self.b_arvalid & ~self.b_arready) | ((reads != 0) & ~self.b_rvalid)
            ),
            self.stores_wait.eq(
                (self.b_awvalid & ~self.b_awready) | (self.b_wvalid & ~self.b_wready)
            ),
        ]
        return m

    def _last_read(self) -> Value:
        last: Value = self.b_rvalid & self.b_rready & self.rlast
        return last

    def _count(self, m: Module, count: Signal, more: Value, fewer: Value) -> None:
        """Count what is under way; an answer that was not asked for ends nothing."""
        with m.If(more & ~fewer):
            m.d.sync += count.eq(count + 1)
        with m.Elif(fewer & ~more & (count != 0)):
            m.d.sync += count.eq(count - 1)
