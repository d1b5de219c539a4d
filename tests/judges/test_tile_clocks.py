"""What clocks of tiles say is what follows from the waits, tile by tile."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import Condition, IndexForm, Mark, Predicate, Wait, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_clocks import TileClocks
from rtlgen.options import Policy
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    KIB,
    LU,
    PRODUCT,
    TRANSPOSED,
    planned,
    planned_through_memory,
)
from tests.tiling.spoilt import with_transfer

Engine = str | int
"""A transfer, by its window, or the kernel of a worker, by its number."""

Known = dict[tuple[Engine, int], dict[Engine, int]]
"""By engine and tile: how many tiles each store, and each kernel, is surely done with."""


def counted(tiles: list[tuple[int, ...]], mark: Mark, *, first: bool) -> list[int]:
    """Return the first, or last, tile of each iteration of some outer loops that counts."""
    counts = predicate_mask(mark.when, np.array(tiles))
    found = []
    for n, tile in enumerate(tiles):
        neighbour = n - 1 if first else n + 1
        is_inside = 0 <= neighbour < len(tiles)
        if is_inside and tiles[neighbour][: mark.loops] == tile[: mark.loops]:
            continue
        if counts[n]:
            found.append(n)
    return found


def known_of(workers: Workers) -> Known:
    """Return what is known when each transfer begins each of its tiles."""
    regions = workers.regions
    tiles = [list(map(tuple, iterations_of(region.levels).tolist())) for region in regions]
    owner = {t.window: n for n, region in enumerate(regions) for t in region.transfers}
    waits: dict[tuple[Engine, int], list[tuple[Engine, int]]] = {}

    def add(engine: Engine, own: int, wait: Wait, giver: Engine, other: int) -> None:
        who = counted(tiles[own], wait.takes, first=True)
        what = counted(tiles[other], wait.gives, first=False)
        for tile, done in zip(who[wait.distance :], what, strict=False):
            waits.setdefault((engine, tile), []).append((giver, done))

    for transfer in workers.transfers:
        for wait in transfer.after:
            name = transfer.window
            add(name, owner[name], wait, wait.window, owner[wait.window])
    for number, region in enumerate(regions):
        for wait in region.waits:
            peer = workers.giver(number, wait)
            add(number, number, wait, peer, peer)
    known: Known = {}
    is_new = True
    while is_new:
        is_new = False
        for number, region in enumerate(regions):
            loads: list[Engine] = [t.window for t in region.transfers if t.direction == "load"]
            # A kernel knows what all that is loaded for it knows, and who stores for it does.
            before: dict[Engine, list[Engine]] = {
                t.window: [number] for t in region.transfers if t.direction == "store"
            }
            before[number] = loads
            for engine in [*loads, number, *before]:
                for tile in range(region.tiles):
                    sources = [known.get((engine, tile - 1), {})]
                    for giver, done in waits.get((engine, tile), []):
                        sources += [{giver: done + 1}, known.get((giver, done), {})]
                    sources += [known.get((other, tile), {}) for other in before.get(engine, [])]
                    own = known.setdefault((engine, tile), {})
                    for other, count in (item for source in sources for item in source.items()):
                        if own.get(other, 0) < count:
                            own[other], is_new = count, True
    return known


def shared(policy: Policy, count: int, size: int, *, barrier: bool) -> Workers:
    found = planned(TRANSPOSED, size, (8, 8), workers=WorkerRequest(count, policy, barrier))
    return found.parts[0].workers


def waiting_for(*waits: Wait) -> Workers:
    """Return tiles of one worker whose sums wait for something else."""
    (region,) = WORKERS["one"]().regions
    return Workers((with_transfer(region, "C_in", partial(replace, after=waits)),))


FIRST = Predicate(((Condition(IndexForm((-1, 0, 0))),),))
NOT_FIRST = Predicate(((Condition(IndexForm((1, 0, 0), -1)),),))

WORKERS = {
    "rows": lambda: (
        planned_through_memory(TRANSPOSED, 45, (8, 8), workers=WorkerRequest(3)).parts[0].workers
    ),
    "barriers": lambda: shared("cyclic", 2, 61, barrier=True),
    "in turn": lambda: shared("F", 3, 29, barrier=False),
    "by chunks": lambda: shared("C", 3, 29, barrier=False),
    "one": lambda: planned(PRODUCT, 8, (4, 4, 4), budget_bits=KIB // 2).parts[0].workers,
    # The later wait asks for less.
    "what was known": lambda: waiting_for(
        Wait("C_out", 1, 3, taken=FIRST, given=FIRST), Wait("C_out", 3, 3)
    ),
}


@pytest.mark.sample("what was known", "one", "in turn")
@pytest.mark.parametrize("name", WORKERS)
def test_clocks_say_what_follows_from_the_waits(name: str) -> None:
    workers = WORKERS[name]()
    clocks, known = TileClocks(workers), known_of(workers)
    tiles = {t.window: region.tiles for region in workers.regions for t in region.transfers}
    stores = [t.window for t in workers.transfers if t.direction == "store"]
    assert list(clocks.entries) == stores
    answers = set()
    for transfer, store in product(workers.transfers, stores):
        pairs = list(product(range(tiles[transfer.window]), range(tiles[store])))
        at, stored = np.array(pairs, dtype=np.int64).T
        entries = np.full(len(pairs), clocks.entries[store])
        found = clocks.has_stored(transfer.window, at, entries, stored).tolist()
        counts = [known[transfer.window, tile].get(store, 0) for tile in at.tolist()]
        assert found == [count > n for count, n in zip(counts, stored.tolist(), strict=True)]
        answers.update(found)
    assert answers == {False, True}
    for transfer in workers.transfers:
        for worker, region in enumerate(workers.regions):
            own: list[Engine] = [t.window for t in region.transfers if t.direction == "store"]
            pairs = list(product(range(tiles[transfer.window]), range(region.tiles)))
            at, loaded = np.array(pairs, dtype=np.int64).T
            found = clocks.has_loaded(transfer.window, at, worker, loaded).tolist()
            # What a worker has stored of a tile, or computed, it has loaded before.
            assert found == [
                any(known[transfer.window, tile].get(done, 0) > n for done in [*own, worker])
                for tile, n in pairs
            ]


@pytest.mark.sample("False")
@pytest.mark.parametrize("room", [False, True])
def test_clocks_of_kernels_say_what_follows_from_the_waits(room: bool) -> None:
    kib = 20 if room else 64
    plan = planned(LU, 16, (2, 2, 2), kind="axi", budget_bits=kib * KIB, workers=WorkerRequest(4))
    workers = plan.parts[0].workers
    assert all(region.after and bool(region.room) == room for region in workers.regions)
    clocks, known = TileClocks(workers), known_of(workers)
    for number, region in enumerate(workers.regions):
        tiles = np.arange(region.tiles)
        for peer in range(len(workers.regions)):
            found = clocks.handed(number, tiles, peer).tolist()
            assert found == [known[number, tile].get(peer, 0) for tile in tiles.tolist()]


@pytest.mark.parametrize(
    ("wait", "message"),
    [
        (Wait("C_out", 1, 3), None),
        (Wait("C_out", 1, 3, given=NOT_FIRST), "C_in waits for what C_out never stores"),
        (Wait("C_out", 4, 3, given=NOT_FIRST), "waits for itself"),
        (Wait("C_out", 4, 3, taken=NOT_FIRST), None),
        (Wait("C_out", 0, 3, taken=NOT_FIRST), None),
        (Wait("C_out", 0, 3, taken=NOT_FIRST, given=NOT_FIRST), "waits for itself"),
        (Wait("C_out", 1, 3, taken=NOT_FIRST, given=NOT_FIRST), None),
    ],
)
def test_a_tile_waits_for_what_is_stored_before_it(wait: Wait, message: str | None) -> None:
    with pytest.raises(PlanUnsound, match=message) if message else nullcontext():
        TileClocks(waiting_for(wait))
