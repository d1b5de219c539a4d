"""When the kernel of a block starts and ends, what went wrong, and the interrupt."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.manifest.registers import ERRORS

CODE_BITS = 4
ERROR_CODES = {name: code for code, (name, _) in enumerate(ERRORS)}


class BlockControl(wiring.Component):
    """The bits of CTRL, GIER, IER, ISR and ERROR, around the kernel's start, done and idle.

    A run begins in the cycle of `accepted`, and ends in that of `ended`: when the kernel is done,
    or, after an abort, when the bus is quiet; then the kernel is reset, whatever it does. One with
    an argument beyond its bound ends where it begins, and the kernel sees nothing of it.

    Members
    -------
    start, done, abort, error, cause_done, cause_error: Out, what the registers show.
    start_written, done_written, abort_written, error_written, done_cause_written,
    error_cause_written, swap_written: In(1), 1 is written to that bit. restart, enable,
    enable_done, enable_error: In(1), bits that software keeps.
    kernel_start, kernel_swap, kernel_reset: Out(1), kernel_idle, kernel_done: In(1); of the kernel.
    stop: Out(1), nothing new goes out on the bus. quiet: In(1), nothing is under way there.
    has_meaning: In(1), no argument is beyond its bound.
    refused: In(1), an access of the port was refused in this cycle.
    answer: In, valid with kernel_done: the code of what was wrong on the bus, or 0.
    idle, accepted, running, ended: Out(1). irq: Out(1).
    """

    def __init__(self) -> None:
        written = ("start", "done", "abort", "error", "done_cause", "error_cause", "swap")
        inputs = ("restart", "enable", "enable_done", "enable_error", "kernel_idle", "kernel_done")
        outputs = ("start", "done", "abort", "cause_done", "cause_error")
        states = (
            "kernel_start",
            "kernel_swap",
            "kernel_reset",
            "stop",
            "idle",
            "accepted",
            "running",
            "ended",
            "irq",
        )
        super().__init__(
            Signature(
                {
                    **{f"{name}_written": In(1) for name in written},
                    **{name: In(1) for name in (*inputs, "quiet", "refused", "has_meaning")},
                    **{name: Out(1) for name in (*outputs, *states)},
                    "answer": In(CODE_BITS),
                    "error": Out(CODE_BITS),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        aborted = self.stop & self.quiet
        begins = self.accepted & self.has_meaning
        m.d.comb += [
            self.kernel_start.eq(self.start & self.has_meaning),
            self.kernel_swap.eq(self.swap_written & ~self.start_written & self.idle),
            self.accepted.eq(self.start & self.kernel_idle & ~self.running),
            self.kernel_reset.eq(aborted),
            self.ended.eq(
                Mux(
                    self.running,
                    Mux(self.stop, self.quiet, self.kernel_done),
                    self.accepted & ~self.has_meaning,
                )
            ),
            self.idle.eq(~self.running & ~self.start),
            self.abort.eq(self.stop),
        ]
        is_error = self._keep_error(m)
        restarts = self.restart & self.ended & ~is_error
        with m.If((self.start_written & self.idle) | restarts):
            m.d.sync += self.start.eq(1)
        with m.Elif(self.accepted):
            m.d.sync += self.start.eq(0)
        with m.If(begins):
            m.d.sync += [self.running.eq(1), self.done.eq(0)]
        with m.Elif(self.ended):
            m.d.sync += [self.running.eq(0), self.done.eq(1)]
        with m.Elif(self.done_written):
            m.d.sync += self.done.eq(0)
        with m.If(self.abort_written & self.running & ~self.ended):
            m.d.sync += self.stop.eq(1)
        with m.Elif(aborted):
            m.d.sync += self.stop.eq(0)
        causes = []
        for name, event in (("done", self.ended), ("error", is_error)):
            cause: Signal = getattr(self, f"cause_{name}")
            with m.If(event & getattr(self, f"enable_{name}")):
                m.d.sync += cause.eq(1)
            with m.Elif(getattr(self, f"{name}_cause_written")):
                m.d.sync += cause.eq(0)
            causes.append(cause)
        m.d.sync += self.irq.eq(Cat(causes).any() & self.enable)
        return m

    def _keep_error(self, m: Module) -> Signal:
        """Keep the first error since the start; return whether there is one in this cycle."""
        code = Signal(CODE_BITS)
        is_error = Signal()
        # The end of a run says more than an access that comes with it.
        with m.If(self.ended & self.stop):
            m.d.comb += code.eq(ERROR_CODES["ABORTED"])
        with m.Elif(self.accepted & ~self.has_meaning):
            m.d.comb += code.eq(ERROR_CODES["VALUE"])
        with m.Elif(self.ended & (self.answer != 0)):
            m.d.comb += code.eq(self.answer)
        with m.Elif((self.start_written | self.swap_written) & ~self.idle):
            m.d.comb += code.eq(ERROR_CODES["BUSY"])
        with m.Elif(self.refused):
            m.d.comb += code.eq(ERROR_CODES["ACCESS"])
        m.d.comb += is_error.eq(code != 0)
        with m.If(is_error & ((self.error == 0) | self.accepted)):
            m.d.sync += self.error.eq(code)
        with m.Elif(self.accepted | self.error_written):
            m.d.sync += self.error.eq(0)
        return is_error
