"""Some schedules cannot be shorter, because statements wait for all instances of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, examine
from rtlgen.poly.barriers import ChainBound, Stage, chain_bound

# Each of 6 sums needs all of 5, and of 6 others; the last one all of those.
DENSE = """void dense(int a[5], int u[6][5], int v[6][6], int b[6], int c[6], int d[1]) {
  for (int i = 0; i < 6; i++) for (int k = 0; k < 5; k++) b[i] += u[i][k] * a[k];
  for (int i = 0; i < 6; i++) for (int k = 0; k < 6; k++) c[i] += v[i][k] * b[k];
  for (int i = 0; i < 6; i++) d[0] ^= c[i]; }"""

# Windows of three reach over all of five after two steps, but not after one.
WINDOWS = """void windows(const int a[5], int b[5], int c[3], int d[4]) {
  for (int i = 0; i < 5; i++) b[i] = a[i] * 3;
  for (int i = 0; i < 3; i++) c[i] = b[i] + b[i + 1] * b[i + 2];
  for (int i = 0; i < 4; i++) d[i] += c[0] + c[1] * c[2]; }"""

STREAM = """void stream(const int a[9], int b[9], int c[9]) {
  for (int i = 0; i < 9; i++) b[i] = a[i] * 3;
  for (int i = 0; i < 9; i++) c[i] = b[i] + 1; }"""


def analysed(text: str) -> Analysis:
    return examine(parse_text(text, "barriers.c"))


def bound(analysis: Analysis) -> ChainBound | None:
    groups = [unit.statements for unit in analysis.units]
    return chain_bound(analysis.sets, analysis.dependences, groups)


def test_a_sum_over_all_results_comes_after_all_that_they_are_made_of() -> None:
    found = bound(analysed(DENSE))
    assert found == ChainBound((Stage("S0", 30), Stage("S2", 6)))
    # The last of the one may share an iteration with the first of the other.
    assert found.iterations == 35
    assert "fewer than 35 iterations" in found.text() and "30 of S0, 6 of S2" in found.text()


def test_windows_that_grow_together_are_a_barrier() -> None:
    assert bound(analysed(WINDOWS)) == ChainBound((Stage("S0", 5), Stage("S2", 4)))
    # Where one result is looked at less, nothing needs all of `b`.
    assert bound(analysed(WINDOWS.replace("c[1] * c[2]", "c[1]"))) != bound(analysed(WINDOWS))


def test_a_stream_has_no_barrier() -> None:
    assert bound(analysed(STREAM)) is None


@pytest.mark.parametrize("text", [DENSE, WINDOWS], ids=["dense", "windows"])
def test_no_plan_is_below_the_bound(text: str) -> None:
    found = bound(analysed(text))
    fused = compile_program(parse_text(text, "barriers.c"), CompileOptions()).plan.fused_iterations
    assert found is not None and found.iterations <= fused


def test_without_a_dependence_there_is_no_bound_over_it() -> None:
    analysis = analysed(DENSE)
    whole = bound(analysis)
    fewer = tuple(d for d in analysis.dependences if (d.source, d.sink) != ("S0", "S1"))
    loose = bound(replace(analysis, dependences=fewer))
    assert whole is not None
    assert loose is None or loose.iterations < whole.iterations
