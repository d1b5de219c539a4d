"""The unit that reads the results after the last store and condenses them to 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.pipeline import DelayLines
from rtlgen.ir.crc import CRC_BITS, absorb_masks
from rtlgen.ir.plan import address_bits

READ_CYCLES = 2
"""From the address of an element to the element: the RAM, and the register behind it."""


@dataclass(frozen=True, slots=True)
class ChecksumSource:
    """A memory to be read."""

    name: str
    depth: int
    width_bits: int


class ChecksumUnit(wiring.Component):
    """Absorb every element of every source into a CRC-64, in order, one a cycle; of none it is 0.

    Members
    -------
    begin: In(1), high in the cycle before the first address.
    NAME_addr, NAME_en: Out; NAME_data: In, two cycles later.
    checksum: Out(64), final three cycles after the last address; it stays until `begin`.
    """

    def __init__(self, sources: tuple[ChecksumSource, ...]) -> None:
        self.sources = sources
        members = {"begin": In(1), "checksum": Out(CRC_BITS)}
        for source in sources:
            members |= {
                f"{source.name}_addr": Out(address_bits(source.depth)),
                f"{source.name}_en": Out(1),
                f"{source.name}_data": In(source.width_bits),
            }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.begin):
            m.d.sync += self.checksum.eq(0)
        delays = DelayLines(m)
        enter: Value = self.begin
        # A kernel that returns a value only has no array to read.
        addr = Signal(max((address_bits(source.depth) for source in self.sources), default=1))
        for source in self.sources:
            reading, last = self._read(m, source, enter, addr)
            arrived = delays.at(reading, READ_CYCLES, reset=True)
            with m.If(arrived):
                m.d.sync += self.checksum.eq(self._absorb(source))
            enter = last
        return m

    def _read(
        self, m: Module, source: ChecksumSource, enter: Value, addr: Signal
    ) -> tuple[Signal, Value]:
        """Step through one memory; return "reading" and "reading its last element"."""
        reading = Signal(name=f"{source.name}_reading")
        last = Signal(name=f"{source.name}_last")
        m.d.comb += last.eq(reading & (addr == source.depth - 1))
        m.d.sync += reading.eq(enter | (reading & ~last))
        with m.If(last):
            m.d.sync += addr.eq(0)
        with m.Elif(reading):
            m.d.sync += addr.eq(addr + 1)
        m.d.comb += [
            getattr(self, f"{source.name}_addr").eq(addr),
            getattr(self, f"{source.name}_en").eq(reading),
        ]
        return reading, last

    def _absorb(self, source: ChecksumSource) -> Value:
        data: Signal = getattr(self, f"{source.name}_data")
        bits = [
            _parity(self.checksum, state_mask) ^ _parity(data, data_mask)
            for state_mask, data_mask in absorb_masks(source.width_bits)
        ]
        return Cat(*bits)


def _parity(value: Value, mask: int) -> Value:
    taken = [value[n] for n in range(len(value)) if mask >> n & 1]
    return reduce(xor, taken) if taken else Const(0, 1)
