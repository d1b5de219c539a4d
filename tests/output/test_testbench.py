"""The Verilog test bench passes a right kernel and fails a wrong one, on both simulators."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtlgen.manifest.contents import ArrayRole
from rtlgen.output.testbench import Case, Expected, write_testbench
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import ToolFailedError, run_tool
from sim.designs import (
    SCALE_ADD,
    SCALE_ADD_CYCLES,
    build_scale_add,
    expected_c,
    expected_checksum,
    random_inputs,
    sabotaged,
)
from sim.designs.increment import Increment
from tests.simulators import SIMULATORS, needs_icarus

pytestmark = pytest.mark.simulation


SEEDS = (7, 8)


def write(folder: Path, verilog: str = SCALE_ADD, cycles: int = SCALE_ADD_CYCLES) -> None:
    cases = []
    for seed in SEEDS:
        inputs = random_inputs(seed)
        c = expected_c(inputs)
        arrays = {"A": np.asarray(inputs["A"]), "B": np.asarray(inputs["B"]), "C": c}
        expected = Expected(arrays, int(c[3, 3]), expected_checksum(c))
        cases.append(Case(f"seed {seed}", inputs, expected))
    write_testbench(folder, build_scale_add(folder, verilog, cycles), cases)


def checks(number: int, seed: int) -> list[str]:
    """Return what a data set prints that passes."""
    c = expected_c(random_inputs(seed))
    return [
        f"data set {number} of {len(SEEDS)}: seed {seed}",
        f"PASS: cycles {SCALE_ADD_CYCLES}",
        f"PASS: return value {int(c[3, 3]) & 0xFFFFFFFF:08x}",
        f"PASS: checksum {expected_checksum(c):016x}",
        "PASS: A, 16 elements",
        "PASS: B, 16 elements",
        "PASS: C, 16 elements",
    ]


def run(folder: Path, simulator: Simulator, name: str = "scale_add") -> str:
    """Do what the head of the test bench says, without optimising; return what it prints."""
    files = [f"{name}.v", f"{name}_tb.v"]
    if simulator == "icarus":
        build = ["iverilog", "-g2012", "-o", "tb.vvp", *files]
    else:
        options = ["--binary", "--timing", "-Wno-fatal", "--top-module", f"{name}_tb"]
        options += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"]
        build = [str(find_verilator().command), *options, *files]
    # The makefile of a verilator that came as a package calls `python`.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    run_tool(build, log=folder / "build.log", cwd=folder, environment={"PATH": path})
    return run_tool(_command(folder, simulator, name), log=folder / "tb.log", cwd=folder)


def _command(folder: Path, simulator: Simulator, name: str = "scale_add") -> list[str]:
    if simulator == "icarus":
        return ["vvp", "-n", "tb.vvp"]
    return [str(folder / "obj_dir" / f"V{name}_tb")]


@pytest.mark.sample("icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_right_kernel_passes_every_check(tmp_path: Path, simulator: Simulator) -> None:
    if simulator == "verilator" and shutil.which("make") is None:
        pytest.skip("make is not installed")
    write(tmp_path)
    printed = [line for line in run(tmp_path, simulator).splitlines() if line[:4] in _VERDICTS]
    assert printed == [*checks(1, 7), *checks(2, 8), "PASS: scale_add"]

    # The same simulation, told to expect another value of the last element.
    data = tmp_path / "scale_add_tb_data" / "C_out.hex"
    lines = data.read_text().split()
    data.write_text("\n".join([*lines[:-1], f"{int(lines[-1], 16) ^ 1:08x}"]))
    with pytest.raises(ToolFailedError):
        run_tool(_command(tmp_path, simulator), log=tmp_path / "again.log", cwd=tmp_path)
    again = (tmp_path / "again.log").read_text()
    assert f"FAIL: C[15]: expected {int(lines[-1], 16) ^ 1:08x}, got {lines[-1]}" in again
    assert "FAIL: C, 1 of 16 elements" in again
    assert "PASS: scale_add" not in again


_VERDICTS = ("PASS", "FAIL", "data")


@needs_icarus
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("product + {{24{B", "product - {{24{B", "FAIL: C, 16 of 16 elements"),
        (
            ".we(idle ? A_we : 4'd0)",
            ".we(idle ? A_we : {3'd0, n == 4'd3})",
            "FAIL: A, 1 of 16 elements",
        ),
        ("return_value <= result;", "return_value <= product;", "FAIL: return value: expected"),
        ("^ {32'd0, result}", "^ {32'd0, product}", "FAIL: checksum: expected"),
        ("valid <= issue;", "valid <= issue & (n != 15);", "FAIL: no done within 1072 cycles"),
        ("if (last) done <= 1;", "if (n1 == 14) done <= 1;", "FAIL: cycles: expected 18, got 17"),
    ],
)
def test_a_wrong_kernel_fails(tmp_path: Path, old: str, new: str, message: str) -> None:
    write(tmp_path, sabotaged(old, new))
    with pytest.raises(ToolFailedError, match="vvp failed with status 1"):
        run(tmp_path, "icarus")
    printed = (tmp_path / "tb.log").read_text()
    assert message in printed
    assert "PASS: scale_add" not in printed


OFF_CHIP = Increment(word_bits=64, element_bits=16, shape=(3, 6), latency_cycles=8)
AXI = replace(OFF_CHIP, kind="axi")


def write_off_chip(
    folder: Path,
    design: Increment,
    *changes: tuple[str, str],
    roles: tuple[ArrayRole, ArrayRole] = ("in", "out"),
) -> None:
    manifest = design.build(folder, *changes, roles=roles)
    names = [array.name for array in manifest.data_arrays]
    cases = []
    for seed in SEEDS:
        inputs = OFF_CHIP.inputs(seed)
        after = OFF_CHIP.expected(inputs)
        given, expected = ({name: arrays[name] for name in names} for arrays in (inputs, after))
        cases.append(Case(f"seed {seed}", given, Expected(expected)))
    write_testbench(folder, manifest, cases)


@pytest.mark.sample(without=("verilator",))
@pytest.mark.parametrize(
    ("design", "roles", "simulator"),
    [
        pytest.param(OFF_CHIP, ("in", "out"), "verilator", id="verilator"),
        pytest.param(OFF_CHIP, ("in", "out"), "icarus", id="icarus", marks=needs_icarus),
        pytest.param(OFF_CHIP, ("in", "local"), "icarus", id="local-icarus", marks=needs_icarus),
        # The same text as on Icarus: a local array is a row of data less.
        pytest.param(
            OFF_CHIP, ("in", "local"), "verilator", id="local-verilator", marks=pytest.mark.long
        ),
        pytest.param(AXI, ("in", "out"), "icarus", id="axi-icarus", marks=needs_icarus),
        pytest.param(AXI, ("in", "out"), "verilator", id="axi-verilator", marks=pytest.mark.long),
    ],
)
def test_the_bench_is_the_memory_off_chip(
    tmp_path: Path, simulator: Simulator, design: Increment, roles: tuple[ArrayRole, ArrayRole]
) -> None:
    if simulator == "verilator" and shutil.which("make") is None:
        pytest.skip("make is not installed")
    write_off_chip(tmp_path, design, roles=roles)
    printed = run(tmp_path, simulator, "increment").splitlines()
    passed = [line for line in printed if line.startswith("PASS")]
    once = [f"PASS: cycles {design.cycles}", f"PASS: memory, {design.depth_words} words"]
    assert passed == [*once, *once, "PASS: increment"]


@needs_icarus
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("mem_rdata[lane*ELEMENT +: ELEMENT] + 1", "mem_rdata[lane*ELEMENT +: ELEMENT] + 2",
         "FAIL: memory, 6 of 12 words, 0 rules broken"),
        ("we <= full ? all : some;", "we <= all;", "FAIL: memory, 3 of 12 words"),
        ("addr <= WORDS + n;", "addr <= n;", "FAIL: memory, 12 of 12 words"),
        ("addr <= WORDS + n;", "addr <= 2 * WORDS + n;", "FAIL: word 12 of a memory of 12"),
        ("done <= 0;\n", "done <= 0; if (en & !mem_ack) addr <= addr + 1;\n",
         "FAIL: an access of the memory changes before mem_ack"),
        ("en <= 0; addr <= 0; done <= 1;", "addr <= 0; done <= 1;",
         "FAIL: an access of the memory while idle"),
        ("if (en & mem_ack & (we != 0)) begin", "if (en & (we != 0)) begin",
         "FAIL: cycles: expected 97, got"),
    ],
)  # fmt: skip
def test_a_wrong_access_off_chip_fails(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert_fails(tmp_path, OFF_CHIP, old, new, message)


def assert_fails(folder: Path, design: Increment, old: str, new: str, message: str) -> None:
    write_off_chip(folder, design, (old, new))
    with pytest.raises(ToolFailedError, match="vvp failed with status 1"):
        run(folder, "icarus", "increment")
    printed = (folder / "tb.log").read_text()
    assert message in printed
    assert "PASS: increment" not in printed


@needs_icarus
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("m_axi_rdata[lane*ELEMENT +: ELEMENT] + 1", "m_axi_rdata[lane*ELEMENT +: ELEMENT] + 2",
         "FAIL: memory, 6 of 518 words, 0 rules broken"),
        ("some = all >>", "some = all | all >>", "FAIL: memory, 3 of 518 words, 0 rules broken"),
        ("m_axi_arburst = 1;", "m_axi_arburst = 0;", "a burst that is not INCR"),
        ("m_axi_awsize = SIZE;", "m_axi_awsize = 2;", "a burst of words of another size"),
        ("m_axi_arlen = least - 1;", "m_axi_arlen = 16;", "a burst of more than 16 words"),
        ("m_axi_araddr = a_base + n * BYTES;", "m_axi_araddr = a_base + 4;",
         "a burst that does not begin on a word"),
        ("m_axi_araddr = a_base + n * BYTES;", "m_axi_araddr = a_base + 4088;",
         "a burst across a multiple of 4096"),
        ("m_axi_awaddr = b_base + n", "m_axi_awaddr = b_base + (WORDS + n)",
         "a burst that is in no array"),
        ("m_axi_awaddr = b_base + n", "m_axi_awaddr = a_base + (512 + n)",
         "a burst that is in no array"),
        ("b_base <= B_base;", "b_base <= A_base;", "FAIL: memory, 12 of 518 words"),
        ("m_axi_wlast = sent == least - 1;", "m_axi_wlast = sent == least;", "a wrong wlast"),
        ("m_axi_awvalid <= 1; m_axi_wvalid <= 1;", "m_axi_wvalid <= 1;",
         "a word before its address"),
        ("if (done) idle <= 1;", "if (done) begin idle <= 1; m_axi_arvalid <= 1; end",
         "a request while idle"),
        ("if (over) begin", "if (m_axi_awvalid) done <= 1; if (over) begin",
         "a burst that is not over when idle"),
        ("idle <= 0; mem_error <= 0;", "idle <= 0; mem_error <= 1;", "an error that there was not"),
        ("m_axi_bready = 1;", "m_axi_bready = 0; always @(done) m_axi_wvalid <= 1'bx;",
         "an unknown valid"),
        ("a_base <= A_base; b_base", "b_base", "a burst that is in no array"),
        ("b_base <= B_base;", "", "a burst that is in no array"),
    ],
)  # fmt: skip
def test_a_wrong_access_over_axi_fails(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert_fails(tmp_path, AXI, old, new, message)
