"""The checksum of a memory image: CRC-64/ECMA-182 over every bit of every element.

The image is the arrays in the given order, each row-major, each element as its width's bits, most
significant first (two's complement). The hardware unit absorbs the same words in the same order
(`rtlgen.ir.crc.absorb_masks`).

A CRC is linear, and zeros in front of a message do not change it when the initial state is 0. So
the image is padded in front to a square of bytes, all its rows advance together through one table,
and the rows' remainders are folded into one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rtlgen.ir.crc import absorb, power_of_x, times_x
from rtlgen.verify.values import Elements, to_words

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
