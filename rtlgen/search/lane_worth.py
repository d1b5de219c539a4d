"""Whether the lanes that are asked for save cycles: if not, a warning says so, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend import HlsPragma, ParsedProgram, PipelinePragma, UnrollPragma
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import advising, improving, more_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import LoopNode, Scop, walk_tree
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions
from rtlgen.planning.in_lanes import plan_on_chip
from rtlgen.planning.planned import Planned
from rtlgen.poly.counting import count_points
from rtlgen.search.lane_choice import what_lanes_wait_for
from rtlgen.transforms.lane_wishes import LaneWishes
from rtlgen.transforms.unroll import unroll

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
    single_lanes = unroll(program.scop, others)
    if single_lanes.statements == unroll(program.scop, wishes).statements:
        return None
    if cycles < _fewest_cycles(single_lanes):
        return None
    single: Planned | None = None
    with improving("one lane of each loop"), more_effort():
        single = plan_on_chip(program, options, others)
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


def _fewest_cycles(scop: Scop) -> int:
    """Return a bound of the cycles of a program: the instances of some statement."""
    found = 0
    with advising():
        found = max(map(count_points, ScopSets(scop).domains.values()), default=0)
    return found


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
