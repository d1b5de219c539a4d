"""Control of streams that share their loops: when they issue, addresses, indices and enables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Signature

from rtlgen.hw.control_ports import ControlPorts, FormPort, GuardPort, range_shape, renumbered
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.levels import active_form
from rtlgen.hw.predicates import TRUE
from rtlgen.hw.sites import LoadSite, Sites, sites_of
from rtlgen.ir.plan import AnyBank, InBank, IndexForm, Stream


@dataclass(frozen=True, slots=True)
class ControlledStream:
    """A stream of the group.

    Members
    -------
    name: prefix of its ports. delay_cycles: how much later than the group it issues.
    exclusive: numbers of the loads that are the only users of their memory port.
    begin_stages: of the operations of which it matters when they begin, by number, the stage in
        which that is to be known.
    """

    name: str
    stream: Stream
    delay_cycles: int
    exclusive: frozenset[int]
    begin_stages: Mapping[int, int]


class StreamControl(wiring.Component):
    """Issue the iterations of a group of streams, and say at every stage what they need.

    Parameters
    ----------
    index: the index unit, for the active levels that all the streams have in common.
    rows: of the memories, in a bank; streams have none, and no address.

    Members
    -------
    begin: In(1), starts the iterations, as the index unit takes it.
    and for every stream called S, in the cycle of the stage that uses it:
    S_loadN_MEMORY_addr: row of MEMORY that operation N of S reads; where the element may be in
        several banks, its place. The datapath has the address of a lookup.
    S_loadN_MEMORY_en: it reads; it stays high where reading is harmless and nobody else wants
        the port.
    S_loadN_MEMORY_versionK: whether its element comes from version K, in the cycle in which it
        arrives; where it may come from several.
    S_indexN: the value of index operation N.
    S_tapN_K: whether tap K of forward operation N is taken.
    S_chooseN: whether choice N takes its first operand.
    S_beginN: that operation N begins, where that matters, and its operands are chosen.
    S_store_addr: row that S stores to. S_store_en: it does. S_storeK_addr: row of copy K of what S
        stores. S_storeK_en: it is made. The datapath has the address of a scatter, and whether
        there is a store after all.
    """

    def __init__(
        self,
        streams: tuple[ControlledStream, ...],
        index: IndexUnit,
        rows: Mapping[str, int],
    ) -> None:
        self._ports = ControlPorts(index)
        for member in streams:
            self._add_stream(member, rows)
        super().__init__(Signature({"begin": In(1), **self._ports.members()}))

    def _add_stream(self, member: ControlledStream, rows: Mapping[str, int]) -> None:
        ports, stream, delay = self._ports, member.stream, member.delay_cycles
        levels = stream.levels
        sites: Sites = sites_of(stream)
        for load in sites.loads:
            self._add_load(member, load, rows.get(load.op.memory))
        for index in sites.indices:
            form = active_form(index.op.form, levels)
            shape = range_shape(*form.range(ports.index.extents))
            out = Shape(index.op.width_bits, index.op.signed)
            name, stage = f"{member.name}_{index.name}", index.op.stage + delay
            ports.forms.append(FormPort(name, form, stage, shape, out, index.op.span))
        for tap in sites.taps:
            name, stage = f"{member.name}_{tap.name}", tap.op.stage + delay
            ports.add_guard(name, tap.tap.when, stage, levels, enable=False)
        for choice in sites.choices:
            name, stage = f"{member.name}_{choice.name}", choice.op.stage + delay
            ports.add_guard(name, choice.op.when, stage, levels, enable=False)
        for begin in sites.begins:
            name = f"{member.name}_{begin.name}"
            stage = member.begin_stages[begin.number] + delay
            ports.add_guard(name, begin.op.when, stage, levels, enable=True)
        for site in sites.stores:
            store, name = site.store, f"{member.name}_{site.name}"
            stage = store.stage + delay
            if store.address is not None and store.memory in rows:
                ports.add_address(
                    f"{name}_addr", store.address, stage, rows[store.memory], levels, store.span
                )
            ports.add_guard(f"{name}_en", store.when, stage, levels, enable=True)

    def _add_load(self, member: ControlledStream, load: LoadSite, rows: int | None) -> None:
        ports, levels = self._ports, member.stream.levels
        prefix, stage = f"{member.name}_{load.name}", load.op.stage + member.delay_cycles
        # What is taken from a stream is gone.
        harmless = load.number in member.exclusive and rows is not None
        address = load.op.address
        if address is not None and rows is not None:
            ports.add_address(f"{prefix}_addr", address, stage, rows, levels, load.op.span)
            if isinstance(address, IndexForm | InBank):
                row = address.row if isinstance(address, InBank) else address
                low, high = active_form(row, levels).range(ports.index.extents)
                harmless &= low >= 0 and high < rows
            elif isinstance(address, AnyBank):
                # Past the last element there may be no row, or no bank.
                harmless = False
        guard = TRUE if harmless else renumbered(load.op.needed, levels)
        ports.guards.append(GuardPort(f"{prefix}_en", guard, stage, enable=not harmless))
        for version in load.chosen_versions:
            arrival = load.op.result_stage + member.delay_cycles
            name, chosen = f"{prefix}_version{version}", load.op.versions[version - 1]
            ports.add_guard(name, chosen, arrival, levels, enable=False)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._ports.build(m, self, self.begin)
        return m
