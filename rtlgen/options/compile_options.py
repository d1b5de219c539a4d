"""Everything that decides what is built, one member an option: see `Option` for what is said of it.

The command line, `rtlgen.compile` and the pages of the reference are made from this list. Only the
types that Python takes stand beside it, in `Choices`, where a type checker finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from rtlgen.options.choices import (
    BUS_BITS,
    EXPAND_MODES,
    FUSE_MODES,
    FUSIONS,
    INDEX_STYLES,
    INTERFACES,
    MOST_THREADS,
    POLICIES,
    SCHEDULERS,
    TOPS,
    WRITE_PORTS,
    BadOption,
    ExpandMode,
    FloatWishes,
    FuseMode,
    Fusion,
    IndexStyle,
    Interface,
    LoopOptions,
    PartitionWish,
    Policy,
    Scheduler,
    Top,
    WritePorts,
    definitions_of,
    float_wishes,
    float_wishes_taken,
    lanes_of,
    loop_names_of,
    names_taken,
    numbers_taken,
    off_chip_place,
    partitions_of,
    partitions_taken,
    places_of,
    places_taken,
    shifts_of,
    texts_taken,
    tile_sizes,
    words_taken,
)
from rtlgen.target import target_names

_DESCRIPTION = "option"


def _as_given(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of an option beside its type.

    Members
    -------
    flag: its name on the command line. python: its name as an argument of `rtlgen.compile`.
    help: what it means.
    choices: the values it has, if it has only some. low, high: the least and the largest one.
    metavar: what stands for a value in the help of the command line.
    repeated: whether it may be given several times; its texts are read together.
    read: the value of what the command line gives; raises BadOption.
    take: the value of what Python gives; raises ValueError.
    example: as an argument in Python, where that is no plain word or number.
    shown_default: what is used where the option is not given, if that is no value.
    """

    flag: str
    help: str
    python: str
    choices: tuple[Any, ...] = ()
    low: int | None = None
    high: int | None = None
    metavar: str | None = None
    repeated: bool = False
    read: Callable[[Any], Any] = _as_given
    take: Callable[[Any], Any] = _as_given
    example: str = ""
    shown_default: str = ""
    member: str = ""
    default: Any = None

    def require(self, value: Any) -> None:
        """Raise a ValueError where an option has no such value."""
        if value is None and self.default is None:
            return
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.python} is {value!r}, not one of {self.choices}")
        too_small = self.low is not None and value < self.low
        if too_small or (self.high is not None and value > self.high):
            limits = f"at least {self.low}" if self.high is None else f"{self.low} to {self.high}"
            raise ValueError(f"{self.python} is {value}, not {limits}")


def option(
    flag: str,
    help: str,
    *,
    default: Any = None,
    factory: Callable[[], Any] | None = None,
    python: str | None = None,
    **description: Any,
) -> Any:
    """Return a member of a dataclass that is an option."""
    name = python or flag.lstrip("-").replace("-", "_")
    described = {_DESCRIPTION: Option(flag, help, name, **description)}
    if factory is not None:
        return field(default_factory=factory, metadata=described)
    return field(default=default, metadata=described)


def described(members: Sequence[Field[Any]]) -> tuple[Option, ...]:
    """Return the options that the members of a dataclass are."""
    found = []
    for member in members:
        factory = member.default_factory
        default = member.default if factory is MISSING else factory()
        found.append(replace(member.metadata[_DESCRIPTION], member=member.name, default=default))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Everything that decides what is built; `memory` and `unroll` have names of their own for
    all arrays (`EVERY_ARRAY`), and for as many lanes as a loop has iterations (None).
    """

    function: str | None = option(
        "--function",
        "Kernel; default: the only one, or with #pragma scop.",
        metavar="NAME",
        example='"scale"',
    )
    defines: Mapping[str, str] = option(
        "-D",
        "Define a macro, or fix a scalar parameter.",
        factory=dict,
        python="define",
        metavar="NAME=VALUE",
        repeated=True,
        read=definitions_of,
        take=texts_taken,
        example='{"N": 8}',
    )
    include_dirs: tuple[str, ...] = option(
        "-I",
        "Look for #include files in DIR.",
        default=(),
        python="include_dirs",
        metavar="DIR",
        repeated=True,
        read=tuple,
        take=words_taken,
        example='["include"]',
    )
    target: str = option(
        "--target",
        "FPGA family: operator latencies and block RAM.",
        default="ecp5",
        choices=target_names(),
    )
    fuse: FuseMode = option(
        "--fuse",
        "Fuse all nests into one loop; ols: by outer loop shifting; none: one after another.",
        default="mf3",
        choices=FUSE_MODES,
    )
    expand: ExpandMode = option(
        "--expand",
        "Give temporaries memory for every iteration; auto: where that saves cycles.",
        default="auto",
        choices=EXPAND_MODES,
    )
    shifts: Mapping[str, int] = option(
        "--shift",
        "Replace a shift of the fused loop; checked for legality.",
        factory=dict,
        metavar="STATEMENT=N",
        repeated=True,
        read=shifts_of,
        take=numbers_taken,
        example='{"S1": 26}',
    )
    write_ports: WritePorts = option(
        "--write-ports",
        "Write ports of an array: as many as shorten the fused loop, or one.",
        default="auto",
        choices=WRITE_PORTS,
    )
    index_style: IndexStyle = option(
        "--index", "How the loop counter becomes indices.", default="odometer", choices=INDEX_STYLES
    )
    index_latency_cycles: int | None = option(
        "--index-latency",
        "Pipeline stages of the index recovery; default: the target's choice.",
        python="index_latency_cycles",
        low=0,
        high=64,
        metavar="N",
    )
    scheduler: Scheduler | None = option(
        "--scheduler",
        "Choose the loops by PLUTO, or one of isl's schedulers; default: as written.",
        choices=SCHEDULERS,
    )
    fusion: Fusion = option(
        "--fusion", "What PLUTO puts into common loops.", default="smart", choices=FUSIONS
    )
    tile: tuple[int, ...] = option(
        "--tile",
        "Cut loops into tiles of so many iterations; with all arrays on chip permutable ones, and "
        "implies --scheduler pluto.",
        default=(),
        metavar="N,N...",
        read=tile_sizes,
        take=tuple,
        example="(8, 8)",
    )
    wavefront: bool = option(
        "--wavefront",
        "Skew permutable loops so that only the outermost is sequential; implies the same.",
        default=False,
    )
    top: Top = option(
        "--top",
        "What the module is: core, the kernel with start, done and a port for each array; axi, a "
        "block of a system with AXI4-Lite registers, an interrupt, and AXI4 for what is off chip.",
        default="core",
        choices=TOPS,
    )
    interface: Interface = option(
        "--interface",
        "Where arrays on chip stand of which --memory says nothing: internal, in the core; "
        "external, beside it, in RAMs of yours.",
        default="internal",
        choices=INTERFACES,
    )
    checksum: bool = option("--checksum", "Add the hardware checksum unit.", default=False)
    memory: Mapping[str, str] = option(
        "--memory",
        "Keep an array, or all: onchip; external, in a RAM of yours beside the core, which has "
        "ports for it; stream, not at all: its elements come or go over AXI4-Stream, once each and "
        "in order; fixed:L, off chip, L cycles a word, one at a time; "
        "or axi or axi:L, behind an AXI4 bus that answers in L cycles; or dram or dram:L, the same "
        "with one data bus for reads and writes and 4 cycles more for each burst.",
        factory=dict,
        metavar="[ARRAY=]PLACE",
        repeated=True,
        read=places_of,
        take=places_taken,
        example='"axi", {"A": "fixed:8"}',
        shown_default="on chip what fits",
    )
    unroll: Mapping[str, int | None] = option(
        "--unroll",
        "Run N iterations of a loop side by side, in lanes; all: all of them. LOOP is the loop's "
        "variable, or its label.",
        factory=dict,
        metavar="LOOP=N",
        repeated=True,
        read=lanes_of,
        take=numbers_taken,
        example='{"j": 4, "k": None}',
    )
    pipeline: tuple[str, ...] = option(
        "--pipeline",
        "Begin an iteration of a loop in every cycle: unroll all loops below it. LOOP is its "
        "variable or label, or the level of loops, from 1, the outermost; the function's name, or "
        "0, is for the whole function.",
        default=(),
        metavar="LOOP",
        repeated=True,
        read=loop_names_of,
        take=names_taken,
        example='"j", ["i", "2"]',
    )
    partitions: Mapping[str, tuple[PartitionWish, ...]] = option(
        "--partition",
        "Cut an array into banks: cyclic:DIM:N, element x of dimension DIM (from 1) in bank x mod "
        "N; block:DIM:N, N neighbouring parts; or complete:DIM, a bank for each x.",
        factory=dict,
        metavar="ARRAY=HOW",
        repeated=True,
        read=partitions_of,
        take=partitions_taken,
        example='{"A": "cyclic:2:8"}',
    )
    double_buffers: tuple[str, ...] = option(
        "--double-buffer",
        "Two copies of an array on chip: the host fills or reads one while a run has the other; a "
        "start swaps them, and so does `swap` between runs.",
        default=(),
        python="double_buffer",
        metavar="ARRAY",
        repeated=True,
        read=tuple,
        take=names_taken,
        example='"A", ["A", "B"]',
    )
    bus_bits: int = option(
        "--bus-bits",
        "Bits of a word of the memory off chip.",
        default=64,
        choices=BUS_BITS,
        read=int,
    )
    max_bram_kib: int | None = option(
        "--max-bram",
        "RAM on chip that arrays and windows may take, in KiB; default: all of the target's.",
        python="max_bram_kib",
        low=1,
        metavar="KIB",
    )
    max_dsp: int | None = option(
        "--max-dsp",
        "Choose lanes: as many as save cycles, with at most N multiplier blocks, and with the RAM "
        "of --max-bram.",
        low=0,
        metavar="N",
    )
    buffer: bool = option(
        "--buffer",
        "Keep words from off chip on chip from tile to tile; if not, and without --tile, every "
        "access goes off chip.",
        default=True,
    )
    threads: int = option(
        "--threads",
        "Physical threads that share the tiles of a program whose arrays are off chip.",
        default=1,
        low=1,
        high=MOST_THREADS,
    )
    strategy: Policy = option(
        "--strategy",
        "Which tiles are whose: F and C give each thread tiles next to each other, rounding their "
        "number down or up; cyclic deals them out in turn.",
        default="cyclic",
        choices=POLICIES,
    )
    barrier: bool = option(
        "--barrier",
        "Let all threads meet after each wave of tiles, not only where one needs another.",
        default=False,
    )

    floats: FloatWishes = option(
        "--float",
        "Compute floats otherwise than the program: contract, products that are added are not "
        "rounded; reassociate or reassociate=N, sums that wait for the adder are N partial sums; "
        "ftz, subnormal operands and results are zeros. The program is rewritten, and the circuit "
        "is compared with that.",
        factory=FloatWishes,
        python="float",
        metavar="WISH,...",
        repeated=True,
        read=float_wishes,
        take=float_wishes_taken,
        example='"reassociate"',
    )

    def __post_init__(self) -> None:
        for described_option in options():
            # Of a target that there is not, `get_target` says which there are.
            if described_option.member != "target":
                described_option.require(getattr(self, described_option.member))
        if any(size < 1 for size in self.tile):
            raise ValueError(f"tile is {self.tile}: a tile has at least one iteration")
        if any(lanes is not None and lanes < 1 for lanes in self.unroll.values()):
            raise ValueError(f"unroll is {self.unroll}: a loop has at least one lane")
        if not all(self.pipeline):
            raise ValueError(f"pipeline is {self.pipeline}: a loop or a level has a name")
        for place in self.memory.values():
            wanted = off_chip_place(place)
            if self.top == "axi" and wanted is not None and wanted[0] == "fixed":
                raise ValueError(f"memory is {place}: with the top axi, what is off chip is axi")

    @staticmethod
    def from_texts(given: Mapping[str, Any]) -> CompileOptions:
        """Return what a command line asks for, by the names of the members.

        Raises
        ------
        BadOption: a text says nothing.
        """
        read = {each.member: each.read(given[each.member]) for each in options()}
        for place in read["memory"].values():
            if read["top"] == "axi" and place.startswith("fixed"):
                raise BadOption(
                    f"--memory {place} is no bus, and a block has nothing else for arrays off chip",
                    help="write --memory axi or dram, or take the memory port of --top core",
                )
        return CompileOptions(**read)

    @staticmethod
    def from_python(given: Mapping[str, Any]) -> CompileOptions:
        """Return what the arguments of `rtlgen.compile` ask for.

        Raises
        ------
        TypeError: there is no such option. ValueError: it has no such value.
        """
        known = {each.python: each for each in options()}
        for name in given:
            if name not in known:
                raise TypeError(f"compile() has no option {name!r}")
        taken = {known[name].member: known[name].take(value) for name, value in given.items()}
        return CompileOptions(**taken)

    @property
    def loops(self) -> LoopOptions:
        """Which loops the program is brought into before it is flattened."""
        return LoopOptions(self.scheduler, self.fusion, self.tile, self.wavefront)


@cache
def options() -> tuple[Option, ...]:
    """Return all options, in the order in which they are shown."""
    return described(fields(CompileOptions))


class Choices(TypedDict, total=False):
    """The options as arguments of `rtlgen.compile`, with what Python may give for each."""

    function: str | None
    define: Mapping[str, object] | None
    include_dirs: Sequence[str | Path]
    target: str
    fuse: FuseMode
    expand: ExpandMode
    shift: Mapping[str, int] | None
    write_ports: WritePorts
    index: IndexStyle
    index_latency_cycles: int | None
    scheduler: Scheduler | None
    fusion: Fusion
    tile: Sequence[int]
    wavefront: bool
    top: Top
    interface: Interface
    checksum: bool
    memory: str | Mapping[str, str] | None
    unroll: Mapping[str, int | None] | None
    pipeline: str | Sequence[str]
    partition: Mapping[str, str | Sequence[str]] | None
    double_buffer: str | Sequence[str]
    bus_bits: int
    max_bram_kib: int | None
    max_dsp: int | None
    buffer: bool
    threads: int
    strategy: Policy
    barrier: bool
    float: str | Sequence[str]
