"""Tiles whose iterations would wait for each other run in wavefronts, where that is sooner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.ir.timeline import workers_cycles
from rtlgen.tiling import choice
from rtlgen.tiling.loops import as_written, in_wavefronts, loops_of
from rtlgen.tiling.plan import TiledProgram
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    TRANSPOSED,
    is_proven,
    parsed,
    planned,
)

ALIGNMENT = """
int above(int a, int b) { return a > b ? a : b; }
void f(signed char q[N], signed char d[N], int h[N + 1][N + 1], int e[N + 1][N + 1],
       int f[N + 1][N + 1]) {
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) {
      e[i][j] = above(e[i][j - 1] - 1, h[i][j - 1] - 3);
      f[i][j] = above(f[i - 1][j] - 1, h[i - 1][j] - 3);
      h[i][j] = above(above(0, h[i - 1][j - 1] + (q[i - 1] == d[j - 1] ? 2 : -1)),
                      above(e[i][j], f[i][j]));
    }
}
"""
"""Local alignment of two sequences: a value goes through two statements to the next iteration."""

SWEEPS = """
void sweeps(int a[N][N]) {
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j]
                   + a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
}
"""


def cycles_of(found: TiledProgram) -> int:
    assert found.plan.memory_side is not None
    return sum(workers_cycles(p.workers, found.plan.memory_side.bus) for p in found.parts)


@pytest.mark.long
def test_iterations_of_a_tile_need_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    found = planned(ALIGNMENT, 24, kind="axi")
    (part,) = found.parts
    assert is_proven(found) and not part.loops.are_written
    iterations = max(stream.count for stream in part.region.kernel.streams)
    assert all(stream.ii == 1 for stream in part.region.kernel.streams)
    assert part.region.issue_cycles < 1.5 * iterations
    monkeypatch.setattr(choice, "in_wavefronts", lambda _: None)
    without = planned.__wrapped__(ALIGNMENT, 24, kind="axi")
    assert cycles_of(found) < 0.5 * cycles_of(without)


def test_loops_that_nobody_waits_in_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_are_asked_for(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(choice, "in_wavefronts", none_are_asked_for)
    assert is_proven(planned.__wrapped__(TRANSPOSED, 24, kind="axi"))


def test_they_are_found_once_for_the_loops_of_c() -> None:
    written, *_ = loops_of(as_written(parsed(ALIGNMENT, 12).scop))
    front = in_wavefronts(written)
    assert front is not None and front.depth == 2
    assert in_wavefronts(written) is front
    assert in_wavefronts(front) is None


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(
    "cases",
    [
        [],
        pytest.param([(ALIGNMENT, 13, (4, 4))], marks=pytest.mark.long),
        pytest.param([(SWEEPS, 12, (3, 4, 4))], marks=pytest.mark.long),
    ],
)
def test_their_circuits_are_exact(
    cases: list[tuple[str, int, tuple[int, ...]]], tmp_path: Path
) -> None:
    two = WorkerRequest(2)
    plans = []
    for number, (text, size, tile) in enumerate(cases):
        found = planned(text, size, tile, kind="axi")
        assert not found.parts[0].loops.are_written
        plans.append((replace(found.plan, name=f"f{number}"), parsed(text, size).scop))
    shared = planned(ALIGNMENT, 12, (4, 4), kind="axi", workers=two)
    plans.append((replace(shared.plan, name="shared"), parsed(ALIGNMENT, 12).scop))
    assert plan_failures(plans, tmp_path) == [[] for _ in plans]
