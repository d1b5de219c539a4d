"""The sweeps of an outer loop run in loops of their own, one behind the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.scop import loop_paths
from rtlgen.nests.cyclic_orders import SweepProblem, best_sweeps
from rtlgen.nests.distances import StoreSlot
from rtlgen.nests.period import Member
from rtlgen.nests.precedence import Related, Requirements, iteration_precedences, requirements
from rtlgen.options import CompileOptions
from rtlgen.planning import moves
from rtlgen.planning.analysis import analyse
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.poly.instances import statement_points
from rtlgen.poly.legality import find_violation
from tests.islands import compile_island

# Rows are solved from left to right, with a division each, and columns from the top, with a sum.
TURNS = """void f(long long u[7][7], long long p[7][7]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < 7; i++) {
      for (int j = 1; j < 7; j++) p[i][j] = u[i][j] / (p[i][j - 1] | 1);
    }
    for (int i = 1; i < 7; i++)
      for (int j = 1; j < 7; j++) u[i][j] = u[i - 1][j] + p[j][i];
  } }"""

# A sum over a row of a single value, which has no other loop to wait in.
SUMS = """void f(int a[6], int w[1]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 6; i++) w[0] = (w[0] ^ a[i]) * 3;
    for (int i = 0; i < 6; i++) a[i] = a[i] + w[0]; } }"""

# Three products, each of which needs all of the one before, and two changes of what they read next.
TRAINING = """void f(float v[9][9], float w[9][9], const float x[3][9], const float y[3][9]) {
  for (int s = 0; s < 3; s++) { float a[9], d[9], e[9];
    for (int i = 0; i < 9; i++) {
      float t = 0; for (int j = 0; j < 9; j++) t += v[i][j] * x[s][j]; a[i] = t; }
    for (int i = 0; i < 9; i++) {
      float t = 0; for (int j = 0; j < 9; j++) t += w[i][j] * a[j]; d[i] = t - y[s][i]; }
    for (int i = 0; i < 9; i++) {
      float t = 0; for (int j = 0; j < 9; j++) t += d[j] * w[j][i]; e[i] = t * a[i]; }
    for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) w[i][j] -= d[i] * a[j];
    for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) v[i][j] -= e[i] * x[s][j]; } }"""

PROGRAMS = {"turns": TURNS, "sums": SUMS, "training": TRAINING}


@pytest.fixture(autouse=True)
def unskewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no wavefronts be found, which may be faster still."""
    monkeypatch.setattr(moves, "find_skews", lambda *_: [])


def compiled(text: str) -> IslandCompilation:
    return compile_island(parse_text(text, "sweeps.c"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_sweeps_are_legal_and_their_values_arrive(name: str) -> None:
    compilation = compiled(PROGRAMS[name])
    analysis = compilation.analysis
    schedule = compilation.stages["fuse"].schedule
    assert find_violation(analysis.sets, analysis.dependences, schedule) is None
    assert compilation.replayed


def test_a_sweep_that_waits_for_a_division_waits_once_a_column() -> None:
    decision = compiled(TURNS).decision
    assert set(decision.iis.values()) == {1}
    order = [loop.iterator for loop in decision.placements["S0"].loops]
    assert order == ["t", "j", "i"]
    # Six columns wait for the divider, of 34 cycles; the rows behind it take seven each.
    division, rows = 6 * 37, 6 * 7
    assert decision.placements["S0"].count <= 3 * (division + rows)
    # With the loops as written, each of the 36 divisions of an iteration would wait.
    assert decision.placements["S0"].count < 3 * 36 * 34 / 4


def test_periods_are_as_long_as_what_follows_within_them() -> None:
    """The last sweep runs in the order in which the first one of the next iteration needs it."""
    decision = compiled(TRAINING).decision
    assert set(decision.iis.values()) == {1}
    count = max(placed.count for placed in decision.placements.values())
    assert 3 * 3 * 81 < count < 3 * 4 * 81


def test_every_sweep_takes_one_period() -> None:
    decision = compiled(TURNS).decision
    assert len({placed.count for placed in decision.placements.values()}) == 1


def test_stores_to_one_array_are_moved_apart() -> None:
    text = """void f(int u[6], int v[6], int w[6]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 6; i++) v[i] = u[i] / (v[i - 1] | 1);
        for (int i = 0; i < 6; i++) w[i] = v[i] ^ t;
        v[0] = w[5];
        for (int i = 0; i < 6; i++) u[i] = w[i] + v[0]; } }"""
    compilation = compile_island(parse_text(text, "p.c"), CompileOptions(write_ports="one"))
    assert compilation.replayed
    assert max(memory.write_ports for memory in compilation.plan.memories) == 1


def test_statements_in_a_cycle_inside_of_the_outer_loop_are_no_sweeps() -> None:
    text = """void f(int a[6], int b[6]) {
      for (int t = 0; t < 3; t++)
        for (int i = 1; i < 6; i++) { a[i] = b[i - 1] + t; b[i] = a[i] ^ i; } }"""
    assert compiled(text).replayed


def problem(text: str, stores: dict[str, StoreSlot]) -> SweepProblem:
    """Return the sweeps of a program without latencies."""
    analysis = analyse(parse_text(text, "p.c"))
    scop, paths = analysis.scop, loop_paths(analysis.scop.tree)
    related = Related(analysis.sets, frozenset())
    precedences = iteration_precedences(scop, analysis.dependences, related)
    members = [
        Member(s.name, s.iterators, scop.schedule.loops(s.name), paths[s.name])
        for s in scop.statements
    ]
    points = {s.name: statement_points(scop, s) for s in scop.statements}
    return SweepProblem(members, precedences, precedences, related, points, stores)


def test_only_what_ends_before_the_limit_is_found() -> None:
    turns = problem(TURNS, {})
    best = best_sweeps(turns, None)
    assert best is not None
    assert best_sweeps(turns, best.last_issue) is None
    assert best_sweeps(turns, best.last_issue + 1) is not None


def test_the_shifts_keep_every_precedence() -> None:
    turns = problem(TURNS, {})
    best = best_sweeps(turns, None)
    assert best is not None
    required = requirements(turns.precedences, best.placements, dict.fromkeys(turns.names, 1))
    assert all(best.shifts[b] - best.shifts[a] >= least for (a, b), least in required.items())


def test_no_two_stores_to_an_array_meet() -> None:
    text = """void f(int v[6], int w[6]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 6; i++) v[i] = w[i] + v[i - 1];
        v[0] = w[5];
        for (int i = 0; i < 6; i++) w[i] = v[0] + v[i]; } }"""
    slots = {"S0": StoreSlot("v", 2), "S1": StoreSlot("v", 0)}
    found = best_sweeps(problem(text, slots), None)
    assert found is not None
    points = problem(text, slots).points
    cycles = np.concatenate(
        [
            found.placements[name].ranks(points[name]) + found.shifts[name] + slot.stage
            for name, slot in slots.items()
        ]
    )
    assert len(np.unique(cycles)) == len(cycles)


@pytest.mark.parametrize("lag", [1, 40, 400])
def test_the_smallest_period_is_found_in_a_few_steps(
    lag: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no rows get longer, a longer period lets all wait for less."""
    sums = problem(SUMS, {})
    late = [replace(p, lag=lag) if p.source != p.sink else p for p in sums.precedences]
    asked: list[int] = []
    between = Requirements.between

    def counted(self: Requirements, *of: object) -> dict[tuple[str, str], int]:
        asked.append(len(asked))
        return between(self, *of)  # type: ignore[arg-type]

    monkeypatch.setattr(Requirements, "between", counted)
    found = best_sweeps(replace(sums, precedences=late), None)
    assert found is not None and len(asked) <= 30
    period = found.placements["S0"].count // 4
    assert max(6, 2 * lag) <= period <= 2 * lag + 12
    assert best_sweeps(replace(sums, precedences=late), found.last_issue) is None
