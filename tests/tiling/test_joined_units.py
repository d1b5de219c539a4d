"""Units that follow each other are cut into common tiles, of which some are behind others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rtlgen
from rtlgen.ir.effort import keep_going, limited_effort, noting_limits
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.timeline import workers_cycles
from rtlgen.poly.legality import Violation, find_violation
from rtlgen.scheduling.errors import WindowsTooLarge
from rtlgen.target import get_target
from rtlgen.tiling import cut as cut_module
from rtlgen.tiling import units as units_module
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.cut import cut_part
from rtlgen.tiling.lanes import LaneRequest, free_loops
from rtlgen.tiling.loops import UnitLoops, joined_loops
from rtlgen.tiling.plan import TiledProgram, plan_in_tiles
from rtlgen.tiling.units import UnitPlanner
from rtlgen.transforms.tile_nests import Tiling
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    KIB,
    TWO_PRODUCTS,
    is_proven,
    parsed,
    planned,
)

GEMM = """
void gemm(int C[N][N], int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] *= 3;
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}
"""

CHAIN = """
#include <stdint.h>
void chain(int16_t x[N][N], int16_t t[N][N], int16_t y[N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      t[i][j] = x[i - 1][j] + x[i + 1][j - 1] * 2;
  for (int i = 2; i < N - 2; i++)
    for (int j = 2; j < N - 2; j++)
      y[i][j] = t[i - 1][j] + t[i + 1][j + 1];
}
"""

ENDED = """
void ended(int y[N], int A[N][N], int x[N]) {
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++)
      y[i] += A[i][j] * x[j];
    y[i] = y[i] < 0 ? 0 : y[i];
  }
}
"""

BACKWARD = """
void backward(int A[N][N], int T[N][N], int D[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      T[i][j] = 3 * A[i][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      D[i][j] = T[N - 1 - i][N - 1 - j];
}
"""

PLANES = """
void planes(int A[8][N][N], int T[8][N][N], int D[8][N][N]) {
  for (int c = 0; c < 8; c++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        T[c][i][j] = 3 * A[c][i][j];
  for (int c = 0; c < 8; c++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        D[c][i][j] = T[7 - c][i][j];
}
"""

LAST_ROWS_FIRST = """
void last_rows_first(int A[4][4][N][4], int T[4][4][N][4], int D[4][4][N][4]) {
  for (int c = 0; c < 4; c++)
    for (int d = 0; d < 4; d++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < 4; j++)
          T[c][d][i][j] = 3 * A[c][d][i][j];
  for (int c = 0; c < 4; c++)
    for (int d = 0; d < 4; d++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j < 4; j++)
          D[c][d][i][j] = T[3 - c][3 - d][i][3 - j];
}
"""

SIDE_BY_SIDE = """
void side_by_side(int A[N][N], int B[N][N], int x[N], int y[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] += A[i][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      y[i] ^= B[i][j];
}
"""


OF_TWO_PRODUCTS = """
void of_two_products(const int A[N][N], const int B[N][N], const int C[N][N], const int D[N][N],
                     int E[N][N], int F[N][N], int G[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        E[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        F[i][j] += C[i][k] * D[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        G[i][j] += E[i][k] * F[k][j];
}
"""


def statements(found: TiledProgram) -> list[list[str]]:
    return [[s.name for s in part.program.scop.statements] for part in found.parts]


def cycles(found: TiledProgram) -> int:
    assert found.plan.memory_side is not None
    return sum(workers_cycles(part.workers, found.plan.memory_side.bus) for part in found.parts)


def test_what_begins_a_sum_runs_in_its_tiles() -> None:
    found = planned(GEMM, 32, (8, 8, 8))
    assert statements(found) == [["S0", "S1"]]
    # C is loaded and stored once, as if nothing were done to it before.
    assert found.parts[0].windows.words["C_in"] == found.parts[0].windows.words["C_out"] == 512
    assert is_proven(found)


def test_what_ends_a_sum_runs_in_its_last_tile() -> None:
    found = planned(ENDED, 16, (4, 4))
    assert statements(found) == [["S0", "S1", "S2"]]
    last = found.parts[0].tiled.scop.statement("S2")
    assert last.loops[-1].start == last.loops[-1].stop - 1
    assert found.parts[0].windows.words["y_out"] == 8
    assert is_proven(found)


@pytest.mark.long
def test_a_product_is_a_row_of_tiles_behind_the_one_that_it_takes() -> None:
    found = planned(TWO_PRODUCTS, 32, (8, 8, 8), kind="axi", word_bits=256)
    assert statements(found) == [["S0", "S1", "S2"]]
    # The last row of tiles of the second product comes behind all of the first one.
    tiles = (32 // 8 + 1) * (32 // 8) ** 2
    assert found.parts[0].region.tiles == tiles
    assert cycles(found) < 1.1 * tiles * 8**3
    assert not any(t.array == "T" for part in found.parts for t in part.region.transfers)


@pytest.mark.parametrize(("tile", "behind"), [((4, 20), 1), ((1, 20), 1), ((4, 8), 2)])
def test_what_reads_the_rows_below_is_as_many_tiles_behind_as_it_must_be(
    tile: tuple[int, int], behind: int
) -> None:
    found = planned(CHAIN, 20, tile)
    assert statements(found) == [["S0", "S1"]]
    (first, second) = (found.parts[0].tiled.before[name][0] for name in ("S0", "S1"))
    assert first.constant - second.constant == behind * tile[0]
    assert is_proven(found)


def test_what_needs_the_last_row_first_is_not_joined() -> None:
    assert statements(planned(BACKWARD, 32, (2, 8))) == [["S0"], ["S1"]]


def test_units_that_know_nothing_of_each_other_run_side_by_side() -> None:
    found = planned(SIDE_BY_SIDE, 32, (8, 8), kind="axi", word_bits=128)
    assert statements(found) == [["S0", "S1"]]
    assert cycles(found) < 1.2 * 32**2


@pytest.mark.long
@pytest.mark.sample("text2-32-2048-None")
@pytest.mark.parametrize(
    ("text", "size", "instances", "lanes"),
    [
        (PLANES, 16, 8 * 16**2, None),
        (PLANES, 16, 8 * 16**2, LaneRequest("c", 4)),
        (LAST_ROWS_FIRST, 32, 32 * 4**3, None),
    ],
)
def test_units_that_need_a_whole_loop_of_others_are_behind_in_another_loop(
    text: str, size: int, instances: int, lanes: LaneRequest | None
) -> None:
    """Tiles of a loop inside of the one that they need whole do not wait for all of it."""
    found = planned(text, size, kind="axi", word_bits=512, budget_bits=64 * KIB, lanes=lanes)
    assert statements(found) == [["S0", "S1"]]
    count = 1 if lanes is None else lanes.count or 1
    assert found.parts[0].kernel_cycles < 1.3 * instances / count
    assert is_proven(found)


@pytest.mark.long
def test_loops_that_may_run_in_lanes_are_those_of_each_unit() -> None:
    """Together they have none, since G takes all rows of F."""
    found = planned(OF_TWO_PRODUCTS, 4, kind="axi", word_bits=128)
    assert statements(found) == [["S0", "S1", "S2"]]
    loops = found.parts[0].loops
    assert not free_loops(loops)
    units = list(loops.apart)
    assert [unit.program.scop.statements[0].name for unit in units] == ["S0", "S1", "S2"]
    assert all({"i", "j"} <= set(free_loops(unit).values()) for unit in units)
    (alone,) = units[0].apart
    assert alone is units[0]


def test_how_far_a_unit_is_behind_is_known_from_other_tiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pairs that other tiles had in the wrong order are asked first, and it comes to the same."""

    def behind(loops: UnitLoops, sizes: tuple[int, int]) -> int:
        tiling = Tiling(sizes, ((1, 0), (0, 1)))
        cut = cut_part(loops, tiling, get_target("ecp5"), frozenset("xty"))
        first, second = (cut.tiled.before[name][0] for name in ("S0", "S1"))
        return (first.constant - second.constant) // sizes[0]

    joined: list[UnitLoops] = []

    def noted(*args: Any) -> UnitLoops | None:
        found = joined_loops(*args)
        assert found is not None
        joined.append(found)
        return found

    def loops() -> UnitLoops:
        return replace(joined[0], later={}, broken=[])

    with monkeypatch.context() as patch:
        patch.setattr(units_module, "joined_loops", noted)
        planned.__wrapped__(CHAIN, 20, (4, 20))
    sizes = [(1, 8), (2, 8), (4, 20), (4, 8), (8, 4), (1, 1)]
    apart = [behind(loops(), each) for each in sizes]
    assert apart == [2, 2, 1, 2, 2, 2]
    shared = loops()
    judged: list[object] = []

    def judging(*args: Any) -> Violation | None:
        judged.append(args)
        return find_violation(*args)

    monkeypatch.setattr(cut_module, "find_violation", judging)
    assert [behind(shared, each) for each in sizes] == apart
    # Once for each of them, and for the pairs that had to be found.
    assert len(judged) == len(sizes) + len(shared.broken)
    assert len(shared.broken) < sum(apart) // 2


@pytest.mark.long
def test_joined_units_take_no_more_cycles_than_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (GEMM, CHAIN, ENDED, TWO_PRODUCTS):
        joined = planned(text, 24, budget_bits=32 * KIB)
        with monkeypatch.context() as patch:
            patch.setattr(units_module, "joined_loops", lambda *_: None)
            apart = planned.__wrapped__(text, 24, budget_bits=32 * KIB)
        assert cycles(joined) < cycles(apart)


CASES: tuple[tuple[str, int, tuple[int, ...], dict[str, Any]], ...] = (
    (GEMM, 11, (4, 4, 4), {}),
    (GEMM, 9, (4, 4, 2), {"kind": "axi", "lanes": LaneRequest("j", 2)}),
    (TWO_PRODUCTS, 10, (4, 4, 4), {"kind": "axi"}),
    (TWO_PRODUCTS, 8, (4, 4, 4), {"on_chip": frozenset("T")}),
    (CHAIN, 13, (1, 8), {"word_bits": 32}),
    (CHAIN, 14, (4, 4), {"kind": "axi", "workers": WorkerRequest(2, "cyclic", False)}),
    (ENDED, 9, (4, 4), {}),
    (SIDE_BY_SIDE, 10, (4, 8), {"kind": "axi"}),
)
"""Program, size, tile, the rest."""


@pytest.mark.simulation
@pytest.mark.parametrize("chosen", [pytest.param(CASES, marks=pytest.mark.long)])
def test_circuits_of_joined_units_are_exact(
    chosen: tuple[tuple[str, int, tuple[int, ...], dict[str, Any]], ...], tmp_path: Path
) -> None:
    cases = [planned(text, size, tile, **options) for text, size, tile, options in chosen]
    plans = [
        (replace(found.plan, name=f"f{number}"), found.parsed) for number, found in enumerate(cases)
    ]
    assert any(len(part.program.scop.statements) > 1 for found in cases for part in found.parts)
    assert plan_failures(plans, tmp_path) == [[] for _ in cases]


def test_neighbours_that_are_joined_are_tried_with_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2mm in four workers: both products, but not the first one and the zeros of the second."""
    planner: Any = object.__new__(units_module.UnitPlanner)
    planner.groups = [units_module._Group(((name,),), ()) for name in "ABC"]
    planner.chip, planner.whole = SimpleNamespace(buffer=True), None

    def joined_loops(_: object, found: object) -> SimpleNamespace:
        return SimpleNamespace(units=found)

    monkeypatch.setattr(units_module, "joined_loops", joined_loops)
    tried: list[str] = []

    def replace_two(number: int, joined: Any) -> bool:
        tried.append("".join(name for unit in joined.units for name in unit))
        if tried[-1] == "AB":
            return False
        planner.groups[number : number + 2] = [joined]
        return True

    planner._join(replace_two)
    assert tried == ["AB", "BC", "ABC"] and len(planner.groups) == 1


def test_units_that_are_too_complex_to_join_run_one_after_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = units_module.UnitPlanner._chosen

    def tiresome(planner: Any, group: Any, *others: Any) -> Any:
        if len(group.units) > 1:
            keep_going(work=10**9)
        return chosen(planner, group, *others)

    monkeypatch.setattr(units_module.UnitPlanner, "_chosen", tiresome)
    with noting_limits() as limits, limited_effort():
        found = planned(SIDE_BY_SIDE, 18, kind="axi", word_bits=128)
    assert statements(found) == [["S0"], ["S1"]]
    assert list(limits) == ["units in common tiles would take too long to be weighed to the end"]


FACES = """
#define AT(r, c, d) ((r) + 4 * ((c) + 4 * (d)))
void faces(const int k[2], const int a[64], int b[64]) {
  for (int j = 0; j < 4; j++)
    for (int r = 0; r < 4; r++) {
      b[AT(r, j, 0)] = a[AT(r, j, 0)];
      b[AT(r, j, 3)] = a[AT(r, j, 3)];
    }
  for (int d = 1; d < 3; d++)
    for (int j = 1; j < 3; j++)
      for (int r = 1; r < 3; r++) {
        int s = a[AT(r, j, d)];
        int t = a[AT(r, j, d + 1)] + a[AT(r + 1, j, d)];
        b[AT(r, j, d)] = s * k[0] + t * k[1];
      }
}
"""


def test_a_unit_that_never_fits_asks_only_what_is_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    least_bits = UnitPlanner._least_bits

    def noted(self: UnitPlanner, number: int, count: int, group: Any) -> int:
        asked.append(len(group.units))
        return least_bits(self, number, count, group)

    monkeypatch.setattr(UnitPlanner, "_least_bits", noted)
    request = TileRequest(Bus("fixed", 8), 64, frozenset(), (), 64, or_on_chip=True)
    with limited_effort(), pytest.raises(WindowsTooLarge):
        plan_in_tiles(parsed(FACES, 4), request, get_target("ecp5"))
    assert set(asked) == {2}, "no other one by itself"


def test_what_tiles_of_one_loop_have_broken_is_told_of_tiles_of_more() -> None:
    """The same pair of iterations, of which later tiles cut more loops."""
    text = """void f(long A[12][12]) { unsigned T[12][12];
      for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) T[i][j] = A[i][j];
      for (int i = 2; i < 10; i++) for (int j = 2; j < i + 1; j++) for (int k = 2; k < j + 1; k++) {
        T[k][j] = T[i + 2][j + 1];
        A[i + 1][j] = T[i][j];
      }
    }"""
    design = rtlgen.compile(source=text, path="f.c", memory="fixed:1", tile=[8], bus_bits=512)
    assert design.plan.memory_side is not None
