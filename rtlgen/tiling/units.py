"""The units of a program in tiles, which share the RAM on chip."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rtlgen.poly.dependences import Dependence
from rtlgen.scheduling.workers import ONE_WORKER
from rtlgen.tiling.candidates import Candidate
from rtlgen.tiling.choice import TileChoice
from rtlgen.tiling.errors import NoParallelTiles
from rtlgen.tiling.part import Chip, TiledPart
from rtlgen.tiling.program import Program, part_of
from rtlgen.transforms.units import dependence_units


@dataclass(frozen=True, slots=True, eq=False)
class UnitPlan:
    """A unit in the tiles that were chosen, and the tiles that were planned for that.

    Members
    -------
    alone: why it runs on one worker where several are asked for.
    """

    part: TiledPart
    candidates: tuple[Candidate, ...]
    alone: NoParallelTiles | None = None


class UnitPlanner:
    """Plan the units of a program, which run one after another, each with RAM of its own.

    Parameters
    ----------
    together: dependences between what is to be in one unit where they form a cycle.
    chip: with the RAM for all units together. sizes: of the tiles that are asked for, or ().
    names: those that memories cannot have.
    """

    def __init__(
        self,
        whole: Program,
        together: Sequence[Dependence],
        chip: Chip,
        sizes: tuple[int, ...],
        names: Collection[str],
    ) -> None:
        units = dependence_units(whole.scop, (*whole.dependences, *together))
        self.programs = [part_of(whole, frozenset(unit.statements)) for unit in units]
        self.chip = chip
        self.sizes = sizes
        self.names = tuple(names)
        self.plans: list[UnitPlan | None] = [None] * len(units)

    def plan(self) -> Sequence[UnitPlan]:
        """Return the plans of all units, in the order in which they run.

        Each unit is planned with all of the RAM. Where that is too much together, those that take
        less than an equal share of what is left keep their plans, the least demanding one first,
        and the others are planned once more with their share.

        Raises
        ------
        IllegalSchedule, RaggedDomain, WindowsTooLarge: one of them does not fit its share.
        NoParallelTiles: several workers are asked for, and no unit is one that they can share.
        """
        found = self._planned()
        alone = [plan.alone for plan in found]
        if alone and all(alone):
            assert alone[0] is not None
            raise alone[0]
        return found

    def _planned(self) -> Sequence[UnitPlan]:
        for number in range(len(self.plans)):
            self._plan(number, self.chip.budget_bits)
        found = self._found()
        if sum(plan.part.ram_bits for plan in found) <= self.chip.budget_bits:
            return found
        left = self.chip.budget_bits
        order = sorted(range(len(found)), key=lambda n: found[n].part.ram_bits)
        for place, number in enumerate(order):
            share = left // (len(order) - place)
            if found[number].part.ram_bits > share:
                self._plan(number, share)
            left -= self._found()[number].part.ram_bits
        return self._found()

    def _plan(self, number: int, budget_bits: int) -> None:
        others = [plan for n, plan in enumerate(self.plans) if plan is not None and n != number]
        taken = [memory.name for plan in others for memory in plan.part.team.memories]
        chip = replace(self.chip, budget_bits=budget_bits)
        names = (*self.names, *taken)
        try:
            self.plans[number] = self._chosen(number, chip, names)
        except NoParallelTiles as error:
            plan = self._chosen(number, replace(chip, workers=ONE_WORKER), names)
            self.plans[number] = replace(plan, alone=error)

    def _chosen(self, number: int, chip: Chip, names: Sequence[str]) -> UnitPlan:
        choice = TileChoice(self.programs[number], chip, self.sizes, names)
        part = choice.best()
        return UnitPlan(part, choice.candidates)

    def _found(self) -> Sequence[UnitPlan]:
        return [plan for plan in self.plans if plan is not None]
