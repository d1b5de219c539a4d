"""Linear algebra in single precision, in C's order of every sum, beside high-level synthesis.

A multiply-add begins in every cycle of a lane, since loops change places and sums take turns. The
published cycles are of sums in another order: each script of that comparison lets the tool
reassociate.

Reference
---------
Stream-HLS (FPGA 2025), its artifact's report of RTL simulation: Vitis HLS 2023.2 on an Alveo U280,
plain C, and the best design of any tool compared there, with its DSP blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, log
from pathlib import Path
from typing import Any

from rtlgen.bench.measure import area_figures, proven_on_chip, synthesise_design
from rtlgen.bench.table import (
    BenchRow,
    BenchSettings,
    BenchTable,
    Column,
    Overall,
    RowResult,
    Section,
)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel and what is published of it.

    Members
    -------
    bound: cycles of one lane, in which the statement with the most instances issues every cycle.
    hls: cycles of Vitis HLS from plain C.
    best: the fewest published; best_dsp: with so many, if that is said.
    lanes: loop -> iterations side by side, of a second row. max_dsp: blocks that it may take.
    times_bound: how much longer than one fused lane a row may take.
    """

    name: str
    size: str
    bound: int
    hls: int
    best: int
    best_dsp: int | None = None
    lanes: Mapping[str, int] = field(default_factory=dict)
    max_dsp: int | None = None
    times_bound: float = 1.02

    def rows(self) -> tuple[BenchRow, ...]:
        """Return the row of one lane, and the one in lanes.

        With as many multipliers, lanes are to be no slower than the best published design: of
        either, blocks times cycles are in proportion to what is computed.
        """
        published: dict[str, object] = {
            "hls_cycles": self.hls,
            "best_cycles": self.best,
            "best_dsp": self.best_dsp,
        }
        by_block: dict[str, int] = {}
        if self.best_dsp is not None:
            by_block = {"dsp_cycles": self.best * self.best_dsp}
            published["best_dsp_cycles"] = self.best * self.best_dsp
        most = {"cycles": int(self.bound * self.times_bound)}
        if not self.lanes:
            return (BenchRow(self.name, published, most),)
        count = max(self.lanes.values())
        most_wide = {"cycles": int(self.bound // count * self.times_bound)} | by_block
        options: dict[str, Any] = {"unroll": self.lanes}
        if self.max_dsp is not None:
            options["max_dsp"] = self.max_dsp
        name = f"{self.name}@{count}"
        wide = BenchRow(name, published, most_wide, self.name, options=options)
        return BenchRow(self.name, published, most), wide


KERNELS = (
    _Kernel(
        "gemm",
        "200 x 220 x 240",
        10_560_000,
        10_609_802,
        7_100,
        8_304,
        {"i": 1, "j": 44, "k": 1},
        max_dsp=194,
    ),
    _Kernel("2mm", "180/190/210/220", 7_524_000, 117_648_026, 11_832, 7_435, {"j": 2}),
    _Kernel("3mm", "180 to 220", 8_778_000, 127_680_022, 49_092, 2_507),
    _Kernel("mvt", "400", 160_000, 2_560_019, 468, 4_000, {"i": 16}),
    _Kernel("bicg", "390 x 410", 159_900, 1_279_602, 1_112, lanes={"j": 10}),
    _Kernel("atax", "390 x 410", 159_900, 1_288_583, 2_180),
    _Kernel("gesummv", "250", 62_500, 500_020, 673, 922, {"i": 10}),
    _Kernel("residual", "16 of 56 x 56", 7_225_344, 57_906_819, 2_090_519, 276),
    # The last head's result is multiplied behind its softmax, which is behind all of its scores.
    _Kernel("attention", "64 x 128, 8", 1_048_576, 10_531_237, 35_143, 3_216, times_bound=1.35),
)

ROWS = tuple(row for kernel in KERNELS for row in kernel.rows())

SECTIONS = (
    Section("Single precision, every sum in C's order", (
        Column("size", "size"),
        Column("lanes", "lanes"),
        Column("cycles", "cycles"),
        Column("bound", "one a cycle"),
        Column("hls_cycles", "Vitis HLS", of_document=True),
        Column("times_fewer", "times fewer"),
        Column("dsp", "DSP"),
        Column("best_cycles", "best published", of_document=True),
        Column("best_dsp", "its DSP", of_document=True),
        Column("dsp_cycles", "DSP x cycles"),
        Column("best_dsp_cycles", "best's", of_document=True),
    )),
    Section("Area and clock on ECP5", (
        Column("lut", "LUT"),
        Column("ff", "FF"),
        Column("dsp_measured", "DSP"),
        Column("bram", "RAM"),
        Column("fmax_mhz", "MHz"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify a row on random data.

    What fits on no device of the family is not synthesised: the memories of these sizes do not.
    """
    kernel = next(each for each in KERNELS if each.name == row.file)
    design, proven, cycles = proven_on_chip(row, path, settings)
    lanes: Mapping[str, int] = row.options.get("unroll", {})
    count = max(lanes.values(), default=1)
    figures: dict[str, Any] = {
        "size": kernel.size,
        "lanes": count,
        **cycles,
        "bound": kernel.bound // count,
        "times_fewer": round(kernel.hls / proven.cycles, 1),
        "dsp": design.dsp,
        "dsp_cycles": design.dsp * proven.cycles,
    }
    if settings.synthesis and design.block_rams <= design.compilation.target.device_block_rams:
        area = area_figures(synthesise_design(design, settings.seeds))
        figures |= area | {"dsp": design.dsp, "dsp_measured": area["dsp"]}
    return RowResult(row, figures, proven.failures)


def overall(results: Sequence[RowResult]) -> Overall:
    """Return the geometric mean of how many times fewer cycles than plain C one lane takes."""
    alone = [r.figures["times_fewer"] for r in results if r.figures["lanes"] == 1]
    if not alone:
        return Overall()
    mean = exp(fsum(map(log, alone)) / len(alone))
    text = f"geometric mean of one lane: {mean:.1f} times fewer cycles than Vitis HLS from plain C"
    return Overall({"mean_times_fewer": round(mean, 2)}, text)


FP32 = BenchTable(
    "fp32",
    "Linear algebra in single precision beside high-level synthesis",
    ROWS,
    measure,
    SECTIONS,
    kernels=Path("benchmarks/fp32"),
    overall=overall,
)
