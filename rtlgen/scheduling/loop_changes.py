"""Loops that are looked for because a program waits: backward ones, strips, pauses.

Look for loops to run backward, where another nest needs first what they compute last.

    for (i...) b[i] = a[i] * 3;        for (i...) c[i] = b[63 - i] + 1;

As written, the second loop begins when the first one has ended. If one of them counts backward, it
follows a few cycles behind. Nothing else depends on in which order a loop without recurrences runs.

Look for loops to cut into strips, where others wait for sums that take turns in them.

    for (i...) { for (j...) t[i] += a[i][j] * x[j];        for (j...) y[j] += a[i][j] * t[i]; }

An addition takes some cycles, and the next one to the same t[i] waits for it: so the sums of all
rows take turns, i innermost, and t is complete at the end only. Turns among as many rows as the
addition takes cycles wait as little, and y follows one strip of rows behind.

Look for pauses with which statements need not wait after each of their instances.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import TOLERANCE, is_worth_search
from rtlgen.nests.candidates import Placement
from rtlgen.nests.pauses import Pause, find_pause
from rtlgen.nests.precedence import Requirements, among, smallest_shifts
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import access_text
from rtlgen.scheduling.decide import Decision
from rtlgen.scheduling.space import Space
from rtlgen.source import Span
from rtlgen.transforms.lanes import trips_of
from rtlgen.transforms.skew import Skew
from rtlgen.transforms.units import Unit

MAX_TRIED = 256
"""Loops that are tried backward, again and again, at most."""


def find_reversals(space: Space, decision: Decision) -> tuple[Skew, ...]:
    """Return units that should run some of their loops backward; empty: that saves no cycles.

    In which order the loops are nested then is not decided here: directions are weighed in the
    orders of the decision and of the program. Nests whose bounds depend on other loops stay as they
    are.

    Parameters
    ----------
    decision: for the loops as they are.
    """
    written = [space.nest_as_written(unit) for unit in space.timing.units]
    searches = (
        _Search(space, decision.placements, decision.iis),
        _Search(
            space,
            {name: placed for each in written for name, placed in each.placements.items()},
            {name: each.ii for each in written for name in each.placements},
        ),
    )
    now = max(offset + searches[0].lengths[name] for name, offset in decision.offsets.items())
    end, backward = min((search.best() for search in searches), key=lambda found: found[0])
    if end >= TOLERANCE * now:
        return ()
    return tuple(
        _backward(space, unit, levels)
        for unit in space.timing.units
        if (levels := {level for other, level in backward if other == unit})
    )


class _Search:
    """Directions of the loops of one set of nests."""

    def __init__(
        self, space: Space, placed: Mapping[str, Placement], iis: Mapping[str, int]
    ) -> None:
        self.space = space
        self.placed = placed
        self.iis = iis
        self.required = Requirements(space.cycles)
        self._extents = _extents(space)
        self._legal: dict[tuple[Unit, frozenset[int]], bool] = {}
        self.lengths = {
            name: space.timing.length_cycles(name, nest, iis[name]) for name, nest in placed.items()
        }

    def best(self) -> tuple[int, frozenset[tuple[Unit, int]]]:
        """Return when all end, and what runs backward then: levels of the iterators of units.

        One loop of the program after another is turned, each time that which saves most, for all
        units in it or for one of them.
        """
        chosen: frozenset[tuple[Unit, int]] = frozenset()
        turns, end, left = self._turns(), self._end(chosen), MAX_TRIED
        assert end is not None, "as they are, the nests keep all dependences"
        while True:
            others = [chosen | turned for turned in turns if not turned <= chosen]
            ends = [(self._end(other), other) for other in others[: max(0, left)]]
            left -= len(others)
            tried = [(found, other) for found, other in ends if found is not None]
            if not tried:
                return end, chosen
            shortest = min(tried, key=lambda each: each[0])
            if shortest[0] >= end * TOLERANCE:
                return end, chosen
            end, chosen = shortest

    def _turns(self) -> list[frozenset[tuple[Unit, int]]]:
        """Return what may be turned at a time: lanes of a loop have units of their own."""
        loops: dict[Span, set[tuple[Unit, int]]] = {}
        every = list(self._loops())
        for unit, level in every:
            first = self.space.timing.scop.statement(unit.statements[0])
            loops.setdefault(first.loops[level].span, set()).add((unit, level))
        single = (frozenset({each}) for each in every)
        return list(dict.fromkeys([*map(frozenset, loops.values()), *single]))

    def _loops(self) -> Iterator[tuple[Unit, int]]:
        """Yield the loops of units whose nests are boxes, and not chosen already."""
        for unit in self.space.timing.units:
            if self.space.in_order.intersection(unit.statements):
                continue
            placed = [self.placed[name] for name in unit.statements]
            depths = {len(each.iterators) for each in placed}
            if len(depths) == 1 and all(each.rank is not None for each in placed):
                yield from ((unit, level) for level in range(depths.pop()))

    def _end(self, backward: frozenset[tuple[Unit, int]]) -> int | None:
        """Return when the last statement ends; None: some dependence would be broken."""
        placed = dict(self.placed)
        for unit in {unit for unit, _ in backward}:
            if not self._is_legal(unit, frozenset(at for other, at in backward if other == unit)):
                return None
        for unit, level in backward:
            for name in unit.statements:
                placed[name] = self._reversed(name, placed[name], level)
        distances = self.required.between(placed, self.iis)
        shifts = smallest_shifts(list(placed), distances, {})
        if shifts is None:
            return None
        return max(shifts[name] + self.lengths[name] for name in placed)

    def _is_legal(self, unit: Unit, levels: frozenset[int]) -> bool:
        """Tell whether the loops of a unit, some of them backward, keep its dependences.

        Those of the program, iteration by iteration. In cycles more would do: a store comes some
        after its instance has begun, so what is overwritten could still be read a little later.
        """
        key = unit, levels
        if key not in self._legal:
            placed = {}
            for name in unit.statements:
                extents, own = self._extents[unit], self.placed[name]
                weights = [
                    prod(extents[level + 1 :]) * (-1 if level in levels else 1)
                    for level in range(len(own.iterators))
                ]
                placed[name] = replace(own, rank=(tuple(weights), 0))
            ordered = Requirements(among(self.space.iterations, unit.statements))
            distances = ordered.between(placed, dict.fromkeys(placed, 1))
            self._legal[key] = max(distances.values(), default=0) <= 0
        return self._legal[key]

    def _reversed(self, name: str, placed: Placement, level: int) -> Placement:
        """Return a box with one loop backward, for the ranks that its instances would have."""
        assert placed.rank is not None, "a box has an affine rank"
        weights, constant = placed.rank
        loop = self.space.boxed.schedule.loops(name)[level]
        turned = (*weights[:level], -weights[level], *weights[level + 1 :])
        ends = 2 * loop.at + loop.extent - 1
        return replace(placed, rank=(turned, constant + weights[level] * ends))


def _extents(space: Space) -> Mapping[Unit, Sequence[int]]:
    """Return over how many values the loops of each unit go, of all its statements together."""
    extents = {}
    for unit in space.timing.units:
        nests = [space.boxed.schedule.loops(name) for name in unit.statements]
        extents[unit] = [
            max(loop.at + loop.extent for loop in level) - min(loop.at for loop in level)
            for level in zip(*nests, strict=False)
        ]
    return extents


def _backward(space: Space, unit: Unit, levels: Collection[int]) -> Skew:
    """Return the loops of a unit, those of some levels backward."""
    scop = space.timing.scop
    signs = {
        name: [-1 if level in levels else 1 for level in range(len(scop.statement(name).iterators))]
        for name in unit.statements
    }
    rows = {
        name: tuple(
            Affine.variable(iterator) * sign
            for iterator, sign in zip(scop.statement(name).iterators, own, strict=True)
        )
        for name, own in signs.items()
    }
    slots = max(map(space.timing.instances.count, unit.statements))
    return Skew(unit, rows, slots, slots, _reason(space, unit), is_backward=True)


def _reason(space: Space, unit: Unit) -> str:
    """Return which values cross to or from a unit in the opposite order."""
    scop = space.timing.scop
    for flow in space.timing.dataflow.flows:
        if (flow.source in unit.statements) != (flow.sink in unit.statements):
            access = scop.statement(flow.sink).reads[flow.sink_read]
            text = access_text(scop, access)
            return f"{text} (line {access.span.line}) needs first what would come last"
    return "another nest needs first what would come last"


def find_strips(written: Scop, space: Space, decision: Decision) -> dict[Span, int]:
    """Return the iterations of a strip of each loop to cut, by its place.

    Parameters
    ----------
    written: the program whose loops are to be cut. space, decision: a plan for it.
    """
    sizes: dict[Span, int] = {}
    read_elsewhere = _read_elsewhere(space)
    lags = _lags(space)
    for name, placed in decision.placements.items():
        order = [loop.iterator for loop in placed.loops if loop.iterator is not None]
        loops = {loop.iterator: loop for loop in written.statement(name).loops}
        # A loop further out in the program has become the innermost one.
        if name in read_elsewhere and order and order[-1] != placed.iterators[-1]:
            loop = loops[order[-1]]
            size = _size(trips_of(loop), lags.get(name, 1))
            if size is not None:
                sizes[loop.span] = max(size, sizes.get(loop.span, 1))
    return sizes


def _size(trips: int | None, lag: int) -> int | None:
    """Return the smallest size of strips, all full, in which a value exists when it is needed."""
    if trips is None or lag < 2:
        return None
    return next((size for size in range(lag, trips // 2 + 1) if trips % size == 0), None)


def _read_elsewhere(space: Space) -> frozenset[str]:
    """Return the statements whose values those of another unit read."""
    unit_of = {name: unit for unit in space.timing.units for name in unit.statements}
    flows = space.timing.dataflow.flows
    return frozenset(f.source for f in flows if unit_of[f.source] != unit_of[f.sink])


def _lags(space: Space) -> Mapping[str, int]:
    """Return how many cycles a statement waits for its own last value, where it does."""
    lags: dict[str, int] = {}
    for precedence in space.timing.precedences():
        if precedence.source == precedence.sink:
            lags[precedence.sink] = max(precedence.lag, lags.get(precedence.sink, 0))
    return lags


def find_pauses(space: Space, decision: Decision) -> tuple[Pause, ...]:
    """Return pauses for the statements by themselves that take fewer issue slots with them.

    Parameters
    ----------
    decision: without pauses.
    """
    found = []
    for unit in space.timing.units:
        name, *others = unit.statements
        ii, placed = decision.iis[name], decision.placements[name]
        domain = space.timing.sets.domains[name]
        if others or ii == 1 or not is_worth_search(ii * placed.count, count_points(domain)):
            continue
        own = among(space.cycles, [name])
        reason = decision.ii_reasons[name]
        found.append(find_pause(name, placed, ii, own, domain, reason))
    return tuple(pause for pause in found if pause is not None)
