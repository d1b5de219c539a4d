"""Where the arrays of a program are kept: on chip, or in the memory off chip."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rtlgen.errors import Label
from rtlgen.ir.scop import Array, Scop
from rtlgen.options import EVERY_ARRAY, CompileOptions, off_chip_latency
from rtlgen.target import Target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import (
    BusTooNarrow,
    NotInTiles,
    SeveralLatencies,
    StaysOnChip,
    UnknownArray,
)

ON_CHIP_ONLY: Mapping[str, str] = {
    "fuse": "--fuse",
    "shifts": "--shift",
    "index_style": "--index",
    "index_latency_cycles": "--index-latency",
    "checksum": "--checksum",
    "expand": "--expand",
    "write_ports": "--write-ports",
    "scheduler": "--scheduler",
    "fusion": "--fusion",
    "wavefront": "--wavefront",
}
"""Options that decide how programs are built whose arrays are all on chip, and their flags."""

_DEFAULTS = CompileOptions()


def tile_request(scop: Scop, options: CompileOptions, target: Target) -> TileRequest | None:
    """Return what is asked of a program with arrays off chip; None where all are on chip.

    Raises
    ------
    UnknownArray, StaysOnChip, SeveralLatencies, BusTooNarrow, NotInTiles
    """
    latencies = _latencies(scop, options)
    moved = [array for array in scop.arrays if latencies[array.name] is not None]
    if not moved:
        return None
    _require_words(moved, options.bus_bits)
    _require_no_other(options)
    kept = [array for array in scop.arrays if array not in moved]
    return TileRequest(
        latency_cycles=_only_latency(moved, latencies),
        word_bits=options.bus_bits,
        on_chip=frozenset(array.name for array in kept),
        sizes=options.tile,
        budget_bits=max(0, ram_limit_bits(options, target) - sum(map(bits_of, kept))),
        buffer=options.buffer,
    )


def ram_limit_bits(options: CompileOptions, target: Target) -> int:
    """Return how much RAM on chip arrays and windows may take, in bits of C elements."""
    if options.max_bram_kib is not None:
        return options.max_bram_kib * 1024 * 8
    return target.device_ram_bits


def bits_of(array: Array) -> int:
    """Return the bits of one copy of an array in block RAM."""
    return array.depth * array.element.width_bits if array.shape else 0


def _latencies(scop: Scop, options: CompileOptions) -> dict[str, int | None]:
    """Return for every array the cycles of an access, or None where it is on chip."""
    names = [array.name for array in scop.arrays]
    for name in options.memory:
        if name not in (EVERY_ARRAY, *names):
            raise UnknownArray(
                f"there is no array {name}",
                help=f"the arrays are {', '.join(a.name for a in scop.arrays if a.shape)}",
            )
    places = {name: off_chip_latency(place) for name, place in options.memory.items()}
    found: dict[str, int | None] = {}
    for array in scop.arrays:
        latency = places.get(array.name, places.get(EVERY_ARRAY))
        if latency is not None and not _is_movable(array):
            if array.name in places:
                what = "a constant table" if array.is_table else "a scalar variable"
                raise StaysOnChip(
                    f"{array.name} is {what}: it stays on chip",
                    labels=(Label(array.span),),
                    help=f"leave out --memory {array.name}={options.memory[array.name]}",
                )
            latency = None
        found[array.name] = latency
    return found


def _is_movable(array: Array) -> bool:
    return bool(array.shape) and not array.is_table


def _only_latency(moved: Sequence[Array], latencies: Mapping[str, int | None]) -> int:
    """Return the latency that all arrays off chip share."""
    first = latencies[moved[0].name]
    for array in moved:
        if latencies[array.name] != first:
            raise SeveralLatencies(
                f"{moved[0].name} is fixed:{first} and {array.name} fixed:{latencies[array.name]}",
                labels=(Label(array.span), Label(moved[0].span)),
                notes=("there is one memory off chip, with one latency",),
                help=f"say --memory {array.name}=fixed:{first}",
            )
    assert first is not None
    return first


def _require_words(moved: Collection[Array], bus_bits: int) -> None:
    """Raise BusTooNarrow where an element does not fit a word."""
    for array in moved:
        width = array.element.width_bits
        if width > bus_bits:
            raise BusTooNarrow(
                f"an element of {array.name} has {width} bits, the bus {bus_bits}",
                labels=(Label(array.span, f"{width} bits an element"),),
                help=f"--bus-bits {width}, or --memory {array.name}=onchip",
            )


def _require_no_other(options: CompileOptions) -> None:
    """Raise NotInTiles where an option is given that tiles know nothing of."""
    for member, flag in ON_CHIP_ONLY.items():
        if getattr(options, member) != getattr(_DEFAULTS, member):
            raise NotInTiles(
                f"{flag} is for programs whose arrays are all on chip",
                notes=("arrays are off chip, so the program is planned in tiles",),
                help=f"leave out {flag}, or say --memory onchip",
            )
