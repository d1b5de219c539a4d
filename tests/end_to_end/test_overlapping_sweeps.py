"""Sweeps in place whose last wavefronts run with the first ones of the next: exact, and shorter."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.transforms import common_nest
from tests.end_to_end.judge import Compiled, assert_plan_exact, compiled, simulation_failures
from tests.simulators import SIMULATORS

SIDE, SWEEPS = 22, 12

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
def built(lanes: int) -> Compiled:
    found = compiled(SEIDEL, CompileOptions(unroll={"t": lanes}))
    assert found is not None
    return found


def test_only_the_first_and_the_last_wavefronts_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = 4
    cycles = predicted_cycles(built(lanes).plan)
    monkeypatch.setattr(common_nest, "overlapping", lambda nest, padded: None)
    before = compiled(SEIDEL, CompileOptions(unroll={"t": lanes}))
    assert before is not None
    assert cycles < predicted_cycles(before.plan)
    behind = max(stream.offset_cycles for stream in built(lanes).plan.streams)
    # Short wavefronts at either end of one sweep, not of three.
    assert cycles < SIDE * SIDE * SWEEPS // lanes + behind + 3 * 56 - 40


@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("lanes", [2, 4])
def test_they_are_exact(lanes: int, tmp_path: Path, simulator: Simulator) -> None:
    found = built(lanes)
    assert_plan_exact(found, seed=1)
    program = parse_text(SEIDEL, "program.c").scop
    assert not simulation_failures(found.plan, program, tmp_path, simulator)
