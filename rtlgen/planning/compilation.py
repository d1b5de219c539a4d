"""What compiling a program gives: what was chosen, its plan, its passes, its findings.

What was chosen for a program, and nobody has proven yet.

A program whose arrays are all on chip is an island, in which nothing ever waits; one with arrays
off chip runs in tiles. What build, run, verify and report need of either stands in `Compilation`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.emit.transfers import transfer_program
from rtlgen.emit.unit import c_program
from rtlgen.errors import Diagnostic, RtlgenError
from rtlgen.ir.issued_instances import InstanceMap
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop
from rtlgen.memories.bounds import StoreBound
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.lane_search import LaneChoice
from rtlgen.planning.planned import Expanded, Planned, Tried
from rtlgen.poly.barriers import ChainBound
from rtlgen.report.loops import pause_report, schedule_report, skew_report
from rtlgen.report.plan_report import Findings, expansion_cost, issue_slots
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.idle_slots import IdleSlots
from rtlgen.scheduling.lower import instance_maps, tiled_instance_maps
from rtlgen.target import Target
from rtlgen.tiling.plan import TiledProgram
from rtlgen.tiling.summary import tiles_report


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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compilation(ABC):
    """A compiled program.

    Members
    -------
    analysis: of the program as written. plan: what is built.
    stages: the program after every pass, by name.
    replayed: whether the plan was small enough to be replayed exhaustively.
    limits: sentences about limits that changed what is built.
    steps: elementary steps that it took. tried: what the search has looked at.
    """

    analysis: Analysis
    plan: KernelPlan
    target: Target
    stages: Mapping[str, Scop]
    replayed: bool
    limits: tuple[str, ...] = ()
    steps: int = 0
    tried: tuple[Tried, ...] = ()

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.analysis.warnings

    @property
    def dead_statements(self) -> frozenset[str]:
        """The names of the statements of the program that are left out."""
        written, live = (
            {statement.name for statement in self.stages[name].statements}
            for name in ("parse", "prune")
        )
        return frozenset(written - live)

    @property
    def unproven(self) -> tuple[str, ...]:
        """What a limit leaves unproven, a line each."""
        if self.replayed:
            return ()
        return (f"not replayed: {self.plan.fused_iterations:,} iterations",)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What whoever builds or proves it should know, a line each."""
        return (*self.unproven, *(f"limit: {limit}" for limit in self.limits))

    @property
    def passes(self) -> tuple[str, ...]:
        """The passes whose result can be read as C, in order."""
        return tuple(self.stages)

    def c_text(self, name: str) -> str:
        """Return the program after one of the passes as C.

        Raises
        ------
        TooComplex: isl's operation limit was met.
        """
        return c_program(self.stages[name], name)

    @abstractmethod
    def findings(self) -> Findings:
        """Return what was found while the plan was made."""

    @abstractmethod
    def instance_maps(self) -> tuple[InstanceMap, ...]:
        """Return of every stream of the plan, in order, which instances it issues."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IslandCompilation(Compilation):
    """A compiled program whose arrays are all on chip.

    Members
    -------
    decision: when its statements run.
    idle: what its issue slots wait for.
    bounds: write ports that keep it from being as short as its longest statement.
    chain: dependences that do, whatever the loops are.
    lanes: what the lanes of unrolled loops wait for, and have copies for.
    choice: the lanes that were chosen, where they were to be.
    expanded: the plans between which it was chosen to expand temporaries, where it was.
    untiled: why no tiles suit its arrays, where some were to be off chip.
    """

    decision: Decision
    idle: tuple[IdleSlots, ...] = ()
    bounds: tuple[StoreBound, ...] = ()
    chain: ChainBound | None = None
    expanded: Expanded | None = None
    lanes: tuple[str, ...] = ()
    choice: LaneChoice[Planned] | None = None
    untiled: RtlgenError | None = None

    def findings(self) -> Findings:
        analysis = self.analysis
        chain = [] if self.chain is None else [self.chain.text()]
        choice = self.choice
        chosen = [] if choice is None else choice.text()
        return Findings(
            schedule=self._schedule(),
            expansions=[
                {
                    "array": expansion.array,
                    "copies": [copy.name for copy in expansion.copies],
                    "elements": expansion.elements,
                    "elements_after": expansion.elements_after,
                }
                for expansion in analysis.expansions
            ],
            expansion_cost=self._expansion_cost(),
            skews=skew_report(analysis.skewed),
            pauses=pause_report(analysis.pauses, analysis.scop),
            why=self.decision.why,
            idle_slots=[idle.to_json() for idle in self.idle],
            bounds=[*chain, *(b.text() for b in self.bounds), *self.lanes, *chosen],
            lane_choice=None if choice is None else choice.report(),
            unproven=self.unproven,
            folded=self.analysis.folded,
            limits=self.limits,
            tried=[each.to_json() for each in self.tried],
            figures={"fused_iterations_proven": self.decision.fused_proven},
        )

    def instance_maps(self) -> tuple[InstanceMap, ...]:
        placed = self.stages["flatten"].schedule
        return instance_maps(self.plan, self.analysis.scop, placed, self.analysis.program.scop)

    def _schedule(self) -> dict[str, object] | None:
        scheduled = self.analysis.scheduled
        if scheduled is None:
            return None
        # Lanes are statements there, too.
        statements = self.analysis.earlier["normalise"].statements
        return schedule_report(scheduled, {s.name: s.iterators for s in statements})

    def _expansion_cost(self) -> dict[str, object] | None:
        if self.expanded is None:
            return None
        before, after = self.expanded.before, self.expanded.after
        return expansion_cost(before, self.expanded.at_least, after, self.target)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TiledCompilation(Compilation):
    """A compiled program with arrays off chip.

    Members
    -------
    tiled: its units, each planned in tiles. choice: the lanes that were chosen, where they were to
        be.
    ram_limit_bits: what arrays and windows on chip may take.
    """

    tiled: TiledProgram
    ram_limit_bits: int
    choice: LaneChoice[TiledProgram] | None = None

    @property
    def passes(self) -> tuple[str, ...]:
        return (*self.stages, "transfer")

    def c_text(self, name: str) -> str:
        if name in self.stages:
            return c_program(self.stages[name], name)
        side = self.plan.memory_side
        assert side is not None, "a program in tiles has arrays off chip"
        return transfer_program(self.tiled.program.scop, self.tiled.parts, side)

    def findings(self) -> Findings:
        return Findings(
            why="what passes between them passes through the memory off chip",
            idle_slots=self._idle_slots(),
            bounds=[] if self.choice is None else self.choice.text(),
            lane_choice=None if self.choice is None else self.choice.report(),
            unproven=self.unproven,
            folded=self.analysis.folded,
            limits=self.limits,
            tried=[each.to_json() for each in self.tried],
            tiles=tiles_report(self.tiled, self.ram_limit_bits),
        )

    def instance_maps(self) -> tuple[InstanceMap, ...]:
        whole = self.tiled.program.scop
        return tuple(
            found
            for part in self.tiled.parts
            for found in tiled_instance_maps(
                part.workers, part.judged(whole), self.analysis.program.scop
            )
        )

    def _idle_slots(self) -> list[dict[str, object]]:
        """Return the slots of the busiest worker's tiles that are more than its share."""
        share = max(part.kernel.lanes for part in self.tiled.parts) * max(
            len(part.workers.regions) for part in self.tiled.parts
        )
        slots = sum(map(issue_slots, self.plan.body))
        idle = slots - self.plan.floor_iterations // share
        if idle <= 0:
            return []
        why = "not attributed: filling, draining and padding of tiles"
        return [IdleSlots(idle, why).to_json()]
