"""The registers of a map: what software writes is kept, what the circuit says is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.manifest.registers import REGISTER_BYTES, Field, Register, RegisterMap

_FLOWS = {"ro": In, "rw": Out}


def field_port(register: Register, field: Field) -> str:
    """Return the name of a port of `RegisterFile`."""
    own = () if field.name == "VALUE" else (field.name,)
    return "_".join((register.name, *own))


class RegisterFile(wiring.Component):
    """Read and write the registers of a map, one word a cycle.

    Members
    -------
    word: In, the address in words. is_read, is_write: In(1), in this cycle. wdata, wstrb: In.
    found: Out(1), there is a register at `word`.
    rdata: Out, in the cycle behind `is_read`.
    of each field that is no constant, by its register and its own name:
    NAME: Out, of access `rw`: what was written last; In, of any other: what is read.
    NAME_written: Out, of access `w1s` and `w1c`: the bits to which 1 is written in this cycle.
    """

    def __init__(self, registers: RegisterMap) -> None:
        self.registers = registers
        super().__init__(
            Signature(
                {
                    "word": In(registers.address_bits - 2),
                    "is_read": In(1),
                    "is_write": In(1),
                    "wdata": In(8 * REGISTER_BYTES),
                    "wstrb": In(REGISTER_BYTES),
                    "found": Out(1),
                    "rdata": Out(8 * REGISTER_BYTES),
                    **dict(self._members()),
                }
            )
        )

    def _members(self) -> Iterator[tuple[str, Member]]:
        for register, field in self._fields():
            name = field_port(register, field)
            yield name, (Out if field.access == "rw" else In)(field.width)
            if field.access in ("w1s", "w1c"):
                yield f"{name}_written", Out(field.width)

    def _fields(self) -> Iterator[tuple[Register, Field]]:
        for register in self.registers.registers:
            for field in register.fields:
                if not field.is_constant:
                    yield register, field

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.found.eq(0)
        with m.Switch(self.word):
            for register in self.registers.registers:
                with m.Case(register.offset // REGISTER_BYTES):
                    m.d.comb += self.found.eq(1)
                    with m.If(self.is_write):
                        self._write(m, register)
        words: dict[int, Value] = {
            register.offset // REGISTER_BYTES: self._shown(register)
            for register in self.registers.registers
        }
        with m.If(self.is_read):
            m.d.sync += self.rdata.eq(self._chosen(words, 0, len(self.word)))
        return m

    def _chosen(self, words: Mapping[int, Value], first: int, bits: int) -> Value:
        """Return the word among the 2 ** `bits` from `first` on: a tree, as of a table.

        A case for each word would be compared with all of them, for four times the logic.
        """
        if not any(first <= place < first + (1 << bits) for place in words):
            return Const(0, 0)
        if not bits:
            return words[first]
        lower = self._chosen(words, first, bits - 1)
        upper = self._chosen(words, first + (1 << bits - 1), bits - 1)
        return Mux(self.word[bits - 1], upper, lower) if len(upper) else lower

    def _shown(self, register: Register) -> Value:
        parts: list[Value] = []
        end = 0
        for field in sorted(register.fields, key=lambda field: field.low):
            parts.append(Const(0, field.low - end))
            if field.is_constant:
                parts.append(Const(field.reset, field.width))
            else:
                parts.append(getattr(self, field_port(register, field)))
            end = field.low + field.width
        return Cat(parts)

    def _write(self, m: Module, register: Register) -> None:
        for field in register.fields:
            if field.access == "ro":
                continue
            name = field_port(register, field)
            port: Signal = getattr(self, name)
            given = self.wdata[field.low : field.low + field.width]
            strobes = Cat(self.wstrb[bit // 8] for bit in range(field.low, field.low + field.width))
            if field.access == "rw":
                for byte in range(REGISTER_BYTES):
                    bits = [n for n in range(field.width) if (field.low + n) // 8 == byte]
                    if bits:
                        part = slice(bits[0], bits[-1] + 1)
                        with m.If(self.wstrb[byte]):
                            m.d.sync += port[part].eq(given[part])
            else:
                m.d.comb += getattr(self, f"{name}_written").eq(given & strobes)
