"""Cycles of statements in triangular nests share one nest: no iteration more than there are."""

from __future__ import annotations

import pytest

from rtlgen.driver import Compilation, CompileOptions, compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles

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


def compiled(text: str, size: int) -> Compilation:
    return compile_program(
        parse_text(text, "program.c", defines={"N": str(size)}), CompileOptions()
    )


def steps(compilation: Compilation) -> int:
    """Return how many statement instances there are."""
    return sum(stream.instances for stream in compilation.plan.streams)


@pytest.mark.parametrize("size", [5, 8])
def test_lu_takes_one_iteration_for_every_statement_instance(size: int) -> None:
    compilation = compiled(LU, size)
    assert compilation.plan.fused_iterations == steps(compilation)


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
