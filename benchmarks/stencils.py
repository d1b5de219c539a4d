"""Stencils of PolyBench in integers, at its MINI sizes, beside published cycles of other tools.

PLUTO in front of a high-level synthesis tool made most of these slower: it skews the loops, and the
tool flattens none of the nests that come out. Here skewed and tiled nests run without a bubble, and
the compiler skews where that saves cycles. Every circuit is proven exact in the same run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import circumstances, markdown_table, tools_text, write_results
from rtlgen.design import compile_design
from rtlgen.options import CompileOptions

FOLDER = Path(__file__).with_name("stencils")

PUBLISHED: Mapping[str, tuple[str, int, int]] = {
    "jacobi_1d": ("T=20, N=30", 1_243, 19_842),
    "jacobi_2d": ("T=20, N=30", 95_181, 731_450),
    "heat_3d": ("T=20, N=10", 83_621, 530_457),
    "fdtd_2d": ("T=20, 20 x 30", 36_041, 546_269),
    "seidel_2d": ("T=20, N=40", 109_835, 1_837_652),
}
"""Size, cycles of a high-level synthesis tool alone, and behind PLUTO; in double precision."""


def measure_stencil(name: str) -> dict[str, Any]:
    """Return the figures of one stencil in the loops that the compiler chooses."""
    before = time.process_time()
    design = compile_design(FOLDER / f"{name}.c", CompileOptions())
    seconds = time.process_time() - before
    report, proof = design.report(), design.verify(simulator="verilator")
    instances = [statement["instances"] for statement in report["statements"]]
    size, alone, behind_pluto = PUBLISHED[name]
    return {
        "kernel": name,
        "size": size,
        "instances": sum(instances),
        "most_instances": max(instances),
        "cycles": report["predicted_cycles"],
        "skewed": bool(report["skews"]),
        "exact": not proof.failures,
        "compile_cpu_seconds": round(seconds, 1),
        "published_alone": alone,
        "published_behind_pluto": behind_pluto,
    }


def table(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the figures as a Markdown table."""
    return markdown_table(
        ["stencil", "size", "instances", "of one statement", "cycles", "skewed", "exact",
         "compile, CPU s", "published: HLS", "published: PLUTO, then HLS"],
        [
            [e["kernel"], e["size"], e["instances"], e["most_instances"], e["cycles"], e["skewed"],
             e["exact"], e["compile_cpu_seconds"], e["published_alone"],
             e["published_behind_pluto"]]
            for e in entries
        ],
    )  # fmt: skip


def main() -> int:
    """Measure all stencils; return 1 when one is not exact, or slower than the tool alone."""
    entries = [measure_stencil(name) for name in PUBLISHED]
    made_by = circumstances()
    text = f"{table(entries)}\n\n{made_by['date']}, {tools_text(made_by)}."
    write_results("stencils", {"stencils": entries}, text)
    print(text)
    fine = all(e["exact"] and e["cycles"] < e["published_alone"] for e in entries)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
