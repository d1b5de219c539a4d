"""Synthesis counts what is in the circuit, and reads the tools' reports with care."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from amaranth.hdl import signed

from rtlgen.flow.errors import UnreadableResultError
from rtlgen.flow.nextpnr import DEVICES, read_report, smallest_device
from rtlgen.flow.synth import SynthesisReport, SynthesisTarget, count_cells, synthesise
from rtlgen.hw.multiplier import Multiplier
from rtlgen.output.verilog import component_verilog
from rtlgen.system.tools import ToolFailedError

ACCUMULATOR = """
module accumulator (input clk, input [16:0] a, input [16:0] b, input [8:0] addr, input we,
                    output reg [35:0] sum, output reg [35:0] q);
    (* no_rw_check *) reg [35:0] ram [0:511];
    reg [33:0] product;
    always @(posedge clk) begin
        product <= a * b;
        sum <= sum + product;
        q <= ram[addr];
        if (we) ram[addr] <= sum;
    end
endmodule
"""


def run(folder: Path, target: SynthesisTarget, seeds: tuple[int, ...]) -> SynthesisReport:
    path = folder / "accumulator.v"
    path.write_text(ACCUMULATOR)
    report = synthesise(path, "accumulator", target, seeds=seeds)
    assert [entry.name for entry in folder.iterdir()] == ["accumulator.v"], "no files are left"
    return report


@pytest.mark.long
@pytest.mark.synthesis
def test_ecp5_gives_size_frequency_and_critical_path(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    report = run(tmp_path, "ecp5", (1, 2, 3))
    assert report.dsp == 1
    assert report.block_ram == 1
    assert (report.ff, report.ff_in_blocks) == (36, 34), "the sum; the product is in its block"
    assert report.lut == report.lut4 + 2 * report.cells["CCU2C"]
    assert report.lut >= 36, "a sum of 36 bits is 18 carry cells of two tables"
    assert sorted(report.fmax_by_seed) == [1, 2, 3]
    assert report.fmax_mhz == sorted(report.fmax_by_seed.values())[1]
    assert 50 < report.fmax_mhz < 500
    assert report.device == "25k"
    assert "ns logic" in str(report.critical_path)
    assert json.loads(json.dumps(report.to_json()))["target"] == "ecp5"
    assert capfd.readouterr().out == "", "standard output belongs to the caller"


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ({}, "25k"),
        ({"DP16KD": 56, "MULT18X18D": 28}, "25k"),
        ({"DP16KD": 57}, "45k"),
        ({"LUT4": 24_288, "TRELLIS_FF": 24_288}, "25k"),
        ({"LUT4": 12_000, "CCU2C": 4_000, "TRELLIS_DPR16X4": 800}, "45k"),
        ({"TRELLIS_FF": 43_849}, "85k"),
        ({"MULT18X18D": 73}, "85k"),
        ({"DP16KD": 5000}, "85k"),
    ],
)
def test_the_smallest_device_that_holds_the_circuit_is_taken(
    cells: dict[str, int], name: str
) -> None:
    assert smallest_device(cells).name == name
    assert [device.name for device in DEVICES] == ["25k", "45k", "85k"]


@pytest.mark.long
@pytest.mark.synthesis
@pytest.mark.parametrize("target", ["ice40", "xilinx"])
def test_other_families_give_size_alone(tmp_path: Path, target: SynthesisTarget) -> None:
    report = run(tmp_path, target, (1,))
    assert report.fmax_mhz is None and report.device is None
    assert report.block_ram >= 1
    if target == "xilinx":
        assert (report.dsp, report.ff) == (1, 0), "product and sum fit into one DSP block"
        assert report.ff_in_blocks is None, "which yosys does not tell"
    else:
        assert (report.dsp, report.ff) == (0, 34 + 36)
        assert report.lut >= 36


@pytest.mark.long
@pytest.mark.synthesis
def test_the_products_of_a_multiplier_are_added_in_carry_chains_alone(tmp_path: Path) -> None:
    """Three products of 16 bits are two sums of 16 bits, of two tables a pair of bits."""
    unit = Multiplier(signed(32), signed(32), 32, 2)
    path = tmp_path / "multiplier.v"
    path.write_text(component_verilog(unit, "multiplier", "multiplier"))
    report = synthesise(path, "multiplier", "ecp5", seeds=(1,))
    assert report.dsp == 3 and report.lut <= 32 + 2


@pytest.mark.synthesis
def test_verilog_that_yosys_refuses_keeps_its_log(tmp_path: Path) -> None:
    path = tmp_path / "broken.v"
    path.write_text("module broken (input a, output b);\n    assign b = ;\nendmodule\n")
    with pytest.raises(ToolFailedError) as caught:
        synthesise(path, "broken")
    assert "syntax error" in caught.value.diagnostic.notes[0]
    assert len(list(tmp_path.glob("synth-ecp5-*/yosys.log"))) == 1


def test_cells_are_counted_by_kind() -> None:
    kinds = ["LUT4", "TRELLIS_FF", "LUT4", "$scopeinfo"]
    cells = {f"c{number}": {"type": kind} for number, kind in enumerate(kinds)}
    netlist = json.dumps({"modules": {"top": {"cells": cells}}})
    assert count_cells(netlist, "top") == {"LUT4": 2, "TRELLIS_FF": 1}
    with pytest.raises(UnreadableResultError, match=r"KeyError\('other'\)"):
        count_cells(netlist, "other")


REPORT = {
    "fmax": {"clk": {"achieved": 120.5, "constraint": 150}},
    "utilization": {
        "TRELLIS_COMB": {"used": 384, "available": 24288},
        "DP16KD": {"used": 0, "available": 56},
    },
    "critical_paths": [
        {"from": "<async>", "to": "posedge clk", "path": [
            {"type": "routing", "delay": 90.0, "to": {"cell": "x"}}]},
        {"from": "posedge clk", "to": "posedge clk", "path": [
            {"type": "clk-to-q", "delay": 0.5, "to": {"cell": "a"}},
            {"type": "routing", "delay": 2.0, "to": {"cell": "mul"}},
            {"type": "logic", "delay": 4.0, "to": {"cell": "mul"}},
            {"type": "routing", "delay": 1.5, "to": {"cell": "b"}},
            {"type": "setup", "delay": 0.25, "to": {"cell": "b"}}]},
    ],
}  # fmt: skip


def test_the_report_gives_frequency_use_and_the_path_between_registers() -> None:
    placement = read_report(json.dumps(REPORT), seed=4)
    assert (placement.seed, placement.fmax_mhz) == (4, 120.5)
    assert placement.used == {"TRELLIS_COMB": 384}
    assert str(placement.critical_path) == "a -> b via mul: 4.75 ns logic, 3.50 ns routing"


@pytest.mark.parametrize("missing", ["fmax", "utilization", "critical_paths"])
def test_a_report_of_another_form_is_refused(missing: str) -> None:
    document = {key: value for key, value in REPORT.items() if key != missing}
    with pytest.raises(UnreadableResultError, match=missing):
        read_report(json.dumps(document), seed=1)
