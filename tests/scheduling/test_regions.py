"""Several fused loops where one is longer or too complex."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen.driver
from rtlgen.design import compile_design
from rtlgen.driver import compile_program, parse
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex
from rtlgen.options import CompileOptions
from rtlgen.poly.legality import find_violation
from rtlgen.report.text import plan_report_text
from rtlgen.transforms.fuse import fuse

MATRIX_CHAIN = Path(__file__).parents[1] / "kernels" / "matrix_chain.c"

# The third statement waits for its own results, the others could run beside it.
THREE = """void f(int a[8], int b[8], int c[8], int t[1]) {
  for (int i = 0; i < 8; i++) b[i] = a[i] + 1;
  for (int i = 0; i < 8; i++) t[0] = (t[0] + b[i]) * 3;
  for (int i = 0; i < 8; i++) c[i] = b[i] * t[0]; }"""


def refuse(*_: object) -> None:
    raise TooComplex("the analysis of this program is too complex", notes=("it is a test",))


def test_a_loop_for_all_that_would_be_longer_is_cut_where_that_saves_most() -> None:
    report = compile_design(MATRIX_CHAIN, CompileOptions()).report()
    apart = compile_program(parse(MATRIX_CHAIN, CompileOptions()), CompileOptions(fuse="none")).plan
    assert [region["statements"] for region in report["regions"]] == [["S0"], ["S1", "S2"]]
    assert not report["perfect"]
    assert report["predicted_cycles"] < predicted_cycles(apart)
    assert {region["why"] for region in report["regions"]} == {
        "the search for one loop found none with fewer than 177 cycles"
    }


def test_a_search_that_is_too_complex_leaves_nests_that_are_fused_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rtlgen.driver, "_in_one_loop", refuse)
    found = compile_program(parse_text(THREE), CompileOptions())
    apart = compile_program(parse_text(THREE), CompileOptions(fuse="none"))
    assert found.decision.why == "the search for one loop is too complex: it is a test"
    assert found.replayed
    assert predicted_cycles(found.plan) <= predicted_cycles(apart.plan)


def test_shifts_of_the_user_are_for_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.driver, "_plan_of", refuse)
    with pytest.raises(TooComplex):
        compile_program(parse_text(THREE), CompileOptions(shifts={"S2": 40}))


def test_the_legality_of_regions_is_judged_in_their_order() -> None:
    compilation = compile_program(parse(MATRIX_CHAIN, CompileOptions()), CompileOptions())
    analysis, flat = compilation.analysis, compilation.stages["flatten"]
    shifts, regions = compilation.decision.shifts, compilation.decision.regions

    def violated(order: list[list[str]]) -> bool:
        schedule = fuse(flat, shifts, order).schedule
        return find_violation(analysis.sets, analysis.dependences, schedule) is not None

    assert not violated([list(names) for names in regions])
    assert violated([list(names) for names in reversed(regions)])


def test_the_plan_tells_the_regions_and_why() -> None:
    text = plan_report_text(compile_design(MATRIX_CHAIN, CompileOptions()).report())
    assert (
        "2 regions, since the search for one loop found none with fewer than 177 cycles\n"
        "  S0: 7 cycles\n"
        "  S1 S2: 132 cycles\n"
    ) in text
