"""The stored measurements: how targets are judged, and that pages and results agree."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from amaranth.sim import Simulator

from benchmarks.build_phases import PHASES
from benchmarks.build_time import medians
from benchmarks.example_figures import figures_text, gemm_comparison, with_figures
from benchmarks.examples import missed_targets
from benchmarks.index_styles import (
    DIVIDE,
    FORMULA,
    ODOMETER,
    WrittenFormula,
    luts_alone,
    ratios,
    synthesise_unit,
)
from benchmarks.published import stored_results, tables_text
from benchmarks.record import EXAMPLES, RESULTS, ROOT, markdown_table, read_results
from rtlgen.bench.limit import LIMIT
from rtlgen.bench.mf3 import MF3
from rtlgen.bench.stencils import STENCILS
from rtlgen.bench.table import BenchTable
from rtlgen.hw.flat_index import Divide
from rtlgen.hw.odometer import Odometer

GEMM = {
    "kernel": "gemm", "statements_total": 576, "fused_iterations": 512, "floor": 512,
    "rtl_cycles": 519, "unfused_cycles": 587, "lut": 405, "lut4": 261, "ff": 548, "dsp": 9,
    "bram": 3, "planned_bram": 3, "fmax_mhz": 133.1,
}  # fmt: skip


def missed(failures: tuple[str, ...] = (), **changes: object) -> list[str]:
    measured: Any = SimpleNamespace(failures=failures)
    return missed_targets({**GEMM, **changes}, measured)


def test_an_example_within_its_targets_misses_none() -> None:
    assert missed() == []
    assert missed(kernel="mms", lut4=901) == [], "the limits on area are gemm's"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fmax_mhz": 114.9}, "114.9 MHz, target 115.0"),
        ({"bram": 2}, "2 block RAMs, planned 3"),
        ({"lut4": 901}, "901 LUT4, target 900"),
        ({"ff": 901}, "901 FF, target 900"),
        ({"dsp": 10}, "10 DSP, target 9"),
        ({"failures": ("took 1 cycles, predicted 2",)}, "took 1 cycles, predicted 2"),
    ],
)
def test_each_missed_target_is_named(changes: dict[str, Any], text: str) -> None:
    assert missed(**changes) == [text]


def test_figures_replace_what_stands_between_the_markers() -> None:
    page = "# k\n\n<!-- figures -->\nold\n<!-- /figures -->\nafter\n"
    assert with_figures(page, "new\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="0 places"):
        with_figures("# k\n", "new\n")


def test_every_example_is_measured() -> None:
    measured = [entry["kernel"] for entry in read_results("examples")["examples"]]
    assert measured == sorted(path.stem for path in EXAMPLES.glob("*/*.c"))


def test_a_page_says_what_it_was_that_was_measured() -> None:
    made_by = {"date": "2026-11-26", "tools": {"rtlgen": "0.1.0"}}
    measured = {**GEMM, "device": "25k"}
    assert "measured 2026-11-26,\n" in figures_text(measured, measured, made_by)
    text = figures_text(measured, {**measured, "rtl_cycles": 518}, made_by)
    assert "| cycles, start to done | 518 |\n" in text
    assert "measured 2026-11-26 of a design of 519 cycles, 9 multipliers and 3 block RAMs" in text


def test_every_stored_example_is_exact_and_within_its_targets() -> None:
    for entry in read_results("examples")["examples"]:
        assert entry["exact"] and entry["missed"] == []
        assert entry["rtl_cycles"] == entry["predicted_cycles"]


@pytest.mark.parametrize("table", [MF3, LIMIT, STENCILS], ids=lambda table: table.name)
def test_published_tables_are_the_stored_results(table: BenchTable) -> None:
    document = read_results(table.name)
    assert [row["kernel"] for row in document["rows"]] == [row.kernel for row in table.rows]
    text = tables_text(table, stored_results(table, document))
    assert (RESULTS / f"{table.name}.md").read_text().startswith(text)
    for row in document["rows"]:
        assert row["exact"] and row["missed"] == []


def test_results_hold_no_path_of_the_machine() -> None:
    for path in RESULTS.iterdir():
        text = path.read_text()
        assert not [place for place in (ROOT, sys.prefix) if str(place) in text]


def test_gemm_is_shown_beside_the_other_tool() -> None:
    bambu = json.loads((ROOT / "benchmarks" / "reference" / "bambu_gemm.json").read_text())
    lines = gemm_comparison(GEMM, bambu).splitlines()
    assert lines[0] == "| gemm 8x8x8, int32 | rtlgen | PandA-Bambu 2024.10 |"
    assert lines[2] == "| cycles | 519 | 2,834 |"
    assert lines[-1] == "| time of one run, µs | 3.9 | 34.6 |"


def test_tables_set_numbers_to_the_right_and_escape_bars() -> None:
    assert markdown_table(["a", "b"], [["x|y", 1234], [True, None]]).splitlines() == [
        "| a | b |",
        "| --- | ---: |",
        "| x\\|y | 1,234 |",
        "| yes | - |",
    ]


def test_ratios_compare_the_odometer_with_both_baselines() -> None:
    rows = [
        {"nest": "2 x 3", "style": ODOMETER, "luts_alone": 20, "fmax_mhz": 300.0},
        {"nest": "2 x 3", "style": DIVIDE, "luts_alone": 100, "fmax_mhz": 40.0},
        {"nest": "2 x 3", "style": FORMULA, "luts_alone": 90, "fmax_mhz": 30.0},
        {"nest": "2 x 3", "style": "another", "luts_alone": 1, "fmax_mhz": 1.0},
    ]
    assert ratios(rows) == [
        {"nest": "2 x 3", "baseline": DIVIDE, "smaller": 5.0, "faster": 7.5},
        {"nest": "2 x 3", "baseline": FORMULA, "smaller": 4.5, "faster": 10.0},
    ]


def test_the_formula_as_written_enumerates_the_nest() -> None:
    """Simulate it: a baseline that computes something else would prove nothing."""
    unit = WrittenFormula((2, 3, 5), 1)
    seen: list[tuple[int, ...]] = []

    async def bench(ctx: Any) -> None:
        ctx.set(unit.begin, 1)
        await ctx.tick()
        ctx.set(unit.begin, 0)
        for _ in range(40):
            if ctx.get(unit.valid):
                seen.append(tuple(ctx.get(counter) for counter in unit.counters))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == list(product(range(2), range(3), range(5)))


@pytest.mark.synthesis
@pytest.mark.long
def test_the_odometer_is_four_times_smaller_than_the_division() -> None:
    extents = (8, 9, 11)
    odometer = synthesise_unit(Odometer(extents, 1), seeds=())
    assert odometer.ff >= 3 + 4 + 4, "its counters are registers"
    assert odometer.dsp == 0, "all of it is in the LUTs that are compared"
    assert luts_alone(Divide(extents, 1, 0)) >= 4 * odometer.lut


def test_medians_are_taken_phase_by_phase() -> None:
    runs = [{"a": 1.0, "b": 9.0}, {"a": 2.0, "b": 1.0}, {"a": 9.0, "b": 2.0}]
    assert medians(runs) == {"a": 2.0, "b": 2.0}


@pytest.mark.long
def test_the_phases_of_a_build_are_its_whole_time(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.build_phases"]
    begin = time.time()
    done = subprocess.run(
        [*command, str(begin), "examples/mvt/mvt.c", "-o", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    elapsed = time.time() - begin
    phases = json.loads(done.stdout.splitlines()[-1])
    assert (tmp_path / "manifest.json").is_file()
    names = [phase for phase, _, _ in PHASES]
    assert list(phases) == ["start of Python", "imports", *names, "other"]
    assert all(seconds > 0 for seconds in phases.values())
    assert sum(phases.values()) < elapsed
