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
from rtlgen.ir.sharing import Policy
from rtlgen.scheduling.errors import PlanUnsound
from rtlgen.scheduling.tile_clocks import TileClocks
from rtlgen.scheduling.workers import WorkerRequest
from tests.tiling.programs import KIB, PRODUCT, TRANSPOSED, planned
from tests.tiling.spoilt import with_transfer

Known = dict[tuple[str, int], dict[str, int]]
"""By transfer and tile: how many tiles the store of each window is surely done with."""


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
    waits: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for transfer in workers.transfers:
        for wait in transfer.after:
            who = counted(tiles[owner[transfer.window]], wait.takes, first=True)
            what = counted(tiles[owner[wait.window]], wait.gives, first=False)
            for tile, stored in zip(who[wait.distance :], what, strict=False):
                waits.setdefault((transfer.window, tile), []).append((wait.window, stored))
    known: Known = {}
    is_new = True
    while is_new:
        is_new = False
        for region in regions:
            for transfer in region.transfers:
                for tile in range(region.tiles):
                    sources = [known.get((transfer.window, tile - 1), {})]
                    for window, stored in waits.get((transfer.window, tile), []):
                        sources += [{window: stored + 1}, known.get((window, stored), {})]
                    if transfer.direction == "store":
                        # What is stored later knows what all that is loaded for it knows.
                        loads = [t.window for t in region.transfers if t.direction == "load"]
                        sources += [known.get((window, tile), {}) for window in loads]
                    own = known.setdefault((transfer.window, tile), {})
                    for window, count in (item for source in sources for item in source.items()):
                        if own.get(window, 0) < count:
                            own[window], is_new = count, True
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
    "rows": lambda: planned(TRANSPOSED, 45, (8, 8), workers=WorkerRequest(3)).parts[0].workers,
    "barriers": lambda: shared("cyclic", 2, 61, barrier=True),
    "in turn": lambda: shared("F", 3, 29, barrier=False),
    "by chunks": lambda: shared("C", 3, 29, barrier=False),
    "one": lambda: planned(PRODUCT, 8, (4, 4, 4), budget_bits=KIB // 2).parts[0].workers,
    # The later wait asks for less.
    "what was known": lambda: waiting_for(
        Wait("C_out", 1, 3, taken=FIRST, given=FIRST), Wait("C_out", 3, 3)
    ),
}


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
            own = [t.window for t in region.transfers if t.direction == "store"]
            pairs = list(product(range(tiles[transfer.window]), range(region.tiles)))
            at, loaded = np.array(pairs, dtype=np.int64).T
            found = clocks.has_loaded(transfer.window, at, worker, loaded).tolist()
            # What a worker has stored of a tile it has loaded before.
            assert found == [
                any(known[transfer.window, tile].get(window, 0) > n for window in own)
                for tile, n in pairs
            ]


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
