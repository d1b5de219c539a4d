"""What a design takes at least, and how near to it every example is.

`instances`: those of the statement with the most, one a cycle in each lane, and its pipeline.
`chain`: the longest chain of instances that wait for each other's values.
`instances_and_chain`: the instances of one statement, one a cycle, each between the chain that
leads to it and the one that follows from it (`datapath.floor`).
`ports`: stores through one write port of a bank.
`stages`: instances that come one after another in any order of the loops (`poly.barriers`).

Without a limit operations share multipliers only where they never begin together, so none is asked
for more often than some statement has instances, or the chain is as long. Reads share a port only
where they never meet.

How far behind each other the sweeps of a stencil must run, in any order of their elements.

A sweep that reads all neighbours of an element in a grid needs them from the sweep before. When the
last of several sweeps has computed m elements, the first one has computed all that are within as
many steps of them as there are sweeps between. A set of m elements has fewest around it where it
is cut off from a corner by diagonals, and the set around that is such a set again. So with one
element a cycle in each sweep, the last one is behind by the largest difference of the two sizes:

    8 x 8 x 8, 8 sweeps: 91 elements have at least 418 within 7 steps, so the last is 327 behind

Reference
---------
Bollobas, Leader, Compressions and isoperimetric inequalities, Journal of Combinatorial Theory A,
1991: initial segments of the simplicial order have the fewest neighbours in a grid.

Every example beside its floor: cycles that nothing built of the same datapaths could beat.

Where nothing is published, this is what there is to reach. See `rtlgen.bench.limit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import exp, fsum, log
from pathlib import Path
from typing import Any

import numpy as np

from rtlgen.bench.measure import proven_on_chip
from rtlgen.bench.table import (
    BenchRow,
    BenchSettings,
    BenchTable,
    Column,
    Overall,
    RowResult,
    Section,
)
from rtlgen.datapath.floor import limit_of_plan
from rtlgen.design import Design
from rtlgen.ir.cycles import checksum_cycles
from rtlgen.planning.compilation import IslandCompilation


def floors(design: Design) -> dict[str, int]:
    """Return the fewest cycles by kind, that kind first which rules where several do.

    Parameters
    ----------
    design: with all arrays on chip.

    Raises
    ------
    ValueError: it has arrays off chip.
    """
    compilation = design.compilation
    if not isinstance(compilation, IslandCompilation):
        raise ValueError(f"{design.plan.name} has arrays off chip")
    limit = limit_of_plan(compilation.analysis.written, design.plan)
    found = {
        "instances": limit.instances,
        "chain": limit.chain,
        "instances_and_chain": limit.both,
    }
    if compilation.bounds:
        found["ports"] = max(bound.stores for bound in compilation.bounds)
    if compilation.chain is not None:
        found["stages"] = compilation.chain.iterations
    # Behind the stages and the stores there is a pipeline, too; how long, is not counted.
    more = design.plan.index_latency_cycles + checksum_cycles(design.plan)
    return {kind: cycles + more for kind, cycles in found.items()}


def floor_figures(design: Design, cycles: int) -> dict[str, Any]:
    """Return the floor, what rules it, and how far above it `cycles` are, as rows have them."""
    limits = floors(design)
    kind = max(limits, key=limits.__getitem__)
    floor = limits[kind]
    above = round(100 * (cycles / floor - 1), 1)
    return {"floor": floor, "floor_kind": kind, "above_floor_percent": above}


def mean_times_floor(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the geometric mean of cycles over floor of at least one row."""
    return exp(fsum(log(row["cycles"] / row["floor"]) for row in rows) / len(rows))


def elements_behind(extent: int, dims: int, sweeps: int) -> int:
    """Return how many elements the last of some sweeps is behind the first one at some time.

    Parameters
    ----------
    extent: of the grid, in each of so many dimensions.
    """
    order = sorted(product(range(extent), repeat=dims), key=_simplicial)
    points = np.array(order)
    numbers = np.arange(len(points))
    apart = np.zeros((len(points), len(points)), dtype=np.int64)
    for column in points.T:
        apart += np.abs(column[:, None] - column[None, :])
    # The first element in whose reach each one is: from that on it is around the set.
    reached = np.where(apart < sweeps, numbers[:, None], len(points)).min(axis=0)
    around = np.searchsorted(np.sort(reached), numbers, side="right")
    return int((around - (numbers + 1)).max())


def _simplicial(point: tuple[int, ...]) -> tuple[int, ...]:
    return sum(point), *(-x for x in point)


LONG_FLOOR_CYCLES = 1_000
"""Floor from which on filling and emptying the pipelines no longer counts."""

MOST_TIMES_FLOOR = 1.2
"""Cycles over floor above which a row says why."""

MOST_MEAN_TIMES_FLOOR = 1.05
"""Geometric mean of cycles over floor, of the examples with a long floor."""

EXAMPLES = (
    "2mm", "2mm_d", "3mm", "3mm_d", "accum_swg", "aes", "atax", "bicg", "dct", "doitgen",
    "doitgen_d", "gemm", "gemm64", "gemver", "gemver_opt", "gesummv", "horner", "loop_pipeline",
    "mms", "mms_d", "mvt", "order", "serially_execute", "structure", "symm", "syr2k", "syrk", "tce",
    "transposed", "trmm", "vgg",
)  # fmt: skip

ROWS = tuple(BenchRow(name) for name in EXAMPLES)

SECTIONS = (
    Section("Cycles, and what they are at least", (
        Column("instances", "instances"),
        Column("chain", "latency chain"),
        Column("instances_and_chain", "both"),
        Column("ports", "stores a port"),
        Column("stages", "stages"),
        Column("floor", "floor"),
        Column("floor_kind", "what rules"),
        Column("cycles", "cycles"),
        Column("above_floor_percent", "above it, %"),
    )),
)  # fmt: skip


def measure(row: BenchRow, path: Path, settings: BenchSettings) -> RowResult:
    """Verify an example, and find its floor."""
    design, proven, cycles = proven_on_chip(row, path, settings)
    figures: dict[str, Any] = {
        **floors(design),
        **cycles,
        **floor_figures(design, proven.cycles),
    }
    floor = figures["floor"]
    is_far = proven.cycles > MOST_TIMES_FLOOR * floor
    figures["reasons"] = reasons(design, floor) if is_far else []
    failures = list(proven.failures)
    if floor > proven.cycles:
        failures.append(f"took {proven.cycles} cycles, fewer than its floor of {floor}")
    return RowResult(row, figures, tuple(failures))


def reasons(design: Design, floor: int) -> list[str]:
    """Return why a design takes more cycles than its floor, a sentence each."""
    report = design.report()
    regions, slots = report["regions"], report["issue_slots"]
    found = [*report["bounds"], *report["limits"]]
    if len(regions) > 1:
        found.append(f"{len(regions)} regions run one after another: {regions[0]['why']}")
    found.append(f"its loops have {slots:,} slots, {slots - floor:,} more than the floor")
    return [" ".join(text.split()) for text in found]


def overall(results: Sequence[RowResult]) -> Overall:
    """Return the geometric mean of cycles over floor, of the rows with a long floor."""
    lines = [f"{r.row.kernel}: {reason}" for r in results for reason in r.figures["reasons"]]
    long = [r.figures for r in results if r.figures["floor"] >= LONG_FLOOR_CYCLES]
    if not long:
        return Overall(text="\n".join(lines))
    mean = mean_times_floor(long)
    text = f"geometric mean of cycles / floor, floors of {LONG_FLOOR_CYCLES:,} and more: {mean:.3f}"
    missed = () if mean <= MOST_MEAN_TIMES_FLOOR else (f"{text}, target {MOST_MEAN_TIMES_FLOOR}",)
    return Overall({"mean_times_floor": round(mean, 4)}, "\n".join([*lines, text]), missed)


LIMIT = BenchTable(
    "limit",
    "The examples beside their floors",
    ROWS,
    measure,
    SECTIONS,
    overall=overall,
)
