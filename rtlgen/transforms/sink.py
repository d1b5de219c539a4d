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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, combinations, islice, pairwise, permutations, product

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets, affine_text, attempt, integer
from rtlgen.poly.instances import Pairs
from rtlgen.transforms.period import Member, shared_depth
from rtlgen.transforms.pins import Values, dimensions, pinned_values, written_bounds
from rtlgen.transforms.precedence import Precedence
from rtlgen.transforms.ragged import ragged_loops

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_NESTS = 40
"""Common nests that are tried, those that keep most dependences in order first."""

MAX_SINKINGS = 1_000
"""Ways to sink the statements that are considered at all."""

CONVEX_GAIN = 0.98
"""Share of the cycles below which bounds that are quotients are worth their circuits."""

HULL_OPERATIONS = 100_000
"""Elementary isl operations that a convex hull may take."""

MAX_PINS = 4
"""Iterations of the deeper loops in which one statement is tried."""

SAMPLED_PAIRS = 1_000
"""Pairs of a dependence that are looked at to rank the ways to sink."""


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


@dataclass(frozen=True, slots=True)
class CommonNest:
    """One nest for all members, with a way to sink them into it.

    Members
    -------
    dims: names of the common dimensions; loops: the nest over them, outermost first.
    backward: how much of the dependences runs backward in this order; 0: none.
    gain: share of the last issue of others before which this one must end to be worth its bounds.
    """

    sinking: Sinking
    dims: tuple[str, ...]
    loops: tuple[NestLoop, ...]
    backward: float
    gain: float = 1.0

    def coordinates(self, member: Member, points: Ints) -> Ints:
        """Return the (n, dims) place of (n, iterators) instances of a member."""
        return _common(self.sinking.values[member.name], member.iterators, points)

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
    order_of = _Order(members, precedences, depth, in_order)
    ranked: list[tuple[float, int, int, _Room, tuple[int, ...]]] = []
    for sinking in _sinkings(members, sets.domains, order_of):
        room = _Room(sinking, sets)
        for order, backward in order_of.backward(sinking.values).items():
            swaps = sum(a > b for n, a in enumerate(order) for b in order[n + 1 :])
            ranked.append((backward, swaps, len(ranked), room, order))
    ranked.sort(key=lambda entry: entry[:3])
    for backward, _, _, room, order in ranked[:MAX_NESTS]:
        yield room.nest(room.plain, order, backward)
        if room.convex is not None:
            yield room.nest(room.convex, order, backward, CONVEX_GAIN)


def nest_in(sinking: Sinking, sets: ScopSets) -> CommonNest:
    """Return the nest of all members whose loops count the common dimensions in their order."""
    room = _Room(sinking, sets)
    return room.nest(room.plain, range(len(room.dims)), 0.0)


class _Order:
    """How much of the dependences runs backward, for any way to sink and any order of the loops.

    What can be told from a sample of the dependent pairs is remembered for each pair of statements.
    """

    def __init__(
        self,
        members: Sequence[Member],
        precedences: Sequence[Precedence],
        depth: int,
        in_order: bool,
    ) -> None:
        self.depth = depth
        self._orders = [tuple(range(depth))] if in_order else list(permutations(range(depth)))
        self._iterators = {member.name: member.iterators for member in members}
        self._pairs: dict[tuple[str, str], list[Pairs]] = {}
        for p in precedences:
            assert isinstance(p.related, Pairs), "ragged statements have listed pairs"
            step = -(-len(p.related.sources) // SAMPLED_PAIRS)
            sample = Pairs(p.related.sources[::step], p.related.sinks[::step])
            self._pairs.setdefault((p.source, p.sink), []).append(sample)
        self._numbers: dict[Values, int] = {}
        self._known: dict[tuple[str, str, int, int], Floats] = {}
        self._weights: dict[int, Ints] = {}

    def backward(self, values: Mapping[str, Values]) -> dict[tuple[int, ...], float]:
        """Return, by order of the dimensions, what runs backward between the given statements."""
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
        return dict(zip(self._orders, total.tolist(), strict=True))

    def _between(self, source: str, sink: str, early: Values, late: Values) -> Floats:
        total = np.zeros(len(self._orders))
        for pairs in self._pairs[source, sink]:
            distances = _common(late, self._iterators[sink], pairs.sinks) - _common(
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


def _sinkings(
    members: Sequence[Member], domains: Mapping[str, isl.Set], order_of: _Order
) -> list[Sinking]:
    found: list[Sinking] = []
    depth = order_of.depth
    for images in product(*(_images(member, members, depth) for member in members)):
        if not _consistent(members, images):
            continue
        bounds = written_bounds(members, images, domains, depth)
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
        likely = _likeliest(choices, order_of)
        for values in islice(product(*likely.values()), MAX_SINKINGS - len(found)):
            found.append(Sinking(dict(zip(likely, values, strict=True)), own))
    return found


def _likeliest(
    choices: Mapping[str, Sequence[Values]], order_of: _Order
) -> dict[str, Sequence[Values]]:
    """Return for every statement the pins that suit those with fewer pins best."""
    likely: dict[str, Sequence[Values]] = {}
    placed: dict[str, Values] = {}
    for name in sorted(choices, key=lambda name: len(choices[name])):
        ranked = sorted(
            choices[name],
            key=lambda values: min(order_of.backward({**placed, name: values}).values()),
        )
        likely[name] = ranked[:MAX_PINS]
        placed[name] = ranked[0]
    return likely


def _images(member: Member, members: Sequence[Member], depth: int) -> list[tuple[int, ...]]:
    """Return every place of the member's loops among the common dimensions, in their order."""
    shared = shared_depth(members)
    inner = len(member.path) - shared
    return [(*range(shared), *chosen) for chosen in combinations(range(shared, depth), inner)]


def _consistent(members: Sequence[Member], images: Sequence[tuple[int, ...]]) -> bool:
    """Tell whether a loop around several members has one place."""
    places: dict[int, int] = {}
    return all(
        places.setdefault(number, dim) == dim
        for member, image in zip(members, images, strict=True)
        for number, dim in zip(member.path, image, strict=True)
    )


def _common(values: Values, iterators: tuple[str, ...], points: Ints) -> Ints:
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
