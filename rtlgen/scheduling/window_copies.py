"""How many copies windows have: one for the tile that runs, more for the movers."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.scheduling.movers import Moved
from rtlgen.scheduling.traffic import Traffic

FEW_BITS = 1
"""Log2 of the copies of a window: one is in use while the mover is at the other."""

MORE_BITS = 2
"""The same where the RAM is there: tiles that take longer than others are made up for."""

FREE_WORDS = 512
"""Words of a window up to which more copies take no more block RAM. Larger ones of what is loaded
have few copies, since all their readers have them."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Which windows have many copies."""

    drained: bool
    filled: bool

    def bits_of(self, moved: Moved, drained: bool) -> int:
        """Return log2 of the copies of a window."""
        if drained:
            return MORE_BITS if self.drained else FEW_BITS
        is_small = moved.window_words(MORE_BITS) <= FREE_WORDS
        return MORE_BITS if self.filled and is_small else FEW_BITS

    def ram_bits(self, traffic: Traffic) -> int:
        """Return the bits of all windows, each copy for a reader of its own."""
        loads = [(m, self.bits_of(m, False), traffic.ports(keys)) for m, keys in traffic.loads()]
        stores = [(m, self.bits_of(m, True), 1) for m in traffic.stores()]
        return sum(
            moved.window_words(bits) * traffic.word_bits * readers
            for moved, bits, readers in (*loads, *stores)
        )


FEW = Copies(False, False)
