"""Where the arrays of a memory behind an AXI4 port are in simulations.

No two of them are near each other, and they are not in the order of the map: a circuit that takes
the base of another array asks for what is in none.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.manifest.memory_map import AXI_BASE_BYTES, MappedArray, MemoryMap

_APART = 1 << 44
"""Bytes; behind the first 4096 bytes of an array, many bits of the address are others."""


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """An array: the address of its first byte, that byte in the map, and how many it has."""

    array: MappedArray
    address: int

    @property
    def first_byte(self) -> int:
        return self.array.base_bytes

    @property
    def bytes(self) -> int:
        return self.array.end_bytes - self.array.base_bytes


def array_places(memory: MemoryMap) -> tuple[ArrayPlace, ...]:
    """Return the places of all arrays, in the order of the map."""
    arrays = sorted(memory.arrays, key=lambda array: array.base_bytes)
    return tuple(
        ArrayPlace(array, (len(arrays) - n) * _APART - AXI_BASE_BYTES)
        for n, array in enumerate(arrays)
    )


def byte_at(places: tuple[ArrayPlace, ...], address: int, size: int = 1) -> int | None:
    """Return the byte of the map that an address is; None where `size` bytes are in no array."""
    for place in places:
        if place.address <= address and address + size <= place.address + place.bytes:
            return place.first_byte + address - place.address
    return None


def address_of(places: tuple[ArrayPlace, ...], byte: int) -> int:
    """Return the address of a byte of the map, which is in an array."""
    place = next(p for p in places if 0 <= byte - p.first_byte < p.bytes)
    return place.address + byte - place.first_byte
