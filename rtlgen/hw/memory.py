"""Storage of one array: its RAM copies or flip-flops, who reads, who writes, and the host."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.bank_places import bank_and_row
from rtlgen.ir.plan import Memory, address_bits

BYTE_BITS = 8

RAM_CYCLES = 1
"""From the address of a block RAM to its element, its output register not counted."""


Place: TypeAlias = tuple[Value, Value]
"""Bank and row of an element."""


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
    port: the read port that it uses. versions: those that it may read, in order.
    banks: those that its elements may be in, in order.
    is_at_home: whether it reads every element in its home, once all stores are made; it asks for
        elements by their numbers in C's order.
    """

    port: int
    versions: tuple[int, ...] = (0,)
    banks: tuple[int, ...] = (0,)
    is_at_home: bool = False

    @property
    def chosen_versions(self) -> tuple[int, ...]:
        """The versions that it asks for by a signal; else it reads the first."""
        return () if self.is_at_home else self.versions[1:]


@dataclass(frozen=True, slots=True)
class StoreUser:
    """A user that writes: the write port that it uses, and the banks that it may write to."""

    port: int
    banks: tuple[int, ...] = (0,)


class ArrayStorage(wiring.Component):
    """One memory of the plan, as its users see it.

    Parameters
    ----------
    loads: the users that read. stores: the users that write.
    is_looked_up: whether some user computes its addresses, which may then be anything.

    Members
    -------
    idle: In(1). The host has the memory while it is high, the users while it is low.
    load_N_addr, load_N_en: In, of user N. Those that enable a port of a bank in a cycle ask for one
        element of it.
    load_N_in: In, the bank of that address, of a user with several banks.
    read_N: Out, the element that user N asked for: `read_latency_cycles` later.
    load_N_versionK: In(1), in the cycle of read_N, of a user that may read several versions: take
        version K.
    store_N_addr, store_N_en, store_N_data: In, of user N; at most one enable a port of a bank in a
        cycle. store_N_in: In, the bank, of a user with several banks.
    host_addr, host_en, host_we, host_wdata: In; host_rdata: Out, in the cycle after a `host_en`
        without `host_we`. Only where the memory has a host port.
    """

    def __init__(
        self,
        plan: Memory,
        loads: tuple[LoadUser, ...],
        stores: tuple[StoreUser, ...],
        is_looked_up: bool,
    ) -> None:
        self.plan = plan
        self.loads = loads
        self.stores = stores
        self.is_looked_up = is_looked_up
        number = unsigned(address_bits(plan.depth))
        addr = unsigned(address_bits(plan.bank_map.rows))
        bank = unsigned(address_bits(plan.bank_map.banks))
        word = unsigned(plan.width_bits)
        members = {"idle": In(1)}
        for n, user in enumerate(loads):
            members[f"load_{n}_addr"] = In(number if user.is_at_home else addr)
            members |= {f"load_{n}_en": In(1), f"read_{n}": Out(word)}
            if len(user.banks) > 1 and not user.is_at_home:
                members[f"load_{n}_in"] = In(bank)
            members |= {f"load_{n}_version{version}": In(1) for version in user.chosen_versions}
        for n, writer in enumerate(stores):
            members |= {f"store_{n}_addr": In(addr), f"store_{n}_en": In(1)}
            members |= {f"store_{n}_data": In(word)}
            if len(writer.banks) > 1:
                members[f"store_{n}_in"] = In(bank)
        if plan.has_host_port:
            members |= {"host_addr": In(number), "host_en": In(1), "host_wdata": In(word)}
            members |= {"host_we": In(unsigned(plan.width_bits // BYTE_BITS))}
            members |= {"host_rdata": Out(word)}
        super().__init__(Signature(members | self.more_members()))

    def more_members(self) -> dict[str, Member]:
        """Return the ports that a kind has besides."""
        return {}

    @abstractmethod
    def elaborate(self, platform: object) -> Module: ...

    def load(self, user: int, what: str) -> Signal:
        """Return the port `addr`, `en`, `in` or `versionK` of a reading user."""
        signal: Signal = getattr(self, f"load_{user}_{what}")
        return signal

    @property
    def host_reads(self) -> Value:
        """Whether the host reads: a write leaves what it read last, so that the two never meet.

        A RAM that is read and written at one address in one cycle shows the old word in Verilog
        and, without its collision logic, anything on the device.
        """
        return self.host_en & ~self.host_we.any()

    def host_place(self, m: Module) -> Place:
        """Return where the element is that the host asks for."""
        return bank_and_row(m, self.plan.bank_map, self.host_addr, "host")

    def write(self, port: int, bank: int = 0, host: Place | None = None) -> Write:
        """Return what a port of a bank writes: the host's word in idle, else a user's that stores.

        Parameters
        ----------
        host: where the element of the host is, where there is one.
        """
        lanes = self.plan.width_bits // BYTE_BITS
        none = Write(Const(0, lanes), Const(0, address_bits(self.plan.bank_map.rows)), Const(0, 1))
        writes = [
            Write(
                self._stores_to(n, bank).replicate(lanes),
                getattr(self, f"store_{n}_addr"),
                getattr(self, f"store_{n}_data"),
            )
            for n, user in enumerate(self.stores)
            if user.port == port and bank in user.banks
        ]
        users = first_of(writes) if writes else none
        if host is None:
            return users
        hosted = Write(Mux(self.host_asks(bank, host), self.host_we, 0), host[1], self.host_wdata)
        if not writes:
            return hosted
        return Write(
            Mux(self.idle, hosted.lanes, users.lanes),
            Mux(self.idle, hosted.addr, users.addr),
            Mux(self.idle, hosted.data, users.data),
        )

    def host_asks(self, bank: int, host: Place) -> Value:
        """Return whether the host asks for an element of a bank."""
        asked = self.idle & self.host_en
        return asked & (host[0] == bank) if self.plan.cuts else asked

    def _stores_to(self, user: int, bank: int) -> Value:
        """Return whether a user stores to a bank."""
        enabled: Signal = getattr(self, f"store_{user}_en")
        if len(self.stores[user].banks) == 1:
            return enabled
        return enabled & (getattr(self, f"store_{user}_in") == bank)


class BlockStorage(ArrayStorage):
    """Block RAM: a version for each bank and write port, a copy of it for each port that reads it.

    The copies of a version are written together. The host writes all versions, and finds the
    element in its home, which a table tells where not all homes are in one version.

    Without a proof that no read meets a write of its element (`Memory.collision_free`) the RAM
    returns the old element, which costs logic on families whose block RAM does not.
    """

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shown: dict[tuple[int, int], Value] = {}
        elements: dict[tuple[int, int, int], Value] = {}
        host = self.host_place(m) if self.has_host else None
        # Of a user that asks by numbers: where its elements are.
        places = {
            n: bank_and_row(m, self.plan.bank_map, self.load(n, "addr"), f"load_{n}")
            if user.is_at_home
            else (self.load(n, "in") if len(user.banks) > 1 else Const(0, 1), self.load(n, "addr"))
            for n, user in enumerate(self.loads)
        }
        for bank in range(self.plan.bank_map.banks):
            for version in range(self.plan.write_ports):
                write = self.write(version, bank, host)
                for port in range(self.plan.read_ports):
                    copy = (bank, version, port)
                    users = self._users(copy)
                    reader = host if self._is_host(copy) else None
                    if not users and reader is None:
                        continue
                    request = self._read_request(bank, users, places, reader)
                    data = self._build_copy(m, copy, request, write)
                    if reader is not None:
                        shown[bank, version] = data
                    if users:
                        name = f"element_{self._copy_name(copy)}"
                        cycles = self.plan.read_latency_cycles - RAM_CYCLES
                        elements[copy] = registered(m, data, cycles, name)
        self._build_reads(m, elements, shown, places, host if self.plan.has_host_port else None)
        return m

    @property
    def has_host(self) -> bool:
        """Whether the host writes to it."""
        return self.plan.has_host_port

    def _users(self, copy: tuple[int, int, int]) -> list[int]:
        bank, version, port = copy
        return [
            n
            for n, user in enumerate(self.loads)
            if user.port == port and version in user.versions and bank in user.banks
        ]

    def _is_host(self, copy: tuple[int, int, int]) -> bool:
        _, version, port = copy
        return self.plan.has_host_port and port == 0 and version in self.plan.home_versions

    def _copy_name(self, copy: tuple[int, int, int]) -> str:
        bank, version, port = copy
        parts = [bank] if self.plan.cuts else []
        parts += [version] if self.plan.write_ports > 1 else []
        return "_".join(map(str, [*parts, port]))

    def _build_copy(
        self,
        m: Module,
        copy: tuple[int, int, int],
        request: tuple[Value, Value],
        write: Write,
    ) -> Signal:
        """Build the RAM of a (bank, version, port); return the element that it shows."""
        attributes: dict[str, str | int] = {"ram_style": self.plan.style}
        if self.plan.collision_free:
            attributes["no_rw_check"] = 1
        rows = self.plan.bank_map.rows
        # The number that a lookup computes and does not use may be past the last element.
        depth = 1 << address_bits(rows) if self.is_looked_up else rows
        ram = Ram(shape=self.plan.width_bits, depth=max(2, depth), init=[], attrs=attributes)
        m.submodules[f"ram_{self._copy_name(copy)}"] = ram
        write_port = ram.write_port(granularity=BYTE_BITS)
        read_port = ram.read_port()
        m.d.comb += [
            write_port.en.eq(write.lanes),
            write_port.addr.eq(write.addr),
            write_port.data.eq(write.data),
        ]
        addr, en = request
        m.d.comb += [read_port.addr.eq(addr), read_port.en.eq(en)]
        data: Signal = read_port.data
        return data

    def _read_request(
        self, bank: int, users: Sequence[int], places: Mapping[int, Place], host: Place | None
    ) -> tuple[Value, Value]:
        """Return (address, enable) of whoever reads: the host in idle, else one of the users."""
        addr: Value = Const(0, address_bits(self.plan.bank_map.rows))
        en: Value = Const(0, 1)
        if users:
            asked = []
            for n in users:
                enabled: Value = self.load(n, "en")
                if len(self.loads[n].banks) > 1:
                    enabled = enabled & (places[n][0] == bank)
                asked.append((places[n][1], enabled))
            addr, en = first_load(asked)
        if host is not None:
            reads = self.host_reads
            if self.plan.cuts:
                reads = reads & (host[0] == bank)
            addr = Mux(self.idle, host[1], addr) if users else host[1]
            en = Mux(self.idle, reads, en)
        return addr, en

    def _build_reads(
        self,
        m: Module,
        elements: Mapping[tuple[int, int, int], Value],
        shown: Mapping[tuple[int, int], Value],
        places: Mapping[int, Place],
        host: Place | None,
    ) -> None:
        """Give every user, and the host, the element from the bank and version that hold it."""
        home, home_before = self._build_homes(m) if self.plan.homes else (Const(0), Const(0))
        for n, user in enumerate(self.loads):
            of_banks: list[tuple[int, Value]] = []
            for bank in user.banks:
                value: Value = elements[bank, user.versions[0], user.port]
                for version in user.versions[1:]:
                    asked = (
                        home_before == version
                        if user.is_at_home
                        else self.load(n, f"version{version}")
                    )
                    value = Mux(asked, elements[bank, version, user.port], value)
                of_banks.append((bank, value))
            before = places[n][0]
            if len(user.banks) > 1:
                cycles = self.plan.read_latency_cycles
                before = registered(m, before, cycles, f"load_{n}_in_before")
            m.d.comb += getattr(self, f"read_{n}").eq(of_bank(before, of_banks))
        if host is None:
            return
        of_banks = []
        for bank in range(self.plan.bank_map.banks):
            first, *others = sorted(version for at, version in shown if at == bank)
            value = shown[bank, first]
            for version in others:
                value = Mux(home == version, shown[bank, version], value)
            of_banks.append((bank, value))
        bank_before = host[0]
        if self.plan.cuts:
            held = Signal(len(host[0]), name="host_bank_before", reset_less=True)
            with m.If(self.host_reads):
                m.d.sync += held.eq(host[0])
            bank_before = held
        m.d.comb += self.host_rdata.eq(of_bank(bank_before, of_banks))

    def _build_homes(self, m: Module) -> tuple[Value, Value]:
        """Build the table of homes; return that of the element asked for 1, and 2, cycles ago."""
        versions = self.plan.write_ports
        table = Ram(shape=range(versions), depth=max(2, self.plan.depth), init=self.plan.homes)
        m.submodules.rom_homes = table
        port = table.read_port()
        asked = [
            (self.load(n, "addr"), self.load(n, "en"))
            for n, user in enumerate(self.loads)
            if user.is_at_home
        ]
        addr, en = first_load(asked) if asked else (Const(0, 1), Const(0, 1))
        if self.plan.has_host_port:
            addr = Mux(self.idle, self.host_addr, addr) if asked else self.host_addr
            en = Mux(self.idle, self.host_reads, en)
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
        host = self.host_place(m) if self.plan.has_host_port else None
        words: dict[int, list[Signal]] = {}
        for bank in range(self.plan.bank_map.banks):
            words[bank] = self._build_bank(m, bank, host)
        for n, user in enumerate(self.loads):
            place: Place = Const(0, 1), self.load(n, "addr")
            if user.is_at_home:
                place = bank_and_row(m, self.plan.bank_map, self.load(n, "addr"), f"load_{n}")
            elif len(user.banks) > 1:
                place = self.load(n, "in"), self.load(n, "addr")
            value = self._element([(bank, words[bank]) for bank in user.banks], place)
            m.d.comb += getattr(self, f"read_{n}").eq(value)
        if host is not None:
            self._build_host_read(m, list(words.items()), host)
        return m

    def _build_bank(self, m: Module, bank: int, host: Place | None) -> list[Signal]:
        prefix = f"word_{bank}_" if self.plan.cuts else "word_"
        rows = self.plan.bank_map.rows
        words = [Signal(self.plan.width_bits, name=f"{prefix}{n}") for n in range(rows)]
        write = self.write(0, bank, host)
        for n, word in enumerate(words):
            with m.If(write.addr == n if rows > 1 else Const(1)):
                for lane, enabled in enumerate(write.lanes):
                    bits = slice(lane * BYTE_BITS, (lane + 1) * BYTE_BITS)
                    with m.If(enabled):
                        m.d.sync += word[bits].eq(write.data[bits])
        return words

    def _element(self, banks: Sequence[tuple[int, Sequence[Value]]], place: Place) -> Value:
        """Return the word at a place, in one of some banks."""
        return of_bank(place[0], [(bank, _word(words, place[1])) for bank, words in banks])

    def _build_host_read(
        self, m: Module, banks: Sequence[tuple[int, Sequence[Signal]]], host: Place
    ) -> None:
        if self.plan.depth == 1:
            # The word itself holds still whenever the host may look.
            m.d.comb += self.host_rdata.eq(banks[0][1][0])
            return
        held = Signal(self.plan.width_bits, name="host_element", reset_less=True)
        with m.If(self.idle & self.host_reads):
            m.d.sync += held.eq(self._element(banks, host))
        m.d.comb += self.host_rdata.eq(held)


def _word(words: Sequence[Value], addr: Value) -> Value:
    """Return words[addr], chosen by a tree of multiplexers from the lowest address bit up."""
    if len(words) == 1:
        return words[0]
    pairs = [Mux(addr[0], b, a) for a, b in zip(words[::2], words[1::2], strict=False)]
    return _word([*pairs, *words[2 * len(pairs) :]], addr[1:])


def of_bank(chosen: Value, values: Sequence[tuple[int, Value]]) -> Value:
    """Return the value of the chosen bank, by a tree of multiplexers from the lowest bit up.

    Parameters
    ----------
    values: of the banks that may be chosen, in order of their numbers.
    """
    if len(values) == 1:
        return values[0][1]
    even = [(bank >> 1, value) for bank, value in values if not bank & 1]
    odd = [(bank >> 1, value) for bank, value in values if bank & 1]
    if not even or not odd:
        return of_bank(chosen[1:], even or odd)
    return Mux(chosen[0], of_bank(chosen[1:], odd), of_bank(chosen[1:], even))


def registered(m: Module, data: Value, cycles: int, name: str) -> Value:
    """Return what `data` was some cycles ago."""
    for cycle in range(cycles):
        held = Signal(len(data), name=f"{name}_{cycle}" if cycle else name, reset_less=True)
        m.d.sync += held.eq(data)
        data = held
    return data


def first_load(loads: Sequence[tuple[Value, Value]]) -> tuple[Value, Value]:
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
