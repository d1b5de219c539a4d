"""Storages of arrays: block RAM, logic, RAMs of the user's, two copies; and which a plan asks for.

Storage of a part of an array: what the host writes to the array it writes here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from amaranth.hdl import (
    Cat,
    Const,
    Elaboratable,
    EnableInserter,
    Module,
    Mux,
    Signal,
    Value,
    unsigned,
)
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Member, Out

from rtlgen.hw.memory import (
    BYTE_BITS,
    RAM_CYCLES,
    ArrayStorage,
    LoadUser,
    Place,
    StoreUser,
    Write,
    bank_and_row,
    first_load,
    of_bank,
    quotient_and_remainder,
    registered,
)
from rtlgen.hw.names import prefix_ports
from rtlgen.hw.windows import DrainedStorage, FilledStorage
from rtlgen.ir.bank_map import ArrayPart
from rtlgen.ir.plan import Memory, MemoryKind, address_bits


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
                    wanted = {self.plan.read_latency_cycles} if users else set()
                    wanted |= {self.host_cycles} if reader is not None else set()
                    seen = _seen(m, data, wanted, f"element_{self._copy_name(copy)}")
                    if reader is not None:
                        shown[bank, version] = seen[self.host_cycles]
                    if users:
                        elements[copy] = seen[self.plan.read_latency_cycles]
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


def _seen(m: Module, data: Value, wanted: Iterable[int], name: str) -> dict[int, Value]:
    """Return what a RAM shows, so many cycles after the address: the later share registers."""
    found, at = dict[int, Value](), RAM_CYCLES
    for cycles in sorted(wanted):
        data, at = registered(m, data, cycles - at, name), cycles
        found[cycles] = data
    return found


class OutsideStorage(BlockStorage):
    """Pins of a RAM beside the kernel, one set for each port of the array.

    Members
    -------
    ram_readN_addr: Out, number of the element that is read. ram_readN_en: Out(1), one is.
    ram_readN_data: In, that element, from the next cycle on, until another one is read.
    ram_write_addr: Out, number of the element that is written. ram_write_en: Out(1), one is.
    ram_write_data: Out, the element.
    """

    def more_members(self) -> dict[str, Member]:
        addr, word = unsigned(address_bits(self.plan.depth)), unsigned(self.plan.width_bits)
        members: dict[str, Member] = {}
        for port in sorted({user.port for user in self.loads}):
            pin = f"ram_read{port}"
            members |= {f"{pin}_addr": Out(addr), f"{pin}_en": Out(1), f"{pin}_data": In(word)}
        if self.stores:
            pin = "ram_write"
            members |= {f"{pin}_addr": Out(addr), f"{pin}_en": Out(1), f"{pin}_data": Out(word)}
        return members

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        if self.stores:
            write = self.write(0)
            m.d.comb += [
                self.ram_write_addr.eq(write.addr),
                self.ram_write_en.eq(write.lanes.any()),
                self.ram_write_data.eq(write.data),
            ]
        return m

    def _build_copy(
        self,
        m: Module,
        copy: tuple[int, int, int],
        request: tuple[Value, Value],
        write: Write,
    ) -> Signal:
        """Ask the RAM of a read port; return the element that it shows."""
        pin = f"ram_read{copy[-1]}"
        addr, en = request
        m.d.comb += [getattr(self, f"{pin}_addr").eq(addr), getattr(self, f"{pin}_en").eq(en)]
        shown: Signal = getattr(self, f"{pin}_data")
        return shown


class PartStorage(BlockStorage):
    """Block RAM for a box of an array.

    Members
    -------
    host_addr, host_en, host_we, host_wdata: In, of the array's host port; only where the host sees
        the array. It does not read here.
    """

    def more_members(self) -> dict[str, Member]:
        if not self.has_host:
            return {}
        return {
            "host_addr": In(unsigned(address_bits(self._part.size))),
            "host_en": In(1),
            "host_we": In(unsigned(self.plan.width_bits // BYTE_BITS)),
            "host_wdata": In(unsigned(self.plan.width_bits)),
        }

    @property
    def _part(self) -> ArrayPart:
        assert self.plan.part is not None, "chosen by the plan"
        return self.plan.part

    @property
    def has_host(self) -> bool:
        return self._part.is_hosted

    def host_place(self, m: Module) -> Place:
        """Return whether the element of the host is in the part, and where."""
        part, number = self._part, self.host_addr
        subscripts: list[Value] = []
        for extent in reversed(part.shape):
            number, subscript = quotient_and_remainder(number, extent)
            subscripts.append(subscript)
        inside: Value = Const(1, 1)
        fields: list[Value] = []
        for subscript, whole, low, extent, bits in zip(
            subscripts, *map(reversed, (part.shape, part.low, part.extents, part.bits)), strict=True
        ):
            if low:
                inside = inside & (subscript >= low)
            if low + extent < whole:
                inside = inside & (subscript < low + extent)
            fields.append(Cat(subscript, Const(0, bits))[:bits])
        is_inside = Signal(name="host_inside")
        place = Signal(address_bits(part.words), name="host_place")
        m.d.comb += [is_inside.eq(inside), place.eq(Cat(*fields))]
        return is_inside, place

    def host_asks(self, bank: int, host: Place) -> Value:
        return self.idle & self.host_en & host[0]


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
        later = registered(m, held, self.host_cycles - 1, "host_element_held")
        m.d.comb += self.host_rdata.eq(later)


def _word(words: Sequence[Value], addr: Value) -> Value:
    """Return words[addr], chosen by a tree of multiplexers from the lowest address bit up."""
    if len(words) == 1:
        return words[0]
    pairs = [Mux(addr[0], b, a) for a, b in zip(words[::2], words[1::2], strict=False)]
    return _word([*pairs, *words[2 * len(pairs) :]], addr[1:])


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


_KINDS: dict[MemoryKind, type[ArrayStorage]] = {
    "block": BlockStorage,
    "register": RegisterStorage,
    "rom": RomStorage,
    "filled": FilledStorage,
    "drained": DrainedStorage,
}


def build_storage(
    plan: Memory,
    loads: tuple[LoadUser, ...],
    stores: tuple[StoreUser, ...],
    *,
    is_looked_up: bool = False,
    may_stand_still: bool = False,
    host_cycles: int = 1,
) -> ArrayStorage:
    """Return the storage for a memory of the plan.

    Parameters
    ----------
    is_looked_up: whether some user computes its addresses.
    may_stand_still: whether the kernel does not move on in every cycle of a run.
    host_cycles: until the host sees what it reads.
    """
    kind = PartStorage if plan.part is not None else _KINDS[plan.kind]
    if plan.is_external:
        kind = OutsideStorage
    if plan.is_double:
        copy = plan
        if plan.kind == "block" and plan.write_ports == 1:
            # The copies are told apart in front of their output register, which they share. Which
            # version holds an element is said in the cycle behind that.
            copy = replace(plan, read_latency_cycles=RAM_CYCLES)
        first, second = (kind(copy, loads, stores, is_looked_up) for _ in range(2))
        return DoubledStorage(
            plan, (first, second), may_stand_still=may_stand_still, host_cycles=host_cycles
        )
    return kind(plan, loads, stores, is_looked_up, host_cycles)
