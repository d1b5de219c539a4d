"""Sweeps in place whose last wavefronts run with the first ones of the next: exact, and shorter."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.nests import common_nest
from rtlgen.options import CompileOptions
from rtlgen.scheduling import skewing
from rtlgen.sim.cocotb_runner import Simulator
from tests.end_to_end.judge import Compiled, assert_plan_exact, compiled, simulation_failures
from tests.simulators import SIMULATORS

SIDE, SWEEPS, LANES = 10, 4, 2

SEIDEL = f"""
void seidel(int a[{SIDE + 2}][{SIDE + 2}]) {{
  for (int t = 0; t < {SWEEPS}; t++)
    for (int i = 1; i <= {SIDE}; i++)
      for (int j = 1; j <= {SIDE}; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j]
                   + a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
}}
"""


@cache
def built() -> Compiled:
    found = compiled(SEIDEL, CompileOptions(unroll={"t": LANES}))
    assert found is not None
    return found


@pytest.mark.long
def test_sweeps_that_share_rows_are_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    cycles = predicted_cycles(built().plan)
    for module in (common_nest, skewing):
        monkeypatch.setattr(module, "overlapping", lambda nest, padded: None)
    before = compiled(SEIDEL, CompileOptions(unroll={"t": LANES}))
    assert before is not None
    assert cycles < predicted_cycles(before.plan)


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_they_are_exact(tmp_path: Path, simulator: Simulator) -> None:
    found = built()
    assert_plan_exact(found, seed=1)
    program = parse_text(SEIDEL, "program.c").scop
    assert not simulation_failures(found.plan, program, tmp_path, simulator)
