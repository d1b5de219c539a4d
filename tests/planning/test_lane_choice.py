"""Lanes are chosen by cycles, within what may be taken, and what ends their number is said."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rtlgen
from rtlgen.errors import RtlgenError
from rtlgen.ir.block_rams import block_ram_bits
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.operation_costs import multiplier_blocks
from rtlgen.report.html import report_html

SUM = """int f(const short a[24], const short b[24]) {
  int s = 0;
  for (int i = 0; i < 24; i++) s += a[i] * b[i];
  return s;
}
"""
ROWS = """void f(int a[4][12], const int b[4][12], int x) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 12; j++) a[i][j] += x * b[i][j];
}
"""
PRODUCT = """void f(int a[4][4], int b[4][4], short c[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j];
}
"""
CHAIN = """void f(int a[16], const int b[16]) {
  for (int i = 1; i < 16; i++) a[i] = a[i - 1] * b[i];
}
"""


def design(text: str, **options: Any) -> rtlgen.Design:
    return rtlgen.compile(source=text, path="program.c", **options)


@pytest.mark.sample(without=("text4-20-18-13",))
@pytest.mark.parametrize(
    ("text", "limit", "taken", "cycles"),
    [(SUM, 1, 1, 28), (SUM, 5, 4, 12), (SUM, 13, 8, 10), (ROWS, 3, 3, 53), (ROWS, 20, 18, 13)],
)
def test_as_many_lanes_as_fit_are_taken(text: str, limit: int, taken: int, cycles: int) -> None:
    found = design(text, max_dsp=limit)
    assert found.report()["figures"]["dsp"] == multiplier_blocks(found.plan) == taken
    assert predicted_cycles(found.plan) == cycles


def test_every_choice_is_the_best_of_the_lanes_that_fit() -> None:
    fitting = [design(SUM, unroll={"i": lanes}) for lanes in (1, 2, 3, 4, 6, 8)]
    fitting = [each for each in fitting if multiplier_blocks(each.plan) <= 6]
    chosen = design(SUM, max_dsp=6)
    assert predicted_cycles(chosen.plan) == min(predicted_cycles(d.plan) for d in fitting)


def test_what_the_next_lanes_would_take_is_said() -> None:
    chosen = design(SUM, max_dsp=5)
    bounds = chosen.report()["bounds"]
    assert "lanes: --unroll i=4, with 4 of 5 multiplier blocks" in bounds
    assert "next lanes: --unroll i=6 would take 6 multiplier blocks (--max-dsp 6)" in bounds
    source = chosen.compilation.analysis.program.scop.source
    assert "next lanes: --unroll i=6 would take 6" in report_html(chosen.report(), source)
    choice = chosen.report()["lane_choice"]
    assert (choice["unroll"], choice["multiplier_blocks"]) == ({"i": 4}, 4)
    assert {"options": "--unroll i=6", "why": bounds[-1].partition("i=6 ")[2]} in choice["next"]


@pytest.mark.sample("text0-5")
@pytest.mark.parametrize(("text", "limit"), [(SUM, 5), (ROWS, 20), (ROWS, 40), (PRODUCT, 24)])
def test_no_lanes_more_fit_and_save_cycles(text: str, limit: int) -> None:
    found = design(text, max_dsp=limit)
    choice = found.report()["lane_choice"]
    assert choice["next"]
    for each in choice["next"]:
        more = {k: int(n) for k, n in re.findall(r"--unroll (\w+)=(\d+)", each["options"])}
        other = design(text, unroll={**choice["unroll"], **more})
        blocks = multiplier_blocks(other.plan)
        assert blocks > limit or predicted_cycles(other.plan) > 0.98 * predicted_cycles(found.plan)
        if "multiplier blocks" in each["why"]:
            assert f"would take {blocks} multiplier blocks" in each["why"]


def test_many_statements_are_not_planned_in_far_too_many_lanes() -> None:
    outputs = [f"o{n}" for n in range(9)]
    parameters = ", ".join(f"int {name}[64]" for name in ("a", "b", *outputs))
    body = " ".join(f"{name}[i] = a[i] * (b[i] + {n});" for n, name in enumerate(outputs))
    text = f"void f({parameters}) {{ for (int i = 0; i < 64; i++) {{ {body} }} }}"
    choice = design(text, max_dsp=60).report()["lane_choice"]
    assert (choice["unroll"], choice["multiplier_blocks"]) == ({"i": 2}, 54)
    assert choice["next"] == [
        {"options": "--unroll i=4", "why": "would take about 108 multiplier blocks"}
    ]
    assert multiplier_blocks(design(text, unroll={"i": 4}).plan) == 108


def test_a_recurrence_is_named_with_its_line() -> None:
    found = design(CHAIN, max_dsp=28)
    assert multiplier_blocks(found.plan) == 3
    (why,) = (line for line in found.report()["bounds"] if line.startswith("next lanes"))
    assert "--unroll i=2 would save no cycles: the lanes of line 2 take turns: a[i - 1]" in why


def test_the_memory_that_lanes_may_take_is_kept_to() -> None:
    text = ROWS.replace("4][12]", "64][64]").replace("< 12", "< 64").replace("i < 4", "i < 64")
    free = design(text, max_dsp=12)
    bits = block_ram_bits(free.plan)
    assert bits == 2 * 64 * 64 * 32
    limited = design(SUM.replace("24", "4096"), max_dsp=8, max_bram_kib=16)
    assert block_ram_bits(limited.plan) <= 16 * 8192


def test_a_limit_below_what_one_lane_takes_is_refused_with_the_smallest() -> None:
    with pytest.raises(RtlgenError) as caught:
        design(ROWS, max_dsp=2)
    assert caught.value.code == "E0322"
    assert caught.value.diagnostic.help == "say --max-dsp 3 or more"
    assert multiplier_blocks(design(ROWS, max_dsp=3).plan) == 3


def test_lanes_that_are_asked_for_stay() -> None:
    found = design(ROWS, max_dsp=12, unroll={"i": 2})
    assert multiplier_blocks(found.plan) == 12
    assert any("--unroll j=2" in line for line in found.report()["bounds"])
    with pytest.raises(RtlgenError) as caught:
        design(ROWS, max_dsp=5, unroll={"i": 2})
    assert caught.value.diagnostic.help == "say --max-dsp 6 or more"


SOLVE = """void f(const int l[8][8], const int b[8], int x[8]) {
  for (int i = 0; i < 8; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
    x[i] *= l[i][i];
  }
}
"""


def lane_warnings(text: str, **options: Any) -> list[str]:
    found = design(text, **options)
    return [w.render() for w in found.compilation.warnings if w.code == "W0114"]


@pytest.mark.parametrize(
    ("text", "loop", "why"),
    [
        (CHAIN, "i", "take turns: a[i - 1]"),
        (SOLVE, "j", "results come later, and what waits for them: line 4 "),
    ],
)
def test_lanes_that_are_asked_for_and_save_nothing_are_named(
    text: str, loop: str, why: str
) -> None:
    single = predicted_cycles(design(text).plan)
    lanes = predicted_cycles(design(text, unroll={loop: 2}).plan)
    assert lanes >= single
    (warning,) = lane_warnings(text, unroll={loop: 2})
    assert f"--unroll {loop}=2 saves no cycles" in warning
    assert f"{lanes} cycles, with one lane {single}" in warning
    assert why in warning


TWO_CHAINS = CHAIN.replace(";\n}", ";\n  for (int i = 1; i < 16; i++) a[i] = a[i - 1] + a[i];\n}")


def with_pragma(text: str, pragma: str) -> str:
    """Return a loop with a pragma at the head of its body."""
    return text.replace("a[i] = a", f"{{\n#pragma HLS {pragma}\n    a[i] = a").replace(
        ";\n}", "; }\n}"
    )


def test_loops_of_one_name_have_one_label() -> None:
    (warning,) = lane_warnings(TWO_CHAINS, unroll={"i": 2})
    assert warning.count("run side by side") == 1
    assert "2 of its iterations run side by side, and of i in line 3" in warning


def test_a_loop_below_a_pipelined_one_that_saves_nothing_is_named() -> None:
    text = "void f(int a[1], const int b[2]) {\n  for (int i = 0; i < 6; i++)\n"
    text += "    for (int j = 0; j < 2; j++) a[0] = a[0] * b[j] + i;\n}\n"
    (warning,) = lane_warnings(text, pipeline=("i",))
    assert "--pipeline i saves no cycles" in warning


@pytest.mark.parametrize("pragma", ["UNROLL factor=4", "UNROLL factor=2"])
def test_a_pragma_that_saves_nothing_is_named(pragma: str) -> None:
    text = with_pragma(CHAIN, pragma)
    (warning,) = lane_warnings(text)
    assert f"#pragma HLS {pragma} saves no cycles" in warning
    assert not lane_warnings(text, unroll={"i": 1})


def test_a_pragma_that_unrolls_nothing_is_not_judged() -> None:
    assert not lane_warnings(with_pragma(CHAIN, "PIPELINE II=1"))


@pytest.mark.parametrize(
    ("text", "unroll"), [(SUM, {"i": 4}), (ROWS, {"j": 4}), (SOLVE, {"j": 1}), (SOLVE, {})]
)
def test_lanes_that_save_cycles_are_not(text: str, unroll: dict[str, int]) -> None:
    assert not lane_warnings(text, unroll=unroll)


def test_all_lanes_that_were_tried_are_noted_and_what_was_better() -> None:
    found = design(PRODUCT, max_dsp=4)
    tried = [each for each in found.report()["tried"] if each["move"] == "lanes"]
    taken = [each for each in tried if each["taken"]]
    assert taken[-1]["predicted_cycles"] == predicted_cycles(found.plan)
    assert all(each["why_not"] for each in tried if each not in taken)
    most = [each for each in tried if each["why_not"].startswith("would take ")]
    assert most and all(" multiplier blocks (--max-dsp " in each["why_not"] for each in most)


def test_of_lanes_that_are_as_good_one_choice_is_taken() -> None:
    text = """void f(int a[4][4], const int b[4][4]) {
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) a[i][j] = b[i][j] * 77777;
    }"""
    tried = design(text, max_dsp=8).report()["tried"]
    taken = [each["form"] for each in tried if each["move"] == "lanes" and each["taken"]]
    assert taken == ["--unroll i=4"]
    others = [each for each in tried if each["why_not"] == "others take as many cycles"]
    assert [each["form"] for each in others] == ["--unroll j=4"]
