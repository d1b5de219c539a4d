"""A queue that says from registers what Amaranth's says from counts."""

from __future__ import annotations

import random

import pytest
from amaranth.lib.fifo import SyncFIFO
from amaranth.sim import Simulator, SimulatorContext

from rtlgen.hw.queues import ReadyFIFO

CYCLES = 400


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 16])
@pytest.mark.parametrize(("puts", "takes"), [(0.9, 0.3), (0.3, 0.9), (0.6, 0.6)])
def test_it_does_what_the_other_does(depth: int, puts: float, takes: float) -> None:
    rng = random.Random(7)
    asked = [(rng.random() < puts, rng.random() < takes, rng.randrange(256)) for _ in range(CYCLES)]

    def seen(queue: ReadyFIFO | SyncFIFO) -> list[tuple[int, int, int | None]]:
        found: list[tuple[int, int, int | None]] = []

        async def bench(context: SimulatorContext) -> None:
            for put, take, value in asked:
                context.set(queue.w_en, put)
                context.set(queue.r_en, take)
                context.set(queue.w_data, value)
                has = context.get(queue.r_rdy)
                first = context.get(queue.r_data) if has else None
                found.append((context.get(queue.w_rdy), has, first))
                await context.tick()

        simulator = Simulator(queue)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()
        return found

    assert seen(ReadyFIFO(width=8, depth=depth)) == seen(SyncFIFO(width=8, depth=depth))
