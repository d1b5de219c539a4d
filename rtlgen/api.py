"""Compile a C file from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlgen.design import Design, compile_design
from rtlgen.ir.plan import IndexStyle
from rtlgen.options import CompileOptions, FuseMode


def compile(
    path: str | Path,
    *,
    function: str | None = None,
    define: Mapping[str, object] | None = None,
    include_dirs: Sequence[str] = (),
    target: str = "ecp5",
    fuse: FuseMode = "mf3",
    shift: Mapping[str, int] | None = None,
    index: IndexStyle = "odometer",
    checksum: bool = False,
) -> Design:
    """Compile the kernel of a C file.

    Parameters
    ----------
    function: the kernel; by default the only function, or the one that holds `#pragma scop`.
    define: macros, and values for scalar parameters.
    shift: statement -> MF3 shift that replaces the compiler's; still checked for legality.
    index: how counters become indices. checksum: add the hardware checksum unit.

    Raises
    ------
    RtlgenError: the program or an option is refused; its `diagnostic` says where and why.
    """
    options = CompileOptions(
        function=function,
        defines={name: str(value) for name, value in (define or {}).items()},
        include_dirs=tuple(include_dirs),
        target=target,
        fuse=fuse,
        shifts=dict(shift or {}),
        index_style=index,
        checksum=checksum,
    )
    return compile_design(path, options)
