"""Storage of one array in block RAM, in as many copies as its ports ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory as Ram

from rtlgen.hw.bank_places import bank_and_row
from rtlgen.hw.memory import (
    BYTE_BITS,
    RAM_CYCLES,
    ArrayStorage,
    Place,
    Write,
    first_load,
    of_bank,
    registered,
)
from rtlgen.ir.plan import address_bits


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
