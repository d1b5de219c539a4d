"""Rows of the PLUTO example with its array off chip, beside those of a published machine.

The machine has a memory of 8 cycles an access, one access at a time, words of 64 bits and elements
of 8. What it takes for 1024 x 1024 elements is published, in one thread and in several.

A row's `buffer` says what is kept on chip: `none`, each access is one to the memory; `tile`,
nothing from tile to tile; `window`, whatever the RAM on chip holds.

Reference: THREAD, table 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtlgen.bench.measure import synthesise_design
from rtlgen.bench.table import BenchRow, BenchSettings, Column, RowResult
from rtlgen.design import compile_design
from rtlgen.options import EVERY_ARRAY, CompileOptions

BEST_CYCLES = 24_555_284
"""Of the published machine: 8 threads, C, with tile buffers."""

SIZE = 1024


def transposed_row(
    name: str,
    published: Mapping[str, Any],
    most_cycles: int | None = None,
    size: int = SIZE,
    memory: str = "fixed:8",
    **options: Any,
) -> BenchRow:
    """Return a row: what is asked for, and the cycles to reach, for 1024 x 1024 elements."""
    most = {} if most_cycles is None else {"cycles": most_cycles * size**2 // SIZE**2}
    return BenchRow(
        f"transposed@{name}",
        dict(published),
        at_most=most,
        example="transposed",
        defines={"N": str(size), "ELEMENT": "uint8_t"},
        options={"memory": {EVERY_ARRAY: memory}, "bus_bits": 64, **options},
    )


COLUMNS = (
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
)


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
        "strategy": report["strategy"],
        "barrier": report["barrier"],
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
    return round(BEST_CYCLES / SIZE**2 / (cycles / size**2), 1)


def _kept(options: CompileOptions) -> str:
    """Return what is kept on chip."""
    if options.buffer:
        return "window"
    return "tile" if options.tile else "none"


def _sizes_text(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))
