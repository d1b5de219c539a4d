"""Where the arrays of a program are kept: on chip, or in the memory off chip.

Whoever says nothing gets all arrays on chip as long as its RAM holds one copy of each; if it does
not, the largest ones move out until the others fit with all of their copies, of which it is known
how many there are once the program is planned. Whoever sets a limit gets no more than that with all
copies, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rtlgen.errors import Label
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.scop import Array, Scop
from rtlgen.options import EVERY_ARRAY, CompileOptions, off_chip_place
from rtlgen.options.choices import AXI_LATENCY_CYCLES, EXTERNAL, STREAM
from rtlgen.target import Target
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.errors import (
    BusTooNarrow,
    NoParallelTiles,
    NotInTiles,
    SeveralBuses,
    StaysOnChip,
    UnknownArray,
)
from rtlgen.tiling.lanes import LaneRequest
from rtlgen.transforms.lanes import LaneWishes
from rtlgen.windows.workers import WorkerRequest

USUAL_BUS = Bus("axi", AXI_LATENCY_CYCLES)
"""To arrays off chip where nobody has said another one: that which systems have."""

NO_COPIES: Mapping[str, int] = MappingProxyType({})

SHARE_OF_ARRAYS = 0.75
"""Of the RAM on chip, where arrays are off chip: the rest is for their windows."""

ON_CHIP_ONLY: Mapping[str, str] = {
    "fuse": "--fuse",
    "shifts": "--shift",
    "index_style": "--index",
    "index_latency_cycles": "--index-latency",
    "checksum": "--checksum",
    "expand": "--expand",
    "write_ports": "--write-ports",
    "pipeline": "--pipeline",
    "partitions": "--partition",
    "scheduler": "--scheduler",
    "fusion": "--fusion",
    "wavefront": "--wavefront",
    "interface": "--interface",
}
"""Options that decide how programs are built whose arrays are all on chip, and their flags."""

_DEFAULTS = CompileOptions()


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the arrays of a program are kept.

    Members
    -------
    request: what is asked of the tiles; None where all arrays are on chip.
    notes: sentences about arrays that are somewhere without having been asked to be.
    is_asked: whether tiles were asked for, by a place off chip or by a limit to the RAM.
    """

    request: TileRequest | None
    notes: tuple[str, ...] = ()
    is_asked: bool = True


def place_arrays(
    scop: Scop,
    options: CompileOptions,
    target: Target,
    ram_bits: Mapping[str, int] = NO_COPIES,
    *,
    all_out: bool = False,
) -> Placement:
    """Return where the arrays of a program are kept.

    Parameters
    ----------
    ram_bits: that arrays are known to take on chip, with all of their copies.
    all_out: whether all move out that may, where some have to.

    Raises
    ------
    UnknownArray, StaysOnChip, SeveralBuses, BusTooNarrow, NotInTiles
    """
    buses = _buses(scop, options)
    placement = _placed(scop, options, target, buses, ram_bits, all_out)
    return replace(placement, notes=(*placement.notes, *_staying(scop, options)))


def _placed(
    scop: Scop,
    options: CompileOptions,
    target: Target,
    buses: Mapping[str, Bus | None],
    ram_bits: Mapping[str, int],
    all_out: bool,
) -> Placement:
    asked = [array for array in scop.arrays if buses[array.name] is not None]
    size = _Size(scop, asked, options, target, ram_bits)
    out = [] if EVERY_ARRAY in options.memory else size.moving_out(all_out)
    if not asked and not out:
        if options.threads > 1:
            raise _nothing_to_share(options)
        note = "those that may be off chip are not enough"
        return Placement(None, (size.note(note),) if out is None else ())
    out = out or []
    is_asked = bool(asked) or options.max_bram_kib is not None
    other = _option_for_islands(options)
    if not is_asked and other is not None:
        if options.threads > 1:
            raise _nothing_to_share(options)
        note = f"they stay on chip for the sake of {other}"
        return Placement(None, (size.note(note),), False)
    _require_no_other(options, (size.note("some have to be off chip"),) if out else ())
    bus = _only_bus(asked, buses) if asked else USUAL_BUS
    moved = [array for array in scop.arrays if array in (*asked, *out)]
    _require_words(moved, options.bus_bits)
    kept = [array for array in scop.arrays if array not in moved]
    request = TileRequest(
        bus=bus,
        word_bits=options.bus_bits,
        on_chip=frozenset(array.name for array in kept),
        sizes=options.tile,
        budget_bits=max(0, size.limit_bits - sum(map(size.of, kept))),
        buffer=options.buffer,
        workers=WorkerRequest(options.threads, options.strategy, options.barrier),
        lanes=_lanes(scop, options),
        or_on_chip=not is_asked,
    )
    if not out:
        return Placement(request)
    names = ", ".join(array.name for array in out)
    are = f"{names} {'is' if len(out) == 1 else 'are'} off chip"
    return Placement(request, (size.note(f"{are}, as with --memory {bus}"),), is_asked)


def _lanes(scop: Scop, options: CompileOptions) -> LaneRequest | None:
    """Return the lanes that are asked for.

    Raises
    ------
    UnknownLoop
    """
    if not options.unroll:
        return None
    LaneWishes(options.unroll).require_known(scop)
    ((loop, count),) = options.unroll.items()
    return LaneRequest(loop, count)


def _nothing_to_share(options: CompileOptions) -> NoParallelTiles:
    return NoParallelTiles(
        f"{options.threads} threads have no tiles to share: all arrays are on chip",
        notes=("on chip, each statement issues an iteration a cycle",),
        help="say --memory fixed:8 or --memory axi, or leave out --threads",
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """The RAM that a program takes where only the arrays off chip that are asked for are there.

    Members
    -------
    ram_bits: of arrays of which the copies are known.
    """

    scop: Scop
    asked: Collection[Array]
    options: CompileOptions
    target: Target
    ram_bits: Mapping[str, int]

    def of(self, array: Array) -> int:
        """Return the bits that an array takes on chip, as far as is known."""
        return max(bits_of(array), self.ram_bits.get(array.name, 0))

    @property
    def limit_bits(self) -> int:
        return ram_limit_bits(self.options, self.target)

    @property
    def bits(self) -> int:
        return sum(self.of(array) for array in self.scop.arrays if array not in self.asked)

    def moving_out(self, all_out: bool) -> list[Array] | None:
        """Return the largest arrays, as many as are too many; None where that is not enough.

        Those that stay leave a part of the RAM to windows.

        Parameters
        ----------
        all_out: whether none stays that may move out, where some have to.
        """
        scop, left = self.scop, self.bits
        if left <= self.limit_bits:
            return []
        looked_up = {r.array for s in scop.statements for r in s.reads if r.is_lookup}
        free = [
            array
            for array in scop.arrays
            if _is_movable(array) and array.name not in {*self.options.memory, *looked_up}
        ]
        out: list[Array] = []
        for array in sorted(free, key=self.of, reverse=True):
            if all_out or left > self.limit_bits * SHARE_OF_ARRAYS:
                out.append(array)
                left -= self.of(array)
        return None if left > self.limit_bits else out

    def note(self, outcome: str) -> str:
        """Return a sentence about what becomes of arrays that are too large."""
        limit = _kib(self.limit_bits)
        has = f"{self.target.device} has {limit} KiB"
        if self.options.max_bram_kib is not None:
            has = f"they may take {limit} KiB"
        copies = " with their copies" if self.ram_bits else ""
        return f"arrays take {_kib(self.bits)} KiB on chip{copies}, and {has}: {outcome}"


def _kib(bits: int) -> str:
    return f"{-(-bits // 8192):,}"


def ram_limit_bits(options: CompileOptions, target: Target) -> int:
    """Return how much RAM on chip arrays and windows may take, in bits of C elements."""
    if options.max_bram_kib is not None:
        return options.max_bram_kib * 1024 * 8
    return target.device_ram_bits


def bits_of(array: Array) -> int:
    """Return the bits of an array in block RAM that is there for one reader."""
    is_here = array.shape and not (array.is_stream or array.is_external)
    copies = (2 if array.is_double else 1) if is_here else 0
    return copies * array.depth * array.element.width_bits


def _buses(scop: Scop, options: CompileOptions) -> dict[str, Bus | None]:
    """Return for every array the bus to it, or None where it is on chip."""
    names = [array.name for array in (*scop.arrays, *scop.untouched)]
    for name in options.memory:
        if name not in (EVERY_ARRAY, *names):
            raise UnknownArray(
                f"there is no array {name}",
                help=f"the arrays are {', '.join(_array_names(scop))}",
            )
    places = {name: _bus_to(place) for name, place in options.memory.items()}
    found: dict[str, Bus | None] = {}
    for array in scop.arrays:
        bus = places.get(array.name, places.get(EVERY_ARRAY))
        if bus is not None and not _is_movable(array):
            if array.name in places:
                what = "a constant table" if array.is_table else "a scalar variable"
                if array.shape and not array.is_table:
                    what = "a single element"
                raise StaysOnChip(
                    f"{array.name} is {what}: it stays on chip",
                    labels=(Label(array.span),),
                    help=f"leave out --memory {array.name}={options.memory[array.name]}",
                )
            bus = None
        found[array.name] = bus
    return found


def _is_movable(array: Array) -> bool:
    return bool(array.shape) and array.depth > 1 and not array.is_table and not array.is_double


def _array_names(scop: Scop) -> list[str]:
    return [array.name for array in (*scop.arrays, *scop.untouched) if array.shape]


def _bus_to(place: str) -> Bus | None:
    """Return the bus to what is kept at a place; None: it is on chip."""
    found = off_chip_place(place)
    return None if found is None else Bus(*found)


def _staying(scop: Scop, options: CompileOptions) -> Iterator[str]:
    """Yield why arrays that were asked to be off chip are not."""
    places = {name: _bus_to(place) for name, place in options.memory.items()}
    if places.get(EVERY_ARRAY) is not None:
        for array in scop.arrays:
            if array.shape and array.depth == 1 and array.name not in places:
                yield f"{array.name} is a single element: it stays on chip, in a register"
    for array in scop.untouched:
        if places.get(array.name) is not None:
            yield f"{array.name} is neither read nor written: nothing of it is off chip"


def _only_bus(moved: Sequence[Array], buses: Mapping[str, Bus | None]) -> Bus:
    """Return the bus that all arrays off chip share."""
    first = buses[moved[0].name]
    for array in moved:
        if buses[array.name] != first:
            raise SeveralBuses(
                f"{moved[0].name} is {first} and {array.name} {buses[array.name]}",
                labels=(Label(array.span), Label(moved[0].span)),
                notes=("there is one memory off chip, behind one bus",),
                help=f"say --memory {array.name}={first}",
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


def _require_no_other(options: CompileOptions, notes: tuple[str, ...]) -> None:
    """Raise NotInTiles where an option is given that tiles know nothing of.

    Parameters
    ----------
    notes: why arrays are off chip that nobody asked to be.
    """
    flag = _option_for_islands(options)
    if flag is not None:
        raise NotInTiles(
            f"{flag} is for programs whose arrays are all on chip",
            notes=notes or ("arrays are off chip, so the program is planned in tiles",),
            help=f"leave out {flag}, or say --memory onchip",
        )


def _option_for_islands(options: CompileOptions) -> str | None:
    """Return the flag of an option that was given and that tiles know nothing of, or None."""
    for member, flag in ON_CHIP_ONLY.items():
        if getattr(options, member) != getattr(_DEFAULTS, member):
            return flag
    for name, place in options.memory.items():
        if place in (STREAM, EXTERNAL):
            return f"--memory {name}{'=' if name else ''}{place}"
    return "--unroll of several loops" if len(options.unroll) > 1 else None
