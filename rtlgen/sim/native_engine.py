"""Simulate on Verilator with a C++ main program instead of cocotb, about ten times as fast."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import numpy as np

from rtlgen.manifest.contents import Manifest, c_type
from rtlgen.manifest.memory_map import AXI_ADDRESS_BITS, MemoryMap
from rtlgen.manifest.registers import ERRORS
from rtlgen.sim.axi_behaviour import BusError
from rtlgen.sim.job import Job, MemoryLeft, Outcome, Result, RunRecord, Words
from rtlgen.sim.models import Harness
from rtlgen.sim.off_chip import array_places, over_store, owners
from rtlgen.system.coprocess import Coprocess, Exchange

TOP = "rtlgen_native_top"
BASES = "memory_bases"
"""Of the wrapper: the addresses of arrays behind an AXI4 port, the first one in the low bits."""
_EACH = "RTLGEN_EACH"
"""What is said of each argument; C may have any shorter name."""

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
    names: dict[str | None, str] = {
        manifest.clock: "clock",
        manifest.reset: "reset",
        manifest.start: "start",
        manifest.done: "done",
        manifest.idle: "idle",
        manifest.interrupt: "irq",
        manifest.swap: "swap",
    }
    for number, array in enumerate(manifest.host_arrays):
        if array.ports is not None:
            for kind in ("addr", "en", "we", "wdata", "rdata"):
                names[getattr(array.ports, kind)] = f"{kind}_{number}"
        if array.stream is not None:
            for pin, port in asdict(array.stream).items():
                names[port] = f"stream_{number}_{pin}"
    names |= {port: f"stream_error_{number}" for number, port in enumerate(manifest.stream_errors)}
    if manifest.memory is not None:
        for kind, port in asdict(manifest.memory.ports).items():
            names[port] = f"memory_{kind}"
    names.update({scalar.port: f"scalar_{i}" for i, scalar in enumerate(manifest.scalars)})
    if manifest.returned is not None:
        names[manifest.returned.port] = "returned"
    names[manifest.checksum] = "checksum"
    if manifest.control_prefix is not None:
        prefix = manifest.control_prefix
        ports = [port.name for port in manifest.ports if port.name.startswith(prefix)]
        names |= {name: f"control_{name.removeprefix(prefix)}" for name in ports}
    return [
        _Rename(port.name, names[port.name], port.direction, port.width)
        for port in manifest.ports
        if port.name in names
    ]


def base_slices(memory: MemoryMap | None) -> list[tuple[str | None, str]]:
    """Return the inputs for the bases of arrays, and which bits of the wrapper's each one is.

    Those of a block are registers: nobody has these bits.
    """
    if memory is None or not memory.is_axi:
        return []
    found = []
    for number, place in enumerate(array_places(memory)):
        port, first = place.array.base_port, number * AXI_ADDRESS_BITS
        found.append((port, f"{BASES}[{first + AXI_ADDRESS_BITS - 1}:{first}]"))
    return found


def wrapper_verilog(manifest: Manifest) -> str:
    """Return a module around the circuit whose port names are the same for every circuit."""
    renames, bases = _renames(manifest), base_slices(manifest.memory)
    declarations = [
        f"    {'input' if r.direction == 'in' else 'output'} [{r.width - 1}:0] {r.name}"
        for r in renames
    ]
    if bases:
        declarations.append(f"    input [{len(bases) * AXI_ADDRESS_BITS - 1}:0] {BASES}")
    declared = ",\n".join(declarations)
    is_block = manifest.registers is not None
    wires = {r.port: f"~{r.name}" if is_block and r.name == "reset" else r.name for r in renames}
    wires |= {port: wire for port, wire in bases if port is not None}
    connected = ",\n".join(f"        .\\{port} ({wire})" for port, wire in wires.items())
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
        # Of all arrays that the host gives and gets, those that are held on chip.
        "ARRAYS(X)": [
            f"X({n}, {a.depth}u, {(1 << a.element_bytes) - 1}u)"
            for n, a in enumerate(arrays)
            if a.stream is None
        ],
        "ARRAY_COUNT": [str(len(arrays))],
        "DEPTHS": [", ".join(f"{a.depth}u" for a in arrays)],
        **_stream_rows(manifest),
        "SCALAR_COUNT": [str(len(manifest.scalars))],
    }
    rows |= _memory_rows(manifest.memory)
    rows |= _pin_rows(manifest) if manifest.registers is None else _block_rows(manifest)
    names = ", ".join(f'"{array.name}"' for array in arrays)
    defines = "".join(f"#define {name} {' '.join(parts)}\n" for name, parts in rows.items())
    # One more than the arrays: C++ has no empty array.
    table = f'static const char* const array_names[] = {{{names}{", " if names else ""}""}};\n'
    return f"#pragma once\n{defines}{table}"


def _stream_rows(manifest: Manifest) -> dict[str, list[str]]:
    """Return the streams by their numbers among all arrays, and among themselves; see streams.h."""
    numbers = {array.name: number for number, array in enumerate(manifest.host_arrays)}
    rows: dict[str, list[str]] = {"SOURCES(X)": [], "SINKS(X)": []}
    for number, array in enumerate(manifest.streams):
        row = f'X({numbers[array.name]}, {number}, {array.depth}u, "{array.name}")'
        rows["SOURCES(X)" if array.role == "in" else "SINKS(X)"].append(row)
    return rows


def _pin_rows(manifest: Manifest) -> dict[str, list[str]]:
    """Return what the host of a kernel needs to know; see pin_host.h."""
    memory = manifest.memory
    is_axi = memory is not None and memory.is_axi
    told = ("error", "error_address", "error_write", "error_response") if is_axi else ()
    return {
        "HOST_HEADER": ['"pin_host.h"'],
        "SCALARS(X)": [
            f"X(scalar_{n}, {(1 << s.width) - 1}ull)" for n, s in enumerate(manifest.scalars)
        ],
        "RETURNED(top)": ["(top).returned" if manifest.returned else "0"],
        "CHECKSUM(top)": ["(top).checksum" if manifest.checksum else "0"],
        "STREAM_ERRORS(top)": [
            " | ".join(f"(top).stream_error_{n}" for n, _ in enumerate(manifest.stream_errors))
            or "0"
        ],
        **({"SWAP": ["swap"]} if manifest.swap else {}),
        "TOLD(top)": [f"Told{{{', '.join(f'(top).memory_{name}' for name in told)}}}"],
    }


def _block_rows(manifest: Manifest) -> dict[str, list[str]]:
    """Return what the host of a block needs to know of its driver; see register_host.h."""
    registers, memory, name = manifest.registers, manifest.memory, manifest.name
    assert registers is not None, "a block has registers"
    upper = name.upper()
    codes = {error: code for code, (error, _) in enumerate(ERRORS)}
    response = registers.register("ERROR").field("RESPONSE").low if memory is not None else 0
    places = array_places(memory) if memory is not None else ()
    address = f"{name}_error_address(device)" if memory is not None else "0"
    return {
        "HOST_HEADER": ['"register_host.h"'],
        "DRIVER_FILE": [f'"{name}.c"'],
        "DRIVER(function)": [f"{name}_##function"],
        "DEVICE": [f"{name}_device"],
        "AT(name)": [f"{upper}_AT_##name"],
        f"{upper}_READ32(device, offset)": ["rtlgen_read32(offset)"],
        f"{upper}_WRITE32(device, offset, value)": ["rtlgen_write32(offset, value)"],
        f"BLOCK_ARRAYS({_EACH})": [
            f"{_EACH}({n}, {a.depth}u, {a.name}, {c_type(a.type)})"
            for n, a in enumerate(manifest.host_arrays)
            if a.stream is None
        ],
        f"BLOCK_SCALARS({_EACH})": [
            f"{_EACH}({s.name}, {c_type(s.type)})" for s in manifest.scalars
        ],
        f"BLOCK_BASES({_EACH})": [f"{_EACH}({p.array.name}, {p.address}u)" for p in places],
        "RETURNED(device)": [f"bits_of({name}_result(device))" if manifest.returned else "0"],
        **({"HAS_TWINS": ["1"]} if any(a.is_double for a in manifest.host_arrays) else {}),
        "CHECKSUM(device)": [f"{name}_checksum(device)" if manifest.has_checksum else "0"],
        "ERROR_ADDRESS(device)": [address],
        "ERROR_RESPONSE_BIT": [str(response)],
        **{f"ERROR_{error}": [str(codes[error])] for error in ("READ", "WRITE", "ANSWER")},
    }


def _memory_rows(memory: MemoryMap | None) -> dict[str, list[str]]:
    """Return the file and the class of what stands behind the memory port, and its figures."""
    stem, figures = "memory", []
    if memory is not None:
        stem = "axi" if memory.is_axi else "fixed"
        figures = [f"{memory.word_bytes}u", f"{memory.depth_words}u", f"{memory.latency_cycles}u"]
        if memory.is_axi:
            places = array_places(memory)
            rows = (f"{{{p.address}u, {p.first_byte}u, {p.bytes}u}}" for p in places)
            figures += ["true" if memory.kind == "dram" else "false", f"{{{', '.join(rows)}}}"]
    return {
        "MEMORY_HEADER": [f'"{stem}_port.h"'],
        "MEMORY_PORT": [f"{stem.capitalize()}Port"],
        "MEMORY_FIGURES": [", ".join(figures)],
    }


def native_harness(folder: Path, manifest: Manifest, drivers: Path) -> tuple[Harness, Path]:
    """Write the wrapper and the header into `folder`; return the harness and the wrapper's file.

    Parameters
    ----------
    drivers: the folder with the drivers, of a block.
    """
    wrapper = folder / f"{TOP}.v"
    wrapper.write_text(wrapper_verilog(manifest), encoding="utf-8")
    (folder / "design.h").write_text(design_header(manifest), encoding="utf-8")
    folders = (folder, FOLDER, *((drivers,) if manifest.registers is not None else ()))
    options = tuple(f"-I{each}" for each in folders)
    return Harness(main=MAIN, compile_options=options), wrapper


def program_text() -> str:
    """Return the text of the main program."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir()))


class NativeCircuit:
    """A circuit in a C++ program, which takes one job after the other.

    A context manager that ends the program; one that has crashed, or was broken off in the middle
    of a job, is started again by the next one.

    Parameters
    ----------
    folder: for its log, `simulation.log`.
    trace: wave file that it writes of all that it does, whole at the end.
    """

    def __init__(self, executable: Path, folder: Path, trace: Path | None = None) -> None:
        self._command: list[str | Path] = [executable, *([trace] if trace else [])]
        self._folder = folder
        self._process: Coprocess | None = None

    def __enter__(self) -> NativeCircuit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        if error is None:
            self.close()
        else:
            self.kill()

    def carry_out(self, job: Job, timeout_seconds: float | None = None) -> Result:
        """Carry out `job` and return its result.

        Raises
        ------
        ToolFailedError: the program crashed, or took too long.
        """
        if self._process is None or not self._process.is_usable:
            log = self._folder / "simulation.log"
            self._process = Coprocess(self._command, log=log, cwd=self._folder)
        with self._process.exchange(timeout_seconds) as exchange:
            exchange.send(_request(job))
            return _answer(job, exchange)

    def close(self) -> None:
        """End the program, and wait for the last of the waves.

        Raises
        ------
        ToolFailedError: it did not end well.
        """
        if self._process is not None and self._process.is_usable:
            self._process.end(bytes(8))

    def kill(self) -> None:
        """End the program where it is."""
        if self._process is not None:
            self._process.kill()


def _words(*words: int) -> bytes:
    return np.array(words, dtype="<u8").tobytes()


def _request(job: Job) -> bytes:
    """Return a job as kernel_main.cpp takes it."""
    pauses = job.axi.pauses if job.manifest.streams else 0
    parts = [_words(1, job.limit_cycles, job.data_sets, job.runs, job.reset_cycle, pauses)]
    if job.memory is not None:
        if job.manifest.memory is not None and job.manifest.memory.is_axi:
            parts.append(_words(*job.axi.words()))
        parts.append(owners(job.manifest).tobytes())
    for number, scalars in enumerate(job.scalars):
        parts += [
            job.words[array.name][number].astype("<u8").tobytes()
            for array in job.manifest.host_arrays
        ]
        parts.append(_words(*scalars))
        if job.memory is not None:
            parts.append(job.memory[number].tobytes())
    return b"".join(parts)


def _answer(job: Job, exchange: Exchange) -> Result:
    """Return the result that kernel_main.cpp answers."""
    head = np.frombuffer(exchange.receive(6 * 8), "<u8").tolist()
    run_count, reached, repeatable, cycle, byte, length = head
    outcome, message = exchange.receive(length).decode().split(" ", 1)
    if cycle:
        message = over_store(job.manifest, cycle, byte)
    runs = np.frombuffer(exchange.receive(run_count * 4 * 8), "<u8").reshape(-1, 4).tolist()
    arrays, memory = job.manifest.host_arrays, job.manifest.memory
    ends = list(itertools.accumulate((8 * array.depth for array in arrays), initial=0))
    size = 0 if memory is None else memory.bytes
    rows = np.frombuffer(exchange.receive(reached * (ends[-1] + 5 * size)), np.uint8)
    rows = rows.reshape(reached, ends[-1] + 5 * size)
    words = {
        array.name: _columns(rows, start, 8 * array.depth, "<u8").astype(f"u{array.element_bytes}")
        for array, start in zip(arrays, ends, strict=False)
    }
    left = None
    if memory is not None:
        left = MemoryLeft(
            _columns(rows, ends[-1], size, "u1"),
            _columns(rows, ends[-1] + size, 4 * size, "<u4").astype(np.uint32),
        )
    records = tuple(_record(job.manifest, *run) for run in runs)
    return Result(cast(Outcome, outcome), message, records, words, bool(repeatable), left)


def _columns(rows: Words, start: int, count: int, kind: str) -> Words:
    """Return some bytes of each row as words."""
    return np.ascontiguousarray(rows[:, start : start + count]).view(kind)


def _record(manifest: Manifest, cycles: int, returned: int, checksum: int, error: int) -> RunRecord:
    return RunRecord(
        cycles,
        returned if manifest.returned else None,
        checksum if manifest.has_checksum else None,
        BusError.of_code(error),
    )
