"""The figures of a program with its arrays off chip: what is moved, kept on chip, and the cycles.

A row's `buffer` says what is kept on chip: `none`, each access is one to the memory; `tile`,
nothing from tile to tile; `window`, whatever the RAM on chip holds. Behind a DRAM `cycles` are
those of the slowest run with latencies by chance, and `off_by_percent` says how far such runs are
from the cycles predicted, at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtlgen.bench.measure import synthesise_design
from rtlgen.bench.table import BenchRow, BenchSettings, RowResult
from rtlgen.design import compile_design
from rtlgen.options import CompileOptions


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
        area = synthesise_design(design, settings.seeds)
        fmax = None if area.fmax_mhz is None else round(area.fmax_mhz, 1)
        figures |= {"lut": area.lut, "ff": area.ff, "bram": area.block_ram, "fmax_mhz": fmax}
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
