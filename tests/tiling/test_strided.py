"""Statements that run in every so many iterations, in a cycle with others, share their tiles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rtlgen.poly.errors import IllegalSchedule
from rtlgen.tiling import plan as plan_module
from rtlgen.windows.workers import WorkerRequest
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    is_proven,
    parsed,
    planned,
)

EVERY_FOURTH = """
void every_fourth(int a[N][N], int b[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      b[i][j] += a[j][i];
      if ((i - j) % 4 == 0)
        a[i][j] = b[i][j] - 1;
    }
}
"""

RED_AND_BLACK = """
void red_and_black(int a[N][N]) {
  for (int t = 0; t < 2; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        if ((i + j) % 2 == 0)
          a[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) >> 2;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        if ((i + j) % 2 == 1)
          a[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) >> 2;
  }
}
"""

OUTSIDE = """
void outside(int a[N][N], int b[N][N], int w[17]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      b[i][j] += a[j][i];
      if ((i - j) % 4 == 0)
        a[i][j] = b[i][j] - w[j - i + 8];
    }
}
"""


def test_they_run_in_the_tiles_of_those_that_run_more_often() -> None:
    found = planned(EVERY_FOURTH, 12, (4, 4))
    assert is_proven(found)
    assert [[s.name for s in part.program.scop.statements] for part in found.parts] == [
        ["S0", "S1"]
    ]


def test_what_has_other_loops_is_refused_with_two_instances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In loops that count only when a statement runs, its tiles are not those of others."""
    monkeypatch.setattr(plan_module, "_strided_in_cycles", lambda *_: frozenset())
    with pytest.raises(IllegalSchedule) as refused:
        planned.__wrapped__(EVERY_FOURTH, 12, (1, 1))
    told = refused.value.diagnostic
    assert told.labels[1].text == "written by S0(0,4) in tile (0, 4)"
    assert told.notes == (
        "tile (0, 4) has to be done before tile (0, 1), which runs first;"
        " other orders of the tiles fail, too",
    )
    assert told.help == "keep all arrays on chip: --memory onchip"


def test_a_statement_that_would_leave_its_array_makes_no_reads_when_it_runs_more_often() -> None:
    assert is_proven(planned(OUTSIDE, 12, (1, 1)))
    assert is_proven(planned(OUTSIDE.replace("17", "2 * N").replace("+ 8", "+ N"), 12, (1, 1)))


PROGRAMS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    (EVERY_FOURTH, 11, {"tile": (4, 4)}),
    (RED_AND_BLACK, 9, {"kind": "axi", "word_bits": 32}),
    (EVERY_FOURTH, 10, {"kind": "axi", "workers": WorkerRequest(2, "cyclic", False)}),
)


@pytest.mark.simulation
@pytest.mark.parametrize("programs", [pytest.param(PROGRAMS, marks=pytest.mark.long)])
def test_their_circuits_are_exact(
    programs: tuple[tuple[str, int, dict[str, Any]], ...], tmp_path: Path
) -> None:
    plans = [
        (replace(planned(text, size, **options).plan, name=f"f{n}"), parsed(text, size).scop)
        for n, (text, size, options) in enumerate(programs)
    ]
    assert plan_failures(plans, tmp_path) == [[] for _ in programs]
