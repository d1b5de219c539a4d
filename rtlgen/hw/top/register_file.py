"""The registers of a map: what software writes is kept, what the circuit says is read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.manifest.registers import REGISTER_BYTES, Field, Register, RegisterMap

_FLOWS = {"ro": In, "rw": Out}


def field_port(register: Register, field: Field) -> str:
    """Return the name of a port of `RegisterFile`."""
    own = () if field.name == "VALUE" else (field.name,)
    return "_".join((register.name, *own))


class RegisterFile(wiring.Component):
    """Read and write the registers of a map: one is chosen, and a cycle later it is reached.

    A register for each choice takes far less logic than a decoder of addresses in front of every
    bit that is read, and at every byte that is written.

    Members
    -------
    access: In(1), high until `over`. is_write, word, wdata, wstrb: In, of the access, until then;
        `word` is its address in words. over: Out(1), the access is over.
    found: Out(1), with `over`: there is a register at `word`.
    rdata: Out, in the cycle behind `over`, and until the next access.
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
                    "access": In(1),
                    "is_write": In(1),
                    "over": Out(1),
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
        looks = self.access & ~self.over
        m.d.sync += self.over.eq(looks)
        words: list[Value] = []
        choices: list[Signal] = []
        for register in self.registers.registers:
            chosen = Signal(name=f"{register.name}_chosen")
            here = self.word == register.offset // REGISTER_BYTES
            m.d.sync += chosen.eq(looks & here)
            choices.append(chosen)
            shown = Cat(self._shown(register))
            words.append(shown & chosen.replicate(len(shown)))
            with m.If(chosen & self.is_write):
                self._write(m, register)
        m.d.comb += self.found.eq(Cat(choices).any())
        with m.If(self.over):
            m.d.sync += self.rdata.eq(reduce(or_, words))
        return m

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
