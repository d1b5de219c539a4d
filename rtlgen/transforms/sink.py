"""Sink statements that depend on each other in a cycle into one nest, whatever its shape.

A statement that stands outside of the deepest loops runs in one of their iterations: it is *sunk*
there, by a pad loop that is pinned to an affine function of its own iterators. All statements of
the cycle then share one nest, the hull of them all, whose loops may be put in any order.

Rewrite
-------
    for i<8 for j<i {                          ->   for k  for j>=k  for i>k
      for k<j  S0: A[i][j] -= A[i][k]*A[k][j];        { S1 where j == k;  S0 where j > k }
      S1: A[i][j] /= A[j][j]; }

Reference: statement sinking, and the pads of MF3 (section 3), here with bounds that depend on outer
loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets, affine_text, attempt, integer
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.poly.counting import count_points
from rtlgen.transforms.period import Member
from rtlgen.transforms.pins import dimensions
from rtlgen.transforms.precedence import Precedence
from rtlgen.transforms.ragged import ragged_loops
from rtlgen.transforms.sinkings import (
    LoopOrders,
    Sinking,
    common_places,
    exchanged_sinkings,
    sinkings,
)

MAX_NESTS = 40
"""Common nests that are tried, those that keep most dependences in order first."""

HULL_OPERATIONS = 100_000
"""Elementary isl operations that a convex hull may take."""


@dataclass(frozen=True, slots=True)
class CommonNest:
    """One nest for all members, with a way to sink them into it.

    Members
    -------
    dims: names of the common dimensions; loops: the nest over them, outermost first.
    backward: how much of the dependences runs backward in this order; 0: none.
    gain: share of the last issue of others before which this one must end to be worth its bounds.
    iterations: how many it has at least; 0: nobody has counted them.
    overlaps: whether iterations of an outer loop share rows, as in `transforms.overlapping`.
    """

    sinking: Sinking
    dims: tuple[str, ...]
    loops: tuple[NestLoop, ...]
    backward: float
    gain: float = 1.0
    iterations: int = 0
    overlaps: bool = False

    @property
    def order(self) -> list[int]:
        """The number of each loop's dimension, outermost first."""
        return [self.dims.index(loop.counter or "") for loop in self.loops]

    def coordinates(self, member: Member, points: Ints) -> Ints:
        """Return the (n, dims) place of (n, iterators) instances of a member."""
        return common_places(self.sinking.values[member.name], member.iterators, points)

    def loops_of(self, name: str, loops: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
        """Return `loops` over the common dimensions in a statement's own names."""
        own = self.sinking.own[name]
        names = {
            dim: Affine.variable(iterator or dim)
            for dim, iterator in zip(self.dims, own, strict=True)
        }

        def renamed(bounds: Sequence[Bound]) -> tuple[Bound, ...]:
            return tuple(replace(bound, form=bound.form.substitute(names)) for bound in bounds)

        found = []
        for loop in loops:
            assert loop.iterator is not None, "every loop of the nest is a common dimension"
            place = self.dims.index(loop.iterator)
            found.append(
                replace(
                    loop,
                    iterator=own[place],
                    lowers=renamed(loop.lowers),
                    uppers=renamed(loop.uppers),
                    pad=None if own[place] else loop.iterator,
                    pinned=() if own[place] else self.sinking.values[name][place],
                )
            )
        return tuple(found)


def common_nests(
    members: Sequence[Member],
    sets: ScopSets,
    precedences: Sequence[Precedence],
    in_order: bool = False,
) -> Iterator[CommonNest]:
    """Yield the common nests worth trying, the likeliest first.

    Each comes in the plain hull of its members, and then in their convex hull where that is
    smaller. With `in_order` the loops stay in the order of the program.
    """
    depth = max(len(member.path) for member in members)
    orders = LoopOrders(members, precedences, depth, in_order)
    ranked: list[tuple[float, int, int, _Room, tuple[int, ...]]] = []
    for sinking in sinkings(members, sets.domains, orders):
        room = _Room(sinking, sets)
        for order, backward in orders.backward(sinking.values).items():
            swaps = sum(a > b for n, a in enumerate(order) for b in order[n + 1 :])
            ranked.append((backward, swaps, len(ranked), room, order))
    ranked.sort(key=lambda entry: entry[:3])
    for backward, _, _, room, order in ranked[:MAX_NESTS]:
        yield room.nest(room.plain, order, backward)
        if room.convex is not None:
            yield room.nest(room.convex, order, backward, TOLERANCE)


def exchanged_nests(
    members: Sequence[Member], sets: ScopSets, precedences: Sequence[Precedence]
) -> Iterator[CommonNest]:
    """Yield the common nests of members each with its loops in an order of its own.

    Those that keep most dependences in order come first, and of these the shortest.
    """
    depth = max(len(member.path) for member in members)
    orders = LoopOrders(members, precedences, depth, in_order=True)
    ranked: list[tuple[float, int, int, _Room]] = []
    for sinking in exchanged_sinkings(members, sets.domains, orders):
        room = _Room(sinking, sets)
        (backward,) = orders.backward(sinking.values).values()
        ranked.append((backward, count_points(room.plain), len(ranked), room))
    for backward, iterations, _, room in sorted(ranked, key=lambda entry: entry[:3])[:MAX_NESTS]:
        yield replace(room.nest(room.plain, range(depth), backward), iterations=iterations)


def nest_in(sinking: Sinking, sets: ScopSets) -> CommonNest:
    """Return the nest of all members whose loops count the common dimensions in their order."""
    room = _Room(sinking, sets)
    return room.nest(room.plain, range(len(room.dims)), 0.0)


@dataclass(frozen=True, eq=False)
class _Room:
    """What all members take of the common dimensions, computed when it is first asked for."""

    sinking: Sinking
    sets: ScopSets

    @property
    def dims(self) -> tuple[str, ...]:
        return dimensions(len(next(iter(self.sinking.values.values()))))

    @cached_property
    def places(self) -> isl.Set:
        """Where all members run."""
        keep_going(self.sets.context)
        images = [
            self.sets.place_map(self.sets.scop.statement(name), values).range()
            for name, values in self.sinking.values.items()
        ]
        return reduce(isl.Set.union, images).coalesce()

    @cached_property
    def plain(self) -> isl.Set:
        """A convex set around the places whose bounds are all bounds of some member."""
        return isl.Set.from_basic_set(self.places.simple_hull())

    @cached_property
    def convex(self) -> isl.Set | None:
        """The convex hull of the places, or None where it is the plain one or hard to find.

        Members that follow each other in an iteration of an outer loop, one of which has longer
        rows than the other, have a plain hull in which all rows are as long. In the convex one they
        become shorter from one to the next.
        """
        hull = attempt(
            self.places.get_ctx(),
            HULL_OPERATIONS,
            lambda: isl.Set.from_basic_set(self.places.convex_hull()),
        )
        return None if hull is None or self.plain.is_subset(hull) else hull

    def nest(
        self, hull: isl.Set, order: Sequence[int], backward: float, gain: float = 1.0
    ) -> CommonNest:
        """Return the nest of a hull, in the given order of the dimensions."""
        return CommonNest(self.sinking, self.dims, self._loops(hull, order), backward, gain)

    def _loops(self, hull: isl.Set, order: Sequence[int]) -> tuple[NestLoop, ...]:
        keep_going(self.sets.context)
        dims = self.dims
        boxes = []
        for place in order:
            low, high = integer(hull.dim_min_val(place)), integer(hull.dim_max_val(place))
            boxes.append(NestLoop(dims[place], high - low + 1, low))
        loops = ragged_loops(hull, dims, boxes)
        fullness = self.sinking.fullness()
        if not fullness:
            return loops
        # Where a loop is empty it runs once, which no bound need say; elsewhere the bounds are
        # exact.
        full, space = self.places, ",".join(f"d{k}" for k in range(len(dims)))
        for form in chain.from_iterable(fullness.values()):
            condition = f"{affine_text(form, dims)} >= 0"
            full = full.intersect(self.sets.read_set(f"{{ [{space}] : {condition} }}"))
        outside = min(order.index(dim) for dim in fullness)
        inner = ragged_loops(full, dims, boxes)
        return tuple(
            replace(inner[n], at_least=1)
            if place in fullness
            else (loops if n < outside else inner)[n]
            for n, place in enumerate(order)
        )
