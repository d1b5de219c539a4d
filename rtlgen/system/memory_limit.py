"""How much memory a compilation may take, and how much it has."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from rtlgen.errors import RtlgenError

MAX_MEMORY_MB = 2048
"""Resident memory of the process, in units of 2^20 bytes, unless the environment says otherwise."""

VARIABLE = "RTLGEN_MEMORY_MB"


class TooMuchMemory(RtlgenError):
    """Compiling or verifying the program would take too much memory.

    The compiler may have 2,048 MB. It stops there with this message, rather than taking the memory
    of everything else on the machine. What grows with the number of iterations, and not with the
    text, is checking that goes through every one of them, and the golden model and the data of
    `verify`.

    Remedy: make the arrays and loop bounds smaller (`-D N=64`), or allow more memory:

        RTLGEN_MEMORY_MB=8000 rtlgen verify gemm.c
    """

    code = "E0209"


class BadMemoryLimit(RtlgenError):
    """The environment variable RTLGEN_MEMORY_MB is not a positive number.

    It says how much memory rtlgen may take, in units of 2^20 bytes; without it, that is 2,048.
    """

    code = "E0409"


def memory_limit_mb() -> int:
    """Return how much memory this process may take.

    Raises
    ------
    BadMemoryLimit: the environment variable is no positive number.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        return MAX_MEMORY_MB
    if not text.isdecimal() or not 0 < int(text) < 1 << 32:
        raise BadMemoryLimit(
            f"{VARIABLE}={text} is no amount of memory", help=f"set {VARIABLE} to a number of MB"
        )
    return int(text)


def resident_mb(process: int | None = None) -> int:
    """Return the memory that a process holds, this one by default; 0 where that is not known."""
    try:
        with open(f"/proc/{process or 'self'}/statm", "rb") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


@contextmanager
def collecting_later() -> Iterator[None]:
    """Look for unreachable circles of objects only behind this.

    Where a great many objects are made of which few die, Python would go through all of them again
    and again: that takes a third of the time in which Amaranth makes a netlist.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def too_much_memory(limit_mb: int) -> TooMuchMemory:
    """Return the error of a process that has reached its limit."""
    return TooMuchMemory(
        f"this needs more than {limit_mb:,} MB of memory",
        help=f"make arrays and bounds smaller, or allow more: {VARIABLE}={4 * limit_mb}",
    )
