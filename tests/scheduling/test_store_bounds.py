"""No plan takes fewer cycles than an element is stored to; where that decides, none is made."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning import choice, one_form, program_moves
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.planned import Planned
from rtlgen.scheduling.store_bounds import fewest_cycles

KERNELS = Path(__file__).parents[1] / "end_to_end" / "kernels"

DENSE = """
void dense(const signed char w[8][16], const signed char x[16], int y[8]) {
  for (int i = 0; i < 8; i++) {
    int acc = 0;
    for (int j = 0; j < 16; j++) acc += w[i][j] * x[j];
    y[i] = acc > 0 ? acc : 0;
  }
}
"""


@pytest.mark.sample(without=("symm",))
@pytest.mark.parametrize("name", ["fibonacci", "moving_scalar", "prefix_sum", "symm", "trisolv"])
def test_no_plan_takes_fewer_cycles(name: str) -> None:
    text = (KERNELS / f"{name}.c").read_text()
    for expand in ("never", "auto"):
        compilation = rtlgen.compile(source=text, expand=expand).compilation
        assert 0 < fewest_cycles(compilation.analysis.sets) <= predicted_cycles(compilation.plan)


@pytest.mark.sample("auto")
@pytest.mark.parametrize("ports", ["one", "auto"])
def test_a_temporary_is_stored_to_once_a_cycle(ports: Literal["one", "auto"]) -> None:
    design = rtlgen.compile(source=DENSE, expand="never", unroll={"i": 8}, write_ports=ports)
    # Eight times it is set to 0, and sixteen times something is added.
    assert fewest_cycles(design.compilation.analysis.sets) == 8 * 17
    assert predicted_cycles(design.plan) >= 8 * 17


def test_a_program_as_declared_is_not_planned_where_its_stores_decide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned: list[Analysis] = []
    in_loops = one_form.plan_in_loops

    def noted(analysis: Analysis, options: CompileOptions) -> Planned:
        planned.append(analysis)
        return in_loops(analysis, options)

    for module in (choice, program_moves):
        monkeypatch.setattr(module, "plan_in_loops", noted)
    design = rtlgen.compile(source=DENSE, unroll={"i": 8})
    assert planned and all(analysis.expansions for analysis in planned)
    # Who asks what the expansion saves has it planned, once.
    count = len(planned)
    costs = [design.report()["expansion_cost"] for _ in range(2)]
    assert len(planned) == count + 1 and not planned[-1].expansions
    assert costs[0] is not None and costs[0] == costs[1]
    never = rtlgen.compile(source=DENSE, unroll={"i": 8}, expand="never")
    assert costs[0]["cycles"] == [predicted_cycles(each.plan) for each in (never, design)]
