"""The PLUTO example with its tiles shared by several threads, beside a published machine.

Of that machine every cell is known: 2, 4 and 8 threads by F and by C, without a buffer and with
buffers of a tile. A memory that serves one access at a time is filled by one thread here, so that
more of them gain nothing; behind an AXI4 bus they do. A DRAM has one data bus and takes four cycles
more for each burst: fewer and longer bursts count, and they take RAM. Where it is the kernel that
takes the cycles, as in a polynomial for each element, threads gain what their policy's balance
allows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section
from rtlgen.bench.tiles import COLUMNS, SIZE, measure, measure_tiles, transposed_row
from rtlgen.options import EVERY_ARRAY, Policy

CYCLES = {
    ("none", "F"): {2: 67_302_548, 4: 67_568_752, 8: 68_049_908},
    ("none", "C"): {2: 67_299_032, 4: 67_648_690, 8: 68_113_172},
    ("tile", "F"): {2: 48_174_684, 4: 28_466_662, 8: 28_172_574},
    ("tile", "C"): {2: 48_171_344, 4: 27_245_394, 8: 24_555_284},
}
"""Published, of 1024 x 1024 elements, by what is kept on chip, policy and threads."""

FLIP_FLOPS = {
    ("none", "F"): {2: 4_176, 4: 6_858, 8: 12_222},
    ("none", "C"): {2: 4_207, 4: 6_889, 8: 12_253},
    ("tile", "F"): {2: 6_136, 4: 10_778, 8: 20_062},
    ("tile", "C"): {2: 6_169, 4: 10_811, 8: 20_095},
}
"""Published, of the whole circuit."""

ONE_THREAD = {"cycles": 77_522_948, "ff": 1_582}


def _published(buffer: str, policy: Policy, threads: int) -> dict[str, int]:
    if threads == 1:
        return ONE_THREAD
    key = buffer, policy
    return {"cycles": CYCLES[key][threads], "ff": FLIP_FLOPS[key][threads]}


def _row(buffer: str, policy: Policy, threads: int) -> BenchRow:
    """Return the row beside a published cell: all threads meet after each wave."""
    options: dict[str, Any] = {"threads": threads, "strategy": policy, "barrier": threads > 1}
    name = f"{buffer}-{policy}-{threads}"
    published = _published(buffer, policy, threads)
    if buffer == "none":
        return transposed_row(name, published, buffer=False, **options)
    most = 5_050_000 if (policy, threads) == ("C", 8) else None
    return transposed_row(name, published, most, buffer=False, tile=(8, 8), **options)


def _cyclic(memory: str, threads: int, most: int | None = None, **options: Any) -> BenchRow:
    """Return a row in which threads wait only for what they need, but for a barrier."""
    buffer = "" if options.get("buffer", True) else "-tile"
    name = f"{memory}{buffer}-cyclic-{threads}{'-barrier' if options.get('barrier') else ''}"
    return transposed_row(name, {}, most, memory=memory, threads=threads, **options)


THREADS_OF = (1, 2, 4, 8)

ROWS = (
    *(_row("none", policy, n) for policy in ("F", "C") for n in THREADS_OF[policy == "C" :]),
    *(_row("tile", policy, n) for policy in ("F", "C") for n in THREADS_OF[policy == "C" :]),
    _cyclic("fixed:8", 1, 1_610_000),
    *(_cyclic("fixed:8", n, tile=(16, 16), max_bram_kib=192) for n in THREADS_OF[1:]),
    _cyclic("axi:50", 1, tile=(8, 32)),
    *(_cyclic("axi:50", n, 146_000 if n == 8 else None, tile=(8, 8)) for n in THREADS_OF[1:]),
    _cyclic("axi:50", 8, 430_000, tile=(32, 32), max_bram_kib=192, barrier=True),
    _cyclic("axi:50", 8, 430_000, tile=(32, 32), max_bram_kib=192, buffer=False),
)


def _in_lanes(kib: int, most_cycles: int) -> BenchRow:
    """Return a row in one thread and eight lanes, in tiles that the compiler chooses."""
    return transposed_row(
        f"dram-8-lanes-{kib}KiB",
        {},
        most_cycles,
        memory="dram",
        max_bram_kib=kib,
        unroll={"i": 8},
    )


DRAM_ROWS = (
    *(_cyclic("dram", n, tile=(32, 32), max_bram_kib=192) for n in THREADS_OF),
    _in_lanes(24, 400_000),
    _in_lanes(192, 310_000),
)

ONE_THREAD_HORNER = 50_331_787
"""Cycles of the polynomials in one thread."""


def _horner(threads: int, policy: Policy = "cyclic", least_times: float | None = None) -> BenchRow:
    """Return a row of the polynomials; F and C with a barrier.

    Parameters
    ----------
    least_times: how much faster it is to be than one thread.
    """
    limit = {} if least_times is None else {"cycles": int(ONE_THREAD_HORNER / least_times)}
    return BenchRow(
        f"horner@axi:50-{policy}-{threads}",
        at_most=limit,
        example="horner",
        defines={"N": str(SIZE)},
        options={
            "memory": {EVERY_ARRAY: "axi:50"},
            "bus_bits": 256,
            "tile": (8, 8, 16),
            "threads": threads,
            "strategy": policy,
            "barrier": threads > 1 and policy != "cyclic",
        },
    )


KERNEL_ROWS = (
    _horner(1, least_times=1.0),
    _horner(8, "cyclic", 7.0),
    _horner(8, "C", 6.8),
    _horner(8, "F"),
)

SHARED = (
    Column("threads", "threads"),
    Column("strategy", "strategy"),
    Column("busiest", "busiest, of an equal share"),
    Column("of_equal_share", "measured"),
)

SECTIONS = (
    Section("Several threads", (*SHARED, *COLUMNS), tuple(row.kernel for row in ROWS)),
    Section(
        "Behind a DRAM",
        (Column("threads", "threads"), Column("lanes", "lanes"), *COLUMNS),
        tuple(row.kernel for row in DRAM_ROWS),
    ),
    Section(
        "Where the kernel takes the cycles",
        (*SHARED, *COLUMNS),
        tuple(row.kernel for row in KERNEL_ROWS),
    ),
)


def _measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    return (measure_tiles if row in KERNEL_ROWS else measure)(row, path, settings)


THREADS = BenchTable(
    "threads",
    "Tiles shared by threads: PLUTO's example off chip, and polynomials of its elements",
    (*ROWS, *DRAM_ROWS, *KERNEL_ROWS),
    _measure,
    SECTIONS,
)
