"""Temporaries of an iteration, in tiles: they order nothing, and take no room off chip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.tiling.lanes import LaneRequest
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    TWO_PRODUCTS,
    is_proven,
    planned,
)

SQUARES = """
void squares(int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int t = A[i][j] * 3;
      int u = t * t;
      B[j][i] = u + t;
    }
}
"""

ROWS = """
void rows(int A[N][N], int B[N][N], int C[N][N]) {
  int row[N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++)
      row[j] = A[i][j] + A[j][i];
    for (int j = 0; j < N; j++) {
      int sum = 0;
      for (int k = 0; k < N; k++)
        sum += row[k] * B[k][j];
      C[i][j] = sum;
    }
  }
}
"""

CARRIED = """
void carried(int A[N][N]) {
  int last = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] += last;
      last = A[i][j];
    }
}
"""

TWO = WorkerRequest(2, "cyclic", False)


@pytest.mark.parametrize("workers", [ONE_WORKER, TWO])
@pytest.mark.parametrize("lanes", [None, LaneRequest("j", 2)])
def test_scalars_of_an_iteration_stay_in_their_tile(
    workers: WorkerRequest, lanes: LaneRequest | None
) -> None:
    found = planned(SQUARES, 11, (4, 4), workers=workers, lanes=lanes)
    assert is_proven(found)
    # All three statements are in one tile, and nothing but A and B is moved.
    (part,) = found.parts
    assert {t.array for t in part.region.transfers} == {"A", "B"}
    assert found.plan.memory_side is not None
    assert [array.name for array in found.plan.memory_side.arrays] == ["A", "B"]
    # Values go from statement to statement on their way: no RAM holds them.
    assert not [m.name for m in found.plan.memories if m.kind == "block"]


def test_an_array_of_an_iteration_is_kept_on_chip() -> None:
    found = planned(ROWS, 10, (1,))
    assert is_proven(found)
    assert found.plan.memory_side is not None
    assert [array.name for array in found.plan.memory_side.arrays] == ["A", "B", "C"]
    kept = {m.name: m.depth for m in found.plan.memories if m.kind == "block"}
    # One row is live at a time, and two while the next one is written.
    assert kept["row_kept"] <= 2 * 16


def test_what_is_carried_from_iteration_to_iteration_is_no_temporary() -> None:
    found = planned(CARRIED, 9, (1, 4))
    assert is_proven(found)
    assert [m.name for m in found.plan.memories if m.kind == "register"] == ["last"]


def test_an_array_that_is_asked_to_be_on_chip_stays_as_it_is() -> None:
    found = planned(TWO_PRODUCTS, 8, (4, 4, 4), on_chip=frozenset("T"))
    assert found.plan.memory("T").depth == 64


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_with_temporaries_are_exact(tmp_path: Path) -> None:
    cases = [
        planned(SQUARES, 11, (4, 4), kind="axi", workers=TWO, lanes=LaneRequest("i", 2)),
        planned(ROWS, 9, (2,), kind="axi"),
    ]
    plans = [
        (replace(found.plan, name=f"f{number}"), found.parsed) for number, found in enumerate(cases)
    ]
    assert plan_failures(plans, tmp_path) == [[], []]
