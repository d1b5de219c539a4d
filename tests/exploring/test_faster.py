"""What would make a design faster is planned within a budget, or has a bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

import rtlgen
from rtlgen.exploring.faster import faster
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TURN_WORK
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import Compilation
from rtlgen.report.text import plan_report_text

FIR = """void fir(const int h[8], const int x[135], int y[128]) {
  for (int t = 0; t < 128; t++) {
    int s = 0;
    for (int k = 0; k < 8; k++) s += h[k] * x[t + 7 - k];
    y[t] = s;
  }
}"""


def test_lanes_are_offered_with_what_they_cost() -> None:
    design = rtlgen.compile(source=FIR)
    report = design.report(with_faster=True)
    first = report["faster"][0]
    assert first["options"] == "--unroll k=8"
    asked = rtlgen.compile(source=FIR, unroll={"k": 8})
    assert first["predicted_cycles"] == predicted_cycles(asked.plan) < report["predicted_cycles"]
    assert (first["dsp"], first["block_rams"]) == (asked.dsp, asked.block_rams)
    assert len(report["faster"]) <= 3
    now = (report["predicted_cycles"], report["dsp"], report["block_rams"])
    line = (
        f"faster: --unroll k=8: {first['predicted_cycles']:,} cycles, {first['dsp']} DSP, "
        f"{first['block_rams']} block RAMs (now {now[0]:,}, {now[1]}, {now[2]})"
    )
    assert line in plan_report_text(report)


def test_a_report_that_is_not_asked_for_it_plans_nothing_else() -> None:
    assert "faster" not in rtlgen.compile(source=FIR).report()


def test_what_takes_longer_than_the_plan_has_a_bound() -> None:
    design = rtlgen.compile(source=FIR)
    # Beside a plan that took a single step, no other one can be afforded.
    cheap = replace(design.compilation, steps=1)
    offers = faster(cheap, design.options)
    assert offers.found and not any(offer.is_planned for offer in offers.found)
    for offer in offers.found:
        assert offer.to_json()["cycles_at_least"] == offer.cycles


def test_beside_a_plan_that_took_long_no_other_one_is_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    design = rtlgen.compile(source=FIR)
    long = replace(design.compilation, steps=TURN_WORK + 1)

    def planned(_: ParsedProgram, options: CompileOptions) -> Compilation:
        raise AssertionError(f"{options} would take longer still")

    monkeypatch.setattr("rtlgen.exploring.faster.compile_program", planned)
    offers = faster(long, design.options)
    assert offers.found and not any(offer.is_planned for offer in offers.found)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_bound_is_below_what_is_planned(lanes: int) -> None:
    bound = -(-128 * 8 // lanes)
    assert bound <= predicted_cycles(rtlgen.compile(source=FIR, unroll={"k": lanes}).plan)


def test_what_does_not_fit_the_device_is_not_offered() -> None:
    text = FIR.replace("int h", "long long h").replace("int x", "long long x")
    report = rtlgen.compile(source=text).report(with_faster=True)
    assert all((offer["dsp"] or 0) <= 28 for offer in report["faster"])


def test_the_same_is_offered_every_time() -> None:
    first, second = (rtlgen.compile(source=FIR).faster() for _ in range(2))
    assert first == second
