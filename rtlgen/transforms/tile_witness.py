"""Tiles that a dependence forbids: which two of them need each other."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.errors import Label
from rtlgen.ir.effort import TooComplex
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import correspondence, moved_dependences
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.legality import Instance, find_violation, illegal_schedule
from rtlgen.transforms.tile_nests import TiledScop, Tiling, cut_into_tiles, tile_orders
from rtlgen.transforms.units import loop_paths


def tile_of(tiled: TiledScop, tiling: Tiling, name: str, instance: Instance) -> tuple[int, ...]:
    """Return the coordinates of the tile that has an instance of a statement."""
    values = dict(zip(tiled.scop.statement(name).iterators, instance, strict=True))
    cut = zip(tiled.before[name], tiling.sizes, strict=False)
    return tuple(form.evaluate(values) // size for form, size in cut)


def tuple_text(numbers: Sequence[int]) -> str:
    """Return numbers as a tuple with spaces."""
    return f"({', '.join(map(str, numbers))})"


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
    try:
        tiled = cut_into_tiles(scop, tiling)
        after = ScopSets(tiled.scop, sets)
        moved = moved_dependences(dependences, after, correspondence(sets, after))
        violation = find_violation(after, moved, tiled.scop.schedule)
    except TooComplex:
        return None
    if violation is None:
        return None

    def where(name: str, instance: Instance) -> str:
        return f" in tile {tuple_text(tile_of(tiled, tiling, name, instance))}"

    first = tile_of(tiled, tiling, violation.dependence.source, violation.source_instance)
    second = tile_of(tiled, tiling, violation.dependence.sink, violation.sink_instance)
    found = illegal_schedule(tiled.scop, violation, "cutting the loops", where=where)
    note = (
        f"cut as they are, tile {tuple_text(first)} would have to be done before tile"
        f" {tuple_text(second)}, which runs first"
    )
    return found.diagnostic.labels, note
