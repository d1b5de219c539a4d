"""Simulate a generated circuit on given data.

Everything is written below `DIR/sim-SIMULATOR`: compiled models, named after all that went into
them, and a folder for each run, which is removed again when the run was good.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from rtlgen.errors import RtlgenError
from rtlgen.ir.types import type_named
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import read_verilog, unwritable
from rtlgen.sim import native_engine
from rtlgen.sim.axi_behaviour import OUT_OF_STEP, AxiBehaviour, BusError
from rtlgen.sim.axi_model import axi_base
from rtlgen.sim.cocotb_runner import (
    KERNEL_BENCH,
    Program,
    Simulator,
    run_program,
    shared_python,
    trace_format,
)
from rtlgen.sim.job import FOLDER_VARIABLE, Job, Outcome, Result
from rtlgen.sim.memory_image import (
    NOBODYS,
    element_of,
    image_of,
    latest_of,
    over_store,
    owners,
    words_of,
)
from rtlgen.sim.models import Harness, cocotb_harness, compile_icarus, compile_verilated
from rtlgen.sim.verilator import OPTIMISATION, UNOPTIMISED, Verilator, find_verilator
from rtlgen.system.files import kept_for_its_log
from rtlgen.system.tools import find_tool
from rtlgen.verify.errors import (
    HangError,
    InputFileError,
    MemoryAnswerError,
    MemoryRuleError,
    ProtocolError,
    UnknownOutputError,
    UnrepeatableError,
)
from rtlgen.verify.inputs import Inputs, check_inputs, from_words, scalar_word
from rtlgen.verify.values import Value, to_words, value_of

__all__ = ["Engine", "SimulationResult", "Simulator", "simulate", "simulate_all"]

Engine: TypeAlias = Literal["auto", "cocotb", "native"]

NATIVE_FROM_CYCLES = 200_000
"""Where the C++ main program's speed makes up for nothing being lost with it."""

OPTIMISED_FROM_CYCLES = 50_000
"""Cycles of a run from which on a model is optimised.

For a KB of Verilog, g++ takes some 5 ms longer with it, and a cycle some 8 ns shorter: it pays from
600,000 cycles on. A circuit runs at least twice on each of several data sets.
"""

SLOWEST_CYCLES_PER_SECOND = 100
"""Below this speed a simulator is taken to be stuck: the time-out is generous on purpose."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulationResult:
    """What the circuit did.

    Members
    -------
    arrays: every array that the host gives or gets, after the run, of its C type and shape.
    write_cycles: for each array off chip, the cycle in which each of its elements was last written,
        0 where it was not.
    returned: the function's result, or None.
    cycles: from the clock edge that sees start to the one that sees done.
    checksum: of the circuit's checksum unit, or None.
    seconds: of wall time simulating; build_seconds: compiling the model, 0 when it was there.
    """

    arrays: dict[str, np.ndarray]
    returned: Value | None
    cycles: int
    checksum: int | None
    seconds: float
    build_seconds: float
    simulator: Simulator
    engine: Engine
    write_cycles: Mapping[str, np.ndarray] = field(default_factory=dict)


def simulate(
    build_dir: Path,
    manifest: Manifest,
    inputs: Inputs,
    *,
    simulator: Simulator = "verilator",
    engine: Engine = "auto",
    trace: Path | None = None,
    timeout_cycles: int | None = None,
    runs: int = 1,
    axi: AxiBehaviour | None = None,
    reset_cycle: int = 0,
) -> SimulationResult:
    """Load `inputs`, run the circuit of `build_dir`, and read everything back.

    Parameters and raised errors are those of `simulate_all`.
    """
    (result,) = simulate_all(
        build_dir,
        manifest,
        [inputs],
        simulator=simulator,
        engine=engine,
        trace=trace,
        timeout_cycles=timeout_cycles,
        runs=runs,
        axi=axi,
        reset_cycle=reset_cycle,
    )
    return result


def simulate_all(
    build_dir: Path,
    manifest: Manifest,
    data_sets: Sequence[Inputs],
    *,
    simulator: Simulator = "verilator",
    engine: Engine = "auto",
    trace: Path | None = None,
    timeout_cycles: int | None = None,
    runs: int = 1,
    axi: AxiBehaviour | None = None,
    reset_cycle: int = 0,
) -> tuple[SimulationResult, ...]:
    """Run the circuit of `build_dir` on one data set after the other, without a reset between.

    Parameters
    ----------
    engine: `cocotb`; `native`, a C++ main program (Verilator only); `auto` takes `native` for
        long runs, for circuits with a memory off chip, and where Python has no shared library for
        cocotb to load.
    trace: wave file to write, .vcd or .fst.
    timeout_cycles: a run that takes longer is a hang; default 4 x predicted + 1000.
    runs: how often to go through all data sets; on one of them all runs must agree.
    axi: how a memory behind an AXI4 port behaves; by default as the cycles are predicted for.
    reset_cycle: there is a run before all others that a reset ends in that cycle (`native` only).

    Raises
    ------
    StaleVerilogError, OutputDirectoryError, InputFileError, MissingInputError, UnknownInputError,
    InputTypeError, MissingToolError, ToolFailedError, HangError, UnknownOutputError,
    ProtocolError, MemoryRuleError, MemoryAnswerError, UnrepeatableError
    """
    verilog = read_verilog(build_dir, manifest)
    checked = [check_inputs(inputs, manifest) for inputs in data_sets]
    job = Job(
        manifest=manifest,
        words={
            a.name: np.stack([to_words(np.asarray(given[a.name])) for given in checked])
            for a in manifest.host_arrays
        },
        memory=_memory_contents(manifest, checked),
        scalars=tuple(
            tuple(scalar_word(given[s.name], s) for s in manifest.scalars) for given in checked
        ),
        limit_cycles=timeout_cycles or 4 * manifest.predicted_cycles + 1000,
        runs=runs,
        four_state=simulator == "icarus",
        axi=axi or AxiBehaviour(),
        reset_cycle=reset_cycle,
    )
    chosen = _choose_engine(engine, simulator, job)
    waves = _writable(trace)
    base = build_dir.absolute() / f"sim-{simulator}"
    try:
        base.mkdir(exist_ok=True)
        with kept_for_its_log(base, "run-") as folder:
            result, seconds = _run(job, chosen, verilog, base, folder, waves, simulator)
    except OSError as error:
        raise unwritable(base, error.strerror) from error
    results = []
    for number, given in enumerate(checked):
        untouched = (a.name for a in manifest.untouched_arrays if a.name in given)
        kept = {name: np.asarray(given[name]) for name in untouched}
        simulated = _simulation_result(result, number, manifest, seconds, simulator, chosen)
        results.append(replace(simulated, arrays={**simulated.arrays, **kept}))
    return tuple(results)


def _memory_contents(manifest: Manifest, checked: Sequence[Inputs]) -> np.ndarray | None:
    """Return what is in the memory off chip, a row of bytes a data set."""
    if manifest.memory is None:
        return None
    names = {a.name for a in manifest.data_arrays} & {a.name for a in manifest.memory.arrays}
    words = [{name: to_words(np.asarray(given[name])) for name in names} for given in checked]
    return np.stack([image_of(manifest, each) for each in words])


def simulation_programs(simulator: Simulator) -> tuple[str, ...]:
    """Return the paths of the programs that a simulation runs; Verilator is a Python package.

    Raises
    ------
    MissingToolError
    """
    if simulator == "icarus":
        return find_tool("iverilog"), find_tool("vvp")
    return str(find_verilator().command), find_tool("g++", "c++")


def _writable(trace: Path | None) -> Path | None:
    """Return the absolute path of a wave file; a simulator that cannot write it would hang."""
    if trace is None:
        return None
    folder = trace.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        reason = "cannot be written" if folder.is_dir() else "is no folder"
        raise InputFileError(f"cannot write {trace}: {folder} {reason}")
    return trace.absolute()


def _run(
    job: Job,
    engine: Engine,
    verilog: Path,
    base: Path,
    folder: Path,
    waves: Path | None,
    simulator: Simulator,
) -> tuple[Result, tuple[float, float]]:
    """Do a job; return also the seconds that compiling and running took."""
    manifest = job.manifest
    begin = time.monotonic()
    if engine == "native":
        program = native_model(verilog, manifest, base, waves)
        built = time.monotonic()
        result = native_engine.run_native(program, job, folder, waves, _time_limit(job))
    else:
        driven = _cocotb_program(verilog, manifest, simulator, base, folder, waves)
        built = time.monotonic()
        job.write(folder)
        variables = {FOLDER_VARIABLE: str(folder)}
        run_program(driven, [KERNEL_BENCH], folder, variables, _time_limit(job))
        result = Result.read(folder)
    _raise_broken_rule(result, manifest, folder, job.data_sets)
    _require_rest_unchanged(job, result)
    return result, (built - begin, time.monotonic() - built)


def _choose_engine(engine: Engine, simulator: Simulator, job: Job) -> Engine:
    if simulator == "icarus":
        if engine == "native" or job.reset_cycle:
            raise ValueError("the native engine needs Verilator")
        return "cocotb"
    if job.reset_cycle and engine == "cocotb":
        raise ValueError("only the native engine ends a run by a reset")
    if engine != "auto":
        return engine
    # A memory off chip is served in every cycle: cocotb starts later than C++ ends.
    is_long = (
        job.manifest.memory is not None
        or job.data_sets * job.manifest.predicted_cycles > NATIVE_FROM_CYCLES
    )
    return "native" if is_long or shared_python() is None else "cocotb"


def _time_limit(job: Job) -> float:
    host = 2 * max((entry.depth for entry in job.manifest.host_arrays), default=0)
    return 60 + job.runs * job.data_sets * (job.limit_cycles + host) / SLOWEST_CYCLES_PER_SECOND


def _cocotb_program(
    verilog: Path,
    manifest: Manifest,
    simulator: Simulator,
    base: Path,
    folder: Path,
    trace: Path | None,
) -> Program:
    if simulator == "icarus":
        return Program(
            simulator, compile_icarus([verilog], manifest.top, folder, trace), manifest.top, trace
        )
    ports = [port.name for port in manifest.ports]

    def compile_in(place: Path, verilator: Verilator) -> None:
        harness = cocotb_harness(ports, place / "public.vlt", manifest.top)
        harness = replace(harness, optimisation=_optimisation(manifest))
        compile_verilated(verilator, [verilog], manifest.top, place, harness, trace_format(trace))

    model = _cached_model(base, "cocotb", manifest, trace, compile_in)
    return Program(simulator, model, manifest.top, trace)


def _optimisation(manifest: Manifest) -> str:
    """Return the option for g++ with which a circuit is built and run soonest."""
    return UNOPTIMISED if manifest.predicted_cycles < OPTIMISED_FROM_CYCLES else OPTIMISATION


def native_model(verilog: Path, manifest: Manifest, base: Path, trace: Path | None = None) -> Path:
    """Return the C++ program of a circuit, compiled below `base` when it is not there yet."""

    def compile_in(place: Path, verilator: Verilator) -> None:
        harness: Harness
        harness, wrapper = native_engine.native_harness(place, manifest)
        harness = replace(harness, optimisation=_optimisation(manifest))
        compile_verilated(
            verilator,
            [wrapper, verilog],
            native_engine.TOP,
            place,
            harness,
            trace_format(trace),
        )

    return _cached_model(base, "native", manifest, trace, compile_in)


def _cached_model(
    base: Path,
    engine: Engine,
    manifest: Manifest,
    trace: Path | None,
    compile_in: Callable[[Path, Verilator], None],
) -> Path:
    """Return the executable for exactly this Verilog, compiled when it is not there yet.

    It is compiled in a folder of its own that is renamed at the end, so a model is whole or absent.
    """
    verilator = find_verilator()
    parts = [manifest.verilog.sha256, str(verilator.root), native_engine.design_header(manifest)]
    if engine == "native":
        parts.append(native_engine.program_text())
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    family = f"model-{engine}-{trace_format(trace)}-"
    place = base / f"{family}{key}"
    executable = place / "simulation"
    if executable.exists():
        return executable
    with kept_for_its_log(base, "compile-") as scratch:
        compile_in(scratch, verilator)
        # Models of earlier Verilog in this directory: nothing will ask for them again.
        for stale in base.glob(f"{family}*"):
            shutil.rmtree(stale, ignore_errors=True)
        try:
            scratch.rename(place)
        except OSError:
            if not executable.exists():
                raise
    return executable


_RULES: dict[Outcome, tuple[type[RtlgenError], str]] = {
    "hang": (HangError, "record the signals with --trace FILE.vcd"),
    "unknown": (UnknownOutputError, "record the signals with --trace FILE.vcd"),
    "protocol": (ProtocolError, "record the signals with --trace FILE.vcd"),
    "memory": (MemoryRuleError, "record the signals with --trace FILE.vcd"),
}


def _raise_broken_rule(
    result: Result, manifest: Manifest, folder: Path, data_sets: int = 1
) -> None:
    log = f"the log is {os.path.relpath(folder / 'simulation.log')}"
    if result.outcome != "done":
        kind, remedy = _RULES[result.outcome]
        notes = [f"predicted cycles: {manifest.predicted_cycles}"]
        if len(result.runs):
            notes.append(f"runs that came to their end before: {len(result.runs)}")
        raise kind(f"{manifest.name}: {result.message}", notes=notes, help=f"{remedy}; {log}")
    failed = [(number, run.error) for number, run in enumerate(result.runs, 1) if run.error]
    if failed:
        number, error = failed[0]
        raise MemoryAnswerError(
            f"{manifest.name}: the memory answered with an error in run {number} "
            f"of {len(result.runs)}",
            notes=[
                f"first error of the run: {error}{_place_of(manifest, error)}",
                f"runs without an error: {len(result.runs) - len(failed)}",
            ],
            help=log,
        )
    if not result.repeatable:
        cycles = [run.cycles for run in result.runs]
        raise UnrepeatableError(
            f"{manifest.name}: {len(cycles) // data_sets} runs on the same inputs gave different "
            "results",
            notes=[f"cycles of the runs: {', '.join(map(str, cycles))}"],
            help=log,
        )


def _place_of(manifest: Manifest, error: BusError) -> str:
    assert manifest.memory is not None
    if error.response == OUT_OF_STEP:
        return ""
    byte = error.address - axi_base(manifest.memory)
    return f", byte {byte} of the memory, {element_of(manifest, byte) or 'in no array'}"


def _require_rest_unchanged(job: Job, result: Result) -> None:
    """Require that what lies between arrays is as it was: no store goes there."""
    if job.memory is None or result.memory is None:
        return
    rest = owners(job.manifest) == NOBODYS
    sets = len(result.memory.bytes)
    changed = np.argwhere(rest & (result.memory.bytes != job.memory[:sets]))
    if len(changed):
        number, byte = changed[0].tolist()
        cycle = int(result.memory.written[number, byte])
        raise MemoryRuleError(
            f"{job.manifest.name}: {over_store(job.manifest, cycle, byte)}",
            notes=[f"bytes between arrays that changed: {len(changed)}"],
        )


def _simulation_result(
    result: Result,
    number: int,
    manifest: Manifest,
    seconds: tuple[float, float],
    simulator: Simulator,
    engine: Engine,
) -> SimulationResult:
    run = result.runs[number]
    returned: Value | None = run.returned
    if run.returned is not None and manifest.returned is not None:
        returned = value_of(run.returned, type_named(manifest.returned.type))
    words = {name: rows[number] for name, rows in result.words.items()}
    write_cycles = {}
    for place in manifest.memory.arrays if manifest.memory else ():
        assert result.memory is not None
        words[place.name] = words_of(result.memory.bytes[number], place)
        latest = latest_of(result.memory.written[number], place)
        write_cycles[place.name] = latest.reshape(place.shape)
    return SimulationResult(
        arrays={a.name: from_words(words[a.name], a) for a in manifest.data_arrays},
        write_cycles=write_cycles,
        returned=returned,
        cycles=run.cycles,
        checksum=run.checksum,
        seconds=seconds[1],
        build_seconds=seconds[0],
        simulator=simulator,
        engine=engine,
    )
