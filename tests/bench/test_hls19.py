"""`rtlgen bench hls19`: nineteen kernels, each in one lane and in several, proven."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rtlgen.bench import hls19
from rtlgen.bench.hls19 import HLS19, KERNELS
from rtlgen.bench.table import BenchRow, BenchSettings, RowResult, kernel_files
from rtlgen.design import compile_design
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import EVERY_ARRAY, CompileOptions

ROOT = Path(__file__).parents[2]
NO_SYNTHESIS = BenchSettings(synthesis=False)


def measured(row: BenchRow, settings: BenchSettings = NO_SYNTHESIS) -> RowResult:
    path = kernel_files(ROOT / HLS19.kernels, [row.file])[row.file]
    return hls19.measure(row, path, settings)


def test_every_kernel_has_a_row_of_one_lane_and_one_of_several() -> None:
    assert len(KERNELS) == 19
    assert len(kernel_files(ROOT / HLS19.kernels, [row.file for row in HLS19.rows])) == 19
    for kernel, alone, several in zip(KERNELS, HLS19.rows[::2], HLS19.rows[1::2], strict=True):
        assert alone.kernel == alone.file == several.file == kernel.name
        assert not alone.options
        lanes = max(several.options["unroll"].values())
        assert several.kernel == f"{kernel.name}@{lanes}" and lanes > 1


@pytest.mark.parametrize(
    ("kernel", "published"),
    [
        ("gemm", (9281, 2684, 1656, 9, 2834, 51)),
        ("gramschmidt", (18646, 8605, 3205, None, None, None)),
        ("durbin", (815, 366, None, None, 327, 66)),
        ("lu", (2652, 1817, None, 3, None, None)),
    ],
)
def test_the_published_figures_are_those_of_the_documents(
    kernel: str, published: tuple[int | None, ...]
) -> None:
    (row,) = HLS19.selected(kernel)
    names = (
        "calyx_cycles", "hls_cycles", "unrolled_cycles", "hls_dsp", "bambu_cycles", "bambu_dsp",
    )  # fmt: skip
    assert tuple(row.published.get(name) for name in names) == published


def test_lanes_are_to_take_three_times_fewer_cycles_with_no_more_multipliers() -> None:
    gemm, gemm_in_lanes = HLS19.selected("gemm*")
    assert gemm.at_most == {"cycles": 1656 // 3, "dsp": 9}
    assert gemm_in_lanes.at_most == {"cycles": 1656 // 3, "dsp": 51}
    assert [row.at_most for row in HLS19.selected("2mm*")] == [
        {"cycles": 895, "dsp": 12}, {"cycles": 895},
    ]  # fmt: skip
    assert [row.at_most for row in HLS19.selected("durbin*")] == [{"cycles": 366}] * 2
    assert [row.at_most for row in HLS19.selected("cholesky*")] == [{"cycles": 1049}, {}]


@pytest.mark.sample("bicg")
@pytest.mark.simulation
@pytest.mark.parametrize("pattern", ["bicg", "mvt@*", "trisolv"])
def test_a_row_is_proven(pattern: str) -> None:
    (row,) = HLS19.selected(pattern)
    result = measured(row)
    assert result.missed == ()
    assert result.figures["cycles"] == result.figures["predicted_cycles"]
    assert result.figures["unroll"] == (8 if "@" in row.kernel else 1)
    assert result.to_json()["published"] == row.published
    assert "dsp" not in result.figures
    assert ("float_cycles" in result.figures) == ("@" not in row.kernel)


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["gemm", "2mm", "3mm", "syrk", "syr2k", "doitgen"])
def test_eight_lanes_of_products_of_32_rows_save_seven_eighths(kernel: str, tmp_path: Path) -> None:
    text = kernel_files(ROOT / HLS19.kernels, [kernel])[kernel].read_text()
    path = tmp_path / f"{kernel}.c"
    path.write_text(re.sub(r"\[\d+\]", "[32]", re.sub(r"< \d+;", "< 32;", text)))
    _, several = HLS19.selected(f"{kernel}*")
    eight = dict.fromkeys(several.options["unroll"], 8)
    # The tensor of doitgen is larger than the RAM of the default device.
    on_chip: dict[str, str] = {EVERY_ARRAY: "onchip"}
    alone, lanes = (
        predicted_cycles(compile_design(path, CompileOptions(unroll=unroll, memory=on_chip)).plan)
        for unroll in ({}, eight)
    )
    assert alone >= 7.5 * lanes


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("row", HLS19.rows, ids=lambda row: row.kernel)
def test_every_row_is_proven(row: BenchRow) -> None:
    assert measured(row).missed == ()


@pytest.mark.synthesis
@pytest.mark.long
def test_area_is_that_of_two_families() -> None:
    (row,) = HLS19.selected("bicg")
    figures = measured(row, BenchSettings(seeds=(1,))).figures
    assert figures["dsp"] == 6, "two products of 32 bits"
    assert figures["xilinx_dsp"] == 6
    assert figures["dsp_cycles"] == 6 * figures["cycles"]
    assert figures["fmax_mhz"] > 50 and figures["fmax_seeds"] == 1
    assert figures["lut"] > figures["xilinx_lut"] > 0, "tables of four inputs, and of six"
    measured_names = set(figures)
    for other in HLS19.rows:
        assert other.at_most.keys() <= measured_names
