"""Loops that run backward: what a later nest needs first, an earlier one computes first."""

from __future__ import annotations

import pytest

import rtlgen
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.planning import program_moves
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling import reversing
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

    monkeypatch.setattr(program_moves, "find_reversals", wrong)
    with pytest.raises(IllegalSchedule):
        cycles("b[i] = (i > 0 ? b[i - 1] : 0) + a[i];")


def test_a_search_that_may_try_nothing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reversing, "MAX_TRIED", 0)
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
