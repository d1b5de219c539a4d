"""The memory off chip as a circuit sees it: which arrays are where, and what an access takes.

There are three kinds of them.

- `fixed`: a word an access, one access at a time, each of L cycles.
- `axi`: an AXI4 bus. Reads and writes have channels of their own, words that follow each other are
  one burst, and many of them are on their way at the same time. L is the cycles from the one in
  which the address of a read is taken to that of its first word, and from that of the last word
  written to that of the response.
- `dram`: the same, but the memory has one data bus for both ways, in the order in which it was
  asked: by the address of a read, and the last word of a write. A burst takes four cycles of it
  more than its words, and begins L cycles after it was asked for, or when the bus is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.scop import Role
from rtlgen.manifest.memory_map import AXI_BASE_BYTES
from rtlgen.options import BusKind

BYTE_BITS = 8

BURST_WORDS = 16
"""Words of a burst at most. A burst ends where the number of the next word is a multiple of this:
so it never crosses a border of 4096 bytes either, whatever the width of a word.
"""

DRAM_BURST_CYCLES = 4
"""Of the data bus of a DRAM, for every burst, beside one for each of its words."""

LEAST_READ_WORDS, LEAST_WRITE_BURSTS = 64, 16
"""What may be on its way where the memory answers soon; see `Bus`."""

PORT_CYCLES = 8
"""Cycles that an access takes between mover, port and bus."""

Direction: TypeAlias = Literal["load", "store"]


@dataclass(frozen=True, slots=True)
class OffChip:
    """A C array that lives off chip, row-major, each of its rows on whole words.

    Members
    -------
    shape: its extents; the last one is that of a row. role: as in the Scop.
    base_words: the word that its first row begins with.
    in_c: its extents in C, where short rows are one; None: as in `shape`.
    """

    name: str
    width_bits: int
    signed: bool
    shape: tuple[int, ...]
    role: Role
    base_words: int
    in_c: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if prod(self.c_shape) != prod(self.shape):
            raise PlanError(f"{self.name} of shape {self.c_shape} has rows as of {self.shape}")

    @property
    def c_shape(self) -> tuple[int, ...]:
        """Its extents in C."""
        return self.shape if self.in_c is None else self.in_c

    def row_words(self, word_bits: int) -> int:
        """Return the words from one row to the next."""
        return -(-self.shape[-1] * self.width_bits // word_bits)

    def words(self, word_bits: int) -> int:
        """Return the words of the whole array."""
        return prod(self.shape[:-1]) * self.row_words(word_bits)


def _power_above(least: int) -> int:
    """Return the smallest power of two that is not less."""
    return 1 << (least - 1).bit_length()


@dataclass(frozen=True, slots=True)
class Bus:
    """How words come and go; see the module.

    Members
    -------
    latency_cycles: L.
    """

    kind: BusKind
    latency_cycles: int

    def __post_init__(self) -> None:
        if self.latency_cycles < 1:
            raise PlanError(f"an access of {self.latency_cycles} cycles")

    def __str__(self) -> str:
        return f"{self.kind}:{self.latency_cycles}"

    @property
    def has_bursts(self) -> bool:
        """Whether words that follow each other are moved together."""
        return self.kind != "fixed"

    @property
    def burst_cycles(self) -> int:
        """Cycles of the data bus that a burst takes beside those of its words."""
        return DRAM_BURST_CYCLES if self.kind == "dram" else 0

    @property
    def is_shared(self) -> bool:
        """Whether reads and writes share one data bus, on which bursts follow each other."""
        return self.kind == "dram"

    @property
    def read_words(self) -> int:
        """Words that may have been asked for and not come yet.

        So many that bursts of one word keep the bus busy until the first one of them has come.
        """
        return max(LEAST_READ_WORDS, _power_above(self.latency_cycles + PORT_CYCLES))

    @property
    def write_bursts(self) -> int:
        """Bursts that may have been written, or wait for that, and are not answered yet.

        So many that bursts of one word keep the bus busy. More of them would only be before the
        reads on a bus that both share.
        """
        bursts = -(-(self.latency_cycles + PORT_CYCLES) // (1 + self.burst_cycles))
        return max(LEAST_WRITE_BURSTS, _power_above(bursts))

    def alignment_words(self, word_bits: int) -> int:
        """Return of how many words each array begins at a multiple."""
        return AXI_BASE_BYTES * BYTE_BITS // word_bits if self.has_bursts else 1

    def behind(self, latency_cycles: int) -> Bus:
        """Return the bus of the same circuit in front of a memory with another latency."""
        return _OtherMemory(self.kind, latency_cycles, self)

    def busy_cycles(self, loaded_words: int, stored_words: int, bursts: int = 0) -> int:
        """Return the cycles for which words occupy the bus at least, in so many bursts or more."""
        words = loaded_words + stored_words
        if self.kind == "fixed":
            return words * self.latency_cycles
        if self.is_shared:
            return words + self.burst_cycles * max(bursts, -(-words // BURST_WORDS))
        return max(loaded_words, stored_words)


@dataclass(frozen=True, slots=True)
class _OtherMemory(Bus):
    """A bus whose circuit was built for a memory of another latency.

    Members
    -------
    built_for: how many accesses may be on their way is as there.
    """

    built_for: Bus

    @property
    def read_words(self) -> int:
        return self.built_for.read_words

    @property
    def write_bursts(self) -> int:
        return self.built_for.write_bursts


@dataclass(frozen=True, slots=True)
class MemorySide:
    """The memory off chip.

    Members
    -------
    word_bits: of the bus. depth_words: of the memory, as far as the arrays go.
    """

    word_bits: int
    bus: Bus
    arrays: tuple[OffChip, ...]

    def __post_init__(self) -> None:
        if self.word_bits < BYTE_BITS or self.word_bits & (self.word_bits - 1):
            raise PlanError(f"a bus of {self.word_bits} bits")
        taken = 0
        for array in sorted(self.arrays, key=lambda array: array.base_words):
            if not array.shape or array.width_bits > self.word_bits:
                raise PlanError(f"{array.name} does not fit words of {self.word_bits} bits")
            if array.base_words < taken:
                raise PlanError(f"{array.name} begins in another array")
            if array.base_words % self.bus.alignment_words(self.word_bits):
                raise PlanError(f"{array.name} begins inside of a page")
            taken = array.base_words + array.words(self.word_bits)

    @property
    def depth_words(self) -> int:
        return max((a.base_words + a.words(self.word_bits) for a in self.arrays), default=0)

    @property
    def bytes_per_word(self) -> int:
        return self.word_bits // BYTE_BITS
