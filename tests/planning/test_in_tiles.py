"""Threads and lanes that save no cycles in tiles are left out, or it is said that they do not."""

from __future__ import annotations

from typing import Any

import pytest

from rtlgen.driver import compile_program, parse_source
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import TiledCompilation

TWO_STEPS = """void two_steps(const int a[16], int b[16], int c[16]) {
  for (int i = 0; i < 16; i++) b[i] = a[i] * 3;
  for (int i = 0; i < 16; i++) c[i] = b[i] + 1;
}
"""
"""One worker runs both loops side by side, and passes the values of b on chip."""

SUMS = """void sums(int x[8], int w[8], const int a[8][8], const int y[8]) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      x[i] += a[j][i] * y[j];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      w[i] += a[i][j] * x[j];
}
"""

APART = """void apart(int a[8][8], int x[8], const int y[8]) {
  for (int t = 0; t < 8; t++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        a[i][j] = (a[i][j] ^ 5) * 3;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      x[i] = (x[i] ^ a[7 - i][7 - j]) * y[j];
}
"""

CHAIN = """void chain(int a[32], const int b[32]) {
  for (int i = 1; i < 32; i++)
    a[i] = a[i - 1] * b[i];
}
"""


def compiled(text: str, **options: Any) -> TiledCompilation:
    asked = CompileOptions(memory={"": "axi:20"}, **options)
    found = compile_program(parse_source(text, "f.c", asked), asked)
    assert isinstance(found, TiledCompilation)
    return found


def cycles_of(found: TiledCompilation) -> int:
    return predicted_cycles(found.plan)


def told(found: TiledCompilation) -> list[str]:
    return [w.render() for w in found.warnings if w.code == "W0114"]


def test_what_one_worker_does_sooner_is_left_to_one() -> None:
    one, found = compiled(TWO_STEPS), compiled(TWO_STEPS, threads=2)
    assert cycles_of(found) == cycles_of(one)
    assert [len(part.workers.regions) for part in found.tiled.parts] == [1]
    (warning,) = told(found)
    assert "--threads 2 saves no cycles of S0, S1" in warning
    assert f"on one worker {cycles_of(one)}: it is built on one" in warning
    assert str(found.tiled.alone[0]).startswith(f"it takes {cycles_of(one)} cycles, 2 take ")


def test_tiles_that_are_asked_for_keep_their_workers() -> None:
    one, found = compiled(TWO_STEPS, tile=(4,)), compiled(TWO_STEPS, tile=(4,), threads=2)
    assert {len(part.workers.regions) for part in found.tiled.parts} == {2}
    (warning,) = told(found)
    assert f"{cycles_of(found)} cycles, on one worker {cycles_of(one)}" in warning


def test_more_tiles_than_are_planned_twice_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rtlgen.planning.in_tiles.MOST_TILES", 3)
    found = compiled(TWO_STEPS, tile=(4,), threads=2)
    assert told(found) == []
    assert "--threads 2 is not compared with one worker, in 4 tiles" in found.limits


def test_workers_that_save_cycles_are_kept_without_a_word() -> None:
    text = "void f(int a[64], int b[64]) { for (int t = 0; t < 16; t++) "
    text += "for (int i = 0; i < 64; i++) a[i] = a[i] * b[i]; }"
    found = compiled(text, threads=2)
    assert len(found.tiled.parts[0].workers.regions) == 2
    assert told(found) == []


def test_lanes_that_save_nothing_in_tiles_are_named() -> None:
    found = compiled(CHAIN, unroll={"i": 2})
    (warning,) = told(found)
    assert "--unroll i=2 saves no cycles" in warning
    assert f"{cycles_of(found)} cycles, with one lane {cycles_of(compiled(CHAIN))}" in warning


@pytest.mark.long
def test_what_cannot_run_in_lanes_runs_in_one_beside_what_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether its lanes are written out or not: whatever takes fewer cycles."""
    out = compiled(APART, unroll={"j": 2})
    monkeypatch.setattr("rtlgen.tiling.plan._written_out", lambda *_: (None, ()))
    found = compiled(APART, unroll={"j": 2})
    assert [part.kernel.lanes for part in found.tiled.parts] == [2, 1]
    assert "lanes of S1 wait for each other: S1 runs in one lane" in found.limits
    assert cycles_of(out) < cycles_of(found) < cycles_of(compiled(APART))
    assert told(found) == []


@pytest.mark.long
def test_lanes_are_not_written_out_where_one_lane_is_as_fast() -> None:
    one, found = compiled(SUMS), compiled(SUMS, unroll={"j": 2})
    assert cycles_of(found) <= cycles_of(one)
