"""Storage of one array: its RAM copies or flip-flops, who reads, who writes, and the host."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.ir.plan import Memory, MemoryKind, address_bits

BYTE_BITS = 8


@dataclass(frozen=True, slots=True)
class Write:
    """What the write port of a memory does in a cycle; `lanes` has one bit a byte."""

    lanes: Value
    addr: Value
    data: Value


class ArrayStorage(wiring.Component):
    """One memory of the plan, as its users see it.

    Parameters
    ----------
    load_ports: for each user that reads, the read port it uses. stores: number of users that write.
    is_looked_up: whether some user computes its addresses, which may then be anything.

    Members
    -------
    idle: In(1). The host has the memory while it is high, the users while it is low.
    load_N_addr, load_N_en: In, of user N. At most one user enables a port in a cycle.
    read_N: Out, the element that user N asked for: two cycles later from a block RAM, in the same
        cycle from flip-flops.
    store_N_addr, store_N_en, store_N_data: In, of user N; at most one enable in a cycle.
    host_addr, host_en, host_we, host_wdata: In; host_rdata: Out, in the cycle after `host_en`. Only
        where the memory has a host port.
    """

    def __init__(
        self, plan: Memory, load_ports: tuple[int, ...], stores: int, is_looked_up: bool
    ) -> None:
        self.plan = plan
        self.load_ports = load_ports
        self.stores = stores
        self.is_looked_up = is_looked_up
        addr = unsigned(address_bits(plan.depth))
        word = unsigned(plan.width_bits)
        members = {"idle": In(1)}
        for n in range(len(load_ports)):
            members |= {f"load_{n}_addr": In(addr), f"load_{n}_en": In(1), f"read_{n}": Out(word)}
        for n in range(stores):
            members |= {f"store_{n}_addr": In(addr), f"store_{n}_en": In(1)}
            members |= {f"store_{n}_data": In(word)}
        if plan.has_host_port:
            members |= {"host_addr": In(addr), "host_en": In(1), "host_wdata": In(word)}
            members |= {"host_we": In(unsigned(plan.width_bits // BYTE_BITS))}
            members |= {"host_rdata": Out(word)}
        super().__init__(Signature(members))

    @abstractmethod
    def elaborate(self, platform: object) -> Module: ...

    def load(self, user: int, what: str) -> Signal:
        """Return the port `addr` or `en` of a reading user."""
        signal: Signal = getattr(self, f"load_{user}_{what}")
        return signal

    def write(self) -> Write:
        """Return what is written: the host's word in idle, else that of the user that stores."""
        lanes = self.plan.width_bits // BYTE_BITS
        none = Write(Const(0, lanes), Const(0, address_bits(self.plan.depth)), Const(0, 1))
        writes = [
            Write(
                getattr(self, f"store_{n}_en").replicate(lanes),
                getattr(self, f"store_{n}_addr"),
                getattr(self, f"store_{n}_data"),
            )
            for n in range(self.stores)
        ]
        users = _first_of(writes) if writes else none
        if not self.plan.has_host_port:
            return users
        host = Write(
            Mux(self.idle & self.host_en, self.host_we, 0), self.host_addr, self.host_wdata
        )
        if not writes:
            return host
        return Write(
            Mux(self.idle, host.lanes, users.lanes),
            Mux(self.idle, host.addr, users.addr),
            Mux(self.idle, host.data, users.data),
        )


class BlockStorage(ArrayStorage):
    """Block RAM: one copy for each read port, all written together.

    Without a proof that no read meets a write of its element (`Memory.collision_free`) the RAM
    returns the old element, which costs logic on families whose block RAM does not.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        write = self.write()
        for port in range(self.plan.read_ports):
            users = [n for n, used in enumerate(self.load_ports) if used == port]
            is_host = self.plan.has_host_port and port == 0
            if users or is_host:
                self._build_copy(m, port, users, is_host, write)
        return m

    def _build_copy(
        self, m: Module, port: int, users: Sequence[int], is_host: bool, write: Write
    ) -> None:
        attributes: dict[str, str | int] = {"ram_style": "block"}
        if self.plan.collision_free:
            attributes["no_rw_check"] = 1
        # The number that a lookup computes and does not use may be past the last element.
        depth = 1 << address_bits(self.plan.depth) if self.is_looked_up else self.plan.depth
        ram = Ram(shape=self.plan.width_bits, depth=max(2, depth), init=[], attrs=attributes)
        m.submodules[f"ram_{port}"] = ram
        write_port = ram.write_port(granularity=BYTE_BITS)
        read_port = ram.read_port()
        m.d.comb += [
            write_port.en.eq(write.lanes),
            write_port.addr.eq(write.addr),
            write_port.data.eq(write.data),
        ]
        addr: Value = Const(0, len(read_port.addr))
        en: Value = Const(0, 1)
        if users:
            addr, en = _first_load([(self.load(n, "addr"), self.load(n, "en")) for n in users])
            register = Signal(self.plan.width_bits, name=f"element_{port}", reset_less=True)
            m.d.sync += register.eq(read_port.data)
            m.d.comb += [getattr(self, f"read_{n}").eq(register) for n in users]
        if is_host:
            addr = Mux(self.idle, self.host_addr, addr) if users else self.host_addr
            en = Mux(self.idle, self.host_en, en)
            m.d.comb += self.host_rdata.eq(read_port.data)
        m.d.comb += [read_port.addr.eq(addr), read_port.en.eq(en)]


class RomStorage(ArrayStorage):
    """Constants: one copy for each read port, as large as its addresses reach.

    A small table is logic: it shows the element in the cycle of the address.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for port in range(self.plan.read_ports):
            users = [n for n, used in enumerate(self.load_ports) if used == port]
            if not users:
                continue
            rom = Ram(
                shape=self.plan.width_bits,
                depth=1 << address_bits(self.plan.depth),
                init=[value % (1 << self.plan.width_bits) for value in self.plan.values],
                attrs={"rom_style": "block"} if self.plan.is_block_ram else {},
            )
            m.submodules[f"rom_{port}"] = rom
            addr, en = _first_load([(self.load(n, "addr"), self.load(n, "en")) for n in users])
            if self.plan.is_block_ram:
                read_port = rom.read_port()
                m.d.comb += read_port.en.eq(en)
                element = Signal(self.plan.width_bits, name=f"element_{port}", reset_less=True)
                m.d.sync += element.eq(read_port.data)
            else:
                read_port = rom.read_port(domain="comb")
                element = read_port.data
            m.d.comb += read_port.addr.eq(addr)
            m.d.comb += [getattr(self, f"read_{n}").eq(element) for n in users]
        return m


class RegisterStorage(ArrayStorage):
    """Flip-flops, read in the cycle of the address by any number of users.

    A reset clears them: a host that has not driven its ports yet must leave nothing undefined.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = [Signal(self.plan.width_bits, name=f"word_{n}") for n in range(self.plan.depth)]
        write = self.write()
        for n, word in enumerate(words):
            with m.If(write.addr == n if len(words) > 1 else Const(1)):
                for lane, enabled in enumerate(write.lanes):
                    bits = slice(lane * BYTE_BITS, (lane + 1) * BYTE_BITS)
                    with m.If(enabled):
                        m.d.sync += word[bits].eq(write.data[bits])
        for n in range(len(self.load_ports)):
            value = self._element(words, self.load(n, "addr"))
            m.d.comb += getattr(self, f"read_{n}").eq(value)
        if self.plan.has_host_port:
            self._build_host_read(m, words)
        return m

    def _element(self, words: Sequence[Value], addr: Value) -> Value:
        """Return words[addr], chosen by a tree of multiplexers from the lowest address bit up."""
        if len(words) == 1:
            return words[0]
        pairs = [Mux(addr[0], b, a) for a, b in zip(words[::2], words[1::2], strict=False)]
        return self._element([*pairs, *words[2 * len(pairs) :]], addr[1:])

    def _build_host_read(self, m: Module, words: Sequence[Signal]) -> None:
        if len(words) == 1:
            # The word itself holds still whenever the host may look.
            m.d.comb += self.host_rdata.eq(words[0])
            return
        held = Signal(self.plan.width_bits, name="host_element", reset_less=True)
        with m.If(self.idle & self.host_en):
            m.d.sync += held.eq(self._element(words, self.host_addr))
        m.d.comb += self.host_rdata.eq(held)


_KINDS: dict[MemoryKind, type[ArrayStorage]] = {
    "block": BlockStorage,
    "register": RegisterStorage,
    "rom": RomStorage,
}


def build_storage(
    plan: Memory, load_ports: tuple[int, ...], stores: int, *, is_looked_up: bool = False
) -> ArrayStorage:
    """Return the storage for a memory of the plan.

    Parameters
    ----------
    is_looked_up: whether some user computes its addresses.
    """
    return _KINDS[plan.kind](plan, load_ports, stores, is_looked_up)


def _first_load(loads: Sequence[tuple[Signal, Signal]]) -> tuple[Value, Value]:
    """Return (address, enable) of whichever user enables its load."""
    addr: Value = loads[-1][0]
    for other, enable in reversed(loads[:-1]):
        addr = Mux(enable, other, addr)
    return addr, reduce(or_, [enable for _, enable in loads])


def _first_of(writes: Sequence[Write]) -> Write:
    """Return the write of whichever user stores."""
    chosen = writes[-1]
    for write in reversed(writes[:-1]):
        taken = write.lanes[0]
        chosen = Write(
            write.lanes | chosen.lanes,
            Mux(taken, write.addr, chosen.addr),
            Mux(taken, write.data, chosen.data),
        )
    return chosen
