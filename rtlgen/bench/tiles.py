"""The PLUTO example in tiles, in one thread: it already fills a memory of one access at a time.

Behind an AXI4 bus it is what takes longest: an iteration a cycle.
"""

from __future__ import annotations

from typing import Any

from rtlgen.bench.table import BenchRow, BenchTable, Section
from rtlgen.bench.transposed import BEST_CYCLES, COLUMNS, measure, transposed_row

PUBLISHED = {"sequential_cycles": 77_522_948, "best_cycles": BEST_CYCLES}

SMALL = 256
"""Size of the row without a buffer, a tile an iteration, whose target shrinks with it."""


def _row(name: str, most_cycles: int, **options: Any) -> BenchRow:
    return transposed_row(name, PUBLISHED, most_cycles, **options)


ROWS = (
    _row("none", 25_500_000, size=SMALL, buffer=False),
    _row("tile", 5_050_000, buffer=False, tile=(8, 8)),
    _row("1KiB", 2_140_000, max_bram_kib=1),
    _row("6KiB", 2_010_000, max_bram_kib=6),
    _row("24KiB", 1_610_000, tile=(8, 8), max_bram_kib=24),
    _row("axi:10", 1_060_000, memory="axi:10", tile=(8, 8), max_bram_kib=24),
    _row("axi:50", 1_060_000, memory="axi:50", tile=(8, 8), max_bram_kib=24),
)

SECTIONS = (Section("One thread", COLUMNS),)

TILES = BenchTable(
    "tiles", "PLUTO's example, 1024 x 1024 bytes off chip, in tiles", ROWS, measure, SECTIONS
)
