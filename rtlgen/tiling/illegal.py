"""Tiles that no order allows: which two of them need each other, and what would work."""

from __future__ import annotations

from rtlgen.poly.errors import IllegalSchedule
from rtlgen.poly.legality import Violation, illegal_schedule
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.lanes import lanes_out_of_order
from rtlgen.transforms.tile_nests import TiledScop, Tiling
from rtlgen.transforms.tile_witness import WitnessTiles


def illegal_tiles(
    tiled: TiledScop, tiling: Tiling, violation: Violation
) -> IllegalSchedule | NoLanes:
    """Return the error for tiles whose order breaks a dependence; its witness is two tiles.

    Or where that is inside of a tile, two lanes.
    """
    scop = tiled.scop
    tiles = WitnessTiles(tiled, tiling, violation)
    is_inside = tiles.first == tiles.second
    if is_inside and tiling.lanes is not None:
        return lanes_out_of_order(scop, violation)
    sizes = ",".join(map(str, tiling.sizes))
    # One iteration of the outer loops after another is the order of the program itself.
    *outer, last = tiling.sizes
    strips = ",".join(map(str, [*(1 for _ in outer), last]))
    note = f"tile {tiles.first} has to be done before tile {tiles.second}, which runs first"
    if is_inside:
        note = f"inside of tile {tiles.first} they run the other way round"
    remedy = f"tiles of {strips} iterations run in the order of the program: --tile {strips}"
    if strips == sizes or is_inside:
        remedy = "keep all arrays on chip: --memory onchip"
    return illegal_schedule(
        scop,
        violation,
        f"cutting the loops into tiles of {sizes} iterations",
        where=tiles.where,
        notes=(f"{note}; other orders of the tiles fail, too",),
        remedy=remedy,
    )
