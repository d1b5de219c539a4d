"""Circuits of plans in tiles: right whatever the memory does, and as fast as predicted."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, Value

from rtlgen.hw import tile_sequencer
from rtlgen.hw.kernel import Kernel
from rtlgen.hw.windows import FilledStorage
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import ALWAYS, KernelPlan, Transfer, Workers
from rtlgen.tiling.plan import TiledProgram
from rtlgen.verify.golden import run_golden
from tests.hw.memory_off_chip import (
    Memory,
    MemoryOffChip,
    Words,
    packed,
    simulate_off_chip,
    unpacked,
)
from tests.tiling.programs import (
    BACKWARDS,
    BLUR,
    PRODUCT,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
    parsed,
    planned,
)
from tests.tiling.spoilt import with_transfer

Arrays = dict[str, np.ndarray]

CASES = [
    pytest.param(TRANSPOSED, 11, (4, 8), 64, id="wavefronts"),
    pytest.param(TRANSPOSED, 5, (1, 1), 32, id="tiles-of-one"),
    pytest.param(TRANSPOSED, 7, (16, 16), 128, id="one-tile"),
    pytest.param(PRODUCT, 6, (4, 4, 4), 64, id="product"),
    pytest.param(PRODUCT, 3, (1, 1, 1), 32, id="product-in-tiles-of-one"),
    pytest.param(TRIANGULAR, 6, (2, 4), 32, id="two-units"),
    pytest.param(TWO_PRODUCTS, 5, (2, 4, 4), 64, id="local-array-off-chip"),
    pytest.param(BLUR, 10, (4, 8), 64, id="stencil"),
    pytest.param(BACKWARDS, 17, (4,), 32, id="backwards"),
]


FEW = ("wavefronts", "two-units", "local-array-off-chip")


def random_arrays(found: TiledProgram, seed: int) -> Arrays:
    """Return data for all arrays of a program, the local ones too."""
    rng = np.random.default_rng(seed)
    side = found.plan.memory_side
    assert side is not None
    arrays = {}
    for array in side.arrays:
        kind = np.dtype(f"{'i' if array.signed else 'u'}{array.width_bits // 8}")
        values = rng.integers(0, 256, (*array.shape[:-1], array.shape[-1] * kind.itemsize))
        arrays[array.name] = values.astype(np.uint8).view(kind).reshape(array.shape)
    return arrays


def expected(text: str, size: int, arrays: Arrays) -> Arrays:
    """Return what the C program leaves in its arguments."""
    scop = parsed(text, size).scop
    given = {a.name: arrays[a.name] for a in scop.arrays if a.role != "local"}
    return {name: np.asarray(values) for name, values in run_golden(scop, given).arrays.items()}


def runs_of(
    text: str, size: int, found: TiledProgram, latency: Callable[[], int], plan: KernelPlan
) -> list[tuple[int, bool]]:
    """Return for two runs, one on what the other left: cycles, and whether memory is right."""
    return runs_on(
        text, size, found, plan, lambda kernel, words: MemoryOffChip(kernel, words, latency)
    )


def runs_on(
    text: str,
    size: int,
    found: TiledProgram,
    plan: KernelPlan,
    memory: Callable[[Kernel, Words], Memory],
) -> list[tuple[int, bool]]:
    """Return the same with another memory around the circuit."""
    arrays = random_arrays(found, 1)
    words = packed(plan, arrays)
    outcomes: list[tuple[int, bool]] = []

    async def script(memory: Memory, ctx: Any, _: Signal) -> None:
        for _run in range(2):
            wanted = {**unpacked(plan, words), **expected(text, size, unpacked(plan, words))}
            cycles = await memory.run(ctx)
            local = {a.name for a in parsed(text, size).scop.arrays if a.role == "local"}
            left = unpacked(plan, words)
            image = packed(plan, {**wanted, **{name: left[name] for name in local if name in left}})
            outcomes.append((cycles, words == image))

    simulate_off_chip(plan, lambda kernel: memory(kernel, words), script)
    return outcomes


# Cycles as predicted are judged on Verilator too, of more programs and latencies.
@pytest.mark.sample("wavefronts-1")
@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits", "latency_cycles"),
    [
        pytest.param(*case.values, cycles, id=f"{case.id}-{cycles}", marks=marks)
        for case in CASES
        for cycles in (1, 8)
        for marks in (() if case.id in FEW and cycles == 1 else pytest.mark.long,)
    ],
)
def test_tiles_are_exact_and_as_fast_as_predicted(
    text: str, size: int, tile: tuple[int, ...], word_bits: int, latency_cycles: int
) -> None:
    found = planned(text, size, tile, latency_cycles=latency_cycles, word_bits=word_bits)
    outcomes = runs_of(text, size, found, lambda: latency_cycles, found.plan)
    assert outcomes == [(predicted_cycles(found.plan), True)] * 2


@pytest.mark.sample("backwards", "stencil")
@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), CASES)
def test_a_memory_may_take_any_time_for_each_access(
    text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    found = planned(text, size, tile, word_bits=word_bits)
    latency = random.Random(7)
    outcomes = runs_of(text, size, found, lambda: latency.choice((1, 1, 2, 5, 20)), found.plan)
    assert all(is_right for _, is_right in outcomes)


def test_a_word_that_waits_longer_beside_its_rams_is_read_too_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In tiles of one iteration nothing comes between a start and the first read."""
    found = planned(PRODUCT, 3, (1, 1, 1), latency_cycles=1, word_bits=32)
    assert all(is_right for _, is_right in runs_of(PRODUCT, 3, found, lambda: 1, found.plan))
    arriving = FilledStorage._arriving

    def late(self: FilledStorage, m: Module) -> object:
        fill = arriving(self, m)
        later = type(fill)(Signal(), Signal.like(fill.addr), Signal.like(fill.data))
        pairs = zip(
            (later.en, later.addr, later.data), (fill.en, fill.addr, fill.data), strict=True
        )
        m.d.sync += [mine.eq(its) for mine, its in pairs]
        return later

    monkeypatch.setattr(FilledStorage, "_arriving", late)
    assert not all(is_right for _, is_right in runs_of(PRODUCT, 3, found, lambda: 1, found.plan))


def abreast(plan: KernelPlan, most: int) -> KernelPlan:
    """Let all movers look at so many words of a row in one cycle, as far as it has them."""
    (region,) = plan.tiled_regions

    def wide(transfer: Transfer) -> Transfer:
        extent = transfer.levels[-1].extent
        return transfer if extent < 2 else replace(transfer, abreast=min(most, extent))

    changed = replace(region, transfers=tuple(map(wide, region.transfers)))
    assert any(transfer.abreast > 1 for transfer in changed.transfers)
    return replace(plan, body=(Workers((changed,)),))


@pytest.mark.sample("16-stencil", "3-stencil")
@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits"),
    [
        pytest.param(TRANSPOSED, 19, (4, 16), 32, id="strobes"),
        pytest.param(PRODUCT, 6, (4, 4, 4), 64, id="product"),
        pytest.param(BLUR, 10, (4, 8), 32, id="stencil"),
    ],
)
@pytest.mark.parametrize("words", [2, 3, 16])
def test_movers_may_look_at_several_words_abreast(
    text: str, size: int, tile: tuple[int, ...], word_bits: int, words: int
) -> None:
    found = planned(text, size, tile, latency_cycles=1, word_bits=word_bits)
    plan = abreast(found.plan, words)
    outcomes = runs_of(text, size, found, lambda: 1, plan)
    assert outcomes == [(predicted_cycles(plan), True)] * 2


def test_a_reset_in_the_middle_leaves_nothing_behind() -> None:
    found = planned(TRANSPOSED, 9, (4, 4), latency_cycles=3)
    plan = found.plan
    arrays = random_arrays(found, 2)
    words = packed(plan, arrays)

    async def script(memory: MemoryOffChip, ctx: Any, reset: Signal) -> None:
        for after in (1, 9, 40, 111):
            ctx.set(memory.kernel.start, 1)
            await ctx.tick()
            ctx.set(memory.kernel.start, 0)
            for _ in range(after):
                memory.answer(ctx)
                await ctx.tick()
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)
            memory.asked = None
            words[:] = packed(plan, arrays)
            assert await memory.run(ctx) == predicted_cycles(plan)
            assert words == packed(plan, expected(TRANSPOSED, 9, arrays))
            words[:] = packed(plan, arrays)

    simulate_off_chip(plan, lambda kernel: MemoryOffChip(kernel, words, lambda: 3), script)


def sabotaged(plan: KernelPlan, window: str, change: Callable[[Transfer], Transfer]) -> KernelPlan:
    (region,) = plan.tiled_regions
    return replace(plan, body=(Workers((with_transfer(region, window, change),)),))


def later_word(transfer: Transfer) -> Transfer:
    """Move the words of the next tile."""
    outer = sum(transfer.word.coefficients[:2])
    return replace(
        transfer, word=replace(transfer.word, constant=transfer.word.constant + max(1, outer))
    )


SABOTAGES = {
    "strobe too wide": ("a_out", lambda t: replace(t, strobes=(ALWAYS,) * len(t.strobes))),
    "a load a tile late": ("a_in", later_word),
    "fold one bit too small": (
        "a_in",
        lambda t: replace(
            t,
            at=replace(
                t.at,
                fields=tuple(
                    replace(field, form=replace(field.form, coefficients=(0,) * len(t.levels)))
                    for field in t.at.fields
                ),
            ),
        ),
    ),
}


def is_caught(plan: KernelPlan, found: TiledProgram, latency_cycles: int) -> bool:
    try:
        outcomes = runs_of(TRANSPOSED, 21, found, lambda: latency_cycles, plan)
    except AssertionError:
        return True
    return not all(is_right for _, is_right in outcomes)


@pytest.mark.sample("a load a tile late")
@pytest.mark.parametrize("name", SABOTAGES)
def test_what_is_wrong_in_a_transfer_shows(name: str) -> None:
    window, change = SABOTAGES[name]
    found = planned(TRANSPOSED, 21, (8, 8))
    plan = sabotaged(found.plan, window, change)
    assert plan != found.plan
    assert is_caught(plan, found, 2)


@pytest.mark.sample("full")
@pytest.mark.parametrize("side", ["free", "full"])
def test_a_token_too_many_shows(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a copy more than there are, somebody overwrites or reads what is not his yet."""
    honest = tile_sequencer._tokens

    def generous(m: Module, name: str, most: int, initial: int, *events: Value) -> Signal:
        return honest(m, name, most + 1, initial + name.startswith(side), *events)

    monkeypatch.setattr(tile_sequencer, "_tokens", generous)
    found = planned(TRANSPOSED, 21, (8, 8))
    assert is_caught(found.plan, found, 1 if side == "free" else 8)


@pytest.mark.long
def test_a_lost_token_is_waited_for_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = tile_sequencer._tokens

    def miserly(
        m: Module, name: str, most: int, initial: int, given: Value, taken: Value
    ) -> Signal:
        if name != "full_0":
            return honest(m, name, most, initial, given, taken)
        # Every second one is dropped.
        drops = Signal()
        with m.If(given):
            m.d.sync += drops.eq(~drops)
        return honest(m, name, most, initial, given & ~drops, taken)

    monkeypatch.setattr(tile_sequencer, "_tokens", miserly)
    found = planned(TRANSPOSED, 21, (8, 8))
    assert is_caught(found.plan, found, 2)
