"""Two copies of a memory: a run has one, the host the other."""

from __future__ import annotations

from amaranth.hdl import Const, Elaboratable, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member

from rtlgen.hw.memory import ArrayStorage
from rtlgen.hw.names import prefix_ports
from rtlgen.ir.plan import Memory


class DoubledStorage(ArrayStorage):
    """A memory twice, as its users and the host see it.

    Either copy is wired as if the kernel were idle while it is the host's, and as if it ran while
    it is the kernel's, so that neither side ever waits for the other.

    Members
    -------
    hosts: In(2), a bit for either copy: it is the host's, and the other one the kernel's. They
        change between runs alone.
    host_rdata: Out, what the host read last, in whichever copy that was.
    moves: In(1), the kernel moves on, and so does its copy; where it may stand still.
    the others as of either copy; `idle` is of no use.

    Parameters
    ----------
    copies: of the memory, which may show elements earlier than it does.
    may_stand_still: the kernel does not move on in every cycle of a run. Then it stands outside of
        what is stopped, since the host is not.
    """

    def __init__(
        self,
        plan: Memory,
        copies: tuple[ArrayStorage, ArrayStorage],
        *,
        may_stand_still: bool,
        host_cycles: int = 1,
    ) -> None:
        self._copies = copies
        self.may_stand_still = may_stand_still
        first = copies[0]
        self._early_cycles = plan.read_latency_cycles - first.plan.read_latency_cycles
        super().__init__(plan, first.loads, first.stores, first.is_looked_up, host_cycles)

    def more_members(self) -> dict[str, Member]:
        moves = {"moves": In(1)} if self.may_stand_still else {}
        return {**self._copies[0].more_members(), "hosts": In(2), **moves}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for number, copy in enumerate(self._copies):
            prefix_ports(copy, f"copy_{number}")
            is_hosts = self.hosts[number]
            wired: Elaboratable = copy
            if self.may_stand_still:
                wired = EnableInserter(self.moves | is_hosts)(copy)
            m.submodules[f"copy_{number}"] = wired
            for name, member in copy.signature.members.items():
                inner: Signal = getattr(copy, name)
                if member.flow == In:
                    m.d.comb += inner.eq(self._given(name, is_hosts))
        for name, member in self._copies[0].signature.members.items():
            if member.flow == In:
                continue
            first, second = (getattr(copy, name) for copy in self._copies)
            if name == "host_rdata":
                m.d.comb += self.host_rdata.eq(self._read_last(m, first, second))
            else:
                chosen = Mux(self.hosts[0], second, first)
                m.d.comb += getattr(self, name).eq(self._later(m, chosen, f"{name}_held"))
        return m

    def _later(self, m: Module, element: Value, name: str) -> Value:
        """Return an element when the memory shows it: the copies are told apart before that."""
        for cycle in range(self._early_cycles):
            held = Signal(len(element), name=f"{name}_{cycle}", reset_less=True)
            with m.If(self.moves if self.may_stand_still else Const(1)):
                m.d.sync += held.eq(element)
            element = held
        return element

    def _read_last(self, m: Module, first: Value, second: Value) -> Value:
        """Return what the host read last, whatever the kernel has read there since."""
        reads, from_first = Signal(name="host_has_read"), Signal(name="host_had_first")
        held = Signal(len(self.host_rdata), name="host_held")
        m.d.sync += [reads.eq(self.host_reads), from_first.eq(self.hosts[0])]
        shown = Mux(from_first, first, second)
        with m.If(reads):
            m.d.sync += held.eq(shown)
        return held if self.host_cycles > 1 else Mux(reads, shown, held)

    def _given(self, name: str, is_hosts: Value) -> Value:
        """Return what a copy sees of an input."""
        if name == "idle":
            return is_hosts
        given: Signal = getattr(self, name)
        return given & is_hosts if name == "host_en" else given
