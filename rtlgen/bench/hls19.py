"""Nineteen kernels of linear algebra, in one lane and in several, beside other tools' cycles.

Every kernel has a row for one iteration of each loop at a time, and one in which the iterations of
a loop run side by side. Elements have 32 bits; matrices are 8 x 8, but 8 x 12 where symm and trmm
multiply from the left, 12 x 12 and 12 x 8 in syrk and syr2k, and 8 x 8 x 8 in doitgen. Quotients
are those of integers, and roots are computed a binary digit at a time. Those of one lane are proven
in `float`, too, but for the two that compute roots of integers.

Reference
---------
Cycles of Calyx, of Vivado HLS 2019.2, and of the same with loops unrolled, at these sizes; cycles
and multipliers of PandA-Bambu 2024.10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtlgen.bench.limit import floor_figures, mean_times_floor
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
from rtlgen.design import Design, compile_design

TIMES_FEWER = 3
"""How many times fewer cycles than the unrolled column a row is to take."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel and what is published of it.

    Members
    -------
    lanes: loop -> iterations side by side, of the second row.
    has_roots: of integers, so that there is no such program in floating point.
    calyx, hls, unrolled, bambu: cycles. hls_dsp, bambu_dsp: multipliers.
    """

    name: str
    lanes: Mapping[str, int]
    calyx: int
    hls: int
    unrolled: int | None = None
    hls_dsp: int | None = None
    bambu: int | None = None
    bambu_dsp: int | None = None
    has_roots: bool = False

    @property
    def published(self) -> dict[str, object]:
        """The figures by name, without those that are not published."""
        figures = {
            "calyx_cycles": self.calyx,
            "hls_cycles": self.hls,
            "unrolled_cycles": self.unrolled,
            "hls_dsp": self.hls_dsp,
            "bambu_cycles": self.bambu,
            "bambu_dsp": self.bambu_dsp,
        }
        if self.bambu is not None and self.bambu_dsp is not None:
            figures["bambu_dsp_cycles"] = self.bambu * self.bambu_dsp
        return {name: figure for name, figure in figures.items() if figure is not None}

    def rows(self) -> tuple[BenchRow, BenchRow]:
        """Return the row of one lane, and that of several.

        Lanes are to take `TIMES_FEWER` cycles than the unrolled column with no more multipliers
        than are published: one lane, where those of the plain column are; several, with Bambu's.
        Where neither is published, nothing says what lanes should take.
        """
        alone = {"cycles": self.hls}
        several = {} if self.bambu is None else dict(alone)
        if self.unrolled is not None:
            several = {"cycles": self.unrolled // TIMES_FEWER}
            if self.hls_dsp is not None:
                alone = several | {"dsp": self.hls_dsp}
            if self.bambu_dsp is not None:
                several["dsp"] = self.bambu_dsp
        lanes = BenchRow(
            f"{self.name}@{max(self.lanes.values())}",
            self.published,
            at_most=several,
            example=self.name,
            options={"unroll": dict(self.lanes)},
        )
        return BenchRow(self.name, self.published, at_most=alone), lanes


KERNELS = (
    _Kernel("gemm", {"k": 8}, 9281, 2684, 1656, 9, 2834, 51),
    _Kernel("2mm", {"k": 8}, 15595, 3718, 2686, 12),
    _Kernel("3mm", {"row": 8, "column": 8}, 17518, 5043, 3305, 9, 6578, 72),
    _Kernel("atax", {"j": 8}, 2278, 715, 531, 6, 333, 48),
    _Kernel("bicg", {"j": 8}, 1088, 218, None, None, 525, 48),
    _Kernel("mvt", {"row": 8, "column": 8}, 1869, 597, 421, None, 530, 48),
    _Kernel(
        "gemver", {"update": 8, "column": 8, "add": 8, "row": 8}, 3730, 1105, 789, 18, 1004, 144
    ),
    _Kernel("gesummv", {"j": 8}, 2233, 532, 512, None, 138, 54),
    _Kernel("doitgen", {"s": 8}, 49556, 14545, 10107, None, 4818, 24),
    _Kernel("syrk", {"k": 8}, 12094, 2631, 1191, None, 3673, 153),
    _Kernel("syr2k", {"k": 4}, 17203, 3712, 2368, None, 1664, 54),
    _Kernel("symm", {"j": 3}, 6998, 2033, None, None, 3714, 72),
    _Kernel("trmm", {"j": 4}, 3828, 1553, None, None, 2370, 6),
    _Kernel("trisolv", {"j": 2}, 357, 377, None, None, 241, 21),
    _Kernel("lu", {"k": 8}, 2652, 1817, None, 3),
    _Kernel("ludcmp", {"k": 4}, 3566, 1603),
    _Kernel("cholesky", {"update": 4}, 2219, 1049, has_roots=True),
    _Kernel("durbin", {"i": 4}, 815, 366, None, None, 327, 66),
    _Kernel(
        "gramschmidt", {"square": 8, "project": 8, "subtract": 8}, 18646, 8605, 3205, has_roots=True
    ),
)

IN_FLOAT = {"uint32_t": "float"}
"""Macros with which a kernel computes in floating point."""

ROWS = tuple(row for kernel in KERNELS for row in kernel.rows())

_WHAT = Column("lanes", "lanes")

SECTIONS = (
    Section("Cycles", (
        _WHAT,
        Column("cycles", "cycles"),
        Column("float_cycles", "in float"),
        Column("calyx_cycles", "Calyx", of_document=True),
        Column("hls_cycles", "Vivado HLS", of_document=True),
        Column("unrolled_cycles", "unrolled", of_document=True),
        Column("bambu_cycles", "Bambu", of_document=True),
        Column("floor", "floor"),
        Column("floor_kind", "what rules"),
    )),
    Section("Multipliers (MULT18X18D), and the product with cycles", (
        _WHAT,
        Column("dsp", "DSP"),
        Column("hls_dsp", "Vivado HLS", of_document=True),
        Column("bambu_dsp", "Bambu", of_document=True),
        Column("dsp_cycles", "DSP x cycles"),
        Column("bambu_dsp_cycles", "Bambu", of_document=True),
    )),
    Section("Area and clock on ECP5, area on Xilinx's series 7", (
        _WHAT,
        Column("lut", "LUT"),
        Column("ff", "FF"),
        Column("bram", "RAM"),
        Column("fmax_mhz", "MHz"),
        Column("xilinx_lut", "LUT"),
        Column("xilinx_ff", "FF"),
        Column("xilinx_dsp", "DSP"),
        Column("xilinx_bram", "RAM"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify a row on random data, and synthesise it for two families.

    The clock of a row of one lane is the median of all seeds; wide circuits are placed once.
    """
    design, proven, cycles = proven_on_chip(row, path, settings)
    failures = proven.failures
    lanes: Mapping[str, int] = row.options.get("unroll", {})
    figures: dict[str, Any] = {
        "unroll": max(lanes.values(), default=1),
        "lanes": ", ".join(f"{loop}={count}" for loop, count in lanes.items()) or "1",
        **cycles,
        **floor_figures(design, proven.cycles),
    }
    if not lanes and not next(kernel for kernel in KERNELS if kernel.name == row.file).has_roots:
        in_float = compile_design(path, replace(design.options, defines=IN_FLOAT))
        of_floats = in_float.verify(simulator=settings.simulator)
        figures["float_cycles"] = of_floats.cycles
        failures += of_floats.failures
    if settings.synthesis:
        figures |= _area(design, settings.seeds[:1] if lanes else settings.seeds)
        figures["dsp_cycles"] = figures["dsp"] * proven.cycles
    return RowResult(row, figures, failures)


def _area(design: Design, seeds: Sequence[int]) -> dict[str, Any]:
    """Return area and clock on ECP5, and the area on Xilinx's series 7."""
    ecp5 = synthesise_design(design, seeds)
    xilinx = area_figures(synthesise_design(design, (), "xilinx"))
    return {
        **area_figures(ecp5),
        "device": ecp5.device,
        **{f"xilinx_{name}": xilinx[name] for name in ("lut", "ff", "dsp", "bram")},
    }


def overall(results: Sequence[RowResult]) -> Overall:
    """Return the geometric mean of cycles over floor."""
    mean = mean_times_floor([result.figures for result in results])
    text = f"geometric mean of cycles / floor: {mean:.3f}"
    return Overall({"mean_times_floor": round(mean, 4)}, text)


HLS19 = BenchTable(
    "hls19",
    "Nineteen kernels of linear algebra beside high-level synthesis",
    ROWS,
    measure,
    SECTIONS,
    kernels=Path("benchmarks/hls19"),
    overall=overall,
)
