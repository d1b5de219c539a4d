"""What verbs that compile share: the compiler's options, the design, its dumps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from rtlgen.cli.option_texts import (
    definition,
    lanes_of,
    loop_name,
    partitions_of,
    places_of,
    shift,
    tile_sizes,
)
from rtlgen.cli.output import Verbosity, print_warnings, progress
from rtlgen.design import Design
from rtlgen.driver import PASSES, compile_program, parse
from rtlgen.ir.plan import INDEX_STYLES
from rtlgen.ir.plan_text import plan_text, scop_text
from rtlgen.ir.sharing import POLICIES
from rtlgen.options import (
    BUS_BITS,
    EXPAND_MODES,
    FUSE_MODES,
    MOST_THREADS,
    WRITE_PORTS,
    CompileOptions,
)
from rtlgen.poly.pluto.components import FUSIONS
from rtlgen.target import target_names
from rtlgen.transforms.loop_schedule import SCHEDULERS

Command = Callable[..., Any]

_DEFAULTS = CompileOptions()


def _choice(
    flag: str, member: str, values: Sequence[str], text: str
) -> Callable[[Command], Command]:
    """Return an option that takes one of `values`, for a member of `CompileOptions`."""
    return click.option(
        flag,
        member,
        type=click.Choice(values),
        default=getattr(_DEFAULTS, member),
        show_default=True,
        help=text,
    )


_COMPILE_OPTIONS = (
    click.option(
        "--function", metavar="NAME", help="Kernel; default: the only one, or with #pragma scop."
    ),
    click.option(
        "-D",
        "defines",
        multiple=True,
        metavar="NAME=VALUE",
        help="Define a macro, or fix a scalar parameter.",
    ),
    click.option(
        "-I", "include_dirs", multiple=True, metavar="DIR", help="Look for #include files in DIR."
    ),
    _choice(
        "--target",
        "target",
        target_names(),
        "FPGA family: operator latencies and block RAM.",
    ),
    _choice(
        "--fuse",
        "fuse",
        FUSE_MODES,
        "Fuse all nests into one loop; ols: by outer loop shifting; none: one after another.",
    ),
    _choice(
        "--expand",
        "expand",
        EXPAND_MODES,
        "Give temporaries memory for every iteration; auto: where that saves cycles.",
    ),
    click.option(
        "--shift",
        "shifts",
        multiple=True,
        metavar="STATEMENT=N",
        help="Replace a shift of the fused loop; checked for legality.",
    ),
    _choice(
        "--write-ports",
        "write_ports",
        WRITE_PORTS,
        "Write ports of an array: as many as shorten the fused loop, or one.",
    ),
    _choice(
        "--index",
        "index_style",
        INDEX_STYLES,
        "How the loop counter becomes indices.",
    ),
    click.option(
        "--index-latency",
        "index_latency_cycles",
        type=click.IntRange(0, 64),
        metavar="N",
        help="Pipeline stages of the index recovery; default: the target's choice.",
    ),
    _choice(
        "--scheduler",
        "scheduler",
        SCHEDULERS,
        "Choose the loops by PLUTO, or one of isl's schedulers; default: as written.",
    ),
    _choice(
        "--fusion",
        "fusion",
        FUSIONS,
        "What PLUTO puts into common loops.",
    ),
    click.option(
        "--tile",
        metavar="N,N...",
        help="Cut loops into tiles of so many iterations; with all arrays on chip permutable ones, "
        "and implies --scheduler pluto.",
    ),
    click.option(
        "--wavefront",
        is_flag=True,
        help="Skew permutable loops so that only the outermost is sequential; implies the same.",
    ),
    click.option("--checksum", is_flag=True, help="Add the hardware checksum unit."),
    click.option(
        "--memory",
        multiple=True,
        metavar="[ARRAY=]PLACE",
        help="Keep an array, or all: onchip; fixed:L, off chip, L cycles a word, one at a time; or "
        "axi or axi:L, behind an AXI4 bus that answers in L cycles; or dram or dram:L, the same "
        "with one data bus for reads and writes and 4 cycles more for each burst.  "
        "[default: on chip what fits]",
    ),
    click.option(
        "--unroll",
        multiple=True,
        metavar="LOOP=N",
        help="Run N iterations of a loop side by side, in lanes; all: all of them. LOOP is the "
        "loop's variable, or its label.",
    ),
    click.option(
        "--pipeline",
        multiple=True,
        metavar="LOOP",
        help="Begin an iteration of a loop in every cycle: unroll all loops below it. LOOP is its "
        "variable or label, or the level of loops, from 1, the outermost; the function's name, or "
        "0, is for the whole function.",
    ),
    click.option(
        "--partition",
        "partitions",
        multiple=True,
        metavar="ARRAY=HOW",
        help="Cut an array into banks: cyclic:DIM:N, element x of dimension DIM (from 1) in bank "
        "x mod N; block:DIM:N, N neighbouring parts; or complete:DIM, a bank for each x.",
    ),
    click.option(
        "--bus-bits",
        type=click.Choice([str(bits) for bits in BUS_BITS]),
        default=str(_DEFAULTS.bus_bits),
        show_default=True,
        help="Bits of a word of the memory off chip.",
    ),
    click.option(
        "--max-bram",
        "max_bram_kib",
        type=click.IntRange(1),
        metavar="KIB",
        help="RAM on chip that arrays and windows may take, in KiB; default: all of the target's.",
    ),
    click.option(
        "--max-dsp",
        "max_dsp",
        type=click.IntRange(0),
        metavar="N",
        help="Choose lanes: as many as save cycles, with at most N multiplier blocks, and with the "
        "RAM of --max-bram.",
    ),
    click.option(
        "--buffer/--no-buffer",
        default=_DEFAULTS.buffer,
        show_default=True,
        help="Keep words from off chip on chip from tile to tile; if not, and without --tile, "
        "every access goes off chip.",
    ),
    click.option(
        "--threads",
        type=click.IntRange(1, MOST_THREADS),
        default=_DEFAULTS.threads,
        show_default=True,
        help="Physical threads that share the tiles of a program whose arrays are off chip.",
    ),
    click.option(
        "--strategy",
        type=click.Choice(POLICIES),
        default=_DEFAULTS.strategy,
        show_default=True,
        help="Which tiles are whose: F and C give each thread tiles next to each other, rounding "
        "their number down or up; cyclic deals them out in turn.",
    ),
    click.option(
        "--barrier",
        is_flag=True,
        help="Let all threads meet after each wave of tiles, not only where one needs another.",
    ),
)


def compile_options(command: Command) -> Command:
    """Give a verb the options of the compiler; it receives them as `options`."""

    @functools.wraps(command)
    def with_options(
        function: str | None,
        defines: tuple[str, ...],
        include_dirs: tuple[str, ...],
        target: str,
        fuse: Any,
        expand: Any,
        shifts: tuple[str, ...],
        write_ports: Any,
        index_style: Any,
        index_latency_cycles: int | None,
        scheduler: Any,
        fusion: Any,
        tile: str | None,
        wavefront: bool,
        checksum: bool,
        memory: tuple[str, ...],
        unroll: tuple[str, ...],
        pipeline: tuple[str, ...],
        partitions: tuple[str, ...],
        bus_bits: str,
        max_bram_kib: int | None,
        max_dsp: int | None,
        buffer: bool,
        threads: int,
        strategy: Any,
        barrier: bool,
        **others: Any,
    ) -> Any:
        options = CompileOptions(
            function=function,
            defines=dict(map(definition, defines)),
            include_dirs=include_dirs,
            target=target,
            fuse=fuse,
            expand=expand,
            shifts=dict(map(shift, shifts)),
            write_ports=write_ports,
            index_style=index_style,
            index_latency_cycles=index_latency_cycles,
            scheduler=scheduler,
            fusion=fusion,
            tile=tile_sizes(tile),
            wavefront=wavefront,
            checksum=checksum,
            memory=places_of(memory),
            unroll=dict(map(lanes_of, unroll)),
            pipeline=tuple(map(loop_name, pipeline)),
            partitions=partitions_of(partitions),
            bus_bits=int(bus_bits),
            max_bram_kib=max_bram_kib,
            max_dsp=max_dsp,
            buffer=buffer,
            threads=threads,
            strategy=strategy,
            barrier=barrier,
        )
        return command(options=options, **others)

    verb: Command = with_options
    for option in reversed(_COMPILE_OPTIONS):
        verb = option(verb)
    return verb


dump_option = click.option(
    "--dump-after",
    type=click.Choice(PASSES),
    metavar="PASS",
    help=f"Print the program after a pass (with --json on stderr): {', '.join(PASSES)}.",
)


def compiled(file: str, options: CompileOptions, verbosity: Verbosity) -> Design:
    """Compile a C file, and print the warnings."""
    with progress(f"compiling {file}", verbosity):
        program = parse(Path(file), options)
        compilation = compile_program(program, options)
    print_warnings(compilation.warnings, program.sources, verbosity)
    return Design(compilation, options)


def print_dump(design: Design, name: str | None, as_json: bool) -> None:
    """Print the program after pass `name`; stdout is kept for a JSON document."""
    if name is None:
        return
    stages = design.compilation.stages
    if name == "plan":
        text = plan_text(design.plan)
    else:
        # A pass that the program did not go through left it as it was: that is, as it is.
        text = scop_text(stages.get(name, list(stages.values())[-1]))
    click.echo(text, err=as_json)
