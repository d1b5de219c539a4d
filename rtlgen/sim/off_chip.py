"""The memory off chip in simulations: where its arrays are, whose each byte is, what is in it.

Behind an AXI4 port no two arrays are near each other, and they are not in the order of the map: a
circuit that takes the base of another array asks for what is in none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import AXI_BASE_BYTES, MappedArray, MemoryMap
from rtlgen.sim.job import MemoryLeft

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


Bytes = npt.NDArray[np.uint8]

NOBODYS, READ_ONLY, WRITABLE, LOCAL = range(4)
"""Whose a byte is: of no array, of one that the program only reads, of another, of a local one."""


def owners(manifest: Manifest) -> Bytes:
    """Return for every byte of the memory whose it is."""
    memory = _memory(manifest)
    found = np.full(memory.bytes, NOBODYS, np.uint8)
    kinds = {"in": READ_ONLY, "local": LOCAL}
    for array in memory.arrays:
        _elements(found, array)[...] = kinds.get(manifest.array(array.name).role, WRITABLE)
    return found


def pattern(memory: MemoryMap) -> Bytes:
    """Return what is in the memory where no array has been put: no two bytes in a row are alike."""
    return (np.arange(memory.bytes, dtype=np.uint64) * 151 + 90).astype(np.uint8)


def image_of(manifest: Manifest, words: Mapping[str, npt.NDArray[np.unsignedinteger]]) -> Bytes:
    """Return the memory with arrays in it, each given as bit patterns in row-major order."""
    memory = _memory(manifest)
    image = pattern(memory)
    for array in memory.arrays:
        if array.name in words:
            little = words[array.name].astype(f"<u{array.element_bytes}")
            _elements(image, array)[...] = little.view(np.uint8).reshape(array.rows, -1)
    return image


def words_of(image: Bytes, array: MappedArray) -> npt.NDArray[np.unsignedinteger]:
    """Return the bit patterns of an array in the memory, in row-major order."""
    flat = np.ascontiguousarray(_elements(image, array)).reshape(-1)
    words: npt.NDArray[np.unsignedinteger] = flat.view(f"<u{array.element_bytes}")
    return words.astype(f"u{array.element_bytes}")


def latest_of(cycles: npt.NDArray[np.uint32], array: MappedArray) -> npt.NDArray[np.uint32]:
    """Return for every element the latest of the cycles of its bytes, in row-major order."""
    flat = np.ascontiguousarray(_elements(cycles, array))
    latest: npt.NDArray[np.uint32] = flat.reshape(-1, array.element_bytes).max(axis=1)
    return latest


def over_store(manifest: Manifest, cycle: int, byte: int) -> str:
    """Say that a store writes a byte that it must not."""
    return f"cycle {cycle} stores to byte {byte} of the memory, {_place_of(manifest, byte)}"


def element_of(manifest: Manifest, byte: int) -> str | None:
    """Return the element of an array at a byte of the memory, as C has it; None: there is none."""
    for array in _memory(manifest).arrays:
        found = array.element_at(byte)
        if found is not None:
            return array.name + "".join(f"[{subscript}]" for subscript in found)
    return None


def _place_of(manifest: Manifest, byte: int) -> str:
    for array in _memory(manifest).arrays:
        if array.element_at(byte) is not None:
            only = manifest.array(array.name).role == "in"
            element = element_of(manifest, byte)
            return f"in {element}{', which is only read' if only else ''}"
        if array.base_bytes <= byte < array.end_bytes:
            row = "".join(f"[{subscript}]" for subscript in array.row_at(byte))
            return f"behind the row {array.name}{row}"
    return "in no array"


def _elements(image: npt.NDArray[np.generic], array: MappedArray) -> npt.NDArray[np.generic]:
    """Return a view of the elements of an array, a row of bytes for each of its rows."""
    rows = image[array.base_bytes : array.end_bytes].reshape(array.rows, array.row_bytes)
    return rows[:, : array.used_bytes]


def _memory(manifest: Manifest) -> MemoryMap:
    if manifest.memory is None:
        raise ValueError(f"{manifest.name} has no memory off chip")
    return manifest.memory


Cycles: TypeAlias = npt.NDArray[np.uint32]


class AccessError(Exception):
    """The circuit did something with its memory port that the manifest rules out."""


class MemoryContents:
    """The bytes of a memory.

    Members
    -------
    image: its bytes.
    written: for every byte the cycle of the run in which it was last written, 0 where it was not.
    """

    def __init__(self, manifest: Manifest) -> None:
        assert manifest.memory is not None
        self._manifest = manifest
        self._size = manifest.memory.word_bytes
        self._mask = (1 << manifest.memory.word_bits) - 1
        self._owners = owners(manifest)
        self.image: Bytes = pattern(manifest.memory)
        self.written: Cycles = np.zeros(manifest.memory.bytes, np.uint32)

    def load(self, image: Bytes) -> None:
        """Take new contents, but for local arrays: what the last run left is what they have."""
        given = self._owners != LOCAL
        self.image[given] = image[given]
        self.written[:] = 0

    def left(self) -> MemoryLeft:
        """Return what the last run has left."""
        return MemoryLeft(np.where(self._owners == LOCAL, 0, self.image), self.written.copy())

    def word(self, number: int) -> int:
        """Return a word."""
        start = number * self._size
        return int.from_bytes(self.image[start : start + self._size].tobytes(), "little")

    def complement(self, number: int) -> int:
        """Return what no word is that may be looked at."""
        return ~self.word(number) & self._mask

    def require_writable(self, word: int, strobes: int, cycle: int) -> None:
        """Require that the bytes of a word that have a strobe may be written.

        Raises
        ------
        AccessError
        """
        for place in range(self._size):
            byte = word * self._size + place
            if strobes >> place & 1 and self._owners[byte] in (NOBODYS, READ_ONLY):
                raise AccessError(over_store(self._manifest, cycle, byte))

    def store(self, word: int, strobes: int, data: int, cycle: int) -> None:
        """Write the bytes of a word that have a strobe."""
        for place, value in enumerate(data.to_bytes(self._size, "little")):
            if strobes >> place & 1:
                byte = word * self._size + place
                self.image[byte] = value
                self.written[byte] = cycle
