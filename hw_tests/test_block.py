"""Blocks with registers against cocotbext-axi's master and RAM, which pause by chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.sim.cocotb_runner import ON_RISING_EDGES, run_tests
from tests.simulators import SIMULATORS, needs_icarus

pytestmark = [pytest.mark.simulation, needs_icarus]

MIXED = """
#include <stdint.h>
int64_t mixed(int8_t gain, float level, int16_t A[9][6], int B[6], int64_t C[9], uint8_t D[7]) {
  int64_t all = 0;
  for (int i = 0; i < 9; i++) {
    int64_t sum = 0;
    for (int j = 0; j < 6; j++) sum += (int64_t)A[i][j] * B[j] * gain;
    C[i] = sum;
    all += sum;
  }
  for (int i = 0; i < 7; i++) D[i] = D[i] + (level > 0.5f);
  return all;
}
"""
BOUNDED = """
#include <assert.h>
#include <stdint.h>
int bounded(int n, int8_t first, uint8_t A[8], int B[8]) {
  int sum = 0;
  assert(first > -3 && first < 5);
  for (int i = 0; i < n; i++) {
    B[i] = A[i] * first;
    sum += B[i];
  }
  return sum;
}
"""
LARGE = """
#include <stdint.h>
void threefold(uint8_t X[70][80], uint8_t Y[70][80]) {
  for (int i = 0; i < 70; i++)
    for (int j = 0; j < 80; j++) Y[i][j] = X[i][j] * 3 + 1;
}
"""


def prepare(folder: Path, source: str, **options: Any) -> rtlgen.Design:
    """Write the block, two data sets for it, and what is right."""
    design = rtlgen.compile(source=source, top="axi", **options)
    design.write(folder)
    manifest = design.manifest
    sets = design.data_sets(seed=3).sets[:2]
    memory = manifest.memory
    off_chip = [] if memory is None else [array.name for array in memory.arrays]
    on_chip = [array.name for array in manifest.host_arrays]
    for number, data in enumerate(sets):
        inputs = {name: np.asarray(value) for name, value in data.inputs.items()}
        np.savez(folder / f"inputs{number}.npz", allow_pickle=False, **inputs)
        written = {a.name for a in manifest.data_arrays if a.role != "in"}
        expected = {name: data.golden.arrays[name] for name in written}
        if data.golden.returned is not None:
            expected["return"] = np.asarray(data.golden.returned)
        np.savez(folder / f"expected{number}.npz", allow_pickle=False, **expected)
    case = {
        "name": manifest.name,
        "off_chip": {name: manifest.array(name).role for name in off_chip},
        "word_bytes": 0 if memory is None else memory.word_bytes,
        "on_chip": on_chip,
        "scalars": [scalar.name for scalar in manifest.scalars],
        "limits": {each.name: each.limits for each in manifest.scalars if each.limits is not None},
        "twins": [array.name for array in manifest.arrays if array.is_double],
        "roles": [array.role for array in manifest.data_arrays],
        "cycles": manifest.predicted_cycles,
        "sets": len(sets),
    }
    (folder / "case.json").write_text(json.dumps(case))
    return design


def run(folder: Path, name: str, simulator: str, seeds: range) -> None:
    """Run the bench on the block."""
    environment = {"FOLDER": str(folder), "SEEDS": ",".join(map(str, seeds)), **ON_RISING_EDGES}
    run_tests(
        [folder / f"{name}.v"],
        name,
        ["sim.bench_block"],
        simulator,  # type: ignore[arg-type]
        folder / "build",
        environment=environment,
    )
    assert (folder / "done").read_text() == str(len(seeds))


CASES = [
    pytest.param(MIXED, {}, id="on chip"),
    pytest.param(MIXED, {"double_buffer": ["A", "B", "C", "D"]}, id="twins"),
    pytest.param(MIXED, {"double_buffer": "A", "memory": {"C": "axi"}}, id="one twin"),
    pytest.param(BOUNDED, {}, id="bounds"),
    pytest.param(MIXED, {"memory": {"A": "axi", "C": "axi"}}, id="both"),
    pytest.param(LARGE, {"memory": "axi", "bus_bits": 32}, id="axi"),
]


@pytest.mark.sample("icarus-both", "icarus-twins", "icarus-bounds")
@pytest.mark.parametrize(("source", "options"), CASES)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_block_is_right_whatever_is_done_to_it(
    tmp_path: Path, simulator: str, source: str, options: dict[str, Any]
) -> None:
    design = prepare(tmp_path, source, **options)
    run(tmp_path, design.plan.name, simulator, range(13))


@pytest.mark.long
@pytest.mark.parametrize(("source", "options"), CASES)
def test_many_schedules(tmp_path: Path, source: str, options: dict[str, Any]) -> None:
    design = prepare(tmp_path, source, **options)
    # Runs of the large one take ten seconds each.
    run(tmp_path, design.plan.name, "icarus", range(1, 31 if source == LARGE else 1001))
