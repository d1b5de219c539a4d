"""Blocks with streams against cocotbext-axi's source and sink, which pause by chance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rtlgen
from rtlgen.sim.cocotb_runner import ON_RISING_EDGES, run_tests
from tests.simulators import SIMULATORS, needs_icarus

pytestmark = [pytest.mark.simulation, needs_icarus]

SUMS = """
#include <stdint.h>
enum { N = 300 };
void sums(uint16_t factor, const uint16_t x[N], uint16_t y[N]) {
  uint16_t before = 0;
  for (int i = 0; i < N; i++) {
    uint16_t word = x[i];
    y[i] = factor * word + before;
    before = word;
  }
}
"""


def run(folder: Path, simulator: str, seeds: range) -> None:
    design = rtlgen.compile(source=SUMS, top="axi", memory="stream")
    design.write(folder)
    case = {
        "name": design.plan.name,
        "words": design.manifest.array("x").depth,
        "cycles": design.manifest.predicted_cycles,
    }
    (folder / "case.json").write_text(json.dumps(case))
    environment = {"FOLDER": str(folder), "SEEDS": ",".join(map(str, seeds)), **ON_RISING_EDGES}
    run_tests(
        [folder / "sums.v"],
        "sums",
        ["sim.bench_streams"],
        simulator,  # type: ignore[arg-type]
        folder / "build",
        environment=environment,
    )
    assert (folder / "done").read_text() == str(len(seeds))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_block_is_right_whatever_its_streams_do(tmp_path: Path, simulator: str) -> None:
    run(tmp_path, simulator, range(3))


@pytest.mark.long
def test_many_schedules(tmp_path: Path) -> None:
    run(tmp_path, "icarus", range(1, 60))
