"""The nests that statements may run in: orders and pads of boxes, exact ranks of other domains.

The loop orders and pads that a statement may be given in a fused loop.

Loops whose bounds depend on outer loops: the exact nest of a domain, in any order.

Rewrite
-------
    { (i, j) : 0 <= j <= i < 8 }   in the order (j, i)   ->   for j = 0..7  for i = j..7

Bounds come from projecting the domain; the inner loop of every outer iteration runs at least once.
Where a domain has no such nest (a shadow with holes) the nearest nest around it is taken, and the
iterations outside of the domain stay empty.

The instances of every statement, and which iteration of a nest is the last one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, combinations, combinations_with_replacement, groupby, islice, product
from math import prod
from typing import Literal, TypeAlias

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going, note_limit
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, FlatDim, NestLoop
from rtlgen.ir.sets import ScopSets, coefficients_of, domain_text, for_each, integer
from rtlgen.poly.closed_extrema import extrema
from rtlgen.poly.closed_ranks import ClosedRanks, affine_function, closed_ranks
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.extrema import PairExtrema, set_extrema
from rtlgen.poly.instances import (
    MANY_INSTANCES,
    MANY_OF_EACH,
    MAX_INSTANCES,
    enumerated_size,
    statement_points,
)
from rtlgen.poly.ranks import RankTable, rank_table
from rtlgen.transforms.units import Unit

Placing = Callable[[tuple[NestLoop, ...], int], "Placement | None"]
"""Gives loops in some order the bounds of a statement's domain; the number is that of changes."""

MAX_ORDERS = 5_040
"""Orders of the same loops that are looked at: all of seven, of more the innermost ones alone."""

MAX_CANDIDATES = 5_000
"""Orders and pads considered for one statement; beyond it the deepest paddings are left out."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One way to enumerate a statement's instances.

    Members
    -------
    iterators: of the statement, in its own order.
    loops: outermost first, padding included.
    rank: of a box, the rank's coefficients over the statement's iterators, and its constant.
    table: of any other nest, the ranks of all its iterations.
    count: number of iterations, padding included.
    changes: how far it is from the program as written; breaks ties in favour of the user's order.
    closed: of a nest that is too large for a table, the ranks in closed form. Just one of the three
        is given.
    overlaps: whether iterations of an outer loop share rows, as in `nests.common_nest`.
    """

    iterators: tuple[str, ...]
    loops: tuple[NestLoop, ...]
    rank: tuple[tuple[int, ...], int] | None
    table: RankTable | None
    count: int
    changes: int
    closed: ClosedRanks | None = None
    overlaps: bool = False

    def ranks(self, points: Ints) -> Ints:
        """Return the ranks of (n, iterators) instances."""
        if self.table is not None:
            return self.table.of(points)
        if self.closed is not None:
            return self.closed.of(points)
        assert self.rank is not None, "a placement has its ranks in some form"
        coefficients, constant = self.rank
        result: Ints = points @ np.array(coefficients, dtype=np.int64).reshape(-1) + constant
        return result

    def rank_function(self, context: isl.Context) -> isl.PwQPolynomial:
        """Return the rank as a function of the iterators, of a box or in closed form."""
        if self.closed is not None:
            return self.closed.function
        assert self.rank is not None, "a table has no function"
        coefficients, constant = self.rank
        return affine_function(context, coefficients, constant)

    def flat(self, shift: int) -> FlatDim:
        """Return the flattened dimension of the nest."""
        is_box = all(loop.is_box for loop in self.loops)
        return FlatDim(self.loops, shift, None if is_box else self.count)


def placement(
    loops: Sequence[NestLoop], iterators: Sequence[str], changes: int = 0
) -> Placement | None:
    """Return the placement of a statement under `loops`, or None where its ranks are not known."""
    if all(loop.is_box and len(loop.place) == 1 for loop in loops):
        return box_placement(loops, iterators, changes)
    table = rank_table(loops, iterators)
    if table is None:
        return None
    return Placement(tuple(iterators), tuple(loops), None, table, table.count, changes)


def closed_placement(
    domain: isl.Set, loops: Sequence[NestLoop], iterators: Sequence[str], changes: int = 0
) -> Placement | None:
    """Return the placement under `loops` of a statement that has too many instances for a table.

    None: its ranks are not known in closed form.
    """
    if all(loop.is_box and len(loop.place) == 1 for loop in loops):
        return box_placement(loops, iterators, changes)
    found = closed_ranks(domain, iterators, loops)
    if found is None:
        return None
    return Placement(tuple(iterators), tuple(loops), None, None, found.count, changes, found)


def box_placement(
    loops: Sequence[NestLoop], iterators: Sequence[str], changes: int = 0
) -> Placement:
    """Return the placement of a statement under rectangular `loops`."""
    if any(loop.pinned for loop in loops):
        flat = FlatDim(tuple(loops))
        rank = flat.rank
        affine = tuple(rank.coefficient(name) for name in iterators), rank.constant
        return Placement(tuple(iterators), flat.loops, affine, None, flat.count, changes)
    # The same without affine expressions: a search places its statements thousands of times.
    weight, constant, weights = 1, 0, dict.fromkeys(iterators, 0)
    for loop in reversed(loops):
        if loop.iterator is None:
            constant += weight * loop.at
        else:
            weights[loop.iterator] += weight
            constant -= weight * loop.at
        weight *= loop.extent
    affine = tuple(weights[name] for name in iterators), constant
    return Placement(tuple(iterators), tuple(loops), affine, None, weight, changes)


def placements(
    own: Sequence[NestLoop],
    iterators: Sequence[str],
    pad_extents: Sequence[int],
    depth: int,
    largest: int,
    place: Placing | None = None,
    in_order: bool = False,
) -> list[Placement]:
    """Return every order of the loops `own`, padded with up to `depth - len(own)` pad loops.

    Parameters
    ----------
    pad_extents: the trip counts that a pad loop may have.
    largest: placements with more iterations are left out, the unpadded ones excepted.
    place: how loops in any order are placed where the statement's domain is no box.
    in_order: keep the loops in the order in which they are given.
    """
    found = list(_orders(own, (), iterators, place, in_order))
    least = min(placed.count for placed in found)
    for pads in range(1, max(0, depth - len(own)) + 1):
        # Pads are boxes: they multiply the iterations of whatever is inside and around them.
        for padding in _paddings(pads, pad_extents, largest // least):
            found += [
                placed
                for placed in _orders(own, padding, iterators, place, in_order)
                if placed.count <= largest
            ]
            if len(found) > MAX_CANDIDATES:
                return _distinct(found[:MAX_CANDIDATES])
    return _distinct(found)


def padded_once(found: Sequence[Placement], extents: Sequence[int]) -> list[Placement]:
    """Return boxes as they are, and with one pad loop at any depth.

    The instance stands in the last trip: what is before it is saved by starting earlier. Only a
    pad loop outside of all others has no use.
    """
    padded = []
    for placed in found:
        for extent in extents:
            pad = NestLoop(None, extent, extent - 1)
            for place in range(1, len(placed.loops) + 1):
                loops = (*placed.loops[:place], pad, *placed.loops[place:])
                padded.append(box_placement(loops, placed.iterators, placed.changes + 3))
    return _distinct([*found, *padded])


def _distinct(found: Sequence[Placement]) -> list[Placement]:
    """Leave out every nest that another one replaces; those in closed form are left in.

    Two nests with the same distances between all instances differ in how many iterations come
    before the first instance and after it. One with no more of either, started later, does all that
    the other does.
    """
    rivals: dict[object, list[Placement]] = {}
    kept: set[int] = set()
    for placed in sorted(found, key=lambda p: p.changes):
        if placed.closed is None:
            same = rivals.setdefault(_distances(placed), [])
            if any(_replaces(other, placed) for other in same):
                continue
            same.append(placed)
        kept.add(id(placed))
    return [placed for placed in found if id(placed) in kept]


def _distances(placed: Placement) -> object:
    """Return what two nests of one statement have in common if all instances are as far apart."""
    if placed.table is not None:
        # Of large tables a search keeps thousands: their digests stand for them.
        ranks = placed.table.ranks
        apart = np.where(ranks < 0, ranks, ranks - _first(placed))
        return sha256(apart.tobytes()).digest()
    weight, found = 1, []
    for loop in reversed(placed.loops):
        if loop.iterator is not None and loop.extent > 1:
            found.append((loop.iterator, weight))
        weight *= loop.extent
    return frozenset(found)


def _replaces(a: Placement, b: Placement) -> bool:
    """Tell whether `a` has no more iterations than `b` before its first instance, and after it."""
    before_a, before_b = _first(a), _first(b)
    return before_a <= before_b and a.count - before_a <= b.count - before_b


def _first(placed: Placement) -> int:
    """Return the rank of the first instance of a nest that is a box or has a table."""
    if placed.table is not None:
        return placed.table.first
    weight, rank = 1, 0
    for loop in reversed(placed.loops):
        rank += weight * loop.at if loop.iterator is None else 0
        weight *= loop.extent
    return rank


def _paddings(count: int, extents: Sequence[int], most: int) -> Iterator[tuple[NestLoop, ...]]:
    """Yield every choice of `count` pad loops with at most so many iterations together.

    The instance stands in the first or the last trip of each. Loops in another order are the same
    choice.
    """
    useful = sorted({extent for extent in extents if extent > 1})
    for sizes in combinations_with_replacement(useful, count):
        if prod(sizes) > most:
            continue
        alike = [len(list(same)) for _, same in groupby(sizes)]
        for ends in product(*(combinations_with_replacement((0, 1), same) for same in alike)):
            yield tuple(
                NestLoop(None, size, (size - 1) * end)
                for size, end in zip(sizes, chain(*ends), strict=True)
            )


def _orders(
    own: Sequence[NestLoop],
    padding: Sequence[NestLoop],
    iterators: Sequence[str],
    place: Placing | None,
    in_order: bool,
) -> Iterator[Placement]:
    items = [*own, *padding]
    for order in islice(_arrangements(own, padding, in_order), MAX_ORDERS):
        keep_going()
        loops = tuple([items[k] for k in order])
        kept = [k for k in order if k < len(own)]
        swaps = sum(a > b for n, a in enumerate(kept) for b in kept[n + 1 :])
        changes = 2 * swaps + 3 * len(padding)
        exact = None if place is None else place(loops, changes)
        yield exact or box_placement(loops, iterators, changes)


def _arrangements(
    own: Sequence[NestLoop], padding: Sequence[NestLoop], in_order: bool
) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the loops of `own` and of the pads that are numbered after them.

    A loop with one iteration is the same at every depth: it stays behind the one before it.
    """
    moving = [k for k, loop in enumerate(own) if loop.extent > 1]
    pads = [len(own) + padding.index(pad) for pad in padding]
    for order in _permuted(moving, pads, in_order):
        whole = list(order)
        for k in range(len(own)):
            if own[k].extent == 1:
                whole.insert(whole.index(k - 1) + 1 if k else 0, k)
        yield tuple(whole)


def _permuted(own: Sequence[int], pads: Sequence[int], in_order: bool) -> Iterator[tuple[int, ...]]:
    """Yield the orders of some loops and pads, those of the loops among themselves perhaps kept.

    Parameters
    ----------
    pads: those that are alike have the same number.
    """
    if not in_order:
        yield from _distinct_orders((*own, *pads))
        return
    count = len(own) + len(pads)
    for places in combinations(range(count), len(own)):
        for padding in _distinct_orders(pads):
            loops, between = iter(own), iter(padding)
            yield tuple(next(loops) if n in places else next(between) for n in range(count))


def _distinct_orders(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the orders of some items, each once where some of them are alike."""
    if not items:
        yield ()
    for first in dict.fromkeys(items):
        k = items.index(first)
        for rest in _distinct_orders((*items[:k], *items[k + 1 :])):
            yield first, *rest


Ranking: TypeAlias = Literal["free", "listed"]
"""How iterations of nests that are no boxes are ranked: in closed form where there are many, or by
listing them. Where they are too many for that, their nests become boxes."""


def ragged_statements(
    sets: ScopSets, units: Sequence[Unit], ranking: Ranking = "free"
) -> frozenset[str]:
    """Return the statements whose instances do not fill their bounding box.

    All statements of a unit count where any of them does.
    """
    found = _not_boxes(sets, units)
    if found and not is_listable(sets, ranking) and ranking != "free":
        note_limit(
            f"{', '.join(sorted(found))} run in boxes around their loops: the program has more "
            f"than {MAX_INSTANCES:,} instances, and their distances have no closed form"
        )
        return frozenset()
    return found


def _not_boxes(sets: ScopSets, units: Sequence[Unit]) -> frozenset[str]:
    scop = sets.scop
    counts = {name: count_points(d) for name, d in sets.domains.items()}
    boxes = {name: prod(loop.extent for loop in scop.schedule.loops(name)) for name in sets.domains}
    return frozenset(
        name
        for unit in units
        if any(counts[other] != boxes[other] for other in unit.statements)
        for name in unit.statements
    )


def is_listable(sets: ScopSets, ranking: Ranking = "free") -> bool:
    """Tell whether all instances of a program are to be listed.

    They are where they are few, or few of each statement: for all others there are closed forms,
    which cost the same for each statement however few instances it has.
    """
    counts = {name: count_points(d) for name, d in sets.domains.items()}
    size = enumerated_size(sets.scop, counts)
    many = max(MANY_INSTANCES, MANY_OF_EACH * len(counts)) if ranking == "free" else MAX_INSTANCES
    return size <= min(many, MAX_INSTANCES)


def beside_ragged(
    sets: ScopSets, dependences: Sequence[Dependence], ragged: frozenset[str]
) -> frozenset[str]:
    """Return the statements that may be sunk into the nest of a ragged one: it is deeper."""
    depths = {statement.name: len(statement.loops) for statement in sets.scop.statements}
    pairs = [(d.source, d.sink) for d in dependences]
    return frozenset(
        name
        for a, b in pairs
        for name, other in ((a, b), (b, a))
        if other in ragged and name not in ragged and depths[name] < depths[other]
    )


def ragged_loops(
    domain: isl.Set, iterators: Sequence[str], order: Sequence[NestLoop]
) -> tuple[NestLoop, ...]:
    """Return `order` with the bounds that the domain gives each loop: see `RaggedBounds`."""
    return RaggedBounds(domain, iterators).loops(order)


class RaggedBounds:
    """The bounds that a domain gives the loops over it, in whatever order they stand.

    Those of a loop depend on which loops are around it, not on their order: each is asked for once.
    """

    def __init__(self, domain: isl.Set, iterators: Sequence[str]) -> None:
        self._context = domain.get_ctx()
        self._iterators = iterators
        self._hull = isl.Set.from_basic_set(domain.coalesce().simple_hull())
        self._known: dict[tuple[NestLoop, frozenset[str]], NestLoop] = {}

    def loops(self, order: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
        """Return `order` with the bounds that the domain gives each loop.

        Parameters
        ----------
        order: loops over the bounding box, pads included, outermost first.
        """
        outer: set[str] = set()
        loops: list[NestLoop] = []
        for loop in order:
            if loop.iterator is None:
                loops.append(loop)
                continue
            outer.add(loop.iterator)
            key = loop, frozenset(outer)
            if key not in self._known:
                self._known[key] = self._bounded(loop, outer)
            loops.append(self._known[key])
        return tuple(loops)

    def _bounded(self, loop: NestLoop, outer: Collection[str]) -> NestLoop:
        keep_going(self._context)
        shadow = self._hull
        for place in reversed(range(len(self._iterators))):
            if self._iterators[place] not in outer:
                shadow = shadow.project_out(isl.dim_type.set, place, 1)
        return _bounded(shadow, [name for name in self._iterators if name in outer], loop)


def _bounded(shadow: isl.Set, names: Sequence[str], loop: NestLoop) -> NestLoop:
    assert loop.iterator is not None
    position = names.index(loop.iterator)
    context = shadow.get_ctx()
    first, last = isl.Val(loop.at, context), isl.Val(loop.at + loop.extent - 1, context)
    hull = shadow.coalesce().simple_hull().remove_divs()
    hull = hull.lower_bound_val(isl.dim_type.set, position, first)
    hull = hull.upper_bound_val(isl.dim_type.set, position, last)
    lowers: list[Bound] = []
    uppers: list[Bound] = []
    for constraint in for_each(hull.remove_redundancies().foreach_constraint):
        coefficients = coefficients_of(constraint)
        own = coefficients[position]
        rest = Affine.of(
            {n: c for n, c in zip(names, coefficients, strict=True) if n != loop.iterator},
            integer(constraint.get_constant_val()),
        )
        # own * iterator + rest >= 0, and with equality the same for the negated form.
        for sign in (1, -1) if constraint.is_equality() else (1,):
            if own * sign > 0:
                lowers.append(Bound(rest * -sign, own * sign))
            elif own * sign < 0:
                uppers.append(Bound(rest * sign, -own * sign))
    return replace(loop, lowers=_varying(lowers), uppers=_varying(uppers))


def _varying(bounds: Sequence[Bound]) -> tuple[Bound, ...]:
    """Return the bounds, or () where they are the end of the box whatever the outer loops are."""
    return () if all(bound.is_constant for bound in bounds) else tuple(bounds)


class Instances:
    """Answers for all statements of a normalised program, each prepared when it is first asked."""

    def __init__(self, sets: ScopSets) -> None:
        self._sets = sets
        self._counts: dict[str, int] = {}
        self._points: dict[str, Ints] = {}
        self._extrema: dict[str, PairExtrema] = {}

    def count(self, name: str) -> int:
        """Return how many instances a statement has."""
        if name not in self._counts:
            self._counts[name] = count_points(self._sets.domains[name])
        return self._counts[name]

    def points(self, name: str) -> Ints:
        """Return the (n, iterators) instances of a statement."""
        statement = self._sets.scop.statement(name)
        # The lanes of a loop have the same instances, and there may be millions.
        domain = domain_text(statement)
        if domain not in self._points:
            self._points[domain] = statement_points(self._sets.scop, statement)
        return self._points[domain]

    def last_rank(self, name: str, placed: Placement) -> int:
        """Return the rank of the last instance in a nest: what follows is padding."""
        if placed.closed is not None:
            return extrema(placed.closed.function, self._sets.domains[name])[1]
        if placed.rank is None:
            return int(placed.ranks(self.points(name)).max())
        coefficients, constant = placed.rank
        return self._extrema_of(name).maximum(coefficients, constant)

    def _extrema_of(self, name: str) -> PairExtrema:
        if name not in self._extrema:
            self._extrema[name] = set_extrema(self._sets.domains[name])
        return self._extrema[name]
