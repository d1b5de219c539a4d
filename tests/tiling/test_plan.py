"""Lanes that cannot be those of a tile are terms of sums, or statements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.driver import quoting
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import limited_effort, noting_limits
from rtlgen.ir.memory_side import Bus
from rtlgen.scheduling.errors import NoLanes, WindowsTooLarge
from rtlgen.target import Target, get_target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.tiling.plan import TiledProgram, plan_in_lanes, plan_in_tiles
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    KIB,
    PRODUCT,
    TRIANGULAR,
    is_proven,
    parsed,
)

FILTER = """
void filter(const int x[N], const int w[5], int y[N]) {
  for (int i = 0; i < N - 4; i++) {
    int sum = 0;
    for (int k = 0; k < 5; k++)
      sum += x[i + k] * w[k];
    y[i] = sum;
  }
}
"""

ROWS = """
void rows(int A[N][N], const int B[N][N], int s[N]) {
  for (int i = 0; i < N - 1; i++) {
    for (int k = 0; k < N; k++)
      A[i][k] += B[k][i] + s[i];
    s[i + 1] = A[i][i] + A[i][0];
  }
}
"""

EVERY_ELEMENT = """
void every_element(int A[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 1; j < N; j++)
      A[i][j] += A[i][j - 1] * 3;
}
"""

ONE = WorkerRequest(1, "cyclic", False)
TWO = WorkerRequest(2, "cyclic", False)


def planned(
    text: str,
    size: int,
    lanes: LaneRequest | None,
    tile: tuple[int, ...] = (),
    workers: WorkerRequest = ONE,
) -> TiledProgram:
    bus = Bus("axi", 10)
    request = TileRequest(bus, 64, frozenset(), tile, 64 * KIB, workers=workers, lanes=lanes)
    program = parsed(text, size)
    with quoting(program), limited_effort():
        return plan_in_lanes(program, request, get_target("ecp5"))


@pytest.mark.sample("text1-lanes1-*")
@pytest.mark.parametrize(
    ("text", "lanes", "told"),
    [
        (
            PRODUCT,
            LaneRequest("k", 2),
            "lanes of S0 wait for each other: the lanes of k are terms of one sum",
        ),
        (
            FILTER,
            LaneRequest("k", None),
            "the loop k is none of those that all statements share in tiles: "
            "the lanes of k are terms of one sum",
        ),
        (
            ROWS,
            LaneRequest("k", 2),
            "the loop k is none of those that all statements share in tiles: "
            "the lanes of k are statements, 3 instead of 2, each with windows of its own",
        ),
    ],
)
def test_what_cannot_be_lanes_of_a_tile_is_written_out(
    text: str, lanes: LaneRequest, told: str
) -> None:
    with noting_limits() as limits:
        found = planned(text, 10, lanes)
    assert told in limits
    assert is_proven(found)


@pytest.mark.sample("text1")
@pytest.mark.parametrize("text", [PRODUCT, FILTER])
def test_sums_of_several_terms_take_fewer_cycles(text: str) -> None:
    several = planned(text, 16, LaneRequest("k", 4))
    assert predicted_cycles(several.plan) < 0.75 * predicted_cycles(planned(text, 16, None).plan)


def test_lanes_that_other_tiles_have_are_refused() -> None:
    with pytest.raises(NoLanes, match="do not divide among the lanes of j"):
        planned(PRODUCT, 12, LaneRequest("j", 4), (4, 6, 4))


@pytest.mark.long
def test_what_cannot_be_written_out_is_refused_for_its_lanes() -> None:
    """The number of its iterations is not the same everywhere."""
    with pytest.raises(NoLanes, match="no banks of their own to store to"):
        planned(TRIANGULAR, 8, LaneRequest("k", None))


RED_AND_BLACK = """
void red_and_black(int A[N][N]) {
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1 + i % 2; j < N - 1; j += 2)
        A[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];
    for (int i = 1; i < N - 1; i++)
      for (int j = 2 - i % 2; j < N - 1; j += 2)
        A[i][j] = A[i-1][j] + A[i+1][j] + A[i][j-1] + A[i][j+1];
  }
}
"""


def test_lanes_for_which_there_is_not_the_ram_are_written_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_room(program: ParsedProgram, request: TileRequest, target: Target) -> TiledProgram:
        if request.lanes is not None:
            raise WindowsTooLarge.of(program.scop.statements, [2 << 20], request.budget_bits)
        return plan_in_tiles(program, request, target)

    monkeypatch.setattr("rtlgen.tiling.plan.plan_in_tiles", without_room)
    with noting_limits() as limits:
        planned(PRODUCT, 8, LaneRequest("k", 2))
    assert (
        "the tiles of S0 need 256 KiB of RAM on chip: the lanes of k are terms of one sum" in limits
    )


@pytest.mark.long
def test_lanes_that_fit_in_no_way_are_told_to_be_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtlgen.tiling.plan._written_out", lambda *_: (None, ()))
    with pytest.raises(WindowsTooLarge) as refused:
        planned(RED_AND_BLACK, 8, LaneRequest("j", 4))
    assert refused.value.diagnostic.help == "ask for fewer lanes, or leave out --unroll"


def test_more_lanes_than_banks_are_refused() -> None:
    with pytest.raises(NoLanes, match="the loop j would be run in 128 lanes") as refused:
        planned(EVERY_ELEMENT, 400, LaneRequest("j", 128))
    assert refused.value.diagnostic.help == (
        "64 are the most in tiles: each lane has a bank of its own"
    )


CASES: tuple[tuple[str, int, LaneRequest, tuple[int, ...], WorkerRequest], ...] = (
    (PRODUCT, 7, LaneRequest("k", 2), (), ONE),
    (PRODUCT, 8, LaneRequest("k", 4), (4, 4, 4), ONE),
    (TRIANGULAR, 7, LaneRequest("k", 2), (), ONE),
    (FILTER, 16, LaneRequest("k", None), (), TWO),
    (ROWS, 9, LaneRequest("k", 2), (), ONE),
)
"""Program, size, lanes, tile, workers."""


@pytest.mark.simulation
@pytest.mark.parametrize("cases", [pytest.param(CASES, marks=pytest.mark.long)])
def test_circuits_with_lanes_written_out_are_exact(
    cases: tuple[tuple[str, int, LaneRequest, tuple[int, ...], WorkerRequest], ...], tmp_path: Path
) -> None:
    plans = []
    for number, (text, size, lanes, tile, workers) in enumerate(cases):
        plan = planned(text, size, lanes, tile, workers=workers).plan
        plans.append((replace(plan, name=f"f{number}"), parsed(text, size).scop))
    assert plan_failures(plans, tmp_path) == [[] for _ in cases]
