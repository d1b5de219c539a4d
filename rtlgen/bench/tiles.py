"""The PLUTO example in tiles, in one thread: it already fills a memory of one access at a time.

Behind an AXI4 bus it is what takes longest: an iteration a cycle. What takes many for each word, as
a product of matrices does, takes fewer cycles in lanes: no fewer than the lanes have iterations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section
from rtlgen.bench.tile_figures import measure_tiles
from rtlgen.bench.transposed import BEST_CYCLES, COLUMNS, measure, transposed_row
from rtlgen.options import EVERY_ARRAY

PUBLISHED = {"sequential_cycles": 77_522_948, "best_cycles": BEST_CYCLES}


def _row(name: str, most_cycles: int, **options: Any) -> BenchRow:
    return transposed_row(name, PUBLISHED, most_cycles, **options)


ROWS = (
    _row("none", 25_500_000, buffer=False),
    _row("tile", 5_050_000, buffer=False, tile=(8, 8)),
    _row("1KiB", 2_140_000, max_bram_kib=1),
    _row("6KiB", 2_010_000, max_bram_kib=6),
    _row("24KiB", 1_610_000, tile=(8, 8), max_bram_kib=24),
    _row("axi:10", 1_060_000, memory="axi:10", tile=(8, 8), max_bram_kib=24),
    _row("axi:50", 1_060_000, memory="axi:50", tile=(8, 8), max_bram_kib=24),
)

PRODUCT_SIZE = 512


def _product(lanes: int) -> BenchRow:
    """Return the row of a product of matrices in lanes, with 64 KiB on chip."""
    least = PRODUCT_SIZE**3 // lanes
    return BenchRow(
        f"gemm@{lanes}-lanes",
        at_most={"cycles": least + least // 50},
        example="gemm",
        defines={"N": str(PRODUCT_SIZE)},
        options={
            "memory": {EVERY_ARRAY: "axi:10"},
            "max_bram_kib": 64,
            "unroll": {"j": lanes},
        },
    )


def _skewed(lanes: int, most_cycles: int, kib: int, **options: Any) -> BenchRow:
    """Return the row of PLUTO's example in lanes behind each other, a byte of a word each."""
    return _row(
        f"{lanes}-lanes",
        most_cycles,
        memory="axi:50",
        bus_bits=8 * lanes,
        max_bram_kib=kib,
        unroll={"i": lanes},
        **options,
    )


SKEWED_ROWS = (
    _skewed(8, 146_000, 24),
    _skewed(16, 71_000, 192),
    _skewed(32, 37_000, 192),
    _skewed(64, 20_000, 192, tile=(64, 128)),
)

LANE_ROWS = (_product(8), _product(16), *SKEWED_ROWS)

SECTIONS = (
    Section("One thread", COLUMNS, tuple(row.kernel for row in ROWS)),
    Section("Lanes", (Column("lanes", "lanes"), *COLUMNS), tuple(r.kernel for r in LANE_ROWS)),
)


def _measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    of_pluto = (*ROWS, *SKEWED_ROWS)
    return (measure if row in of_pluto else measure_tiles)(row, path, settings)


TILES = BenchTable(
    "tiles",
    "Arrays off chip: PLUTO's example of 1024 x 1024 bytes, a product of matrices in lanes",
    (*ROWS, *LANE_ROWS),
    _measure,
    SECTIONS,
)
