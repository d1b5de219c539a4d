"""The report on nests: classes, trip counts, names after flattening, cycles here and elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.report.html import report_html
from rtlgen.report.tables import text_table
from rtlgen.report.text import nests_text, trips_text
from rtlgen.source import SourceFile

EXAMPLES = Path(__file__).parents[2] / "examples"


def design(body: str, parameters: str = "int a[16], int b[16][16], int c[16]") -> Design:
    text = f"void f({parameters})\n{{\n{body}\n}}\n"
    options = CompileOptions()
    return Design(compile_program(parse_text(text, "f.c"), options), options)


def nest(body: str) -> dict[str, Any]:
    (only,) = design(body).nests()
    return only


def example(name: str) -> dict[str, Any]:
    (only,) = rtlgen.compile(EXAMPLES / name / f"{name}.c").nests()
    return only


CLASSES = {
    "perfect": "for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) b[i][j] = i;",
    "imperfect: the bounds of loop j are not constant":
        "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) b[i][j] = i;",
    "imperfect: loop i holds code outside of loop j":
        "for (int i = 0; i < 8; i++) { a[i] = i; for (int j = 0; j < 4; j++) b[i][j] = i; }",
    "imperfect: loop i holds 2 loops":
        "for (int i = 0; i < 8; i++) { for (int j = 0; j < 4; j++) b[i][j] = i; "
        "for (int j = 0; j < 4; j++) c[j] = i; }",
    "imperfect: loop j depends on a condition":
        "for (int i = 0; i < 8; i++) if (i > 2) for (int j = 0; j < 4; j++) b[i][j] = i;",
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "body"), CLASSES.items())
def test_a_nest_has_its_class_and_the_reason(wanted: str, body: str) -> None:
    found = nest(body)
    kind, _, reason = wanted.partition(": ")
    assert found["class"] == kind
    assert not reason or found["reason"] == reason


def test_a_loop_with_two_limits_is_no_condition() -> None:
    found = nest("for (int i = 0; i < 8; i++) for (int j = 0; j < 4 && j < 9; j++) b[i][j] = i;")
    assert found["class"] == "perfect"


def test_an_inner_loop_may_be_semi_perfect() -> None:
    found = nest(
        "for (int t = 0; t < 4; t++) for (int i = 0; i < t; i++) "
        "for (int j = 0; j < 4; j++) b[i][j] += t;"
    )
    assert [loop["class"] for loop in found["loops"]] == ["imperfect", "semi-perfect", "perfect"]
    assert found["ug1399"]["flattened"] == ["i_j"]


def test_a_flattened_loop_is_named_by_labels_or_iterators() -> None:
    loops = example("loop_pipeline")["loops"]
    assert [loop["flattened_into"] for loop in loops] == [["LOOP_I_LOOP_J"]] * 2
    found = nest(
        "for (int i = 0; i < 8; i++) { INNER: for (int j = 0; j < 4; j++) b[i][j] = i; "
        "for (int k = 0; k < 4; k++) c[k] = i; }"
    )
    assert [loop["flattened_into"] for loop in found["loops"]] == [
        ["i_INNER", "i_k"],
        ["i_INNER"],
        ["i_k"],
    ]


def test_a_single_loop_is_not_flattened() -> None:
    (loop,) = nest("for (int i = 0; i < 8; i++) a[i] = i;")["loops"]
    assert (loop["flattened"], loop["flattened_into"]) == (False, [])


def test_trip_counts_of_a_triangle_are_least_most_average_and_total() -> None:
    outer, inner = example("order")["loops"]
    assert outer["trips"] == {"min": 64, "max": 64, "average": 64.0, "total": 64, "at_most": False}
    assert inner["trips"] == {
        "min": 0, "max": 63, "average": 31.5, "total": 2016, "at_most": False
    }  # fmt: skip
    assert trips_text(inner["trips"]) == "0..63, average 31.5"


def test_trips_under_a_condition_on_data_are_an_upper_bound() -> None:
    found = nest("for (int i = 0; i < 8; i++) if (c[i] > 0) for (int j = 0; j < 4; j++) a[j] = i;")
    outer, inner = found["loops"]
    assert (outer["trips"]["at_most"], inner["trips"]["at_most"]) == (False, True)
    assert trips_text(inner["trips"]) == "at most 4"


def test_a_slow_loop_says_why() -> None:
    found = nest("for (int i = 1; i < 16; i++) a[i] = a[i - 1] * a[i - 1] + 1;")
    assert found["loops"][0]["ii"] > 1
    assert "needs the result of the iteration before" in nests_text([found])


def test_the_latency_of_all_loops_is_that_of_the_kernel() -> None:
    for name in ("gemm", "order", "serially_execute"):
        compiled = rtlgen.compile(EXAMPLES / name / f"{name}.c")
        (found,) = compiled.nests()
        assert found["latency_cycles"] == compiled.report()["predicted_cycles"]


# Entering and leaving: one cycle each. Depths: 4 for an addition in memory, 1 for a constant.
ESTIMATES = {
    "a perfect nest is one loop": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) b[i][j] = 0;", 8 * 4 - 1 + 1, 0),
    "every row is entered and left": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) b[i][j] = 0;",
        36 + 8 * 0 + 16, 16),
    "an empty row is entered and left too": (
        "for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) b[i][j] = 0;", 28 + 16, 16),
    "code between loops takes its time": (
        "for (int i = 0; i < 8; i++) { a[i] = 0; for (int j = 0; j < 4; j++) b[i][j] = 0; }",
        8 + 8 * 4 + 16, 16),
}  # fmt: skip


@pytest.mark.parametrize(("body", "cycles", "lost"), ESTIMATES.values(), ids=ESTIMATES)
def test_the_estimate_for_a_tool_after_ug1399(body: str, cycles: int, lost: int) -> None:
    found = nest(body)["ug1399"]
    assert (found["cycles"], found["lost_cycles"]) == (cycles, lost)


HARD = {
    "accum_swg": ("accumulation", [17, 16]),
    "order": ("out of order", [11, 10]),
    "structure": ("divergent", [10, 12, 15]),
    "serially_execute": ("serial region", [13, 11]),
}


@pytest.mark.parametrize("name", HARD)
def test_each_hard_case_is_found_in_its_example_and_no_other(name: str) -> None:
    (case,) = example(name)["aocl"]
    assert (case["name"], case["lines"]) == HARD[name]
    assert case["there"] and case["here"]


def test_an_easy_nest_holds_no_hard_case() -> None:
    assert example("loop_pipeline")["aocl"] == []
    assert (
        nest("for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) b[i][j] = i;")["aocl"] == []
    )


def test_work_behind_a_loop_on_another_variable_is_no_serial_region() -> None:
    found = nest(
        "for (int i = 0; i < 8; i++) { for (int j = 0; j < 4; j++) b[i][j] = c[j]; "
        "a[i] = b[i][0]; }"
    )
    assert found["aocl"] == []


def test_what_this_design_does_is_taken_from_its_plan() -> None:
    (case,) = example("accum_swg")["aocl"]
    assert case["here"] == (
        "S1 issues every cycle, with its loops in the order i, k, "
        "the sum is forwarded from addition to addition"
    )


def test_the_text_of_a_whole_nest() -> None:
    assert nests_text([example("order")]) == (
        "line 10: imperfect nest (the bounds of loop j are not constant): i = 0..64, j = 0..i\n"
        "loop  line  class         trips                iterations  flattened into  II  depth  "
        "cycles\n"
        "i       10  imperfect     64                           64  i_j              1      4   "
        "2,019\n"
        "  j     11  semi-perfect  0..63, average 31.5       2,016  i_j              1      4   "
        "2,019\n"
        "UG1399: flattens nothing; about 2,333 cycles, 128 of them entering and leaving loops; "
        "here 2,019\n"
        "AOCL, out of order, line 11: loop j has 0 to 63 iterations, so those of loop i would "
        "finish out of order: they run one after another\n"
        "  here: all 2,016 iterations of loop j follow each other: 2,019 cycles in all\n\n"
        "(UG1399 is the Vitis High-Level Synthesis User Guide,\n"
        " AOCL the Best Practices Guide of the Intel FPGA SDK for OpenCL)"
    )


@pytest.mark.long
def test_the_estimate_for_another_tool_has_not_this_designs_skewed_loops() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "stencils" / "seidel_2d.c"
    built = rtlgen.compile(path, define={"T": 3, "N": 12})
    (found,) = built.nests()
    (skew,) = built.report()["skews"]
    # One loop, never left: its iterations at the II that they have without skewing.
    assert found["ug1399"]["cycles"] > skew["issue_slots_before"] > 2 * found["latency_cycles"]
    assert "<h2>Skewed loops</h2>" in report_html(built.report(), SourceFile("s.c", ""))


def test_the_span_of_a_nest_that_shares_its_cycles_is_not_called_its_cost() -> None:
    first, second = rtlgen.compile(EXAMPLES / "mms_d" / "mms_d.c").nests()
    assert (first["beside"], second["beside"]) == ([second["line"]], [first["line"]])
    assert "here 797 that it shares with line 23" in nests_text([first, second])
    apart = rtlgen.compile(EXAMPLES / "mms_d" / "mms_d.c", fuse="none").nests()
    assert [nest["beside"] for nest in apart] == [[], []]
    assert "shares" not in nests_text(apart)


def test_a_wide_table_is_folded_between_words() -> None:
    text = text_table(
        ("name", "n", "words"), [("a", 1, "word " * 40), ("x" * 30, 2, "b"), ("  c", 3, "-")]
    )
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert text.split().count("word") == 40
    assert [line.split()[:1] for line in lines[-2:]] == [["x" * 30], ["c"]]
    unbreakable = text_table(("name",), [("x" * 120,)])
    assert unbreakable.splitlines()[1] == "x" * 120
