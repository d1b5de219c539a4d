"""The whole circuit of a KernelPlan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Shape, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.bank_places import chosen_wires
from rtlgen.hw.checksum_unit import ChecksumSource, ChecksumUnit
from rtlgen.hw.control import ControlledStream, StreamControl
from rtlgen.hw.datapath import Datapath, kept_name
from rtlgen.hw.groups import Group, groups_of
from rtlgen.hw.held_scalars import HeldScalars
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.memory import BYTE_BITS, ArrayStorage, LoadUser, StoreUser
from rtlgen.hw.memory_kinds import build_storage
from rtlgen.hw.mover import Mover
from rtlgen.hw.names import Namer, PortNames, port_names, prefix_ports
from rtlgen.hw.off_chip import OffChipPort, memory_pins
from rtlgen.hw.sequencer import Phase, Sequencer, event_name
from rtlgen.hw.sites import Sites, sites_of
from rtlgen.hw.tile_parts import TileParts
from rtlgen.hw.turns import ALONE
from rtlgen.ir.crc import CRC_BITS
from rtlgen.ir.cycles import checksum_cycles, region_cycles
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    KernelPlan,
    LoadOp,
    Memory,
    PlanError,
    Region,
    Stream,
    Tap,
    Workers,
    address_bits,
    banks_named,
    regions_of,
)
from rtlgen.ir.ram_copies import banks_read, versions_of


@dataclass(slots=True)
class _Loader:
    """A user that reads a memory, and the signal that is to show the element."""

    user: LoadUser
    addr: Value
    en: Value
    data: Signal
    versions: Mapping[int, Value] = field(default_factory=dict)
    bank: Value | None = None


@dataclass(slots=True)
class _Storer:
    user: StoreUser
    addr: Value
    en: Value
    data: Value
    bank: Value | None = None


@dataclass(slots=True)
class _Users:
    loads: list[_Loader] = field(default_factory=list)
    stores: list[_Storer] = field(default_factory=list)


class Kernel(wiring.Component):
    """start / done / idle around the regions of a plan, and a host port for each visible array.

    Members
    -------
    start: In(1), looked at in idle. done: Out(1), high in the cycle of the last store, or of the
        checksum's last step. idle: Out(1), high while nothing runs.
    scalar arguments: In, by name, captured with start.
    return_value: Out, valid from done until the next start; where the function returns something.
    checksum: Out(64), likewise; where the plan has a checksum.
    NAME_addr, NAME_en, NAME_we, NAME_wdata: In; NAME_rdata: Out, one cycle later; for each array
        that is visible outside.
    the pins of the memory off chip, where arrays are there: see `memory_map`.
    All C names as `names` says: they give way to names that are taken.

    Timing
    ------
    From the edge that sees start to the edge that sees done: `cycles.predicted_cycles(plan)`.

    Raises
    ------
    PlanError: the function's result is not in a register.
    """

    def __init__(self, plan: KernelPlan) -> None:
        self.plan = plan
        self.names: PortNames = port_names(plan)
        if plan.returned is not None and plan.memory(plan.returned).kind != "register":
            raise PlanError(f"the returned {plan.returned} is not in a register")
        members = {"start": In(1), "done": Out(1), "idle": Out(1)}
        for scalar in plan.scalars:
            members[self.names.scalars[scalar.name]] = In(unsigned(scalar.width_bits))
        for memory in plan.memories:
            if memory.has_host_port:
                names = self.names.hosts[memory.name]
                members |= {
                    names.addr: In(address_bits(memory.depth)),
                    names.en: In(1),
                    names.we: In(memory.width_bits // BYTE_BITS),
                    names.wdata: In(memory.width_bits),
                    names.rdata: Out(memory.width_bits),
                }
        if plan.memory_side is not None:
            members |= memory_pins(plan.memory_side)
        if plan.returned is not None:
            members["return_value"] = Out(plan.memory(plan.returned).width_bits)
        if plan.checksum is not None:
            members["checksum"] = Out(CRC_BITS)
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        return _KernelBuilder(self).build()


class _KernelBuilder:
    """Put the parts of a kernel together."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._plan = kernel.plan
        self._m = Module()
        self._modules = Namer(("sequencer", "checksum_unit"))
        self._users = {memory.name: _Users() for memory in kernel.plan.memories}
        self._groups = [groups_of(region) for region in kernel.plan.regions]
        # The part of the body that each region belongs to.
        self._part_of = [n for n, part in enumerate(self._plan.body) for _ in regions_of(part)]
        self._sequencer = Sequencer(self._phases())
        self._tiles: dict[int, TileParts] = {}
        self._off_chip: OffChipPort | None = None
        self._scalars = HeldScalars(kernel.plan)
        self._storers: dict[int, _Storer] = {}
        self._rows = {memory.name: memory.bank_map.rows for memory in kernel.plan.memories}
        self._looked_up = {
            op.memory
            for stream in kernel.plan.streams
            for op in stream.operations
            if isinstance(op, LoadOp) and op.address is None
        }

    def build(self) -> Module:
        m, kernel = self._m, self._kernel
        m.submodules.sequencer = self._sequencer
        m.d.comb += [
            self._sequencer.start.eq(kernel.start),
            kernel.done.eq(self._sequencer.done),
            kernel.idle.eq(self._sequencer.idle),
        ]
        ports = {name: getattr(kernel, port) for name, port in kernel.names.scalars.items()}
        self._scalars.capture(m, self._sequencer.accepted, ports)
        for number, part in enumerate(self._plan.body):
            if isinstance(part, Workers):
                self._build_tiles(number, part)
        if self._plan.memory_side is not None:
            self._build_memory_port()
        for number, region in enumerate(self._plan.regions):
            self._build_region(number, region)
        if self._plan.checksum is not None:
            self._build_checksum(self._plan.checksum)
        if self._plan.returned is not None:
            self._build_return(self._plan.returned)
        for memory in self._plan.memories:
            self._build_memory(memory)
        return m

    def _phases(self) -> tuple[Phase, ...]:
        phases = []
        for number, region in enumerate(self._plan.body):
            if isinstance(region, Workers):
                phases.append(Phase(None, (0,)))
                continue
            groups = self._groups[self._part_of.index(number)]
            events = {self._begin_cycle(group) for group in groups}
            if any(map(region.is_cut, region.streams)):
                events.add(region_cycles(self._plan, region))
            phases.append(Phase(region_cycles(self._plan, region), tuple(sorted(events))))
        if self._plan.checksum is not None:
            phases.append(Phase(checksum_cycles(self._plan), (0,)))
        return tuple(phases)

    def _begin_cycle(self, group: Group) -> int:
        """Return the region cycle that the index unit of `group` starts from."""
        early = self._plan.index_latency_cycles if self._plan.index_style == "divide" else 0
        return group.offset_cycles + self._plan.index_latency_cycles - early

    def _event(self, number: int, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of a region, or of each of its tiles."""
        if number in self._tiles:
            return self._tiles[number].before(cycle)
        return self._phase_event(self._part_of[number], cycle)

    def _phase_event(self, phase: int, cycle: int) -> Signal:
        """Return what is high in the cycle before `cycle` of a phase."""
        event: Signal = getattr(self._sequencer, event_name(phase, cycle))
        return event

    def _build_tiles(self, number: int, workers: Workers) -> None:
        """Build what starts the tiles of workers and moves words for them."""
        assert self._plan.memory_side is not None, "tiles have a memory off chip"
        entered = self._phase_event(number, 0)
        first = self._part_of.index(number)
        built = []
        for n in range(len(workers.regions)):
            cycles = [self._begin_cycle(group) for group in self._groups[first + n]]
            parts = TileParts(workers, n, self._plan.memory_side, cycles)
            parts.build(self._m, self._modules, entered)
            self._tiles[first + n] = parts
            built.append(parts)
        for parts in built:
            parts.connect_waits(self._m, built)
        ended: Value = Cat(parts.ended for parts in built).any()
        working = Cat(parts.working for parts in built).any()
        self._m.d.comb += getattr(self._sequencer, f"ended_{number}").eq(ended & ~working)

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
        self._off_chip = OffChipPort(side, movers, workers, self._kernel)
        self._off_chip.build(self._m, self._modules, self._sequencer.accepted, finished)

    def _build_region(self, number: int, region: Region) -> None:
        names = [self._modules.name(stream.name) for stream in region.streams]
        datapaths = self._build_datapaths(region, names)
        for group in self._groups[number]:
            control = self._build_control(number, region, group, names)
            self._m.d.comb += control.begin.eq(self._event(number, self._begin_cycle(group)))
            for member in group.members:
                self._connect(number, region, names[member], datapaths, member, control)

    def _build_datapaths(self, region: Region, names: Sequence[str]) -> list[Datapath]:
        wanted = [
            {s.stage - stream.store.stage for s in stream.stores if not stream.keeps_loaded(s)}
            for stream in region.streams
        ]
        kept = [
            {(s.value, s.stage) for s in filter(stream.keeps_loaded, stream.copies)}
            for stream in region.streams
        ]
        for stream in region.streams:
            for tap in sites_of(stream).taps:
                if tap.tap.read is None:
                    wanted[tap.tap.stream].add(tap.tap.delay_cycles)
                else:
                    kept[tap.tap.stream].add(_kept_at(region, tap.tap))
        datapaths = []
        for n, (stream, name) in enumerate(zip(region.streams, names, strict=True)):
            shape = Shape(self._plan.memory(stream.store.memory).width_bits)
            delays, others = frozenset(wanted[n]), frozenset(kept[n])
            datapath = Datapath(stream, self._scalars.shapes, shape, delays, others, self._rows)
            prefix_ports(datapath, name)
            self._m.submodules[name] = datapath
            datapaths.append(datapath)
        return datapaths

    def _build_control(
        self, number: int, region: Region, group: Group, names: Sequence[str]
    ) -> StreamControl:
        streams = [region.streams[member] for member in group.members]
        controlled = tuple(
            ControlledStream(
                names[member],
                stream,
                stream.offset_cycles - group.offset_cycles,
                self._exclusive_loads(stream),
            )
            for member, stream in zip(group.members, streams, strict=True)
        )
        first = streams[0]
        index = build_index_unit(
            self._plan.index_style,
            first.levels,
            first.ii,
            self._plan.index_latency_cycles,
            first.tile_levels,
        )
        control = StreamControl(controlled, index, self._rows)
        name = self._modules.name(f"{'_'.join(names[member] for member in group.members)}_control")
        if any(map(region.is_cut, streams)):
            # What it would still issue is padding: it goes back to where the next run begins.
            end = self._event(number, region_cycles(self._plan, region))
            self._m.submodules[name] = ResetInserter(end)(control)
        else:
            self._m.submodules[name] = control
        return control

    def _exclusive_loads(self, stream: Stream) -> frozenset[int]:
        """Return the loads of `stream` that share their memory port with no other load."""
        uses: dict[tuple[str, int, int], int] = {}
        for other in self._plan.streams:
            for load in sites_of(other).loads:
                for key in self._ports_of(load.op):
                    uses[key] = uses.get(key, 0) + 1
        return frozenset(
            load.number
            for load in sites_of(stream).loads
            if all(uses[key] == 1 for key in self._ports_of(load.op))
        )

    def _ports_of(self, op: LoadOp) -> list[tuple[str, int, int]]:
        """Return the read ports, by memory, number and bank, that a load may use."""
        banks = banks_read(op, self._plan.memory(op.memory))
        return [(op.memory, op.port, bank) for bank in banks]

    def _connect(
        self,
        place: int,
        region: Region,
        name: str,
        datapaths: Sequence[Datapath],
        number: int,
        control: StreamControl,
    ) -> None:
        """Wire one stream's datapath to its control, the memories, scalars and other streams.

        Parameters
        ----------
        place: of the region in the plan. number: of the stream in the region.
        """
        m, datapath, stream = self._m, datapaths[number], region.streams[number]
        sites: Sites = sites_of(stream)
        for load in sites.loads:
            prefix = f"{name}_{load.name}"
            en = getattr(control, f"{prefix}_en")
            addr = (
                getattr(datapath, f"{load.name}_addr")
                if load.op.address is None
                else getattr(control, f"{prefix}_addr")
            )
            chosen = {n: getattr(control, f"{prefix}_version{n}") for n in load.chosen_versions}
            banks = banks_read(load.op, self._plan.memory(load.op.memory))
            user = LoadUser(load.op.port, versions_of(load.op), banks)
            addr, bank = _row_and_bank(load.op.address, addr)
            loader = _Loader(user, addr, en, getattr(datapath, load.name), chosen, bank)
            self._users[load.op.memory].loads.append(loader)
        for index in sites.indices:
            m.d.comb += getattr(datapath, index.name).eq(getattr(control, f"{name}_{index.name}"))
        for tap in sites.taps:
            source = datapaths[tap.tap.stream]
            shown = f"stored_{tap.tap.delay_cycles}"
            if tap.tap.read is not None:
                shown = kept_name(*_kept_at(region, tap.tap))
            brought = getattr(source, shown)
            m.d.comb += [
                getattr(datapath, tap.name).eq(getattr(control, f"{name}_{tap.name}")),
                getattr(datapath, f"{tap.name}_value").eq(brought),
            ]
        for scalar in sites.parameters:
            shown = self._scalars.shown_to(m, scalar, self._tiles.get(place))
            m.d.comb += getattr(datapath, f"scalar_{scalar}").eq(shown)
        for choice in sites.choices:
            chosen = getattr(control, f"{name}_{choice.name}")
            m.d.comb += getattr(datapath, choice.name).eq(chosen)
        for site in reversed(sites.stores):
            prefix = f"{name}_{site.name}"
            addr, en = getattr(control, f"{prefix}_addr"), getattr(control, f"{prefix}_en")
            shown = f"stored_{site.store.stage - stream.store.stage}"
            if stream.keeps_loaded(site.store):
                shown = kept_name(site.store.value, site.store.stage)
            data = getattr(datapath, shown)
            writer = StoreUser(site.store.port, banks_named(site.store.address))
            addr, bank = _row_and_bank(site.store.address, addr)
            storer = _Storer(writer, addr, en, data, bank)
            self._users[site.store.memory].stores.append(storer)
            self._storers[id(stream)] = storer

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
            self._users[memory.name].loads.insert(0, _Loader(reader, addr, en, data))

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
            for stream in final.streams:
                storer = self._storers[id(stream)]
                if stream.store.memory == name and stream.end_cycle >= final.length_cycles:
                    result = Mux(storer.en, storer.data, result)
        users.loads.append(_Loader(LoadUser(0), Const(0, 1), Const(1, 1), value))
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
        )
        m.submodules[self._modules.name(f"{memory.name}_memory")] = storage
        prefix_ports(storage, memory.name)
        m.d.comb += storage.idle.eq(self._sequencer.idle)
        for n, loader in enumerate(users.loads):
            m.d.comb += [
                getattr(storage, f"load_{n}_addr").eq(loader.addr),
                getattr(storage, f"load_{n}_en").eq(loader.en),
                loader.data.eq(getattr(storage, f"read_{n}")),
            ]
            m.d.comb += [
                getattr(storage, f"load_{n}_version{version}").eq(chosen)
                for version, chosen in loader.versions.items()
            ]
            if len(loader.user.banks) > 1 and not loader.user.is_at_home:
                m.d.comb += getattr(storage, f"load_{n}_in").eq(loader.bank)
        for n, storer in enumerate(users.stores):
            m.d.comb += [
                getattr(storage, f"store_{n}_addr").eq(storer.addr),
                getattr(storage, f"store_{n}_en").eq(storer.en),
                getattr(storage, f"store_{n}_data").eq(storer.data),
            ]
            if len(storer.user.banks) > 1:
                m.d.comb += getattr(storage, f"store_{n}_in").eq(storer.bank)
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

    def _connect_host(self, array: str, storage: ArrayStorage) -> None:
        names, kernel = self._kernel.names.hosts[array], self._kernel
        self._m.d.comb += [
            storage.host_addr.eq(getattr(kernel, names.addr)),
            storage.host_en.eq(getattr(kernel, names.en)),
            storage.host_we.eq(getattr(kernel, names.we)),
            storage.host_wdata.eq(getattr(kernel, names.wdata)),
        ]


def _kept_at(region: Region, tap: Tap) -> tuple[int, int]:
    """Return the operation that a tap takes the value of, and the stage in which it does."""
    source = region.streams[tap.stream]
    number = source.tapped(tap)
    return number, source.operations[number].result_stage + tap.delay_cycles


def _row_and_bank(address: Address | None, shown: Value) -> tuple[Value, Value | None]:
    """Return the row, and the bank where there are several, of an address that control shows."""
    if isinstance(address, AnyBank):
        return chosen_wires(shown, address.row_bits), chosen_wires(shown, address.bank_bits)
    return shown, None
