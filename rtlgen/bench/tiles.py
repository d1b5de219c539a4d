"""The PLUTO example with its array off chip: cycles beside those of a published machine.

The machine has a memory of 8 cycles an access, one access at a time, words of 64 bits and elements
of 8. What it takes without tiles, one iteration after another, and at best, with tile buffers and
several threads, is published for 1024 x 1024 elements. Here there is one thread: it already fills
that bus. Behind an AXI4 bus it is what takes longest: an iteration a cycle.

A row's `buffer` says what is kept on chip: `none`, each access is one to the memory; `tile`,
nothing from tile to tile; `window`, whatever the RAM on chip holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rtlgen.bench.measure import synthesise_design
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section
from rtlgen.design import compile_design
from rtlgen.options import EVERY_ARRAY, CompileOptions

PUBLISHED = {"sequential_cycles": 77_522_948, "best_cycles": 24_555_284}

SIZE = 1024

SMALL = 256
"""Size of the row without a buffer, a tile an iteration, whose target shrinks with it."""


def _row(
    name: str, most_cycles: int, size: int = SIZE, memory: str = "fixed:8", **options: Any
) -> BenchRow:
    """Return a row: what is asked for, and the cycles to reach."""
    return BenchRow(
        f"transposed@{name}",
        PUBLISHED,
        at_most={"cycles": most_cycles * size**2 // SIZE**2},
        example="transposed",
        defines={"N": str(size), "ELEMENT": "uint8_t"},
        options={"memory": {EVERY_ARRAY: memory}, "bus_bits": 64, **options},
    )


ROWS = (
    _row("none", 25_500_000, SMALL, buffer=False),
    _row("tile", 5_050_000, buffer=False, tile=(8, 8)),
    _row("1KiB", 2_140_000, max_bram_kib=1),
    _row("6KiB", 2_010_000, max_bram_kib=6),
    _row("24KiB", 1_610_000, tile=(8, 8), max_bram_kib=24),
    _row("axi:10", 1_060_000, memory="axi:10", tile=(8, 8), max_bram_kib=24),
    _row("axi:50", 1_060_000, memory="axi:50", tile=(8, 8), max_bram_kib=24),
)

SECTIONS = (
    Section("One thread", (
        Column("n", "N"),
        Column("memory", "memory"),
        Column("buffer", "buffer"),
        Column("tile", "tile"),
        Column("onchip_bytes", "bytes on chip"),
        Column("bus_words", "words"),
        Column("cycles", "cycles"),
        Column("predicted_cycles", "predicted"),
        Column("times_faster", "times the best"),
        Column("lut", "LUT"),
        Column("ff", "FF"),
        Column("bram", "RAM"),
        Column("fmax_mhz", "MHz"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify a row on random data, and synthesise it."""
    design = compile_design(path, CompileOptions(defines=dict(row.defines), **row.options))
    report = design.report()
    proven = design.verify(simulator=settings.simulator)
    side, tiles = report["off_chip"], report["tiles"]
    figures: dict[str, Any] = {
        "n": int(row.defines["N"]),
        "threads": report["workers"],
        "lanes": report["lanes"],
        "strategy": None,
        "buffer": _kept(design.options),
        "tile": _sizes_text(tiles["sizes"]),
        "order": tiles["order"],
        "memory": f"{side['kind']}:{side['latency_cycles']}",
        "bus_bits": side["bus_bits"],
        "onchip_bytes": report["onchip_bytes"],
        "cycles": proven.cycles,
        "predicted_cycles": proven.predicted_cycles,
        "bus_words": report["words_moved"],
        "words_needed": report["words_needed"],
        "times_faster": _times_faster(int(row.defines["N"]), proven.cycles),
    }
    if settings.synthesis:
        area = synthesise_design(design, settings.seeds)
        fmax = None if area.fmax_mhz is None else round(area.fmax_mhz, 1)
        figures |= {"lut": area.lut, "ff": area.ff, "bram": area.block_ram, "fmax_mhz": fmax}
    return RowResult(row, figures, proven.failures)


def _times_faster(size: int, cycles: int) -> float:
    """Return how many times more cycles the published machine takes for an element, at best."""
    return round(PUBLISHED["best_cycles"] / SIZE**2 / (cycles / size**2), 1)


def _kept(options: CompileOptions) -> str:
    """Return what is kept on chip."""
    if options.buffer:
        return "window"
    return "tile" if options.tile else "none"


def _sizes_text(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


TILES = BenchTable(
    "tiles", "PLUTO's example, 1024 x 1024 bytes off chip, in tiles", ROWS, measure, SECTIONS
)
