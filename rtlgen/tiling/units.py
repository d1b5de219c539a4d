"""The units of a program in tiles, which share the RAM on chip."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from rtlgen.errors import RtlgenError
from rtlgen.ir.bank_map import MOST_BANKS
from rtlgen.ir.effort import Reserve, Turns, improving, keep_going
from rtlgen.ir.timeline import workers_cycles
from rtlgen.poly.dependences import Dependence
from rtlgen.scheduling.errors import NoLanes, WindowsTooLarge
from rtlgen.tiling.choice import GAIN, TileChoice
from rtlgen.tiling.cut import Chip
from rtlgen.tiling.errors import REFUSALS, NoParallelTiles
from rtlgen.tiling.form import Candidate
from rtlgen.tiling.loops import Program, UnitLoops, joined_loops, loops_of, part_of
from rtlgen.tiling.part import TiledPart
from rtlgen.transforms.units import dependence_units
from rtlgen.windows.workers import ONE_WORKER

OUT_OF_LANES = (NoLanes, WindowsTooLarge)
"""Why a unit cannot run in lanes: of some tiles it is only known that there is not the RAM."""

INSTEAD = "tiles of one worker instead of several"
"""What is compared with the tiles of several workers."""


@dataclass(frozen=True, slots=True)
class SoonerAlone:
    """That one worker is done sooner than several would be, each in the best tiles that it has.

    Members
    -------
    cycles: of the one. shared_cycles: of so many `workers`.
    """

    cycles: int
    shared_cycles: int
    workers: int

    def __str__(self) -> str:
        return f"it takes {self.cycles:,} cycles, {self.workers} take {self.shared_cycles:,}"


@dataclass(frozen=True, slots=True, eq=False)
class UnitPlan:
    """A unit in the tiles that were chosen, and the tiles that were planned for that.

    Members
    -------
    alone: why it runs on one worker where several are asked for.
    apart: why it is not in common tiles with the unit behind it, where workers are in the way.
    single: why it runs in one lane where several are asked for.
    sooner: by how much one worker is done sooner than those that are asked for, or as soon.
    """

    part: TiledPart
    candidates: tuple[Candidate, ...]
    alone: RtlgenError | SoonerAlone | None = None
    apart: NoParallelTiles | None = None
    single: RtlgenError | None = None
    sooner: SoonerAlone | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Units that are planned together, in the loops that may be cut."""

    units: tuple[tuple[str, ...], ...]
    loops: tuple[UnitLoops, ...]

    @property
    def longest(self) -> int:
        """The instances of the statement that has most."""
        return max(self.loops[0].instances.values())


class UnitPlanner:
    """Plan the units of a program, which run one after another, each with RAM of its own.

    Units that follow each other are cut together where that takes fewer cycles: their statements
    issue side by side, in tiles of which those of one unit may be some behind those of another.

    Parameters
    ----------
    together: dependences between what is to be in one unit where they form a cycle.
    chip: with the RAM for all units together. sizes: of the tiles that are asked for, or ().
    names: those that memories cannot have.
    or_on_chip: see `TileRequest`; else the RAM that all units need is told where it is missing.
    """

    def __init__(
        self,
        whole: Program,
        together: Sequence[Dependence],
        chip: Chip,
        sizes: tuple[int, ...],
        names: Collection[str],
        *,
        or_on_chip: bool = False,
    ) -> None:
        self.whole = whole
        self.groups = [
            _Group((unit.statements,), tuple(loops_of(part_of(whole, frozenset(unit.statements)))))
            for unit in dependence_units(whole.scop, (*whole.dependences, *together))
        ]
        self.chip = chip
        self.sizes = sizes
        self.names = tuple(names)
        self.or_on_chip = or_on_chip
        self.plans: list[UnitPlan | None] = [None] * len(self.groups)
        self.together = tuple(together)
        self.for_one_worker = Reserve()
        self.is_shared_out = False
        self.found_lanes = False
        self.in_one_lane = False
        self.too_large: _Group | None = None

    def plan(self) -> Sequence[UnitPlan]:
        """Return the plans of all units, in the order in which they run.

        Each unit is planned with all of the RAM. Where that is too much together, those that take
        less than an equal share of what is left keep their plans, the least demanding one first,
        and the others are planned once more with their share.

        Raises
        ------
        IllegalSchedule, RaggedDomain, WindowsTooLarge: one of them does not fit its share.
        NoParallelTiles: several workers are asked for, and no unit is one that they can share.
        NoLanes: several lanes are asked for where they can be, and no unit can run in them.
        """
        found = self._planned_for_all()
        alone = [plan.alone for plan in found if isinstance(plan.alone, NoParallelTiles)]
        if found and len(alone) == len(found):
            raise alone[0]
        return found

    def _planned_for_all(self) -> Sequence[UnitPlan]:
        """Return the plans for all workers, or for one where several take more RAM than there is.

        What each unit takes by itself is compared with one worker in any case, see `_chosen`; but
        what it takes with a share of the RAM is known only in the end.
        """
        workers = self.chip.workers.count
        try:
            found = self._planned()
        except WindowsTooLarge as error:
            alone = None if workers == 1 or self.is_fixed else self._all_on_one_worker()
            if alone is None:
                raise
            return [replace(plan, alone=error) for plan in alone]
        if workers == 1 or self.is_fixed or not self.is_shared_out:
            return found
        alone = self._all_on_one_worker()
        cycles = sum(map(self._cycles, found))
        if alone is None or sum(map(self._cycles, alone)) >= GAIN * cycles:
            return found
        sooner = SoonerAlone(sum(map(self._cycles, alone)), cycles, workers)
        return [replace(plan, alone=sooner, sooner=sooner) for plan in alone]

    @property
    def is_fixed(self) -> bool:
        """Whether tiles of certain sizes are asked for: then they are shared as they are."""
        return bool(self.sizes) or not self.chip.buffer

    def _all_on_one_worker(self) -> Sequence[UnitPlan] | None:
        """Return the plans of all units for one worker; None where there are none."""
        found: Sequence[UnitPlan] | None = None
        chip = replace(self.chip, workers=ONE_WORKER)
        with suppress(*REFUSALS), improving(INSTEAD), self.for_one_worker.spent():
            found = UnitPlanner(self.whole, self.together, chip, (), self.names).plan()
        return found

    def _planned(self) -> Sequence[UnitPlan]:
        try:
            self._plan_each()
            self._join(self._replace)
            found = self._found()
            if sum(plan.part.ram_bits for plan in found) <= self.chip.budget_bits:
                return found
            return self._shared_out([0] * len(self.groups))
        except WindowsTooLarge:
            if self.or_on_chip and not self._is_too_large_no_more():
                raise
            least = [self._least_bits(number, 1, group) for number, group in enumerate(self.groups)]
            self._join(partial(self._replace_in_less, least=least))
            if sum(least) > self.chip.budget_bits:
                raise self._too_large(least) from None
            return self._shared_out(least)

    def _is_too_large_no_more(self) -> bool:
        """Join what needs more RAM by itself than there is with what is beside it, if that helps.

        Otherwise no other tiles of the others help, whatever these are.
        """
        if self.too_large is None:
            return True
        self._join(self._replace_too_large)
        return self.too_large is None

    def _replace_too_large(self, number: int, joined: _Group) -> bool:
        """Put a group in place of the one that is too large and its neighbour, where it fits."""
        if self.too_large not in self.groups[number : number + 2]:
            return False
        try:
            bits = self._least_bits(number, 2, joined)
        except (*REFUSALS, NoParallelTiles):
            return False
        if bits > self.chip.budget_bits:
            return False
        self.too_large = None
        self.groups[number : number + 2] = [joined]
        self.plans[number : number + 2] = [None]
        return True

    def _plan_each(self) -> None:
        """Plan each unit with all of the RAM, in lanes as far as these can be.

        The longest come first: they are the likeliest to need more RAM than there is.

        Raises
        ------
        NoLanes, WindowsTooLarge: there are to be lanes where they can be, and no unit can run in
            any.
        """
        without: dict[int, RtlgenError] = {}
        turns = Turns(len(self.plans))
        for number in sorted(range(len(self.plans)), key=lambda n: -self.groups[n].longest):
            try:
                with turns.next():
                    self._plan(number, self.chip.budget_bits)
            except OUT_OF_LANES as error:
                if not _is_spared(self.chip, error):
                    if isinstance(error, WindowsTooLarge):
                        self.too_large = self.groups[number]
                    raise
                without[number] = error
        if without and not self.found_lanes:
            raise without[min(without)]
        self.in_one_lane = True
        turns = Turns(len(without))
        for number in sorted(without):
            with turns.next():
                self._plan(number, self.chip.budget_bits)

    def _shared_out(self, least: Sequence[int]) -> Sequence[UnitPlan]:
        """Plan once more what takes more than its share, the least demanding units first.

        A share is the RAM that a unit needs at least, and an equal part of what is left by all.

        Parameters
        ----------
        least: bits, by unit; 0 where it is not known.
        """
        self.is_shared_out = True
        left = self.chip.budget_bits - sum(least)
        taken = [0 if plan is None else plan.part.ram_bits for plan in self.plans]
        order = sorted(range(len(taken)), key=taken.__getitem__)
        turns = Turns(len(order))
        for place, number in enumerate(order):
            share = least[number] + left // (len(order) - place)
            with turns.next():
                if self.plans[number] is None or taken[number] > share:
                    self._plan(number, share)
            plan = self.plans[number]
            assert plan is not None, "it was planned"
            left -= plan.part.ram_bits - least[number]
        return self._found()

    def _least_bits(self, number: int, count: int, group: _Group) -> int:
        """Return the RAM in bits that the tiles that are tried take at least; 0 for none.

        Parameters
        ----------
        group: in the place of so many groups from a number on.

        Raises
        ------
        WindowsTooLarge, or any other refusal: there are no tiles.
        """
        try:
            chip = replace(self.chip, budget_bits=0)
            self._chosen_or_alone(group, chip, self._names_beside(number, count))
        except WindowsTooLarge as error:
            return error.bits
        return 0

    def _replace_in_less(self, number: int, joined: _Group, *, least: list[int]) -> bool:
        """Put a group in place of two that follow each other; return False where it needs more RAM.

        Parameters
        ----------
        least: bits, by group; of what is joined there is one entry afterwards.
        """
        try:
            bits = self._least_bits(number, 2, joined)
        except (*REFUSALS, NoParallelTiles):
            return False
        if bits >= sum(least[number : number + 2]):
            return False
        self.groups[number : number + 2] = [joined]
        self.plans[number : number + 2] = [None]
        least[number : number + 2] = [bits]
        return True

    def _too_large(self, least: Sequence[int]) -> WindowsTooLarge:
        """Return the error that says how much RAM all units need together."""
        needing = [n for n, bits in enumerate(least) if bits]
        firsts = [self.whole.scop.statement(self.groups[n].units[0][0]) for n in needing]
        bits = [least[n] for n in needing]
        return WindowsTooLarge.of(firsts, bits, self.chip.budget_bits)

    def _join(self, replace_two: Callable[[int, _Group], bool]) -> None:
        """Plan neighbours together where that is better than one after the other.

        Parameters
        ----------
        replace_two: puts a group in place of the two from a number on, if it is better.
        """
        # What the units take apart is known by then, and has to be planned to the end.
        with improving("units in common tiles"), Reserve().spent():
            self._join_from_the_first(replace_two)

    def _join_from_the_first(self, replace_two: Callable[[int, _Group], bool]) -> None:
        number = 0
        while self.chip.buffer and number + 1 < len(self.groups):
            first, second = self.groups[number : number + 2]
            loops = joined_loops(self.whole, (*first.units, *second.units))
            if loops is None or not replace_two(number, _Group(loops.units, (loops,))):
                number += 1
            elif number:
                # The one before may go with both of them, though not with the first.
                number -= 1
            # Where the effort is used up, what was joined by then stays joined.
            keep_going()

    def _replace(self, number: int, joined: _Group) -> bool:
        """Put a group in place of two that follow each other; return False where that is longer."""
        pair = self._found()[number : number + 2]
        fewest = sum(map(self._cycles, pair))
        names = self._names_beside(number, 2)
        try:
            plan = self._chosen(joined, self.chip, names, fewest)
        except NoParallelTiles as error:
            alone = self._joined_alone(joined, names, pair)
            if alone is None:
                self.plans[number] = replace(pair[0], apart=error)
                return False
            plan = alone
        except REFUSALS:
            return False
        # What many tiles take is estimated while they are chosen.
        if self._cycles(plan) >= fewest:
            return False
        self.groups[number : number + 2] = [joined]
        self.plans[number : number + 2] = [plan]
        return True

    def _joined_alone(
        self, joined: _Group, names: Sequence[str], pair: Sequence[UnitPlan]
    ) -> UnitPlan | None:
        """Return two units in common tiles that workers cannot share, on one worker.

        None where that takes no fewer cycles than one unit after the other.
        """
        fewest = sum(map(self._cycles, pair))
        longest = max(joined.loops[0].instances.values())
        if self.is_fixed or GAIN * fewest * self._most_lanes <= longest:
            return None
        plan = self._on_one_worker(joined, self.chip, names, fewest)
        if plan is None or any(isinstance(one.alone, SoonerAlone | None) for one in pair):
            return plan
        # No workers are left out that could have shared either of them.
        return replace(plan, alone=pair[0].alone)

    @property
    def _most_lanes(self) -> int:
        """How many iterations of a statement one worker may issue in a cycle."""
        lanes = self.chip.lanes
        return 1 if lanes is None else lanes.count or MOST_BANKS

    def _plan(self, number: int, budget_bits: int) -> None:
        chip = replace(self.chip, budget_bits=budget_bits)
        names = self._names_beside(number, 1)
        self.plans[number] = self._chosen_or_alone(self.groups[number], chip, names)

    def _chosen_or_alone(self, group: _Group, chip: Chip, names: Sequence[str]) -> UnitPlan:
        """Return a plan for all workers, or for one where they cannot share the unit."""
        try:
            return self._chosen(group, chip, names)
        except NoParallelTiles as error:
            plan = self._chosen(group, replace(chip, workers=ONE_WORKER), names)
            return replace(plan, alone=error)

    def _on_one_worker(
        self, group: _Group, chip: Chip, names: Sequence[str], fewest: int
    ) -> UnitPlan | None:
        """Return a plan for one worker; None where that takes more cycles than several do."""
        plan: UnitPlan | None = None
        one = replace(chip, workers=ONE_WORKER)
        with suppress(*REFUSALS), improving(INSTEAD), self.for_one_worker.spent():
            # What is known to do would lead the search elsewhere: this one is that of one worker.
            plan = self._chosen(group, one, names)
        if plan is None or self._cycles(plan) > fewest:
            return None
        sooner = SoonerAlone(self._cycles(plan), fewest, chip.workers.count)
        return replace(plan, alone=sooner, sooner=sooner)

    def _names_beside(self, number: int, count: int) -> tuple[str, ...]:
        """Return the names that the memories of so many groups from one on cannot have."""
        others = [*self.plans[:number], *self.plans[number + count :]]
        plans = [plan for plan in others if plan is not None]
        return (*self.names, *(memory.name for p in plans for memory in p.part.team.memories))

    def _chosen(
        self, group: _Group, chip: Chip, names: Sequence[str], fewest: int | None = None
    ) -> UnitPlan:
        """Return a plan in lanes, or in one where there are lanes only where they can be."""
        try:
            return self._in_lanes(group, chip, names, fewest)
        except OUT_OF_LANES as error:
            # As long as no unit has lanes, none is planned without them.
            if not self.in_one_lane or not _is_spared(chip, error):
                raise
            plan = self._in_lanes(group, replace(chip, lanes=None), names, fewest)
            return replace(plan, single=error)

    def _in_lanes(
        self, group: _Group, chip: Chip, names: Sequence[str], fewest: int | None
    ) -> UnitPlan:
        """Return a plan for all workers, or for one where that takes fewer cycles.

        Who asks for certain tiles gets them, and the workers with them.
        """
        choice = TileChoice(group.loops, chip, self.sizes, names, fewest)
        plan = UnitPlan(choice.best(), choice.candidates)
        self.found_lanes |= plan.part.kernel.lanes > 1
        if chip.workers.count == 1 or self.is_fixed:
            return plan
        cycles = self._cycles(plan)
        least = max(choice.bus_cycles, choice.longest // self._most_lanes)
        if GAIN * cycles <= least:
            return plan
        alone = self._on_one_worker(group, chip, names, min(cycles, fewest or cycles))
        if alone is None or self._cycles(alone) < GAIN * cycles:
            return alone or plan
        return replace(plan, sooner=alone.sooner)

    def _cycles(self, plan: UnitPlan) -> int:
        return workers_cycles(plan.part.workers, self.chip.bus)

    def _found(self) -> Sequence[UnitPlan]:
        return [plan for plan in self.plans if plan is not None]


def _is_spared(chip: Chip, error: RtlgenError) -> bool:
    """Tell whether a unit that cannot run in lanes may run in one."""
    is_of_sizes = isinstance(error, NoLanes) and error.is_of_sizes
    return chip.lanes is not None and chip.lanes.where_possible and not is_of_sizes
