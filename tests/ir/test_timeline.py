"""What is known of one stretch of words, or of one row of tiles, is not followed again."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from rtlgen.ir import timeline
from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.tiled import TiledRegion, Workers
from rtlgen.ir.timeline import Recent, known_cycles, workers_cycles
from rtlgen.ir.timeline_cycles import Stretch
from rtlgen.ir.timeline_state import State, Step
from rtlgen.ir.timeline_tracks import Look, TileSequence, Track, tile_rows
from rtlgen.ir.transfer_patterns import patterns_of, words_in_tiles
from rtlgen.options import BusKind
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import PRODUCT, TRANSPOSED, TRIANGULAR, planned

REGIONS = [
    pytest.param(TRANSPOSED, 40, (8, 8), 64, id="wavefronts"),
    pytest.param(TRANSPOSED, 40, (16, 16), 32, id="words that follow each other"),
    pytest.param(PRODUCT, 24, (4, 4, 8), 64, id="rows that are alike"),
    pytest.param(TRIANGULAR, 24, (8, 8, 8), 64, id="a triangle"),
]


KINDS: tuple[BusKind, ...] = ("fixed", "axi")


def region_of(text: str, size: int, tile: tuple[int, ...], word_bits: int) -> TiledRegion:
    return planned(text, size, tile, word_bits=word_bits).parts[0].region


@pytest.mark.sample(
    without=(
        "words that follow each other-1",
        "rows that are alike-1",
        "a triangle-1",
    )
)
@pytest.mark.parametrize("latency_cycles", [1, 2, 3, 5, 8, 30])
@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), REGIONS)
def test_words_that_are_skipped_take_as_long(
    text: str,
    size: int,
    tile: tuple[int, ...],
    word_bits: int,
    latency_cycles: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    region = region_of(text, size, tile, word_bits)
    known_cycles.clear()
    found = workers_cycles(Workers((region,)), Bus("fixed", latency_cycles))
    monkeypatch.setattr(Stretch, "skipped", lambda *_: [])
    monkeypatch.setattr(TileSequence, "alike", lambda *_: 1)
    known_cycles.clear()
    assert workers_cycles(Workers((region,)), Bus("fixed", latency_cycles)) == found


@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), REGIONS)
@pytest.mark.parametrize("has_bursts", [False, True])
def test_rows_that_stand_for_others_are_like_them(
    text: str, size: int, tile: tuple[int, ...], word_bits: int, has_bursts: bool
) -> None:
    region = region_of(text, size, tile, word_bits)
    tiles = iterations_of(region.levels)
    rows = tile_rows(region.levels, region.transfers, has_bursts)
    sequence = TileSequence(rows, np.arange(len(rows.tiles)), 3, 4)
    views = [sequence.row(number) for number in range(sequence.rows)]
    places = [view.place(view.first + n) for view in views for n in range(view.count)]
    assert len(places) == len(tiles) == region.tiles
    for transfer in region.transfers:
        every, found = (patterns_of(transfer, t, has_bursts) for t in (tiles, rows.tiles))
        assert words_in_tiles(transfer, len(region.levels)) == every.words
        for place, number in zip(places, every.of_tile, strict=True):
            assert found.patterns[found.of_tile[place]] == every.patterns[number]


def test_few_rows_stand_for_all() -> None:
    region = region_of(PRODUCT, 24, (4, 4, 8), 64)
    rows = tile_rows(region.levels, region.transfers, False)
    assert len(rows.of_row) > 4 * len(rows.ends)


@pytest.mark.parametrize("states", [1, 40, 200])
def test_what_is_forgotten_is_followed_again(states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = planned(TRANSPOSED, 96, (8, 8), kind="axi", workers=WorkerRequest(4))
    workers, bus = found.parts[0].workers, Bus("axi", 20)
    known_cycles.clear()
    cycles = workers_cycles(workers, bus)
    monkeypatch.setattr(timeline, "MOST_STATES", states)
    known_cycles.clear()
    assert workers_cycles(workers, bus) == cycles


@pytest.mark.sample("fixed-True")
@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_tiles_that_are_not_looked_at_do_not_matter(
    kind: BusKind, barrier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = WorkerRequest(4, "C", barrier)
    workers = planned(TRANSPOSED, 64, (4, 4), kind=kind, workers=request).parts[0].workers
    steps: list[int] = []
    follow = timeline._Timeline._step

    def counted(line: timeline._Timeline, state: State) -> Step:
        steps.append(1)
        return follow(line, state)

    def looks_around(track: Track, looks: list[Look]) -> None:
        watch(track, looks)
        for tile in range(-min(track.behind, track.tile), track.ahead + 1):
            track._look(tile)

    watch = Track.watch
    monkeypatch.setattr(timeline._Timeline, "_step", counted)
    known_cycles.clear()
    cycles, few = workers_cycles(workers, Bus(kind, 8)), len(steps)
    monkeypatch.setattr(Track, "watch", looks_around)
    known_cycles.clear()
    assert workers_cycles(workers, Bus(kind, 8)) == cycles
    assert len(steps) - few > few


def test_a_tile_that_is_looked_at_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = planned(TRANSPOSED, 40, (4, 4), workers=WorkerRequest(4)).parts[0].workers
    known_cycles.clear()
    cycles = workers_cycles(workers, Bus("fixed", 8))
    kind_of = Track.kind_of
    monkeypatch.setattr(Track, "kind_of", lambda track, tile: min(0, kind_of(track, tile)))
    known_cycles.clear()
    with suppress(PlanError):
        assert workers_cycles(workers, Bus("fixed", 8)) != cycles


def test_a_step_is_known_as_long_as_it_is_asked_for() -> None:
    recent: Recent[int] = Recent(3)
    for n in range(12):
        assert recent.get((n,)) is None
        recent.add((n,), n)
        assert recent.get((0,)) == 0
    kept = [n for n in range(12) if recent.get((n,)) is not None]
    assert kept[0] == 0 and len(kept) <= 6 and kept[-1] == 11


def test_accesses_in_turn_are_skipped_together() -> None:
    # Workers are served in turn: no mover's accesses follow each other.
    workers = planned(TRANSPOSED, 96, (16, 16), workers=WorkerRequest(4)).parts[0].workers
    skipped: list[int] = []
    follow = Stretch.skipped

    def noting(stretch: Stretch, state: State) -> list[int]:
        moved = follow(stretch, state)
        skipped.append(len(moved))
        return moved

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stretch, "skipped", noting)
        known_cycles.clear()
        found = workers_cycles(workers, Bus("fixed", 8))
        patched.setattr(Stretch, "skipped", lambda *_: [])
        known_cycles.clear()
        assert workers_cycles(workers, Bus("fixed", 8)) == found
    assert max(skipped) > 1


def test_tiles_that_move_the_same_have_one_pattern() -> None:
    region = region_of(TRANSPOSED, 96, (4, 4), 8)
    tiles = iterations_of(region.levels)
    for transfer in region.transfers:
        found = patterns_of(transfer, tiles, False).patterns
        assert len(set(found)) == len(found)
