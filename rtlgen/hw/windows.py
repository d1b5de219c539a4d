"""Storage of a window: whole words on the side of its mover, elements on the side of the kernel."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Member, Out

from rtlgen.hw.memory import RAM_CYCLES, ArrayStorage, first_load, registered
from rtlgen.ir.plan import address_bits


class WindowStorage(ArrayStorage):
    """What both kinds of windows share: rows of a word each."""

    @property
    def rows(self) -> int:
        return self.plan.depth // self.plan.lanes

    @property
    def lane_bits(self) -> int:
        return (self.plan.lanes - 1).bit_length()

    def new_ram(self) -> Ram:
        """Return a RAM of the window's rows."""
        attributes: dict[str, str | int] = {"ram_style": "block", "no_rw_check": 1}
        depth = max(2, self.rows)
        return Ram(shape=self.plan.word_bits, depth=depth, init=[], attrs=attributes)

    def row_and_lane(self, addr: Value) -> tuple[Value, Value]:
        """Return the row of an element, and its place in there."""
        return addr[self.lane_bits :], addr[: self.lane_bits]


class FilledStorage(WindowStorage):
    """A window that a mover fills with words and streams read, an element at a time.

    Members
    -------
    fill_en, fill_addr, fill_data: In, a word that the mover writes.
    """

    def more_members(self) -> dict[str, Member]:
        return {
            "fill_en": In(1),
            "fill_addr": In(address_bits(self.rows)),
            "fill_data": In(self.plan.word_bits),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for port in range(self.plan.read_ports):
            users = [n for n, user in enumerate(self.loads) if user.port == port]
            if users:
                self._build_copy(m, port, users)
        return m

    def _build_copy(self, m: Module, port: int, users: list[int]) -> None:
        """Build the RAM that users of one port read."""
        ram = self.new_ram()
        m.submodules[f"ram_{port}"] = ram
        write_port, read_port = ram.write_port(), ram.read_port()
        addr, en = first_load([(self.load(n, "addr"), self.load(n, "en")) for n in users])
        row, lane = self.row_and_lane(addr)
        m.d.comb += [
            write_port.en.eq(self.fill_en),
            write_port.addr.eq(self.fill_addr),
            write_port.data.eq(self.fill_data),
            read_port.en.eq(en),
            read_port.addr.eq(row),
        ]
        cycles = self.plan.read_latency_cycles - RAM_CYCLES
        if self.lane_bits:
            # The lane is chosen behind a register of the word where there is time: RAMs are slow.
            word = registered(m, read_port.data, cycles - 1, f"word_{port}")
            chosen = Signal(self.plan.width_bits, name=f"chosen_{port}")
            before = registered(m, lane, cycles, f"lane_{port}")
            m.d.comb += chosen.eq(word.word_select(before, self.plan.width_bits))
            element = registered(m, chosen, 1, f"element_{port}")
        else:
            element = registered(m, read_port.data, cycles, f"element_{port}")
        m.d.comb += [getattr(self, f"read_{n}").eq(element) for n in users]


class DrainedStorage(WindowStorage):
    """A window that streams write, an element at a time, and a mover reads in words.

    Members
    -------
    drain_en, drain_addr: In, the word that the mover asks for; drain_data: Out, from the cycle
        after that until it asks again.
    """

    def more_members(self) -> dict[str, Member]:
        return {
            "drain_en": In(1),
            "drain_addr": In(address_bits(self.rows)),
            "drain_data": Out(self.plan.word_bits),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ram_0 = ram = self.new_ram()
        write_port = ram.write_port(granularity=self.plan.width_bits)
        read_port = ram.read_port()
        write = self.write(0)
        row, lane = self.row_and_lane(write.addr)
        stored = write.lanes[0]
        enables = Mux(stored, Const(1, self.plan.lanes) << lane, 0) if self.lane_bits else stored
        m.d.comb += [
            write_port.en.eq(enables),
            write_port.addr.eq(row),
            write_port.data.eq(write.data.replicate(self.plan.lanes)),
            read_port.en.eq(self.drain_en),
            read_port.addr.eq(self.drain_addr),
            self.drain_data.eq(read_port.data),
        ]
        return m
