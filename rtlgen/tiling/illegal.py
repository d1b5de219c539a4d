"""Tiles that no order allows: which two of them need each other, and what would work."""

from __future__ import annotations

from rtlgen.poly.errors import IllegalSchedule
from rtlgen.poly.legality import Instance, Violation, illegal_schedule
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.lanes import lanes_out_of_order
from rtlgen.transforms.tile_nests import TiledScop, Tiling
from rtlgen.transforms.tile_witness import tile_of, tuple_text


def illegal_tiles(
    tiled: TiledScop, tiling: Tiling, violation: Violation
) -> IllegalSchedule | NoLanes:
    """Return the error for tiles whose order breaks a dependence; its witness is two tiles.

    Or where that is inside of a tile, two lanes.
    """
    scop = tiled.scop

    def where(name: str, instance: Instance) -> str:
        return f" in tile {tuple_text(tile_of(tiled, tiling, name, instance))}"

    first = tile_of(tiled, tiling, violation.dependence.source, violation.source_instance)
    second = tile_of(tiled, tiling, violation.dependence.sink, violation.sink_instance)
    if first == second:
        # Inside of a tile only lanes change the order.
        return lanes_out_of_order(scop, violation)
    sizes = ",".join(map(str, tiling.sizes))
    # One iteration of the outer loops after another is the order of the program itself.
    *outer, last = tiling.sizes
    strips = ",".join(map(str, [*(1 for _ in outer), last]))
    return illegal_schedule(
        scop,
        violation,
        f"cutting the loops into tiles of {sizes} iterations",
        where=where,
        notes=(
            f"tile {tuple_text(first)} has to be done before tile {tuple_text(second)}, which runs"
            " first; other orders of the tiles fail, too",
        ),
        remedy=f"tiles of {strips} iterations run in the order of the program: --tile {strips}",
    )
