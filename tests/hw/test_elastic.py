"""Nests with any bounds, run with no bubble, against isl's own enumeration of the domain."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.hw.elastic import LEAD, ElasticOdometer, LeadForms, wheels_of
from rtlgen.hw.primed import Node, Pipeline, largest, linear, quotient, smallest
from rtlgen.ir.iterations import level_iterations
from rtlgen.ir.plan import IndexForm, Level, LevelBound, PlanError
from tests.hw.nests import HOLED, cases, issued, levels_of

WAVEFRONTS = ("tiled wavefronts", (0, 1, 2, 3))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(("name", "order"), [case for case in cases() if case not in HOLED])
def test_counts_through_the_domain_as_isl_enumerates_it(name: str, order: tuple[int, ...]) -> None:
    levels, points = levels_of(name, order)
    assert issued(ElasticOdometer(levels, 1), runs=2) == points * 2


@pytest.mark.parametrize(("name", "order"), sorted(HOLED))
def test_an_empty_level_is_refused(name: str, order: tuple[int, ...]) -> None:
    levels, _ = levels_of(name, order)
    with pytest.raises(PlanError, match="is empty"):
        wheels_of(levels)


@pytest.mark.parametrize("ii", [2, 3])
@pytest.mark.parametrize(("name", "order"), [WAVEFRONTS, ("quotients", (1, 0))])
def test_issues_every_ii_cycles(name: str, order: tuple[int, ...], ii: int) -> None:
    levels, points = levels_of(name, order)
    assert issued(ElasticOdometer(levels, ii), runs=2) == points * 2


def observe(unit: ElasticOdometer, begins: set[int], resets: set[int], cycles: int) -> list[Any]:
    """Return (cycle, counters, lasts, step) of every issue."""
    reset = Signal()
    seen: list[Any] = []

    async def bench(ctx: Any) -> None:
        for cycle in range(cycles):
            ctx.set(unit.begin, cycle in begins)
            ctx.set(reset, cycle in resets)
            await ctx.delay(0)
            if ctx.get(unit.valid):
                counters = tuple(ctx.get(counter) for counter in unit.counters)
                lasts = tuple(ctx.get(last) for last in unit.lasts)
                seen.append((cycle, counters, lasts, ctx.get(unit.step)))
            await ctx.tick()

    simulator = Simulator(ResetInserter(reset)(unit))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def expected(points: list[tuple[int, ...]], first: int) -> list[Any]:
    """Return what the definition of an index unit says, one iteration a cycle."""
    found = []
    for n, point in enumerate(points):
        after = points[n + 1] if n + 1 < len(points) else None
        same = 0
        while after is not None and after[same] == point[same]:
            same += 1
        # Level l ends where an outer counter moves next.
        lasts = tuple(int(after is None or level > same) for level in range(len(point)))
        step = len(point) if after is None else len(point) - 1 - same
        found.append((first + n, point, lasts, step))
    return found


def test_the_next_run_may_begin_in_the_cycle_of_the_last_iteration() -> None:
    levels, points = levels_of(*WAVEFRONTS)
    count = len(points)
    seen = observe(ElasticOdometer(levels, 1), {0, count}, set(), 2 * count + 5)
    assert [(cycle, counters) for cycle, counters, _, _ in seen] == [
        (1 + n, point) for n, point in enumerate(points * 2)
    ]


def test_says_which_levels_end() -> None:
    levels, points = levels_of("hexagon", (0, 1))
    seen = observe(ElasticOdometer(levels, 1), {0}, set(), len(points) + 5)
    assert [(counters, step) for _, counters, _, step in seen] == [
        (counters, step) for _, counters, _, step in expected(points, 1)
    ]


def test_reset_in_mid_run_leaves_the_unit_as_after_power_up() -> None:
    levels, points = levels_of(*WAVEFRONTS)
    seen = observe(ElasticOdometer(levels, 1), {0, 60}, {50}, 70)
    assert [(cycle, counters) for cycle, counters, _, _ in seen] == [
        *((1 + n, point) for n, point in enumerate(points[:50])),
        *((61 + n, point) for n, point in enumerate(points[:9])),
    ]


def spoilt(levels: tuple[Level, ...], number: int) -> tuple[Level, ...]:
    """Return the levels with one upper bound of a level one too small."""
    level = levels[number]
    first, *others = level.uppers
    form = replace(first.form, constant=first.form.constant - first.divisor)
    wrong = replace(level, uppers=(replace(first, form=form), *others))
    return (*levels[:number], wrong, *levels[number + 1 :])


def test_a_wrong_bound_is_noticed() -> None:
    levels, points = levels_of("hexagon", (0, 1))
    assert issued(ElasticOdometer(spoilt(levels, 1), 1)) != points


class _NotPrimed(ElasticOdometer):
    """An odometer whose registers come up one iteration late."""

    def _ahead(self) -> list[int]:
        return [iteration + 1 for iteration in super()._ahead()]


def test_a_wrong_reset_state_is_noticed() -> None:
    levels, points = levels_of("hexagon", (0, 1))
    assert issued(_NotPrimed(levels, 1)) != points


def forms_seen(levels: tuple[Level, ...], forms: list[IndexForm]) -> list[tuple[int, ...]]:
    """Return the values of forms in every iteration of two runs."""
    unit = ElasticOdometer(levels, 1)
    m = Module()
    m.submodules.index = unit
    leads = LeadForms(m, unit, unit.valid)
    shown = [leads.at(form, 10, f"form_{n}") for n, form in enumerate(forms)]
    seen: list[tuple[int, ...]] = []

    async def bench(ctx: Any) -> None:
        for _ in range(2):
            ctx.set(unit.begin, 1)
            await ctx.tick()
            ctx.set(unit.begin, 0)
            while ctx.get(unit.valid):
                seen.append(tuple(ctx.get(value) for value in shown))
                await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


@settings(max_examples=3, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-60, 60)] * 5), min_size=1, max_size=3))
def test_forms_are_ready_in_the_cycle_of_their_iteration(rows: list[tuple[int, ...]]) -> None:
    levels, points = levels_of(*WAVEFRONTS)
    forms = [IndexForm(tuple(row[:4]), row[4]) for row in rows]
    assert forms_seen(levels, forms) == [
        tuple(form.evaluate(point) % 1024 for form in forms) for point in points * 2
    ]


SEQUENCE = st.lists(st.integers(-40, 40), min_size=2, max_size=9)


def shown_by(build: Any, traces: list[list[int]]) -> list[int]:
    """Return what a pipeline shows of a node for two rounds of tokens, and check its depth."""
    sources = [Node(np.array(trace, dtype=np.int64), f"x{n}") for n, trace in enumerate(traces)]
    node: Node = build(sources)
    m = Module()
    signals = [Signal(source.shape, init=source.at(node.depth)) for source in sources]
    value = Pipeline(m, 1, dict(zip(sources, signals, strict=True)), node.depth).at(
        node, node.depth
    )
    shown = Signal(node.shape)
    m.d.comb += shown.eq(value)
    m.d.sync += Signal().eq(0)
    found: list[int] = []

    async def bench(ctx: Any) -> None:
        for token in range(2 * len(traces[0])):
            for source, signal in zip(sources, signals, strict=True):
                ctx.set(signal, source.at(token + node.depth))
            await ctx.delay(0)
            found.append(ctx.get(shown))
            await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == node.trace.tolist() * 2
    return found


@settings(max_examples=15, deadline=None)
@given(
    pairs=st.lists(st.tuples(*[st.integers(-40, 40)] * 2), min_size=2, max_size=9),
    factors=st.tuples(*[st.integers(-20, 20)] * 3),
    divisor=st.integers(1, 12),
)
def test_quotients_and_extremes_are_computed_on_the_way(
    pairs: list[tuple[int, int]], factors: tuple[int, int, int], divisor: int
) -> None:
    a, b, constant = factors
    traces = [list(column) for column in zip(*pairs, strict=True)]

    def build(sources: list[Node]) -> Node:
        parts = list(zip(sources, (a, b), strict=True))
        divided = quotient(parts, constant, divisor, "q")
        return smallest([largest([divided, *sources], "m"), linear(parts, -3, "s")], "n")

    wanted = [
        min(max((a * x + b * y + constant) // divisor, x, y), a * x + b * y - 3) for x, y in pairs
    ]
    assert shown_by(build, traces) == wanted * 2


def test_an_operand_that_never_wins_is_not_compared() -> None:
    low, high = Node(np.array([1, 2, 3]), "low"), Node(np.array([3, 2, 5]), "high")
    assert largest([low, high], "m") is high
    assert smallest([low, high], "m") is low


def test_a_sum_of_many_terms_keeps_to_its_stages() -> None:
    sources = [Node(np.array([n, n + 1]), f"x{n}") for n in range(7)]
    total = linear([(source, 85) for source in sources], 9, "sum", stages=LEAD)
    assert total.depth <= LEAD
    assert total.trace.tolist() == [9 + 85 * 21, 9 + 85 * 28]


def test_a_bound_that_says_nothing_of_the_iterations_is_a_contradiction() -> None:
    # The extent cuts off what the bound allows: the circuit would run on.
    outer = Level(3)
    inner = Level(4, None, (), (LevelBound(IndexForm((2, 0), 1)),))
    assert len(list(level_iterations((outer, inner)))) == 2
    with pytest.raises(PlanError, match="the bounds of level 1"):
        wheels_of((outer, inner))


def test_no_level_waits_for_another() -> None:
    """Rows of one iteration each, under rows of one iteration each: the next is always there."""
    levels, points = levels_of("anti-diagonals", (0, 1))
    seen = observe(ElasticOdometer(levels, 1), {0}, set(), len(points) + 5)
    assert all(b[0] - a[0] == 1 for a, b in pairwise(seen))
    assert len(seen) == len(points)
