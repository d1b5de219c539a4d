"""Several fused loops, one after another, for programs that are better off without one for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from rtlgen.scheduling.decide import (
    Decision,
    ii_reasons,
    nest_shifts,
    shifts_within,
    without_conflicts,
)
from rtlgen.scheduling.space import Space
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.precedence import requirements
from rtlgen.transforms.units import Unit


def cycles_apart(space: Space) -> int:
    """Return the cycles of all units one after another, in the nests of the program."""
    return sum(space.nest_as_written(unit).length for unit in space.timing.units)


def lanes_together(space: Space) -> list[list[Unit]]:
    """Return the units in their order, those of the lanes of a statement in the same region."""
    lines = {statement.name: statement.span for statement in space.timing.scop.statements}
    regions: list[list[Unit]] = []
    for unit in space.timing.units:
        spans = {lines[name] for name in unit.statements}
        own = [
            n
            for n, region in enumerate(regions)
            if any(lines[name] in spans for other in region for name in other.statements)
        ]
        first = min(own, default=len(regions))
        regions[first:] = [[*(other for region in regions[first:] for other in region), unit]]
    return regions


def shortest_regions(
    space: Space,
    start: Sequence[Sequence[Unit]] | None = None,
    fits: Callable[[Sequence[Unit]], bool] = lambda _: True,
) -> list[list[Unit]]:
    """Return neighbouring regions joined as long as that saves cycles.

    Parameters
    ----------
    start: the regions to begin with; None: one for each unit. fits: whether units may be in one.
    """
    regions = [[unit] for unit in space.timing.units] if start is None else list(map(list, start))

    def gain(left: Sequence[Unit], right: Sequence[Unit]) -> int:
        if not fits([*left, *right]):
            return 0
        apart = sum(space.fastest_of(part).end for part in (left, right))
        return apart - space.fastest_of([*left, *right]).end

    while len(regions) > 1:
        gains = [gain(left, right) for left, right in pairwise(regions)]
        best = max(range(len(gains)), key=lambda n: (gains[n], -n))
        if gains[best] <= 0:
            break
        regions[best : best + 2] = [[*regions[best], *regions[best + 1]]]
    return regions


def decide_regions(space: Space, regions: Sequence[Sequence[Unit]], why: str) -> Decision:
    """Return the decision for several fused loops.

    Parameters
    ----------
    regions: all units, in their order. why: the reason for them.
    """
    timing = space.timing
    placed: dict[str, Placement] = {}
    iis: dict[str, int] = {}
    least: dict[str, int] = {}
    base = 0
    for units in regions:
        choice = space.fastest_of(units)
        placed |= choice.placements
        iis |= choice.iis
        least |= {name: base + shift for name, shift in choice.shifts.items()}
        base += choice.end
    names = [[name for unit in units for name in unit.statements] for units in regions]
    required = requirements_apart(space, names, placed, iis)
    offsets, routing = without_conflicts(timing, placed, iis, required, least)
    fused = space.latency_free
    return Decision(
        placements=placed,
        iis=iis,
        offsets=offsets,
        shifts=shifts_within(space, names, placed),
        nest_shifts=nest_shifts(space, placed),
        fused_iterations=fused.end,
        fused_proven=space.is_proven,
        floor_iterations=space.floor_iterations,
        ii_reasons=ii_reasons(space, placed, iis),
        routing=routing,
        regions=names,
        why=why,
    )


def requirements_apart(
    space: Space,
    regions: Sequence[Sequence[str]],
    placed: Mapping[str, Placement],
    iis: Mapping[str, int],
) -> dict[tuple[str, str], int]:
    """Return the required distances of statements when each region waits for the one before it."""
    required = requirements(space.cycles, placed, iis)
    for before, after in pairwise(regions):
        for first in before:
            length = space.timing.length_cycles(first, placed[first], iis[first])
            for second in after:
                pair = first, second
                required[pair] = max(length, required.get(pair, length))
    return required
