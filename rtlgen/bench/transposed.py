"""Rows of the PLUTO example with its array off chip, beside those of a published machine.

The machine has a memory of 8 cycles an access, one access at a time, words of 64 bits and elements
of 8. What it takes for 1024 x 1024 elements is published, in one thread and in several.

Reference: THREAD, table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rtlgen.bench.table import BenchRow, BenchSettings, Column, RowResult
from rtlgen.bench.tile_figures import measure_tiles
from rtlgen.options import EVERY_ARRAY
from rtlgen.verify.equivalence import DRAM_MOST_OFF_PERCENT

BEST_CYCLES = 24_555_284
"""Of the published machine: 8 threads, C, with tile buffers."""

SIZE = 1024


def transposed_row(
    name: str,
    published: Mapping[str, Any],
    most_cycles: int | None = None,
    memory: str = "fixed:8",
    **options: Any,
) -> BenchRow:
    """Return a row: what is asked for, and the cycles to reach, for 1024 x 1024 elements."""
    most = {} if most_cycles is None else {"cycles": most_cycles}
    if memory.startswith("dram"):
        most["off_by_percent"] = DRAM_MOST_OFF_PERCENT
    return BenchRow(
        f"transposed@{name}",
        dict(published),
        at_most=most,
        example="transposed",
        defines={"N": str(SIZE), "ELEMENT": "uint8_t"},
        options={"memory": {EVERY_ARRAY: memory}, "bus_bits": 64, **options},
    )


COLUMNS = (
    Column("n", "N"),
    Column("memory", "memory"),
    Column("buffer", "buffer"),
    Column("tile", "tile"),
    Column("onchip_bytes", "bytes on chip"),
    Column("bus_words", "words"),
    Column("cycles", "cycles", published=True),
    Column("predicted_cycles", "predicted"),
    Column("off_by_percent", "off, %"),
    Column("times_faster", "times the best"),
    Column("lut", "LUT"),
    Column("ff", "FF", published=True),
    Column("bram", "RAM"),
    Column("fmax_mhz", "MHz"),
)


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Measure a row, beside how many times more cycles the published machine takes, at best."""
    found = measure_tiles(row, path, settings)
    times = round(BEST_CYCLES / found.figures["cycles"], 1)
    return replace(found, figures={**found.figures, "times_faster": times})
