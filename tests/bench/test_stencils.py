"""`rtlgen bench stencils`: every stencil in three forms, proven."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.bench import stencils
from rtlgen.bench.stencils import PUBLISHED, STENCILS
from rtlgen.bench.table import BenchRow, BenchSettings, RowResult, kernel_files

ROOT = Path(__file__).parents[2]


def measured(row: BenchRow) -> RowResult:
    path = kernel_files(ROOT / STENCILS.kernels, [row.file])[row.file]
    return stencils.measure(row, path, BenchSettings(synthesis=False))


def test_every_stencil_has_a_row_of_each_form() -> None:
    assert [row.kernel for row in STENCILS.rows] == [
        f"{name}@{form}" for name in PUBLISHED for form in ("plain", "skewed", "cascaded")
    ]
    for row in STENCILS.rows:
        _, alone, behind_pluto = PUBLISHED[row.file]
        assert row.published == {"hls_cycles": alone, "pluto_hls_cycles": behind_pluto}
        assert row.at_most == {"cycles": alone}
    assert PUBLISHED["seidel_2d"][1:] == (109_835, 1_837_652)


@pytest.mark.sample("skewed")
@pytest.mark.simulation
@pytest.mark.parametrize("form", ["skewed", "cascaded"])
def test_a_row_is_proven(form: str) -> None:
    (row,) = STENCILS.selected(f"jacobi_1d@{form}")
    result = measured(row)
    assert result.missed == ()
    assert result.figures["form"] == form
    assert result.figures["instances"] == 20 * 2 * 28
    assert result.figures["floor"] <= result.figures["cycles"]
    # In lanes two sweeps of 28 elements take the cycles of a few; alone, those of one sweep.
    assert (result.figures["cycles"] < 20 * 28) is (form == "cascaded")


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("row", STENCILS.rows, ids=lambda row: row.kernel)
def test_every_row_is_proven(row: BenchRow) -> None:
    assert measured(row).missed == ()
