"""How far sweeps are behind each other at least, against all sets of elements there are.

Floors are no higher than what is reached, and as high as chains, instances and both ask for.
"""

from __future__ import annotations

from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.bench import limit
from rtlgen.bench.limit import LIMIT, elements_behind, floors
from rtlgen.bench.table import BenchRow, BenchSettings, RowResult
from rtlgen.datapath.floor import limit_of_plan, one_a_cycle
from rtlgen.design import Design, compile_design
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import IslandCompilation

Point = tuple[int, ...]


def around(points: set[Point], extent: int) -> set[Point]:
    """Return some elements and all their neighbours in the grid."""
    found = set(points)
    for point in points:
        for dim, step in product(range(len(point)), (-1, 1)):
            moved = (*point[:dim], point[dim] + step, *point[dim + 1 :])
            if 0 <= moved[dim] < extent:
                found.add(moved)
    return found


def fewest_behind(extent: int, dims: int, sweeps: int) -> int:
    """Return the same by trying all sets of every size."""
    grid = list(product(range(extent), repeat=dims))
    most = 0
    for size in range(1, len(grid) + 1):
        fewest = len(grid)
        for chosen in combinations(grid, size):
            reached = set(chosen)
            for _ in range(sweeps - 1):
                reached = around(reached, extent)
            fewest = min(fewest, len(reached))
        most = max(most, fewest - size)
    return most


@pytest.mark.parametrize(
    ("extent", "dims", "sweeps"),
    [(5, 1, 2), (9, 1, 4), (3, 2, 2), (3, 2, 3), (2, 3, 2), (2, 3, 3)],
)
def test_no_set_of_elements_has_fewer_around_it(extent: int, dims: int, sweeps: int) -> None:
    assert elements_behind(extent, dims, sweeps) == fewest_behind(extent, dims, sweeps)


def test_eight_sweeps_of_heat() -> None:
    assert elements_behind(8, 3, 8) == 327
    assert elements_behind(8, 3, 1) == 0


EXAMPLES = Path(__file__).parents[2] / "examples"

JOBS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 7)), min_size=1, max_size=6)


@given(JOBS)
def test_jobs_one_a_cycle_take_what_their_best_order_takes(jobs: list[tuple[int, int]]) -> None:
    def end_of(order: tuple[tuple[int, int], ...]) -> int:
        end = cycle = 0
        for head, tail in order:
            cycle = max(cycle, head)
            end = max(end, cycle + tail)
            cycle += 1
        return end

    assert one_a_cycle(*np.array(jobs).T) == min(map(end_of, permutations(jobs)))


def compiled(tmp_path: Path, body: str, **options: Any) -> Design:
    path = tmp_path / "k.c"
    path.write_text(f"void k(int a[8], int b[8], int c[8][8])\n{{\n{body}\n}}\n")
    return compile_design(path, CompileOptions(**options))


def test_instances_of_one_statement_are_issued_one_a_cycle(tmp_path: Path) -> None:
    body = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) c[i][j] = a[i] + b[j];"
    design = compiled(tmp_path, body)
    (stream,) = design.plan.streams
    limits = floors(design)
    assert limits["instances"] == 63 + stream.depth_cycles == predicted_cycles(design.plan)
    assert limits["chain"] == stream.depth_cycles


def test_lanes_have_fewer_instances_each(tmp_path: Path) -> None:
    body = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) c[i][j] = a[i] + b[j];"
    one, eight = compiled(tmp_path, body), compiled(tmp_path, body, unroll={"j": 8})
    assert floors(eight)["instances"] <= floors(one)["instances"] - 56


def test_a_recurrence_is_a_chain_of_its_latencies(tmp_path: Path) -> None:
    design = compiled(tmp_path, "for (int i = 1; i < 8; i++) a[i] = a[i - 1] * b[i];")
    limits = floors(design)
    (stream,) = design.plan.streams
    lag = (limits["chain"] - stream.depth_cycles) // 6
    assert limits["chain"] == 6 * lag + stream.depth_cycles, "six times from one to the next"
    assert 2 <= lag <= stream.depth_cycles, "a product takes several cycles"
    assert limits["chain"] == predicted_cycles(design.plan) > limits["instances"]


def test_a_chain_before_many_instances_counts_with_them(tmp_path: Path) -> None:
    body = (
        "for (int i = 1; i < 8; i++) a[i] = a[i - 1] * b[i];\n"
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) c[i][j] = a[7] + b[j];"
    )
    design = compiled(tmp_path, body)
    limits = floors(design)
    assert limits["instances_and_chain"] > limits["instances"] > limits["chain"]
    assert limits["instances_and_chain"] <= predicted_cycles(design.plan)


def test_a_read_of_an_unknown_element_is_not_waited_for(tmp_path: Path) -> None:
    body = "for (int i = 1; i < 8; i++) a[i] = a[b[i] & 7] * b[i];"
    design = compiled(tmp_path, body)
    (stream,) = design.plan.streams
    assert floors(design)["chain"] == stream.depth_cycles


@pytest.mark.sample(without=("aes",))
@pytest.mark.parametrize("kernel", ["2mm", "atax", "symm", "aes", "transposed", "trmm"])
def test_no_example_is_below_its_floor(kernel: str) -> None:
    design = compile_design(EXAMPLES / kernel / f"{kernel}.c", CompileOptions())
    assert isinstance(design.compilation, IslandCompilation)
    found = limit_of_plan(design.compilation.analysis.written, design.plan)
    assert found.both >= max(found.instances, found.chain)
    assert max(floors(design).values()) <= predicted_cycles(design.plan)


def test_every_example_has_a_row() -> None:
    assert [row.kernel for row in LIMIT.rows] == sorted(p.stem for p in EXAMPLES.glob("*/*.c"))


@pytest.mark.simulation
def test_a_row_is_proven() -> None:
    (row,) = LIMIT.selected("bicg")
    result = limit.measure(row, EXAMPLES / "bicg" / "bicg.c", BenchSettings(synthesis=False))
    assert result.missed == ()
    assert result.figures["floor_kind"] == "instances"
    assert result.figures["cycles"] == result.figures["floor"] == 69
    assert result.figures["reasons"] == []


@pytest.mark.simulation
def test_a_floor_that_is_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"floor": 100, "floor_kind": "chain", "above_floor_percent": -31.0}
    monkeypatch.setattr(limit, "floor_figures", lambda design, cycles: found)
    (row,) = LIMIT.selected("bicg")
    result = limit.measure(row, EXAMPLES / "bicg" / "bicg.c", BenchSettings(synthesis=False))
    assert result.failures == ("took 69 cycles, fewer than its floor of 100",)


@pytest.mark.long
def test_a_row_far_above_its_floor_says_why() -> None:
    design = compile_design(EXAMPLES / "vgg" / "vgg.c", CompileOptions(fuse="none"))
    slots = design.report()["issue_slots"]
    first, *_, last = limit.reasons(design, 50_000)
    assert "one after another" in first
    assert last == f"its loops have {slots:,} slots, {slots - 50_000:,} more than the floor"


def test_the_mean_is_over_long_floors_alone() -> None:
    def row(cycles: int, floor: int, *reasons: str) -> RowResult:
        figures = {"cycles": cycles, "floor": floor, "reasons": list(reasons)}
        return RowResult(BenchRow("k"), figures)

    short = limit.overall([row(90, 10, "it waits")])
    assert (short.text, short.missed) == ("k: it waits", ())
    fine = limit.overall([row(90, 10), row(1000, 1000), row(1100, 1000)])
    assert fine.figures == {"mean_times_floor": 1.0488} and fine.missed == ()
    assert fine.text.endswith("floors of 1,000 and more: 1.049")
    (missed,) = limit.overall([row(1100, 1000)]).missed
    assert missed.endswith("1.100, target 1.05")
