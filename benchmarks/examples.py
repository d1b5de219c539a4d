"""Cycles, area and clock of every example, against the targets.

Every example is proven exact in the same run, fused and unfused. Results: `examples`, and what
`example_figures` writes of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import example_figures
from benchmarks.record import (
    DEVICE,
    EXAMPLES,
    circumstances,
    markdown_table,
    tools_text,
    write_results,
)
from rtlgen.bench.measure import Measurement, measure_kernel
from rtlgen.flow.synth import DEFAULT_SEEDS

FMAX_AT_LEAST_MHZ = 115.0
# vgg takes 55 of the device's 56 block RAMs; in horner a recurrence leaves no cycle between the
# choice of a factor and its product.
FMAX_OF_EXAMPLE_MHZ: Mapping[str, float] = {"vgg": 100.0, "horner": 100.0}
AREA_AT_MOST: Mapping[str, Mapping[str, int]] = {"gemm": {"lut4": 900, "ff": 900, "dsp": 9}}
"""Cells of the netlist, example by example."""


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
    example_figures.main()
    print(table)
    return int(any(entry["missed"] for entry in entries))


if __name__ == "__main__":
    sys.exit(main())
