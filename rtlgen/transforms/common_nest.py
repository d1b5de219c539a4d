"""Issue times for statements that share one nest of any shape, padded where they must wait.

All statements of the group run through the same iterations, each with a shift of its own. Where
a dependence would come too early in some iteration of an outer loop, because the loops inside of
it have become short, those loops are made to run for a minimal number of iterations.

Rewrite
-------
    for k<32 for j>=k for i>k: S   ->   for k<32 for j>=k, at least 6, for i>k, at least 8: S
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.poly.ranks import rank_table
from rtlgen.transforms.candidates import Placement
from rtlgen.transforms.nest_pairs import NestPairs
from rtlgen.transforms.overlapping import overlapping
from rtlgen.transforms.padding import Effort, PaddingSearch, least_end
from rtlgen.transforms.period import LAST_ISSUE, Ending, Grouping, Member
from rtlgen.transforms.precedence import Precedence
from rtlgen.transforms.row_pads import UNBOUNDED, reaching
from rtlgen.transforms.sink import CommonNest
from rtlgen.transforms.store_slot import StoreSlot

NEST_EFFORT = 16_000_000
"""Iterations and dependent pairs that are looked at for one nest."""

MAX_EFFORT = 40_000_000
"""The same for all nests of a group: some ten seconds."""

EXCHANGED_EFFORT = 20_000_000
"""The same for nests with loops in an order of each statement's own."""


def best_common_nest(
    members: Sequence[Member],
    nests: Iterable[CommonNest],
    points: Mapping[str, Ints],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    stores: Mapping[str, StoreSlot],
    limit: int | None,
    most_effort: int = MAX_EFFORT,
    *,
    may_overlap: bool,
    ending: Ending = LAST_ISSUE,
    floor: int = 0,
) -> Grouping | None:
    """Return the grouping that ends first, before `limit` if given, or None.

    Parameters
    ----------
    nests: those that are tried, the likeliest first.
    points: the instances of every member.
    precedences: in the unit of time of the result's shifts.
    iteration_precedences: must be satisfiable too by the same placements, counting iterations.
    stores: by statement; empty where stores may meet.
    most_effort: iterations and dependent pairs that are looked at.
    may_overlap: whether iterations of an outer loop may share rows.
    ending: what ends first is best. floor: a time before which no grouping ends.
    """
    best: Grouping | None = None
    forward = True
    left = most_effort
    others = iter(nests)
    overlapped: CommonNest | None = None
    while (nest := overlapped or next(others, None)) is not None:
        overlapped = None
        if limit is not None and limit <= floor:
            break
        # Orders that run backward somewhere are for groups that have no other.
        if nest.backward and forward and best is not None:
            break
        forward = forward and not nest.backward
        effort = Effort(min(NEST_EFFORT, left))
        before = effort.left
        found = padded_nest(
            members,
            nest,
            points,
            precedences,
            iteration_precedences,
            stores,
            limit if limit is None else int(limit * nest.gain),
            effort,
            ending,
        )
        if found is not None:
            best = _in_own_names(members, nest, found)
            limit = ending.of(best)
            overlapped = overlapping(nest, found.loops) if may_overlap else None
        left -= before - effort.left
        if left <= 0:
            break
    return best


def padded_nest(
    members: Sequence[Member],
    nest: CommonNest,
    points: Mapping[str, Ints],
    precedences: Sequence[Precedence],
    iteration_precedences: Sequence[Precedence],
    stores: Mapping[str, StoreSlot],
    limit: int | None,
    effort: Effort,
    ending: Ending = LAST_ISSUE,
) -> Grouping | None:
    """Return the grouping with the smallest pads of one nest, over the common dimensions.

    Parameters
    ----------
    points, precedences, iteration_precedences, stores, limit, ending: see `best_common_nest`.
    """
    places = {m.name: nest.coordinates(m, points[m.name]) for m in members}
    loops = reaching(nest.loops, np.concatenate(list(places.values()))[:, nest.order])
    if loops is None:
        return None
    nest = replace(nest, loops=loops)
    in_order = {name: points[:, nest.order] for name, points in places.items()}
    if limit is not None and least_end(loops, in_order, ending) >= limit:
        return None
    search = PaddingSearch(
        nest,
        places,
        NestPairs.of(nest, members, precedences, _in_step(stores)),
        NestPairs.of(nest, members, iteration_precedences),
        stores,
        effort,
        replace(ending, last_rank=lambda name, placed: int(placed.ranks(places[name]).max())),
    )
    return search.best(UNBOUNDED if limit is None else limit)


def _in_step(stores: Mapping[str, StoreSlot]) -> dict[tuple[str, str], int]:
    """Return the distances at which statements store to an array in the same cycle."""
    return {
        (a, b): stores[a].stage - stores[b].stage
        for a, b in permutations(stores, 2)
        if stores[a].array == stores[b].array
    }


def _in_own_names(members: Sequence[Member], nest: CommonNest, common: Grouping) -> Grouping:
    """Return a group over the common dimensions in the statements' iterators."""
    placed = {}
    for member in members:
        shared = common.placements[member.name]
        loops = nest.loops_of(member.name, shared.loops)
        table = rank_table(loops, member.iterators)
        assert table is not None, "the nest has been enumerated before"
        placed[member.name] = Placement(
            member.iterators,
            loops,
            None,
            table,
            table.count,
            shared.changes,
            overlaps=nest.overlaps,
        )
    return replace(common, placements=placed)
