"""Run cocotb test modules on Verilog, in Verilator or Icarus.

cocotb's own runner does the same, but prints to standard output, reads pytest's environment, and
ends the process when a test fails. Here a failure is an exception, and all output is in a log.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from xml.etree import ElementTree

import cocotb_tools.config
import find_libpython

from rtlgen.errors import RtlgenError
from rtlgen.sim.models import cocotb_harness, compile_icarus, compile_verilated
from rtlgen.sim.verilator import TraceFormat, find_verilator
from rtlgen.system.tools import LOG_TAIL_LINES, find_tool, run_tool, tool_failed

Simulator: TypeAlias = Literal["verilator", "icarus"]
SIMULATORS: tuple[Simulator, ...] = ("verilator", "icarus")

KERNEL_BENCH = "rtlgen.sim.kernel_bench"
"""The module with which generated kernels are driven."""

REPOSITORY = Path(__file__).resolve().parents[2]


class CocotbTestFailedError(RtlgenError):
    """A cocotb test failed inside the simulator.

    Component tests drive one hardware block through cocotb. The message names the tests that
    failed, and the log holds what the simulator and the tests printed, with each traceback.
    """

    code = "E0503"
    exit_code = 1


class NoSharedPythonError(RtlgenError):
    """The running Python has no shared library (libpython), which cocotb loads into a simulator.

    Some Python builds are linked statically, such as pyenv's without
    `PYTHON_CONFIGURE_OPTS=--enable-shared`. The native engine needs none:

        rtlgen verify gemm.c --simulator verilator

    uses it by itself on such a Python. For Icarus, use a Python with the library; Debian's has it
    in the package libpython3.11.
    """

    code = "E0504"
    exit_code = 3


ON_RISING_EDGES = {"COCOTB_TRUST_INERTIAL_WRITES": "0"}
"""Environment of a bench that changes inputs on rising clock edges, as cocotbext-axi does: what it
writes then comes behind all that the edge itself does. Others need not wait for that."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled simulation that cocotb can drive.

    Members
    -------
    file: executable (Verilator) or vvp file (Icarus).
    trace: the wave file that a run writes, or None.
    """

    simulator: Simulator
    file: Path
    top: str
    trace: Path | None = None

    def command(self) -> list[str | Path]:
        """Return the command line of a run."""
        if self.simulator == "verilator":
            # Registers without a reset value start at random, so that reliance on 0 is seen.
            plusargs = ["+verilator+rand+reset+2", "+verilator+seed+1"]
            waves = ["--trace", "--trace-file", str(self.trace)] if self.trace else []
            return [self.file, *waves, *plusargs]
        interface = cocotb_tools.config.lib_entry("vpi", "icarus")
        options = ["-n", "-m", interface]
        return [find_tool("vvp"), *options, self.file, f"-{trace_format(self.trace)}"]


def trace_format(trace: Path | None) -> TraceFormat:
    """Return the format of a wave file by the end of its name: fst, or else VCD."""
    if trace is None:
        return "none"
    return "fst" if trace.suffix == ".fst" else "vcd"


@functools.lru_cache(maxsize=1)
def shared_python() -> str | None:
    """Return the path of this Python's shared library, or None."""
    return find_libpython.find_libpython()


def _environment(top: str, modules: Sequence[str], results: Path) -> dict[str, str]:
    """Return the variables that cocotb reads, for this interpreter and its import path."""
    library = shared_python()
    if library is None:
        raise NoSharedPythonError(
            f"{sys.executable} has no shared library for cocotb to load",
            help="use the native engine on Verilator, or a Python with libpython",
        )
    return {
        "COCOTB_TOPLEVEL": top,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_TEST_MODULES": ",".join(modules),
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_ANSI_OUTPUT": "0",
        # By default cocotb rewrites the assertions of all that is imported, which takes 2 seconds
        # for NumPy alone; only those of tests are worth it. The bench of kernels asserts nothing.
        "COCOTB_REWRITE_ASSERTION_FILES": " ".join(
            f"{m.split('.')[-1]}.py" for m in modules if m != KERNEL_BENCH
        ),
        # It asks pytest to do that, which would load whatever plugins this Python has.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "GPI_USERS": f"{library};{cocotb_tools.config.pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path]),
        "PATH": os.pathsep.join([os.environ["PATH"], str(cocotb_tools.config.libs_dir)]),
    }


def run_program(
    program: Program,
    modules: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> None:
    """Run the cocotb tests of `modules` on `program`; logs and results go into `folder`.

    Raises
    ------
    CocotbTestFailedError: a test failed.
    ToolFailedError: the simulator did.
    """
    results = folder / "results.xml"
    log = folder / "simulation.log"
    results.unlink(missing_ok=True)
    variables = _environment(program.top, modules, results)
    text = run_tool(
        program.command(),
        log=log,
        cwd=folder,
        environment={**variables, **(environment or {})},
        timeout_seconds=timeout_seconds,
    )
    if not results.exists():
        raise tool_failed(program.command(), 1, text, log)
    cases = ElementTree.parse(results).getroot().iter("testcase")
    failed = [
        case.get("name", "?")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    if failed:
        tail = "\n".join(text.strip().splitlines()[-LOG_TAIL_LINES:])
        raise CocotbTestFailedError(
            f"cocotb test {', '.join(failed)} failed", notes=[tail], help=f"all it printed: {log}"
        )


def run_tests(
    sources: Iterable[Path],
    top: str,
    modules: Sequence[str],
    simulator: Simulator,
    folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    trace: Path | None = None,
) -> None:
    """Compile the Verilog `sources` in `folder` and run cocotb test modules on module `top`.

    Every signal of the design can be reached. For tests of components; a generated kernel is
    simulated by `rtlgen.verify.cosim`.

    Raises
    ------
    CocotbTestFailedError, ToolFailedError, MissingToolError
    """
    folder.mkdir(parents=True, exist_ok=True)
    if simulator == "verilator":
        harness = cocotb_harness((), folder / "public.vlt", top)
        file = compile_verilated(
            find_verilator(), sources, top, folder, harness, trace_format(trace)
        )
    else:
        file = compile_icarus(sources, top, folder, trace)
    run_program(Program(simulator, file, top, trace), modules, folder, environment)
