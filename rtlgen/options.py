"""What a user can choose: everything that decides what is built."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from rtlgen.ir.memory_side import Bus, BusKind
from rtlgen.ir.plan import INDEX_STYLES, IndexStyle
from rtlgen.ir.sharing import POLICIES, Policy
from rtlgen.poly.pluto.components import FUSIONS, Fusion
from rtlgen.transforms.loop_schedule import SCHEDULERS, LoopOptions, Scheduler
from rtlgen.transforms.partition import PartitionWish

FuseMode: TypeAlias = Literal["mf3", "ols", "none"]
FUSE_MODES: tuple[FuseMode, ...] = ("mf3", "ols", "none")

ExpandMode: TypeAlias = Literal["auto", "never", "always"]
EXPAND_MODES: tuple[ExpandMode, ...] = ("auto", "never", "always")

WritePorts: TypeAlias = Literal["auto", "one"]
WRITE_PORTS: tuple[WritePorts, ...] = ("auto", "one")


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

_OFF_CHIP = re.compile(r"(fixed|axi|dram):([0-9]{1,5})")

_LATENCY_CYCLES: Mapping[str, int] = {"axi": AXI_LATENCY_CYCLES, "dram": DRAM_LATENCY_CYCLES}
"""Where only the kind of a memory is given."""


_CHOICES: Mapping[str, tuple[object, ...]] = {
    "fuse": FUSE_MODES,
    "expand": EXPAND_MODES,
    "write_ports": WRITE_PORTS,
    "index_style": INDEX_STYLES,
    "scheduler": (None, *SCHEDULERS),
    "fusion": FUSIONS,
    "bus_bits": BUS_BITS,
    "strategy": POLICIES,
}


def off_chip_bus(place: str) -> Bus | None:
    """Return the bus to an array that is kept at a place; None: it is on chip.

    Parameters
    ----------
    place: `onchip`; `fixed:L`: off chip, L cycles a word, one word at a time; `axi` or `axi:L`:
        behind an AXI4 bus, for which cycles are predicted as if each answer took L cycles; or
        `dram` or `dram:L`: the same, of a DRAM with one data bus for reads and writes.

    Raises
    ------
    ValueError: there is no such place.
    """
    if place == "onchip":
        return None
    found = _OFF_CHIP.fullmatch(place)
    kind = place if found is None else found[1]
    latency_cycles = _LATENCY_CYCLES.get(kind, 0) if found is None else int(found[2])
    if not 1 <= latency_cycles <= MOST_LATENCY_CYCLES:
        raise ValueError(
            f"memory is {place!r}, not onchip, axi, dram, or fixed:L, axi:L or dram:L with an L "
            f"from 1 to {MOST_LATENCY_CYCLES}"
        )
    return Bus(cast(BusKind, kind), latency_cycles)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Everything that decides what is built.

    Members
    -------
    defines: macro or scalar parameter -> text, as given by -D.
    shifts: statement -> MF3 shift that replaces the compiler's.
    index_latency_cycles: pipeline depth of the index recovery, None for the target's choice.
    scheduler, fusion, tile, wavefront: see `LoopOptions`.
    expand: whether temporaries are expanded; auto: where that shortens the fused loop.
    write_ports: how many an array may have; auto: several where that shortens the fused loop.
    memory: where arrays are kept, by name, see `off_chip_bus`; that of `EVERY_ARRAY` is for all
        others. Those without a place are on chip as long as they fit.
    bus_bits: of a word of the memory off chip.
    max_bram_kib: RAM on chip that arrays and windows may take; None: all that the target has.
    max_dsp: multiplier blocks that lanes may take, which are chosen then; None: no lanes are.
    unroll: in how many lanes loops run, by name or label; None: in as many as they have iterations.
    pipeline: loops, all below which are unrolled: by name, label or level from 1; or the function,
        by name or as level 0.
    partitions: how arrays are cut into banks, by name.
    buffer: whether words from off chip are kept on chip from tile to tile; without it, and without
        sizes of tiles, every access is one to the memory off chip.
    threads: physical threads that share the tiles of a program whose arrays are off chip, each
        with a copy of the circuit of a tile. strategy: which tiles are whose, see `ir.sharing`.
    barrier: whether they all meet after each wave of tiles.
    """

    function: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    include_dirs: tuple[str, ...] = ()
    target: str = "ecp5"
    fuse: FuseMode = "mf3"
    shifts: Mapping[str, int] = field(default_factory=dict)
    index_style: IndexStyle = "odometer"
    index_latency_cycles: int | None = None
    checksum: bool = False
    expand: ExpandMode = "auto"
    write_ports: WritePorts = "auto"
    scheduler: Scheduler | None = None
    fusion: Fusion = "smart"
    tile: tuple[int, ...] = ()
    wavefront: bool = False
    memory: Mapping[str, str] = field(default_factory=dict)
    unroll: Mapping[str, int | None] = field(default_factory=dict)
    pipeline: tuple[str, ...] = ()
    partitions: Mapping[str, tuple[PartitionWish, ...]] = field(default_factory=dict)
    bus_bits: int = 64
    max_bram_kib: int | None = None
    max_dsp: int | None = None
    buffer: bool = True
    threads: int = 1
    strategy: Policy = "cyclic"
    barrier: bool = False

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}, not one of {choices}")
        if any(size < 1 for size in self.tile):
            raise ValueError(f"tile is {self.tile}: a tile has at least one iteration")
        if self.index_latency_cycles is not None and not 0 <= self.index_latency_cycles <= 64:
            raise ValueError(f"index_latency_cycles is {self.index_latency_cycles}, not 0 to 64")
        if any(lanes is not None and lanes < 1 for lanes in self.unroll.values()):
            raise ValueError(f"unroll is {self.unroll}: a loop has at least one lane")
        if not all(self.pipeline):
            raise ValueError(f"pipeline is {self.pipeline}: a loop or a level has a name")
        for place in self.memory.values():
            off_chip_bus(place)
        if not 1 <= self.threads <= MOST_THREADS:
            raise ValueError(f"threads is {self.threads}, not 1 to {MOST_THREADS}")
        if self.max_bram_kib is not None and self.max_bram_kib < 1:
            raise ValueError(f"max_bram_kib is {self.max_bram_kib}: it takes some RAM")
        if self.max_dsp is not None and self.max_dsp < 0:
            raise ValueError(f"max_dsp is {self.max_dsp}, less than none")

    @property
    def loops(self) -> LoopOptions:
        """Which loops the program is brought into before it is flattened."""
        return LoopOptions(self.scheduler, self.fusion, self.tile, self.wavefront)
