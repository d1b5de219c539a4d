"""`rtlgen bench tiles` and `threads`: their rows are proven, and have what scripts rely on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.bench.table import BenchRow, BenchSettings
from rtlgen.bench.tables import find_table
from rtlgen.bench.threads import CYCLES, DRAM_ROWS, KERNEL_ROWS
from rtlgen.bench.threads import ROWS as SHARED_ROWS
from rtlgen.bench.tiles import LANE_ROWS, ROWS, SKEWED_ROWS, measure, measure_tiles

EXAMPLE = Path(__file__).parents[2] / "examples" / "transposed" / "transposed.c"
PRODUCT = EXAMPLE.parents[1] / "gemm" / "gemm.c"
POLYNOMIALS = EXAMPLE.parents[1] / "horner" / "horner.c"

FIGURES = {
    "n", "threads", "lanes", "strategy", "buffer", "tile", "memory", "bus_bits", "onchip_bytes",
    "cycles", "predicted_cycles", "bus_words",
}  # fmt: skip


def at(row: BenchRow, size: int) -> BenchRow:
    return replace(row, defines={**row.defines, "N": str(size)})


@pytest.mark.long
@pytest.mark.sample("transposed@24KiB")
@pytest.mark.simulation
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=pytest.mark.long if number % 4 else (), id=row.kernel)
        for number, row in enumerate(ROWS)
    ],
)
def test_every_row_is_exact_in_small(row: BenchRow) -> None:
    result = measure(at(row, 24), EXAMPLE, BenchSettings(synthesis=False))
    assert result.failures == ()
    assert result.figures.keys() >= FIGURES
    assert result.figures["cycles"] == result.figures["predicted_cycles"]
    assert result.figures["n"] == 24
    document = result.to_json()
    assert document["exact"] is True
    assert document["published"] == {"sequential_cycles": 77_522_948, "best_cycles": 24_555_284}


@pytest.mark.long
@pytest.mark.simulation
def test_a_row_in_lanes_is_exact_in_small() -> None:
    result = measure_tiles(at(LANE_ROWS[0], 24), PRODUCT, BenchSettings(synthesis=False))
    assert result.failures == ()
    assert result.figures.keys() >= FIGURES
    assert result.figures["cycles"] == result.figures["predicted_cycles"]
    assert result.figures["lanes"] == 8


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(
    "row",
    [SKEWED_ROWS[0], pytest.param(SKEWED_ROWS[1], marks=pytest.mark.long)],
    ids=lambda row: row.kernel,
)
def test_a_row_in_lanes_behind_each_other_is_exact_in_small(row: BenchRow) -> None:
    result = measure(at(row, 64), EXAMPLE, BenchSettings(synthesis=False))
    assert result.failures == ()
    assert result.figures["cycles"] == result.figures["predicted_cycles"]
    assert result.figures["lanes"] == row.options["unroll"]["i"]
    assert result.figures["times_faster"] > 50


@pytest.mark.long
def test_a_row_that_is_too_slow_is_named() -> None:
    row = replace(ROWS[0], at_most={"cycles": 100})
    result = measure(at(row, 8), EXAMPLE, BenchSettings(synthesis=False))
    assert result.missed == (f"cycles {result.figures['cycles']}, target 100",)


def test_the_table_has_the_rows_of_one_thread() -> None:
    table = find_table("tiles")
    assert [row.kernel.partition("@")[2] for row in table.rows] == [
        "none", "tile", "1KiB", "6KiB", "24KiB", "axi:10", "axi:50", "8-lanes", "16-lanes",
        "8-lanes", "16-lanes", "32-lanes", "64-lanes",
    ]  # fmt: skip
    (window,) = table.selected("*@24KiB")
    assert window.at_most == {"cycles": 1_610_000}


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if number == 13 else pytest.mark.long, id=row.kernel)
        for number, row in enumerate(SHARED_ROWS)
    ],
)
def test_every_row_of_several_threads_is_exact_in_small(row: BenchRow) -> None:
    small = replace(at(row, 24), options={**row.options, "tile": (4, 8)})
    result = measure(small, EXAMPLE, BenchSettings(synthesis=False))
    assert result.failures == ()
    assert result.figures.keys() >= FIGURES
    assert result.figures["cycles"] == result.figures["predicted_cycles"]


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize(
    "row",
    [DRAM_ROWS[1], pytest.param(DRAM_ROWS[-2], marks=pytest.mark.long)],
    ids=lambda row: row.kernel,
)
def test_rows_behind_a_dram_are_near_the_cycles_predicted(row: BenchRow) -> None:
    result = measure(at(row, 64), EXAMPLE, BenchSettings(synthesis=False))
    assert result.missed == ()
    assert result.figures.keys() >= FIGURES
    cycles, predicted = result.figures["cycles"], result.figures["predicted_cycles"]
    assert cycles != predicted
    assert 0 < result.figures["off_by_percent"] <= 2
    strict = replace(row, at_most={"off_by_percent": 0})
    assert replace(result, row=strict).missed


def test_rows_behind_a_dram_have_their_targets() -> None:
    found = {row.kernel: row.at_most for row in DRAM_ROWS}
    assert all(limits["off_by_percent"] == 2 for limits in found.values())
    assert found["transposed@dram-8-lanes-24KiB"]["cycles"] == 400_000
    assert found["transposed@dram-8-lanes-192KiB"]["cycles"] == 310_000


@pytest.mark.long
@pytest.mark.simulation
def test_what_the_busiest_thread_does_is_measured(tmp_path: Path) -> None:
    row = KERNEL_ROWS[2]
    small = replace(row, defines={"N": "24", "DEGREE": "4"}, options={**row.options, "threads": 2})
    result = measure_tiles(small, POLYNOMIALS, BenchSettings(synthesis=False))
    assert result.failures == ()
    # Waves of 1, 1, 2, 1, 2, 1 and 1 of the 9 tiles: the first worker has 7 of them.
    assert result.figures["busiest"] == 1.556
    assert result.figures["of_equal_share"] > 1.556


def test_the_table_of_threads_has_every_published_cell() -> None:
    rows = {row.kernel.removeprefix("transposed@"): row for row in find_table("threads").rows}
    for (buffer, policy), cells in CYCLES.items():
        for threads, cycles in cells.items():
            assert rows[f"{buffer}-{policy}-{threads}"].published["cycles"] == cycles
    assert rows["tile-C-8"].at_most == {"cycles": 5_050_000}
    assert rows["axi:50-cyclic-8"].at_most == {"cycles": 146_000}
    assert rows["axi:50-cyclic-8-barrier"].at_most == {"cycles": 430_000}


def test_eight_threads_are_to_be_so_many_times_as_fast_as_one() -> None:
    one, cyclic, some, fewest = (row.at_most.get("cycles") for row in KERNEL_ROWS)
    assert one is not None and cyclic is not None and some is not None
    assert (one // cyclic, 10 * one // some, fewest) == (7, 68, None)
