"""Nests with any bounds, enumerated with no bubble: an odometer whose wheels run ahead.

Where a level starts and how often it runs may need products, quotients and maxima, which take more
than a cycle. So every level runs ahead of the one inside of it, and the pipeline between them
computes the next start and trip count while the present ones are in use. A level loads from that
pipeline in the cycle in which it meets its end; then the pipeline moves on by one, and the level
outside steps, and may meet its own end, and so on: the same carry as in an odometer.

Why there is no bubble: all pipelines are full at reset (`hw.primed`), and all that takes a token
out of one puts the next one in, because every level has at least one iteration for each outer one
and the outermost starts over after its last. So they are full always, and the innermost level has
its next start whenever it needs it, even if every trip count is 1. After as many iterations as the
nest has, every register holds what it held at reset: the next run can begin at once.

The outermost pipeline of all leads from the innermost level to the iteration that is issued. In it
the affine forms (addresses, index values, conditions) are added up.

Where only the loops over tiles are so, they move on once a tile, and the levels inside of a tile
are the wheels of an ordinary odometer. So the traces of `hw.primed`, which are as long as the loops
that they describe, are of tiles and not of iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import Out

from rtlgen.hw.forms import follower
from rtlgen.hw.index_units import IndexUnit, all_of, pace
from rtlgen.hw.odometer import turn_wheels
from rtlgen.hw.primed import Node, Pipeline, fixed, is_zero, largest, linear, quotient, smallest
from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import level_iterations
from rtlgen.ir.plan import IndexForm, Level, LevelBound, PlanError

LEAD = 3
"""Iterations by which the innermost level runs ahead: the stages in which forms are added up."""


@dataclass(frozen=True, eq=False)
class Wheel:
    """One level of the nest, and all that its iterations say of the levels around it.

    Members
    -------
    counters, lasts: of this level and the outer ones, outermost first, for each of its iterations.
    parents: which iteration of the level outside each one belongs to.
    remaining: number of iterations to come before the level ends, for each of its iterations.
    start, left, single: for each iteration of the level outside: its first counter, the number of
        iterations after the first one, and whether there are none.
    """

    counters: tuple[Node, ...]
    lasts: tuple[Node, ...]
    parents: Ints
    remaining: Node
    start: Node
    left: Node
    single: Node

    @property
    def own_last(self) -> Node:
        return self.lasts[-1]

    @property
    def is_fed(self) -> bool:
        """Whether a pipeline leads here from the level outside; a box needs none."""
        return self.start.constant is None or self.left.constant is None

    @property
    def depth(self) -> int:
        """Number of stages of that pipeline."""
        return max(self.start.depth, self.left.depth, self.single.depth)

    @cached_property
    def final(self) -> Node:
        """Whether this is the last iteration of all."""
        last = np.zeros(len(self.parents), dtype=np.int64)
        last[-1] = 1
        return Node(last, f"final_{len(self.counters) - 1}")

    def parent(self, iteration: int) -> int:
        """Return the iteration of the level outside for any one of this one, repetitions too."""
        rounds, place = divmod(iteration, len(self.parents))
        return rounds * (int(self.parents[-1]) + 1) + int(self.parents[place])


def wheels_of(levels: Sequence[Level]) -> tuple[Wheel, ...]:
    """Return the wheels of a nest, outermost first.

    Raises
    ------
    PlanError: a level is empty for some iteration of the outer ones.
    """
    found: list[Wheel] = []
    for rows, parents in level_iterations(levels):
        found.append(_wheel(levels[len(found)], rows, parents, found[-1] if found else None))
    return tuple(found)


def _wheel(level: Level, rows: Ints, parents: Ints, outer: Wheel | None) -> Wheel:
    number = rows.shape[1] - 1
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    trips = np.diff(starts, append=len(parents))
    remaining = np.repeat(starts + trips - 1, trips) - np.arange(len(parents))
    outer_lasts = () if outer is None else outer.lasts
    # Around the outermost level there is a single iteration, whose one counter stands still.
    around = (Node(np.zeros(1, dtype=np.int64), "once"),) if outer is None else outer.counters
    start, left = _start_and_left(level, number, around)
    if not np.array_equal(start.trace, rows[starts, number]) or np.any(left.trace != trips - 1):
        raise PlanError(f"the bounds of level {number} are not those of its iterations")
    return Wheel(
        counters=tuple(Node(rows[:, n], f"counter_{n}") for n in range(number + 1)),
        lasts=(
            *(Node(last.trace[parents], f"last_{n}") for n, last in enumerate(outer_lasts)),
            Node((remaining == 0).astype(np.int64), f"last_{number}"),
        ),
        parents=parents,
        remaining=Node(remaining, f"rest_{number}"),
        start=start,
        left=left,
        single=is_zero(left, f"single_{number}"),
    )


def _start_and_left(level: Level, number: int, outer: Sequence[Node]) -> tuple[Node, Node]:
    """Return a level's first counter, and its trips after that, as values of outer counters."""
    start, left = _by_bounds(level, number, outer)
    if level.at_least > 1 or left.trace.min() < 0:
        left = largest([left, fixed(max(level.at_least, 1) - 1, outer[0])], f"left_{number}")
    return start, left


def _by_bounds(level: Level, number: int, outer: Sequence[Node]) -> tuple[Node, Node]:
    """Return the same where the level's bounds alone count."""
    zero = (0,) * len(outer)
    lowers = level.lowers or (LevelBound(IndexForm(zero)),)
    uppers = level.uppers or (LevelBound(IndexForm(zero, level.extent - 1)),)
    starts = [_rounded(bound, outer, f"start_{number}", up=True) for bound in lowers]
    start = largest(starts, f"start_{number}")
    if len(lowers) == len(uppers) == 1 and lowers[0].divisor == uppers[0].divisor == 1:
        lower, upper = lowers[0].form, uppers[0].form
        pairs = zip(upper.coefficients, lower.coefficients, strict=False)
        parts = list(zip(outer, (a - b for a, b in pairs), strict=False))
        return start, linear(parts, upper.constant - lower.constant, f"left_{number}")
    ends = [_rounded(bound, outer, f"end_{number}", up=False) for bound in uppers]
    end = smallest(ends, f"end_{number}")
    return start, linear([(end, 1), (start, -1)], 0, f"left_{number}")


def _rounded(bound: LevelBound, outer: Sequence[Node], name: str, *, up: bool) -> Node:
    form, divisor = bound.form, bound.divisor
    constant = form.constant + (divisor - 1 if up else 0)
    return quotient(list(zip(outer, form.coefficients, strict=False)), constant, divisor, name)


class ElasticOdometer(IndexUnit):
    """Count through a nest with any bounds.

    Parameters
    ----------
    levels: each with more than one iteration somewhere.
    stepped: whether `begin` means: issue now, and go on to the next iteration, over and over again.

    Members
    -------
    lead_L: Out, the counter of level L in the iteration LEAD iterations later.

    Timing
    ------
    The first iteration is issued in the cycle after `begin`, or with it where it is stepped.
    """

    def __init__(self, levels: tuple[Level, ...], ii: int, *, stepped: bool = False) -> None:
        self.levels = levels
        self.stepped = stepped
        self.wheels = wheels_of(levels)
        extents = tuple(level.extent for level in levels)
        leads = {f"lead_{n}": Out(range(extent)) for n, extent in enumerate(extents)}
        super().__init__(extents, ii, more=leads)

    @property
    def leads(self) -> tuple[Signal, ...]:
        return tuple(getattr(self, f"lead_{n}") for n in range(len(self.extents)))

    def is_box_level(self, level: int) -> bool:
        return self.levels[level].is_box

    def elaborate(self, platform: object) -> Module:
        m = Module()
        final = Signal()
        issue = self.begin if self.stepped else pace(m, self.begin, final, self.ii)
        m.d.comb += self.valid.eq(issue)
        shown = self._turn(m, issue)
        inner = self.wheels[-1]
        way = Pipeline(m, issue, shown, LEAD)
        m.d.comb += final.eq(way.at(inner.final, LEAD))
        for n, (counter, last) in enumerate(zip(self.counters, self.lasts, strict=True)):
            m.d.comb += [
                counter.eq(way.at(inner.counters[n], LEAD)),
                last.eq(way.at(inner.lasts[n], LEAD)),
                self.leads[n].eq(shown[inner.counters[n]]),
            ]
        self.encode_step(m)
        return m

    def _turn(self, m: Module, issue: Value) -> dict[Node, Value]:
        """Build all wheels, and return what shows the iteration in which the innermost one is."""
        ahead = self._ahead()
        ended = [
            Signal(name=f"ended_{n}", init=int(wheel.own_last.at(ahead[n])))
            for n, wheel in enumerate(self.wheels)
        ]
        steps = [Signal(name=f"step_{n}") for n in range(len(self.wheels))]
        shown: dict[Node, Value] = {}
        before: Wheel | None = None
        for n, wheel in enumerate(self.wheels):
            m.d.comb += steps[n].eq(issue & all_of(ended[n + 1 :]))
            pipeline = Pipeline(m, steps[n - 1] if n else Const(0), shown, ahead[max(n - 1, 0)])
            now: dict[Node, Value] = {}
            held = wheel.depth + 1 if wheel.is_fed else 0
            if before is not None:
                now |= {
                    own: pipeline.at(outer, held)
                    for own, outer in zip(
                        (*wheel.counters[:-1], *wheel.lasts[:-1]),
                        (*before.counters, *before.lasts),
                        strict=True,
                    )
                }
            outer_final = Const(1) if before is None else pipeline.at(before.final, held)
            now[wheel.final] = outer_final & ended[n]
            now[wheel.own_last] = ended[n]
            now[wheel.counters[-1]] = self._count(m, wheel, pipeline, steps[n], ended[n], ahead[n])
            shown, before = now, wheel
        return shown

    def _count(
        self,
        m: Module,
        wheel: Wheel,
        pipeline: Pipeline,
        step: Signal,
        ended: Signal,
        ahead: int,
    ) -> Signal:
        """Build the counter of a wheel, and its flag for the last iteration."""
        number = len(wheel.counters) - 1
        place = wheel.counters[-1]
        counter = Signal(place.shape, name=f"count_{number}", init=place.at(ahead))
        start, left, single = (
            pipeline.at(node, wheel.depth) for node in (wheel.start, wheel.left, wheel.single)
        )
        if wheel.is_fed:
            remaining = wheel.remaining
            rest = Signal(remaining.shape, name=f"rest_{number}", init=remaining.at(ahead))
            ends_next = rest == 1
            with m.If(step):
                m.d.sync += rest.eq(Mux(ended, left, rest - 1))
        else:
            final = wheel.start.trace[0] + wheel.left.trace[0]
            ends_next = counter == int(final) - 1
        with m.If(step):
            m.d.sync += [
                counter.eq(Mux(ended, start, counter + 1)),
                ended.eq(Mux(ended, single, ends_next)),
            ]
        return counter

    def _ahead(self) -> list[int]:
        """Return for every level which of its iterations it is in at reset."""
        found = [LEAD]
        for wheel in reversed(self.wheels[1:]):
            outer = wheel.parent(found[0])
            found.insert(0, outer + wheel.depth + 1 if wheel.is_fed else outer)
        return found


def _leads_here(m: Module, counters: Sequence[Node], leads: Sequence[Signal]) -> dict[Node, Value]:
    """Return signals of this module that show the counters some iterations ahead."""
    shown: dict[Node, Value] = {}
    for n, (node, lead) in enumerate(zip(counters, leads, strict=True)):
        shown[node] = copy = Signal.like(lead, name=f"lead_{n}")
        m.d.comb += copy.eq(lead)
    return shown


class LeadForms:
    """Sums of shifted counters, added up on the way from an elastic odometer to stage 0.

    Parameters
    ----------
    index: the odometer, which stands in the same module. valid: its output of that name.
    """

    def __init__(self, m: Module, index: ElasticOdometer, valid: Value) -> None:
        self._m = m
        self._counters = index.wheels[-1].counters
        self._pipeline = Pipeline(m, valid, _leads_here(m, self._counters, index.leads), LEAD)

    def at(self, form: IndexForm, width_bits: int, name: str) -> Signal:
        """Return the low `width_bits` bits of `form` for the iteration that is issued."""
        parts = list(zip(self._counters, form.coefficients, strict=True))
        total = linear(parts, form.constant, name, stages=LEAD)
        shown = Signal(width_bits, name=name)
        self._m.d.comb += shown.eq(self._pipeline.at(total, LEAD))
        return shown


class TileOdometer(IndexUnit):
    """Count through the box of a tile at each `begin`, and through tiles.

    Parameters
    ----------
    tile_levels: the loops over tiles, each with more than one iteration somewhere.
    box: extents of the levels inside.

    Members
    -------
    lead_L: Out, the counter of tile level L in the tile LEAD tiles later.

    Timing
    ------
    The first iteration of a tile is issued in the cycle after `begin`.
    """

    def __init__(self, tile_levels: tuple[Level, ...], box: tuple[int, ...], ii: int) -> None:
        self.tiles = ElasticOdometer(tile_levels, 1, stepped=True)
        self.box = box
        extents = (*self.tiles.extents, *box)
        leads = {f"lead_{n}": Out(range(level.extent)) for n, level in enumerate(tile_levels)}
        super().__init__(extents, ii, more=leads, outer_levels=len(tile_levels))

    @property
    def leads(self) -> tuple[Signal, ...]:
        return tuple(getattr(self, f"lead_{n}") for n in range(self.outer_levels))

    def is_box_level(self, level: int) -> bool:
        return level >= self.outer_levels or self.tiles.is_box_level(level)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.tiles = tiles = self.tiles
        issue = pace(m, self.begin, self.pauses, self.ii)
        m.d.comb += [self.valid.eq(issue), tiles.begin.eq(issue & self.pauses)]
        depth = self.outer_levels
        for n in range(depth):
            m.d.comb += [
                self.counters[n].eq(tiles.counters[n]),
                self.lasts[n].eq(tiles.lasts[n]),
                self.leads[n].eq(tiles.leads[n]),
            ]
        turn_wheels(m, issue, self.box, self.counters[depth:], self.lasts[depth:])
        self.encode_step(m)
        return m


class TileForms:
    """Registers that follow affine forms through the box of a tile, and jump from tile to tile.

    What a form begins with in the next tile is added up while tiles before it run.

    Parameters
    ----------
    index: the odometer. valid, step: its outputs of these names, copied to this module.
    """

    def __init__(self, m: Module, index: TileOdometer, valid: Value, step: Value) -> None:
        self._m = m
        self._index = index
        self._valid = valid
        self._step = step
        self._counters = index.tiles.wheels[-1].counters
        leads = _leads_here(m, self._counters, index.leads)
        ends = Signal(name="tile_ends")
        m.d.comb += ends.eq(valid & all_of(index.lasts[index.outer_levels :]))
        self._ends = ends
        self._pipeline = Pipeline(m, ends, leads, LEAD)

    def at(self, form: IndexForm, width_bits: int, name: str) -> Signal:
        """Return the low `width_bits` bits of `form` for the iteration that is issued."""
        depth = self._index.outer_levels
        parts = list(zip(self._counters, form.coefficients[:depth], strict=True))
        begins = linear(parts, form.constant, name, stages=LEAD - 1)
        shown = Signal(width_bits, name=name, init=begins.at(0) % (1 << width_bits))
        inner = IndexForm(form.coefficients[depth:])
        if not any(c % (1 << width_bits) for c in inner.coefficients):
            self._m.d.comb += shown.eq(self._pipeline.at(begins, LEAD))
            return shown
        deltas = follower(inner, width_bits, self._index.box).deltas
        grown: Value = shown + deltas[0]
        for code, delta in enumerate(deltas[1:-1], start=1):
            grown = Mux(self._step == code, shown + delta, grown)
        with self._m.If(self._ends):
            self._m.d.sync += shown.eq(self._pipeline.at(begins, LEAD - 1))
        with self._m.Elif(self._valid):
            self._m.d.sync += shown.eq(grown)
        return shown
