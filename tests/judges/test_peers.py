"""Workers that hand values over on chip: what they wait for, and where values are, is enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import pytest

from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import NEVER, Region, Store, Stream, TiledRegion, Wait, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.memories.folds import Fold, Losing, smallest_fold
from rtlgen.poly.instances import listed_points
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows import kept_memories
from rtlgen.windows.kept_memories import PeerCollisions
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import (
    JACOBI,
    KIB,
    LU,
    SEIDEL,
    TRANSPOSED,
    is_proven,
    planned,
)


def ring() -> TiledProgram:
    """Return rows that hand over what the next one needs, and run as far ahead as they may."""
    return planned(TRANSPOSED, 45, (8, 8), workers=WorkerRequest(3))


def tight() -> TiledProgram:
    """Return rows that wait for room."""
    return planned(LU, 16, (2, 2, 2), kind="axi", budget_bits=22 * KIB, workers=WorkerRequest(4))


def judged(found: TiledProgram, workers: Workers) -> None:
    (part,) = found.parts
    plan = replace(found.plan, body=(workers,))
    scop = found.program.scop
    assert replay_tiles(plan, workers, part.judged(scop), needed_by_host(plan, scop)) is not None


def changed(found: TiledProgram, change: Callable[[TiledRegion], TiledRegion]) -> Workers:
    return Workers(tuple(map(change, found.parts[0].workers.regions)))


def with_waits(
    region: TiledRegion, which: str, change: Callable[[Wait], Wait] | None
) -> TiledRegion:
    """Change what a kernel waits for, for values or for room; None: it does not wait."""
    waits = region.after if which == "after" else region.room
    found = () if change is None else tuple(map(change, waits))
    return replace(region, after=found) if which == "after" else replace(region, room=found)


@pytest.mark.sample("ring")
@pytest.mark.parametrize("plan", [ring, tight])
def test_the_plan_itself_is_sound(plan: Callable[[], TiledProgram]) -> None:
    found = plan()
    (part,) = found.parts
    assert is_proven(found)
    assert part.windows.peers
    assert bool(part.windows.room) == (plan is tight)
    judged(found, part.workers)


def test_each_worker_stores_what_the_next_one_loads() -> None:
    workers = ring().parts[0].workers
    for number, region in enumerate(workers.regions):
        after = workers.regions[(number + 1) % 3]
        own, handed = f"a_peer_w{number}", f"a_peer_w{(number + 1) % 3}"
        assert set(region.peers) == {own, handed}
        assert region.loads_from(own) and not region.loads_from(handed)
        assert region.stores_to(handed) and not region.stores_to(own)
        assert after.loads_from(handed)
        assert [wait.window for wait in region.after] == [own]
        assert workers.giver(number, region.after[0]) == (number - 1) % 3
        # Nothing is stored off chip to be loaded again.
        assert not any(t.after for t in region.transfers)


@pytest.mark.parametrize("plan", [ring, tight])
def test_kernels_that_wait_for_the_tile_before_are_refused(
    plan: Callable[[], TiledProgram],
) -> None:
    found = plan()

    def early(region: TiledRegion) -> TiledRegion:
        return replace(region, after=tuple(replace(wait, distance=1) for wait in region.after))

    with pytest.raises(PlanUnsound, match="takes a wrong value"):
        judged(found, changed(found, early))


@pytest.mark.parametrize(("plan", "which"), [(ring, "after"), (tight, "after"), (tight, "room")])
def test_kernels_that_wait_for_what_never_comes_are_refused(
    plan: Callable[[], TiledProgram], which: str
) -> None:
    found = plan()

    def spoilt(region: TiledRegion) -> TiledRegion:
        return with_waits(region, which, lambda wait: replace(wait, given=NEVER))

    message = r"kernel \d waits for what [aA]_peer\d?_w\d never stores"
    with pytest.raises(PlanUnsound, match=message):
        judged(found, changed(found, spoilt))


@pytest.mark.parametrize(("plan", "which"), [(ring, "after"), (tight, "after"), (tight, "room")])
def test_kernels_that_do_not_wait_are_refused(plan: Callable[[], TiledProgram], which: str) -> None:
    found = plan()
    with pytest.raises(PlanUnsound, match="takes a wrong value"):
        judged(found, changed(found, lambda region: with_waits(region, which, None)))


def test_what_the_next_row_needs_has_to_be_stored() -> None:
    found = ring()
    first, *others = found.parts[0].workers.regions

    def without(store: Store) -> Store:
        return store if store.memory not in first.peers else replace(store, when=NEVER)

    def spoilt(stream: Stream) -> Stream:
        return replace(
            stream, store=without(stream.store), copies=tuple(map(without, stream.copies))
        )

    kernel = Region(tuple(map(spoilt, first.kernel.streams)), first.kernel.length_cycles)
    with pytest.raises(PlanUnsound, match="takes a wrong value of a"):
        judged(found, Workers((replace(first, kernel=kernel), *others)))


# Folds.


def asked(
    text: str,
    size: int,
    tile: tuple[int, ...],
    workers: int,
    kib: int,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[TiledProgram, list[PeerCollisions]]:
    """Return a program, and all that was asked for a fold of what is handed over."""
    found: list[PeerCollisions] = []

    def noting(
        losing: Losing, shape: Sequence[int], guess: Sequence[int], most_bits: int | None
    ) -> Fold:
        if isinstance(losing, PeerCollisions):
            found.append(losing)
        return smallest_fold(losing, shape, guess, most_bits)

    monkeypatch.setattr(kept_memories, "smallest_fold", noting)
    request = WorkerRequest(workers)
    plan = planned.__wrapped__(text, size, tile, kind="axi", budget_bits=kib * KIB, workers=request)
    return plan, found


@pytest.mark.sample("diagonals")
@pytest.mark.parametrize(
    ("text", "size", "tile", "workers", "kib"),
    [
        pytest.param(TRANSPOSED, 12, (2, 2), 2, 64, id="diagonals"),
        pytest.param(LU, 8, (2, 2, 2), 2, 64, id="triangles"),
        pytest.param(LU, 12, (2, 2, 2), 4, 12, id="triangles with little room"),
        pytest.param(SEIDEL, 8, (2, 2, 2), 2, 64, id="sweeps"),
        pytest.param(JACOBI, 7, (2, 2, 2), 2, 64, id="sweeps by turns"),
    ],
)
def test_a_fold_loses_what_is_lost_tile_by_tile(
    text: str,
    size: int,
    tile: tuple[int, ...],
    workers: int,
    kib: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Against a search through all tiles for those that surely come before others."""
    plan, every = asked(text, size, tile, workers, kib, monkeypatch)
    own = [losing for losing in every if losing.sets is plan.parts[0].kernel.sets]
    assert own
    order = Order(plan, workers)
    verdicts = set()
    for losing in own[:3]:
        most = [(extent - 1).bit_length() for extent in plan_shape(plan, losing)]
        for bits in product(*(range(width + 1) for width in most)):
            lost = is_lost(order, losing, bits, most)
            said = losing.apart(bits) is not None
            # It may be too careful, never careless.
            assert said or not lost
            verdicts.add(said)
    assert verdicts == {False, True}


def plan_shape(plan: TiledProgram, losing: PeerCollisions) -> tuple[int, ...]:
    return plan.program.scop.array(losing.statement.write.array).shape


class Order:
    """Which tiles surely come before which: those of a worker, and what rows wait for."""

    def __init__(self, plan: TiledProgram, workers: int) -> None:
        (part,) = plan.parts
        across = part.across
        assert across is not None
        self.space, self.workers = across.space, workers
        self.firsts = [loop.first for loop in part.kernel.tile_loops]
        region = part.region
        tiles = iterations_of(region.levels)
        self.tiles = [tuple(tile) for tile in tiles.tolist()]
        self.waits: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for tile in self.tiles:
            number = tile[self.space] % workers
            own = [t for t in self.tiles if t[self.space] % workers == number and t < tile]
            self.waits[tile] = [max(own)] if own else []
        inner = across.space + 2
        waits = [(across.wait("x"), -1)]
        waits += [(across.wait_for_room("x"), 1) for _ in part.windows.room]
        for wait, step in waits:
            taken = self.ends(tiles[predicate_mask(wait.taken, tiles)], inner, first=True)
            given = self.ends(tiles[predicate_mask(wait.given, tiles)], inner, first=False)
            for row in sorted({tile[self.space] for tile in taken}):
                those = [t for t in taken if t[self.space] == row]
                others = [t for t in given if t[self.space] == row + step]
                assert len(those) == len(others)
                for waiting, done in zip(those, others, strict=True):
                    self.waits[waiting].append(done)
        self.known: dict[tuple[int, ...], set[tuple[int, ...]]] = {}

    def ends(self, tiles: Ints, inner: int, *, first: bool) -> list[tuple[int, ...]]:
        """Return the first, or last, of the tiles with the same outer counters."""
        found: dict[tuple[int, ...], tuple[int, ...]] = {}
        for tile in map(tuple, tiles.tolist()):
            if first:
                found.setdefault(tile[:inner], tile)
            else:
                found[tile[:inner]] = tile
        return list(found.values())

    def before(self, tile: tuple[int, ...]) -> set[tuple[int, ...]]:
        """Return all that are done when a tile begins."""
        if tile not in self.known:
            found: set[tuple[int, ...]] = set()
            left = list(self.waits[tile])
            while left:
                other = left.pop()
                if other not in found:
                    found.add(other)
                    left += self.waits[other]
            self.known[tile] = found
        return self.known[tile]

    def tile_of(self, point: Sequence[int]) -> tuple[int, ...]:
        return tuple(p - first for p, first in zip(point, self.firsts, strict=False))


def is_lost(order: Order, losing: PeerCollisions, bits: Sequence[int], most: Sequence[int]) -> bool:
    names = losing.statement.iterators
    depth = len(order.firsts)
    forms = losing.statement.write.affine

    def subscripts(point: Sequence[int]) -> tuple[int, ...]:
        values = dict(zip(names, point, strict=True))
        return tuple(form.evaluate(values) for form in forms)

    def place(point: Sequence[int]) -> tuple[int, ...]:
        return tuple(
            s if width >= full else s % (1 << width)
            for s, width, full in zip(subscripts(point), bits, most, strict=True)
        )

    stores: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for found in listed_points(losing.written):
        point = tuple(map(int, found))
        stores.setdefault(place(point), []).append(point)
    for flow in losing.flows:
        for pair in listed_points(flow.relation.wrap().flatten()):
            p = tuple(map(int, pair[: len(names)]))
            reader = order.tile_of(tuple(map(int, pair[len(names) :][:depth])))
            writer = order.tile_of(p[:depth])
            for other in stores[place(p)]:
                again = order.tile_of(other[:depth])
                same_worker = (again[order.space] - writer[order.space]) % order.workers == 0
                if not same_worker or again < writer or subscripts(other) == subscripts(p):
                    continue
                if reader not in order.before(again):
                    return True
    return False
