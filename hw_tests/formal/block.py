"""What is proven of the parts of a block around its kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Signature

from hw_tests.formal.harnesses import stable
from rtlgen.hw.top.axi_lite import OKAY, AxiLite
from rtlgen.hw.top.block_control import CODE_BITS, ERROR_CODES, BlockControl
from rtlgen.hw.top.bus_guard import BusGuard
from rtlgen.hw.top.register_file import RegisterFile
from rtlgen.manifest.registers import RegisterValue, register_map

COUNT_BITS = 6
REGISTERS = register_map(
    "f",
    "1.2.3",
    (RegisterValue("SCALAR_x", 64, "rw", "x"), RegisterValue("CYCLES", 64, "ro", "cycles")),
    (),
)


held = partial(stable, claim=Assume)
"""Assume that what is valid stays, as it is, until it is taken."""


class Registers(wiring.Component):
    """A master that keeps to AXI4 reads what it has written, byte by byte, and is always answered.

    Of two registers that are kept, one is looked at: what it holds follows from the words that were
    taken, and every read that is answered gives it. A count that is read is one that was true
    between the question and the answer.
    """

    def __init__(
        self, port: type[AxiLite] = AxiLite, file: Callable[..., RegisterFile] = RegisterFile
    ) -> None:
        self.port, self.file = port(REGISTERS.address_bits), file(REGISTERS, ["CYCLES"])
        members = {"upper": In(1), "begins": In(1), "counts": In(1)}
        for name in ("awaddr", "wdata", "wstrb", "araddr"):
            members[name] = In(len(getattr(self.port, name)))
        for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
            members[name] = In(1)
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.port, m.submodules.file = port, file = self.port, self.file
        for name in self.signature.members:
            if name not in ("upper", "begins", "counts"):
                m.d.comb += getattr(port, name).eq(getattr(self, name))
        m.d.comb += [
            file.begins.eq(self.begins),
            file.count_CYCLES.eq(self.counts),
            file.word.eq(port.word),
            file.access.eq(port.access),
            file.is_write.eq(port.is_write),
            file.wdata.eq(self.wdata),
            file.wstrb.eq(self.wstrb),
            port.over.eq(file.over),
            port.failed.eq(~file.found),
            port.read_data.eq(file.rdata),
        ]
        held(m, self.awvalid, port.awready, self.awaddr)
        held(m, self.wvalid, port.wready, self.wdata, self.wstrb)
        held(m, self.arvalid, port.arready, self.araddr)
        stable(m, port.bvalid, self.bready, port.bresp)
        stable(m, port.rvalid, self.rready, port.rdata, port.rresp)
        self._answer(m)
        self._look(m)
        self._count(m)
        return m

    def _count(self, m: Module) -> None:
        """Assert that a count is what it was when asked for, or later."""
        port = self.port
        count, least, asked = Signal(COUNT_BITS), Signal(COUNT_BITS), Signal(2)
        counted, kept = Signal(COUNT_BITS), Signal()
        m.d.comb += counted.eq(Mux(self.begins, 0, count + self.counts))
        m.d.sync += count.eq(counted)
        low = REGISTERS.register("CYCLES").word
        with m.If(self.arvalid & port.arready):
            m.d.sync += [
                asked.eq(Mux(self.araddr[2:] == low, 1, Mux(self.araddr[2:] == low + 1, 2, 0))),
                least.eq(counted),
                kept.eq(~self.begins),
            ]
        with m.Elif(self.begins):
            m.d.sync += kept.eq(0)
        with m.If(port.rvalid & (asked == 1) & kept):
            m.d.comb += [Assert(port.rdata >= least), Assert(port.rdata <= count)]
        with m.If(port.rvalid & (asked == 2)):
            m.d.comb += Assert(port.rdata == 0)

    def _answer(self, m: Module) -> None:
        """Assert that each write and each read has one answer, which comes behind it."""
        port = self.port
        for names, answer in ((("aw", "w"), "b"), (("ar",), "r")):
            valid, ready = getattr(port, f"{answer}valid"), getattr(self, f"{answer}ready")
            for name in names:
                taken = getattr(self, f"{name}valid") & getattr(port, f"{name}ready")
                waiting = Signal(name=f"{name}_waits")
                m.d.comb += Assert(~waiting | ~taken | (valid & ready))
                # A word may be taken in the cycle in which the answer is shown.
                m.d.comb += Assert(~valid | waiting | taken)
                m.d.sync += waiting.eq((waiting | taken) & ~(valid & ready))

    def _look(self, m: Module) -> None:
        port = self.port
        began, upper_before = Signal(), Signal()
        m.d.sync += [began.eq(1), upper_before.eq(self.upper)]
        with m.If(began):
            m.d.comb += Assume(self.upper == upper_before)
        low = REGISTERS.register("SCALAR_x").offset
        place = Signal(REGISTERS.address_bits - 2)
        m.d.comb += place.eq((low >> 2) + self.upper)
        kept = Signal(32)
        with m.If(port.access & port.over & port.is_write & (port.word == place)):
            for byte in range(4):
                with m.If(self.wstrb[byte]):
                    part = slice(8 * byte, 8 * byte + 8)
                    m.d.sync += kept[part].eq(self.wdata[part])
        shown = Mux(self.upper, self.file.SCALAR_x_HIGH, self.file.SCALAR_x)
        m.d.comb += Assert(shown == kept)
        # What is written is what is on the pins when the word is taken.
        asked = Signal(REGISTERS.address_bits - 2)
        with m.If(self.arvalid & port.arready):
            m.d.sync += asked.eq(self.araddr[2:])
        with m.If(port.rvalid & (asked == place)):
            m.d.comb += [Assert(port.rdata == kept), Assert(port.rresp == OKAY)]
        with m.If(self.awvalid & port.awready):
            m.d.comb += Assert(self.awaddr[2:] == port.word)


class Control(wiring.Component):
    """A start that is asked for comes once, and the interrupt says what happened.

    The kernel takes any time, and is idle when it is not running. What is reported of a run is the
    first error, unless its end brings a worse one.
    """

    def __init__(self, kind: type[BlockControl] = BlockControl) -> None:
        self.control = kind()
        self._free = [
            name
            for name, member in self.control.signature.members.items()
            if member.flow == In and not name.startswith("kernel_")
        ]
        members = {name: In(len(getattr(self.control, name))) for name in self._free}
        super().__init__(Signature(members | {"finishes": In(1)}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.control = control = self.control
        for name in self._free:
            m.d.comb += getattr(control, name).eq(getattr(self, name))
        codes = [ERROR_CODES[name] for name in ("NONE", "BASE", "READ", "WRITE", "ANSWER")]
        m.d.comb += Assume(Cat(self.answer == code for code in codes).any())
        running = Signal()
        m.d.comb += [
            control.kernel_idle.eq(~running),
            control.kernel_done.eq(running & self.finishes),
        ]
        with m.If(control.kernel_reset | control.kernel_done):
            m.d.sync += running.eq(0)
        with m.Elif(control.kernel_start & ~running):
            m.d.sync += running.eq(1)
        m.d.comb += Assert(control.running == (running | control.stop))
        self._starts(m)
        self._errors(m)
        self._interrupt(m)
        return m

    def _starts(self, m: Module) -> None:
        control = self.control
        wished, was_running = Signal(), Signal()
        m.d.sync += [
            was_running.eq(control.running),
            wished.eq((wished & ~control.accepted) | (self.start_written & control.idle)),
        ]
        # With an argument beyond its bound the kernel sees no start.
        barred = Signal()
        m.d.sync += barred.eq(control.accepted & ~self.has_meaning)
        with m.If(~self.has_meaning):
            m.d.comb += Assert(~control.kernel_start)
        with m.If(barred):
            m.d.comb += [
                Assert(control.done & ~control.running & ~control.start),
                Assert(control.error == ERROR_CODES["VALUE"]),
            ]
        # Nothing but a start, or RESTART, begins a run.
        restarted = Signal()
        m.d.sync += restarted.eq((restarted & ~control.accepted) | (control.ended & self.restart))
        m.d.comb += Assert(~control.start | wished | restarted)
        with m.If(wished):
            m.d.comb += Assert(control.start & ~control.running)
        with m.If(control.stop):
            m.d.comb += Assert(control.running)
        m.d.comb += Assert(~control.done | ~control.running)
        ended = Signal()
        m.d.sync += ended.eq(control.ended)
        with m.If(ended):
            m.d.comb += Assert(control.done & ~control.running)

    def _errors(self, m: Module) -> None:
        control = self.control
        aborted, answered, code = Signal(), Signal(), Signal(CODE_BITS)
        clean = Signal()
        m.d.sync += [
            aborted.eq(control.ended & control.stop & (control.error == 0)),
            answered.eq(control.ended & control.running & ~control.stop & (control.error == 0)),
            code.eq(self.answer),
            clean.eq(
                control.accepted
                & self.has_meaning
                & ~self.refused
                & ~self.start_written
                & ~self.swap_written
            ),
        ]
        with m.If(aborted):
            m.d.comb += Assert(control.error == ERROR_CODES["ABORTED"])
        with m.If(answered & (code != 0)):
            m.d.comb += Assert(control.error == code)
        with m.If(clean):
            m.d.comb += Assert(control.error == 0)
        m.d.comb += Assert(~control.running | (control.error != ERROR_CODES["ABORTED"]))

    def _interrupt(self, m: Module) -> None:
        control = self.control
        due, enabled = Signal(), Signal()
        # From the end of a run on, until the cause is cleared or the interrupt is masked.
        m.d.sync += [
            due.eq((control.ended & self.enable_done) | (due & ~self.done_cause_written)),
            enabled.eq(self.enable),
        ]
        with m.If(due):
            m.d.comb += Assert(control.cause_done)
        shown = Signal()
        m.d.sync += shown.eq(control.cause_done | control.cause_error)
        m.d.comb += Assert(control.irq == (shown & enabled))


class Guarded(wiring.Component):
    """A bus that is told to stop gets nothing new, and is quiet when all has its answer.

    The kernel offers what it likes and holds it; words come for the addresses that were shown.
    """

    def __init__(self, kind: type[BusGuard] = BusGuard) -> None:
        self.guard = kind((1 << COUNT_BITS) - 4)
        self._free = [
            name for name, member in self.guard.signature.members.items() if member.flow == In
        ]
        super().__init__(Signature({name: In(1) for name in self._free}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.guard = guard = self.guard
        for name in self._free:
            m.d.comb += getattr(guard, name).eq(getattr(self, name))
        stopped = Signal()
        m.d.sync += stopped.eq(self.stop)
        for channel in ("aw", "w", "ar"):
            held(m, getattr(self, f"k_{channel}valid"), getattr(guard, f"k_{channel}ready"))
            valid, ready = getattr(guard, f"b_{channel}valid"), getattr(self, f"b_{channel}ready")
            stable(m, valid, ready)
            waited = Signal(name=f"{channel}_waited")
            m.d.sync += waited.eq(valid & ~ready)
            if channel != "w":
                with m.If(self.stop & stopped & ~waited):
                    m.d.comb += Assert(~valid)
            # The kernel and the bus see the same words, or neither does.
            taken = valid & ready
            known = getattr(self, f"k_{channel}valid") & getattr(guard, f"k_{channel}ready")
            m.d.comb += Assert(taken == known)
        # An abort ends with a reset of the kernel, when the bus is quiet.
        with m.If(stopped):
            m.d.comb += Assume(self.stop)
        self._account(m)
        return m

    def _account(self, m: Module) -> None:
        guard = self.guard
        reads, writes = Signal(COUNT_BITS), Signal(COUNT_BITS)
        owed = Signal(range(-1, 1 << COUNT_BITS))
        asked = guard.b_arvalid & self.b_arready
        told = guard.b_awvalid & self.b_awready
        read = self.b_rvalid & guard.b_rready & self.rlast
        answered = self.b_bvalid & guard.b_bready
        sent = guard.b_wvalid & self.b_wready & self.wlast
        m.d.sync += [
            reads.eq(reads + asked - read),
            writes.eq(writes + told - answered),
            owed.eq(owed + told - sent),
        ]
        few = (1 << COUNT_BITS) - 8
        m.d.comb += [
            Assume((reads < few) & (writes < few) & (owed < few)),
            Assume(~self.b_rvalid | (reads != 0)),
            # An answer comes behind the last word of its burst.
            Assume(~self.b_bvalid | (writes > owed)),
            # Words come with an address that was shown, or behind it.
            Assume(~self.k_wvalid | (owed > 0) | ((owed == 0) & self.k_awvalid)),
            Assert(guard.reads_under_way == reads),
            Assert(guard.writes_under_way == writes),
            Assert(guard.words_owed == owed),
            Assert(owed <= writes),
        ]
        waits = Signal()
        m.d.sync += waits.eq(guard.b_wvalid & ~self.b_wready)
        with m.If(waits):
            m.d.comb += Assert((owed > 0) | ((owed == 0) & guard.b_awvalid))
        with m.If(guard.quiet):
            m.d.comb += Assert((reads == 0) & (writes == 0) & (owed == 0))
            m.d.comb += Assert(~guard.b_awvalid & ~guard.b_arvalid & ~guard.b_wvalid)
