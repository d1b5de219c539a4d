"""What is told of the next tile of a kernel is what holds for it, whenever it is started."""

from __future__ import annotations

import random

import pytest
from amaranth.sim import Simulator, SimulatorContext

from rtlgen.hw.tile_sequencer import TileMarks
from rtlgen.ir.ints import Bools
from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.plan import Condition, IndexForm, Level, LevelBound, Mark, Predicate
from rtlgen.windows.workers import WorkerRequest
from tests.tiling.programs import LU, TRANSPOSED, planned

TRIANGLE = (
    Level(5),
    Level(6, None, (), (LevelBound(IndexForm((1, 0, 0), 1)),), 1),
    Level(3),
)

MARKS = (
    Mark(2),
    Mark(2, Predicate(((Condition(IndexForm((1, -1, 0))),),))),
    Mark(1, Predicate(((Condition(IndexForm((-1, 0, 0), 3)),),))),
    Mark(
        3, Predicate(((Condition(IndexForm((0, 1, -1))),), (Condition(IndexForm((1, 0, 0), -4)),)))
    ),
)


def rows_of(name: str) -> tuple[tuple[Level, ...], tuple[Mark, ...]]:
    """Return tile loops of a worker, and what its kernel counts."""
    if name == "a triangle":
        return TRIANGLE, MARKS
    text, size, tile = (LU, 9, (2, 2, 2)) if name == "LU" else (TRANSPOSED, 45, (8, 8))
    workers = planned(text, size, tile, workers=WorkerRequest(2)).parts[0].workers
    return workers.regions[1].levels, workers.kernel_marks(1)


@pytest.mark.sample(
    without=(
        "0-LU",
        "0-diagonals",
    )
)
@pytest.mark.parametrize("name", ["a triangle", "LU", "diagonals"])
@pytest.mark.parametrize("waits", [0, 3])
def test_marks_are_those_of_the_next_tile(name: str, waits: int) -> None:
    levels, marks = rows_of(name)
    assert marks
    tiles = iterations_of(levels)
    dut = TileMarks(marks, levels)
    expected = []
    for mark in marks:
        counts: Bools = predicate_mask(mark.when, tiles)
        outer = [tuple(tile[: mark.loops]) for tile in tiles.tolist()]
        first = [n == 0 or outer[n - 1] != outer[n] for n in range(len(outer))]
        last = [n + 1 == len(outer) or outer[n + 1] != outer[n] for n in range(len(outer))]
        expected.append((counts & first, counts & last))
    choose = random.Random(7)

    def check_what_will_be(ctx: SimulatorContext, tile: int) -> None:
        assert ctx.get(dut.will_be_valid) == (tile < len(tiles))
        if tile < len(tiles):
            for k, (opens, _) in enumerate(expected):
                assert ctx.get(getattr(dut, f"will_open_{k}")) == opens[tile], (tile, k)

    async def bench(ctx: SimulatorContext) -> None:
        for _ in range(2):
            assert not ctx.get(dut.valid)
            ctx.set(dut.begin, 1)
            await ctx.tick()
            ctx.set(dut.begin, 0)
            assert not ctx.get(dut.will_be_valid)
            await ctx.tick()
            assert not ctx.get(dut.valid)
            check_what_will_be(ctx, 0)
            await ctx.tick()
            for n in range(len(tiles)):
                for _ in range(choose.randint(0, waits)):
                    assert ctx.get(dut.valid)
                    check_what_will_be(ctx, n)
                    await ctx.tick()
                assert ctx.get(dut.valid), f"tile {n} is shown"
                for k, (opens, closes) in enumerate(expected):
                    assert ctx.get(getattr(dut, f"opens_{k}")) == opens[n], (n, k)
                    assert ctx.get(getattr(dut, f"closes_{k}")) == closes[n], (n, k)
                ctx.set(dut.started, 1)
                check_what_will_be(ctx, n + 1)
                await ctx.tick()
                ctx.set(dut.started, 0)
            assert not ctx.get(dut.valid)
            await ctx.tick().repeat(3)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
