"""The loop orders and pads that a statement may be given in a fused loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, combinations, combinations_with_replacement, groupby, islice, product
from math import prod

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.poly.closed_ranks import ClosedRanks, affine_function, closed_ranks
from rtlgen.poly.ranks import RankTable, rank_table

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
    overlaps: whether iterations of an outer loop share rows, as in `transforms.overlapping`.
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
