"""The contents of the memory off chip: arrays to bytes and back, and whose each byte is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import MappedArray, MemoryMap

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
