"""How far apart instances issue, beside a list of all of them.

What shares a functional unit never begins in the same cycle, and what could share one does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import islpy as isl
import numpy as np
import pytest

import rtlgen
from rtlgen.datapath.binding import (
    in_starts,
    iterations_apart,
    iterations_between_starts,
    listed_iterations_apart,
    shared_units,
    with_units,
)
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.functional_units import FunctionalUnit, functional_units, has_slack
from rtlgen.ir.iterations import iterations_of, predicate_mask
from rtlgen.ir.operation_costs import multiplier_blocks
from rtlgen.ir.operations import UnitOp, is_by_digits, is_division, is_shareable
from rtlgen.ir.plan import (
    ALWAYS,
    ArithmeticOp,
    Condition,
    IndexForm,
    KernelPlan,
    Level,
    LevelBound,
    PlanError,
    Predicate,
    Region,
    Stream,
    Workers,
)
from rtlgen.report.text import plan_report_text
from tests.judges.spoilt import changed_op
from tests.judges.toy_plans import toy


def random_instances(seed: int) -> tuple[str, list[int], int]:
    """Return a set of counters, the extents of their loops, and how many are over tiles."""
    rng = random.Random(seed)
    extents = [rng.randint(1, 6) for _ in range(rng.randint(2, 4))]
    names = [f"d{k}" for k in range(len(extents))]
    conditions = [f"0 <= {name} < {extent}" for name, extent in zip(names, extents, strict=True)]
    for _ in range(rng.randint(0, 2)):
        terms = " + ".join(f"{rng.randint(-2, 2)} {name}" for name in names)
        conditions.append(f"{terms} + {rng.randint(-2, 3)} {rng.choice(['>=', '=', '>='])} 0")
    text = f"{{ [{','.join(names)}] : {' and '.join(conditions)} }}"
    return text, extents, rng.randint(0, len(extents) - 1)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_computed_is_what_a_list_shows(seed: int) -> None:
    text, extents, tiles = random_instances(seed)
    counted = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    points: list[tuple[int, ...]] = []
    counted.foreach_point(
        lambda point: points.append(
            tuple(
                point.get_coordinate_val(isl.dim_type.set, k).to_python()
                for k in range(len(extents))
            )
        )
    )
    most = 7
    ranks: dict[tuple[int, ...], list[int]] = {}
    for point in sorted(points):
        rank = int(np.ravel_multi_index(point[tiles:], extents[tiles:]))
        ranks.setdefault(point[:tiles], []).append(rank)
    gaps = [b - a for own in ranks.values() for a, b in pairwise(own)]
    placed = in_starts(counted, extents, tiles)
    assert iterations_apart(placed, most) == min([most, *gaps])
    if points:
        first, last = min(map(min, ranks.values())), max(map(max, ranks.values()))
        assert iterations_between_starts(placed, 100) == 100 + first - last


def test_a_triangle_is_listed() -> None:
    """Rows of 1, 2, .. iterations, of which the last one is an instance."""
    levels = (
        Level(5, "i"),
        Level(5, "j", (), (LevelBound(IndexForm((1, 0), 0)),)),
    )
    ends = Predicate(((Condition(IndexForm((1, -1), 0), equal=True),),))
    assert listed_iterations_apart(levels, ends, 9) == 2
    long_rows = Predicate(((*ends.alternatives[0], Condition(IndexForm((1, 0), -2))),))
    assert listed_iterations_apart(levels, long_rows, 9) == 4
    assert listed_iterations_apart(levels, long_rows, 3) == 3
    assert listed_iterations_apart(levels, ALWAYS, 9) == 1


ROWS = """
void rows(int a[8][N], int b[8]) {
  int s = 1;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < N; j++)
      s = (s + a[i][j]) ^ j;
    b[i] = s %s b[i];
  }
}
"""


@pytest.mark.sample("/-20")
@pytest.mark.parametrize("size", [3, 5, 20])
@pytest.mark.parametrize("operator", ["/", "%"])
def test_a_division_a_row_is_exact_with_few_circuits(size: int, operator: str) -> None:
    design = rtlgen.compile(source=ROWS % operator, define={"N": size})
    (op,) = [op for s in design.plan.streams for op in s.operations if is_division(op)]
    assert op.interval_cycles > 1
    found = design.verify()
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


FLOAT_ROWS = """
#include <math.h>

void f(float a[8][N], float b[8])
{
  float s = 1;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < N; j++)
      s = (s + a[i][j]) * 0.5f;
    b[i] = %s;
  }
}
"""


@pytest.mark.sample("s / b*")
@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("s / b[i]", "S2: a division every 13 cycles at most, so 2 circuits compute its 14 digits"),
        (
            "sqrtf(s + b[i])",
            "S2: a square root every 11 cycles at most, so 2 circuits compute its 14",
        ),
    ],
)
def test_a_float_operation_a_row_finds_digits_in_turn(expression: str, shown: str) -> None:
    design = rtlgen.compile(source=FLOAT_ROWS % expression, define={"N": 3})
    (op,) = [op for s in design.plan.streams for op in s.operations if is_by_digits(op)]
    assert op.interval_cycles > 1
    assert shown in plan_report_text(design.report())
    found = design.verify()
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


def test_the_report_says_how_often_a_statement_divides() -> None:
    text = "void f(int a[9], int b[9]) { for (int i = 1; i < 9; i++) b[i] = b[i - 1] / a[i]; }"
    shown = plan_report_text(rtlgen.compile(source=text).report())
    assert re.search(
        "S0: a division every 15 cycles at most, so 2 circuits compute its 16 digits", shown
    )


PAIR = """void f(int a[5][6], int b[5][6], int c[5][6], int d[5][6]) {
  for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) c[i][j] = a[i][j] %s b[i][j];
  for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) d[i][j] = c[i][j] %s b[4 - i][j]; }"""


def random_stream(stream: Stream, rng: random.Random) -> Stream:
    """Return the stream with other loops, and an operation in some of their iterations."""
    inner = Level(rng.randint(2, 6), "j")
    if rng.random() < 0.4:
        inner = replace(inner, uppers=(LevelBound(IndexForm((1, 0), rng.randint(0, 1))),))
    levels = (Level(rng.randint(1, 5), "i"), replace(inner, extent=7))
    conditions = [
        Condition(
            IndexForm((rng.randint(-2, 2), rng.randint(-2, 2)), rng.randint(-3, 3)),
            equal=rng.random() < 0.5,
        )
        for _ in range(rng.randint(0, 3))
    ]
    count = len(iterations_of(levels))
    is_box = all(level.is_box for level in levels)
    ((number, op),) = [(n, op) for n, op in enumerate(stream.operations) if is_shareable(op)]
    half = rng.randint(0, len(conditions))
    when = Predicate(tuple(tuple(part) for part in (conditions[:half], conditions[half:])))
    return replace(
        changed_op(stream, number, replace(op, when=when, unit=None, interval_cycles=1)),
        levels=levels,
        ii=rng.randint(1, 3),
        offset_cycles=rng.randint(0, 20),
        iterations=None if is_box else count,
    )


def begins(stream: Stream) -> tuple[list[int], UnitOp]:
    """Return the cycles of a region in which the one operation of a stream begins."""
    (op,) = [op for op in stream.operations if is_shareable(op)]
    rows = predicate_mask(op.when, iterations_of(stream.levels))
    first = stream.offset_cycles + op.stage
    return [first + stream.ii * rank for rank, is_begun in enumerate(rows) if is_begun], op


@pytest.mark.parametrize("operator", ["*", "/"])
def test_what_is_shared_is_what_a_list_of_cycles_allows(operator: str) -> None:
    made = toy(PAIR % (operator, operator), fuse="none").plan
    both = 0
    for seed in range(150):
        rng = random.Random(seed)
        streams = [random_stream(stream, rng) for stream in made.streams]
        plan = replace(made, body=(Region.whole(tuple(streams)),))
        lists = [begins(stream)[0] for stream in streams]
        found = shared_units(plan, isl.DEFAULT_CONTEXT, everywhere=True)
        if operator == "*":
            assert bool(found) == (not set(lists[0]) & set(lists[1])), seed
        for unit in found:
            both += 1
            cycles = sorted(lists[0] + lists[1])
            gaps = [b - a for a, b in pairwise(cycles)]
            assert 1 <= unit.interval_cycles <= min(gaps, default=99), seed
    assert both > 20


def units_of(plan: KernelPlan) -> list[tuple[str, list[str]]]:
    streams = plan.streams
    return [
        (unit.op.op, [streams[user.stream].statement for user in unit.users])
        for unit in functional_units(plan.regions)
    ]


ONE_AFTER_ANOTHER = """void f(const int a[12], const int b[12], int q[12], int s[1], int r[12]) {
  s[0] = 0;
  for (int i = 0; i < 12; i++) { q[i] = a[i] / (b[i] | 1); s[0] += q[i]; }
  for (int i = 0; i < 12; i++) r[i] = b[i] / (s[0] | 1); }"""
NARROW = """void f(const short a[8], const int b[8], int c[8], int s[1], int k) {
  s[0] = 1;
  for (int i = 0; i < 8; i++) s[0] += (a[i] + k) * (b[i] - k);
  for (int i = 0; i < 8; i++) c[i] = (a[i] - k) * (s[0] - k); }"""
WAITS = """int f(const int x[16], const int y[16], const int z[16]) {
  int s = 1;
  for (int i = 0; i < 16; i++) s = s * x[i] + y[i] * z[i];
  return s; }"""
NESTS = """void f(const int a[6][6], const int b[6][6], int c[6][6], int d[6][6]) {
  for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++) {
    c[i][j] = 0;
    for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j]; }
  for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++) {
    d[i][j] = 0;
    for (int k = 0; k < 6; k++) d[i][j] += c[i][k] * b[k][j]; } }"""


def checked(design: rtlgen.Design) -> rtlgen.Design:
    found = design.verify(seeds=2)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles
    return design


def test_dividers_of_loops_that_follow_each_other_are_one() -> None:
    design = checked(rtlgen.compile(source=ONE_AFTER_ANOTHER))
    assert units_of(design.plan) == [("div", ["S1", "S3"])]
    assert "S1, S3 share a divider: no two of them begin in the same cycle" in plan_report_text(
        design.report()
    )


def test_a_multiplier_is_shared_where_neither_a_cycle_nor_the_clock_is_lost() -> None:
    design = checked(rtlgen.compile(source=NARROW))
    (unit,) = functional_units(design.plan.regions)
    assert unit.is_registered
    assert units_of(design.plan) == [("mul", ["S1", "S2"])]


@pytest.mark.sample("text0-3-6")
@pytest.mark.parametrize(("text", "limit", "before"), [(WAITS, 3, 6), (NESTS, 3, 6)])
def test_what_is_limited_shares_multipliers(text: str, limit: int, before: int) -> None:
    free = rtlgen.compile(source=text)
    assert multiplier_blocks(free.plan) == before
    assert units_of(free.plan) == []
    limited = checked(rtlgen.compile(source=text, max_dsp=limit))
    assert multiplier_blocks(limited.plan) == limit
    assert limited.report()["figures"]["dsp"] == limit


FLOATS = """void f(float a[8][8], const float x[8], const float y[8]) {
  float s = 0.0f;
  for (int i = 0; i < 8; i++) s += x[i] * y[i];
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = a[i][j] * s; }"""


@pytest.mark.long
def test_products_of_floats_share_multipliers() -> None:
    free = rtlgen.compile(source=FLOATS)
    assert multiplier_blocks(free.plan) == 8
    design = checked(rtlgen.compile(source=FLOATS, max_dsp=4))
    assert multiplier_blocks(design.plan) == 4
    assert units_of(design.plan) == [("mul", ["S1", "S2"])]
    assert predicted_cycles(design.plan) <= predicted_cycles(free.plan) + 2
    assert "S1, S2 share a multiplier" in plan_report_text(design.report())


@pytest.mark.long
def test_dividers_of_floats_are_one_and_adders_where_the_clock_loses_nothing() -> None:
    text = """void f(const float a[8], float b[8], const float c[8], float s[1]) {
      s[0] = 1.0f;
      for (int i = 0; i < 8; i++) s[0] += a[i] / c[i];
      for (int i = 0; i < 8; i++) b[i] = (a[i] + s[0]) / (c[i] + 2.0f); }"""
    design = checked(rtlgen.compile(source=text))
    assert ("div", ["S1", "S2"]) in units_of(design.plan)
    adders = [u for u in functional_units(design.plan.regions) if u.op.op == "add"]
    assert all(unit.is_registered for unit in adders)
    assert "S1, S2 share a divider" in plan_report_text(design.report())


@pytest.mark.long
def test_multiply_adds_and_roots_of_floats_share_their_units() -> None:
    text = """#include <math.h>
      void f(const float a[8], const float x[8], const float y[8], float b[8], float c[8]) {
      for (int i = 0; i < 8; i++) b[i] = fmaf(a[i], x[i], y[i]);
      for (int i = 0; i < 8; i++) c[i] = fmaf(b[7 - i], y[i], x[i]);
      for (int i = 0; i < 8; i++) b[i] = sqrtf(c[7 - i]);
      for (int i = 0; i < 8; i++) c[i] = sqrtf(b[7 - i]); }"""
    design = checked(rtlgen.compile(source=text, max_dsp=4))
    assert multiplier_blocks(design.plan) == 4
    assert units_of(design.plan) == [("fma", ["S0", "S1"]), ("sqrt", ["S2", "S3"])]
    shown = plan_report_text(design.report())
    assert "S0, S1 share a multiply-add unit" in shown
    assert "S2, S3 share a square-root unit" in shown


def test_products_of_a_statement_take_turns_in_its_initiation_interval() -> None:
    free = rtlgen.compile(source=WAITS)
    design = rtlgen.compile(source=WAITS, max_dsp=3)
    assert units_of(design.plan) == [("mul", ["S1", "S1"])]
    assert predicted_cycles(design.plan) <= predicted_cycles(free.plan) + 1
    shown = "2 operations of S1 share a multiplier: no two of them begin in the same cycle, and "
    assert shown in plan_report_text(design.report())


@pytest.mark.long
def test_regions_that_share_have_as_many_lanes_as_fit_in_each() -> None:
    """Each of the two nests has all six blocks, for the time that it takes."""
    design = checked(rtlgen.compile(source=NESTS, max_dsp=6))
    assert multiplier_blocks(design.plan) == 6
    assert predicted_cycles(design.plan) < 2 * 6**3 / 2 + 50
    apart = checked(rtlgen.compile(source=NESTS, max_dsp=3))
    assert len(apart.plan.regions) == 2
    assert predicted_cycles(apart.plan) < 2 * 6**3 + 20


@pytest.mark.long
def test_lanes_of_tiles_are_shared_by_the_nests_that_run_after_each_other() -> None:
    text = """void f(const int a[32][32], int b[32], int c[32][32]) {
      for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) b[i] += a[i][j] * b[i];
      for (int j = 31; j >= 0; j--) for (int i = 31; i >= 0; i--) c[j][i] = a[i][j] * b[i]; }"""
    free = rtlgen.compile(source=text, memory="axi")
    assert len(free.plan.body) == 2
    blocks = multiplier_blocks(free.plan)
    design = checked(rtlgen.compile(source=text, memory="axi", max_dsp=blocks // 2))
    assert multiplier_blocks(design.plan) == blocks // 2
    assert predicted_cycles(design.plan) == predicted_cycles(free.plan)


def test_what_is_bound_once_may_be_bound_again() -> None:
    made = toy(PAIR % ("*", "*"), fuse="none").plan
    once = with_units(made, isl.DEFAULT_CONTEXT, everywhere=True)
    assert with_units(once, isl.DEFAULT_CONTEXT, everywhere=True) == once
    alone = with_units(once, isl.DEFAULT_CONTEXT)
    assert not functional_units(alone.regions) or all(
        has_slack(alone.streams[user.stream], user.op)
        for unit in functional_units(alone.regions)
        for user in unit.users
    )


def with_op(plan: KernelPlan, number: int, **changes: object) -> KernelPlan:
    """Return the plan with the operation of one stream changed that may have a unit."""
    (region,) = plan.regions
    stream = region.streams[number]
    ((place, op),) = [(n, op) for n, op in enumerate(stream.operations) if is_shareable(op)]
    new = changed_op(stream, place, replace(op, **changes))  # type: ignore[arg-type]
    streams = (*region.streams[:number], new, *region.streams[number + 1 :])
    return replace(plan, body=(replace(region, streams=streams),))


def in_one_unit(plan: KernelPlan, units: Sequence[int | None]) -> KernelPlan:
    for number, unit in enumerate(units):
        plan = with_op(plan, number, unit=unit)
    return plan


def test_the_judge_refuses_operations_that_begin_together() -> None:
    """Two nests that are fused: nearly all of their products begin together."""
    made = toy(PAIR % ("*", "*"))
    spoilt = replace(made, plan=in_one_unit(made.plan, (0, 0)))
    assert spoilt.verdict() == "S0 and S1 begin too close together in a unit they share"
    assert made.verdict() is None


def test_the_judge_refuses_an_instance_in_which_an_operation_does_not_begin() -> None:
    made = toy(ONE_AFTER_ANOTHER)
    plan = made.plan
    (unit,) = functional_units(plan.regions)
    user = unit.users[0]
    never = Predicate(((Condition(IndexForm((0,), -1)),),))
    spoilt = changed_op(plan.streams[user.stream], user.number, replace(user.op, when=never))
    (region,) = plan.regions
    streams = (*region.streams[: user.stream], spoilt, *region.streams[user.stream + 1 :])
    wrong = replace(made, plan=replace(plan, body=(replace(region, streams=streams),)))
    assert wrong.verdict() == f"{spoilt.statement} has no operands in an instance"


def test_a_plan_has_no_unit_for_operations_that_are_not_alike() -> None:
    made = toy(PAIR % ("*", "/")).plan
    with pytest.raises(PlanError, match="unit 0 is shared by operations that are not alike"):
        in_one_unit(made, (0, 0))
    dividing = toy(PAIR % ("/", "/")).plan
    first = with_op(dividing, 0, unit=0, interval_cycles=2)
    with pytest.raises(PlanError, match="unit 0 begins in several intervals"):
        with_op(first, 1, unit=0, interval_cycles=3)


def test_a_plan_has_no_unit_for_two_operations_of_the_same_tiles() -> None:
    plan = rtlgen.compile(source=PAIR % ("*", "*"), memory="axi").plan
    (part,) = plan.body
    assert isinstance(part, Workers)
    (tiled,) = part.regions
    streams = []
    for stream in tiled.kernel.streams:
        ((number, op),) = [(n, op) for n, op in enumerate(stream.operations) if is_shareable(op)]
        streams.append(changed_op(stream, number, replace(op, unit=0)))
    kernel = replace(tiled.kernel, streams=tuple(streams))
    workers = replace(part, regions=(replace(tiled, kernel=kernel),))
    with pytest.raises(PlanError, match="unit 0 is shared by operations of the same tiles"):
        replace(plan, body=(workers,))


def test_only_multipliers_and_dividers_are_units() -> None:
    made = toy("void f(int a[4], int b[4]) { for (int i = 0; i < 4; i++) a[i] += b[i]; }").plan
    (stream,) = made.streams
    ((number, op),) = [
        (n, op) for n, op in enumerate(stream.operations) if isinstance(op, ArithmeticOp)
    ]
    with pytest.raises(PlanError, match="has no unit to share"):
        changed_op(stream, number, replace(op, unit=1))


def test_the_stage_of_the_choice_is_a_cycle_earlier_where_operands_are() -> None:
    (unit,) = functional_units(rtlgen.compile(source=NARROW).plan.regions)
    assert unit.chosen_stage(4) == 3
    assert FunctionalUnit(0, unit.users, False).chosen_stage(4) == 4


COMMON = """void f(float s, const float a[6], const float d[6], const float b[6][N],
  float c[6][N]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < N; j++)
      c[i][j] += s * a[i] / d[i] * b[i][j]; }"""


@pytest.mark.parametrize("columns", [8, 6])
def test_what_is_the_same_in_all_lanes_is_computed_once(columns: int) -> None:
    """Of 6 columns, two of four lanes are idle in the second half, and read nothing then."""
    text = COMMON.replace("N", str(columns))
    design = checked(rtlgen.compile(source=text, unroll={"j": 4}))
    kinds = 1 if columns == 8 else 2
    units = functional_units(design.plan.regions)
    assert sorted(unit.op.op for unit in units) == sorted(["div", "mul"] * kinds)
    assert all(unit.leaders == (0,) and not unit.is_registered for unit in units)
    assert sum(len(unit.users) for unit in units) == 2 * 4
    assert multiplier_blocks(design.plan) == 4 * (kinds + 4)


def test_what_other_loops_compute_again_has_operands_of_its_own() -> None:
    text = """void f(int s, const int a[8], int b[8], int c[8]) {
      for (int i = 0; i < 8; i++) b[i] = a[i] * s;
      for (int i = 0; i < 8; i++) c[i] = a[i] * s; }"""
    design = checked(rtlgen.compile(source=text, fuse="none", max_dsp=3))
    (unit,) = functional_units(design.plan.regions)
    assert unit.leaders == (0, 1)
    together = checked(rtlgen.compile(source=text))
    (unit,) = functional_units(together.plan.regions)
    assert unit.leaders == (0,)
    assert multiplier_blocks(together.plan) == 3
    shown = "S0, S1 share a multiplier: all of them compute the same there"
    assert shown in plan_report_text(together.report())


def test_lanes_share_what_is_common_beside_a_limit() -> None:
    """Products of both loops take turns in units, and the common one is in none of these."""
    text = """void f(int s, int t, const int a[4], const int b[4][8], int c[4][8]) {
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 8; j++) c[i][j] *= t;
        for (int j = 0; j < 8; j++) c[i][j] += s * a[i] * b[i][j]; } }"""
    free = checked(rtlgen.compile(source=text, unroll={"j": 4}))
    assert multiplier_blocks(free.plan) == 3 * (4 + 1 + 4)
    design = checked(rtlgen.compile(source=text, unroll={"j": 4}, max_dsp=15))
    assert multiplier_blocks(design.plan) == 3 * (1 + 4)
    assert "no two that differ begin in the same cycle" in plan_report_text(design.report())


def test_what_looks_up_what_it_stores_is_like_nothing_else() -> None:
    text = """void f(const unsigned char x[32], int b[256], int c[256]) {
      for (int i = 0; i < 32; i++) b[x[i]] = b[x[i]] * b[x[i]] + 1;
      for (int i = 0; i < 32; i++) c[x[i]] = c[x[i]] * c[x[i]] + 3; }"""
    checked(rtlgen.compile(source=text))
