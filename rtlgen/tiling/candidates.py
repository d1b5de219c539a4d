"""Tiles that were looked at: what each of them costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.timeline import estimated_cycles, workers_cycles
from rtlgen.tiling.part import TiledPart
from rtlgen.transforms.tile_nests import Tiling

FOLLOWED_TILES = 1 << 17
"""Tiles up to which it is followed how long they take, where there are many choices."""

WORTH_FOLLOWING = 0.999
"""Share of the fewest cycles found below which it is followed how long other tiles take."""

SAMPLED_TILES = 1 << 13
"""Of more tiles, shared by workers, those that are followed: from these it is known what they wait
for. Those of one worker take what kernel or bus take."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One choice of tiles for a unit.

    Members
    -------
    loops: that are cut.
    cycles: that it takes; of many tiles as many as the first ones suggest, or at least so many, as
        where others are known to take fewer.
    kernel_cycles: in which tiles follow each other without a wait. bus_cycles: in which the words
        do. ram_bits: of all copies of windows and kept memories.
    """

    loops: tuple[str, ...]
    tiling: Tiling
    cycles: int
    kernel_cycles: int
    bus_cycles: int
    words: int
    ram_bits: int

    @staticmethod
    def of(
        part: TiledPart, bus: Bus, fewest: int | None = None, followed: int = FOLLOWED_TILES
    ) -> Candidate:
        """Return what a unit costs in the tiles that it is planned in.

        Parameters
        ----------
        fewest: cycles that are known to do; tiles that take more for sure are not followed.
        followed: tiles up to which it is followed how long they take.
        """
        kernel, busy = part.kernel_cycles, busy_cycles(part, bus)
        cycles = max(kernel, busy)
        is_worth_it = fewest is None or cycles < WORTH_FOLLOWING * fewest
        if part.region.tiles <= followed and is_worth_it:
            cycles = workers_cycles(part.workers, bus, fewest)
        elif is_worth_it and len(part.workers.regions) > 1:
            cycles = max(cycles, estimated_cycles(part.workers, bus, SAMPLED_TILES))
        loops = tuple(part.loops.iterators[: part.tiling.depth])
        return Candidate(loops, part.tiling, cycles, kernel, busy, part.words_moved, part.ram_bits)


def busy_cycles(part: TiledPart, bus: Bus) -> int:
    """Return the cycles in which the words of a unit follow each other on the bus."""
    bursts = part.bursts if bus.is_shared else 0
    return bus.busy_cycles(part.words_by("load"), part.words_by("store"), bursts)


class Comparison:
    """What plans of a unit cost, as exactly as it takes to know the best one that fits.

    Parameters
    ----------
    bus: to the memory off chip. budget_bits: RAM that a plan may take.
    fewest: cycles that are known to do without any of them. followed: see `Candidate.of`.
    """

    def __init__(
        self,
        bus: Bus,
        budget_bits: int,
        fewest: int | None = None,
        followed: int = FOLLOWED_TILES,
    ) -> None:
        self.bus = bus
        self.budget_bits = budget_bits
        self.fewest = fewest
        self.followed = followed
        self._known: dict[TiledPart, Candidate] = {}

    def least(self, part: TiledPart) -> int:
        """Return the cycles that a plan takes at least, as is known without following it."""
        return max(part.kernel_cycles, busy_cycles(part, self.bus))

    def of(self, part: TiledPart) -> Candidate:
        """Return what a plan costs."""
        if part not in self._known:
            found = Candidate.of(part, self.bus, self.fewest, self.followed)
            self._known[part] = found
            if part.ram_bits <= self.budget_bits:
                self.fewest = min(found.cycles, self.fewest or found.cycles)
        return self._known[part]


def pareto(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates than which none has less RAM and no more cycles, by their RAM."""
    found: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (c.ram_bits, c.cycles)):
        if not found or candidate.cycles < found[-1].cycles:
            found.append(candidate)
    return found
