"""Tiles that a dependence forbids: which two of them need each other."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.errors import Label
from rtlgen.ir.effort import advising
from rtlgen.ir.scop import loop_paths
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import correspondence, moved_dependences
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.legality import Instance, Violation, find_violation, illegal_schedule
from rtlgen.transforms.tile_nests import TiledScop, Tiling, cut_into_tiles, tile_orders


class WitnessTiles:
    """The tiles of two instances in the wrong order, and where an instance is.

    Members
    -------
    first, second: texts of the tiles of source and sink.
    """

    def __init__(self, tiled: TiledScop, tiling: Tiling, violation: Violation) -> None:
        self._tiled = tiled
        self._sizes = tiling.sizes
        self.first = self._tile_of(violation.dependence.source, violation.source_instance)
        self.second = self._tile_of(violation.dependence.sink, violation.sink_instance)

    def where(self, name: str, instance: Instance) -> str:
        """Return in which tile an instance of a statement is, as part of a sentence."""
        return f" in tile {self._tile_of(name, instance)}"

    def _tile_of(self, name: str, instance: Instance) -> str:
        values = dict(zip(self._tiled.scop.statement(name).iterators, instance, strict=True))
        cut = zip(self._tiled.before[name], self._sizes, strict=False)
        return f"({', '.join(str(form.evaluate(values) // size) for form, size in cut)})"


def forbidding(
    sets: ScopSets, dependences: Sequence[Dependence], sizes: tuple[int, ...]
) -> tuple[tuple[Label, ...], str] | None:
    """Return which accesses keep the loops of the program from being cut, and a note of two tiles.

    None where statements do not share as many loops, or where it takes too long to tell.
    """
    scop = sets.scop
    paths = list(loop_paths(scop.tree).values())
    if sum(len(set(numbers)) == 1 for numbers in zip(*paths, strict=False)) < len(sizes):
        return None
    tiling = Tiling(sizes, tile_orders(len(sizes))[0])
    violation: Violation | None = None
    with advising():
        tiled = cut_into_tiles(scop, tiling)
        after = ScopSets(tiled.scop, sets)
        moved = moved_dependences(dependences, after, correspondence(sets, after))
        violation = find_violation(after, moved, tiled.scop.schedule)
    if violation is None:
        return None

    tiles = WitnessTiles(tiled, tiling, violation)
    found = illegal_schedule(tiled.scop, violation, "cutting the loops", where=tiles.where)
    note = (
        f"cut as they are, tile {tiles.first} would have to be done before tile {tiles.second},"
        " which runs first"
    )
    return found.diagnostic.labels, note
