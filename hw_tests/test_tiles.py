"""The example with its array off chip: on both simulators, through files, and as gates."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rtlgen
import rtlgen.design
from hw_tests.test_gates import simulate
from rtlgen.design import Design
from rtlgen.ir.plan import KernelPlan
from rtlgen.manifest.file import read_manifest
from rtlgen.output.verilog import GeneratedVerilog, generate
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.system.tools import ToolFailedError
from sim.netlists import cell_models, synthesise
from tests.cli.conftest import rtlgen as run_rtlgen
from tests.simulators import SIMULATORS, needs_icarus
from tests.tiling.programs import ROWS

pytestmark = pytest.mark.simulation

EXAMPLE = Path(__file__).parents[1] / "examples" / "transposed" / "transposed.c"


def transposed(size: int, element: str, bus_bits: int = 64) -> Design:
    return rtlgen.compile(
        EXAMPLE,
        define={"N": size, "ELEMENT": element},
        memory="fixed:8",
        bus_bits=bus_bits,
        tile=(8, 8),
    )


@pytest.mark.sample("icarus-16-uint8_t-64")
@pytest.mark.parametrize(
    ("size", "element", "bus_bits"), [(16, "uint8_t", 64), (21, "int", 64), (12, "int64_t", 512)]
)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_example_is_exact_off_chip(
    simulator: Simulator, size: int, element: str, bus_bits: int
) -> None:
    found = transposed(size, element, bus_bits).verify(simulator=simulator)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles
    assert found.comparison.elements == size * size * len(found.data.sets)


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("memory", ["axi:20", "dram"])
def test_tiles_that_overlap_are_exact(simulator: Simulator, memory: str) -> None:
    design = rtlgen.compile(source=ROWS, define={"N": 14}, memory=memory, tile=(4,))
    (unit,) = design.report()["units"]
    last = max(stream["first_cycle"] for stream in design.report()["streams"])
    assert unit["issue_cycles"] == 64 < last
    found = design.verify(simulator=simulator)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


@pytest.mark.long
@pytest.mark.sample("icarus-uint8_t")
@pytest.mark.parametrize("element", ["uint8_t", "int"])
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_example_is_exact_in_lanes_behind_each_other(
    simulator: Simulator, element: str
) -> None:
    design = rtlgen.compile(
        EXAMPLE,
        define={"N": 24, "ELEMENT": element},
        memory="axi:20",
        tile=(8, 8),
        unroll={"i": 4},
    )
    (unit,) = design.report()["units"]
    assert unit["lanes"] == 4 and unit["skew_cycles"] == 2
    found = design.verify(simulator=simulator)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


JACOBI = Path(__file__).parents[1] / "benchmarks" / "workers" / "jacobi2d.c"


@cache
def sweeps_in_lanes() -> Design:
    return rtlgen.compile(
        JACOBI,
        define={"N": 16, "T": 2},
        memory="axi:20",
        tile=(2, 4, 8),
        unroll={"j": 4},
        max_bram_kib=8,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "simulator",
    [
        pytest.param("verilator", marks=pytest.mark.long),
        pytest.param("icarus", marks=needs_icarus),
    ],
)
def test_sweeps_are_exact_in_lanes_that_share_ports(simulator: Simulator) -> None:
    design = sweeps_in_lanes()
    (unit,) = design.report()["units"]
    assert unit["lanes"] == 4
    assert all(memory.read_ports == 1 for memory in design.plan.memories)
    (region,) = design.plan.tiled_regions
    assert any(transfer.abreast > 1 for transfer in region.transfers)
    found = design.verify(simulator=simulator)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


@pytest.mark.long
@pytest.mark.sample("icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_files_go_in_and_out(tmp_path: Path, simulator: Simulator) -> None:
    transposed(16, "uint8_t").write(tmp_path / "build")
    a = np.random.default_rng(3).integers(0, 256, (16, 16), dtype=np.uint8)
    np.savez(tmp_path / "in.npz", a=a)
    files = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    outcome = run_rtlgen("run", tmp_path / "build", *files, "--simulator", simulator, "--json")
    assert outcome.status == 0
    manifest = read_manifest(tmp_path / "build")
    assert outcome.document["cycles"] == manifest.predicted_cycles
    with np.load(tmp_path / "out.npz") as left:
        for i in range(16):
            for j in range(1, 16):
                a[i, j] = (int(a[j, i]) + int(a[i, j - 1])) & 255
        np.testing.assert_array_equal(left["a"], a)
    np.savez(tmp_path / "in.npz", a=a[:8])
    refused = run_rtlgen("run", tmp_path / "build", *files)
    assert refused.status == 2
    assert "error[E0423]: array a is uint8 of shape (8, 16), not uint8 of shape" in refused.err


@pytest.mark.long
def test_a_wrong_element_off_chip_is_named_with_the_cycle_of_its_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spoilt(plan: KernelPlan) -> GeneratedVerilog:
        verilog = generate(plan)
        wire = "  wire [63:0] mem_wdata;\n"
        assert verilog.text.count(wire) == 1
        flipped = "  wire [63:0] right;\n  assign mem_wdata = right ^ 64'h0100;\n"
        text = verilog.text.replace(wire, wire + flipped)
        return replace(verilog, text=text.replace(".wdata(mem_wdata)", ".wdata(right)"))

    monkeypatch.setattr(rtlgen.design, "generate", spoilt)
    found = transposed(16, "uint8_t").verify()
    assert not found.exact
    first = found.comparison.first[0]
    assert first.array == "a" and first.cycle is not None
    assert 0 < first.cycle <= found.predicted_cycles


@needs_icarus
def test_the_test_bench_holds_the_memory(tmp_path: Path) -> None:
    transposed(12, "uint8_t").write(tmp_path)
    files = [tmp_path / "transposed.v", tmp_path / "transposed_tb.v"]
    assert "PASS: transposed" in simulate(tmp_path, files, "transposed_tb")
    data = tmp_path / "transposed_tb_data" / "off-chip_out.hex"
    lines = data.read_text().split()
    data.write_text("\n".join([f"{int(lines[0], 16) ^ 1 << 63:016x}", *lines[1:]]))
    with pytest.raises(ToolFailedError):
        simulate(tmp_path, files, "transposed_tb")
    printed = (tmp_path / "transposed_tb.log").read_text()
    assert "FAIL: memory, 1 of" in printed


@pytest.mark.long
@pytest.mark.synthesis
@needs_icarus
def test_the_netlist_passes_the_test_bench(tmp_path: Path) -> None:
    transposed(12, "uint8_t").write(tmp_path)
    netlist = synthesise(tmp_path, "transposed")
    files = [netlist, *cell_models(netlist), tmp_path / "transposed_tb.v"]
    assert "PASS: transposed" in simulate(tmp_path, files, "transposed_tb")
