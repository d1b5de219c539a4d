"""What was chosen for a program, and nobody has proven yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.ir.plan import KernelPlan
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.planned import Planned
from rtlgen.search.lane_choice import LaneChoice
from rtlgen.tiling.plan import TiledProgram


@dataclass(frozen=True, slots=True, eq=False)
class OnChip:
    """A program whose arrays are all on chip.

    Members
    -------
    warnings: of the choice, beside those of the analysis.
    choice: the lanes that were chosen, where they were to be.
    untiled: why no tiles suit its arrays, where some were to be off chip.
    """

    planned: Planned
    warnings: tuple[Diagnostic, ...] = ()
    choice: LaneChoice[Planned] | None = None
    untiled: RtlgenError | None = None

    @property
    def plan(self) -> KernelPlan:
        return self.planned.plan

    def with_warnings(self, *others: Diagnostic) -> OnChip:
        return replace(self, warnings=(*self.warnings, *others))


@dataclass(frozen=True, slots=True, eq=False)
class InTiles:
    """A program with arrays off chip.

    Members
    -------
    analysis: of the program as written. warnings, choice: see `OnChip`.
    ram_limit_bits: what arrays and windows on chip may take.
    """

    analysis: Analysis
    tiled: TiledProgram
    ram_limit_bits: int
    warnings: tuple[Diagnostic, ...] = ()
    choice: LaneChoice[TiledProgram] | None = None

    @property
    def plan(self) -> KernelPlan:
        return self.tiled.plan

    def with_warnings(self, *others: Diagnostic) -> InTiles:
        return replace(self, warnings=(*self.warnings, *others))


Chosen: TypeAlias = OnChip | InTiles
