"""Rings of statements get a period that is long enough, and no longer than it must be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import NestLoop
from rtlgen.nests.candidates import box_placement
from rtlgen.nests.period import LAST_ISSUE, Ending, Grouping
from rtlgen.nests.row_pads import BlockPlaces
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.poly.legality import find_violation
from tests.islands import compile_island

RINGS = {
    # for every t, both sweeps of 6: the second two behind the first, the next one right after.
    "time loop": ("""void f(int a[8], int b[8]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 7; i++) b[i] = a[i - 1] + a[i + 1];
        for (int i = 1; i < 7; i++) a[i] = b[i]; } }""", 18),
    # reads what the whole inner sweep has written: one sweep after the other.
    "two levels": ("""void f(int a[3], int b[3][4]) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) b[i][j] = a[0] + j;
        for (int j = 0; j < 4; j++) a[0] += b[i][3 - j]; } }""", None),
    "directly in the shared loop": ("""void f(int L[4][4], int x[4]) {
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] * L[i][i]; } }""", None),
    "scalar in step": ("""void f(int a[6], int b[6]) { int t = 0;
      for (int i = 0; i < 6; i++) { t = a[i] - t; b[i] = t; } }""", 6),
}  # fmt: skip


def compiled(name: str) -> IslandCompilation:
    return compile_island(parse_text(RINGS[name][0], "ring.c"))


@pytest.mark.parametrize("name", RINGS)
def test_a_ring_is_fused_legally(name: str) -> None:
    compilation = compiled(name)
    analysis = compilation.analysis
    schedule = compilation.stages["fuse"].schedule
    assert find_violation(analysis.sets, analysis.dependences, schedule) is None
    assert compilation.replayed
    most = RINGS[name][1]
    if most is not None:
        assert compilation.decision.fused_iterations <= most + 2


@pytest.mark.parametrize("name", RINGS)
def test_statements_of_a_shared_loop_take_equally_long_for_an_iteration(name: str) -> None:
    compilation = compiled(name)
    for unit in compilation.analysis.units:
        outer = set()
        for statement in unit.statements:
            # The outermost loop is shared, so its iterations are as long as the whole.
            outer.add(compilation.decision.placements[statement].count)
        assert len(outer) == 1


def test_a_ring_of_two_sweeps_is_not_run_one_after_the_other() -> None:
    decision = compiled("time loop").decision
    assert decision.fused_iterations < 3 * (6 + 6)


def test_two_writers_of_one_array_in_one_iteration_are_kept_apart() -> None:
    text = """void f(short A[5][5]) { short t;
      for (int i = 0; i < 5; i++) for (int j = 0; j < i; j++) {
        t = A[i][j]; A[i][j] = A[j][i]; A[j][i] = t; } }"""
    compilation = compile_island(parse_text(text, "swap.c"))
    assert compilation.replayed


def test_a_statement_behind_an_inner_loop_counts_no_trips_after_its_last_instance() -> None:
    text = """int f(int a[8][8], int b[8]) { int s = 0;
      for (int i = 0; i < 8; i++) { for (int j = 0; j < 8; j++) s += a[i][j]; s += b[i]; }
      return s; }"""
    decision = compile_island(parse_text(text, "behind.c")).decision
    # One slot more a row, since the sum goes from the last addition into b[i] and on.
    assert decision.placements["S2"].loops[-1] == NestLoop(None, 9, 8)
    assert decision.offsets["S2"] + decision.placements["S2"].count == 8 * 9


def test_a_grouping_ends_with_its_last_instance_and_not_with_padding_behind_it() -> None:
    placed = box_placement((NestLoop("i", 4), NestLoop(None, 10)), ("i",))
    grouping = Grouping({"S": placed, "T": placed}, 1, {"S": 0, "T": 2})
    ending = Ending({"S": 20, "T": 1}, lambda name, nest: int(nest.ranks(np.array([[3]]))[0]))
    assert LAST_ISSUE.of(grouping) == 2 + 39
    assert ending.of(grouping) == max(30 + 20, 2 + 30 + 1)
    twice = replace(grouping, ii=2)
    assert (LAST_ISSUE.of(twice), ending.of(twice)) == (2 + 2 * 39, 2 * 30 + 20)


def test_loops_inside_run_a_little_longer_where_that_makes_a_short_common_multiple() -> None:
    # The first loop needs 19 cycles an iteration and the second 5, whose common multiples are 95
    # and 190; in one of 20 and 5, all three loops have room in 160.
    text = """void f(unsigned a[4][6], unsigned b[4][6], unsigned c[4][6], unsigned out[4]) {
      unsigned s = 1, t, u;
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 6; j++) { t = s / (a[i][j] | 1); s = t + i; }
        for (int j = 0; j < 6; j++) { t = s * b[i][j]; u = t * t; s = u + 1; }
        for (int j = 0; j < 6; j++) { u = s ^ c[i][j]; s = u + j; }
        out[i] = s; } }"""
    compilation = compile_island(parse_text(text, "periods.c"))
    assert compilation.replayed
    loops = compilation.decision.placements["S3"].loops
    assert [loop.extent for loop in loops] == [4, 32, 5]
    assert compilation.decision.placements["S1"].loops[-1].extent == 20


@pytest.mark.parametrize("at", range(10))
def test_no_grouping_ends_before_the_bound_that_its_blocks_give(at: int) -> None:
    placed = box_placement((NestLoop("i", 4), NestLoop(None, 10, at=at)), ("i",))
    grouping = Grouping({"S": placed, "T": placed}, 1, {"S": 0, "T": 2})
    ending = Ending({"S": 20, "T": 1}, lambda name, nest: int(nest.ranks(np.array([[3]]))[0]))
    places = dict.fromkeys(("S", "T"), BlockPlaces(np.array([3]), np.array([at])))
    for each in (LAST_ISSUE, ending):
        for ii in (1, 2):
            least = each.at_least(np.full(4, 10), each.last_places(places), ii)
            assert least <= each.of(replace(grouping, ii=ii))
        assert each.at_least_in_trips(4, 10) <= each.of(grouping)
