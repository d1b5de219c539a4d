"""Loop fusion by loop flattening: iterations and cycles, fused and not, beside those of MF3.

Reference
---------
MF3 tables 1 (iterations and cycles; area and power of the fused circuit against the unfused one),
2 (which kernels OLS and MF3 bring into one perfect nest) and 3 (nests of different trip counts).
"""

from __future__ import annotations

from pathlib import Path

from rtlgen.bench.measure import measure_kernel
from rtlgen.bench.mf3_rows import AT_8, AT_32
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section

ROWS = AT_8 + AT_32

_COMPARED = (
    Column("statements_total", "one by one", published=True),
    Column("fused_iterations", "fused", published=True),
    Column("rtl_cycles", "cycles", published=True),
    Column("unfused_cycles", "unfused cycles", published=True),
    Column("area_increase_percent", "LUT + FF more, %", published=True),
)
_AREA = (
    Column("lut", "LUT"),
    Column("ff", "FF"),
    Column("dsp", "DSP"),
    Column("bram", "RAM"),
    Column("fmax_mhz", "MHz"),
)

_ITERATIONS = (
    Column("statements_total", "one by one"),
    Column("floor", "floor"),
    Column("ols_iterations", "OLS"),
    Column("fused_iterations", "fused"),
    Column("gap", "gap"),
    Column("unfused_cycles", "cycles unfused"),
    Column("ols_cycles", "OLS"),
    Column("rtl_cycles", "MF3"),
)


def _names(rows: tuple[BenchRow, ...]) -> tuple[str, ...]:
    return tuple(row.kernel for row in rows)


SECTIONS = (
    Section("Table 1 of MF3: fused circuits beside unfused ones", _COMPARED,
            ("mms", "gemver", "tce")),
    Section("Table 2 of MF3: in one perfect nest", (
        Column("ols_verdict", "by OLS", published=True, published_as="ols"),
        Column("mf3", "by flattening", published=True),
        Column("ols_restriction", "what OLS lacks"),
    ), _names(AT_8)),
    Section("Table 3 of MF3: nests of different trip counts", _COMPARED, ("mms_d",)),
    Section("Every kernel: no fusion, OLS + MFF, MF3; area and clock of the last on ECP5",
            (*_ITERATIONS, *_AREA), _names(AT_8)),
    Section("Once more at 32", (*_ITERATIONS, *_AREA), _names(AT_32)),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Measure one kernel without fusion, with OLS and with MF3.

    The clock of a row that is compared with a published one is the median of all seeds; those of
    the others only tell a slow circuit from a fast one, for which one seed is enough.
    """
    compared = "area_increase_percent" in row.published
    seeds = settings.seeds if compared else settings.seeds[:1]
    measured = measure_kernel(
        path,
        defines=row.defines,
        simulator=settings.simulator,
        seeds=seeds if settings.synthesis else None,
        unfused_area=compared,
    )
    return RowResult(row, measured.figures(), measured.failures)


MF3 = BenchTable("mf3", "Loop fusion by loop flattening (MF3)", ROWS, measure, SECTIONS)
