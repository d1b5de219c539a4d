"""Storage of a window: whole words on the side of its mover, elements on the side of the kernel.

The banks of a window for lanes are some bits of the place of an element. Those among the bits that
number the elements of a word cut the word: each bank holds a part of all words. Those above choose
the bank that holds a word, or all of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Member, Out

from rtlgen.hw.memory import RAM_CYCLES, ArrayStorage, chosen_wires, first_load, of_bank, registered
from rtlgen.ir.plan import address_bits


class WindowStorage(ArrayStorage):
    """What both kinds of windows share: rows of a word each, or in banks, of a part of one."""

    @property
    def words(self) -> int:
        return self.plan.depth // self.plan.lanes

    @property
    def lane_bits(self) -> int:
        """Bits that number the elements of a bank's row."""
        return (self.plan.bank_lanes - 1).bit_length()

    @cached_property
    def _parts_bits(self) -> int:
        """Bits of a bank's number, the lowest, that number the parts of a word."""
        word_bits = (self.plan.lanes - 1).bit_length()
        return sum(bit < word_bits for bit in self.plan.bank_bits)

    def new_ram(self) -> Ram:
        """Return a RAM of the rows of the window, or of a bank."""
        attributes: dict[str, str | int] = {"ram_style": self.plan.style, "no_rw_check": 1}
        depth = max(2, self.plan.ram_words)
        return Ram(shape=self.plan.ram_word_bits, depth=depth, init=[], attrs=attributes)

    def row_and_lane(self, addr: Value) -> tuple[Value, Value]:
        """Return the row of an element in its bank, and its place in there."""
        return addr[self.lane_bits :], addr[: self.lane_bits]

    @property
    def _above(self) -> list[int]:
        """The bits of a word's number that choose the bank."""
        word_bits = (self.plan.lanes - 1).bit_length()
        return [bit - word_bits for bit in self.plan.bank_bits if bit >= word_bits]

    def bank_of_word(self, word: Value) -> Value | None:
        """Return which banks have a word, of those with the same part; None where all have."""
        return chosen_wires(word, self._above) if self._above else None

    def row_of_word(self, word: Value) -> Value:
        """Return the row of a word in its bank."""
        return chosen_wires(word, [bit for bit in range(len(word)) if bit not in self._above])

    def group_and_part(self, bank: int) -> tuple[int, int]:
        """Return the number of a bank among those with the same part, and that of the part."""
        return bank >> self._parts_bits, bank & ((1 << self._parts_bits) - 1)

    def elements_of(self, part: int) -> range:
        """Return the elements of a word that are in one of its parts, the lowest first."""
        low = self.plan.bank_bits[0] if self._parts_bits else 0
        assert low == 0, "what cuts a word are its lowest bits"
        return range(part, self.plan.lanes, 1 << self._parts_bits)

    def part_of_word(self, word: Value, part: int) -> Value:
        """Return one part of a word."""
        width = self.plan.width_bits
        return Cat(word[n * width : (n + 1) * width] for n in self.elements_of(part))


@dataclass(frozen=True, slots=True)
class _Fill:
    """A word that goes into the RAMs."""

    en: Signal
    addr: Signal
    data: Signal


class FilledStorage(WindowStorage):
    """A window that a mover fills with words and streams read, an element at a time.

    A word waits beside the RAMs for a cycle: there may be many of them, all over the device, and it
    comes from a port that all movers share. No kernel sees that. It can read a word two cycles
    after that was the last one of a tile, since a token is a register and so is what starts a tile.

    Members
    -------
    fill_en, fill_addr, fill_data: In, a word that the mover writes.
    """

    def more_members(self) -> dict[str, Member]:
        return {
            "fill_en": In(1),
            "fill_addr": In(address_bits(self.words)),
            "fill_data": In(self.plan.word_bits),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fill = self._arriving(m)
        elements: dict[tuple[int, int], Value] = {}
        for bank in range(self.plan.bank_map.banks):
            for port in range(self.plan.read_ports):
                users = [
                    n
                    for n, user in enumerate(self.loads)
                    if user.port == port and bank in user.banks
                ]
                if users:
                    elements[bank, port] = self._build_copy(m, bank, port, users, fill)
        for n, user in enumerate(self.loads):
            of_banks = [(bank, elements[bank, user.port]) for bank in user.banks]
            before: Value = Const(0, 1)
            if len(user.banks) > 1:
                cycles = self.plan.read_latency_cycles
                before = registered(m, self.load(n, "in"), cycles, f"load_{n}_in_before")
            m.d.comb += getattr(self, f"read_{n}").eq(of_bank(before, of_banks))
        return m

    def _arriving(self, m: Module) -> _Fill:
        """Return the word that the mover brought in the cycle before."""
        fill = _Fill(
            Signal(name="filled"),
            Signal.like(self.fill_addr, name="filled_addr", reset_less=True),
            Signal.like(self.fill_data, name="filled_data", reset_less=True),
        )
        m.d.sync += fill.en.eq(self.fill_en)
        # Only then, or synthesis makes one register of those of all windows.
        with m.If(self.fill_en):
            m.d.sync += [fill.addr.eq(self.fill_addr), fill.data.eq(self.fill_data)]
        return fill

    def _build_copy(self, m: Module, bank: int, port: int, users: list[int], fill: _Fill) -> Value:
        """Build the RAM of a bank that users of one port read; return the element it shows."""
        name = f"{bank}_{port}" if self.plan.cuts else f"{port}"
        ram = self.new_ram()
        m.submodules[f"ram_{name}"] = ram
        write_port = ram.write_port()
        read_port = ram.read_port()
        asked = []
        for n in users:
            enabled: Value = self.load(n, "en")
            if len(self.loads[n].banks) > 1:
                enabled = enabled & (self.load(n, "in") == bank)
            asked.append((self.load(n, "addr"), enabled))
        addr, en = first_load(asked)
        row, lane = self.row_and_lane(addr)
        group, part = self.group_and_part(bank)
        filled: Value = fill.en
        of_word = self.bank_of_word(fill.addr)
        if of_word is not None:
            filled = filled & (of_word == group)
        m.d.comb += [
            write_port.en.eq(filled),
            write_port.addr.eq(self.row_of_word(fill.addr)),
            write_port.data.eq(self.part_of_word(fill.data, part)),
            read_port.en.eq(en),
            read_port.addr.eq(row),
        ]
        cycles = self.plan.read_latency_cycles - RAM_CYCLES
        if not self.lane_bits:
            return registered(m, read_port.data, cycles, f"element_{name}")
        # The lane is chosen behind a register of the word where there is time: RAMs are slow.
        word = registered(m, read_port.data, cycles - 1, f"word_{name}")
        chosen = Signal(self.plan.width_bits, name=f"chosen_{name}")
        before = registered(m, lane, cycles, f"lane_{name}")
        width = self.plan.width_bits
        lanes = [(k, word[k * width : (k + 1) * width]) for k in range(self.plan.bank_lanes)]
        m.d.comb += chosen.eq(of_bank(before, lanes))
        return registered(m, chosen, 1, f"element_{name}")


class DrainedStorage(WindowStorage):
    """A window that streams write, an element at a time, and a mover reads in words.

    Its RAMs are read in every cycle, and there is a register behind each, since RAMs are slow.

    Members
    -------
    drain_en, drain_addr: In, the word that the mover asks for; drain_data: Out, from two cycles
        after that until two cycles after it asks again.
    """

    def more_members(self) -> dict[str, Member]:
        return {
            "drain_en": In(1),
            "drain_addr": In(address_bits(self.words)),
            "drain_data": Out(self.plan.word_bits),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read = Signal(name="drained", reset_less=True)
        m.d.sync += read.eq(self.drain_en)
        words: dict[int, dict[int, Value]] = {}
        for bank in range(self.plan.bank_map.banks):
            group, part = self.group_and_part(bank)
            words.setdefault(group, {})[part] = self._build_bank(m, bank, read)
        whole = [self._joined(parts) for parts in words.values()]
        asked = self.bank_of_word(self.drain_addr)
        if asked is None:
            m.d.comb += self.drain_data.eq(whole[0])
            return m
        before = registered(m, asked, RAM_CYCLES, "drained_bank_before")
        held = Signal(len(asked), name="drained_bank", reset_less=True)
        with m.If(read):
            m.d.sync += held.eq(before)
        m.d.comb += self.drain_data.eq(Array(whole)[held])
        return m

    def _joined(self, parts: dict[int, Value]) -> Value:
        """Return a word, put together from its parts."""
        width = self.plan.width_bits
        found: list[Value] = [Const(0, width)] * self.plan.lanes
        for part, value in parts.items():
            for place, element in enumerate(self.elements_of(part)):
                found[element] = value[place * width : (place + 1) * width]
        return Cat(*found)

    def _build_bank(self, m: Module, bank: int, read: Value) -> Value:
        """Build the RAM of a bank; return the row that its mover has asked for.

        Parameters
        ----------
        read: whether the RAM shows a row that was asked for.
        """
        ram = self.new_ram()
        m.submodules[f"ram_{bank}"] = ram
        write_port = ram.write_port(granularity=self.plan.width_bits)
        read_port = ram.read_port()
        write = self.write(0, bank)
        row, lane = self.row_and_lane(write.addr)
        stored, lanes = write.lanes[0], self.plan.bank_lanes
        enables = Mux(stored, Const(1, lanes) << lane, 0) if self.lane_bits else stored
        m.d.comb += [
            write_port.en.eq(enables),
            write_port.addr.eq(row),
            write_port.data.eq(write.data.replicate(lanes)),
            # Not `drain_en`, which comes from the bus: there may be RAMs all over the device.
            read_port.en.eq(1),
            read_port.addr.eq(self.row_of_word(self.drain_addr)),
        ]
        row_shown = Signal(self.plan.ram_word_bits, name=f"drained_row_{bank}", reset_less=True)
        with m.If(read):
            m.d.sync += row_shown.eq(read_port.data)
        return row_shown
