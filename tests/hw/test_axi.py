"""Tiles behind an AXI4 bus: right whatever it does, and as fast as predicted."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Signal

from rtlgen.hw.kernel import Kernel
from rtlgen.ir.cycles import predicted_cycles
from tests.hw.axi_off_chip import PAGE, AxiOffChip
from tests.hw.memory_off_chip import Words, packed, simulate_off_chip
from tests.hw.test_tiles import CASES, expected, random_arrays, runs_on
from tests.tiling.programs import PRODUCT, TRANSPOSED, planned

TWO_PAGES = """
#include <stdint.h>
void two_pages(int64_t x[N][N], int64_t y[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      y[i][j] = x[i][j] * 3;
}
"""


@pytest.mark.sample("20-backwards")
@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), CASES)
@pytest.mark.parametrize("latency_cycles", [pytest.param(1, marks=pytest.mark.long), 20])
def test_tiles_are_exact_and_as_fast_as_predicted(
    text: str, size: int, tile: tuple[int, ...], word_bits: int, latency_cycles: int
) -> None:
    found = planned(
        text, size, tile, kind="axi", latency_cycles=latency_cycles, word_bits=word_bits
    )
    outcomes = runs_on(
        text,
        size,
        found,
        found.plan,
        lambda kernel, words: AxiOffChip(kernel, words, lambda: latency_cycles),
    )
    assert outcomes == [(predicted_cycles(found.plan), True)] * 2


@pytest.mark.sample("backwards")
@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), CASES[::2])
def test_a_memory_may_pause_on_every_channel(
    text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    found = planned(text, size, tile, kind="axi", word_bits=word_bits)
    latency = random.Random(7)
    outcomes = runs_on(
        text,
        size,
        found,
        found.plan,
        lambda kernel, words: AxiOffChip(
            kernel, words, lambda: latency.choice((1, 1, 2, 5, 40)), pauses=0.4
        ),
    )
    assert all(is_right for _, is_right in outcomes)


@pytest.mark.long
@pytest.mark.sample("0.3")
@pytest.mark.parametrize("pauses", [0.0, 0.3])
def test_an_error_ends_the_run_early_and_leaves_nothing_behind(pauses: float) -> None:
    found = planned(TRANSPOSED, 11, (4, 8), kind="axi")
    plan = found.plan
    arrays = random_arrays(found, 3)
    for failing in (1, 5, 14):
        words = packed(plan, arrays)

        async def script(memory: AxiOffChip, ctx: Any, _: Signal, words: Words = words) -> None:
            await memory.run(ctx)
            assert ctx.get(memory.kernel.mem_error)
            bursts = memory.bursts
            words[:] = packed(plan, arrays)
            memory.errors = frozenset()
            await memory.run(ctx)
            assert not ctx.get(memory.kernel.mem_error)
            # The run that failed asked for no more than was on its way already.
            assert bursts < memory.bursts - bursts
            assert words == packed(plan, expected(TRANSPOSED, 11, arrays))

        def memory(kernel: Kernel, words: Words = words, failing: int = failing) -> AxiOffChip:
            return AxiOffChip(kernel, words, lambda: 6, pauses, frozenset({failing}))

        simulate_off_chip(plan, memory, script)


@pytest.mark.sample("B")
@pytest.mark.parametrize("name", ["C", "A", "B"])
def test_an_array_where_it_cannot_be_is_an_error_and_all_are_left_alone(name: str) -> None:
    found = planned(PRODUCT, 5, (4, 4, 4), kind="axi")
    plan = found.plan
    assert plan.memory_side is not None
    assert all(8 * array.words(64) < PAGE for array in plan.memory_side.arrays)
    arrays = random_arrays(found, 3)
    words = packed(plan, arrays)
    last = (1 << 64) - PAGE

    async def script(memory: AxiOffChip, ctx: Any, _: Signal) -> None:
        here = memory.bases[name]
        for base in (here + 1, here + PAGE // 2, last + PAGE - 8, 1):
            await memory.run(ctx, others={name: base})
            assert ctx.get(memory.kernel.mem_error), hex(base)
            # No answer was one, so there is none to tell of.
            assert not ctx.get(memory.kernel.mem_error_response)
            assert not ctx.get(memory.kernel.mem_error_address)
            assert not memory.bursts
        assert words == packed(plan, arrays)
        # Wherever an array of one page begins, it ends in time.
        await memory.run(ctx, others={name: last})
        assert not ctx.get(memory.kernel.mem_error)
        assert words == packed(plan, expected(PRODUCT, 5, arrays))

    simulate_off_chip(plan, lambda kernel: AxiOffChip(kernel, words, lambda: 6), script)


@pytest.mark.sample("y")
@pytest.mark.parametrize("name", ["x", "y"])
def test_an_array_that_would_go_round_is_an_error(name: str) -> None:
    found = planned(TWO_PAGES, 24, (8, 8), kind="axi")
    plan = found.plan
    arrays = random_arrays(found, 3)
    words = packed(plan, arrays)
    assert plan.memory_side is not None
    assert all(PAGE < 8 * array.words(64) < 2 * PAGE for array in plan.memory_side.arrays)

    async def script(memory: AxiOffChip, ctx: Any, _: Signal) -> None:
        await memory.run(ctx, others={name: (1 << 64) - PAGE})
        assert ctx.get(memory.kernel.mem_error)
        assert not memory.bursts
        assert words == packed(plan, arrays)
        await memory.run(ctx, others={name: (1 << 64) - 2 * PAGE})
        assert not ctx.get(memory.kernel.mem_error)
        assert words == packed(plan, expected(TWO_PAGES, 24, arrays))

    simulate_off_chip(plan, lambda kernel: AxiOffChip(kernel, words, lambda: 6), script)


@pytest.mark.sample("apart")
@pytest.mark.parametrize("apart", [PAGE, 1 << 32], ids=["side by side", "apart"])
def test_arrays_may_be_in_any_order_and_across_any_address(apart: int) -> None:
    found = planned(TWO_PAGES, 24, (8, 8), kind="axi")
    plan = found.plan
    arrays = random_arrays(found, 3)
    words = packed(plan, arrays)
    # Behind its first page, y is above bit 32, and x is where y ends or far above.
    y = (1 << 32) - PAGE
    bases = {"x": y + 2 * PAGE * (apart // PAGE), "y": y}

    async def script(memory: AxiOffChip, ctx: Any, _: Signal) -> None:
        await memory.run(ctx, others=bases)
        assert not ctx.get(memory.kernel.mem_error)
        assert words == packed(plan, expected(TWO_PAGES, 24, arrays))

    simulate_off_chip(plan, lambda kernel: AxiOffChip(kernel, words, lambda: 6), script)


def test_a_kernel_tells_in_which_cycles_it_stands_still() -> None:
    found = planned(TWO_PAGES, 16, (4, 16), kind="axi")
    runs: list[tuple[int, int]] = []

    for latency_cycles in (200, 500):
        words = packed(found.plan, random_arrays(found, 4))

        class Watched(AxiOffChip):
            """Counts the cycles in which the kernel stands still."""

            stalls = 0

            def answer(self, ctx: Any) -> None:
                super().answer(ctx)
                self.stalls += ctx.get(self.kernel.stands_still)

        async def script(memory: Watched, ctx: Any, _: Signal) -> None:
            runs.append((await memory.run(ctx), memory.stalls))

        def memory(kernel: Kernel, words: Words = words, latency: int = latency_cycles) -> Watched:
            return Watched(kernel, words, lambda: latency)

        simulate_off_chip(found.plan, memory, script)
    # Tiles are apart from each other, and what is waited for longer is all that takes longer.
    (few, short), (many, long) = runs
    assert many - few == long - short > 300
    (workers,) = found.plan.body
    (tiled,) = workers.regions  # type: ignore[union-attr]
    # A cycle each from the start to the first one, and from the last one to done.
    assert few - short == tiled.tiles * tiled.kernel.length_cycles + 2


@pytest.mark.long
def test_words_that_follow_each_other_are_one_burst() -> None:
    found = planned(TRANSPOSED, 64, (8, 64), kind="axi", word_bits=32)
    lengths = []

    def memory(kernel: Kernel, words: Words) -> AxiOffChip:
        lengths.append(AxiOffChip(kernel, words, lambda: 3))
        return lengths[-1]

    assert all(right for _, right in runs_on(TRANSPOSED, 64, found, found.plan, memory))
    assert lengths[-1].longest == 16
