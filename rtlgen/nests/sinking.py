"""Sink the statements of a cycle into one nest: which ways there are, and what each of them costs.

The ways to sink the statements of a cycle into the loops of one common nest.

Each loop of a statement becomes one of the common dimensions, and the statement is pinned in those
that it lacks. First the loops of all statements stay in their order, and those around several stay
shared. Where that leaves slots empty, statements may have theirs *exchanged*: of two that each fill
half of a square in their own order, one then runs in step with the other instead of beside it.

Rewrite
-------
    for i  for k<min(i, n) ...              S0 in (k, j, i), S2 in (k, i, j):
      for j<i:   S0: A[i][j] -= ...    ->     for k  for c1>k  for c2>=c1
      for j>=i:  S2: A[i][j] -= ...             { S0 with j = c1 < i = c2;  S2 with i = c1, j = c2 }

Sink statements that depend on each other in a cycle into one nest, whatever its shape.

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, combinations, islice, pairwise, permutations, product

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets, affine_text, attempt, integer
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.nests.candidates import ragged_loops
from rtlgen.nests.period import (
    Member,
    PlacedLoops,
    Values,
    dimensions,
    pinned_values,
    shared_depth,
    written_bounds,
)
from rtlgen.nests.precedence import ClosedPairs, Precedence
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import Pairs

Floats = NDArray[np.float64]

MAX_SINKINGS = 1_000
"""Ways to sink the statements that are considered at all."""

MAX_WEIGHED = 4_000
"""Pins of a statement that are ranked, for all places of the loops together."""

MAX_PERMUTED = 5
"""Dimensions of which all orders are looked at; of deeper nests the outermost ones keep theirs."""

MAX_EXCHANGED = 4
"""Loops of the deepest statement up to which loops are exchanged."""

MAX_MEMBERS = 4
"""Statements of a cycle up to which each gets places of its own for its loops."""

MAX_FOLLOWED = 32
"""Places of the loops of some members that are followed to those of the next one."""

MAX_PINS = 4
"""Iterations of the deeper loops in which one statement is tried."""

SAMPLED_PAIRS = 1_000
"""Pairs of a dependence that are looked at to rank the ways to sink."""


Image = tuple[int, ...]
"""The common dimension of each loop of a statement."""


@dataclass(frozen=True, slots=True)
class Sinking:
    """Where each dimension of the common nest is in a statement.

    Members
    -------
    values: by statement, one function of its iterators for each common dimension.
    own: by statement, its iterator for each common dimension, or None where it is pinned.
    """

    values: Mapping[str, Values]
    own: Mapping[str, tuple[str | None, ...]]

    def fullness(self) -> dict[int, list[Affine]]:
        """Return the dimensions whose loop may be empty, and what is 0 or more where it is not.

        The functions are of the common dimensions. Such a loop runs once where it is empty.
        """
        found: dict[int, list[Affine]] = {}
        for name, values in self.values.items():
            dims = zip(self.own[name], dimensions(len(values)), strict=True)
            renamed = {iterator: Affine.variable(dim) for iterator, dim in dims if iterator}
            for dim, place in enumerate(values):
                for last, first in pairwise(place):
                    found.setdefault(dim, []).append((last - first).substitute(renamed))
        return found


class LoopOrders:
    """How much of the dependences runs backward, for any way to sink and any order of the loops.

    What can be told from a sample of the dependent pairs is remembered for each pair of statements.

    Members
    -------
    weighed: how often somebody has asked for all orders; weighed_apart: for one of them.
    """

    def __init__(
        self,
        members: Sequence[Member],
        precedences: Sequence[Precedence],
        depth: int,
        in_order: bool,
    ) -> None:
        self.depth = depth
        self.weighed = self.weighed_apart = 0
        kept = range(depth if in_order else max(0, depth - MAX_PERMUTED))
        moved = permutations(range(len(kept), depth))
        self._orders = [(*kept, *inner) for inner in moved]
        self._iterators = {member.name: member.iterators for member in members}
        self._pairs: dict[tuple[str, str], list[Pairs]] = {}
        for p in precedences:
            sample = _sample(p)
            if len(sample.sources):
                self._pairs.setdefault((p.source, p.sink), []).append(sample)
        self._numbers: dict[Values, int] = {}
        self._known: dict[tuple[str, str, int, int], Floats] = {}
        self._weights: dict[int, Ints] = {}

    def backward(self, values: Mapping[str, Values]) -> dict[tuple[int, ...], float]:
        """Return, by order of the dimensions, what runs backward between the given statements."""
        self.weighed += 1
        return dict(zip(self._orders, self._backward(values).tolist(), strict=True))

    def least_backward(self, values: Mapping[str, Values]) -> float:
        """Return the same for the order in which least does."""
        self.weighed += 1
        return float(self._backward(values).min())

    @property
    def count(self) -> int:
        """How many orders there are."""
        return len(self._orders)

    def backward_in(self, some: Sequence[int], values: Mapping[str, Values]) -> Floats:
        """Return the same for some orders, by their numbers."""
        self.weighed_apart += len(some)
        return self._backward(values)[list(some)]

    def _backward(self, values: Mapping[str, Values]) -> Floats:
        keep_going(work=len(self._pairs))
        total = np.zeros(len(self._orders))
        numbers = {
            name: self._numbers.setdefault(each, len(self._numbers))
            for name, each in values.items()
        }
        for source, sink in self._pairs:
            if source in values and sink in values:
                key = (source, sink, numbers[source], numbers[sink])
                if key not in self._known:
                    self._known[key] = self._between(source, sink, values[source], values[sink])
                total += self._known[key]
        return total

    def _between(self, source: str, sink: str, early: Values, late: Values) -> Floats:
        total = np.zeros(len(self._orders))
        for pairs in self._pairs[source, sink]:
            distances = common_places(late, self._iterators[sink], pairs.sinks) - common_places(
                early, self._iterators[source], pairs.sources
            )
            # Distances with the same signs run backward in the same orders.
            signs = (np.sign(distances) + 1) @ 3 ** np.arange(self.depth)
            kinds, counts = np.unique(signs, return_counts=True)
            total += (counts @ np.stack([*map(self._weight, kinds.tolist())])) / len(distances)
        return total

    def _weight(self, signs: int) -> Ints:
        """Return, by order, how much distances with these signs run backward."""
        if signs not in self._weights:
            each = signs // 3 ** np.arange(self.depth) % 3 - 1
            ordered = each[np.array(self._orders)]
            first = np.argmax(ordered != 0, axis=1)
            leading = ordered[np.arange(len(ordered)), first]
            # Backward in the innermost loop only is a shift; further out it is mostly impossible.
            self._weights[signs] = np.where(leading < 0, 4 ** (self.depth - 1 - first), 0)
        return self._weights[signs]


def _sample(precedence: Precedence) -> Pairs:
    """Return some of the dependent pairs."""
    related = precedence.related
    if isinstance(related, ClosedPairs):
        return related.samples()
    assert isinstance(related, Pairs), "of statements in boxes no common nests are asked for"
    step = -(-len(related.sources) // SAMPLED_PAIRS)
    return Pairs(related.sources[::step], related.sinks[::step])


def sinkings(
    members: Sequence[Member], domains: Mapping[str, isl.Set], orders: LoopOrders
) -> list[Sinking]:
    """Return the ways to sink members whose loops keep their order."""
    found: list[Sinking] = []
    placed = PlacedLoops(domains)
    for images in product(*(_images(member, members, orders.depth) for member in members)):
        if len(found) >= MAX_SINKINGS or orders.weighed > MAX_WEIGHED:
            break
        if _consistent(members, images):
            every = _pinned(members, images, placed, orders)
            found += islice(every, MAX_SINKINGS - len(found))
    return found


def exchanged_sinkings(
    members: Sequence[Member], domains: Mapping[str, isl.Set], orders: LoopOrders
) -> list[Sinking]:
    """Return ways to sink members each of which has its loops in an order of its own.

    One member after the other gets the places of its loops, the deepest first, and what keeps most
    dependences in order is followed. Where that is too much work, a member all of whose loops are
    around a deeper one goes with that: what begins or ends a sum runs in the loops of the sum.

    Parameters
    ----------
    orders: one, that of the common dimensions: any other exchanges the loops of all members.
    """
    if orders.depth > MAX_EXCHANGED:
        return []
    ranked = sorted(members, key=lambda member: -len(member.path))
    placed = PlacedLoops(domains)
    free: list[list[int]] = [[] for _ in ranked]
    hosted = [_hosts(ranked[:place], member) for place, member in enumerate(ranked)]
    found: list[Sinking] = []
    for hosts in (free, hosted):
        for own in _followed(ranked, hosts, placed, orders):
            found += islice(_pinned(ranked, own, placed, orders), MAX_PINS)
        if found:
            break
    return found


def _hosts(deeper: Sequence[Member], member: Member) -> list[int]:
    """Return which of `deeper` have all loops of a member around them, and more."""
    depth = len(member.path)
    return [
        place
        for place, host in enumerate(deeper)
        if len(host.path) > depth and host.path[:depth] == member.path
    ]


def _followed(
    ranked: Sequence[Member],
    hosts: Sequence[Sequence[int]],
    placed: PlacedLoops,
    orders: LoopOrders,
) -> list[tuple[Image, ...]]:
    """Return the likeliest places of the loops of all members; none where that is too much work.

    Parameters
    ----------
    hosts: by member, those before it one of which it goes with; none: its places are its own.
    """
    if sum(not each for each in hosts) > MAX_MEMBERS:
        return []
    most = orders.weighed + MAX_WEIGHED
    followed: list[tuple[Image, ...]] = [()]
    for count, (member, within) in enumerate(zip(ranked, hosts, strict=True), start=1):
        depth = len(member.path)
        anywhere = list(permutations(range(orders.depth), depth))
        grown = [
            (*before, image)
            for before in followed
            for image in (dict.fromkeys(before[host][:depth] for host in within) or anywhere)
        ]
        cost: dict[tuple[Image, ...], float] = {}
        for own in grown:
            if orders.weighed > most:
                return []
            cost[own] = _least_backward(ranked[:count], own, placed, orders)
        followed = sorted(grown, key=cost.__getitem__)[:MAX_FOLLOWED]
    return followed


def _least_backward(
    members: Sequence[Member],
    images: Sequence[Image],
    placed: PlacedLoops,
    orders: LoopOrders,
) -> float:
    """Return how much of the dependences between members runs backward at least."""
    (first,) = islice(_pinned(members, images, placed, orders), 1)
    return orders.least_backward(first.values)


def _pinned(
    members: Sequence[Member],
    images: Sequence[Image],
    placed: PlacedLoops,
    orders: LoopOrders,
) -> Iterator[Sinking]:
    """Yield the likeliest pins of members whose loops have given places."""
    depth = orders.depth
    bounds = written_bounds(members, images, placed, depth)
    choices = {
        member.name: pinned_values(member, image, bounds, depth)
        for member, image in zip(members, images, strict=True)
    }
    own = {
        member.name: tuple(
            member.iterators[image.index(dim)] if dim in image else None for dim in range(depth)
        )
        for member, image in zip(members, images, strict=True)
    }
    likely = _likeliest(choices, orders)
    every = product(*likely.values())
    yield Sinking(dict(zip(likely, next(every), strict=True)), own)
    # What suits one order well may suit none of the others.
    if orders.count > 1 and orders.weighed_apart <= MAX_WEIGHED:
        yield from (Sinking(found, own) for found in _by_order(choices, orders))
    for values in every:
        yield Sinking(dict(zip(likely, values, strict=True)), own)


def _likeliest(
    choices: Mapping[str, Sequence[Values]], orders: LoopOrders
) -> dict[str, Sequence[Values]]:
    """Return for every statement the pins that suit those with fewer pins best."""
    likely: dict[str, Sequence[Values]] = {}
    placed: dict[str, Values] = {}
    for name in sorted(choices, key=lambda name: len(choices[name])):
        ranked = sorted(
            choices[name],
            key=lambda values: orders.least_backward({**placed, name: values}),
        )
        likely[name] = ranked[:MAX_PINS]
        placed[name] = ranked[0]
    return likely


def _by_order(
    choices: Mapping[str, Sequence[Values]], orders: LoopOrders
) -> list[dict[str, Values]]:
    """Return the pins that suit each order of the loops best, whatever the others are."""
    found: list[tuple[list[int], dict[str, Values]]] = [(list(range(orders.count)), {})]
    for name in sorted(choices, key=lambda name: len(choices[name])):
        # Orders with the same pins so far weigh the next ones together.
        before, found = found, []
        for some, placed in before:
            every = [{**placed, name: values} for values in choices[name]]
            best = np.argmin([orders.backward_in(some, each) for each in every], axis=0).tolist()
            found += [
                ([order for order, own in zip(some, best, strict=True) if own == n], each)
                for n, each in enumerate(every)
                if n in best
            ]
    return [placed for _, placed in sorted(found, key=lambda pins: pins[0][0])]


def _images(member: Member, members: Sequence[Member], depth: int) -> list[Image]:
    """Return every place of the member's loops among the common dimensions, in their order."""
    shared = shared_depth(members)
    inner = len(member.path) - shared
    return [(*range(shared), *chosen) for chosen in combinations(range(shared, depth), inner)]


def _consistent(members: Sequence[Member], images: Sequence[Image]) -> bool:
    """Tell whether a loop around several members has one place."""
    places: dict[int, int] = {}
    return all(
        places.setdefault(number, dim) == dim
        for member, image in zip(members, images, strict=True)
        for number, dim in zip(member.path, image, strict=True)
    )


def common_places(values: Values, iterators: tuple[str, ...], points: Ints) -> Ints:
    """Return the (n, dims) values of functions at (n, iterators) points."""
    forms = list(chain.from_iterable(values))
    rows = [[form.coefficient(iterator) for iterator in iterators] for form in forms]
    coefficients = np.array(rows, dtype=np.int64).reshape(len(forms), len(iterators))
    found = points @ coefficients.T + np.array([form.constant for form in forms], dtype=np.int64)
    if len(forms) == len(values):
        return found
    starts = np.cumsum([0, *(len(place) for place in values[:-1])])
    largest: Ints = np.maximum.reduceat(found, starts, axis=1)
    return largest


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
    overlaps: whether iterations of an outer loop share rows, as in `nests.common_nest`.
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
