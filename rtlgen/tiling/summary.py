"""What a program in tiles does and costs, for reports: tiles, a picture, the limits of workers.

Why workers gain less than there are of them.

The first tiles of a unit, in the order in which they run: for a picture of the iterations.

What a program in tiles does and costs, as JSON-serialisable objects for the reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import advising
from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.plan import KernelPlan, Level, MemorySide, Transfer, Wait
from rtlgen.ir.sharing import share_of
from rtlgen.tiling.cut import UNLIMITED
from rtlgen.tiling.form import Candidate, pareto
from rtlgen.tiling.lanes import free_loops
from rtlgen.tiling.loops import words_needed
from rtlgen.tiling.part import TiledPart, ram_bits
from rtlgen.tiling.plan import TiledProgram
from rtlgen.transforms.tile_nests import Tiling
from rtlgen.windows.workers import WorkerRequest

UNFAIR = 1.05
"""Of an equal share, what the busiest worker may have before it is said."""


def worker_limits(units: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what keeps the units of a report from going as much faster as they have workers.

    A sentence for each thing; none for what one worker runs of its own accord.
    """
    for unit in units:
        yield from _limits_of(unit)
    for unit, behind in pairwise(units):
        why = unit["workers"]["apart"]
        if why is not None:
            yield (
                f"{_names(unit)} come before {_names(behind)}, not beside: in common tiles "
                f"{why}; one worker can run both side by side"
            )


def _limits_of(unit: Mapping[str, Any]) -> Iterator[str]:
    workers, where = unit["workers"], _names(unit)
    count = workers["count"]
    if count == 1:
        return
    at_a_time = workers["at_a_time"]
    if at_a_time is not None and at_a_time < count:
        verb = "computes" if at_a_time == 1 else "compute"
        yield (
            f"{where}: {at_a_time} of {count} workers {verb} at a time, since each iteration of "
            f"{workers['loop']} waits for the one before; more workers gain nothing"
        )
    elif unit["bus_cycles"] >= unit["kernel_cycles"]:
        yield (
            f"{where}: {count} workers compute for {unit['kernel_cycles']:,} cycles, and all share "
            f"a bus that is busy for {unit['bus_cycles']:,}; more workers gain nothing"
        )
    if workers["busiest"] > UNFAIR:
        yield (
            f"{where}: the busiest worker has {workers['busiest']:.2f} of an equal share, and all "
            "end with it"
        )


def _names(unit: Mapping[str, Any]) -> str:
    return ", ".join(unit["statements"])


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


def tiles_report(tiled: TiledProgram, ram_limit_bits: int) -> dict[str, Any]:
    """Return what `rtlgen plan --json` says of tiles.

    `tiles` are those of the unit that takes longest, `units` all of them. `bound` says what rules:
    the `bus`, busy in `bus_cycles`, or the `kernel`, which issues in `kernel_cycles`.
    `words_needed` are those that have to be moved whatever the order is, None where that takes too
    long to count.

    Parameters
    ----------
    ram_limit_bits: what arrays and windows on chip may take; `distributed_bytes` of `onchip_bytes`
        are in no block RAM.
    """
    side = tiled.plan.memory_side
    assert side is not None, "a program in tiles has arrays off chip"
    needed = _needed(tiled, side)
    units = [
        {
            **_unit(part, candidates, side, ram_limit_bits, tiled.workers),
            "workers": {**_workers(part, alone), "apart": apart},
        }
        for part, candidates, alone, apart in zip(
            tiled.parts, tiled.candidates, tiled.alone, tiled.apart, strict=True
        )
    ]
    longest = max(units, key=lambda unit: max(unit["kernel_cycles"], unit["bus_cycles"]))
    loaded, stored = (
        sum(m["words"] for unit in units for m in unit["movers"] if m["direction"] == direction)
        for direction in ("load", "store")
    )
    return {
        "tiles": {**longest["tiles"], "count": sum(unit["tiles"]["count"] for unit in units)},
        "words_moved": loaded + stored,
        "words_loaded": loaded,
        "words_stored": stored,
        "words_needed": needed,
        "onchip_bytes": on_chip_bytes(tiled.plan),
        "onchip_limit_bytes": ram_limit_bits // 8,
        "distributed_bytes": _distributed_bytes(tiled.plan),
        "bound": longest["bound"],
        "bus_cycles": sum(unit["bus_cycles"] for unit in units),
        "kernel_cycles": sum(unit["kernel_cycles"] for unit in units),
        "workers": max(len(part.workers.regions) for part in tiled.parts),
        "strategy": tiled.workers.policy if tiled.workers.count > 1 else None,
        "barrier": tiled.workers.barrier,
        "lanes": max(part.kernel.lanes for part in tiled.parts),
        "units": units,
        "off_chip": _off_chip(side),
        "advice": [*worker_limits(units), *_advice(units, needed, loaded + stored)],
    }


def on_chip_bytes(plan: KernelPlan) -> int:
    """Return the bytes of RAM that arrays, windows and kept memories take, with all copies."""
    return ram_bits(plan.memories) // 8


def _distributed_bytes(plan: KernelPlan) -> int:
    """Return the bytes of them that are in the logic cells' memories."""
    return ram_bits([memory for memory in plan.memories if memory.style == "distributed"]) // 8


def _needed(tiled: TiledProgram, side: MemorySide) -> int | None:
    found: int | None = None
    with advising():
        found = words_needed(tiled.program, side)
    return found


def _unit(
    part: TiledPart,
    candidates: Sequence[Candidate],
    side: MemorySide,
    ram_limit_bits: int,
    workers: WorkerRequest,
) -> dict[str, Any]:
    # It is built, and so was followed in any case.
    chosen = Candidate.of(part, side.bus, followed=UNLIMITED)
    others = [c for c in candidates if replace(c, cycles=chosen.cycles) != chosen]
    names = part.loops.iterators
    region = part.region
    lanes = part.tiling.lanes
    return {
        "statements": [statement.name for statement in part.program.scop.statements],
        "tiles": {"count": region.tiles, **_tiling(part.tiling, names)},
        "lanes": part.kernel.lanes,
        "lanes_of": None if lanes is None else names[lanes.loop],
        "skew_cycles": part.kernel.skew_cycles,
        "more_lanes": [f"{name}={2 * part.kernel.lanes}" for name in _loops_for_more(part)],
        "issue_cycles": region.issue_cycles,
        "kernel_length_cycles": region.kernel.length_cycles,
        "iterations": max(stream.count for stream in region.kernel.streams),
        "kernel_cycles": chosen.kernel_cycles,
        "bus_cycles": chosen.bus_cycles,
        "bound": "bus" if chosen.bus_cycles > chosen.kernel_cycles else "kernel",
        "movers": [_mover(part, transfer) for transfer in region.transfers],
        "choice": [
            {
                **_tiling(candidate.tiling, candidate.loops),
                "cycles": candidate.cycles,
                "words": candidate.words,
                "ram_bytes": candidate.ram_bits // 8,
                "fits": candidate.ram_bits <= ram_limit_bits,
                "chosen": candidate == chosen,
            }
            for candidate in sorted(
                {*pareto([chosen, *others]), chosen}, key=lambda c: (c.ram_bits, c.cycles)
            )
        ],
        "picture": tile_picture(part, workers),
    }


def _loops_for_more(part: TiledPart) -> list[str]:
    """Return the loops that more lanes could be of: where there are some, that which has them.

    None are named where it would take too long to find them.
    """
    lanes, free = part.tiling.lanes, dict[int, str]()
    with advising():
        free = free_loops(part.loops)
    return [name for place, name in free.items() if lanes is None or place == lanes.loop]


def _workers(part: TiledPart, alone: str | None) -> dict[str, Any]:
    """Return who does what: `tiles` by worker, `busiest` against an equal share.

    `loop` is the tile loop that they share, `waves` how often the loops outside of it run; or
    `lag` how many tiles each of its iterations stays behind the one before, and `at_a_time` how
    many of these run side by side; `hands_over` has the memories by way of which values go to the
    next one on chip, and `waits_for_room` whether there is room for some of them at a time. A
    worker goes through a tile without work in a wave in which it has none.
    """
    found = part.workers.regions
    tiles = [region.tiles for region in found]
    own = part.region.tiles / len(found)
    waves = 1
    if part.space:
        waves = len(iterations_of(part.region.levels[: part.space]))
    return {
        "count": len(found),
        "numbers": list(part.team.numbers),
        "loop": None if part.space is None else part.region.levels[part.space].name,
        "waves": waves,
        "lag": None if part.across is None else part.across.lag,
        "at_a_time": None if part.across is None else part.across.rows_at_a_time,
        "hands_over": list(part.windows.peers),
        "waits_for_room": bool(part.windows.room),
        "tiles": tiles,
        "busiest": round(max(tiles) / own, 3),
        "alone": alone,
    }


def _tiling(tiling: Tiling, names: Sequence[str]) -> dict[str, Any]:
    """Return sizes and order of tiles; the order in terms of the loops that are cut.

    `begins` are the iterations at which tiles begin. Of tiles in strips along a loop, `i / 32` is
    the strip of 32 tiles.
    """
    order = [str(Affine.of(dict(zip(names, row, strict=False)))) for row in tiling.order]
    if tiling.woven is not None and not tiling.spread:
        row = tiling.woven
        order.append(order[row])
        order[row] = f"{order[row]} / {tiling.phases[row]}"
    return {
        "sizes": list(tiling.sizes),
        "loops": list(names[: tiling.depth]),
        "begins": [-origin for origin in tiling.origins or (0,) * tiling.depth],
        "order": order,
    }


def _mover(part: TiledPart, transfer: Transfer) -> dict[str, Any]:
    window = next(m for m in part.windows.memories if m.name == transfer.window)
    return {
        "window": transfer.window,
        "array": transfer.array,
        "direction": transfer.direction,
        "words": part.windows.words[transfer.window],
        "copies": transfer.copies,
        "window_words": window.depth // window.lanes // transfer.copies,
        "ram_bytes": window.depth * window.width_bits * window.read_ports // 8,
        "after": [_wait(part, wait) for wait in transfer.after],
    }


def _wait(part: TiledPart, wait: Wait) -> dict[str, Any]:
    """Return what a mover waits for, and how far before it that is.

    Of rows, the iterations of a loop that wait for one another: how far behind the row before.
    """
    distance, of = wait.distance, "waves"
    if part.across is not None and not wait.is_plain:
        distance, of = part.across.lag, "row before"
    elif wait.loops == len(part.region.levels):
        of = "tiles"
    return {"window": wait.window, "distance": distance, "of": of}


def _off_chip(side: MemorySide) -> dict[str, Any]:
    return {
        "kind": side.bus.kind,
        "latency_cycles": side.bus.latency_cycles,
        "bus_bits": side.word_bits,
        "words": sum(array.words(side.word_bits) for array in side.arrays),
        "arrays": [
            {
                "name": array.name,
                "bits": array.width_bits,
                "shape": list(array.c_shape),
                "base_words": array.base_words,
                "row_words": array.row_words(side.word_bits),
                "words": array.words(side.word_bits),
            }
            for array in side.arrays
        ],
    }


def _advice(units: Sequence[dict[str, Any]], needed: int | None, moved: int) -> list[str]:
    """Say what would take fewer cycles, a sentence a unit."""
    found = []
    for unit in units:
        where = ", ".join(unit["statements"])
        cycles = max(unit["bus_cycles"], unit["kernel_cycles"])
        better = [c for c in unit["choice"] if not c["fits"] and c["cycles"] < cycles]
        if better:
            least = better[0]
            sizes = ",".join(map(str, least["sizes"]))
            found.append(
                f"{where}: {least['ram_bytes']:,} bytes on chip would do with "
                f"{least['cycles']:,} cycles (--tile {sizes})"
            )
        elif unit["bound"] == "kernel" and unit["issue_cycles"] > unit["iterations"]:
            found.append(
                f"{where}: tiles of {unit['iterations']:,} iterations are "
                f"{unit['issue_cycles']:,} cycles apart, for what one needs of the one before; "
                "larger tiles lose less"
            )
        elif unit["bound"] == "kernel":
            lanes = unit["lanes"]
            pace = "one iteration a cycle" if lanes == 1 else f"{lanes} iterations a cycle"
            more = [f"--unroll {option}" for option in unit["more_lanes"]]
            way = "no two iterations of a loop can run in step"
            if more:
                way = f"more lanes would be faster: {' or '.join(more)}"
            found.append(f"{where}: {pace}; {way}")
        elif moved == needed:
            found.append(f"{where}: every word is moved once; a wider or a faster bus would help")
        else:
            found.append(f"{where}: fewer words in other tiles, or a wider or a faster bus")
    return found
