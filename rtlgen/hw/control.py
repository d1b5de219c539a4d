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
from rtlgen.hw.predicates import TRUE, form_range
from rtlgen.hw.sites import LoadSite, Sites, sites_of
from rtlgen.ir.plan import FoldedForm, Stream


@dataclass(frozen=True, slots=True)
class ControlledStream:
    """A stream of the group.

    Members
    -------
    name: prefix of its ports. delay_cycles: how much later than the group it issues.
    exclusive: numbers of the loads that are the only users of their memory port.
    """

    name: str
    stream: Stream
    delay_cycles: int
    exclusive: frozenset[int]


class StreamControl(wiring.Component):
    """Issue the iterations of a group of streams, and say at every stage what they need.

    Parameters
    ----------
    index: the index unit, for the active levels that all the streams have in common.
    depths: of the memories, in elements.

    Members
    -------
    begin: In(1), as the index unit takes it.
    and for every stream called S, in the cycle of the stage that uses it:
    S_loadN_MEMORY_addr, S_loadN_MEMORY_en: of operation N; `en` stays high where reading is
        harmless and nobody else wants the port. The datapath has the address of a lookup.
    S_loadN_MEMORY_bankK: whether its element comes from bank K, in the cycle in which it arrives;
        where it may come from several banks.
    S_indexN: the value of index operation N.
    S_tapN_K: whether tap K of forward operation N is taken.
    S_chooseN: whether choice N takes its first operand.
    S_store_addr, S_store_en: of the store; S_storeK_addr, S_storeK_en: of copy K of it.
    """

    def __init__(
        self,
        streams: tuple[ControlledStream, ...],
        index: IndexUnit,
        depths: Mapping[str, int],
    ) -> None:
        self._ports = ControlPorts(index)
        for member in streams:
            self._add_stream(member, depths)
        super().__init__(Signature({"begin": In(1), **self._ports.members()}))

    def _add_stream(self, member: ControlledStream, depths: Mapping[str, int]) -> None:
        ports, stream, delay = self._ports, member.stream, member.delay_cycles
        levels = stream.levels
        sites: Sites = sites_of(stream)
        for load in sites.loads:
            self._add_load(member, load, depths[load.op.memory])
        for index in sites.indices:
            form = active_form(index.op.form, levels)
            shape = range_shape(*form_range(form, ports.index.extents))
            out = Shape(index.op.width_bits, index.op.signed)
            name, stage = f"{member.name}_{index.name}", index.op.stage + delay
            ports.forms.append(FormPort(name, form, stage, shape, out, index.op.span))
        for tap in sites.taps:
            name, stage = f"{member.name}_{tap.name}", tap.op.stage + delay
            ports.add_guard(name, tap.tap.when, stage, levels, enable=False)
        for choice in sites.choices:
            name, stage = f"{member.name}_{choice.name}", choice.op.stage + delay
            ports.add_guard(name, choice.op.when, stage, levels, enable=False)
        for site in sites.stores:
            store, name = site.store, f"{member.name}_{site.name}"
            stage, depth = store.stage + delay, depths[store.memory]
            ports.add_address(f"{name}_addr", store.address, stage, depth, levels, store.span)
            ports.add_guard(f"{name}_en", store.when, stage, levels, enable=True)

    def _add_load(self, member: ControlledStream, load: LoadSite, depth: int) -> None:
        ports, levels = self._ports, member.stream.levels
        prefix, stage = f"{member.name}_{load.name}", load.op.stage + member.delay_cycles
        harmless = load.number in member.exclusive
        address = load.op.address
        if address is not None:
            ports.add_address(f"{prefix}_addr", address, stage, depth, levels, load.op.span)
            if not isinstance(address, FoldedForm):
                low, high = form_range(active_form(address, levels), ports.index.extents)
                harmless &= low >= 0 and high < depth
        guard = TRUE if harmless else renumbered(load.op.needed, levels)
        ports.guards.append(GuardPort(f"{prefix}_en", guard, stage, enable=not harmless))
        for bank in load.chosen_banks:
            arrival = load.op.result_stage + member.delay_cycles
            name, chosen = f"{prefix}_bank{bank}", load.op.banks[bank - 1]
            ports.add_guard(name, chosen, arrival, levels, enable=False)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._ports.build(m, self, self.begin)
        return m
