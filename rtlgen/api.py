"""Compile a C file from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlgen.design import Design
from rtlgen.driver import compile_program, parse, parse_source
from rtlgen.ir.plan import IndexStyle
from rtlgen.ir.sharing import Policy
from rtlgen.options import EVERY_ARRAY, CompileOptions, ExpandMode, FuseMode, WritePorts
from rtlgen.poly.pluto.components import Fusion
from rtlgen.transforms.loop_schedule import Scheduler
from rtlgen.transforms.partition import wish_of


def compile(
    path: str | Path | None = None,
    *,
    source: str | None = None,
    function: str | None = None,
    define: Mapping[str, object] | None = None,
    include_dirs: Sequence[str | Path] = (),
    target: str = "ecp5",
    fuse: FuseMode = "mf3",
    expand: ExpandMode = "auto",
    shift: Mapping[str, int] | None = None,
    write_ports: WritePorts = "auto",
    index: IndexStyle = "odometer",
    index_latency_cycles: int | None = None,
    scheduler: Scheduler | None = None,
    fusion: Fusion = "smart",
    tile: Sequence[int] = (),
    wavefront: bool = False,
    checksum: bool = False,
    memory: str | Mapping[str, str] | None = None,
    unroll: Mapping[str, int | None] | None = None,
    pipeline: str | Sequence[str] = (),
    partition: Mapping[str, str | Sequence[str]] | None = None,
    bus_bits: int = 64,
    max_bram_kib: int | None = None,
    max_dsp: int | None = None,
    buffer: bool = True,
    threads: int = 1,
    strategy: Policy = "cyclic",
    barrier: bool = False,
) -> Design:
    """Compile the kernel of a C file, or of C text.

    Parameters
    ----------
    source: C text in place of a file; with it, `path` is only the name that messages show.
    function: the kernel; by default the only function, or the one that holds `#pragma scop`.
    define: macros, and values for scalar parameters.
    shift: statement -> MF3 shift that replaces the compiler's; still checked for legality.
    memory: `onchip` or `fixed:8` for all arrays, or array -> place; see `--memory`.
    unroll: loop -> lanes; None: as many as it has iterations.
    pipeline: loops, levels or the function, all loops below which are unrolled; see `--pipeline`.
    partition: array -> `cyclic:2:8`, or several of these; see `--partition`.
    max_bram_kib: as `--max-bram`.
    index: how counters become indices. checksum: add the hardware checksum unit.
    The others are the options of the command line, with the same names and defaults.

    Raises
    ------
    RtlgenError: the program or an option is refused; its `diagnostic` says where and why.
    TypeError: there is neither a path nor a source. ValueError: an option has no such value.
    """
    options = CompileOptions(
        function=function,
        defines={name: str(value) for name, value in (define or {}).items()},
        include_dirs=tuple(map(str, include_dirs)),
        target=target,
        fuse=fuse,
        shifts=dict(shift or {}),
        index_style=index,
        index_latency_cycles=index_latency_cycles,
        checksum=checksum,
        expand=expand,
        write_ports=write_ports,
        scheduler=scheduler,
        fusion=fusion,
        tile=tuple(tile),
        wavefront=wavefront,
        memory={EVERY_ARRAY: memory} if isinstance(memory, str) else dict(memory or {}),
        unroll=dict(unroll or {}),
        pipeline=(pipeline,) if isinstance(pipeline, str) else tuple(pipeline),
        partitions={
            name: tuple(map(wish_of, [how] if isinstance(how, str) else how))
            for name, how in (partition or {}).items()
        },
        bus_bits=bus_bits,
        max_bram_kib=max_bram_kib,
        max_dsp=max_dsp,
        buffer=buffer,
        threads=threads,
        strategy=strategy,
        barrier=barrier,
    )
    if source is not None:
        program = parse_source(source, str(path or "kernel.c"), options)
    elif path is not None:
        program = parse(Path(path), options)
    else:
        raise TypeError("compile() needs a path or a source")
    return Design(compile_program(program, options), options)
