"""The choice of tiles: their sizes, and the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtlgen.errors import RtlgenError
from rtlgen.ir.plan import Memory, MemorySide
from rtlgen.ir.scop import Scop
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import RaggedDomain, WindowsTooLarge
from rtlgen.target import Target
from rtlgen.tiling.candidates import Candidate
from rtlgen.tiling.part import TiledPart, plan_part
from rtlgen.tiling.program import Program
from rtlgen.transforms.tile_nests import Tiling, tile_orders
from rtlgen.transforms.units import loop_paths

EDGES = (64, 32, 16, 8, 4)
"""Iterations along the sides of the tiles that are tried first."""


@dataclass(frozen=True, slots=True)
class TileRequest:
    """What the user asks of a program whose arrays are off chip.

    Members
    -------
    latency_cycles, word_bits: of the memory off chip. on_chip: arrays that stay on chip.
    sizes: iterations of a tile, a number a loop; () for the compiler's choice.
    budget_bits: RAM on chip that windows and kept memories may take together.
    buffer: whether words are kept on chip while they are used again; else every tile is one
        iteration.
    """

    latency_cycles: int
    word_bits: int
    on_chip: frozenset[str]
    sizes: tuple[int, ...]
    budget_bits: int
    buffer: bool = True


class TileChoice:
    """The choice of tiles for one unit: their sizes, and the order in which they run."""

    def __init__(
        self,
        part: Program,
        side: MemorySide,
        request: TileRequest,
        target: Target,
        taken: Sequence[str],
    ) -> None:
        self.part = part
        self.side = side
        self.request = request
        self.target = target
        self.taken = taken
        self.off_chip = {array.name: array for array in side.arrays}
        self.depth = shared_loops(part.scop)
        self.refused: RtlgenError | None = None
        self.candidates: list[Candidate] = []
        self._known: dict[Tiling, TiledPart | None] = {}

    def best(self) -> TiledPart:
        """Return the unit in the tiles with the fewest cycles that fit."""
        found = self._searched() if self._is_free() else self._asked_for()
        if found is None:
            assert self.refused is not None, "some order was tried"
            raise self.refused
        return found

    def _is_free(self) -> bool:
        return self.request.buffer and not self.request.sizes

    def _asked_for(self) -> TiledPart | None:
        sizes = self.request.sizes[: self.depth] if self.request.buffer else (1,) * self.depth
        return self._in_best_order(sizes)

    def _searched(self) -> TiledPart | None:
        """Try cubes, then longer and shorter sides of the best one."""
        extents = self._extents()
        cubes = [tuple(min(edge, extent) for extent in extents) for edge in EDGES]
        found = [self._in_best_order(sizes) for sizes in dict.fromkeys(cubes)]
        best = self._better(found)
        while best is not None:
            tried = [
                self._in_best_order(sizes) for sizes in _neighbours(best.tiling.sizes, extents)
            ]
            better = self._better([best, *tried])
            assert better is not None
            if self.cost(better) >= self.cost(best):
                break
            best = better
        return best

    def _extents(self) -> tuple[int, ...]:
        """Return for every loop that is cut the power of two that holds all of its iterations."""
        lasts = [
            [last for _, last in list(self.part.scop.schedule.box(s.name).values())[: self.depth]]
            for s in self.part.scop.statements
        ]
        return tuple(1 << max(ends).bit_length() for ends in zip(*lasts, strict=True))

    def _in_best_order(self, sizes: tuple[int, ...]) -> TiledPart | None:
        return self._better(
            [self._tried(Tiling(sizes, order)) for order in tile_orders(len(sizes))]
        )

    def _tried(self, tiling: Tiling) -> TiledPart | None:
        if tiling not in self._known:
            try:
                found = plan_part(
                    self.part,
                    tiling,
                    self.off_chip,
                    self.side.word_bits,
                    self.target,
                    self.taken,
                )
            except (IllegalSchedule, RaggedDomain) as error:
                self.refused = self.refused or error
                self._known[tiling] = None
            else:
                self.candidates.append(Candidate.of(found, self.side.latency_cycles))
                self._known[tiling] = found if self._fits(found) else None
        return self._known[tiling]

    def _fits(self, found: TiledPart) -> bool:
        taken = ram_bits(found.windows.memories)
        if taken <= self.request.budget_bits:
            return True
        if not isinstance(self.refused, WindowsTooLarge) or taken < self.refused.bits:
            self.refused = WindowsTooLarge.of(self.part.scop, taken, self.request.budget_bits)
        return False

    def _better(self, found: Sequence[TiledPart | None]) -> TiledPart | None:
        fitting = [part for part in found if part is not None]
        return min(fitting, key=self.cost, default=None)

    def cost(self, part: TiledPart) -> tuple[int, int]:
        """Return cycles, where kernel and memory do not wait for each other, then bits of RAM.

        Each tile is counted a cycle longer than it is, so that of tiles that are as good the larger
        ones are taken.
        """
        computed = part.region.tiles * part.region.issue_cycles
        moved = sum(part.windows.words.values()) * self.side.latency_cycles
        return max(computed, moved) + part.region.tiles, ram_bits(part.windows.memories)


def _neighbours(sizes: tuple[int, ...], extents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield sizes with one side twice, or half as long."""
    for k, size in enumerate(sizes):
        for other in (size * 2, size // 2):
            if 1 <= other <= extents[k]:
                yield (*sizes[:k], other, *sizes[k + 1 :])


def ram_bits(memories: Sequence[Memory]) -> int:
    """Return the bits of all copies of some memories."""
    return sum(m.depth * m.width_bits * m.read_ports for m in memories)


def shared_loops(scop: Scop) -> int:
    """Return how many outermost loops the statements of a unit share."""
    paths = list(loop_paths(scop.tree).values())
    return sum(len(set(numbers)) == 1 for numbers in zip(*paths, strict=False))
