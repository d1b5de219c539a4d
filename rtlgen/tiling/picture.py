"""The first tiles of a unit, in the order in which they run: for a picture of the iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from rtlgen.ir.plan import Level
from rtlgen.ir.sharing import share_of
from rtlgen.scheduling.workers import WorkerRequest
from rtlgen.tiling.part import TiledPart

MOST_LOOKED_AT = 20_000
"""Tiles that are gone through, in their order."""

MOST_SIDE = 24
"""Tiles along a side of the picture."""

SHOWN_LOOPS = 2
"""Loops over tiles that a picture shows: it has two sides."""


def tile_picture(part: TiledPart, request: WorkerRequest) -> dict[str, Any] | None:
    """Return the tiles in a corner of the iteration space, None where no loops are cut.

    `tiles` has their coordinates in the outermost loops that are cut, in the order in which they
    first run; `cut_off` says that there are more, outside of the corner or later. `waves` and
    `owners` have the wave and the worker of each of them, where workers share them.
    """
    tiling = part.tiling
    if not tiling.depth:
        return None
    names = [f"t{k}" for k in range(tiling.loop_count)]
    coordinates = tiling.coordinates(names)[:SHOWN_LOOPS]
    firsts = [loop.first for loop in part.kernel.tile_loops]
    shown: dict[tuple[int, ...], tuple[int, int]] = {}
    waves: dict[tuple[int, ...], int] = {}
    cut_off = part.region.tiles > MOST_LOOKED_AT
    for counters in islice(tiles_in_order(part.region.levels), MOST_LOOKED_AT):
        values = {n: c + f for n, c, f in zip(names, counters, firsts, strict=True)}
        tile = tuple(form.evaluate(values) for form in coordinates)
        wave = _wave(part, counters, waves)
        if all(abs(c) < MOST_SIDE for c in tile):
            if tile not in shown:
                shown[tile] = wave, _owner(part, request, counters)
        else:
            cut_off = True
    return {
        "loops": list(part.loops.iterators[: len(coordinates)]),
        "sizes": list(tiling.sizes[: len(coordinates)]),
        "tiles": [list(tile) for tile in shown],
        "waves": None if part.space is None else [wave for wave, _ in shown.values()],
        "owners": None if part.space is None else [owner for _, owner in shown.values()],
        "cut_off": cut_off,
    }


def _wave(part: TiledPart, counters: tuple[int, ...], waves: dict[tuple[int, ...], int]) -> int:
    """Return the wave of a tile; where rows wait for one another, the one in which it can run."""
    if part.across is not None:
        row, column = counters[part.across.space : part.across.space + 2]
        return row * (part.across.lag + 1) + column
    return waves.setdefault(counters[: part.space or 0], len(waves))


def _owner(part: TiledPart, request: WorkerRequest, counters: tuple[int, ...]) -> int:
    """Return which worker runs a tile; 0 where there is one."""
    if part.space is None:
        return 0
    own = _range(part.region.levels, counters[: part.space])
    shares = (
        share_of(request.policy, own.start, own.stop - 1, request.count, worker)
        for worker in range(request.count)
    )
    return next(n for n, share in enumerate(shares) if counters[part.space] in share)


def tiles_in_order(
    levels: Sequence[Level], outer: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield the counters of tile loops, in the order in which tiles run."""
    if len(outer) == len(levels):
        yield outer
        return
    for counter in _range(levels, outer):
        yield from tiles_in_order(levels, (*outer, counter))


def _range(levels: Sequence[Level], outer: tuple[int, ...]) -> range:
    """Return the counters of a loop in an iteration of those outside."""
    level = levels[len(outer)]
    padded = (*outer, *[0] * (len(levels) - len(outer)))
    low = max([0, *(bound.ceiling(padded) for bound in level.lowers)])
    high = min([level.extent - 1, *(bound.floor(padded) for bound in level.uppers)])
    return range(low, max(high + 1, low + level.at_least))
