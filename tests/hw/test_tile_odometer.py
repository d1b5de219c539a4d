"""Tile loops with any bounds around a box: the same iterations, a tile at each begin."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import EnableInserter, Signal
from amaranth.sim import Simulator

from rtlgen.hw.elastic import TileOdometer
from rtlgen.hw.mover import TransferControl
from rtlgen.ir.iterations import address_values, form_values, level_iterations, predicate_mask
from rtlgen.ir.plan import Transfer
from tests.hw.nests import cases, levels_of
from tests.tiling.programs import PRODUCT, SEIDEL, TRANSPOSED, planned

BOX = (3, 2)


@pytest.mark.parametrize(
    "name", ["triangle", "anti-diagonals", "quotients", "wavefronts of a cube", "thin wedge"]
)
@pytest.mark.parametrize("ii", [1, 2])
def test_a_tile_is_issued_at_each_begin(name: str, ii: int) -> None:
    order = next(order for case, order in cases() if case == name)
    levels, points = levels_of(name, order)
    unit = TileOdometer(levels, BOX, ii)
    inner = [(a, b) for a in range(BOX[0]) for b in range(BOX[1])]
    gaps = random.Random(name)
    begins: list[int] = []
    for _ in range(2 * len(points)):
        behind = begins[-1] + ii * len(inner) if begins else 0
        begins.append(behind + gaps.choice((0, 0, 3)))
    seen: dict[int, tuple[int, ...]] = {}

    async def bench(ctx: Any) -> None:
        for cycle in range(begins[-1] + ii * len(inner) + 5):
            ctx.set(unit.begin, cycle in begins)
            await ctx.delay(0)
            if ctx.get(unit.valid):
                seen[cycle] = tuple(ctx.get(counter) for counter in unit.counters)
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == {
        begin + 1 + ii * rank: (*tile, *place)
        for begin, tile in zip(begins, points * 2, strict=True)
        for rank, place in enumerate(inner)
    }


@pytest.mark.sample("wavefronts")
@pytest.mark.parametrize(
    ("text", "size", "tile"),
    [
        pytest.param(TRANSPOSED, 21, (8, 8), id="wavefronts"),
        pytest.param(PRODUCT, 9, (4, 4, 4), id="product"),
        pytest.param(SEIDEL, 9, (2, 4, 4), id="skewed"),
    ],
)
def test_a_control_shows_the_words_of_a_transfer_however_often_it_is_held(
    text: str, size: int, tile: tuple[int, ...]
) -> None:
    (region,) = planned(text, size, tile).plan.tiled_regions
    assert region.transfers
    for transfer in region.transfers:
        assert_words_are_shown(transfer, len(region.levels))


def assert_words_are_shown(transfer: Transfer, depth: int) -> None:
    control = TransferControl(transfer, depth, 1 << 12)
    go = Signal()
    rows = np.zeros((1, 0), dtype=np.int64)
    tiles = np.zeros(1, dtype=np.int64)
    for level, (inner, parents) in enumerate(level_iterations(transfer.levels)):
        rows = inner
        tiles = np.arange(len(inner)) if level < depth else tiles[parents]
    moves = predicate_mask(transfer.when, rows)
    last = np.append(np.diff(tiles) > 0, True)
    words = form_values(transfer.word, rows) % (1 << 12)
    places = address_values(transfer.at, rows, tiles)
    strobes = [predicate_mask(strobe, rows) for strobe in transfer.strobes]
    held = random.Random(3)
    seen: list[tuple[int, ...]] = []

    async def bench(ctx: Any) -> None:
        ctx.set(go, 1)
        ctx.set(control.begin, 1)
        await ctx.tick()
        ctx.set(control.begin, 0)
        while len(seen) < len(rows):
            ctx.set(go, held.random() < 0.7)
            await ctx.delay(0)
            if ctx.get(go) and ctx.get(control.valid):
                shown = (control.moves_of(0), control.last, control.word, control.at)
                ports = (*shown, *control.strobes_of(0))
                seen.append(tuple(ctx.get(port) for port in ports))
            await ctx.tick()
        ctx.set(go, 1)
        await ctx.tick()
        assert not ctx.get(control.valid)

    simulator = Simulator(EnableInserter(go)(control))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for n, (moved, ends, word, place, *lanes) in enumerate(seen):
        assert (moved, ends) == (moves[n], last[n])
        if moved:
            assert (word, place) == (words[n], places[n])
            assert lanes == [strobe[n] for strobe in strobes]
