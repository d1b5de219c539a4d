"""Storage of one array: its RAM copies or flip-flops, who reads, who writes, and the host."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.ir.plan import Memory, address_bits

BYTE_BITS = 8

RAM_CYCLES = 1
"""From the address of a block RAM to its element, its output register not counted."""


@dataclass(frozen=True, slots=True)
class Write:
    """What the write port of a memory does in a cycle; `lanes` has one bit a byte."""

    lanes: Value
    addr: Value
    data: Value


@dataclass(frozen=True, slots=True)
class LoadUser:
    """A user that reads.

    Members
    -------
    port: the read port that it uses. banks: those that it may read, in order.
    is_at_home: whether it reads every element in its home, once all stores are made.
    """

    port: int
    banks: tuple[int, ...] = (0,)
    is_at_home: bool = False

    @property
    def chosen_banks(self) -> tuple[int, ...]:
        """The banks that it asks for by a signal; else it reads the first."""
        return () if self.is_at_home else self.banks[1:]


class ArrayStorage(wiring.Component):
    """One memory of the plan, as its users see it.

    Parameters
    ----------
    loads: the users that read. stores: for each user that writes, the write port it uses.
    is_looked_up: whether some user computes its addresses, which may then be anything.

    Members
    -------
    idle: In(1). The host has the memory while it is high, the users while it is low.
    load_N_addr, load_N_en: In, of user N. At most one user enables a port in a cycle.
    read_N: Out, the element that user N asked for: `read_latency_cycles` later.
    load_N_bankK: In(1), in the cycle of read_N, of a user that may read several banks: take bank K.
    store_N_addr, store_N_en, store_N_data: In, of user N; at most one enable a port in a cycle.
    host_addr, host_en, host_we, host_wdata: In; host_rdata: Out, in the cycle after a `host_en`
        without `host_we`. Only where the memory has a host port.
    """

    def __init__(
        self,
        plan: Memory,
        loads: tuple[LoadUser, ...],
        stores: tuple[int, ...],
        is_looked_up: bool,
    ) -> None:
        self.plan = plan
        self.loads = loads
        self.stores = stores
        self.is_looked_up = is_looked_up
        addr = unsigned(address_bits(plan.depth))
        word = unsigned(plan.width_bits)
        members = {"idle": In(1)}
        for n, user in enumerate(loads):
            members |= {f"load_{n}_addr": In(addr), f"load_{n}_en": In(1), f"read_{n}": Out(word)}
            members |= {f"load_{n}_bank{bank}": In(1) for bank in user.chosen_banks}
        for n in range(len(stores)):
            members |= {f"store_{n}_addr": In(addr), f"store_{n}_en": In(1)}
            members |= {f"store_{n}_data": In(word)}
        if plan.has_host_port:
            members |= {"host_addr": In(addr), "host_en": In(1), "host_wdata": In(word)}
            members |= {"host_we": In(unsigned(plan.width_bits // BYTE_BITS))}
            members |= {"host_rdata": Out(word)}
        super().__init__(Signature(members | self.more_members()))

    def more_members(self) -> dict[str, Member]:
        """Return the ports that a kind has besides."""
        return {}

    @abstractmethod
    def elaborate(self, platform: object) -> Module: ...

    def load(self, user: int, what: str) -> Signal:
        """Return the port `addr`, `en` or `bankK` of a reading user."""
        signal: Signal = getattr(self, f"load_{user}_{what}")
        return signal

    @property
    def host_reads(self) -> Value:
        """Whether the host reads: a write leaves what it read last, so that the two never meet.

        A RAM that is read and written at one address in one cycle shows the old word in Verilog
        and, without its collision logic, anything on the device.
        """
        return self.host_en & ~self.host_we.any()

    def write(self, port: int) -> Write:
        """Return what a port writes: the host's word in idle, else that of the user that stores."""
        lanes = self.plan.width_bits // BYTE_BITS
        none = Write(Const(0, lanes), Const(0, address_bits(self.plan.depth)), Const(0, 1))
        writes = [
            Write(
                getattr(self, f"store_{n}_en").replicate(lanes),
                getattr(self, f"store_{n}_addr"),
                getattr(self, f"store_{n}_data"),
            )
            for n, used in enumerate(self.stores)
            if used == port
        ]
        users = first_of(writes) if writes else none
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
    """Block RAM: a bank for each write port, one copy of it for each port that it is read through.

    The copies of a bank are written together. The host writes all banks, and finds the element in
    its home, which a table tells where not all homes are in one bank.

    Without a proof that no read meets a write of its element (`Memory.collision_free`) the RAM
    returns the old element, which costs logic on families whose block RAM does not.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shown: dict[int, Value] = {}
        elements: dict[tuple[int, int], Value] = {}
        for bank in range(self.plan.write_ports):
            write = self.write(bank)
            for port in range(self.plan.read_ports):
                users = self._users(bank, port)
                is_host = self._is_host(bank, port)
                if not users and not is_host:
                    continue
                data = self._build_copy(m, (bank, port), users, is_host, write)
                if is_host:
                    shown[bank] = data
                if users:
                    name = f"element_{self._copy_name(bank, port)}"
                    cycles = self.plan.read_latency_cycles - RAM_CYCLES
                    elements[bank, port] = registered(m, data, cycles, name)
        self._build_reads(m, elements, shown)
        return m

    def _users(self, bank: int, port: int) -> list[int]:
        return [n for n, u in enumerate(self.loads) if u.port == port and bank in u.banks]

    def _is_host(self, bank: int, port: int) -> bool:
        return self.plan.has_host_port and port == 0 and bank in self.plan.home_banks

    def _copy_name(self, bank: int, port: int) -> str:
        return f"{bank}_{port}" if self.plan.write_ports > 1 else str(port)

    def _build_copy(
        self, m: Module, place: tuple[int, int], users: Sequence[int], is_host: bool, write: Write
    ) -> Signal:
        """Build the RAM of a (bank, port); return the element that it shows."""
        attributes: dict[str, str | int] = {"ram_style": "block"}
        if self.plan.collision_free:
            attributes["no_rw_check"] = 1
        # The number that a lookup computes and does not use may be past the last element.
        depth = 1 << address_bits(self.plan.depth) if self.is_looked_up else self.plan.depth
        ram = Ram(shape=self.plan.width_bits, depth=max(2, depth), init=[], attrs=attributes)
        m.submodules[f"ram_{self._copy_name(*place)}"] = ram
        write_port = ram.write_port(granularity=BYTE_BITS)
        read_port = ram.read_port()
        m.d.comb += [
            write_port.en.eq(write.lanes),
            write_port.addr.eq(write.addr),
            write_port.data.eq(write.data),
        ]
        addr, en = self._read_request(users, is_host)
        m.d.comb += [read_port.addr.eq(addr), read_port.en.eq(en)]
        data: Signal = read_port.data
        return data

    def _read_request(self, users: Sequence[int], is_host: bool) -> tuple[Value, Value]:
        """Return (address, enable) of whoever reads: the host in idle, else one of the users."""
        addr: Value = Const(0, address_bits(self.plan.depth))
        en: Value = Const(0, 1)
        if users:
            addr, en = first_load([(self.load(n, "addr"), self.load(n, "en")) for n in users])
        if is_host:
            addr = Mux(self.idle, self.host_addr, addr) if users else self.host_addr
            en = Mux(self.idle, self.host_reads, en)
        return addr, en

    def _build_reads(
        self,
        m: Module,
        elements: Mapping[tuple[int, int], Value],
        shown: Mapping[int, Value],
    ) -> None:
        """Give every user, and the host, the element from the bank that holds it."""
        home, home_before = self._build_homes(m) if self.plan.homes else (Const(0), Const(0))
        for n, user in enumerate(self.loads):
            value: Value = elements[user.banks[0], user.port]
            for bank in user.banks[1:]:
                asked = home_before == bank if user.is_at_home else self.load(n, f"bank{bank}")
                value = Mux(asked, elements[bank, user.port], value)
            m.d.comb += getattr(self, f"read_{n}").eq(value)
        if self.plan.has_host_port:
            first, *others = sorted(shown)
            value = shown[first]
            for bank in others:
                value = Mux(home == bank, shown[bank], value)
            m.d.comb += self.host_rdata.eq(value)

    def _build_homes(self, m: Module) -> tuple[Value, Value]:
        """Build the table of homes; return that of the element asked for 1, and 2, cycles ago."""
        banks = self.plan.write_ports
        table = Ram(shape=range(banks), depth=max(2, self.plan.depth), init=self.plan.homes)
        m.submodules.rom_homes = table
        port = table.read_port()
        readers = [n for n, user in enumerate(self.loads) if user.is_at_home]
        addr, en = self._read_request(readers, self.plan.has_host_port)
        m.d.comb += [port.addr.eq(addr), port.en.eq(en)]
        before = Signal.like(port.data, name="home_before", reset_less=True)
        m.d.sync += before.eq(port.data)
        return port.data, before


class RomStorage(ArrayStorage):
    """Constants: one copy for each read port, as large as its addresses reach.

    A small table is logic: it shows the element in the cycle of the address.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for port in range(self.plan.read_ports):
            users = [n for n, user in enumerate(self.loads) if user.port == port]
            if not users:
                continue
            rom = Ram(
                shape=self.plan.width_bits,
                depth=1 << address_bits(self.plan.depth),
                init=[value % (1 << self.plan.width_bits) for value in self.plan.values],
                attrs={"rom_style": "block"} if self.plan.is_block_ram else {},
            )
            m.submodules[f"rom_{port}"] = rom
            addr, en = first_load([(self.load(n, "addr"), self.load(n, "en")) for n in users])
            if self.plan.is_block_ram:
                read_port = rom.read_port()
                m.d.comb += read_port.en.eq(en)
                cycles = self.plan.read_latency_cycles - RAM_CYCLES
                element = registered(m, read_port.data, cycles, f"element_{port}")
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
        write = self.write(0)
        for n, word in enumerate(words):
            with m.If(write.addr == n if len(words) > 1 else Const(1)):
                for lane, enabled in enumerate(write.lanes):
                    bits = slice(lane * BYTE_BITS, (lane + 1) * BYTE_BITS)
                    with m.If(enabled):
                        m.d.sync += word[bits].eq(write.data[bits])
        for n in range(len(self.loads)):
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
        with m.If(self.idle & self.host_reads):
            m.d.sync += held.eq(self._element(words, self.host_addr))
        m.d.comb += self.host_rdata.eq(held)


def registered(m: Module, data: Value, cycles: int, name: str) -> Value:
    """Return what `data` was some cycles ago."""
    for cycle in range(cycles):
        held = Signal(len(data), name=f"{name}_{cycle}" if cycle else name, reset_less=True)
        m.d.sync += held.eq(data)
        data = held
    return data


def first_load(loads: Sequence[tuple[Signal, Signal]]) -> tuple[Value, Value]:
    """Return (address, enable) of whichever user enables its load."""
    addr: Value = loads[-1][0]
    for other, enable in reversed(loads[:-1]):
        addr = Mux(enable, other, addr)
    return addr, reduce(or_, [enable for _, enable in loads])


def first_of(writes: Sequence[Write]) -> Write:
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
