"""Compare two memories, element by element or by the checksum that stands for them.

The checksum of a memory image: CRC-64/ECMA-182 over every bit of every element.

The image is the arrays in the given order, each row-major, each element as its width's bits, most
significant first (two's complement). The hardware unit absorbs the same words in the same order
(`rtlgen.ir.crc.absorb_masks`).

A CRC is linear, and zeros in front of a message do not change it when the initial state is 0. So
the image is padded in front to a square of bytes, all its rows advance together through one table,
and the rows' remainders are folded into one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rtlgen.ir.crc import absorb, power_of_x, times_x
from rtlgen.verify.values import Elements, Value, element_value, to_words, value_json, value_text

SHOWN_MISMATCHES = 10


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that differs.

    Members
    -------
    index: its subscripts, () for a scalar.
    cycle: when the circuit wrote it last, if that is known.
    """

    array: str
    index: tuple[int, ...]
    expected: Value
    got: Value
    cycle: int | None = None

    def __str__(self) -> str:
        element = self.array + "".join(f"[{i}]" for i in self.index)
        when = "" if self.cycle is None else f", written in cycle {self.cycle}"
        expected, got = value_text(self.expected), value_text(self.got)
        return f"{element}: expected {expected}, got {got}{when}"

    def to_json(self) -> dict[str, object]:
        """Return the mismatch as a JSON-serialisable object."""
        return {
            "array": self.array,
            "index": list(self.index),
            "expected": value_json(self.expected),
            "got": value_json(self.got),
            "cycle": self.cycle,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison.

    Members
    -------
    first: the first mismatches, in order of arrays and of memory.
    mismatches: number of elements that differ.
    elements: number of elements compared.
    """

    first: tuple[Mismatch, ...]
    mismatches: int
    elements: int

    @property
    def exact(self) -> bool:
        """Whether every element agrees, and there was one to compare."""
        return self.mismatches == 0 and self.elements > 0

    def with_cycles(self, cycles: Mapping[tuple[str, tuple[int, ...]], int]) -> Comparison:
        """Return the comparison with the cycles of the writes filled in where they are known."""
        first = tuple(
            replace(mismatch, cycle=cycles.get((mismatch.array, mismatch.index)))
            for mismatch in self.first
        )
        return replace(self, first=first)

    def text(self) -> str:
        """Return the comparison for a person, one line a mismatch, without a final newline."""
        if not self.elements:
            return "nothing was compared"
        if self.exact:
            return f"all {self.elements} elements agree"
        lines = [f"{self.mismatches} of {self.elements} elements differ"]
        lines += [f"  {mismatch}" for mismatch in self.first]
        if self.mismatches > len(self.first):
            lines.append(f"  and {self.mismatches - len(self.first)} more")
        return "\n".join(lines)


def compare_memories(
    expected: Mapping[str, Elements],
    got: Mapping[str, Elements],
    *,
    shown: int = SHOWN_MISMATCHES,
) -> Comparison:
    """Compare every element of every array.

    Raises
    ------
    ValueError: the two do not hold the same arrays, of the same types and shapes.
    """
    if set(expected) != set(got):
        raise ValueError(f"arrays {sorted(expected)} are compared with {sorted(got)}")
    first: list[Mismatch] = []
    mismatches = elements = 0
    for name, wanted in expected.items():
        found = got[name]
        if wanted.dtype != found.dtype or wanted.shape != found.shape:
            forms = f"{wanted.dtype} {wanted.shape} is compared with {found.dtype} {found.shape}"
            raise ValueError(f"{name}: {forms}")
        differ = to_words(wanted) != to_words(found)
        places = np.argwhere(differ.reshape(wanted.shape))
        elements += wanted.size
        mismatches += len(places)
        for place in places[: shown - len(first)].tolist():
            index = tuple(place)
            values = (element_value(wanted[index]), element_value(found[index]))
            first.append(Mismatch(name, index, *values))
    return Comparison(tuple(first), mismatches, elements)


_Words = npt.NDArray[np.uint64]
_MAX_LANES = 4096


def checksum(arrays: Iterable[Elements]) -> int:
    """Return the 64-bit checksum of `arrays`, in the order given.

    Parameters
    ----------
    arrays: of any shape, shape () included; the item size is the element width. Of numbers it is
        over their patterns.
    """
    return crc_of_bytes(b"".join(_big_endian_bytes(array) for array in arrays))


def format_checksum(value: int) -> str:
    """Return the checksum as it stands in reports: 16 hexadecimal digits after 0x."""
    return f"0x{value:016x}"


def crc_of_bytes(message: bytes) -> int:
    """Return the CRC-64/ECMA-182 of `message`, first byte first."""
    if not message:
        return 0
    lanes = min(_MAX_LANES, math.isqrt(len(message) - 1) + 1)
    length = -(-len(message) // lanes)
    padded = np.zeros(lanes * length, dtype=np.uint8)
    padded[padded.size - len(message) :] = np.frombuffer(message, dtype=np.uint8)
    columns = np.ascontiguousarray(padded.reshape(lanes, length).T)
    table = _byte_table()
    states = np.zeros(lanes, dtype=np.uint64)
    for column in columns:
        top = (states >> np.uint64(56)).astype(np.uint8) ^ column
        states = (states << np.uint64(8)) ^ table[top]
    return _fold(states, length)


def _fold(states: _Words, length_bytes: int) -> int:
    """Return the CRC of rows of `length_bytes` bytes each, given every row's own CRC."""
    tables = _product_tables(power_of_x(8 * length_bytes))
    result = 0
    for state in states.tolist():
        moved = 0
        for place, table in enumerate(tables):
            moved ^= table[result >> 8 * place & 0xFF]
        result = moved ^ state
    return result


def _product_tables(factor: int) -> list[list[int]]:
    """Return, for each byte place of a state, the product of every byte there with `factor`."""
    tables = []
    for _ in range(8):
        table = [0]
        for _ in range(8):
            # Each further bit doubles the table: the entries with that bit set follow.
            table += [entry ^ factor for entry in table]
            factor = times_x(factor)
        tables.append(table)
    return tables


@lru_cache(maxsize=1)
def _byte_table() -> _Words:
    return np.array([absorb(0, byte, 8) for byte in range(256)], dtype=np.uint64)


def _big_endian_bytes(array: Elements) -> bytes:
    array = np.asarray(array)
    if array.dtype.hasobject or array.dtype.itemsize not in (1, 2, 4, 8):
        raise TypeError(f"a checksum is defined over words of C, not over {array.dtype}")
    words = to_words(array)
    return words.astype(words.dtype.newbyteorder(">")).tobytes()
