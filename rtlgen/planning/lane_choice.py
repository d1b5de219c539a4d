"""In how many lanes the loops of a program on chip run, and whether those asked for pay.

The steps of the search are the powers of two and the divisors of the number of iterations.

Whether the lanes that are asked for save cycles: if not, a warning says so, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend import HlsPragma, ParsedProgram, PipelinePragma, UnrollPragma
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, more_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.scop import LoopNode, Node, Scop, walk_tree
from rtlgen.memories.bounds import lane_bounds, store_bounds
from rtlgen.options import CompileOptions
from rtlgen.planning.choice import NotFaster, plan_on_chip
from rtlgen.planning.lane_search import (
    Budget,
    LaneChoice,
    Lanes,
    LoopGroup,
    Planner,
    climb,
    require_multipliers,
)
from rtlgen.planning.planned import Planned
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.transforms.lanes import MOST_LANES, LaneWishes, NotUnrollable, trips_of, unroll

MOST_UNKNOWN = 16
"""Lanes that are tried of a loop whose number of iterations varies."""


class _OnChip(Planner[Planned]):
    refusals = (NotUnrollable, TooComplex, BankContended, BankUnknown)

    def __init__(self, program: ParsedProgram, options: CompileOptions, asked: LaneWishes) -> None:
        self.program, self.options, self.asked = program, options, asked

    def planned(self, lanes: Lanes, below: float | None = None) -> Planned:
        wishes = replace(self.asked, unroll={**self.asked.unroll, **lanes})
        # Whatever one attempt takes, there is as much for the next.
        with more_effort():
            return plan_on_chip(self.program, self.options, wishes, below)

    def waits(self, found: Planned) -> str:
        return "; ".join(what_lanes_wait_for(found))


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
    planner = _OnChip(program, options, asked)
    best = planner.planned({})
    require_multipliers(program.scop.name, budget, best.plan, has_lanes=bool(asked.unroll))
    groups = [group for group in _groups(program.scop.tree, asked) if group.factors]
    return climb(planner, budget, best, groups)


def what_lanes_wait_for(planned: Planned) -> list[str]:
    """Return what the lanes of a plan wait for: by array, line and port."""
    analysis, plan = planned.analysis, planned.plan
    lanes = lane_bounds(analysis.scop, analysis.units, analysis.flows, plan)
    stores = store_bounds(plan, analysis.scop, planned.decision.routing)
    return [" ".join(text.split()) for text in (*lanes, *(bound.text() for bound in stores))]


def _groups(tree: tuple[Node, ...], asked: LaneWishes) -> list[LoopGroup]:
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
        LoopGroup(group, _factors([trips for name in group for trips in free[name]]))
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
