"""What a user can choose: everything that decides what is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rtlgen.ir.plan import INDEX_STYLES, IndexStyle
from rtlgen.poly.pluto.components import FUSIONS, Fusion
from rtlgen.transforms.loop_schedule import SCHEDULERS, LoopOptions, Scheduler

FuseMode: TypeAlias = Literal["mf3", "ols", "none"]
FUSE_MODES: tuple[FuseMode, ...] = ("mf3", "ols", "none")

ExpandMode: TypeAlias = Literal["auto", "never", "always"]
EXPAND_MODES: tuple[ExpandMode, ...] = ("auto", "never", "always")

WritePorts: TypeAlias = Literal["auto", "one"]
WRITE_PORTS: tuple[WritePorts, ...] = ("auto", "one")


_CHOICES: Mapping[str, tuple[object, ...]] = {
    "fuse": FUSE_MODES,
    "expand": EXPAND_MODES,
    "write_ports": WRITE_PORTS,
    "index_style": INDEX_STYLES,
    "scheduler": (None, *SCHEDULERS),
    "fusion": FUSIONS,
}


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

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} is {getattr(self, name)!r}, not one of {choices}")
        if any(size < 1 for size in self.tile):
            raise ValueError(f"tile is {self.tile}: a tile has at least one iteration")
        if self.index_latency_cycles is not None and not 0 <= self.index_latency_cycles <= 64:
            raise ValueError(f"index_latency_cycles is {self.index_latency_cycles}, not 0 to 64")

    @property
    def loops(self) -> LoopOptions:
        """Which loops the program is brought into before it is flattened."""
        return LoopOptions(self.scheduler, self.fusion, self.tile, self.wavefront)
