"""Stencils of PolyBench in integers, in three forms, beside published cycles.

PLUTO in front of a high-level synthesis tool made most of these slower: it skews the loops, and the
tool flattens none of the nests that come out.

| form | is |
|---|---|
| plain | the C program, in the loops that the compiler chooses when it is asked for nothing |
| skewed | the loops that PLUTO chooses, along wavefronts where it skews in place |
| cascaded | `CASCADE` steps of the time loop side by side, each behind the one before |

Reference
---------
Sizes are PolyBench's MINI; cycles of a high-level synthesis tool alone, and of the same behind
PLUTO, in double precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtlgen.bench.limit import elements_behind, floor_figures
from rtlgen.bench.measure import proven_on_chip
from rtlgen.bench.table import BenchRow, BenchSettings, BenchTable, Column, RowResult, Section
from rtlgen.design import Design
from rtlgen.ir.block_rams import block_ram_bits

CASCADE = 4
"""Steps of the time loop that run side by side."""

PUBLISHED: Mapping[str, tuple[str, int, int]] = {
    "jacobi_1d": ("T=20, N=30", 1_243, 19_842),
    "jacobi_2d": ("T=20, N=30", 95_181, 731_450),
    "heat_3d": ("T=20, N=10", 83_621, 530_457),
    "fdtd_2d": ("T=20, 20 x 30", 36_041, 546_269),
    "seidel_2d": ("T=20, N=40", 109_835, 1_837_652),
}
"""Size, and cycles alone and behind PLUTO."""

GRIDS: Mapping[str, tuple[int, int]] = {
    "jacobi_1d": (28, 1),
    "jacobi_2d": (28, 2),
    "heat_3d": (8, 3),
}
"""Extent and dimensions of what is computed from all neighbours, in two sweeps a step."""

STEPS = 20
"""Of the time loop, of all stencils."""

IN_PLACE = frozenset({"seidel_2d"})
"""Stencils whose sweep reads what it has just written, so that PLUTO's own loops wait for it."""


def _forms(name: str) -> dict[str, dict[str, Any]]:
    """Return the options of each form of a stencil."""
    skewed = {"wavefront": True} if name in IN_PLACE else {"scheduler": "pluto"}
    return {"plain": {}, "skewed": skewed, "cascaded": {"unroll": {"t": CASCADE}}}


def _rows(name: str) -> tuple[BenchRow, ...]:
    _, alone, behind_pluto = PUBLISHED[name]
    return tuple(
        BenchRow(
            f"{name}@{form}",
            {"hls_cycles": alone, "pluto_hls_cycles": behind_pluto},
            at_most={"cycles": alone},
            example=name,
            options=options,
        )
        for form, options in _forms(name).items()
    )


ROWS = tuple(row for name in PUBLISHED for row in _rows(name))

SECTIONS = (
    Section("Stencils in integers, at PolyBench's MINI sizes", (
        Column("size", "size"),
        Column("form", "form"),
        Column("instances", "instances"),
        Column("cycles", "cycles"),
        Column("hls_cycles", "HLS", of_document=True),
        Column("pluto_hls_cycles", "PLUTO, then HLS", of_document=True),
        Column("read_ports", "read ports"),
        Column("block_rams", "RAMs"),
        Column("floor", "floor"),
        Column("above_floor_percent", "above it, %"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify a stencil on random data."""
    design, proven, cycles = proven_on_chip(row, path, settings)
    figures = {
        "size": PUBLISHED[row.file][0],
        "form": row.kernel.partition("@")[2],
        "instances": sum(stream.instances for stream in design.plan.streams),
        **cycles,
        # Of the array that has the most: each reads all of it, from a copy of its own.
        "read_ports": max(m.read_ports for m in design.plan.memories if m.has_host_port),
        "block_rams": design.block_rams,
        "ram_kibit": round(block_ram_bits(design.plan) / 1024),
        **_floors(row, design, proven.cycles),
    }
    return RowResult(row, figures, proven.failures)


def _floors(row: BenchRow, design: Design, cycles: int) -> dict[str, Any]:
    """Return the floor of a design, where one follows from its grid that one if it is higher."""
    found = floor_figures(design, cycles)
    if row.file not in GRIDS:
        return found
    extent, dims = GRIDS[row.file]
    steps = row.options.get("unroll", {}).get("t", 1)
    elements = extent**dims * (STEPS // steps)
    pipeline = min(stream.depth_cycles for stream in design.plan.streams)
    floor = elements - 1 + elements_behind(extent, dims, 2 * steps) + pipeline
    if floor <= found["floor"]:
        return found
    above = round(100 * (cycles / floor - 1), 1)
    return {"floor": floor, "floor_kind": "sweeps", "above_floor_percent": above}


STENCILS = BenchTable(
    "stencils",
    "Stencils beside high-level synthesis, alone and behind PLUTO",
    ROWS,
    measure,
    SECTIONS,
    kernels=Path("benchmarks/stencils"),
)
