"""The values that options have, and what stands for them on the command line and in Python.

What reads the texts of a command line raises BadOption; what takes what Python gives, `..._taken`,
writes its short forms out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from rtlgen.errors import RtlgenError

Top: TypeAlias = Literal["core", "axi"]
TOPS: tuple[Top, ...] = get_args(Top)
Interface: TypeAlias = Literal["internal", "external"]
INTERFACES: tuple[Interface, ...] = get_args(Interface)
FuseMode: TypeAlias = Literal["mf3", "ols", "none"]
FUSE_MODES: tuple[FuseMode, ...] = get_args(FuseMode)

ExpandMode: TypeAlias = Literal["auto", "never", "always"]
EXPAND_MODES: tuple[ExpandMode, ...] = get_args(ExpandMode)

WritePorts: TypeAlias = Literal["auto", "one"]
WRITE_PORTS: tuple[WritePorts, ...] = get_args(WritePorts)

IndexStyle: TypeAlias = Literal["odometer", "divide", "shift"]
INDEX_STYLES: tuple[IndexStyle, ...] = get_args(IndexStyle)

Scheduler: TypeAlias = Literal["pluto", "isl", "feautrier"]
SCHEDULERS: tuple[Scheduler, ...] = get_args(Scheduler)

Fusion: TypeAlias = Literal["no", "smart", "max"]
"""What may share loops.

`no`: only the statements of one component. `smart`: components of the same depth. `max`: whatever
a common hyperplane exists for.
"""
FUSIONS: tuple[Fusion, ...] = get_args(Fusion)

Policy: TypeAlias = Literal["F", "C", "cyclic"]
"""Which tiles are whose, see `rtlgen.ir.sharing`."""
POLICIES: tuple[Policy, ...] = get_args(Policy)

BusKind: TypeAlias = Literal["fixed", "axi", "dram"]
"""Of a memory off chip, see `rtlgen.ir.memory_side`."""

WishKind: TypeAlias = Literal["cyclic", "block", "complete"]

BUS_BITS = (32, 64, 128, 256, 512)
"""Widths of the bus to the memory off chip."""

EVERY_ARRAY = ""
"""The name that stands for all arrays that are not named, in `CompileOptions.memory`."""

MOST_LATENCY_CYCLES = 4096
"""Of an access to the memory off chip: far more than any RAM needs."""

AXI_LATENCY_CYCLES = 30
"""Of an AXI4 memory of which nobody has said how fast it is: that of a small system with DRAM."""

MOST_THREADS = 64
"""Physical threads: far more than one memory off chip can keep busy."""

DRAM_LATENCY_CYCLES = 65
"""Of a DRAM that begins with a burst after 30 to 100 cycles, on the average."""


@dataclass(frozen=True, slots=True)
class FloatWishes:
    """How floats may be computed otherwise than the program has it.

    Members
    -------
    contract: a product that is added to something is not rounded before.
    flush: subnormal operands and results are zeros.
    reassociate: sums that wait for the adder are cut into parts: into how many; 0: as many as the
        adder takes cycles; None: none is.
    """

    contract: bool = False
    flush: bool = False
    reassociate: int | None = None

    @property
    def is_any(self) -> bool:
        return self.contract or self.flush or self.reassociate is not None

    @property
    def words(self) -> str:
        """What the option has to say for them."""
        words = [
            word
            for word, is_asked in (("contract", self.contract), ("ftz", self.flush))
            if is_asked
        ]
        if self.reassociate is not None:
            words.append(f"reassociate={self.reassociate}" if self.reassociate else "reassociate")
        return ",".join(words)


MOST_PARTIAL_SUMS = 1024
"""Far more than any adder is deep."""


def float_wishes_of(words: Sequence[str]) -> FloatWishes:
    """Return what words ask for: `contract`, `ftz`, `reassociate` or `reassociate=8`.

    Raises
    ------
    ValueError: there is no such word.
    """
    wishes = FloatWishes()
    for word in words:
        name, equals, count = word.strip().partition("=")
        if name == "contract" and not equals:
            wishes = replace(wishes, contract=True)
        elif name == "ftz" and not equals:
            wishes = replace(wishes, flush=True)
        elif name == "reassociate" and not equals:
            wishes = replace(wishes, reassociate=0)
        elif name == "reassociate" and count.isdecimal() and 2 <= int(count) <= MOST_PARTIAL_SUMS:
            wishes = replace(wishes, reassociate=int(count))
        else:
            raise ValueError(f"{word!r} is no way to compute floats")
    return wishes


_OFF_CHIP = re.compile(r"(fixed|axi|dram):([0-9]{1,5})")

_LATENCY_CYCLES: Mapping[str, int] = {"axi": AXI_LATENCY_CYCLES, "dram": DRAM_LATENCY_CYCLES}
"""Where only the kind of a memory is given."""

_WISH = re.compile(r"(?:(cyclic|block):([0-9]{1,2}):([0-9]{1,6})|(complete):([0-9]{1,2}))")


STREAM = "stream"
"""The place of an array whose elements come in, or go out, one after another."""

EXTERNAL = "external"
"""The place of an array that stands in a RAM of the user's, beside the core."""


def off_chip_place(place: str) -> tuple[BusKind, int] | None:
    """Return the kind of bus to an array that is kept at a place, and its cycles; None: no bus.

    Parameters
    ----------
    place: `onchip`; `external`; `stream`; `fixed:L`: off chip, L cycles a word, one word at a time;
        `axi` or `axi:L`: behind an AXI4 bus, for which cycles are predicted as if each answer took
        L cycles; or `dram` or `dram:L`: the same, of a DRAM with one data bus for reads and writes.

    Raises
    ------
    ValueError: there is no such place.
    """
    if place in ("onchip", EXTERNAL, STREAM):
        return None
    found = _OFF_CHIP.fullmatch(place)
    kind = place if found is None else found[1]
    latency_cycles = _LATENCY_CYCLES.get(kind, 0) if found is None else int(found[2])
    if not 1 <= latency_cycles <= MOST_LATENCY_CYCLES:
        raise ValueError(
            f"memory is {place!r}, not onchip, external, stream, axi, dram, or fixed:L, axi:L or "
            f"dram:L with an L from 1 to {MOST_LATENCY_CYCLES}"
        )
    return cast(BusKind, kind), latency_cycles


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """Which loops a program is brought into.

    Members
    -------
    scheduler: None: those of the C program, or where tiles or wavefronts are asked for, PLUTO's.
    fusion: what PLUTO may put into common loops.
    tile: iterations of a tile, one number a loop of a permutable band; () for no tiles.
    wavefront: skew the outermost permutable bands, so that only their first loop is sequential.
    inner_wavefront: skew the two innermost loops of permutable bands, so that the last is parallel.
    """

    scheduler: Scheduler | None = None
    fusion: Fusion = "smart"
    tile: tuple[int, ...] = ()
    wavefront: bool = False
    inner_wavefront: bool = False

    @property
    def chosen(self) -> Scheduler | None:
        """The scheduler to run, if any."""
        implied = self.scheduler is None and (self.tile or self.wavefront)
        return "pluto" if implied else self.scheduler


@dataclass(frozen=True, slots=True)
class PartitionWish:
    """How an array is to be cut along dimension `dim`, counted from 1; 0: along every one.

    Members
    -------
    count: parts; None: as many as the dimension has values, which is what `complete` asks for.
    """

    kind: WishKind
    dim: int
    count: int | None = None

    def __str__(self) -> str:
        return ":".join(map(str, [self.kind, self.dim, *([self.count] if self.count else [])]))


def wish_of(text: str) -> PartitionWish:
    """Return what `cyclic:DIM:N`, `block:DIM:N` or `complete:DIM` asks for.

    Raises
    ------
    ValueError: it is none of these.
    """
    found = _WISH.fullmatch(text)
    if found is None or (found[3] is not None and int(found[3]) < 1):
        raise ValueError(f"partition is {text!r}, not cyclic:DIM:N, block:DIM:N or complete:DIM")
    if found[4]:
        return PartitionWish("complete", int(found[5]))
    kind: WishKind = "cyclic" if found[1] == "cyclic" else "block"
    return PartitionWish(kind, int(found[2]), int(found[3]))


class BadOption(RtlgenError):
    """The command line cannot be read.

    An option or an argument is unknown or missing, or its value has the wrong form. `-D` takes NAME
    or NAME=VALUE, `--shift` takes STATEMENT=N with a non-negative N, and both may be given several
    times. `rtlgen VERB --help` shows every option with its form.
    """

    code = "E0403"


def definitions_of(texts: Sequence[str]) -> dict[str, str]:
    """Return macros and scalar parameters with their texts."""
    return dict(map(_definition, texts))


def shifts_of(texts: Sequence[str]) -> dict[str, int]:
    """Return statements with their shifts."""
    return dict(map(_shift, texts))


def lanes_of(texts: Sequence[str]) -> dict[str, int | None]:
    """Return loops with their lanes; None: as many as a loop has iterations."""
    return dict(map(_lanes, texts))


def loop_names_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of loops, or their levels as numbers without leading zeros."""
    return tuple(map(_loop_name, texts))


def _definition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    # A macro with parameters is defined as on gcc's command line: -D 'F(x)=x'.
    if not name.partition("(")[0].strip().isidentifier():
        raise BadOption(f"-D {text} does not define a name", help="write -D NAME=VALUE")
    return name, value if equals else "1"


def _shift(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name or not value.isdigit():
        raise BadOption(f"--shift {text} is no shift", help="write --shift STATEMENT=N with N >= 0")
    return name, int(value)


def float_wishes(texts: Sequence[str]) -> FloatWishes:
    """Return how floats may be computed otherwise."""
    words = [word for text in texts for word in text.split(",")]
    try:
        return float_wishes_of(words)
    except ValueError as error:
        raise BadOption(
            f"--float {','.join(texts)}: {error}",
            help="write --float contract, ftz, reassociate or reassociate=8",
        ) from error


def tile_sizes(text: str | None) -> tuple[int, ...]:
    """Return the iterations of a tile along each loop."""
    if text is None:
        return ()
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadOption(f"--tile {text} is no tile", help="write --tile 8,8: iterations a loop")
    return tuple(map(int, parts))


def places_of(texts: Sequence[str]) -> dict[str, str]:
    """Return where arrays are kept, by name."""
    places: dict[str, str] = {}
    for text in texts:
        name, equals, place = text.rpartition("=")
        try:
            off_chip_place(place)
        except ValueError:
            raise BadOption(
                f"--memory {text} is no place for an array",
                help="write --memory [ARRAY=]onchip, [ARRAY=]external, [ARRAY=]stream, "
                "[ARRAY=]fixed:L, [ARRAY=]axi:L or [ARRAY=]dram:L, "
                f"L from 1 to {MOST_LATENCY_CYCLES}",
            ) from None
        if equals and not name:
            raise BadOption(f"--memory {text} names no array", help=f"write --memory {place}")
        if places.get(name, place) != place:
            what = name or "every array"
            raise BadOption(
                f"--memory says two places for {what}: {places[name]} and {place}",
                help="say one of them",
            )
        places[name or EVERY_ARRAY] = place
    return places


def _lanes(text: str) -> tuple[str, int | None]:
    name, _, lanes = text.partition("=")
    if not name or (lanes != "all" and (not lanes.isdecimal() or int(lanes) < 1)):
        raise BadOption(
            f"--unroll {text} says no number of lanes",
            help="write --unroll LOOP=N with N >= 1, or LOOP=all",
        )
    return name, None if lanes == "all" else int(lanes)


def _loop_name(text: str) -> str:
    if not text.isidentifier() and not text.isdecimal():
        raise BadOption(
            f"--pipeline {text} names no loop",
            help="write --pipeline LOOP, a variable or a label, or --pipeline LEVEL, a number",
        )
    return text if text.isidentifier() else str(int(text))


def partitions_of(texts: Sequence[str]) -> dict[str, tuple[PartitionWish, ...]]:
    """Return how arrays are to be cut into banks, by name."""
    wishes: dict[str, tuple[PartitionWish, ...]] = {}
    for text in texts:
        name, _, how = text.partition("=")
        try:
            wish = wish_of(how)
        except ValueError:
            raise BadOption(
                f"--partition {text} is no way to cut an array",
                help="write --partition ARRAY=cyclic:DIM:N, ARRAY=block:DIM:N or "
                "ARRAY=complete:DIM",
            ) from None
        if not name.isidentifier():
            raise BadOption(f"--partition {text} names no array", help=f"write ARRAY={how}")
        wishes[name] = (*wishes.get(name, ()), wish)
    return wishes


def texts_taken(values: Mapping[str, object] | None) -> dict[str, str]:
    """Return macros and values of parameters as the texts that `-D` would give."""
    return {name: str(value) for name, value in (values or {}).items()}


def words_taken(values: Sequence[str | Path]) -> tuple[str, ...]:
    """Return folders as texts."""
    return tuple(map(str, values))


def names_taken(values: str | Sequence[str]) -> tuple[str, ...]:
    """Return names: one, or several."""
    return (values,) if isinstance(values, str) else tuple(values)


def float_wishes_taken(values: str | Sequence[str]) -> FloatWishes:
    """Return how floats may be computed otherwise."""
    words = values.split(",") if isinstance(values, str) else values
    return float_wishes_of(words)


Number = TypeVar("Number", int, int | None)


def numbers_taken(values: Mapping[str, Number] | None) -> dict[str, Number]:
    """Return a number for each name: shifts of statements, lanes of loops."""
    return dict(values or {})


def places_taken(values: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return where arrays are: all of them, or each."""
    return {EVERY_ARRAY: values} if isinstance(values, str) else dict(values or {})


def partitions_taken(
    values: Mapping[str, str | Sequence[str]] | None,
) -> dict[str, tuple[PartitionWish, ...]]:
    """Return how arrays are cut: in one way, or in several."""
    return {name: tuple(map(wish_of, names_taken(how))) for name, how in (values or {}).items()}
