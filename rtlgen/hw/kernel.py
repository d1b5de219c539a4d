"""The whole circuit of a KernelPlan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple
from functools import partial

from amaranth.hdl import (
    Cat,
    Const,
    EnableInserter,
    Fragment,
    Module,
    Mux,
    ResetInserter,
    Shape,
    Signal,
    Value,
    unsigned,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.bursts import ADDRESS_BITS
from rtlgen.hw.checksum_unit import ChecksumSource, ChecksumUnit
from rtlgen.hw.memory import BYTE_BITS, WINDOW_CYCLES, ArrayStorage, Loader, LoadUser, MemoryUsers
from rtlgen.hw.mover import Mover
from rtlgen.hw.names import (
    STREAM_ERRORS,
    SWAP_PORT,
    Namer,
    PortNames,
    port_comments,
    port_names,
    prefix_ports,
)
from rtlgen.hw.off_chip import OffChipPort, memory_pins
from rtlgen.hw.offers import ALONE
from rtlgen.hw.operators import SharedUnit
from rtlgen.hw.region_parts import OWN_NAMES, RegionParts, port_uses, region_names
from rtlgen.hw.sequencer import Phase, Sequencer, event_name
from rtlgen.hw.storage import DoubledStorage, OutsideStorage, build_storage
from rtlgen.hw.stream_ports import SinkPort, SourcePort, stream_pins
from rtlgen.hw.tile_parts import HeldScalars, TileParts
from rtlgen.ir.block_rams import external_ports
from rtlgen.ir.crc import CRC_BITS
from rtlgen.ir.cycles import checksum_cycles, predicted_cycles, region_cycles
from rtlgen.ir.functional_units import functional_units
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory, PlanError, Workers, address_bits, regions_of


def kernel_members(
    plan: KernelPlan, names: PortNames, *, tells_stalls: bool = False, can_abort: bool = False
) -> dict[str, Member]:
    """Return the ports of a kernel.

    Parameters
    ----------
    tells_stalls, can_abort: of one in a block, see `Kernel`.
    """
    members: dict[str, Member] = {"start": In(1), "done": Out(1), "idle": Out(1)}
    if plan.has_twins:
        members[SWAP_PORT] = In(1)
    for scalar in plan.scalars:
        members[names.scalars[scalar.name]] = In(unsigned(scalar.width_bits))
    for memory in plan.memories:
        if memory.has_host_port:
            host = names.hosts[memory.name]
            members |= {
                host.addr: In(address_bits(memory.depth)),
                host.en: In(1),
                host.we: In(memory.width_bits // BYTE_BITS),
                host.wdata: In(memory.width_bits),
                host.rdata: Out(memory.width_bits),
            }
    for memory in plan.external_memories:
        addr, word = address_bits(memory.depth), memory.width_bits
        rams = names.rams[memory.name]
        for read in rams.reads:
            members |= {read.addr: Out(addr), read.en: Out(1), read.data: In(word)}
        if (write := rams.write) is not None:
            members |= {write.addr: Out(addr), write.en: Out(1), write.data: Out(word)}
    if plan.memory_side is not None:
        members |= memory_pins(plan.memory_side)
        members |= {port: In(ADDRESS_BITS) for port in names.bases.values()}
    if tells_stalls:
        members["stands_still"] = Out(1)
    for memory in plan.stream_memories:
        pins = stream_pins(memory)
        ports = asdict(names.streams[memory.name])
        members |= {ports[pin]: member for pin, member in pins.items()}
    if any(memory.kind == "source" for memory in plan.stream_memories):
        members |= {port: Out(1) for port in STREAM_ERRORS}
    if can_abort:
        members["abort"] = In(1)
    if plan.returned is not None:
        members["return_value"] = Out(plan.memory(plan.returned).width_bits)
    if plan.checksum is not None:
        members["checksum"] = Out(CRC_BITS)
    return members


class Kernel(wiring.Component):
    """A kernel: start, done and idle around its loops, and a host port for each visible array.

    Members
    -------
    start: In(1), looked at in idle. done: Out(1), high in the cycle of the last store, or of the
        checksum's last step. idle: Out(1), high while nothing runs.
    swap: In(1), where arrays are there twice: looked at in idle. In a cycle with `swap` or `start`,
        the copies of the host and of the kernel are swapped.
    scalar arguments: In, by name, captured with start.
    return_value: Out, valid from done until the next start; where the function returns something.
    checksum: Out(64), likewise; where the plan has a checksum.
    NAME_addr, NAME_en, NAME_we, NAME_wdata: In; NAME_rdata: Out, one cycle later, or in a block
        `WINDOW_CYCLES`; for each array that is visible outside.
    NAME_read_addr, NAME_read_en, NAME_write_addr, NAME_write_en, NAME_write_data: Out;
    NAME_read_data: In, one cycle later; for each array that stands outside.
    the pins of the memory off chip, where arrays are there: see `memory_map`.
    stands_still: Out(1), in a block: in this cycle of a run no tile is computed, since words are on
        their way; or nothing is, since a stream makes it wait.
    s_axis_NAME_PIN, m_axis_NAME_PIN: of AXI4-Stream, for each array that comes in, or goes out.
    stream_short, stream_long: Out(1), with those that come in: a frame of the run had too few
        elements, or too many; from done until the next start. Where a word is waited for, or room,
        everything but the ports of the streams stands still.
    abort: In(1), of a block with streams: the run is broken off, as by a reset of the kernel.
    All C names as `names` says: they give way to names that are taken.

    Parameters
    ----------
    is_in_block: whether it is in a block, which counts what it waits for, and breaks off runs.

    Timing
    ------
    `run_cycles` cycles from the edge that sees start to the edge that sees done.

    Raises
    ------
    PlanError: the function's result is not in a register.
    """

    def __init__(self, plan: KernelPlan, *, is_in_block: bool = False) -> None:
        self.plan = plan
        self.is_in_block = is_in_block
        has_streams = bool(plan.stream_memories)
        self.tells_stalls = is_in_block and (has_streams or plan.memory_side is not None)
        self.can_abort = is_in_block and has_streams
        self.names: PortNames = port_names(plan)
        if plan.returned is not None and plan.memory(plan.returned).kind != "register":
            raise PlanError(f"the returned {plan.returned} is not in a register")
        told = {"tells_stalls": self.tells_stalls, "can_abort": self.can_abort}
        members = kernel_members(plan, self.names, **told)
        super().__init__(Signature(members))

    @property
    def port_comments(self) -> Mapping[str, str]:
        """What each port carries, in a line."""
        return port_comments(self.plan, self.names)

    @property
    def run_cycles(self) -> int:
        """Cycles of a run."""
        return predicted_cycles(self.plan)

    def elaborate(self, platform: object) -> Module | Fragment:
        return _KernelBuilder(self).build()


class _KernelBuilder:
    """Put the parts of a kernel together."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._plan = kernel.plan
        self._m = Module()
        self._modules = Namer(OWN_NAMES)
        self._users = {memory.name: MemoryUsers() for memory in kernel.plan.memories}
        self._scalars = HeldScalars(kernel.plan)
        uses = port_uses(kernel.plan)
        self._units = {unit.number: unit for unit in functional_units(kernel.plan.regions)}
        self._regions = []
        streams = 0
        named = region_names(kernel.plan, self._modules)
        for region, names in zip(kernel.plan.regions, named, strict=True):
            shapes = self._scalars.shapes
            self._regions.append(
                RegionParts(kernel.plan, region, shapes, uses, self._units, streams, names)
            )
            streams += len(region.streams)
        # The part of the body that each region belongs to.
        self._part_of = [n for n, part in enumerate(self._plan.body) for _ in regions_of(part)]
        self._sequencer = Sequencer(self._phases())
        self._hosts_copy = Signal(2, init=0b10)
        """Which copy is the host's, of what is there twice: one hot."""

        self._tiles: dict[int, TileParts] = {}
        self._off_chip: OffChipPort | None = None
        self._streams: dict[str, SourcePort | SinkPort] = {}
        self._doubled: dict[str, DoubledStorage] = {}
        """By the names of their modules; of a kernel that may stand still, they do not."""

        self._advance = Signal(name="advance")
        self._looked_up = {
            op.memory
            for stream in kernel.plan.streams
            for op in stream.operations
            if isinstance(op, LoadOp) and op.address is None
        }

    def build(self) -> Module | Fragment:
        m, kernel = self._m, self._kernel
        is_static, ends = not self._plan.stream_memories, self._sequencer.done
        m.submodules.sequencer = self._sequencer
        m.d.comb += [
            self._sequencer.start.eq(kernel.start),
            kernel.done.eq(ends if is_static else ends & self._advance),
            kernel.idle.eq(self._sequencer.idle),
        ]
        if self._plan.has_twins:
            with m.If(kernel.idle & (kernel.start | getattr(kernel, SWAP_PORT))):
                m.d.sync += self._hosts_copy.eq(Cat(reversed(self._hosts_copy)))
        ports = {name: getattr(kernel, port) for name, port in kernel.names.scalars.items()}
        self._scalars.capture(m, self._sequencer.accepted, ports)
        for number, part in enumerate(self._plan.body):
            if isinstance(part, Workers):
                self._build_tiles(number, part)
        if self._plan.memory_side is not None:
            self._build_memory_port()
        shared = self._build_units()
        for number, region in enumerate(self._regions):
            event = partial(self._event, number)
            scalar = partial(self._scalar, self._tiles.get(number))
            region.build(m, event, scalar, self._users, shared)
        if self._plan.checksum is not None:
            self._build_checksum(self._plan.checksum)
        if self._plan.returned is not None:
            self._build_return(self._plan.returned)
        for memory in self._plan.memories:
            if memory.is_stream:
                self._build_stream(memory)
            else:
                self._build_memory(memory)
        return m if is_static else self._standing_still()

    def _standing_still(self) -> Fragment:
        """Return the kernel with all of it stopped where a stream waits.

        But for the ports of streams, and for the copies that the host has of what is there twice.
        """
        m, kernel, ports = self._m, self._kernel, self._streams.values()
        m.d.comb += self._advance.eq(~Cat(port.wants & ~port.can for port in ports).any())
        for port in ports:
            m.d.comb += [
                port.moves.eq(self._advance),
                port.flush.eq(kernel.abort if kernel.can_abort else 0),
            ]
        if kernel.tells_stalls:
            m.d.comb += kernel.stands_still.eq(~self._advance)
        sources = [port for port in ports if isinstance(port, SourcePort)]
        m.d.comb += [port.begin.eq(self._sequencer.accepted) for port in sources]
        for name, error in zip(STREAM_ERRORS, ("short", "long"), strict=True):
            if sources:
                told = Cat(getattr(port, error) for port in sources).any()
                m.d.comb += getattr(kernel, name).eq(told)
        body = EnableInserter(self._advance)(m)
        if kernel.can_abort:
            body = ResetInserter(kernel.abort)(body)
        fragment = Fragment.get(body, None)
        for name, port in self._streams.items():
            module = self._modules.name(f"{name}_stream")
            fragment.add_subfragment(Fragment.get(port, None), module)
        for module, storage in self._doubled.items():
            fragment.add_subfragment(Fragment.get(storage, None), module)
        return fragment

    def _build_stream(self, memory: Memory) -> None:
        """Build the port of an array that comes in, or goes out."""
        m, users = self._m, self._users[memory.name]
        port = SourcePort(memory) if memory.kind == "source" else SinkPort(memory)
        prefix_ports(port, memory.name)
        self._streams[memory.name] = port
        pins = asdict(self._kernel.names.streams[memory.name])
        for pin, member in stream_pins(memory).items():
            outside, inside = getattr(self._kernel, pins[pin]), getattr(port, pin)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        if isinstance(port, SourcePort):
            m.d.comb += port.wants.eq(Cat(loader.en for loader in users.loads).any())
            m.d.comb += [loader.data.eq(port.word) for loader in users.loads]
            return
        m.d.comb += port.wants.eq(Cat(storer.en for storer in users.stores).any())
        word: Value = users.stores[-1].data
        for storer in users.stores[:-1]:
            word = Mux(storer.en, storer.data, word)
        m.d.comb += port.word.eq(word)

    def _build_units(self) -> dict[int, SharedUnit]:
        """Build the multipliers and dividers that operations share."""
        built = {}
        for number, unit in self._units.items():
            user = unit.users[0]
            operations = self._plan.streams[user.stream].operations
            shapes = [
                Shape(operations[n].width_bits, operations[n].signed) for n in user.op.operands
            ]
            built[number] = SharedUnit(unit, shapes)
            name = self._modules.name(f"shared_{unit.op.op}_{number}")
            prefix_ports(built[number], name)
            self._m.submodules[name] = built[number]
        return built

    def _phases(self) -> tuple[Phase, ...]:
        phases = []
        for number, region in enumerate(self._plan.body):
            if isinstance(region, Workers):
                phases.append(Phase(None, (0,)))
                continue
            parts = self._regions[self._part_of.index(number)]
            events = set(parts.begins)
            if parts.is_cut:
                events.add(region_cycles(self._plan, region))
            phases.append(Phase(region_cycles(self._plan, region), tuple(sorted(events))))
        if self._plan.checksum is not None:
            phases.append(Phase(checksum_cycles(self._plan), (0,)))
        return tuple(phases)

    def _event(self, number: int, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of a region, or of each of its tiles."""
        if number in self._tiles:
            return self._tiles[number].before(cycle)
        return self._phase_event(self._part_of[number], cycle)

    def _phase_event(self, phase: int, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of a phase."""
        event: Signal = getattr(self._sequencer, event_name(phase, cycle))
        return event

    def _scalar(self, parts: TileParts | None, name: str) -> Signal:
        return self._scalars.shown_to(self._m, name, parts)

    def _build_tiles(self, number: int, workers: Workers) -> None:
        """Build what starts the tiles of workers and moves words for them."""
        assert self._plan.memory_side is not None, "tiles have a memory off chip"
        entered = self._phase_event(number, 0)
        first = self._part_of.index(number)
        built = []
        for n in range(len(workers.regions)):
            cycles = self._regions[first + n].begins
            parts = TileParts(workers, n, self._plan.memory_side, cycles)
            parts.build(self._m, self._modules, entered)
            self._tiles[first + n] = parts
            built.append(parts)
        for parts in built:
            parts.connect_waits(self._m, built)
        ended: Value = Cat(parts.ended for parts in built).any()
        working = Cat(parts.working for parts in built).any()
        self._m.d.comb += getattr(self._sequencer, f"ended_{number}").eq(ended & ~working)
        if self._kernel.tells_stalls:
            resting = Cat(parts.resting for parts in built).all()
            with self._m.If(working & resting):
                self._m.d.comb += self._kernel.stands_still.eq(1)

    def _build_memory_port(self) -> None:
        side = self._plan.memory_side
        assert side is not None
        movers: dict[str, Mover] = {}
        finished: dict[str, Signal] = {}
        workers: dict[str, int] = {}
        for number, parts in self._tiles.items():
            movers |= parts.movers
            workers |= dict.fromkeys(parts.movers, number if parts.is_shared else ALONE)
            finished |= {window: parts.finished(window) for window in parts.movers}
        if not movers:
            return
        kernel = self._kernel
        bases = {name: getattr(kernel, port) for name, port in kernel.names.bases.items()}
        self._off_chip = OffChipPort(side, movers, workers, kernel, bases)
        self._off_chip.build(self._m, self._modules, self._sequencer.accepted, finished)

    def _build_checksum(self, names: tuple[str, ...]) -> None:
        m = self._m
        memories = [self._plan.memory(name) for name in names]
        sources = tuple(
            ChecksumSource(f"source_{n}", memory.depth, memory.width_bits)
            for n, memory in enumerate(memories)
        )
        unit = ChecksumUnit(sources)
        m.submodules.checksum_unit = unit
        m.d.comb += [
            unit.begin.eq(self._phase_event(len(self._plan.body), 0)),
            self._kernel.checksum.eq(unit.checksum),
        ]
        for source, memory in zip(sources, memories, strict=True):
            addr, en = getattr(unit, f"{source.name}_addr"), getattr(unit, f"{source.name}_en")
            data: Signal = getattr(unit, f"{source.name}_data")
            if memory.kind == "register":
                data = self._two_cycles_early(data)
            homes, banks = tuple(sorted(memory.home_versions)), range(memory.bank_map.banks)
            reader = LoadUser(0, homes, tuple(banks), is_at_home=True)
            self._users[memory.name].loads.insert(0, Loader(reader, addr, en, data))

    def _two_cycles_early(self, data: Signal) -> Signal:
        """Return a signal that shows up in `data` two cycles later."""
        first = Signal(data.shape())
        second = Signal(data.shape(), reset_less=True)
        third = Signal(data.shape(), reset_less=True)
        self._m.d.sync += [second.eq(first), third.eq(second)]
        self._m.d.comb += data.eq(third)
        return first

    def _build_return(self, name: str) -> None:
        """Show the returned variable, in `done` too when that is the cycle of its last store."""
        value: Value = Signal(self._plan.memory(name).width_bits, name=f"{name}_value")
        users = self._users[name]
        result = value
        if self._plan.checksum is None and self._plan.regions:
            final = self._plan.regions[-1]
            for number, stream in enumerate(final.streams):
                storer = self._regions[-1].storers[number]
                if stream.store.memory == name and stream.end_cycle >= final.length_cycles:
                    result = Mux(storer.en, storer.data, result)
        users.loads.append(Loader(LoadUser(0), Const(0, 1), Const(1, 1), value))
        self._m.d.comb += self._kernel.return_value.eq(result)

    def _build_memory(self, memory: Memory) -> None:
        m, users = self._m, self._users[memory.name]
        if not (users.loads or users.stores or memory.has_host_port):
            return
        storage = build_storage(
            memory,
            tuple(loader.user for loader in users.loads),
            tuple(storer.user for storer in users.stores),
            is_looked_up=memory.name in self._looked_up,
            may_stand_still=bool(self._plan.stream_memories),
            host_cycles=WINDOW_CYCLES if self._kernel.is_in_block else 1,
        )
        module = self._modules.name(f"{memory.name}_memory")
        prefix_ports(storage, memory.name)
        m.d.comb += storage.idle.eq(self._sequencer.idle)
        if isinstance(storage, DoubledStorage):
            m.d.comb += storage.hosts.eq(self._hosts_copy)
        if isinstance(storage, DoubledStorage) and storage.may_stand_still:
            m.d.comb += storage.moves.eq(self._advance)
            self._doubled[module] = storage
        else:
            m.submodules[module] = storage
        users.connect(m, storage)
        if isinstance(storage, OutsideStorage):
            self._connect_ram(storage)
        if memory.has_host_port:
            self._connect_host(memory.name, storage)
            host_reads = getattr(self._kernel, self._kernel.names.hosts[memory.name].rdata)
            m.d.comb += host_reads.eq(storage.host_rdata)
        elif memory.part is not None and memory.part.is_hosted:
            self._connect_host(memory.part.array, storage)
        for parts in self._tiles.values():
            if memory.name in parts.movers:
                assert self._off_chip is not None, "what is moved goes through a port"
                parts.connect_window(m, memory.name, storage)
                self._off_chip.fill(m, memory.name, storage)

    def _connect_ram(self, storage: OutsideStorage) -> None:
        """Wire the pins of a RAM outside: it is asked for nothing while the kernel stands still."""
        m, kernel, memory = self._m, self._kernel, storage.plan
        rams = kernel.names.rams[memory.name]
        moves = self._advance if self._plan.stream_memories else Const(1)
        ports, _ = external_ports(self._plan, memory)
        pins = {f"ram_read{port}": read for port, read in zip(ports, rams.reads, strict=True)}
        if rams.write is not None:
            pins["ram_write"] = rams.write
        for inner, outer in pins.items():
            addr, en, data = (getattr(kernel, pin) for pin in astuple(outer))
            m.d.comb += [
                addr.eq(getattr(storage, f"{inner}_addr")),
                en.eq(getattr(storage, f"{inner}_en") & moves),
            ]
            word: Signal = getattr(storage, f"{inner}_data")
            m.d.comb += data.eq(word) if inner == "ram_write" else word.eq(data)

    def _connect_host(self, array: str, storage: ArrayStorage) -> None:
        names, kernel = self._kernel.names.hosts[array], self._kernel
        self._m.d.comb += [
            storage.host_addr.eq(getattr(kernel, names.addr)),
            storage.host_en.eq(getattr(kernel, names.en)),
            storage.host_we.eq(getattr(kernel, names.we)),
            storage.host_wdata.eq(getattr(kernel, names.wdata)),
        ]
