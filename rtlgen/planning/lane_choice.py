"""In how many lanes loops run: under a limit of multipliers, and whether those asked for pay.

Choose in how many lanes loops run, under a number of multiplier blocks and of block RAM bits.

A choice is lanes for the loops of a name, or of a level. Each is planned in full and judged by the
cycles of its plan, what it takes is counted in its plan. The search climbs: the loops that save
most cycles with a few lanes get as many as there are blocks for, then the next ones, until none
saves any. The steps are the powers of two and the divisors of the number of iterations.

What ends the climb is reported: what the next lanes would take, or wait for. Twice the lanes take
about as many blocks more each time: many statements that are far above the limit by that count are
not planned.

Whether the lanes that are asked for save cycles: if not, a warning says so, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from rtlgen.errors import Diagnostic, Label, RtlgenError
from rtlgen.frontend import HlsPragma, ParsedProgram, PipelinePragma, UnrollPragma
from rtlgen.ir.block_rams import block_ram_bits, block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, more_effort
from rtlgen.ir.operation_costs import blocks_on
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.scop import LoopNode, Node, Scop, walk_tree
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.memories.bounds import lane_bounds, store_bounds
from rtlgen.options import CompileOptions
from rtlgen.planning.choice import NotFaster, plan_on_chip
from rtlgen.planning.planned import Planned, Tried
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.target import Target
from rtlgen.transforms.lanes import MOST_LANES, LaneWishes, NotUnrollable, trips_of, unroll

FAR_ABOVE = 1.5
"""Expected multiplier blocks over allowed ones from which on many statements are not planned."""

MANY_STATEMENTS = 32
"""Statements, each lane counted, that take seconds to plan."""

MOST_UNKNOWN = 16
"""Lanes that are tried of a loop whose number of iterations varies."""

Found = TypeVar("Found", covariant=True)


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


def lanes_text(lanes: Mapping[str, int | None]) -> str:
    """Return the options that give loops their lanes."""
    return " ".join(f"--unroll {name}={factor}" for name, factor in lanes.items())


@dataclass(frozen=True, slots=True, eq=False)
class LaneChoice(Generic[Found]):
    """The lanes that were chosen, and what ends their number.

    Members
    -------
    lanes: by the name of a loop. planned: the program in them.
    taken, limit: multiplier blocks. refused: why there are no more lanes, by the options for them.
    tried: all lanes that were planned, or would have been.
    """

    lanes: Mapping[str, int | None]
    planned: Found
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
class _Loops:
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


def choose_lanes(
    program: ParsedProgram, options: CompileOptions, asked: LaneWishes, budget: Budget
) -> LaneChoice[Planned]:
    """Return the lanes with the fewest cycles that were found within a budget.

    Parameters
    ----------
    asked: what is asked of some loops already.

    Raises
    ------
    TooFewMultipliers: what is asked for takes more. RtlgenError: it cannot be planned.
    """
    return _Climb(program, options, asked, budget).run()


@dataclass(slots=True)
class _Climb:
    program: ParsedProgram
    options: CompileOptions
    asked: LaneWishes
    budget: Budget
    chosen: dict[str, int | None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    per_lane: dict[_Loops, float] = field(default_factory=dict)
    """Multiplier blocks that one lane more of some loops took, by those of the first lane."""
    tried: list[Tried] = field(default_factory=list)

    def run(self) -> LaneChoice[Planned]:
        best = self._attempt(self.asked)
        has_lanes = bool(self.asked.unroll)
        require_multipliers(self.program.scop.name, self.budget, best.plan, has_lanes=has_lanes)
        groups = [g for g in _groups(self.program.scop.tree, self.asked) if g.factors]
        climbed: dict[_Loops, int] = {}
        while groups:
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
        tried = [superseded(each, self.chosen, cycles) for each in self.tried]
        return LaneChoice(self.chosen, best, taken, limit, self.refused, tuple(tried))

    def _next(self, groups: Sequence[_Loops], best: Planned) -> tuple[Planned, int, _Loops] | None:
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
        climbs = []
        for planned, group in alike:
            self.refused = {}
            climb = self._climbed(group, group.factors[0], planned)
            climbs.append((*climb, group, self.refused))
        best, factor, group, self.refused = min(climbs, key=lambda climb: self._cost(climb[0]))
        self.chosen |= group.lanes(factor)
        return best, factor, group

    def _cost(self, planned: Planned) -> tuple[int, int, int]:
        plan = planned.plan
        return predicted_cycles(plan), self.budget.taken(plan), block_ram_bits(plan)

    def _climbed(self, group: _Loops, factor: int, best: Planned) -> tuple[Planned, int]:
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
        self, group: _Loops, factor: int, before: Planned, lanes_before: int
    ) -> Planned | None:
        """Return the plan with so many lanes where it fits and saves cycles, or None."""
        taken = self.budget.taken(before.plan)
        per_lane = self.per_lane.get(group, 0.0)
        growth = (1 + per_lane * (factor - 1)) / (1 + per_lane * (lanes_before - 1))
        statements = len(before.analysis.scop.statements) * factor / lanes_before
        # All iterations at once may have constant factors, and like ones.
        is_tried = factor == group.most or statements < MANY_STATEMENTS
        if not is_tried and taken * growth > FAR_ABOVE * self.budget.multipliers:
            text = f"would take about {round(taken * growth)} multiplier blocks"
            self._refuse(group, factor, text)
            return None
        most = predicted_cycles(before.plan) * TOLERANCE
        planned = self._planned(group, factor, most)
        if planned is not None and lanes_before == 1 and taken:
            more = self.budget.taken(planned.plan) / taken - 1
            self.per_lane[group] = max(0.0, more / (factor - 1))
        if planned is None or not self._fits(group, factor, planned):
            return None
        if predicted_cycles(planned.plan) < most:
            self._note(group, factor, "", planned)
            return planned
        waits = "; ".join(what_lanes_wait_for(planned)) or "no statement issues less often for them"
        self._refuse(group, factor, f"would save no cycles: {waits}", planned)
        return None

    def _refuse(self, group: _Loops, factor: int, why: str, planned: Planned | None = None) -> None:
        """Note why there are not so many lanes."""
        self.refused[group.option(factor)] = why
        self._note(group, factor, why, planned)

    def _note(self, group: _Loops, factor: int, why: str, planned: Planned | None) -> None:
        options = lanes_text({**self.chosen, **group.lanes(factor)})
        cycles = None if planned is None else predicted_cycles(planned.plan)
        self.tried.append(Tried("lanes", options, cycles, why))

    def _attempt(self, wishes: LaneWishes, below: float | None = None) -> Planned:
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            return plan_on_chip(self.program, self.options, wishes, below)

    def _with(self, lanes: Mapping[str, int | None]) -> LaneWishes:
        return replace(self.asked, unroll={**self.asked.unroll, **lanes})

    def _planned(self, group: _Loops, factor: int, below: float) -> Planned | None:
        """Return the plan with more lanes, or None where it cannot be, or not in fewer cycles."""
        try:
            return self._attempt(self._with({**self.chosen, **group.lanes(factor)}), below)
        except NotFaster as bound:
            self._refuse(group, factor, f"would save no cycles: {bound}")
            return None
        except (NotUnrollable, TooComplex, BankContended, BankUnknown) as error:
            self._refuse(group, factor, f"cannot be: {error.diagnostic.message}")
            return None

    def _fits(self, group: _Loops, factor: int, planned: Planned) -> bool:
        """Tell whether a plan takes no more than may be taken."""
        excess = self.budget.excess(planned.plan)
        if excess is not None:
            self._refuse(group, factor, f"would {excess}", planned)
        return excess is None


def superseded(tried: Tried, lanes: Mapping[str, int | None], cycles: int) -> Tried:
    """Return a note of lanes that were better than those before, for a choice of other lanes.

    Parameters
    ----------
    lanes: what was chosen. cycles: of its plan.
    """
    if tried.why_not or tried.form == lanes_text(lanes):
        return tried
    count = "as many" if tried.cycles == cycles else f"{cycles:,}"
    return replace(tried, why_not=f"others take {count} cycles")


def what_lanes_wait_for(planned: Planned) -> list[str]:
    """Return what the lanes of a plan wait for: by array, line and port."""
    analysis, plan = planned.analysis, planned.plan
    lanes = lane_bounds(analysis.scop, analysis.units, analysis.flows, plan)
    stores = store_bounds(plan, analysis.scop, planned.decision.routing)
    return [" ".join(text.split()) for text in (*lanes, *(bound.text() for bound in stores))]


def _groups(tree: tuple[Node, ...], asked: LaneWishes) -> list[_Loops]:
    """Return the loops of each name, and those of each level, of which nothing is said yet."""
    names: dict[str, list[int | None]] = {}
    levels: dict[int, dict[str, None]] = {}

    def enter(nodes: Sequence[Node], level: int) -> None:
        for node in nodes:
            if isinstance(node, LoopNode):
                name = node.loop.label or node.loop.iterator
                names.setdefault(name, []).append(trips_of(node.loop))
                levels.setdefault(level, {})[name] = None
                enter(node.body, level + 1)
            elif hasattr(node, "body"):
                enter(node.body, level)

    enter(tree, 1)
    free = {name: trips for name, trips in names.items() if name not in asked.unroll}
    grouped: list[tuple[str, ...]] = [(name,) for name in free]
    grouped += [tuple(name for name in free if name in level) for level in levels.values()]
    return [
        _Loops(group, _factors([trips for name in group for trips in free[name]]))
        for group in dict.fromkeys(grouped)
        if group
    ]


def _factors(trips: Sequence[int | None]) -> tuple[int, ...]:
    """Return the powers of two and the divisors of numbers of iterations, as lanes to try."""
    known = [count for count in trips if count is not None]
    most = min(max(known, default=0) or MOST_UNKNOWN, MOST_LANES)
    powers = {1 << n for n in range(1, most.bit_length()) if 1 << n <= most}
    divisors = {n for count in known for n in range(2, most + 1) if count % n == 0}
    return tuple(sorted(powers | divisors))


LANE_PRAGMAS = (UnrollPragma, PipelinePragma)


@dataclass(frozen=True, slots=True)
class LaneAsk:
    """Something that asks for lanes, or for workers.

    Members
    -------
    text: the option or pragma. labels: where in the program that is.
    """

    text: str
    labels: tuple[Label, ...]


def asked_by_options(
    scop: Scop, unrolled: Mapping[str, int | None], pipelined: Sequence[str]
) -> tuple[LaneAsk, ...]:
    """Return the options that ask for lanes."""
    named = {name: lanes for name, lanes in unrolled.items() if lanes != 1}
    found = [
        LaneAsk(f"--unroll {name}={'all' if lanes is None else lanes}", _labels(scop, name, lanes))
        for name, lanes in named.items()
    ]
    return (*found, *(LaneAsk(f"--pipeline {name}", ()) for name in pipelined))


def asked_by_pragmas(pragmas: Iterable[HlsPragma]) -> tuple[LaneAsk, ...]:
    """Return the pragmas that ask for lanes."""
    return tuple(
        LaneAsk(f"#pragma {pragma.text}", (Label(pragma.span),))
        for pragma in pragmas
        if isinstance(pragma, LANE_PRAGMAS)
    )


def lanes_without_gain(
    program: ParsedProgram,
    options: CompileOptions,
    asked: Sequence[LaneAsk],
    wishes: LaneWishes,
    others: LaneWishes,
    planned: Planned,
) -> Diagnostic | None:
    """Return a warning where a program takes as many cycles with one lane of each loop.

    Parameters
    ----------
    asked: what is judged. wishes, others: all that is asked for, and without that.
    planned: the program in all lanes.
    """
    if not asked:
        return None
    cycles = predicted_cycles(planned.plan)
    if unroll(program.scop, others).statements == unroll(program.scop, wishes).statements:
        return None
    single: Planned | None = None
    with improving("one lane of each loop"), suppress(NotFaster), more_effort():
        single = plan_on_chip(program, options, others, below=cycles + 1)
    if single is None or cycles < predicted_cycles(single.plan):
        return None
    waits = [*what_lanes_wait_for(planned), *_longer(planned.plan, single.plan)]
    figures = f"{cycles:,} cycles, with one lane {predicted_cycles(single.plan):,}"
    return saves_nothing(asked, (figures, *waits), ", or let --max-dsp choose the lanes")


def limit_without_gain(
    asked: Sequence[LaneAsk], cycles: int, single_cycles: int
) -> Diagnostic | None:
    """Return a warning where lanes take more RAM than there is, and what is built no fewer cycles.

    Parameters
    ----------
    cycles: with arrays off chip, or in loops that take less RAM.
    single_cycles: with one lane of each loop, which may take less.
    """
    if cycles < single_cycles:
        return None
    notes = (
        f"{cycles:,} cycles, with one lane {single_cycles:,}",
        "lanes need copies of arrays, for which there is too little RAM",
    )
    return saves_nothing(asked, notes, ", or let it have more RAM")


def saves_nothing(
    asked: Sequence[LaneAsk], notes: Sequence[str], instead: str = "", where: str = ""
) -> Diagnostic:
    """Return the warning that options or pragmas save no cycles.

    Parameters
    ----------
    notes: the cycles with and without, and why. instead: what else could be done.
    where: which part of the program it is about, if not all of it.
    """
    texts = " ".join(dict.fromkeys(ask.text for ask in asked))
    return Diagnostic(
        "W0114",
        f"{texts} saves no cycles{where}",
        tuple(label for ask in asked for label in ask.labels),
        tuple(notes),
        f"leave out {texts}{instead}",
        severity="warning",
    )


def _labels(scop: Scop, name: str, lanes: int | None) -> tuple[Label, ...]:
    """Return a label for the first loop of a name; it says which others have that name."""
    loops = [node.loop for node in walk_tree(scop.tree) if isinstance(node, LoopNode)]
    spans = dict.fromkeys(loop.span for loop in loops if name in (loop.label, loop.iterator))
    if not spans:
        return ()
    first, *others = spans
    shown = "all its iterations" if lanes is None else f"{lanes} of its iterations"
    lines = ", ".join(dict.fromkeys(str(span.line) for span in others))
    also = f", and of {name} in line{'s' * (',' in lines)} {lines}" if others else ""
    return (Label(first, f"{shown} run side by side{also}"),)


def _longer(lanes: KernelPlan, single: KernelPlan) -> list[str]:
    """Say which lines take longer from their operands to their result."""
    before = _depths(single)
    longer = [
        f"line {line} {cycles} cycles for {before[line]}"
        for line, cycles in _depths(lanes).items()
        if cycles > before.get(line, cycles)
    ]
    if not longer:
        return []
    return [f"results come later, and what waits for them: {', '.join(longer)}"]


def _depths(plan: KernelPlan) -> dict[int, int]:
    """Return the cycles of the longest pipeline of every line."""
    found: dict[int, int] = {}
    for stream in plan.streams:
        line = stream.span.line
        found[line] = max(found.get(line, 0), stream.depth_cycles)
    return dict(sorted(found.items()))
