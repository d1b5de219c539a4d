"""Compile Verilog into something that runs: an executable (Verilator) or a vvp file (Icarus).

g++ is called directly on Verilator's output, as one translation unit behind Verilator's headers and
linked with its runtime, both of which `rtlgen.sim.verilator` compiled once. Verilator's own make
fragment would compile them for every model (12 s instead of 0.7 s), and make cannot work in a
folder whose name has a space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cocotb_tools.config

from rtlgen.sim.verilator import (
    OPTIMISATION,
    TraceFormat,
    Verilator,
    compile_flags,
    precompiled_header,
    runtime_library,
)
from rtlgen.system.tools import find_tool, run_tool

PREFIX = "Vtop"
"""Name of the C++ class; cocotb's main program expects this one."""


@dataclass(frozen=True, slots=True)
class Harness:
    """The C++ program around a Verilated model.

    Members
    -------
    main: its source file.
    arguments: for Verilator.
    compile_options, link_options: for g++. optimisation: of the model.
    """

    main: Path
    arguments: tuple[str, ...] = ()
    compile_options: tuple[str, ...] = ()
    link_options: tuple[str, ...] = ()
    optimisation: str = OPTIMISATION


def cocotb_harness(public: Sequence[str], control_file: Path, top: str) -> Harness:
    """Return the harness that lets cocotb drive the signals `public` of `top`.

    With no names given, every signal can be reached, which makes a slower model. Writes
    `control_file`, which tells Verilator.
    """
    libraries = Path(cocotb_tools.config.libs_dir)
    lines = ["`verilator_config"]
    lines += [f'public_flat_rw -module "{top}" -var "{name}"' for name in public]
    control_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Harness(
        main=Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp",
        arguments=("--vpi", str(control_file), *(() if public else ("--public-flat-rw",))),
        link_options=(f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcocotbvpi_verilator"),
    )


def compile_verilated(
    verilator: Verilator,
    sources: Iterable[Path],
    top: str,
    folder: Path,
    harness: Harness,
    trace: TraceFormat = "none",
) -> Path:
    """Compile `sources` and return the executable, in `folder`.

    Raises
    ------
    MissingToolError, ToolFailedError
    """
    compiler = find_tool("g++", "c++")
    runtime = runtime_library(verilator, trace)
    generated = folder / "model"
    run_tool(
        [
            verilator.command,
            "--cc",
            "--quiet-stats",
            "--default-language",
            "1364-2005",
            "--top-module",
            top,
            "--prefix",
            PREFIX,
            "-Mdir",
            generated,
            "-Wno-fatal",
            "-Wno-lint",
            "-Wno-style",
            "-O3",
            "--timescale",
            "1ns/1ps",
            *([f"--trace-{trace}"] if trace != "none" else []),
            *harness.arguments,
            *sources,
        ],
        log=folder / "build.log",
    )
    unit = folder / "simulation.cpp"
    parts = [harness.main, *sorted(generated.glob("*.cpp"))]
    unit.write_text("".join(f'#include "{part}"\n' for part in parts), encoding="utf-8")
    header = precompiled_header(verilator, harness.optimisation, trace)
    flags = [
        harness.optimisation,
        *compile_flags(verilator, trace),
        *(["-include", str(header)] if header else []),
        *harness.compile_options,
        f"-I{generated}",
    ]
    executable = folder / "simulation"
    libraries = ["-llz4", "-lz"] if trace == "fst" else []
    run_tool(
        [compiler, *flags, unit, *runtime, *harness.link_options, *libraries, "-o", executable],
        log=folder / "build.log",
    )
    return executable


def compile_icarus(sources: Iterable[Path], top: str, folder: Path, trace: Path | None) -> Path:
    """Compile `sources` for Icarus and return the vvp file, in `folder`.

    Raises
    ------
    MissingToolError, ToolFailedError
    """
    tops = ["-s", top]
    files = list(sources)
    if trace is not None:
        dump = folder / "dump.v"
        dump.write_text(
            f'module rtlgen_dump;\n    initial begin\n        $dumpfile("{trace}");\n'
            f"        $dumpvars(0, {top});\n    end\nendmodule\n",
            encoding="utf-8",
        )
        tops += ["-s", "rtlgen_dump"]
        files.append(dump)
    (folder / "options.f").write_text("+timescale+1ns/1ps\n", encoding="utf-8")
    program = folder / "simulation.vvp"
    options = ["-g2005", *tops, "-f", str(folder / "options.f"), "-o", str(program)]
    run_tool([find_tool("iverilog"), *options, *files], log=folder / "build.log")
    return program
