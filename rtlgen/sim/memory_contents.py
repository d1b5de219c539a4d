"""What is in the memory off chip of a simulation, and the rules of who may write it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rtlgen.manifest.contents import Manifest
from rtlgen.sim.job import MemoryLeft
from rtlgen.sim.memory_image import LOCAL, NOBODYS, READ_ONLY, Bytes, over_store, owners, pattern

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
