"""The search for the lanes of loops under a number of multiplier blocks and of block RAM bits.

A choice is lanes for the loops of a name, or of a level. Each is planned in full and judged by the
cycles of its plan, what it takes is counted in its plan. The search climbs: the loops that save
most cycles with a few lanes get as many as there are blocks for, then the next ones, until none
saves any. What bounds tell to be vain is not planned.

What ends the climb is reported: what the next lanes would take, or wait for. Twice the lanes take
about as many blocks more each time: many statements that are far above the limit by that count are
not planned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Generic, Protocol, TypeVar

from rtlgen.errors import RtlgenError
from rtlgen.ir.block_rams import block_ram_bits, block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.operation_costs import blocks_on
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.planning.choice import NotFaster
from rtlgen.planning.planned import Tried
from rtlgen.target import Target

FAR_ABOVE = 1.5
"""Expected multiplier blocks over allowed ones from which on many statements are not planned."""

MANY_STATEMENTS = 32
"""Statements, each lane counted, that take seconds to plan."""


class InLanes(Protocol):
    """A program that was planned in some lanes."""

    @property
    def plan(self) -> KernelPlan: ...


Found = TypeVar("Found", bound=InLanes)
Chosen = TypeVar("Chosen", bound=InLanes, covariant=True)

Lanes = Mapping[str, int | None]
"""Numbers of lanes, by the name of a loop; None: one for each of its iterations."""


class TooFewMultipliers(RtlgenError):
    """`--max-dsp` allows fewer multiplier blocks than the program takes in one lane.

    Each product of a statement is built from as many blocks as its width asks for: three on ECP5
    for 32 x 32 bits of which 32 are kept. Narrower types take fewer, and so do constant factors of
    few digits, which take none. Statements that run one after another share multipliers, and so
    do products that begin in turn within an initiation interval: what the message says is left
    then.

        rtlgen plan gemm.c --max-dsp 3
    """

    code = "E0322"


@dataclass(frozen=True, slots=True)
class Budget:
    """What a design may take.

    Members
    -------
    multipliers: blocks. target: on which.
    ram_bits: of all copies in block RAM; None: as many block RAMs as the target has.
    """

    multipliers: int
    target: Target
    ram_bits: int | None

    def excess(self, plan: KernelPlan) -> str | None:
        """Return what a plan takes too much of, and the option that would allow it."""
        taken = self.taken(plan)
        if taken > self.multipliers:
            return f"take {taken} multiplier blocks (--max-dsp {taken})"
        bits = block_ram_bits(plan)
        if self.ram_bits is not None and bits > self.ram_bits:
            kib = -(-bits // 8192)
            return f"take {kib:,} KiB of block RAM, copies counted (--max-bram {kib})"
        rams, there = block_rams(plan, self.target), self.target.device_block_rams
        if self.ram_bits is None and rams > there:
            return f"take {rams} block RAMs, and {self.target.device} has {there}"
        return None

    def taken(self, plan: KernelPlan) -> int:
        """Return how many multiplier blocks a plan takes."""
        return blocks_on(plan, self.target)


def require_multipliers(name: str, budget: Budget, plan: KernelPlan, *, has_lanes: bool) -> None:
    """Require that a plan of which nothing can be left out fits the budget.

    Parameters
    ----------
    name: of the program. has_lanes: whether it has those that are asked for.

    Raises
    ------
    TooFewMultipliers
    """
    taken = budget.taken(plan)
    if taken > budget.multipliers:
        lanes = "the lanes asked for" if has_lanes else "one lane"
        raise TooFewMultipliers(
            f"{name} takes {taken} multiplier blocks in {lanes}",
            notes=(f"{budget.multipliers} may be taken",),
            help=f"say --max-dsp {taken} or more",
        )


def lanes_text(lanes: Lanes) -> str:
    """Return the options that give loops their lanes."""
    return " ".join(f"--unroll {name}={factor}" for name, factor in lanes.items())


@dataclass(frozen=True, slots=True, eq=False)
class LaneChoice(Generic[Chosen]):
    """The lanes that were chosen, and what ends their number.

    Members
    -------
    lanes: by the name of a loop. planned: the program in them.
    taken, limit: multiplier blocks. refused: why there are no more lanes, by the options for them.
    tried: all lanes that were planned, or would have been.
    """

    lanes: Lanes
    planned: Chosen
    taken: int
    limit: int
    refused: Mapping[str, str]
    tried: tuple[Tried, ...] = ()

    def text(self) -> list[str]:
        """Return what was chosen, and why no more, a line each."""
        chosen = (
            f"{lanes_text(self.lanes) or 'one of each loop'}, with {self.taken} of {self.limit}"
        )
        nexts = (f"next lanes: {option} {why}" for option, why in self.refused.items())
        return [f"lanes: {chosen} multiplier blocks", *nexts]

    def report(self) -> dict[str, object]:
        """Return the same, JSON-serialisable."""
        return {
            "unroll": dict(self.lanes),
            "multiplier_blocks": self.taken,
            "max_dsp": self.limit,
            "next": [{"options": option, "why": why} for option, why in self.refused.items()],
        }


@dataclass(frozen=True, slots=True)
class LoopGroup:
    """Loops that are given lanes together, and the numbers of lanes that are tried, ascending."""

    names: tuple[str, ...]
    factors: tuple[int, ...]

    @property
    def most(self) -> int:
        return self.factors[-1]

    def lanes(self, factor: int) -> dict[str, int | None]:
        return dict.fromkeys(self.names, factor)

    def option(self, factor: int) -> str:
        return lanes_text(self.lanes(factor))


class Planner(ABC, Generic[Found]):
    """Plans a program in the lanes that a search wants to know about.

    Members
    -------
    refusals: errors with which it says that there is no plan in some lanes.
    is_slow: whether a plan takes seconds: of loops that save as much at first, one is climbed.
    """

    refusals: ClassVar[tuple[type[RtlgenError], ...]]
    is_slow: ClassVar[bool] = False

    @abstractmethod
    def planned(self, lanes: Lanes, below: float | None = None) -> Found:
        """Return the program in lanes.

        Parameters
        ----------
        below: cycles than which it is to take fewer; None: any number will do.

        Raises
        ------
        NotFaster: bounds say that it takes as many. RtlgenError
        """

    @abstractmethod
    def waits(self, found: Found) -> str:
        """Return what the lanes of a plan wait for; empty: nobody can say."""


def climb(
    planner: Planner[Found],
    budget: Budget,
    best: Found,
    groups: Sequence[LoopGroup],
    most_groups: int | None = None,
) -> LaneChoice[Found]:
    """Return the lanes with the fewest cycles that were found within a budget.

    Parameters
    ----------
    best: the program in one lane of each loop that may have more.
    most_groups: how many groups may have lanes; None: all of them.
    """
    return _Climb(planner, budget).run(best, groups, most_groups)


@dataclass(slots=True)
class _Climb(Generic[Found]):
    planner: Planner[Found]
    budget: Budget
    chosen: dict[str, int | None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    per_lane: dict[LoopGroup, float] = field(default_factory=dict)
    """Multiplier blocks that one lane more of some loops took, by those of the first lane."""
    tried: list[Tried] = field(default_factory=list)

    def run(
        self, best: Found, groups: Sequence[LoopGroup], most_groups: int | None
    ) -> LaneChoice[Found]:
        climbed: dict[LoopGroup, int] = {}
        while groups and (most_groups is None or len(climbed) < most_groups):
            found = self._next(groups, best)
            if found is None:
                break
            best, factor, group = found
            for other, count in climbed.items():
                # What more of these take has changed.
                best, climbed[other] = self._climbed(other, count, best)
                self.chosen |= other.lanes(climbed[other])
            climbed[group] = factor
            groups = [g for g in groups if not set(g.names) & set(self.chosen)]
        taken, limit = self.budget.taken(best.plan), self.budget.multipliers
        cycles = predicted_cycles(best.plan)
        tried = [_superseded(each, self.chosen, cycles) for each in self.tried]
        return LaneChoice(self.chosen, best, taken, limit, self.refused, tuple(tried))

    def _next(
        self, groups: Sequence[LoopGroup], best: Found
    ) -> tuple[Found, int, LoopGroup] | None:
        """Give lanes to the loops that gain most by it; return the plan, how many, and which."""
        earlier, self.refused = self.refused, {}
        first = [(self._better(group, group.factors[0], best, 1), group) for group in groups]
        found = [(planned, group) for planned, group in first if planned is not None]
        if not found:
            self.refused = {**earlier, **self.refused}
            return None
        fewest = min(predicted_cycles(planned.plan) for planned, _ in found)
        # Loops that save as much at first differ in how many lanes there is room for.
        alike = [f for f in found if predicted_cycles(f[0].plan) * TOLERANCE <= fewest]
        if self.planner.is_slow:
            alike = [min(alike, key=lambda each: self._cost(each[0]))]
        climbs = []
        for planned, group in alike:
            self.refused = {}
            climb = self._climbed(group, group.factors[0], planned)
            climbs.append((*climb, group, self.refused))
        best, factor, group, self.refused = min(climbs, key=lambda climb: self._cost(climb[0]))
        self.chosen |= group.lanes(factor)
        return best, factor, group

    def _cost(self, planned: InLanes) -> tuple[int, int, int]:
        plan = planned.plan
        return predicted_cycles(plan), self.budget.taken(plan), block_ram_bits(plan)

    def _climbed(self, group: LoopGroup, factor: int, best: Found) -> tuple[Found, int]:
        """Give loops more lanes, as long as that saves cycles; return the plan and how many."""
        most = group.most
        while factor < most:
            double = next((f for f in group.factors if f >= 2 * factor), most)
            # Where there is no room for twice as many, there may be for some.
            steps = [f for f in group.factors if factor < f <= min(double, most)]
            for step in reversed(steps):
                planned = self._better(group, step, best, factor)
                if planned is not None:
                    best, factor = planned, step
                    break
                most = min(most, step - 1)
            else:
                break
        return best, factor

    def _better(
        self, group: LoopGroup, factor: int, before: Found, lanes_before: int
    ) -> Found | None:
        """Return the plan with so many lanes where it fits and saves cycles, or None."""
        taken = self.budget.taken(before.plan)
        per_lane = self.per_lane.get(group, 0.0)
        growth = (1 + per_lane * (factor - 1)) / (1 + per_lane * (lanes_before - 1))
        statements = len(before.plan.streams) * factor / lanes_before
        # All iterations at once may have constant factors, and like ones.
        is_tried = factor == group.most or statements < MANY_STATEMENTS
        if not is_tried and taken * growth > FAR_ABOVE * self.budget.multipliers:
            text = f"would take about {round(taken * growth)} multiplier blocks"
            self._refuse(group, factor, text)
            return None
        cycles_before = predicted_cycles(before.plan)
        most = cycles_before * TOLERANCE
        planned = self._planned(group, factor, most)
        if planned is not None and lanes_before == 1 and taken:
            more = self.budget.taken(planned.plan) / taken - 1
            self.per_lane[group] = max(0.0, more / (factor - 1))
        if planned is None or not self._fits(group, factor, planned):
            return None
        cycles = predicted_cycles(planned.plan)
        if cycles < most:
            self._note(group, factor, "", planned)
            return planned
        waits = (
            self.planner.waits(planned) or f"{cycles:,} are taken, without them {cycles_before:,}"
        )
        self._refuse(group, factor, f"would save no cycles: {waits}", planned)
        return None

    def _refuse(
        self, group: LoopGroup, factor: int, why: str, planned: InLanes | None = None
    ) -> None:
        """Note why there are not so many lanes."""
        self.refused[group.option(factor)] = why
        self._note(group, factor, why, planned)

    def _note(self, group: LoopGroup, factor: int, why: str, planned: InLanes | None) -> None:
        options = lanes_text({**self.chosen, **group.lanes(factor)})
        cycles = None if planned is None else predicted_cycles(planned.plan)
        self.tried.append(Tried("lanes", options, cycles, why))

    def _planned(self, group: LoopGroup, factor: int, below: float) -> Found | None:
        """Return the plan with more lanes, or None where it cannot be, or not in fewer cycles."""
        try:
            return self.planner.planned({**self.chosen, **group.lanes(factor)}, below)
        except NotFaster as bound:
            self._refuse(group, factor, f"would save no cycles: {bound}")
        except self.planner.refusals as error:
            self._refuse(group, factor, f"cannot be: {error.diagnostic.message}")
        return None

    def _fits(self, group: LoopGroup, factor: int, planned: InLanes) -> bool:
        """Tell whether a plan takes no more than may be taken."""
        excess = self.budget.excess(planned.plan)
        if excess is not None:
            self._refuse(group, factor, f"would {excess}", planned)
        return excess is None


def _superseded(tried: Tried, lanes: Mapping[str, int | None], cycles: int) -> Tried:
    """Return a note of lanes that were better than those before, for a choice of other lanes.

    Parameters
    ----------
    lanes: what was chosen. cycles: of its plan.
    """
    if tried.why_not or tried.form == lanes_text(lanes):
        return tried
    count = "as many" if tried.cycles == cycles else f"{cycles:,}"
    return replace(tried, why_not=f"others take {count} cycles")
