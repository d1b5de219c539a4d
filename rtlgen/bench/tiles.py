"""The PLUTO example in tiles, in one thread and in rows, beside a published machine.

A row's `buffer` says what is kept on chip: `none`, each access is one to the memory; `tile`,
nothing from tile to tile; `window`, whatever the RAM on chip holds. Behind a DRAM `cycles` are
those of the slowest run with latencies by chance, and `off_by_percent` says how far such runs are
from the cycles predicted, at most.

Rows of the PLUTO example with its array off chip, beside those of a published machine.

The machine has a memory of 8 cycles an access, one access at a time, words of 64 bits and elements
of 8. What it takes for 1024 x 1024 elements is published, in one thread and in several.

Reference: THREAD, table 1.

The PLUTO example in tiles, in one thread: it already fills a memory of one access at a time.

Behind an AXI4 bus it is what takes longest: an iteration a cycle. What takes many for each word, as
a product of matrices does, takes fewer cycles in lanes: no fewer than the lanes have iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rtlgen.bench.measure import area_figures, synthesise_design
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section
from rtlgen.design import compile_design
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.verify.equivalence import DRAM_MOST_OFF_PERCENT


def measure_tiles(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify a row on random data, and synthesise it."""
    design = compile_design(path, CompileOptions(defines=dict(row.defines), **row.options))
    report = design.report()
    proven = design.verify(simulator=settings.simulator)
    side, tiles = report["off_chip"], report["tiles"]
    figures: dict[str, Any] = {
        "n": int(row.defines["N"]),
        "threads": report["workers"],
        "lanes": report["lanes"],
        "strategy": report["strategy"],
        "barrier": report["barrier"],
        "buffer": _kept(design.options),
        "tile": "x".join(map(str, tiles["sizes"])),
        "order": tiles["order"],
        "memory": f"{side['kind']}:{side['latency_cycles']}",
        "bus_bits": side["bus_bits"],
        "busiest": _busiest(report["units"]),
        "of_equal_share": round(proven.cycles / _equal_share(report["units"]), 3),
        "onchip_bytes": report["onchip_bytes"],
        "cycles": max(proven.dram_cycles, default=proven.cycles),
        "predicted_cycles": proven.predicted_cycles,
        "bus_words": report["words_moved"],
        "words_needed": report["words_needed"],
    }
    if proven.off_by_percent is not None:
        figures["off_by_percent"] = proven.off_by_percent
    if settings.synthesis:
        figures |= area_figures(synthesise_design(design, settings.seeds))
    return RowResult(row, figures, proven.failures)


def _busiest(units: Sequence[Mapping[str, Any]]) -> float:
    """Return the tiles of the busiest worker against an equal share, in the longest unit."""
    longest = max(units, key=lambda unit: unit["kernel_cycles"])
    return float(longest["workers"]["busiest"])


def _equal_share(units: Sequence[Mapping[str, Any]]) -> float:
    """Return the cycles in which the tiles of each worker would follow each other without a wait.

    What a run takes more is what the busiest worker has more, and what it waits for.
    """
    found = 0.0
    for unit in units:
        # Of the tiles of workers, some are without work.
        tiles = unit["workers"]["tiles"]
        found += unit["issue_cycles"] * unit["tiles"]["count"] / len(tiles)
    return found


def _kept(options: CompileOptions) -> str:
    """Return what is kept on chip."""
    if options.buffer:
        return "window"
    return "tile" if options.tile else "none"


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
