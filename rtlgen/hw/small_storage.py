"""Storage of one array in logic: a table of constants, or flip-flops."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory as Ram

from rtlgen.hw.bank_places import bank_and_row
from rtlgen.hw.memory import (
    BYTE_BITS,
    RAM_CYCLES,
    ArrayStorage,
    Place,
    first_load,
    of_bank,
    registered,
)
from rtlgen.ir.plan import address_bits


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
