"""A kernel as a block of a system: AXI4-Lite registers, an interrupt, AXI4 for what is off chip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from amaranth.hdl import (
    Cat,
    ClockDomain,
    Const,
    Module,
    Mux,
    ResetInserter,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.bursts import ADDRESS_BITS, PAGE_BITS
from rtlgen.hw.index_units import all_of
from rtlgen.hw.kernel import Kernel
from rtlgen.hw.names import SWAP_PORT, axi_comments, port_names, stream_comments
from rtlgen.hw.off_chip import memory_pins
from rtlgen.hw.stream_ports import stream_pins
from rtlgen.hw.top.array_windows import ArrayWindows
from rtlgen.hw.top.axi_lite import AxiLite, axi_lite_members
from rtlgen.hw.top.block_control import ERROR_CODES, BlockControl
from rtlgen.hw.top.bus_guard import BusGuard
from rtlgen.hw.top.register_file import RegisterFile, field_port
from rtlgen.ir.crc import CRC_BITS
from rtlgen.ir.plan import KernelPlan, MemorySide
from rtlgen.manifest.registers import RegisterMap, RegisterValue, register_map

CONTROL_PREFIX, BUS_PREFIX = "s_axi_control_", "m_axi_"
INTERRUPT = "irq"
CYCLE_BITS, COUNTER_BITS = 64, 32
_CONTROL_BITS = (
    ("CTRL", "START", "start"),
    ("CTRL", "DONE", "done"),
    ("CTRL", "IDLE", "idle"),
    ("CTRL", "READY", "idle"),
    ("CTRL", "ABORT", "abort"),
    ("ISR", "DONE", "cause_done"),
    ("ISR", "ERROR", "cause_error"),
    ("ERROR", "CODE", "error"),
)
"""What is read, and where 1 is written, by register, field and port of `BlockControl`."""

_WRITTEN = {"cause_done": "done_cause", "cause_error": "error_cause"}
_ENABLING_BITS = (
    ("CTRL", "RESTART", "restart"),
    ("GIER", "ENABLE", "enable"),
    ("IER", "DONE", "enable_done"),
    ("IER", "ERROR", "enable_error"),
)
_STANDS_STILL = (
    "STALL_KERNEL",
    "stands_still",
    "cycles in which nothing was computed, for either reason",
)
_WAITS = (
    ("STALL_LOAD", "loads_wait", "cycles in which an address or a word to read was waited for"),
    ("STALL_STORE", "stores_wait", "cycles in which an address or a word to write waited"),
    _STANDS_STILL,
    ("BEATS_READ", "read", "words that came over the bus"),
    ("BEATS_WRITTEN", "written", "words that went over the bus"),
)


def registers_of(plan: KernelPlan, version: str) -> RegisterMap:
    """Return the registers of a kernel's block: its arguments by their names in C."""
    side = plan.memory_side
    values = [
        RegisterValue(f"SCALAR_{scalar.name}", scalar.width_bits, "rw", f"argument {scalar.name}")
        for scalar in plan.scalars
    ]
    if side is not None:
        values += [
            RegisterValue(
                f"BASE_{array.name}",
                ADDRESS_BITS,
                "rw",
                f"address of {array.name}, a multiple of {1 << PAGE_BITS}",
                PAGE_BITS,
            )
            for array in side.arrays
        ]
    values.append(RegisterValue("CYCLES", CYCLE_BITS, "ro", "of the last run, from start to done"))
    if side is not None:
        values += [
            RegisterValue(name, COUNTER_BITS, "ro", f"of the last run: {meaning}")
            for name, _, meaning in _WAITS
        ]
    if plan.stream_memories:
        meaning = (
            "of the last run: cycles in which nothing was computed, since a stream was waited for"
        )
        values.append(RegisterValue("STALL_KERNEL", COUNTER_BITS, "ro", meaning))
    if plan.returned is not None:
        width = plan.memory(plan.returned).width_bits
        values.append(RegisterValue("RESULT", width, "ro", "what the function returned"))
    if plan.checksum is not None:
        values.append(RegisterValue("CHECKSUM", CRC_BITS, "ro", "of the arrays after the run"))
    if side is not None:
        meaning = "where the first answer was an error: the word read, or the burst written"
        values.append(RegisterValue("ERROR_ADDRESS", ADDRESS_BITS, "ro", meaning))
    arrays = tuple(
        (memory.name, memory.depth, memory.width_bits // 8)
        for memory in plan.memories
        if memory.has_host_port
    )
    twins = [memory.name for memory in plan.memories if memory.is_double]
    return register_map(plan.name, version, tuple(values), arrays, twins)


def bus_pins(side: MemorySide) -> dict[str, Member]:
    """Return the pins of AXI4 that a kernel has; of what it tells beside there are registers."""
    pins = memory_pins(side).items()
    return {name: member for name, member in pins if name.startswith(BUS_PREFIX)}


def _stream_pins(plan: KernelPlan) -> Iterator[tuple[str, Member, str]]:
    """Yield the pins of streams, which the block has from its kernel, and what they carry."""
    names = port_names(plan)
    for memory in plan.stream_memories:
        comments, ports = stream_comments(memory, names), asdict(names.streams[memory.name])
        for pin, member in stream_pins(memory).items():
            yield ports[pin], member, comments[ports[pin]]


class AxiTop(wiring.Component):
    """A kernel with registers, an interrupt, and buses.

    Members
    -------
    aclk: In(1). aresetn: In(1), active low, for both sides of every bus.
    s_axi_control_NAME: pins of the AXI4-Lite port; see `axi_lite_members`.
    m_axi_NAME: pins of the AXI4 port, where arrays are off chip.
    s_axis_NAME_PIN, m_axis_NAME_PIN: of AXI4-Stream, as of `Kernel`.
    irq: Out(1), high as long as there is a cause that counts.

    A run that is aborted ends when nothing is under way on the bus; a kernel without a bus at once.

    Raises
    ------
    PlanError: as `Kernel`.
    """

    def __init__(self, plan: KernelPlan, version: str) -> None:
        self.plan = plan
        self.registers = registers_of(plan, version)
        members: dict[str, Member] = {"aclk": In(1), "aresetn": In(1), INTERRUPT: Out(1)}
        pins = axi_lite_members(self.registers.address_bits)
        members |= {f"{CONTROL_PREFIX}{name}": member for name, member in pins.items()}
        if plan.memory_side is not None:
            members |= bus_pins(plan.memory_side)
        members |= {port: member for port, member, _ in _stream_pins(plan)}
        super().__init__(Signature(members))

    @property
    def port_comments(self) -> Mapping[str, str]:
        """What each port carries, for its Verilog."""
        names = self.signature.members.keys()
        return {
            "aclk": "every register uses its rising edge",
            "aresetn": "synchronous, active low",
            INTERRUPT: "high as long as there is a cause that counts",
            **axi_comments(CONTROL_PREFIX, names, "AXI4-Lite, registers"),
            **axi_comments(BUS_PREFIX, names, "AXI4"),
            **{port: comment for port, _, comment in _stream_pins(self.plan)},
        }

    def elaborate(self, platform: object) -> Module:
        return _TopBuilder(self).build()


class _TopBuilder:
    """Put the parts of a block together."""

    def __init__(self, top: AxiTop) -> None:
        self._top = top
        self._plan = top.plan
        self._m = Module()
        self._kernel = Kernel(top.plan, is_in_block=True)
        counts = ("CYCLES", *(name for name, _, _ in _WAITS))
        self._file = RegisterFile(
            top.registers, [name for name in counts if top.registers.has(name)]
        )
        self._port = AxiLite(top.registers.address_bits)
        self._names = port_names(top.plan)

    def build(self) -> Module:
        m, top = self._m, self._top
        clock = ClockDomain("sync")
        m.domains += clock
        m.d.comb += [clock.clk.eq(top.aclk), clock.rst.eq(~top.aresetn)]
        m.submodules.control_port = self._port
        m.submodules.registers = self._file
        kernel_reset = Signal()
        if self._kernel.can_abort:
            # The ports of its streams have words under way, and end them by themselves.
            m.submodules.kernel = self._kernel
            m.d.comb += self._kernel.abort.eq(kernel_reset)
        else:
            m.submodules.kernel = ResetInserter(kernel_reset)(self._kernel)
        pins = axi_lite_members(top.registers.address_bits)
        for name, member in pins.items():
            outside, inside = getattr(top, f"{CONTROL_PREFIX}{name}"), getattr(self._port, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        for name, member, _ in _stream_pins(self._plan):
            outside, inside = getattr(top, name), getattr(self._kernel, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        guard = self._build_bus()
        self._build_access()
        self._build_arguments()
        self._build_control(kernel_reset, guard)
        return m

    def _read(self, register: str, field: str = "VALUE") -> Signal:
        found: Signal = getattr(self._file, self._port_of(register, field))
        return found

    def _written(self, register: str, field: str = "VALUE") -> Signal:
        found: Signal = getattr(self._file, f"{self._port_of(register, field)}_written")
        return found

    def _port_of(self, register: str, field: str) -> str:
        found = self._top.registers.register(register)
        return field_port(found, found.field(field))

    def _halves(self, name: str) -> list[Signal]:
        """Return the registers of a value, the lower half first."""
        return [self._read(half.name) for half in self._top.registers.halves(name)]

    def _show(self, name: str, value: Value) -> None:
        self._m.d.comb += Cat(self._halves(name)).eq(value)

    def _build_access(self) -> None:
        """Hand an access on to the registers, or to the arrays on chip."""
        m, port, file = self._m, self._port, self._file
        windows = self._top.registers.windows
        here, over, failed = Const(0), Const(0), Const(0)
        from_window = Signal()
        m.d.comb += [
            file.word.eq(port.word),
            file.wdata.eq(getattr(self._top, f"{CONTROL_PREFIX}wdata")),
            file.wstrb.eq(getattr(self._top, f"{CONTROL_PREFIX}wstrb")),
            port.read_data.eq(file.rdata),
        ]
        if windows:
            unit = ArrayWindows(windows, self._top.registers.address_bits)
            m.submodules.windows = unit
            here, over, failed = unit.here, unit.over, unit.failed
            m.d.comb += [
                unit.access.eq(port.access),
                unit.is_write.eq(port.is_write),
                unit.word.eq(port.word),
                unit.wdata.eq(file.wdata),
                unit.wstrb.eq(file.wstrb),
                unit.idle.eq(self._kernel.idle),
                port.read_data.eq(Mux(from_window, unit.rdata, file.rdata)),
            ]
            with m.If(port.access):
                m.d.sync += from_window.eq(here)
            for n, window in enumerate(windows):
                host = self._names.hosts[window.array]
                for name in ("addr", "en", "we", "wdata"):
                    pin = getattr(self._kernel, getattr(host, name))
                    m.d.comb += pin.eq(getattr(unit, f"{name}_{n}"))
                m.d.comb += getattr(unit, f"rdata_{n}").eq(getattr(self._kernel, host.rdata))
        self._failed = Signal()
        m.d.comb += [
            file.access.eq(port.access & ~here),
            file.is_write.eq(port.is_write),
            port.over.eq(Mux(here, over, file.over)),
            port.failed.eq(Mux(here, failed, ~file.found)),
            self._failed.eq(port.over & port.failed),
        ]

    def _build_arguments(self) -> None:
        m, kernel, plan = self._m, self._kernel, self._plan
        for name, port in self._names.scalars.items():
            m.d.comb += getattr(kernel, port).eq(Cat(self._halves(f"SCALAR_{name}")))
        for name, port in self._names.bases.items():
            base = Cat(Const(0, PAGE_BITS), *self._halves(f"BASE_{name}"))
            m.d.comb += getattr(kernel, port).eq(base)
        if plan.returned is not None:
            self._show("RESULT", kernel.return_value)
        if plan.checksum is not None:
            self._show("CHECKSUM", kernel.checksum)

    def _meanings(self) -> Iterator[Value]:
        """Yield for each argument with bounds whether it is in them."""
        for scalar in self._plan.scalars:
            if scalar.limits is None:
                continue
            word = Cat(self._halves(f"SCALAR_{scalar.name}"))
            value = word.as_signed() if scalar.signed else word
            of_type = -(1 << scalar.width_bits - 1) if scalar.signed else 0
            low, high = scalar.limits
            if low > of_type:
                yield value >= low
            if high < of_type + (1 << scalar.width_bits) - 1:
                yield value <= high

    def _build_bus(self) -> BusGuard | None:
        """Wire the bus to the kernel through what counts and stops."""
        side = self._plan.memory_side
        if side is None:
            return None
        m, top, kernel = self._m, self._top, self._kernel
        guard = BusGuard(max(side.bus.read_words, side.bus.write_bursts) + 2)
        m.submodules.bus_guard = guard
        for name, member in bus_pins(side).items():
            short = name.removeprefix(BUS_PREFIX)
            outside, inside = getattr(top, name), getattr(kernel, name)
            if member.flow == Out:
                if short.endswith(("valid", "ready")):
                    m.d.comb += getattr(guard, f"k_{short}").eq(inside)
                    inside = getattr(guard, f"b_{short}")
                m.d.comb += outside.eq(inside)
            else:
                if short.endswith(("valid", "ready")):
                    m.d.comb += getattr(guard, f"b_{short}").eq(outside)
                    outside = getattr(guard, f"k_{short}")
                m.d.comb += inside.eq(outside)
        m.d.comb += [guard.wlast.eq(top.m_axi_wlast), guard.rlast.eq(top.m_axi_rlast)]
        return guard

    def _build_control(self, kernel_reset: Signal, guard: BusGuard | None) -> None:
        m, kernel, control = self._m, self._kernel, BlockControl()
        m.submodules.control = control
        for register, field, port in _CONTROL_BITS:
            bit = self._read(register, field)
            m.d.comb += bit.eq(getattr(control, port))
            if self._top.registers.register(register).field(field).access != "ro":
                name = f"{_WRITTEN.get(port, port)}_written"
                m.d.comb += getattr(control, name).eq(self._written(register, field).any())
        for register, field, port in _ENABLING_BITS:
            m.d.comb += getattr(control, port).eq(self._read(register, field))
        m.d.comb += [
            kernel.start.eq(control.kernel_start),
            kernel_reset.eq(control.kernel_reset),
            control.kernel_idle.eq(kernel.idle),
            control.kernel_done.eq(kernel.done),
            control.refused.eq(self._failed),
            control.has_meaning.eq(all_of(list(self._meanings()))),
            control.quiet.eq(1 if guard is None else guard.quiet),
            self._top.irq.eq(control.irq),
        ]
        if self._plan.has_twins:
            m.d.comb += [
                control.swap_written.eq(self._written("CTRL", "SWAP")),
                getattr(kernel, SWAP_PORT).eq(control.kernel_swap),
            ]
        m.d.comb += self._file.begins.eq(control.accepted)
        self._count("CYCLES", control.running)
        if kernel.can_abort:
            self._count("STALL_KERNEL", control.running & kernel.stands_still)
        if any(memory.kind == "source" for memory in self._plan.stream_memories):
            too_long = Mux(kernel.stream_long, ERROR_CODES["LONG"], 0)
            m.d.comb += control.answer.eq(Mux(kernel.stream_short, ERROR_CODES["SHORT"], too_long))
        if guard is None:
            return
        response = kernel.mem_error_response
        answer = Mux(kernel.mem_error_write, ERROR_CODES["WRITE"], ERROR_CODES["READ"])
        other = Mux(response[0], ERROR_CODES["ANSWER"], ERROR_CODES["BASE"])
        with m.If(kernel.mem_error):
            m.d.comb += control.answer.eq(Mux(response[1], answer, other))
        m.d.comb += [
            guard.stop.eq(control.stop),
            self._read("ERROR", "RESPONSE").eq(Mux(response[1], response, 0)),
        ]
        self._show("ERROR_ADDRESS", kernel.mem_error_address)
        for name, event, _ in _WAITS:
            source = kernel if event == "stands_still" else guard
            self._count(name, control.running & getattr(source, event))

    def _count(self, name: str, counts: Value) -> None:
        """Count the cycles of a run in which something is so."""
        self._m.d.comb += getattr(self._file, f"count_{name}").eq(counts)
