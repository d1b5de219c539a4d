"""Whether the lanes that an option asks for save cycles: if not, a warning says so, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from rtlgen.errors import Diagnostic, Label
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, more_effort
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Loop, LoopNode, Scop, walk_tree
from rtlgen.ir.sets import ScopSets
from rtlgen.lane_choice import Attempt, what_lanes_wait_for
from rtlgen.planning import Planned
from rtlgen.poly.counting import count_points
from rtlgen.transforms.lane_wishes import LaneWishes
from rtlgen.transforms.unroll import unroll


def lanes_without_gain(
    scop: Scop,
    unrolled: Mapping[str, int | None],
    others: LaneWishes,
    planned: Planned,
    attempt: Attempt,
) -> Diagnostic | None:
    """Return a warning where a program takes as many cycles with one lane of each loop.

    Parameters
    ----------
    unrolled: the lanes that are judged, by the name of a loop. others: what else is asked for.
    planned: the program in both. attempt: plans it with some wishes.
    """
    named = {name: lanes for name, lanes in unrolled.items() if lanes != 1}
    cycles = predicted_cycles(planned.plan)
    if not named or cycles < _fewest_cycles(unroll(scop, others)):
        return None
    single: Planned | None = None
    with improving("one lane of each loop"), more_effort():
        single = attempt(others)
    if single is None or cycles < predicted_cycles(single.plan):
        return None
    options = " ".join(
        f"--unroll {name}={'all' if lanes is None else lanes}" for name, lanes in named.items()
    )
    waits = [*what_lanes_wait_for(planned), *_longer(planned.plan, single.plan)]
    return Diagnostic(
        "W0114",
        f"{options} saves no cycles",
        tuple(_labels(scop, named)),
        (f"{cycles:,} cycles, with one lane {predicted_cycles(single.plan):,}", *waits),
        f"leave out {options}, or let --max-dsp choose the lanes",
        severity="warning",
    )


def _fewest_cycles(scop: Scop) -> int:
    """Return a bound of the cycles of a program: the instances of some statement."""
    with suppress(TooComplex), more_effort():
        return max(map(count_points, ScopSets(scop).domains.values()), default=0)
    return 0


def _labels(scop: Scop, lanes: Mapping[str, int | None]) -> Iterator[Label]:
    """Yield a label for the first loop of each name; it says which others have that name."""
    found: dict[str, list[Loop]] = {name: [] for name in lanes}
    for node in walk_tree(scop.tree):
        if isinstance(node, LoopNode):
            names = (n for n in (node.loop.label, node.loop.iterator) if n in lanes)
            found.get(next(names, None) or "", []).append(node.loop)
    for name, loops in found.items():
        if not loops:
            continue
        first, *others = dict.fromkeys(loop.span for loop in loops)
        count = lanes[name]
        shown = "all its iterations" if count is None else f"{count} of its iterations"
        lines = ", ".join(dict.fromkeys(str(span.line) for span in others))
        also = f", and of {name} in line{'s' * (len(others) > 1)} {lines}" if others else ""
        yield Label(first, f"{shown} run side by side{also}")


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
