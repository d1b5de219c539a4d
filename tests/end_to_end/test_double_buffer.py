"""Arrays in two copies, in every form of memory that the host reaches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.ir.block_rams import block_rams
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.target import get_target
from tests.simulators import ENGINES, SIMULATORS

PARTS = (Path(__file__).parent / "kernels" / "prefix_sum.c").read_text()
VERSIONS = "void f(int a[64], int b[64]) {{ for (int i = 0; i < 8; i++) {{ {} }} }}".format(
    " ".join(f"a[i + {8 * k}] += b[i + {8 * k}];" for k in range(8))
)
BANKS = """
#include <stdint.h>
int16_t most(uint8_t gain, int16_t a[6][8], int16_t b[6]) {
  int16_t all = 0;
  for (int i = 0; i < 6; i++) {
    b[i] = 0;
    for (int j = 0; j < 8; j++) b[i] += a[i][j] * gain;
    all += b[i];
  }
  return all;
}
"""
WORDS = "void one(int a[1], int b[3], int c[5]) { a[0] += b[1]; b[2] = a[0]; c[3] = b[0]; }"
PRODUCT = """
void product(int a[6][6], int b[6][6], int c[6][6]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j];
}
"""
FILTER = """
void filter(int x[24], int h[4], int y[24]) {
  for (int i = 0; i < 24; i++) y[i] = x[i] * h[i % 4] + h[0];
}
"""
CASES = [
    pytest.param(PARTS, {"double_buffer": "a"}, id="parts"),
    pytest.param(VERSIONS, {"double_buffer": ["a", "b"]}, id="versions"),
    pytest.param(BANKS, {"double_buffer": ["a", "b"], "unroll": {"j": None}}, id="banks"),
    pytest.param(WORDS, {"double_buffer": ["a", "b", "c"]}, id="words"),
    pytest.param(PRODUCT, {"double_buffer": ["a", "c"], "checksum": True}, id="checksum"),
    pytest.param(PRODUCT, {"double_buffer": "c", "memory": {"b": "axi"}}, id="off chip"),
    pytest.param(FILTER, {"double_buffer": "h", "memory": {"x": "stream"}}, id="streams"),
]


@pytest.mark.simulation
@pytest.mark.sample("parts-verilator-native", "versions-verilator-native", "words-icarus-cocotb")
@pytest.mark.parametrize(("simulator", "engine"), ENGINES)
@pytest.mark.parametrize(("source", "options"), CASES)
def test_runs_on_one_copy_after_the_other_are_exact(
    source: str, options: dict[str, Any], simulator: Simulator, engine: Any
) -> None:
    design = rtlgen.compile(source=source, **options)
    assert {a.name for a in design.manifest.arrays if a.is_double} == set(options["double_buffer"])
    found = design.verify(simulator=simulator, engine=engine)
    alone = rtlgen.compile(source=source, **{**options, "double_buffer": []})
    assert found.exact
    assert found.cycles == design.manifest.predicted_cycles == alone.manifest.predicted_cycles


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(("source", "options"), CASES)
def test_blocks_on_one_copy_after_the_other_are_exact(
    source: str, options: dict[str, Any], simulator: Simulator
) -> None:
    assert rtlgen.compile(source=source, top="axi", **options).verify(simulator=simulator).exact


def test_two_copies_take_twice_the_ram() -> None:
    target = get_target("ecp5")
    counts = [
        block_rams(rtlgen.compile(source=PRODUCT, double_buffer=names).plan, target)
        for names in ([], ["a"], ["a", "b", "c"])
    ]
    assert counts[1] - counts[0] == 1 and counts[2] == 2 * counts[0]


def test_an_array_in_two_copies_stays_on_chip() -> None:
    design = rtlgen.compile(source=PRODUCT, double_buffer="a", memory="axi")
    assert design.manifest.memory is not None
    assert [array.name for array in design.manifest.memory.arrays] == ["b", "c"]
    assert [array.name for array in design.manifest.host_arrays] == ["a"]
