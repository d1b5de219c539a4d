"""No plan takes fewer cycles than an element is stored to; where that decides, none is made.

What keeps more lanes from saving cycles is said, by array and line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.memories.bounds import fewest_cycles
from rtlgen.options import CompileOptions, PartitionWish, wish_of
from rtlgen.planning import choice, moves, one_form
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.planned import Planned
from tests.judges.test_replay import compiled

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

    for module in (choice, moves):
        monkeypatch.setattr(module, "plan_in_loops", noted)
    design = rtlgen.compile(source=DENSE, unroll={"i": 8})
    assert planned and all(analysis.expansions for analysis in planned)
    count = len(planned)
    cost = design.report()["expansion_cost"]
    assert len(planned) == count and cost["cycles"] == [predicted_cycles(design.plan)]
    never = rtlgen.compile(source=DENSE, unroll={"i": 8}, expand="never")
    assert predicted_cycles(design.plan) < cost["cycles_without_at_least"]
    assert cost["cycles_without_at_least"] <= predicted_cycles(never.plan)


RECURRENCE = """void f(int a[64], int b[64]) {
  for (int i = 1; i < 64; i++)
    a[i] = a[i - 1] + b[i];
}"""

FILTER = """void f(const int x[71], const int h[8], int y[64]) {
  for (int n = 0; n < 64; n++)
    for (int k = 0; k < 8; k++)
      y[n] += h[k] * x[n + k];
}"""


def test_a_recurrence_along_lanes_is_named_and_takes_as_long_as_without_them() -> None:
    found = compiled(RECURRENCE, CompileOptions(unroll={"i": 4}))
    assert found.lanes == (
        "the lanes of line 3 take turns: a[i - 1] in one is what another one has just computed,\n"
        "  so more lanes save no cycles",
    )
    plain = compiled(RECURRENCE, CompileOptions())
    assert predicted_cycles(found.plan) == predicted_cycles(plain.plan) and plain.lanes == ()


def test_the_arrays_that_lanes_have_copies_of_are_named() -> None:
    found = compiled(FILTER, CompileOptions(unroll={"k": None}))
    (line,) = found.lanes
    assert line.startswith("x: ") and line.endswith("(line 4), from as many copies")
    assert found.plan.memory("h").kind == "register"
    assert line in found.findings().bounds


def test_a_part_of_an_array_is_named_by_the_array() -> None:
    """Nobody has declared the memory of what is read where a sweep begins."""
    long = FILTER.replace("71", "647").replace("64", "640")
    found = compiled(long, CompileOptions(unroll={"k": None}))
    assert found.plan.memory("x").read_ports == 1
    assert found.lanes
    for line in found.lanes:
        assert line.startswith("x: ") and " elements of a part of it are read" in line


def test_a_write_port_is_named_with_the_partition_that_its_subscripts_ask_for() -> None:
    text = "void f(int a[64], int b[32]) { for (int i = 0; i < 32; i++) a[2 * i] = b[i] * 3; }"
    wish = {"a": (PartitionWish("cyclic", 1, 2),)}
    asked = CompileOptions(unroll={"i": 4}, partitions=wish, write_ports="one")
    (bound,) = compiled(text, asked).findings().bounds
    assert "through the write port of its bank 0" in bound
    remedy = bound.rpartition("\n  and ")[2].removesuffix(" fits its subscripts")
    assert remedy == "--partition a=cyclic:1:8"
    lifted = replace(asked, partitions={"a": (wish_of(remedy.partition("a=")[2]),)})
    assert not compiled(text, lifted).findings().bounds
