"""Strips: what waits for sums that take turns follows one strip behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.design import compile_design
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions

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
