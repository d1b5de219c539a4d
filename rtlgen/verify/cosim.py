"""Simulate a generated circuit on given data.

Everything is written below `DIR/sim-SIMULATOR`: compiled models, named after all that went into
them, and a folder for each run, which is removed again when the run was good.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from rtlgen.errors import RtlgenError
from rtlgen.ir.types import type_named
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import read_verilog, unwritable
from rtlgen.sim.axi_behaviour import OUT_OF_STEP, AxiBehaviour, BusError
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.job import Job, Outcome, Result
from rtlgen.sim.off_chip import (
    NOBODYS,
    array_places,
    byte_at,
    element_of,
    image_of,
    latest_of,
    over_store,
    owners,
    words_of,
)
from rtlgen.system.files import kept_for_its_log
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
from rtlgen.verify.loading import Engine, Way, chosen_engine, loaded, optimisation_of
from rtlgen.verify.values import Elements, Value, to_words, value_of

__all__ = ["Engine", "SimulationResult", "Simulator", "simulate", "simulate_all"]


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


class SimulationChoices(TypedDict, total=False):
    """The choices of `simulate_all`."""

    simulator: Simulator
    engine: Engine
    trace: Path | None
    timeout_cycles: int | None
    runs: int
    axi: AxiBehaviour | None
    reset_cycle: int


def simulate(
    build_dir: Path, manifest: Manifest, inputs: Inputs, **choices: Unpack[SimulationChoices]
) -> SimulationResult:
    """Load `inputs`, run the circuit of `build_dir`, and read everything back.

    Parameters and raised errors are those of `simulate_all`.
    """
    (result,) = simulate_all(build_dir, manifest, [inputs], **choices)
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
    engine: `cocotb`; `native`, a C++ main program (Verilator only); `auto` takes `native` where it
        can.
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
    job = job_on(
        checked,
        manifest,
        simulator,
        timeout_cycles=timeout_cycles,
        runs=runs,
        axi=axi or AxiBehaviour(),
        reset_cycle=reset_cycle,
    )
    way = Way(
        simulator,
        chosen_engine(engine, simulator, reset_cycle),
        _writable(trace),
        optimisation_of(manifest),
    )
    base = build_dir.absolute() / f"sim-{simulator}"
    try:
        base.mkdir(exist_ok=True)
        with kept_for_its_log(base, "run-") as folder:
            begin = time.monotonic()
            with loaded(verilog, manifest, base, folder, way) as carry_out:
                built = time.monotonic()
                result = carry_out(job)
            seconds = (built - begin, time.monotonic() - built)
            return results_of(job, result, checked, folder, way, seconds)
    except OSError as error:
        raise unwritable(base, error.strerror) from error


def job_on(
    checked: Sequence[Mapping[str, Elements | Value]],
    manifest: Manifest,
    simulator: Simulator,
    *,
    timeout_cycles: int | None = None,
    runs: int = 1,
    axi: AxiBehaviour | None = None,
    reset_cycle: int = 0,
) -> Job:
    """Return the job to run on data sets that `check_inputs` has checked.

    Parameters are those of `simulate_all`.
    """
    return Job(
        manifest=manifest,
        words={
            a.name: np.stack([to_words(np.asarray(given[a.name])) for given in checked])
            for a in manifest.host_arrays
        },
        memory=_memory_contents(manifest, checked),
        scalars=tuple(
            tuple(scalar_word(given[s.name], s) for s in manifest.scalars) for given in checked
        ),
        limit_cycles=timeout_cycles or _limit_cycles(manifest, axi),
        runs=runs,
        four_state=simulator == "icarus",
        axi=axi or AxiBehaviour(),
        reset_cycle=reset_cycle,
    )


def _limit_cycles(manifest: Manifest, axi: AxiBehaviour | None) -> int:
    """Return the cycles after which a run hangs."""
    most = 4 * manifest.predicted_cycles + 1000
    # A stream pauses in 15 of 16 cycles at most.
    is_pausing = bool(manifest.streams) and axi is not None and axi.pauses > 0
    return 16 * most if is_pausing else most


def _memory_contents(manifest: Manifest, checked: Sequence[Inputs]) -> np.ndarray | None:
    """Return what is in the memory off chip, a row of bytes a data set."""
    if manifest.memory is None:
        return None
    names = {a.name for a in manifest.data_arrays} & {a.name for a in manifest.memory.arrays}
    words = [{name: to_words(np.asarray(given[name])) for name in names} for given in checked]
    return np.stack([image_of(manifest, each) for each in words])


def _writable(trace: Path | None) -> Path | None:
    """Return the absolute path of a wave file; a simulator that cannot write it would hang."""
    if trace is None:
        return None
    folder = trace.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        reason = "cannot be written" if folder.is_dir() else "is no folder"
        raise InputFileError(f"cannot write {trace}: {folder} {reason}")
    return trace.absolute()


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
    byte = byte_at(array_places(manifest.memory), error.address)
    assert byte is not None, "a burst is in an array"
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


def results_of(
    job: Job,
    result: Result,
    checked: Sequence[Mapping[str, Elements | Value]],
    folder: Path,
    way: Way,
    seconds: tuple[float, float] = (0.0, 0.0),
) -> tuple[SimulationResult, ...]:
    """Return what a job has given, for each of its data sets.

    Parameters
    ----------
    folder: where its log is. seconds: of compiling and of running.

    Raises
    ------
    HangError, UnknownOutputError, ProtocolError, MemoryRuleError, MemoryAnswerError,
    UnrepeatableError
    """
    manifest = job.manifest
    _raise_broken_rule(result, manifest, folder, job.data_sets)
    _require_rest_unchanged(job, result)
    results = []
    for number, given in enumerate(checked):
        untouched = (a.name for a in manifest.untouched_arrays if a.name in given)
        kept = {name: np.asarray(given[name]) for name in untouched}
        simulated = _simulation_result(result, number, manifest, seconds, way)
        results.append(replace(simulated, arrays={**simulated.arrays, **kept}))
    return tuple(results)


def _simulation_result(
    result: Result,
    number: int,
    manifest: Manifest,
    seconds: tuple[float, float],
    way: Way,
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
        simulator=way.simulator,
        engine=way.engine,
    )
