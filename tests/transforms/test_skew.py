"""Skewed loops are chosen where statements wait for themselves, and judged like any transform."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from rtlgen.design import Design
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import analyse, in_skewed_loops
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.poly.errors import IllegalSchedule, RewriteUnsound
from rtlgen.transforms.skew import Skew
from tests.islands import compile_island
from tests.poly.stencils import stencil

# Each element waits five cycles for its left neighbour, and no loop order is without such a wait.
SWEEP = """
void sweep(int a[N][N], int c) {
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = (a[i][j - 1] + a[i - 1][j]) * c;
}
"""

TWO_LOOPS = """
void shared(int a[N][N], int s[N], int c) {
  for (int i = 1; i < N; i++) {
    s[i] = c + i;
    for (int j = 1; j < N; j++)
      a[i][j] = (a[i][j - 1] ^ a[i - 1][j]) * c + s[i];
  }
}
"""


READ_BEFORE = """
void read_before(int a[N][N], int b[N][N], int c) {
  for (int i = 1; i < N; i++)
    for (int j = 1; j < N; j++) {
      b[i][j] = a[i][j - 1];
      a[i][j] = (a[i][j - 1] + a[i - 1][j]) * c;
    }
}
"""


def built(text: str, options: CompileOptions | None = None) -> IslandCompilation:
    return compile_island(parse_text(text, "sweep.c"), options)


def sized(text: str, size: int) -> str:
    return f"#define N {size}\n{text}"


def variable(*names: str) -> Affine:
    return sum((Affine.variable(name) for name in names), Affine())


def test_a_sweep_that_waits_runs_in_wavefronts() -> None:
    compilation = built(sized(SWEEP, 24))
    skewed = compilation.analysis.skewed
    assert skewed is not None
    (skew,) = skewed.skews
    assert skew.rows["S0"][0] == variable("i", "j")
    assert compilation.decision.iis["S0"] == 1
    assert skew.slots_before >= 3 * 23 * 23 - 3
    assert predicted_cycles(compilation.plan) < 23 * 23 + 60


def test_a_program_that_waits_for_nothing_keeps_its_loops() -> None:
    text = sized(SWEEP, 8).replace("a[i][j - 1] + a[i - 1][j]", "a[i][j]")
    assert built(text).analysis.skewed is None


def test_a_value_that_does_not_matter_is_waited_for_by_nobody() -> None:
    text = """void scaled(int a[8], const int t[8]) {
      for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++) { a[k] *= 0; a[i] += t[k]; }
    }"""
    assert all(ii == 1 for ii in built(text).decision.iis.values())


def test_a_recurrence_without_another_loop_keeps_it() -> None:
    text = "void f(int y[64], int c) { for (int i = 1; i < 64; i++) y[i] = y[i - 1] * c; }"
    assert built(text).analysis.skewed is None


@pytest.mark.parametrize(
    "options",
    [CompileOptions(fuse="none"), CompileOptions(fuse="ols"), CompileOptions(scheduler="pluto")],
    ids=["none", "ols", "pluto"],
)
def test_whoever_asks_for_other_loops_gets_those(options: CompileOptions) -> None:
    assert built(sized(SWEEP, 8), options).analysis.skewed is None


def test_a_unit_is_skewed_out_of_loops_that_it_shares_with_others() -> None:
    compilation = built(sized(TWO_LOOPS, 16))
    skewed = compilation.analysis.skewed
    assert skewed is not None
    assert skewed.statements == {"S1"}
    assert compilation.replayed
    assert compilation.stages["skew"].statement("S0").iterators == ("i",)
    assert len(compilation.stages["skew"].statement("S1").iterators) == 2


def test_the_skewed_program_is_one_of_the_stages() -> None:
    stages = built(sized(SWEEP, 16)).stages
    assert stages["normalise"].statement("S0").iterators == ("i", "j")
    assert stages["skew"].statement("S0").iterators == ("t1", "t2")
    assert stages["reschedule"] is stages["normalise"]


def test_the_report_says_which_loops_and_why() -> None:
    (skew,) = Design(built(sized(SWEEP, 16)), CompileOptions()).report()["skews"]
    assert skew["loops"]["S0"][0] == "i + j"
    assert "needs the result of the iteration before" in skew["reason"]


def test_a_shift_that_is_asked_for_counts_in_the_skewed_loops() -> None:
    text = sized(TWO_LOOPS, 16)
    plain = built(text)
    later = built(text, CompileOptions(shifts={"S1": plain.decision.shifts["S1"] + 10}))
    assert later.analysis.skewed is not None
    assert later.decision.shifts["S1"] == plain.decision.shifts["S1"] + 10


def test_loops_in_which_a_dependence_runs_backward_are_refused() -> None:
    analysis = analyse(parse_text(sized(SWEEP, 8), "sweep.c"))
    rows = (variable("i") - variable("j"), variable("i"))
    with pytest.raises(IllegalSchedule, match="skewing loops"):
        in_skewed_loops(analysis, [Skew(analysis.units[0], {"S0": rows}, 0, 1, "")])


def test_loops_that_lose_instances_are_refused() -> None:
    analysis = analyse(parse_text(sized(SWEEP, 8), "sweep.c"))
    rows = (variable("i", "j"), variable("i", "j"))
    with pytest.raises((RewriteUnsound, ValueError)):
        in_skewed_loops(analysis, [Skew(analysis.units[0], {"S0": rows}, 0, 1, "")])


def test_a_skew_moves_all_statements_of_its_unit() -> None:
    analysis = analyse(parse_text(stencil("jacobi_1d"), "jacobi.c"))
    (unit,) = analysis.units
    rows = {name: (variable("t"),) for name in unit.statements}
    skew = Skew(unit, rows, 0, 1, "")
    with pytest.raises(ValueError, match="all statements"):
        replace(skew, rows={"S0": rows["S0"]})
    with pytest.raises(ValueError, match="share"):
        replace(skew, rows=rows | {"S1": (variable("t"), variable("j"))})


def test_what_is_built_does_not_depend_on_the_time_it_takes() -> None:
    first, second = (built(sized(SWEEP, 12)) for _ in range(2))
    assert first.plan == second.plan


def test_a_statement_may_stand_before_the_skewed_one_that_it_reads_from() -> None:
    compilation = built(sized(READ_BEFORE, 24))
    assert compilation.analysis.skewed is not None
    assert [s.name for s in compilation.analysis.skewed.sets.scop.statements] == ["S1", "S0"]
    assert compilation.replayed
    assert predicted_cycles(compilation.plan) < 2 * 23 * 23


CASCADE = """
void cascade(int a[N][N]) {
  for (int t = 0; t < 8; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j + 1] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j]) / 5;
}
"""


@pytest.mark.long
def test_the_sweeps_of_a_cascade_run_in_the_same_wavefronts_one_behind_the_other() -> None:
    compilation = built(sized(CASCADE, 18), CompileOptions(unroll={"t": 4}))
    skewed = compilation.analysis.skewed
    assert skewed is not None
    (skew,) = skewed.skews
    assert skew.shared == 1 and skewed.apart == set(skew.unit.statements)
    assert len({tuple(rows) for rows in skew.rows.values()}) == 1
    shifts = [compilation.decision.shifts[name] for name in skew.unit.statements]
    assert shifts == sorted(shifts) and len(set(shifts)) == 4
    assert compilation.replayed
    # Two times 256 elements a statement, the ends of the wavefronts, and three sweeps behind.
    assert predicted_cycles(compilation.plan) < 2 * 16 * 16 + 2 * 40 + 3 * 40


def test_sweeps_one_behind_the_other_must_keep_their_own_dependences() -> None:
    analysis = analyse(parse_text(sized(CASCADE, 8), "cascade.c"))
    (unit,) = analysis.units
    rows = {"S0": (variable("t"), variable("j"), variable("i"))}
    with pytest.raises(IllegalSchedule, match="skewing loops"):
        in_skewed_loops(analysis, [Skew(unit, rows, 0, 1, "", shared=1)])
    with pytest.raises(ValueError, match="some of them"):
        Skew(unit, rows, 0, 1, "", shared=3)


HEAT = """
void heat(int a[8][8][8], int b[8][8][8]) {
  for (int t = 0; t < 6; t++) {
    for (int i = 1; i < 7; i++)
      for (int j = 1; j < 7; j++)
        for (int k = 1; k < 7; k++)
          b[i][j][k] = (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k]
                        + a[i][j][k - 1] + a[i][j][k + 1]) / 6;
    for (int i = 1; i < 7; i++)
      for (int j = 1; j < 7; j++)
        for (int k = 1; k < 7; k++)
          a[i][j][k] = (b[i - 1][j][k] + b[i + 1][j][k] + b[i][j - 1][k] + b[i][j + 1][k]
                        + b[i][j][k - 1] + b[i][j][k + 1]) / 6;
  }
}
"""


@pytest.mark.long
def test_sweeps_in_three_dimensions_follow_each_other_along_diagonals() -> None:
    compilation = built(HEAT, CompileOptions(unroll={"t": 3}))
    skewed = compilation.analysis.skewed
    assert skewed is not None
    (skew,) = skewed.skews
    assert skew.rows["S0"][:2] == (variable("t"), variable("i", "j", "k"))
    shifts = [compilation.decision.shifts[name] for name in skew.unit.statements]
    # The bandwidth of a grid of 6 x 6 x 6 elements, where a plane has 36.
    assert [b - a for a, b in pairwise(shifts)] == [30] * 5
    assert compilation.replayed
    assert predicted_cycles(compilation.plan) < 2 * 6**3 + 5 * 36 + 20
