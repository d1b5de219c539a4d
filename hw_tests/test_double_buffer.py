"""Kernels whose arrays are there twice run without a pause, whatever the host does meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.sim.cocotb_runner import Simulator, run_tests
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation

GEMM = Path(__file__).parents[1] / "examples" / "gemm" / "gemm.c"
RUNS = 20


def cycles_between_starts(folder: Path, simulator: Simulator, **options: Any) -> list[int]:
    """Return how far the starts of runs on different data are from each other."""
    design = rtlgen.compile(GEMM, **options)
    design.write(folder)
    rng = np.random.default_rng(11)
    scalars = {"alpha": 3, "beta": -2}
    for number in range(RUNS):
        arrays = {name: rng.integers(-99, 99, (8, 8)).astype(np.int32) for name in "ABC"}
        np.savez(folder / f"inputs{number}.npz", allow_pickle=False, **arrays)
        a, b, c = (arrays[name].astype(np.int64) for name in "ABC")
        right = (scalars["alpha"] * (a @ b) + scalars["beta"] * c).astype(np.int32)
        np.savez(folder / f"expected{number}.npz", allow_pickle=False, C=right)
    words = {name: value % (1 << 32) for name, value in scalars.items()}
    (folder / "scalars.json").write_text(json.dumps(words))
    environment = {"FOLDER": str(folder), "RUNS": str(RUNS)}
    run_tests(
        [folder / "gemm.v"],
        "gemm",
        ["sim.bench_stream_of_runs"],
        simulator,
        folder / "build",
        environment=environment,
    )
    found: list[int] = json.loads((folder / "apart.json").read_text())
    return found


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    ("options", "cycles"),
    [
        pytest.param({}, 519, id="519"),
        pytest.param({"unroll": {"k": 4}}, 137, id="137", marks=pytest.mark.long),
    ],
)
def test_small_runs_follow_each_other_with_all_loads_behind_them(
    tmp_path: Path, simulator: Simulator, options: dict[str, Any], cycles: int
) -> None:
    # A cycle for done, in which the kernel is not yet idle.
    apart = cycles_between_starts(tmp_path, simulator, double_buffer=["A", "B", "C"], **options)
    assert apart == [cycles + 1]
