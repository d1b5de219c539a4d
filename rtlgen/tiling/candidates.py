"""Tiles that were looked at: what each of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.tiling.part import TiledPart
from rtlgen.transforms.tile_nests import Tiling

HANDOVER_CYCLES = 4
"""From the last word of a load to the kernel, and from there to the first one of a store."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice of tiles for a unit.

    Members
    -------
    kernel_cycles: in which tiles follow each other without a wait. bus_cycles: in which the words
        do. ram_bits: of all copies of windows and kept memories.
    waiting_cycles: in which loads and the stores that they wait for follow each other, with the
        tiles in between.
    """

    tiling: Tiling
    kernel_cycles: int
    bus_cycles: int
    words: int
    ram_bits: int
    waiting_cycles: int = 0

    @staticmethod
    def of(part: TiledPart, latency_cycles: int) -> Candidate:
        """Return what a unit costs in the tiles that it is planned in."""
        words = part.words_moved
        return Candidate(
            part.tiling,
            part.region.tiles * part.region.issue_cycles,
            words * latency_cycles,
            words,
            part.ram_bits,
            _waiting(part, latency_cycles),
        )

    @property
    def cycles(self) -> int:
        """About the number of cycles: neither kernel nor bus can be faster."""
        return max(self.kernel_cycles, self.bus_cycles, self.waiting_cycles)


def _waiting(part: TiledPart, latency_cycles: int) -> int:
    """Return about how long it takes where loads wait for stores of tiles before.

    Meanwhile other loads are at the bus: no more is sure than that so many tiles overlap.
    """
    distances = [d for transfer in part.region.transfers for _, d in transfer.after]
    if not distances:
        return 0
    tile = part.region.kernel.length_cycles + HANDOVER_CYCLES
    return (part.words_moved * latency_cycles + part.region.tiles * tile) // min(distances)


def pareto(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates than which none has less RAM and no more cycles, by their RAM."""
    found: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.ram_bits, c.cycles)):
        if not found or candidate.cycles < found[-1].cycles:
            found.append(candidate)
    return found
