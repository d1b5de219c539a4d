"""Every example beside its floor: cycles that nothing built of the same datapaths could beat.

Where nothing is published, this is what there is to reach. See `rtlgen.bench.floor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtlgen.bench.floor import floor_figures, floors, mean_times_floor
from rtlgen.bench.table import (
    BenchRow,
    BenchSettings,
    BenchTable,
    Column,
    Overall,
    RowResult,
    Section,
)
from rtlgen.design import Design, compile_design
from rtlgen.options import EVERY_ARRAY, CompileOptions

LONG_FLOOR_CYCLES = 1_000
"""Floor from which on filling and emptying the pipelines no longer counts."""

MOST_TIMES_FLOOR = 1.2
"""Cycles over floor above which a row says why."""

MOST_MEAN_TIMES_FLOOR = 1.05
"""Geometric mean of cycles over floor, of the examples with a long floor."""

EXAMPLES = (
    "2mm", "2mm_d", "3mm", "3mm_d", "accum_swg", "aes", "atax", "bicg", "dct", "doitgen",
    "doitgen_d", "gemm", "gemm64", "gemver", "gemver_opt", "gesummv", "horner", "loop_pipeline",
    "mms", "mms_d", "mvt", "order", "serially_execute", "structure", "symm", "syr2k", "syrk", "tce",
    "transposed", "trmm", "vgg",
)  # fmt: skip

ROWS = tuple(BenchRow(name) for name in EXAMPLES)

SECTIONS = (
    Section("Cycles, and what they are at least", (
        Column("instances", "instances"),
        Column("chain", "latency chain"),
        Column("instances_and_chain", "both"),
        Column("ports", "stores a port"),
        Column("stages", "stages"),
        Column("floor", "floor"),
        Column("floor_kind", "what rules"),
        Column("cycles", "cycles"),
        Column("above_floor_percent", "above it, %"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify an example, and find its floor."""
    options = CompileOptions(memory={EVERY_ARRAY: "onchip"}, **row.options)
    design = compile_design(path, options)
    proven = design.verify(simulator=settings.simulator)
    figures: dict[str, Any] = {
        **floors(design),
        "cycles": proven.cycles,
        "predicted_cycles": proven.predicted_cycles,
        **floor_figures(design, proven.cycles),
    }
    floor = figures["floor"]
    is_far = proven.cycles > MOST_TIMES_FLOOR * floor
    figures["reasons"] = reasons(design, floor) if is_far else []
    failures = list(proven.failures)
    if floor > proven.cycles:
        failures.append(f"took {proven.cycles} cycles, fewer than its floor of {floor}")
    return RowResult(row, figures, tuple(failures))


def reasons(design: Design, floor: int) -> list[str]:
    """Return why a design takes more cycles than its floor, a sentence each."""
    report = design.report()
    regions, slots = report["regions"], report["issue_slots"]
    found = [*report["bounds"], *report["limits"]]
    if len(regions) > 1:
        found.append(f"{len(regions)} regions run one after another: {regions[0]['why']}")
    found.append(f"its loops have {slots:,} slots, {slots - floor:,} more than the floor")
    return [" ".join(text.split()) for text in found]


def overall(results: Sequence[RowResult]) -> Overall:
    """Return the geometric mean of cycles over floor, of the rows with a long floor."""
    lines = [f"{r.row.kernel}: {reason}" for r in results for reason in r.figures["reasons"]]
    long = [r.figures for r in results if r.figures["floor"] >= LONG_FLOOR_CYCLES]
    if not long:
        return Overall(text="\n".join(lines))
    mean = mean_times_floor(long)
    text = f"geometric mean of cycles / floor, floors of {LONG_FLOOR_CYCLES:,} and more: {mean:.3f}"
    missed = () if mean <= MOST_MEAN_TIMES_FLOOR else (f"{text}, target {MOST_MEAN_TIMES_FLOOR}",)
    return Overall({"mean_times_floor": round(mean, 4)}, "\n".join([*lines, text]), missed)


LIMIT = BenchTable(
    "limit",
    "The examples beside their floors",
    ROWS,
    measure,
    SECTIONS,
    overall=overall,
)
