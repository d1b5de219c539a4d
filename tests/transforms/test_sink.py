"""Cycles of statements in triangular nests share one nest: no iteration more than there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rtlgen.driver import Compilation, compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.options import CompileOptions
from rtlgen.transforms.common_nest import nest_with_minima

FOLDER = Path(__file__).parents[1] / "end_to_end" / "kernels"

LU = """
void lu(int A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}
"""

SUBSTITUTION = """
void substitute(int L[N][N], int x[N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] ^ i;
  }
}
"""


ROWS = """
void rows(int a[N][N], int x[1], int y[N]) {
  for (int i = 0; i < N; i++) {
    x[0] = i;
    for (int j = LOW; j < i; j++)
      x[0] ^= a[i][j];
    y[i] = x[0];
  }
}
"""


def compiled(text: str, size: int) -> Compilation:
    return compile_program(
        parse_text(text, "program.c", defines={"N": str(size)}), CompileOptions()
    )


def steps(compilation: Compilation) -> int:
    """Return how many statement instances there are."""
    return sum(stream.instances for stream in compilation.plan.streams)


@pytest.mark.parametrize("size", [5, 8])
def test_lu_takes_no_more_than_one_iteration_for_every_statement_instance(size: int) -> None:
    compilation = compiled(LU, size)
    # A quotient is computed beside the last product that it waits for, where there is one.
    assert compilation.plan.fused_iterations < steps(compilation)


def test_only_the_dividers_latency_keeps_lu_from_one_instance_a_cycle() -> None:
    compilation = compiled(LU, 16)
    # Fifteen columns are divided one after another; where few rows are left, a division takes
    # longer than all work that could be done beside it.
    assert predicted_cycles(compilation.plan) <= steps(compilation) + 15 * 16
    assert compilation.replayed


def test_short_rows_wait_for_the_value_of_the_row_before_and_long_ones_do_not() -> None:
    short, long = compiled(SUBSTITUTION, 8), compiled(SUBSTITUTION, 40)
    assert predicted_cycles(short.plan) < steps(short) + 60
    assert predicted_cycles(long.plan) < steps(long) + 60


@pytest.mark.parametrize("low", [0, 1, 3])
def test_an_empty_row_takes_one_iteration(low: int) -> None:
    program = parse_text(ROWS, "rows.c", defines={"N": "9", "LOW": str(low)})
    compilation = compile_program(program, CompileOptions())
    assert compilation.decision.fused_iterations == sum(max(1, i - low) for i in range(9))


def test_what_runs_behind_a_row_runs_in_its_last_iteration() -> None:
    text = (FOLDER / "empty_rows.c").read_text()
    decision = compile_program(parse_text(text, "rows.c"), CompileOptions(expand="never")).decision
    pad = decision.placements["S2"].loops[1]
    assert str(pad) == "pad c1@(max(i - 1, 3))=2..i - 1 at least 2"
    # Row 5 has the iterations 2, 3 and 4; a row without an instance of S1 has 2 and 3.
    ranks = decision.placements["S2"].ranks(np.array([[0], [1], [5], [6]]))
    assert np.diff(ranks).tolist() == [2, 2 + 2 + 2 + 3, 4]


def test_a_loop_says_where_it_begins_in_iterations_outside_of_the_domain() -> None:
    a, b = Affine.variable("a"), Affine.variable("b")
    loops = [
        NestLoop("a", 4),
        NestLoop("b", 4, uppers=(Bound(a),)),
        NestLoop("c", 4, lowers=(Bound(a - b),)),
    ]
    plain = nest_with_minima(loops, (0, 0, 0), 100)
    assert plain is not None
    assert plain[0][2].lowers == (Bound(a - b),)
    padded = nest_with_minima(loops, (0, 3, 0), 100)
    assert padded is not None
    # b runs to 2 where a is 0: c would begin at -2 there.
    assert padded[0][2].lowers == (Bound(a - b), Bound(Affine()))
    assert (padded[1] >= 0).all()
