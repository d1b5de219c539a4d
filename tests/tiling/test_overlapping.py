"""Tiles overlap in a kernel where what one of them keeps has a place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import PlanError, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.memories.folds import Collisions, Fold, smallest_fold
from rtlgen.tiling import choice
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows import kept_memories
from tests.memories.test_folds import is_lost
from tests.tiling.programs import KIB, ROWS, is_proven, planned


def without_overlapping(size: int, tile: tuple[int, ...] = ()) -> TiledProgram:
    with patch.object(choice, "MOST_OVERLAPPING", 1):
        return planned.__wrapped__(ROWS, size, tile, kind="axi")


@pytest.mark.parametrize("tile", [(), (4,)])
def test_tiles_begin_as_often_as_their_statements_are_done(tile: tuple[int, ...]) -> None:
    tiled, apart = planned(ROWS, 64, tile, kind="axi"), without_overlapping(64, tile)
    (part,) = tiled.parts
    assert part.overlapping and is_proven(tiled)
    assert part.region.issue_cycles <= 1.1 * part.region.kernel.streams[-1].count
    assert part.kernel_cycles < 1.1 * part.least_kernel_cycles
    assert predicted_cycles(tiled.plan) < 0.75 * predicted_cycles(apart.plan)


def test_tiles_that_overlap_take_no_more_ram_than_there_is() -> None:
    tight = without_overlapping(64).parts[0].ram_bits
    tiled = planned(ROWS, 64, kind="axi", budget_bits=tight)
    assert tiled.parts[0].ram_bits <= tight < 64 * KIB


def test_tiles_of_several_workers_do_not_overlap() -> None:
    (part,) = planned(ROWS, 64, (4,), kind="axi").parts
    assert part.shared is None and part.overlapping


def test_tiles_that_begin_too_soon_are_refused() -> None:
    """What one keeps is written over, or its streams are not done."""
    apart = without_overlapping(64, (4,))
    replayed(apart, apart.parts[0].region.issue_cycles)
    with pytest.raises(PlanUnsound, match="takes a wrong value"):
        replayed(apart, 64)
    tiled = planned(ROWS, 64, (4,), kind="axi")
    replayed(tiled, 64)
    with pytest.raises(PlanError, match="not done when its next tile begins"):
        replayed(tiled, 63)


def replayed(tiled: TiledProgram, issue_cycles: int) -> None:
    """Replay a program whose tiles begin so many cycles after each other."""
    (part,) = tiled.parts
    workers = Workers((replace(part.region, issue_cycles=issue_cycles),))
    plan, scop = replace(tiled.plan, body=(workers,)), tiled.program.scop
    assert replay_tiles(plan, workers, part.judged(scop), needed_by_host(plan, scop)) is not None


@pytest.mark.parametrize("tiles", [1, 2])
def test_a_fold_of_tiles_that_overlap_loses_what_is_lost_one_by_one(
    tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """p writes, q reads that, and p' writes to the place of p in one of the next tiles."""
    asked: list[tuple[Collisions, Sequence[int]]] = []

    def noting(collisions: Collisions, shape: Sequence[int], *rest: Any) -> Fold:
        asked.append((collisions, shape))
        return smallest_fold(collisions, shape, *rest)

    monkeypatch.setattr(kept_memories, "smallest_fold", noting)
    monkeypatch.setattr(choice, "MOST_OVERLAPPING", 1)
    (part,) = planned.__wrapped__(ROWS, 11, (3,), kind="axi").parts
    verdicts = set()
    for alone, shape in asked:
        kept, soon = alone.kept, partial(part.kernel.soon, tiles=tiles)
        collisions = Collisions(alone.sets, kept, alone.depth, soon)
        most = [(extent - 1).bit_length() for extent in shape]
        for bits in product(*(range(width + 1) for width in most)):
            lost = is_lost(alone.sets, kept, alone.depth, bits, most)
            lost |= is_lost(alone.sets, kept, alone.depth, bits, most, tiles)
            assert (collisions.apart(bits) is not None) == lost
            verdicts.add((lost, alone.apart(bits) is not None))
    assert verdicts == {(True, True), (True, False), (False, False)}
