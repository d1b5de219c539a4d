"""Words that the registers of a block show, in one RAM: counts of a run, and what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Array, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory as Ram
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.memory import BYTE_BITS
from rtlgen.manifest.registers import REGISTER_BITS


class WordFile(wiring.Component):
    """Count the cycles in which something is so, for each of some things, and keep other words.

    The counts take turns: in each cycle one of them is read, and what came since its last turn, a
    number of a few bits, is added to it. So there is one adder, and whoever shows a word chooses
    from one, however many there are. Behind the word of a count of 64 bits comes its upper half, to
    which the carry is added. Where a word is asked for, the turn waits for a cycle.

    Parameters
    ----------
    kept: the addresses, in words, of those that are written. counts: of each count: one, or two,
        the lower half first. Counts follow each other, behind all others.
    word_bits: a multiple of 8.

    Members
    -------
    ready: Out(1), low for some cycles behind a reset, in which all words become 0.
    begins: In(1), the counts begin at 0; this cycle is not counted.
    count_NAME: In(1), this cycle counts; for each count.
    asks: In(1), at most in one of three cycles: read the word at `place`, one of `kept`; `place`:
        In, the lowest bits of its address. writes: In, in the cycle behind: a bit for each byte of
        it that becomes that of `wdata`: In.
    turn: Out, the lowest bits of the address of the count that is read in this cycle; not with
        `asks`.
    word: Out, in the cycle behind: what was read; in a count is all from before its last turn.
    """

    def __init__(
        self,
        kept: Sequence[int],
        counts: Mapping[str, Sequence[int]],
        word_bits: int = REGISTER_BITS,
    ) -> None:
        self.kept, self.counts, self.word_bits = kept, counts, word_bits
        self._turns = [word for halves in counts.values() for word in halves]
        self._first = min((*kept, *self._turns))
        if self._turns != list(range(self._turns[0], self._turns[0] + len(self._turns))):
            raise ValueError(f"counts are at the words {self._turns}")
        if any(word > self._turns[0] for word in kept):
            raise ValueError("counts are before other words")
        self._all = self._turns[-1] - self._first + 1
        place = max(1, (self._all - 1).bit_length())
        super().__init__(
            Signature(
                {
                    "ready": Out(1),
                    "begins": In(1),
                    **{f"count_{name}": In(1) for name in counts},
                    "asks": In(1),
                    "place": In(place),
                    "writes": In(word_bits // BYTE_BITS),
                    "wdata": In(word_bits),
                    "turn": Out(place, init=self._first % (1 << place)),
                    "word": Out(word_bits),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        size = 1 << len(self.place)
        m.submodules.ram = ram = Ram(
            shape=self.word_bits, depth=size, init=[], attrs={"ram_style": "distributed"}
        )
        read_port = ram.read_port(domain="comb")
        write_port = ram.write_port()
        first, last = self._turns[0] % size, self._turns[-1] % size
        before = Signal(len(self.place), name="place_before")
        asked = Signal()
        m.d.comb += read_port.addr.eq(Mux(self.asks, self.place, self.turn))
        m.d.sync += [before.eq(read_port.addr), asked.eq(self.asks), self.word.eq(read_port.data)]
        # The turns that are left in which words become 0: of all words, or of the counts.
        left = Signal(range(self._all + 1), init=self._all, name="turns_left")
        with m.If(~self.asks):
            m.d.sync += self.turn.eq(Mux(self.turn == last, first, self.turn + 1))
            with m.If(left != 0):
                m.d.sync += [left.eq(left - 1), self.word.eq(0)]
        with m.If(self.begins):
            m.d.sync += left.eq(len(self._turns))
        with m.If(left == 0):
            m.d.sync += self.ready.eq(1)
        total = self._build_sum(m, before, asked)
        kept = Signal(self.word_bits)
        for written, part, given, summed in zip(
            self.writes, _bytes(kept), _bytes(self.wdata), _bytes(total), strict=True
        ):
            m.d.comb += part.eq(Mux(written, given, summed))
        m.d.comb += [
            write_port.addr.eq(before),
            write_port.data.eq(kept),
            write_port.en.eq(1),
        ]
        return m

    def _build_sum(self, m: Module, place: Value, asked: Value) -> Value:
        """Return the word that was read, and what came since the last turn of its place."""
        size = 1 << len(self.place)
        total = Signal(self.word_bits + 1)
        carry = Signal()
        more: list[Value] = [Const(0)] * size
        for name, (low, *upper) in self.counts.items():
            # Every third cycle may be another's than a turn's.
            since = Signal(range(2 * len(self._turns)), name=f"{name.lower()}_since")
            more[low % size] = since
            for high in upper:
                more[high % size] = carry
            counts = getattr(self, f"count_{name}")
            with m.If(self.begins):
                m.d.sync += since.eq(0)
            with m.Elif(place == low % size):
                m.d.sync += since.eq(counts)
            with m.Else():
                m.d.sync += since.eq(since + counts)
        m.d.comb += total.eq(self.word + Array(more)[place])
        with m.If(~asked):
            m.d.sync += carry.eq(total[-1])
        return total[:-1]


def _bytes(word: Value) -> list[Value]:
    return [word[low : low + BYTE_BITS] for low in range(0, len(word), BYTE_BITS)]
