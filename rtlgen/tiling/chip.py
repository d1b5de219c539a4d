"""What the units of a program in tiles are planned for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtlgen.ir.plan import Bus, OffChip
from rtlgen.scheduling.workers import ONE_WORKER, WorkerRequest
from rtlgen.target import Target
from rtlgen.tiling.lanes import LaneRequest

UNLIMITED = 1 << 62
"""More bits of RAM than anything takes."""


@dataclass(frozen=True, slots=True)
class Chip:
    """What the parts of a program are planned for.

    Members
    -------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    budget_bits: RAM that windows and kept memories may take. buffer: see `TileRequest`.
    workers: among which tiles are shared. lanes: what is to run side by side; None: nothing.
    """

    off_chip: Mapping[str, OffChip]
    word_bits: int
    bus: Bus
    budget_bits: int
    buffer: bool
    target: Target
    workers: WorkerRequest = ONE_WORKER
    lanes: LaneRequest | None = None

    @property
    def worker_bits(self) -> int:
        """The RAM that each worker may take."""
        return self.budget_bits // self.workers.count
