"""Make a circuit ready to be simulated: compile its model, and load it where it can stay."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import cocotb_tools.config

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import DRIVER_FOLDER
from rtlgen.sim import native_engine
from rtlgen.sim.cocotb_runner import (
    KERNEL_BENCH,
    Program,
    Simulator,
    run_program,
    trace_format,
)
from rtlgen.sim.job import DRIVERS_VARIABLE, FOLDER_VARIABLE, Job, Result
from rtlgen.sim.models import Harness, cocotb_harness, compile_icarus, compile_verilated
from rtlgen.sim.native_engine import NativeCircuit
from rtlgen.sim.verilator import (
    OPTIMISATION,
    UNOPTIMISED,
    Verilator,
    compiler_version,
    find_verilator,
)
from rtlgen.system.cache import cache_folder, copy_kept, keep_copy
from rtlgen.system.files import kept_for_its_log
from rtlgen.system.tools import find_tool

Engine: TypeAlias = Literal["auto", "cocotb", "native"]

OPTIMISED_FROM_CYCLES = 50_000
"""Cycles of a run from which on a model is optimised.

For a KB of Verilog, g++ takes some 5 ms longer with it, and a cycle some 8 ns shorter: it pays from
600,000 cycles on. A circuit runs at least twice on each of several data sets.
"""

SLOWEST_CYCLES_PER_SECOND = 100
"""Below this speed a simulator is taken to be stuck: the time-out is generous on purpose."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a circuit is simulated.

    Members
    -------
    trace: absolute path of the wave file to write, .vcd or .fst, or None.
    optimisation: option for g++ with which Verilator's model is compiled.
    """

    simulator: Simulator
    engine: Engine
    trace: Path | None
    optimisation: str


@contextlib.contextmanager
def loaded(
    verilog: Path, manifest: Manifest, base: Path, folder: Path, way: Way
) -> Iterator[Callable[[Job], Result]]:
    """Compile a circuit if need be, and load it; what carries out jobs on it does so in the block.

    Parameters
    ----------
    base: where compiled models are kept. folder: for logs and whatever else there is of a run.

    Raises
    ------
    MissingToolError, ToolFailedError: so does what carries out jobs; it can be called again.
    """
    if way.engine == "native":
        program = native_model(verilog, manifest, base, way)
        with NativeCircuit(program, folder, way.trace) as circuit:
            yield lambda job: circuit.carry_out(job, _time_limit(job))
        return
    driven = _cocotb_program(verilog, manifest, base, folder, way)

    def carry_out(job: Job) -> Result:
        job.write(folder)
        drivers = verilog.parent / DRIVER_FOLDER
        variables = {FOLDER_VARIABLE: str(folder), DRIVERS_VARIABLE: str(drivers)}
        run_program(driven, [KERNEL_BENCH], folder, variables, _time_limit(job))
        return Result.read(folder)

    yield carry_out


def simulation_programs(simulator: Simulator) -> tuple[str, ...]:
    """Return the paths of the programs that a simulation runs; Verilator is a Python package.

    Raises
    ------
    MissingToolError
    """
    if simulator == "icarus":
        return find_tool("iverilog"), find_tool("vvp")
    return str(find_verilator().command), find_tool("g++", "c++")


def chosen_engine(engine: Engine, simulator: Simulator, reset_cycle: int = 0) -> Engine:
    """Return the engine that is meant: the C++ main program wherever there is Verilator."""
    if simulator == "icarus":
        if engine == "native" or reset_cycle:
            raise ValueError("the native engine needs Verilator")
        return "cocotb"
    if reset_cycle and engine == "cocotb":
        raise ValueError("only the native engine ends a run by a reset")
    return "native" if engine == "auto" else engine


def _time_limit(job: Job) -> float:
    host = 2 * max((entry.depth for entry in job.manifest.host_arrays), default=0)
    return 60 + job.runs * job.data_sets * (job.limit_cycles + host) / SLOWEST_CYCLES_PER_SECOND


def _cocotb_program(
    verilog: Path, manifest: Manifest, base: Path, folder: Path, way: Way
) -> Program:
    top, trace = manifest.top, way.trace
    if way.simulator == "icarus":
        return Program(way.simulator, compile_icarus([verilog], top, folder, trace), top, trace)
    ports = [port.name for port in manifest.ports]

    def compile_in(place: Path, verilator: Verilator) -> None:
        harness = cocotb_harness(ports, place / "public.vlt", top)
        harness = replace(harness, optimisation=way.optimisation)
        compile_verilated(verilator, [verilog], top, place, harness, trace_format(trace))

    file = _cached_model(base, verilog, manifest, way, compile_in)
    return Program(way.simulator, file, top, trace)


def optimisation_of(manifest: Manifest) -> str:
    """Return the option for g++ with which a circuit is built and run soonest, once."""
    return UNOPTIMISED if manifest.predicted_cycles < OPTIMISED_FROM_CYCLES else OPTIMISATION


def native_model(verilog: Path, manifest: Manifest, base: Path, way: Way) -> Path:
    """Return the C++ program of a circuit, compiled below `base` when it is not there yet."""
    drivers = verilog.parent / DRIVER_FOLDER

    def compile_in(place: Path, verilator: Verilator) -> None:
        harness: Harness
        harness, wrapper = native_engine.native_harness(place, manifest, drivers)
        harness = replace(harness, optimisation=way.optimisation)
        compile_verilated(
            verilator,
            [wrapper, verilog],
            native_engine.TOP,
            place,
            harness,
            trace_format(way.trace),
        )

    return _cached_model(base, verilog, manifest, way, compile_in)


def _cached_model(
    base: Path,
    verilog: Path,
    manifest: Manifest,
    way: Way,
    compile_in: Callable[[Path, Verilator], None],
) -> Path:
    """Return the executable for exactly this Verilog, compiled when it is not there yet.

    It is compiled in a folder of its own that is renamed at the end, so a model is whole or absent.
    The cache has one for all folders in which the same circuit is simulated.
    """
    verilator = find_verilator()
    key = hashlib.sha256("\n".join(_model_parts(verilog, manifest, way, verilator)).encode())
    family = f"model-{way.engine}-{trace_format(way.trace)}-"
    name = f"{family}{key.hexdigest()[:16]}"
    place, kept = base / name, cache_folder() / name
    executable = place / "simulation"
    if executable.exists():
        return executable
    with kept_for_its_log(base, "compile-") as scratch:
        if not copy_kept(kept, scratch):
            compile_in(scratch, verilator)
            keep_copy(scratch, kept)
        # Models of earlier Verilog in this directory: nothing will ask for them again.
        for stale in base.glob(f"{family}*"):
            shutil.rmtree(stale, ignore_errors=True)
        try:
            scratch.rename(place)
        except OSError:
            if not executable.exists():
                raise
    return executable


def _model_parts(verilog: Path, manifest: Manifest, way: Way, verilator: Verilator) -> list[str]:
    """Return all that a model is made from."""
    compiler = find_tool("g++", "c++")
    parts = [str(verilator.root), compiler, compiler_version(compiler), way.optimisation]
    parts.append(verilog.read_text(encoding="utf-8"))
    if way.engine == "cocotb":
        return [*parts, str(cocotb_tools.config.libs_dir), *(p.name for p in manifest.ports)]
    parts += [native_engine.wrapper_verilog(manifest), native_engine.design_header(manifest)]
    parts.append(native_engine.program_text())
    if manifest.registers is not None:
        drivers = sorted((verilog.parent / DRIVER_FOLDER).glob("*.[ch]"))
        parts += [path.read_text(encoding="utf-8") for path in drivers]
    return parts
