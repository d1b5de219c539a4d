"""Loops that run backward: what a later nest needs first, an earlier one computes first.

Strips: what waits for sums that take turns follows one strip behind them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.design import compile_design
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning import moves
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling import loop_changes
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.transforms.skew import Skew

BACKWARD = "for (int i = 0; i < 64; i++) c[i] = b[63 - i] + 1;"


def cycles(first: str, then: str = BACKWARD) -> int:
    text = (
        "void f(const int a[64], int b[64], int c[64]) {"
        f" for (int i = 0; i < 64; i++) {first} {then} }}"
    )
    return predicted_cycles(rtlgen.compile(source=text, path="f.c").plan)


def test_a_nest_that_is_read_backward_runs_backward() -> None:
    assert cycles("b[i] = a[i] * 3;") <= 64 + 8


def test_what_depends_on_its_own_order_stays_and_its_reader_runs_backward() -> None:
    assert cycles("b[i] = (i > 0 ? b[i - 1] : 0) + a[i];") <= 64 + 8


def test_two_nests_that_both_depend_on_their_order_run_one_after_the_other() -> None:
    last = "for (int i = 1; i < 64; i++) c[i] = c[i - 1] + b[63 - i];"
    assert cycles("b[i] = (i > 0 ? b[i - 1] : 0) + a[i];", last) >= 2 * 63


def test_what_is_read_before_it_is_overwritten_keeps_its_order() -> None:
    """Where stores come late, time would allow what the order of the program does not."""
    text = """void f(int b[16], int c[8]) {
      for (int i = 0; i < 5; i++) b[i] = b[i + 3] * 3;
      for (int i = 0; i < 5; i++) c[i] = b[4 - i] + 1;
    }"""
    skews = rtlgen.compile(source=text, path="f.c").report()["skews"]
    assert [each["loops"] for each in skews] == [{"S1": ["-i"]}]


def test_a_level_runs_backward_and_not_the_others() -> None:
    text = """void f(const int a[12][10], int b[12][10], int c[12][10]) {
      for (int i = 0; i < 12; i++) for (int j = 0; j < 10; j++) b[i][j] = a[i][j] * 3;
      for (int i = 0; i < 12; i++) for (int j = 0; j < 10; j++) c[i][j] = b[11 - i][j] + 1;
    }"""
    design = rtlgen.compile(source=text, path="f.c")
    assert predicted_cycles(design.plan) <= 120 + 8
    (moved,) = design.report()["skews"]
    assert moved["backward"] and moved["loops"] == {"S0": ["-i", "j"]}
    assert "needs first what would come last" in moved["reason"]


def test_a_reversal_that_breaks_a_dependence_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sabotage: nothing but the judge of legality stands between a wrong proposal and a plan."""

    def wrong(space: Space, decision: Decision) -> tuple[Skew, ...]:
        (unit, _) = space.timing.units
        rows = {name: (-Affine.variable("i"),) for name in unit.statements}
        return (Skew(unit, rows, 1, 1, "it is a test", is_backward=True),)

    monkeypatch.setattr(moves, "find_reversals", wrong)
    with pytest.raises(IllegalSchedule):
        cycles("b[i] = (i > 0 ? b[i - 1] : 0) + a[i];")


def test_a_search_that_may_try_nothing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_changes, "MAX_TRIED", 0)
    assert cycles("b[i] = a[i] * 3;") >= 2 * 63


def test_beside_loops_that_are_skewed_others_run_backward() -> None:
    text = """void f(int a[16][16], int c, const int x[256], int y[256], int z[256]) {
      for (int i = 1; i < 16; i++)
        for (int j = 1; j < 16; j++) a[i][j] = (a[i][j - 1] + a[i - 1][j]) * c;
      for (int i = 0; i < 256; i++) y[i] = x[i] * 3;
      for (int i = 0; i < 256; i++) z[i] = y[255 - i] + 1;
    }"""
    design = rtlgen.compile(source=text, path="f.c")
    taken = {each["move"]: each for each in design.report()["tried"] if each["taken"]}
    assert {"skew", "reverse"} <= set(taken)
    assert predicted_cycles(design.plan) < taken["skew"]["predicted_cycles"]
    assert [each["backward"] for each in design.report()["skews"]] == [False, True]


def test_the_lanes_of_a_loop_run_backward_together() -> None:
    text = """void f(const int a[64], int b[64], int c[64]) {
      for (int i = 0; i < 64; i++) b[i] = a[i] * 3;
      for (int i = 0; i < 64; i++) c[i] = b[63 - i] + 1;
    }"""
    assert predicted_cycles(rtlgen.compile(source=text, path="f.c", unroll={"i": 4}).plan) <= 16 + 8


ATAX = """
void atax(const {type} A[40][30], const {type} x[30], {type} y[30])
{{
  {type} tmp[40];
  for (int j = 0; j < 30; j++)
    y[j] = 0;
  for (int i = 0; i < 40; i++) {{
    tmp[i] = 0;
    for (int j = 0; j < 30; j++)
      tmp[i] += A[i][j] * x[j];
    for (int j = 0; j < 30; j++)
      y[j] += A[i][j] * tmp[i];
  }}
}}
"""


@pytest.mark.long
@pytest.mark.simulation
def test_a_circuit_in_strips_is_exact(tmp_path: Path) -> None:
    (tmp_path / "atax.c").write_text(ATAX.format(type="float"))
    proven = compile_design(tmp_path / "atax.c", CompileOptions()).verify(simulator="verilator")
    assert proven.cycles == proven.predicted_cycles


def test_two_sums_over_one_matrix_take_little_longer_than_one(tmp_path: Path) -> None:
    (tmp_path / "atax.c").write_text(ATAX.format(type="float"))
    design = compile_design(tmp_path / "atax.c", CompileOptions())
    # 1,200 additions to each sum, five rows of 30 until the first is complete, and the pipelines.
    assert predicted_cycles(design.plan) <= 1200 + 150 + 60


def test_sums_that_wait_for_nothing_keep_their_loops(tmp_path: Path) -> None:
    (tmp_path / "atax.c").write_text(ATAX.format(type="int"))
    stages = compile_design(tmp_path / "atax.c", CompileOptions()).compilation.stages
    assert stages["strip"] == stages["expand"]


def test_a_value_that_no_loop_computes_has_no_strips(tmp_path: Path) -> None:
    text = """
        float f(float a[8], float n)
        {
          float scale = 1.0f / n;
          for (int i = 0; i < 8; i++)
            a[i] = a[i] * scale + 1.0f;
          return scale;
        }"""
    (tmp_path / "f.c").write_text(text)
    stages = compile_design(tmp_path / "f.c", CompileOptions()).compilation.stages
    assert stages["strip"] == stages["expand"]


def test_the_passes_before_show_the_program_without_strips(tmp_path: Path) -> None:
    (tmp_path / "atax.c").write_text(ATAX.format(type="float"))
    stages = compile_design(tmp_path / "atax.c", CompileOptions()).compilation.stages
    before = (stages[name] for name in ("prune", "unroll", "fold", "expand"))
    assert not any("i_strip" in s.iterators for scop in before for s in scop.statements)
    assert any("i_strip" in s.iterators for s in stages["strip"].statements)
