"""Cycles, area and clock of every example, against the targets, and gemm beside PandA-Bambu.

Every example is proven exact in the same run, fused and unfused. Results: `examples`,
`gemm_comparison`, and `readme_table`, the rows for the front page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import (
    DEVICE,
    EXAMPLES,
    RESULTS,
    circumstances,
    markdown_table,
    tools_text,
    write_results,
)
from rtlgen.bench.measure import Measurement, measure_kernel
from rtlgen.bench.mf3 import MF3
from rtlgen.flow.synth import DEFAULT_SEEDS

FMAX_AT_LEAST_MHZ = 115.0
# vgg takes 55 of the device's 56 block RAMs; in horner a recurrence leaves no cycle between the
# choice of a factor and its product.
FMAX_OF_EXAMPLE_MHZ: Mapping[str, float] = {"vgg": 100.0, "horner": 100.0}
AREA_AT_MOST: Mapping[str, Mapping[str, int]] = {"gemm": {"lut4": 900, "ff": 900, "dsp": 9}}
"""Cells of the netlist, example by example."""

BAMBU = Path(__file__).with_name("reference") / "bambu_gemm.json"


def measure_example(path: Path, seeds: Sequence[int] = DEFAULT_SEEDS) -> dict[str, Any]:
    """Return the figures of one example, and the targets that it missed."""
    measured = measure_kernel(path, seeds=seeds)
    assert measured.area is not None, "seeds ask for synthesis"
    entry = {
        "kernel": path.stem,
        "exact": not measured.failures,
        **measured.figures(),
        "device": measured.area.device,
        "lut4": measured.area.lut4,
        "lut_placed": measured.area.lut_placed,
        "planned_bram": measured.planned_block_rams,
        "fmax_by_seed": dict(measured.area.fmax_by_seed),
        "critical_path": measured.area.critical_path,
    }
    return entry | {"missed": missed_targets(entry, measured)}


def missed_targets(entry: Mapping[str, Any], measured: Measurement) -> list[str]:
    """Return what an example does not reach, a sentence each."""
    missed = list(measured.failures)
    fmax_mhz = FMAX_OF_EXAMPLE_MHZ.get(entry["kernel"], FMAX_AT_LEAST_MHZ)
    if entry["fmax_mhz"] < fmax_mhz:
        missed.append(f"{entry['fmax_mhz']} MHz, target {fmax_mhz}")
    if entry["bram"] != entry["planned_bram"]:
        missed.append(f"{entry['bram']} block RAMs, planned {entry['planned_bram']}")
    for figure, limit in AREA_AT_MOST.get(entry["kernel"], {}).items():
        if entry[figure] > limit:
            missed.append(f"{entry[figure]} {figure.upper()}, target {limit}")
    return missed


def area_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return area and clock of all examples."""
    return markdown_table(
        ["kernel", "exact", "LUT", "of them LUT4", "FF", "DSP", "block RAM", "planned", "MHz",
         "ECP5", "missed"],
        [
            [e["kernel"], e["exact"], e["lut"], e["lut4"], e["ff"], e["dsp"], e["bram"],
             e["planned_bram"], e["fmax_mhz"], e["device"], "; ".join(e["missed"]) or "nothing"]
            for e in entries
        ],
    )  # fmt: skip


def readme_table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows for the front page, published cycles beside ours."""
    published = {row.kernel: row.published.get("rtl_cycles") for row in MF3.rows}
    return markdown_table(
        ["kernel", "iterations one by one", "fused", "floor", "cycles", "cycles of MF3",
         "unfused", "LUT", "FF", "DSP", "block RAM", "MHz"],
        [
            [f"[{e['kernel']}](examples/{e['kernel']})", e["statements_total"],
             e["fused_iterations"], e["floor"], e["rtl_cycles"], published.get(e["kernel"]),
             e["unfused_cycles"], e["lut"], e["ff"], e["dsp"], e["bram"], e["fmax_mhz"]]
            for e in entries
        ],
    )  # fmt: skip


def gemm_comparison(gemm: Mapping[str, Any], bambu: Mapping[str, Any]) -> str:
    """Return gemm beside the same kernel by PandA-Bambu."""
    figures = (
        ("cycles", "rtl_cycles", "cycles"),
        ("LUT4 cells", "lut4", "lut4"),
        ("LUT4 cells and two a carry cell", "lut", "lut"),
        ("flip-flops", "ff", "ff"),
        ("MULT18X18D", "dsp", "dsp"),
        ("clock, MHz", "fmax_mhz", "fmax_mhz"),
    )
    rows: list[list[object]] = [[text, gemm[a], bambu.get(b)] for text, a, b in figures]
    times = [gemm["rtl_cycles"] / gemm["fmax_mhz"], bambu["cycles"] / bambu["fmax_mhz"]]
    return markdown_table(
        [f"gemm {bambu['size']}", "rtlgen", bambu["tool"]],
        [*rows, ["time of one run, µs", *(round(t, 1) for t in times)]],
    )


def main() -> int:
    """Measure, store, and say what was missed."""
    entries = []
    for path in sorted(EXAMPLES.glob("*/*.c")):
        entries.append(measure_example(path))
        print(json.dumps(entries[-1]), file=sys.stderr, flush=True)
    table = area_table(entries)
    made_by = circumstances()
    footer = f"{made_by['date']}, {DEVICE}, median of three seeds; {tools_text(made_by)}."
    note = "What does not fit into it is placed on the smallest ECP5 that holds it."
    write_results("examples", {"examples": entries}, f"{table}\n\n{footer} {note}")
    (RESULTS / "readme_table.md").write_text(readme_table(entries) + "\n", encoding="utf-8")
    gemm = next(entry for entry in entries if entry["kernel"] == "gemm")
    bambu = json.loads(BAMBU.read_text(encoding="utf-8"))
    comparison = f"{gemm_comparison(gemm, bambu)}\n\n{footer} {bambu['settings']}"
    (RESULTS / "gemm_comparison.md").write_text(comparison + "\n", encoding="utf-8")
    print(table)
    return int(any(entry["missed"] for entry in entries))


if __name__ == "__main__":
    sys.exit(main())
