"""The circuit of one region: a datapath for each stream, their controls, and where they issue.

Where a circuit shows that the streams of its plan issue: what the readers of waves look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from amaranth.hdl import Const, Module, ResetInserter, Shape, Signal, Value

from rtlgen.hw.control import ControlledStream, StreamControl
from rtlgen.hw.datapath import Datapath, kept_name
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.levels import Group, groups_of
from rtlgen.hw.memory import Loader, LoadUser, MemoryUsers, Storer, StoreUser, row_and_bank
from rtlgen.hw.names import Namer, prefix_ports
from rtlgen.hw.operators import OPERANDS, SharedUnit
from rtlgen.hw.sites import LoadSite, StoreSite, TapSite, sites_of
from rtlgen.ir.block_rams import banks_read, versions_of
from rtlgen.ir.cycles import region_cycles
from rtlgen.ir.functional_units import FunctionalUnit, choosing_stage
from rtlgen.ir.issued_instances import IssuePoint
from rtlgen.ir.plan import KernelPlan, LoadOp, Region, Stream, Tap, banks_named

OWN_NAMES = ("sequencer", "checksum_unit")
"""Modules that every kernel may have."""


@dataclass(frozen=True, slots=True)
class RegionNames:
    """Names of the modules of a region: of its streams, and of the controls of its groups."""

    streams: tuple[str, ...]
    controls: tuple[str, ...]


def region_names(plan: KernelPlan, names: Namer) -> tuple[RegionNames, ...]:
    """Name the modules of the regions of a plan."""
    found = []
    for region in plan.regions:
        streams = tuple(names.name(stream.name) for stream in region.streams)
        controls = tuple(
            names.name(f"{'_'.join(streams[member] for member in group.members)}_control")
            for group in groups_of(region)
        )
        found.append(RegionNames(streams, controls))
    return tuple(found)


def begin_cycle(plan: KernelPlan, group: Group) -> int:
    """Return the region cycle that the index unit of a group starts from."""
    return group.offset_cycles + plan.index_latency_cycles - _early_cycles(plan)


def _early_cycles(plan: KernelPlan) -> int:
    """Return how long before its first iteration an index unit starts."""
    return plan.index_latency_cycles if plan.index_style == "divide" else 0


def issue_points(plan: KernelPlan) -> tuple[IssuePoint, ...]:
    """Return where each stream of a plan issues, in order."""
    found = []
    for region, names in zip(plan.regions, region_names(plan, Namer(OWN_NAMES)), strict=True):
        points = {}
        for group, control in zip(groups_of(region), names.controls, strict=True):
            for member in group.members:
                stream = region.streams[member]
                late = stream.offset_cycles - group.offset_cycles
                extents = [level.extent for level in stream.levels]
                counted = tuple(n for n, extent in enumerate(extents) if extent > 1)
                points[member] = IssuePoint(
                    names.streams[member], control, 1 + _early_cycles(plan) + late, late, counted
                )
        found += [points[member] for member in range(len(region.streams))]
    return tuple(found)


ReadPort: TypeAlias = tuple[str, int, int]
"""A read port, by memory, number and bank."""


class RegionParts:
    """The parts of a region.

    Parameters
    ----------
    scalars: shapes of the scalar arguments. port_uses: see the function.
    units: the functional units that operations share, by number. first_stream: how many streams of
        the plan are in regions before this one. names: of its modules.

    Members
    -------
    begins: cycles of the region in the cycle before which its controls begin.
    storers: of each stream, by number, what writes its own store; once it is built.
    """

    def __init__(
        self,
        plan: KernelPlan,
        region: Region,
        scalars: Mapping[str, Shape],
        port_uses: Mapping[ReadPort, int],
        units: Mapping[int, FunctionalUnit],
        first_stream: int,
        names: RegionNames,
    ) -> None:
        self._plan = plan
        self._units = units
        self._first_stream = first_stream
        self._region = region
        self._shapes = scalars
        self._port_uses = port_uses
        self._groups = groups_of(region)
        self._names = names
        # A stream has no addresses.
        self._rows = {m.name: m.bank_map.rows for m in plan.memories if not m.is_stream}
        self.storers: dict[int, Storer] = {}

    @property
    def begins(self) -> tuple[int, ...]:
        return tuple(begin_cycle(self._plan, group) for group in self._groups)

    @property
    def is_cut(self) -> bool:
        """Whether some stream would go on after the end of the region."""
        return any(map(self._region.is_cut, self._region.streams))

    def build(
        self,
        m: Module,
        event: Callable[[int], Signal],
        scalar: Callable[[str], Signal],
        users: Mapping[str, MemoryUsers],
        shared: Mapping[int, SharedUnit],
    ) -> None:
        """Add the parts to a module.

        Parameters
        ----------
        event: returns what is high in the cycle before one of the region's. scalar: returns what
            shows an argument. users: by memory; those of the region are added to them.
        shared: the circuits of the units.
        """
        names = self._names.streams
        datapaths = self._build_datapaths(m, names)
        for group, control_name in zip(self._groups, self._names.controls, strict=True):
            control = self._build_control(m, control_name, group, names, event)
            m.d.comb += control.begin.eq(event(begin_cycle(self._plan, group)))
            for member in group.members:
                self._connect(m, names[member], datapaths, member, control, scalar)
                self._connect_units(m, names[member], datapaths[member], member, control, shared)
                self._add_users(names[member], datapaths[member], member, control, users)

    def _build_datapaths(self, m: Module, names: Sequence[str]) -> list[Datapath]:
        streams = self._region.streams
        wanted = [
            {s.stage - stream.store.stage for s in stream.stores if not stream.keeps_loaded(s)}
            for stream in streams
        ]
        kept = [
            {(s.value, s.stage) for s in filter(stream.keeps_loaded, stream.copies)}
            for stream in streams
        ]
        for stream in streams:
            for tap in sites_of(stream).taps:
                if tap.tap.read is None:
                    wanted[tap.tap.stream].add(tap.tap.delay_cycles)
                else:
                    kept[tap.tap.stream].add(self._kept_at(tap.tap))
        datapaths = []
        for n, (stream, name) in enumerate(zip(streams, names, strict=True)):
            shape = Shape(self._plan.memory(stream.store.memory).width_bits)
            delays, others = frozenset(wanted[n]), frozenset(kept[n])
            datapath = Datapath(
                stream, self._shapes, shape, delays, others, self._rows, self._units
            )
            prefix_ports(datapath, name)
            m.submodules[name] = datapath
            datapaths.append(datapath)
        return datapaths

    def _build_control(
        self,
        m: Module,
        name: str,
        group: Group,
        names: Sequence[str],
        event: Callable[[int], Signal],
    ) -> StreamControl:
        plan = self._plan
        streams = [self._region.streams[member] for member in group.members]
        controlled = tuple(
            ControlledStream(
                names[member],
                stream,
                stream.offset_cycles - group.offset_cycles,
                self._exclusive_loads(stream),
                {
                    begin.number: choosing_stage(begin.op, self._units)
                    for begin in sites_of(stream).begins
                },
            )
            for member, stream in zip(group.members, streams, strict=True)
        )
        first = streams[0]
        index = build_index_unit(
            plan.index_style, first.levels, first.ii, plan.index_latency_cycles, first.tile_levels
        )
        control = StreamControl(controlled, index, self._rows)
        if any(map(self._region.is_cut, streams)):
            # What it would still issue is padding: it goes back to where the next run begins.
            end = event(region_cycles(plan, self._region))
            m.submodules[name] = ResetInserter(end)(control)
        else:
            m.submodules[name] = control
        return control

    def _exclusive_loads(self, stream: Stream) -> frozenset[int]:
        """Return the loads of `stream` that share their memory port with no other load."""
        return frozenset(
            load.number
            for load in sites_of(stream).loads
            if all(self._port_uses[port] == 1 for port in _ports_of(self._plan, load.op))
        )

    def _connect(
        self,
        m: Module,
        name: str,
        datapaths: Sequence[Datapath],
        number: int,
        control: StreamControl,
        scalar: Callable[[str], Signal],
    ) -> None:
        """Wire one stream's datapath to its control, scalars and other streams."""
        datapath, sites = datapaths[number], sites_of(self._region.streams[number])
        for index in sites.indices:
            m.d.comb += getattr(datapath, index.name).eq(getattr(control, f"{name}_{index.name}"))
        if sites.matches:
            m.d.comb += datapath.store_en.eq(getattr(control, f"{name}_{sites.stores[0].name}_en"))
        for tap in sites.taps:
            brought = getattr(datapaths[tap.tap.stream], self._shown_to(tap))
            m.d.comb += [
                getattr(datapath, tap.name).eq(getattr(control, f"{name}_{tap.name}")),
                getattr(datapath, f"{tap.name}_value").eq(brought),
            ]
        for parameter in sites.parameters:
            m.d.comb += getattr(datapath, f"scalar_{parameter}").eq(scalar(parameter))
        for choice in sites.choices:
            chosen = getattr(control, f"{name}_{choice.name}")
            m.d.comb += getattr(datapath, choice.name).eq(chosen)
        for begin in sites.begins:
            if begin.op.unit is None:
                begins = getattr(control, f"{name}_{begin.name}")
                m.d.comb += getattr(datapath, begin.name).eq(begins)

    def _connect_units(
        self,
        m: Module,
        name: str,
        datapath: Datapath,
        number: int,
        control: StreamControl,
        shared: Mapping[int, SharedUnit],
    ) -> None:
        """Wire what one stream computes in units that it shares to these."""
        for begin in sites_of(self._region.streams[number]).begins:
            if begin.op.unit is None:
                continue
            unit, place = shared[begin.op.unit], (self._first_stream + number, begin.number)
            users = [(u.stream, u.number) for u in self._units[begin.op.unit].users]
            user = users.index(place)
            m.d.comb += getattr(datapath, f"result{begin.number}").eq(unit.result)
            if user not in self._units[begin.op.unit].leaders:
                continue
            m.d.comb += getattr(unit, f"begin{user}").eq(getattr(control, f"{name}_{begin.name}"))
            m.d.comb += [
                getattr(unit, f"{side}{user}").eq(getattr(datapath, f"{side}{begin.number}"))
                for side, _ in zip(OPERANDS, begin.op.operands, strict=False)
            ]

    def _add_users(
        self,
        name: str,
        datapath: Datapath,
        number: int,
        control: StreamControl,
        users: Mapping[str, MemoryUsers],
    ) -> None:
        """Add what one stream reads and writes to the users of the memories."""
        stream = self._region.streams[number]
        sites = sites_of(stream)
        for load in sites.loads:
            users[load.op.memory].loads.append(self._loader(name, datapath, load, control))
        for site in reversed(sites.stores):
            storer = self._storer(name, datapath, stream, site, control)
            users[site.store.memory].stores.append(storer)
            self.storers[number] = storer

    def _loader(
        self, name: str, datapath: Datapath, load: LoadSite, control: StreamControl
    ) -> Loader:
        prefix = f"{name}_{load.name}"
        shown: Value = Const(0)
        if load.op.address is None:
            shown = getattr(datapath, f"{load.name}_addr")
        elif load.op.memory in self._rows:
            shown = getattr(control, f"{prefix}_addr")
        addr, bank = row_and_bank(load.op.address, shown)
        banks = banks_read(load.op, self._plan.memory(load.op.memory))
        return Loader(
            LoadUser(load.op.port, versions_of(load.op), banks),
            addr,
            getattr(control, f"{prefix}_en"),
            getattr(datapath, load.name),
            {n: getattr(control, f"{prefix}_version{n}") for n in load.chosen_versions},
            bank,
        )

    def _storer(
        self,
        name: str,
        datapath: Datapath,
        stream: Stream,
        site: StoreSite,
        control: StreamControl,
    ) -> Storer:
        prefix = f"{name}_{site.name}"
        shown = f"stored_{site.store.stage - stream.store.stage}"
        if stream.keeps_loaded(site.store):
            shown = kept_name(site.store.value, site.store.stage)
        store, en = site.store, getattr(control, f"{prefix}_en")
        number: Value = Const(0)
        value: Signal = getattr(datapath, shown)
        if store.address is None:
            user, scattered = StoreUser(store.port, (0,)), en & datapath.stored_en
            return Storer(user, datapath.stored_addr, scattered, value)
        if store.memory in self._rows:
            number = getattr(control, f"{prefix}_addr")
        addr, bank = row_and_bank(store.address, number)
        return Storer(StoreUser(store.port, banks_named(store.address)), addr, en, value, bank)

    def _shown_to(self, tap: TapSite) -> str:
        """Return the port at which another stream's datapath shows what a tap takes."""
        if tap.tap.read is None:
            return f"stored_{tap.tap.delay_cycles}"
        return kept_name(*self._kept_at(tap.tap))

    def _kept_at(self, tap: Tap) -> tuple[int, int]:
        """Return the operation that a tap takes the value of, and the stage in which it does."""
        source = self._region.streams[tap.stream]
        number = source.tapped(tap)
        return number, source.operations[number].result_stage + tap.delay_cycles


def port_uses(plan: KernelPlan) -> Counter[ReadPort]:
    """Return how many loads of a plan may use each read port."""
    every = (load.op for stream in plan.streams for load in sites_of(stream).loads)
    return Counter(port for op in every for port in _ports_of(plan, op))


def _ports_of(plan: KernelPlan, op: LoadOp) -> Iterator[ReadPort]:
    """Yield the read ports that a load may use."""
    for bank in banks_read(op, plan.memory(op.memory)):
        yield op.memory, op.port, bank
