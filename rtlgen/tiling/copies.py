"""How many copies each window has, so that its mover runs ahead as far as it has to.

With few copies a mover is one tile ahead. Tiles that move more than others then make the kernel
wait, though the bus is idle before them. More copies take more RAM, and which windows gain by them
depends on all others: so all have many first, and those go that are missed least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rtlgen.ir.effort import keep_going
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import TiledRegion, Transfer
from rtlgen.ir.timeline import workers_cycles
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.tiling.part import TiledPart

MOST_BITS = 3
"""Log2 of the copies that a window has at most."""

LONG_TILES, LONG_BITS = 6_000, 2
"""Tiles of a unit from which on windows have fewer at most: it takes longer to follow them."""

NOT_MISSED = 1.0005
"""Times as many cycles as without them up to which copies are not missed."""

MOST_TRIED = 40
"""Choices of copies of which it is followed how long they take, before some fit."""

FOLLOWING = 100
"""Elementary steps that it counts for to follow a tile of a unit once."""


class CopySearch:
    """Find copies of the windows of a unit with which it waits less.

    Parameters
    ----------
    budget_bits: RAM that the unit may take.
    """

    def __init__(self, part: TiledPart, bus: Bus, budget_bits: int) -> None:
        self.part = part
        self.bus = bus
        workers = len(part.workers.regions)
        memories = {memory.name: memory for memory in part.windows.memories}
        self._now: dict[str, int] = {}
        self._bits: dict[str, int] = {}
        for transfer in part.region.transfers:
            memory = memories[transfer.window]
            taken = memory.depth * memory.width_bits * memory.read_ports * memory.is_ram
            self._now[transfer.window] = transfer.at.tile_bits
            self._bits[transfer.window] = workers * taken >> transfer.at.tile_bits
        self._left = budget_bits - part.ram_bits + self._taken(self._now)

    def best(self, fewest: int) -> Mapping[str, int] | None:
        """Return log2 of the copies of each window; None where none make it fast enough.

        Parameters
        ----------
        fewest: cycles of which other copies have to save some.
        """
        most = int(TOLERANCE * fewest)
        many = MOST_BITS if self.part.region.tiles < LONG_TILES else LONG_BITS
        chosen = {window: max(bits, many) for window, bits in self._now.items()}
        cycles = self._cycles(chosen, most)
        if cycles > most:
            return None
        fitting = self._fitting(chosen, cycles, most, set())
        return None if fitting is None else self._without_waste(fitting[1], most)

    def _fitting(
        self, chosen: dict[str, int], cycles: int, most: int, seen: set[tuple[int, ...]]
    ) -> tuple[int, dict[str, int]] | None:
        """Return the same with as few copies as the RAM has room for, and its cycles.

        Those go first that are missed least, then others, where that leads to fewer cycles.

        Parameters
        ----------
        seen: copies that have been looked at, of all windows; those that are now are added.
        """
        missing = self._taken(chosen) - self._left
        if missing <= 0:
            return cycles, chosen
        found = [
            (self._cycles(less, most), self._taken(less), less)
            for less in self._fewer(chosen, missing)
            if _is_new(less, seen)
        ]
        best = None
        for cycles, _, less in sorted(found, key=lambda f: f[:2]):
            if cycles > most:
                break
            fitting = self._fitting(less, cycles, most, seen)
            if fitting is not None:
                best, most = fitting, int(TOLERANCE * fitting[0])
        return best

    def _fewer(self, chosen: Mapping[str, int], missing: int) -> Iterator[dict[str, int]]:
        """Yield the same with half as many copies of one window, where that saves enough to matter.

        Parameters
        ----------
        missing: bits of RAM.
        """
        saved = {w: self._bits[w] << bits - 1 for w, bits in chosen.items() if bits > 1}
        enough = min(missing, max(saved.values(), default=0)) / 4
        for window, bits in saved.items():
            if bits >= enough:
                yield {**chosen, window: chosen[window] - 1}

    def _without_waste(self, chosen: dict[str, int], most: int) -> dict[str, int]:
        """Return the same without copies that are not missed, those that take most RAM first."""
        limit = min(most, int(NOT_MISSED * self._cycles(chosen, most)))
        for window in sorted(chosen, key=lambda w: -self._bits[w]):
            while chosen[window] > 1:
                less = {**chosen, window: chosen[window] - 1}
                if self._cycles(less, limit) > limit:
                    break
                chosen = less
        return chosen

    def _taken(self, copies: Mapping[str, int]) -> int:
        return sum(self._bits[window] << bits for window, bits in copies.items())

    def _cycles(self, copies: Mapping[str, int], most: int) -> int:
        """Return the cycles with so many copies; more than `most` where there are more."""
        keep_going(work=FOLLOWING * self.part.region.tiles)

        def with_copies(region: TiledRegion) -> TiledRegion:
            pairs = zip(region.transfers, self.part.region.transfers, strict=True)
            moved = tuple(_in_copies(own, copies[like.window]) for own, like in pairs)
            return replace(region, transfers=moved)

        workers = self.part.workers
        changed = replace(workers, regions=tuple(map(with_copies, workers.regions)))
        return workers_cycles(changed, self.bus, most)


def _in_copies(transfer: Transfer, bits: int) -> Transfer:
    return replace(transfer, at=replace(transfer.at, tile_bits=bits))


def _is_new(copies: Mapping[str, int], seen: set[tuple[int, ...]]) -> bool:
    """Tell whether copies have not been looked at, nor too many others; they are from now on."""
    key = tuple(copies.values())
    if key in seen or len(seen) >= MOST_TRIED:
        return False
    seen.add(key)
    return True
