"""Loop fusion by loop flattening: iterations and cycles, fused and not, beside those of MF3.

The kernels of MF3's tables: what is published of each, and what is to be reached.

Reference
---------
MF3 tables 1 (iterations and cycles; area and power of the fused circuit against the unfused one),
2 (which kernels OLS and MF3 bring into one perfect nest) and 3 (nests of different trip counts).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rtlgen.bench.measure import measure_kernel
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section

MOST_CYCLES_OVER_FUSED = 50
"""What pipeline depths, start and done may add to the fused iterations."""


def _row(
    kernel: str,
    fused: int,
    ols: str | None = None,
    mf3: str | None = "works",
    cycles: int | None = None,
    more: Mapping[str, object] | None = None,
) -> BenchRow:
    """Return a row: the iterations to reach, the cycles to reach, and what table 2 says."""
    verdicts = {} if ols is None else {"ols": ols, "mf3": mf3}
    published = {**(more or {}), **verdicts}
    return BenchRow(kernel, published, at_most=_targets(fused, cycles))


def _targets(fused: int, cycles: int | None) -> dict[str, int]:
    most = fused + MOST_CYCLES_OVER_FUSED if cycles is None else cycles
    return {"fused_iterations": fused, "rtl_cycles": most}


def _published(
    total: int, fused: int, cycles: int, unfused: int, area: float, power: float
) -> dict[str, object]:
    """Return a row of the document's tables 1 and 3."""
    return {
        "statements_total": total,
        "fused_iterations": fused,
        "rtl_cycles": cycles,
        "unfused_cycles": unfused,
        "area_increase_percent": area,
        "power_increase_percent": power,
    }


# The published totals of gemver count its four statements with 64 iterations each.
AT_8 = (
    _row("mms", 519, "works", cycles=545, more=_published(1024, 519, 2658, 3135, 4.8, 6.1)),
    _row(
        "tce", 33279, "works", cycles=33340,
        more=_published(131072, 36856, 266213, 380927, 16.2, 23.3),
    ),
    _row("dct", 4145, "fails"),
    _row("aes", 707, "works"),
    _row("vgg", 58146, "fails", cycles=58400),
    _row("2mm", 519, "fails"),
    _row("2mm_d", 874, "fails"),
    _row("3mm", 568, "fails"),
    _row("3mm_d", 1087, "fails"),
    _row("atax", 71, "fails"),
    _row("bicg", 64, "fails"),
    _row("doitgen", 4096, "fails"),
    _row("doitgen_d", 8712, "fails"),
    _row("mvt", 64, "not needed"),
    _row("gemm", 512, "not needed"),
    _row("gemver", 71, "works", cycles=120, more=_published(256, 71, 2173, 2143, 10.7, 17.5)),
    _row("gemver_opt", 71, "works"),
    _row("gesummv", 64, "not needed"),
    _row("symm", 232, "fails", "fails", cycles=300),
    _row("syrk", 288, "not needed"),
    _row("syr2k", 288, "not needed"),
    _row("trmm", 225, "not needed", cycles=236),
    _row("mms_d", 890, cycles=915, more=_published(1656, 890, 5024, 5663, 30.0, 25.0)),
)  # fmt: skip


def _at_32(kernel: str, fused: int, cycles: int | None = None, defines: str = "N=32") -> BenchRow:
    """Return the row of a kernel at 32: the same program compiled with other macros."""
    pairs = (definition.split("=") for definition in defines.split())
    return BenchRow(
        f"{kernel}@32",
        at_most=_targets(fused, cycles),
        example=kernel,
        defines={name: value for name, value in pairs},
    )


# Sizes that differ grow with the others, by four. tce would run for 34 million cycles.
AT_32 = (
    _at_32("mms", 32799),
    _at_32("dct", 16433, defines="BLOCKS=32"),
    _at_32("aes", 5635, defines="BLOCKS=32"),
    _at_32("2mm", 32799),
    _at_32("2mm_d", 55339, defines="NI=32 NJ=36 NK=44 NL=48"),
    _at_32("3mm", 33760),
    _at_32("3mm_d", 69151, defines="NI=32 NJ=36 NK=44 NL=48 NM=40"),
    _at_32("atax", 1055),
    _at_32("bicg", 1024),
    _at_32("doitgen", 1048576),
    _at_32("doitgen_d", 2230272, defines="NR=32 NQ=36 NP=44"),
    _at_32("mvt", 1024),
    _at_32("gemm", 32768),
    _at_32("gemver", 1055),
    _at_32("gemver_opt", 1055),
    _at_32("gesummv", 1024),
    _at_32("symm", 15904, cycles=16910),
    _at_32("syrk", 16896),
    _at_32("syr2k", 16896),
    _at_32("trmm", 15873),
    _at_32("mms_d", 55619, defines="NI=32 NJ=36 NK=44 NL=48"),
)


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
