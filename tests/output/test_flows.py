"""The files for the flows of others work in the build directory, alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.manifest.file import read_manifest
from rtlgen.options import BadOption
from rtlgen.output.flows import FLOWS, flow_files
from rtlgen.output.flows.render import write_flows
from rtlgen.sim.verilator import find_verilator
from tests.simulators import needs_icarus

GEMM = "examples/gemm/gemm.c"
TRANSPOSED = "examples/transposed/transposed.c"
ROOT = Path(__file__).resolve().parents[2]
ALL = tuple(flow.name for flow in FLOWS)

DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "gemm": (GEMM, {"define": {"N": 4}}),
    "off chip": (TRANSPOSED, {"define": {"N": 16}, "memory": "axi", "tile": (8, 8)}),
}

needs_tcl = pytest.mark.skipif(shutil.which("tclsh") is None, reason="tclsh is not installed")


@pytest.fixture(scope="module", params=list(DESIGNS))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a build directory with the files of all flows."""
    source, options = DESIGNS[request.param]
    design = rtlgen.compile(ROOT / source, **options)
    return design.write(tmp_path_factory.mktemp("flows") / "built", flows=ALL)


@pytest.fixture
def alone(written: Path, tmp_path: Path) -> Path:
    """Return a copy of it, where nothing else is, in a folder whose name has a space."""
    return shutil.copytree(written, tmp_path / "a folder" / "copy")


def call(
    folder: Path, *command: str, tools: Sequence[Path] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a program that finds no module of this checkout, and no tools but those of its kind."""
    programs = [*tools, Path(sys.executable).parent, find_verilator().command.parent]
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR")}
    path = os.pathsep.join([*map(str, programs), "/usr/local/bin", "/usr/bin", "/bin"])
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )


def test_every_flow_writes_its_files(written: Path) -> None:
    manifest = read_manifest(written)
    files = {path.name for path in written.iterdir()}
    assert flow_files(manifest.name) <= files
    for flow in FLOWS:
        for file in flow.file_names(manifest.name):
            text = (written / file).read_text()
            assert "{{" not in text and "{%" not in text
            assert str(written) not in text, "a build directory can be moved"


def test_a_build_without_flows_takes_their_files_away(tmp_path: Path) -> None:
    design = rtlgen.compile(ROOT / GEMM, define={"N": 2})
    design.write(tmp_path, flows=["fusesoc", "edalize"])
    assert (tmp_path / "gemm.core").exists()
    design.write(tmp_path, flows=["vivado"])
    left = {path.name for path in tmp_path.iterdir()} & flow_files("gemm")
    assert left == {"gemm_vivado.tcl", "gemm_ip.tcl", "gemm.xdc"}
    with pytest.raises(BadOption, match="there is no flow makefile"):
        design.write(tmp_path, flows=["makefile"])


def test_without_a_test_bench_there_is_no_target_for_it(written: Path, tmp_path: Path) -> None:
    manifest = read_manifest(written)
    for file in (f"{manifest.name}.v", f"{manifest.name}.vlt"):
        shutil.copy(written / file, tmp_path)
    write_flows(tmp_path, manifest, FLOWS)
    text = (tmp_path / f"{manifest.name}.core").read_text()
    assert "_tb" not in text
    assert "sim" not in text
    done = call(tmp_path, "fusesoc", "core", "show", manifest.name)
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^(\w+) +:", done.stdout.partition("Targets:")[2], re.M) == [
        "default", "ecp5", "lint",
    ]  # fmt: skip


def test_a_name_that_yaml_takes_for_another_thing_is_a_name(tmp_path: Path) -> None:
    design = rtlgen.compile(source="void no(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }")
    design.write(tmp_path, flows=["fusesoc"])
    done = call(tmp_path, "fusesoc", "run", "--setup", "--target=lint", "no")
    assert done.returncode == 0, done.stdout
    (options,) = (tmp_path / "build").glob("*/lint/*.vc")
    assert "--top-module no\n" in options.read_text()


@pytest.mark.simulation
def test_fusesoc_lints(alone: Path) -> None:
    name = read_manifest(alone).name
    done = call(alone, "fusesoc", "run", "--target=lint", name)
    assert done.returncode == 0, done.stdout
    assert "%Warning" not in done.stdout
    verilog = alone / f"{name}.v"
    text = verilog.read_text()
    verilog.write_text(text.replace("\nendmodule", "\n  wire [3:0] cut = 8'd1;\nendmodule", 1))
    assert "%Warning-WIDTHTRUNC" in call(alone, "fusesoc", "run", "--target=lint", name).stdout


@needs_icarus
@pytest.mark.simulation
def test_fusesoc_runs_the_test_bench(alone: Path) -> None:
    manifest = read_manifest(alone)
    done = call(alone, "fusesoc", "run", "--target=sim", manifest.name)
    assert done.returncode == 0, done.stdout
    assert f"PASS: cycles {manifest.predicted_cycles}\n" in done.stdout
    assert f"PASS: {manifest.name}\n" in done.stdout
    (expected,) = (alone / f"{manifest.name}_tb_data").glob("[Co]*_out.hex")
    digits = expected.read_text()
    expected.write_text(digits.translate(str.maketrans("0123456789abcdef", "123456789abcdef0")))
    wrong = call(alone, "fusesoc", "run", "--clean", "--target=sim", manifest.name)
    assert wrong.returncode != 0
    assert "FAIL" in wrong.stdout


def test_fusesoc_sets_the_flow_for_ecp5_up(alone: Path) -> None:
    name = read_manifest(alone).name
    done = call(alone, "fusesoc", "run", "--setup", "--target=ecp5", name)
    assert done.returncode == 0, done.stdout
    (makefile,) = (alone / "build").glob("*/ecp5/Makefile")
    text = makefile.read_text()
    assert all(f"$(EDALIZE_LAUNCHER) {tool} " in text for tool in ("yosys", "ecppack"))
    routed, _ = re.findall(r"^.* nextpnr-ecp5 .*$", text, re.MULTILINE)
    assert "--85k --package CABGA381 --speed 6" in routed
    (procedures,) = (alone / "build").glob("*/ecp5/edalize_yosys_procs.tcl")
    assert f"{name}_on_pins.v" in procedures.read_text()


def assert_is_bitstream(file: Path) -> None:
    # The comment that a bitstream begins with, and what says for which part it is.
    assert file.read_bytes()[:2] == b"\xff\x00"
    assert b"Part: LFE5U-85F-6CABGA381" in file.read_bytes()[:200]
    log = (file.parent / "next.log").read_text()
    reached = re.findall(r"Max frequency for clock .*: ([\d.]+) MHz", log)
    assert float(reached[-1]) > 100


@pytest.mark.synthesis
@pytest.mark.long
def test_edalize_makes_a_bitstream(alone: Path) -> None:
    name = read_manifest(alone).name
    done = call(alone, sys.executable, f"{name}_edalize.py")
    assert done.returncode == 0, done.stdout[-2000:]
    bitstream = alone / "ecp5" / f"{name}.bit"
    assert done.stdout.splitlines()[-1] == str(bitstream)
    assert_is_bitstream(bitstream)


YOSYS = f"""\
#!{sys.executable}
import subprocess, sys
from pyosys import libyosys

read = 'proc yosys args {{}}; proc unknown args {{puts [join $args]}}; source ' + sys.argv[-1][4:]
lines = subprocess.check_output(["tclsh"], input=read, text=True).splitlines()
design = libyosys.Design()
for line in lines:
    design.run_pass(line)
"""
"""yosys -l LOG -p 'tcl SCRIPT', of what a Python package has: without Tcl."""


@needs_tcl
@pytest.mark.synthesis
@pytest.mark.long
def test_fusesoc_makes_a_bitstream(alone: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    programs = {"yosys": YOSYS}
    for name in ("nextpnr-ecp5", "ecppack"):
        programs[name] = f'#!/bin/sh\nexec {Path(sys.executable).parent}/yowasp-{name} "$@"\n'
    for name, text in programs.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    name = read_manifest(alone).name
    done = call(alone, "fusesoc", "run", "--target=ecp5", name, tools=[tools])
    assert done.returncode == 0, done.stdout[-2000:]
    (bitstream,) = (alone / "build").glob("*/ecp5/*.bit")
    assert_is_bitstream(bitstream)


@pytest.mark.simulation
def test_the_circuit_behind_pins_has_all_its_ports(alone: Path) -> None:
    manifest = read_manifest(alone)
    name = manifest.name
    done = call(
        alone, "verilator", "--lint-only", "-Wall", "+define+STRICT_WIDTHS", "--top-module",
        f"{name}_on_pins", f"{name}.vlt", f"{name}.v", f"{name}_on_pins.v",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    connected = re.findall(r"^        \.(\w+)\(", (alone / f"{name}_on_pins.v").read_text(), re.M)
    assert sorted(connected) == sorted(port.name for port in manifest.ports)


STUB = """\
proc unknown args { puts "CALL $args"; return "" }
rename package its_package
proc package args { puts "CALL package $args" }
set argv {}
set quartus(args) {}
source [lindex $::env(SCRIPT) 0]
"""
"""Reads a script of a vendor's tool, of which no command is known."""


def calls(folder: Path, script: str) -> list[list[str]]:
    """Return what a script calls that Tcl does not know, word by word."""
    stub = folder / "stub.tcl"
    stub.write_text(STUB)
    done = subprocess.run(
        ["tclsh", stub],
        cwd=folder,
        env={**os.environ, "SCRIPT": "{" + str(folder / script) + "}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("CALL ")]


def with_head(found: Sequence[Sequence[str]], *head: str) -> list[list[str]]:
    return [list(words) for words in found if list(words[: len(head)]) == list(head)]


@needs_tcl
def test_vivado_is_told_the_circuit(alone: Path) -> None:
    manifest = read_manifest(alone)
    name = manifest.name
    found = calls(alone, f"{name}_vivado.tcl")
    order = [words[0] for words in found]
    steps = ["create_project", "read_verilog", "read_xdc", "synth_design", "place_design",
             "route_design", "report_timing_summary", "write_checkpoint"]  # fmt: skip
    assert [step for step in order if step in steps] == steps
    (read,) = with_head(found, "read_verilog")
    assert read[-1].rstrip("}").endswith(f"/{manifest.verilog.file}")
    (synthesised,) = with_head(found, "synth_design")
    assert synthesised[1:3] == ["-top", manifest.top]
    (clock,) = with_head(calls(alone, f"{name}.xdc"), "create_clock")
    assert clock[1:5] == ["-name", manifest.clock, "-period", "10.0"]
    packaged = calls(alone, f"{name}_ip.tcl")
    assert with_head(packaged, "ipx::package_project")
    inferred = " ".join(
        " ".join(words) for words in with_head(packaged, "ipx::infer_bus_interface")
    )
    assert f"{manifest.clock} xilinx.com:signal:clock_rtl:1.0" in inferred
    assert f"{manifest.reset} xilinx.com:signal:reset_rtl:1.0" in inferred
    is_axi = manifest.memory is not None and manifest.memory.is_axi
    assert ("xilinx.com:interface:aximm_rtl:1.0" in inferred) == is_axi
    assert with_head(packaged, "ipx::save_core")


@needs_tcl
def test_quartus_is_told_every_port(alone: Path) -> None:
    manifest = read_manifest(alone)
    name = manifest.name
    found = calls(alone, f"{name}_quartus.tcl")
    virtual = [words[-1] for words in with_head(found, "set_instance_assignment", "-name")]
    assert virtual == [port.name for port in manifest.ports if port.name != manifest.clock]
    assert with_head(found, "set_global_assignment", "-name", "TOP_LEVEL_ENTITY", manifest.top)
    assert found[-2:] == [["execute_flow", "-compile"], ["project_close"]]
    (clock,) = with_head(calls(alone, f"{name}.sdc"), "create_clock")
    assert clock[1:5] == ["-name", manifest.clock, "-period", "10.0"]
    component = calls(alone, f"{name}_hw.tcl")
    ports = with_head(component, "add_interface_port")
    ways = {"in": "Input", "out": "Output"}
    assert sorted((words[2], words[4], words[5]) for words in ports) == sorted(
        (port.name, ways[port.direction], str(port.width)) for port in manifest.ports
    )
    interfaces = [words[1] for words in with_head(component, "add_interface")]
    is_axi = manifest.memory is not None and manifest.memory.is_axi
    assert interfaces == ["clock", "reset", *(["memory"] if is_axi else []), "kernel"]
    if is_axi:
        roles = {words[3] for words in ports if words[1] == "memory"}
        assert {"awaddr", "awvalid", "wstrb", "bresp", "arlen", "rlast", "rready"} <= roles
        assert not roles & {"base", "error"}
