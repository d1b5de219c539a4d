"""The three index styles enumerate a box in the same order, at the same time, again and again."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.hw.flat_index import Divide, Shift, sliceable
from rtlgen.hw.index_units import IndexUnit
from rtlgen.hw.odometer import Odometer
from rtlgen.ir.operation_costs import reciprocal

Observed = tuple[int, tuple[int, ...], tuple[int, ...], int]


def observe(unit: IndexUnit, begins: list[int], cycles: int) -> list[Observed]:
    """Return (cycle, counters, lasts, step) of each issue; `begin` is high in the given cycles."""
    seen: list[Observed] = []

    async def bench(ctx: Any) -> None:
        for cycle in range(cycles):
            ctx.set(unit.begin, cycle in begins)
            await ctx.delay(0)
            if ctx.get(unit.valid):
                counters = tuple(ctx.get(counter) for counter in unit.counters)
                lasts = tuple(ctx.get(last) for last in unit.lasts)
                seen.append((cycle, counters, lasts, ctx.get(unit.step)))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def expected(extents: tuple[int, ...], ii: int, first: int) -> list[Observed]:
    """Return what the definition says."""
    seen = []
    for rank, counters in enumerate(product(*map(range, extents))):
        lasts = tuple(int(c == e - 1) for c, e in zip(counters, extents, strict=True))
        step = next((n for n, last in enumerate(reversed(lasts)) if not last), len(extents))
        seen.append((first + ii * rank, counters, lasts, step))
    return seen


def units(extents: tuple[int, ...], ii: int) -> list[IndexUnit]:
    """Return a unit of every style that applies, `divide` with every useful latency."""
    found: list[IndexUnit] = [Odometer(extents, ii)]
    found += [Divide(extents, ii, latency) for latency in (0, 1, len(extents) + 1)]
    if sliceable(extents):
        found += [Shift(extents, ii, latency) for latency in (0, 2)]
    return found


@pytest.mark.parametrize(
    "extents",
    [(), (2,), (7,), (2, 2), (5, 4), (3, 5, 2), (2, 3, 2, 2)],
    ids=str,
)
@pytest.mark.parametrize("ii", [1, 3])
def test_every_style_enumerates_the_box_twice_in_a_row(extents: tuple[int, ...], ii: int) -> None:
    for unit in units(extents, ii):
        start = 1 + unit.latency_cycles
        first = expected(extents, ii, start)
        # The second run begins in the very cycle in which the first one issues for the last time.
        again = first[-1][0] - unit.latency_cycles
        second = expected(extents, ii, again + start)
        assert observe(unit, [0, again], second[-1][0] + 4) == first + second, type(unit).__name__


@settings(max_examples=8, deadline=None)
@given(
    extents=st.lists(st.integers(2, 6), min_size=1, max_size=3).map(tuple),
    ii=st.integers(1, 4),
)
def test_the_styles_agree_on_any_box(extents: tuple[int, ...], ii: int) -> None:
    for unit in units(extents, ii):
        reference = expected(extents, ii, 1 + unit.latency_cycles)
        assert observe(unit, [0], reference[-1][0] + 3) == reference


@given(st.integers(1, 5000), st.integers(0, 100_000))
def test_reciprocals_divide_exactly_up_to_their_maximum(divisor: int, maximum: int) -> None:
    by = reciprocal(divisor, maximum)
    edges = {maximum, maximum // divisor * divisor, max(0, maximum // divisor * divisor - 1)}
    for x in edges | {0, min(maximum, divisor - 1)}:
        assert x * by.factor >> by.shift == x // divisor


def test_a_reciprocal_one_bit_shorter_would_be_wrong() -> None:
    by = reciprocal(99, 791)
    short = -(-(1 << by.shift - 1) // 99)
    assert any(x * short >> by.shift - 1 != x // 99 for x in range(792))


@pytest.mark.parametrize("style", [Odometer, Divide, Shift])
def test_reset_in_mid_run_leaves_a_unit_as_after_power_up(style: type[IndexUnit]) -> None:
    unit = style((3, 4), 2)
    reset = Signal()
    seen: list[tuple[int, tuple[int, ...]]] = []

    async def bench(ctx: Any) -> None:
        for cycle in range(60):
            ctx.set(unit.begin, cycle in (0, 15))
            ctx.set(reset, cycle == 10)
            await ctx.delay(0)
            if ctx.get(unit.valid):
                seen.append((cycle, tuple(ctx.get(counter) for counter in unit.counters)))
            await ctx.tick()

    simulator = Simulator(ResetInserter(reset)(unit))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    before = [(cycle, counters) for cycle, counters, _, _ in expected((3, 4), 2, 1) if cycle <= 10]
    after = [(cycle, counters) for cycle, counters, _, _ in expected((3, 4), 2, 16)]
    assert seen == before + after
