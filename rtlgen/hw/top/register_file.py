"""The registers of a map: what software writes is kept, what the circuit says is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.top.word_file import WordFile
from rtlgen.manifest.registers import (
    REGISTER_BITS,
    REGISTER_BYTES,
    Field,
    Register,
    RegisterMap,
)


def field_port(register: Register, field: Field) -> str:
    """Return the name of a port of `RegisterFile`."""
    own = () if field.name == "VALUE" else (field.name,)
    return "_".join((register.name, *own))


class RegisterFile(wiring.Component):
    """Read and write the registers of a map: one is chosen, and a cycle later it is reached.

    A register for each choice takes far less logic than a decoder of addresses in front of every
    bit that is read, and at every byte that is written. What a `WordFile` holds is one word to
    choose from: counts, and a copy of each value that software writes.

    Parameters
    ----------
    counts: the values that count cycles. words: what the `WordFile` is made by.

    Members
    -------
    access: In(1), high until `over`. is_write, word, wdata, wstrb: In, of the access, until then;
        `word` is its address in words. over: Out(1), the access is over: in the next cycle, but for
        some cycles behind a reset, and of a count at its second turn from then on.
    found: Out(1), with `over`: there is a register at `word`.
    rdata: Out, in the cycle behind `over`, and until the next access.
    begins: In(1), the counts begin at 0. count_NAME: In(1), this cycle counts; for each count.
    of each other field that is no constant, by its register and its own name:
    NAME: Out, of access `rw`: what was written last; In, of any other: what is read.
    NAME_written: Out, of access `w1s` and `w1c`: the bits to which 1 is written in this cycle.
    """

    def __init__(
        self,
        registers: RegisterMap,
        counts: Sequence[str],
        words: Callable[..., WordFile] = WordFile,
    ) -> None:
        self.registers = registers
        self._counts = {name: registers.halves(name) for name in counts}
        self._counters = [half for halves in self._counts.values() for half in halves]
        self._new_words = words
        self._kept = [register for register in registers.registers if register.is_argument]
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
                    "begins": In(1),
                    **{f"count_{name}": In(1) for name in counts},
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
            if register in self._counters:
                continue
            for field in register.fields:
                if not field.is_constant:
                    yield register, field

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.words = words = self._new_words(
            [register.word for register in self._kept],
            {name: [half.word for half in halves] for name, halves in self._counts.items()},
        )
        m.d.comb += [
            words.begins.eq(self.begins),
            *(getattr(words, f"count_{n}").eq(getattr(self, f"count_{n}")) for n in self._counts),
        ]
        shows, counted = self._look(m, words)
        choices = {register.offset: self._chosen(m, shows, register) for register in self._single}
        count_chosen = Signal()
        m.d.sync += [self.over.eq(shows), count_chosen.eq(counted)]
        m.d.comb += self.found.eq(Cat(count_chosen, *choices.values()).any())
        for register in self._single:
            with m.If(choices[register.offset] & self.is_write):
                self._write(m, register)
        kept = Cat(choices[register.offset] for register in self._kept).any()
        m.d.comb += [
            words.wdata.eq(self.wdata),
            words.writes.eq(Mux(self.is_write & kept, self.wstrb, 0)),
        ]
        shown = [words.word & count_chosen.replicate(REGISTER_BITS)]
        masks: dict[int, list[Signal]] = {}
        for register in self._single:
            choice = choices[register.offset]
            if register in self._kept:
                masks.setdefault(sum(field.mask for field in register.fields), []).append(choice)
            else:
                value = Cat(self._shown(register))
                shown.append(value & choice.replicate(len(value)))
        shown += [
            words.word & mask & Cat(some).any().replicate(REGISTER_BITS)
            for mask, some in masks.items()
        ]
        with m.If(self.over):
            m.d.sync += self.rdata.eq(reduce(or_, shown))
        return m

    def _look(self, m: Module, words: WordFile) -> tuple[Value, Value]:
        """Ask the words; return whether an access is over in the next cycle, and is of a count."""
        looks = Signal()
        shows = Signal()
        counted = Signal()
        m.d.comb += [
            looks.eq(self.access & ~self.over & words.ready),
            shows.eq(looks),
            words.asks.eq(looks & self._is_one_of(self._kept)),
            words.place.eq(self.word),
        ]
        is_turn = Signal()
        second = Signal()
        m.d.comb += is_turn.eq(words.turn == self.word[: len(words.turn)])
        m.d.sync += second.eq(looks & (second | is_turn))
        with m.If(self._is_one_of(self._counters)):
            m.d.comb += [counted.eq(looks & is_turn & second), shows.eq(counted)]
        return shows, counted

    @property
    def _single(self) -> list[Register]:
        """The registers that are chosen each for itself: all but counts."""
        return [each for each in self.registers.registers if each not in self._counters]

    def _is_one_of(self, registers: Sequence[Register]) -> Value:
        return Cat(self.word == register.word for register in registers).any()

    def _chosen(self, m: Module, shows: Value, register: Register) -> Signal:
        chosen = Signal(name=f"{register.name}_chosen")
        m.d.sync += chosen.eq(shows & (self.word == register.word))
        return chosen

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
