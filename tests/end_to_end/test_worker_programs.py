"""Programs of linear algebra and stencils off chip, shared by four threads behind AXI4: exact."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.design import compile_design
from rtlgen.options import EVERY_ARRAY, CompileOptions

pytestmark = pytest.mark.simulation

PROGRAMS = sorted((Path(__file__).parents[2] / "benchmarks" / "workers").glob("*.c"))


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem == "gemm" else pytest.mark.long)
        for path in PROGRAMS
    ],
)
def test_four_threads_take_the_cycles_that_the_model_says(path: Path) -> None:
    options = CompileOptions(
        defines={"N": "20", "T": "2"}, memory={EVERY_ARRAY: "axi:50"}, threads=4
    )
    design = compile_design(path, options)
    outcome = design.verify()
    assert outcome.failures == ()
    assert outcome.cycles == outcome.predicted_cycles
    # In so few tiles, one of the four may have nothing to do.
    assert design.report()["workers"] >= 3


def test_there_are_seven_of_them() -> None:
    names = ["floyd", "gemm", "jacobi2d", "ldlt", "lu", "mm2", "seidel"]
    assert [path.stem for path in PROGRAMS] == names
