"""Loop fusion by flattening: iterations and cycles, fused and not, beside those of MF3.

Reference
---------
MF3 tables 1 (iterations and cycles; area and power of the fused circuit against the unfused one),
2 (which kernels OLS and MF3 bring into one perfect nest) and 3 (nests of different trip counts).
"""

from __future__ import annotations

from pathlib import Path

from rtlgen.bench.measure import measure_kernel
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult
from rtlgen.flow.synth import DEFAULT_SEEDS

# The published totals of gemver count its four statements with 64 iterations each.
ROWS = (
    BenchRow(
        "mms",
        published={
            "statements_total": 1024,
            "fused_iterations": 519,
            "rtl_cycles": 2658,
            "unfused_cycles": 3135,
            "ols": "works",
            "mf3": "works",
            "area_increase_percent": 4.8,
            "power_increase_percent": 6.1,
        },
        at_most={"fused_iterations": 519, "rtl_cycles": 545},
    ),
    BenchRow(
        "mms_d",
        published={
            "statements_total": 1656,
            "fused_iterations": 890,
            "rtl_cycles": 5024,
            "unfused_cycles": 5663,
            "area_increase_percent": 30.0,
            "power_increase_percent": 25.0,
        },
        at_most={"fused_iterations": 890, "rtl_cycles": 915},
    ),
    BenchRow(
        "gemm",
        published={"ols": "not needed", "mf3": "works"},
        at_most={"fused_iterations": 512, "rtl_cycles": 562},
    ),
    BenchRow(
        "2mm",
        published={"ols": "fails", "mf3": "works"},
        at_most={"fused_iterations": 519, "rtl_cycles": 569},
    ),
    BenchRow(
        "3mm",
        published={"ols": "fails", "mf3": "works"},
        at_most={"fused_iterations": 568, "rtl_cycles": 618},
    ),
    BenchRow(
        "atax",
        published={"ols": "fails", "mf3": "works"},
        at_most={"fused_iterations": 71, "rtl_cycles": 121},
    ),
    BenchRow(
        "bicg",
        published={"ols": "fails", "mf3": "works"},
        at_most={"fused_iterations": 64, "rtl_cycles": 114},
    ),
    BenchRow(
        "mvt",
        published={"ols": "not needed", "mf3": "works"},
        at_most={"fused_iterations": 64, "rtl_cycles": 114},
    ),
    BenchRow(
        "gemver",
        published={
            "statements_total": 256,
            "fused_iterations": 71,
            "rtl_cycles": 2173,
            "unfused_cycles": 2143,
            "ols": "works",
            "mf3": "works",
            "area_increase_percent": 10.7,
            "power_increase_percent": 17.5,
        },
        at_most={"fused_iterations": 71, "rtl_cycles": 120},
    ),
    BenchRow(
        "gesummv",
        published={"ols": "not needed", "mf3": "works"},
        at_most={"fused_iterations": 64, "rtl_cycles": 114},
    ),
)

COLUMNS = (
    Column("statements_total", "one by one"),
    Column("floor", "floor"),
    Column("fused_iterations", "fused", published=True),
    Column("rtl_cycles", "cycles", published=True),
    Column("unfused_cycles", "unfused", published=True),
    Column("lut", "LUT"),
    Column("ff", "FF"),
    Column("dsp", "DSP"),
    Column("bram", "RAM"),
    Column("fmax_mhz", "MHz"),
    Column("ols", "OLS"),
)


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Measure one kernel, and judge OLS on it."""
    seeds = DEFAULT_SEEDS if settings.synthesis else None
    measured = measure_kernel(path, simulator=settings.simulator, seeds=seeds)
    return RowResult(row, measured.figures(), measured.failures)


MF3 = BenchTable(
    "mf3",
    "Loop fusion by loop flattening (MF3): iterations, cycles, area on ECP5",
    ROWS,
    measure,
    COLUMNS,
)
