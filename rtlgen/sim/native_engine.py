"""Simulate on Verilator with a C++ main program instead of cocotb, about ten times as fast."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import numpy as np

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import MemoryMap
from rtlgen.sim.axi_behaviour import BusError
from rtlgen.sim.axi_model import axi_base
from rtlgen.sim.job import Job, MemoryLeft, Outcome, Result, RunRecord
from rtlgen.sim.memory_image import over_store, owners
from rtlgen.sim.models import Harness
from rtlgen.system.tools import run_tool

TOP = "rtlgen_native_top"
FOLDER = Path(__file__).with_name("native")
MAIN = FOLDER / "kernel_main.cpp"


@dataclass(frozen=True, slots=True)
class _Rename:
    """A port of the circuit under the name it has in C++."""

    port: str
    name: str
    direction: str
    width: int


def _renames(manifest: Manifest) -> list[_Rename]:
    names = {
        manifest.clock: "clock",
        manifest.reset: "reset",
        manifest.start: "start",
        manifest.done: "done",
        manifest.idle: "idle",
    }
    for number, array in enumerate(manifest.host_arrays):
        if array.ports is not None:
            for kind in ("addr", "en", "we", "wdata", "rdata"):
                names[getattr(array.ports, kind)] = f"{kind}_{number}"
    if manifest.memory is not None:
        for kind, port in asdict(manifest.memory.ports).items():
            names[port] = f"memory_{kind}"
    names.update({scalar.port: f"scalar_{i}" for i, scalar in enumerate(manifest.scalars)})
    if manifest.returned is not None:
        names[manifest.returned.port] = "returned"
    if manifest.checksum is not None:
        names[manifest.checksum] = "checksum"
    return [
        _Rename(port.name, names[port.name], port.direction, port.width)
        for port in manifest.ports
        if port.name in names
    ]


def wrapper_verilog(manifest: Manifest) -> str:
    """Return a module around the circuit whose port names are the same for every circuit."""
    renames = _renames(manifest)
    declared = ",\n".join(
        f"    {'input' if r.direction == 'in' else 'output'} [{r.width - 1}:0] {r.name}"
        for r in renames
    )
    connected = ",\n".join(f"        .\\{r.port} ({r.name})" for r in renames)
    return (
        f"module {TOP} (\n{declared}\n);\n"
        f"    \\{manifest.top} circuit (\n{connected}\n    );\nendmodule\n"
    )


def design_header(manifest: Manifest) -> str:
    """Return the C++ header that tells the main program what the wrapper has."""
    arrays = manifest.host_arrays
    rows = {
        # The memory drives its own, one of which may be wider than any number of C++.
        "INPUTS(X)": [
            f"X({r.name})"
            for r in _renames(manifest)
            if r.direction == "in" and r.name not in ("clock", "memory_rdata")
        ],
        "ARRAYS(X)": [
            f"X({n}, {a.depth}u, {(1 << a.element_bytes) - 1}u)" for n, a in enumerate(arrays)
        ],
        "SCALARS(X)": [
            f"X(scalar_{n}, {(1 << s.width) - 1}ull)" for n, s in enumerate(manifest.scalars)
        ],
        "RETURNED(top)": ["(top)->returned" if manifest.returned else "0"],
        "CHECKSUM(top)": ["(top)->checksum" if manifest.checksum else "0"],
        "ARRAY_COUNT": [str(len(arrays))],
        "SCALAR_COUNT": [str(len(manifest.scalars))],
    }
    rows |= _memory_rows(manifest.memory)
    names = ", ".join(f'"{array.name}"' for array in arrays)
    defines = "".join(f"#define {name} {' '.join(parts)}\n" for name, parts in rows.items())
    # One more than the arrays: C++ has no empty array.
    table = f'static const char* const array_names[] = {{{names}{", " if names else ""}""}};\n'
    return f"#pragma once\n{defines}{table}"


def _memory_rows(memory: MemoryMap | None) -> dict[str, list[str]]:
    """Return the file and the class of what stands behind the memory port, and its figures."""
    stem, figures = "memory", []
    if memory is not None:
        stem = "axi" if memory.is_axi else "fixed"
        figures = [memory.word_bytes, memory.depth_words, memory.latency_cycles]
        if memory.is_axi:
            figures += [axi_base(memory), int(memory.kind == "dram")]
    return {
        "MEMORY_HEADER": [f'"{stem}_port.h"'],
        "MEMORY_PORT": [f"{stem.capitalize()}Port"],
        "MEMORY_FIGURES": [", ".join(f"{figure}u" for figure in figures)],
    }


def native_harness(folder: Path, manifest: Manifest) -> tuple[Harness, Path]:
    """Write the wrapper and the header into `folder`; return the harness and the wrapper's file."""
    wrapper = folder / f"{TOP}.v"
    wrapper.write_text(wrapper_verilog(manifest), encoding="utf-8")
    (folder / "design.h").write_text(design_header(manifest), encoding="utf-8")
    return Harness(main=MAIN, compile_options=(f"-I{folder}", f"-I{FOLDER}")), wrapper


def program_text() -> str:
    """Return the text of the main program."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir()))


def run_native(
    executable: Path,
    job: Job,
    folder: Path,
    trace: Path | None = None,
    timeout_seconds: float | None = None,
) -> Result:
    """Carry out `job` and return its result; files go into `folder`.

    Raises
    ------
    ToolFailedError
    """
    arrays = job.manifest.host_arrays
    with (folder / "inputs.bin").open("wb") as file:
        for number, scalars in enumerate(job.scalars):
            for array in arrays:
                file.write(job.words[array.name][number].astype("<u8").tobytes())
            file.write(np.array(scalars, dtype="<u8").tobytes())
    if job.memory is not None:
        with (folder / "memory.bin").open("wb") as file:
            if job.manifest.memory is not None and job.manifest.memory.is_axi:
                file.write(np.fromiter(job.axi.words(), dtype="<u8").tobytes())
            owners(job.manifest).tofile(file)
            job.memory.tofile(file)
    limits = [str(job.limit_cycles), str(job.data_sets), str(job.runs), str(job.reset_cycle)]
    text = run_tool(
        [executable, *limits, *([trace] if trace else [])],
        log=folder / "simulation.log",
        cwd=folder,
        timeout_seconds=timeout_seconds,
    )
    outcome, count, repeatable, cycle, byte, message = text.splitlines()[-1].split(" ", 5)
    if int(cycle):
        message = over_store(job.manifest, int(cycle), int(byte))
    answer = np.fromfile(folder / "outputs.bin", dtype="<u8")
    run_words = answer[len(answer) - 4 * int(count) :].reshape(-1, 4).tolist()
    reached = min(len(run_words), job.data_sets)
    ends = list(itertools.accumulate((array.depth for array in arrays), initial=0))
    images = answer[: ends[-1] * reached].reshape(-1, max(1, ends[-1]))
    words = {
        array.name: images[:, start : start + array.depth].astype(f"u{array.element_bytes}")
        for array, start in zip(arrays, ends, strict=False)
    }
    return Result(
        cast(Outcome, outcome),
        message,
        tuple(_record(job.manifest, *run) for run in run_words),
        words,
        repeatable == "1",
        None if job.memory is None else _memory_left(folder / "left.bin", job, reached),
    )


def _memory_left(path: Path, job: Job, reached: int) -> MemoryLeft:
    """Read what the runs have left: of each data set the bytes, then the cycles of their writes."""
    assert job.manifest.memory is not None
    size = job.manifest.memory.bytes
    rows = np.fromfile(path, np.uint8).reshape(reached, 5 * size)
    written = np.ascontiguousarray(rows[:, size:]).view("<u4").astype(np.uint32)
    return MemoryLeft(rows[:, :size], written)


def _record(manifest: Manifest, cycles: int, returned: int, checksum: int, error: int) -> RunRecord:
    return RunRecord(
        cycles,
        returned if manifest.returned else None,
        checksum if manifest.checksum else None,
        BusError.of_code(error),
    )
