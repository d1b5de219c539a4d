"""Orders and pads of a statement's loops: those that differ, and no work for others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import islpy as isl
import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.nests import candidates
from rtlgen.nests.candidates import Placement, RaggedBounds, placement, placements, ragged_loops
from tests.poly.sources import analysed


class Asked:
    """A way to place loops that gives none bounds, and remembers the orders that were asked for."""

    def __init__(self) -> None:
        self.orders: list[list[str | int]] = []

    def __call__(self, order: Sequence[NestLoop], changes: int) -> None:
        self.orders.append([loop.iterator or loop.extent for loop in order])


def loops(**extents: int) -> list[NestLoop]:
    return [NestLoop(name, extent) for name, extent in extents.items()]


def test_a_loop_with_one_iteration_stays_behind_the_one_before_it() -> None:
    asked = Asked()
    found = placements(loops(i=4, j=1, k=3), ("i", "j", "k"), (), 0, 0, asked)
    assert asked.orders == [["i", "j", "k"], ["k", "i", "j"]]
    assert len(found) == 2


def test_pads_that_make_a_nest_too_long_are_not_looked_at() -> None:
    asked = Asked()
    found = placements(loops(i=4, k=3), ("i", "k"), (2, 5), 3, 24, asked)
    assert len(asked.orders) == 2 + 2 * 6, "the orders of both loops, and with a pad of 2"
    assert all(5 not in order for order in asked.orders)
    assert {placed.count for placed in found} == {12, 24}


def test_pads_that_are_alike_are_looked_at_in_one_order() -> None:
    asked = Asked()
    placements(loops(i=4), ("i",), (2,), 4, 32, asked)
    assert len(asked.orders) == 1 + 2 * 2 + (3 + 6 + 3) + (4 + 12 + 12 + 4), "words of its pads"


def test_the_bounds_of_a_loop_are_asked_for_once_for_all_orders_around_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysis = analysed(
        "void f(int a[9][9][9]) { for (int i = 0; i < 9; i++) for (int j = 0; j <= i; j++)"
        " for (int k = j; k < 9; k++) a[i][j][k] = 1; }"
    )
    (statement,) = analysis.scop.statements
    domain, boxes = analysis.sets.domains["S0"], analysis.scop.schedule.loops("S0")
    expected = [ragged_loops(domain, statement.iterators, order) for order in permutations(boxes)]
    calls: list[str] = []
    exact = candidates._bounded

    def counted(shadow: isl.Set, names: Sequence[str], loop: NestLoop) -> NestLoop:
        calls.append(f"{loop.iterator} in {names}")
        return exact(shadow, names, loop)

    monkeypatch.setattr(candidates, "_bounded", counted)
    bounds = RaggedBounds(domain, statement.iterators)
    assert [bounds.loops(order) for order in permutations(boxes)] == expected
    assert len(calls) == len(set(calls)) == 3 * 2**2


def test_nests_with_the_same_distances_are_one_candidate() -> None:
    """A pad around all loops only adds empty iterations: starting later does the same."""
    analysis = analysed(
        "void f(int a[9][9]) { for (int i = 0; i < 9; i++) for (int j = 0; j <= i; j++)"
        " a[i][j] = 1; }"
    )
    (statement,) = analysis.scop.statements
    bounds = RaggedBounds(analysis.sets.domains["S0"], statement.iterators)

    def place(order: Sequence[NestLoop], changes: int) -> Placement | None:
        return placement(bounds.loops(order), statement.iterators, changes)

    own, points = analysis.scop.schedule.loops("S0"), np.argwhere(np.tri(9, dtype=bool))
    found = placements(own, statement.iterators, (2, 2), 3, 200, place)
    seen = [placed.ranks(points) for placed in found]
    apart = {(ranks - ranks.min()).tobytes() for ranks in seen}
    assert len(apart) == 2 * 4, "both orders: without a pad, in its first or last trip, innermost"
    assert len(found) == 2 * 5, "an innermost pad comes before its instance or after it"
    assert min(placed.count for placed in found) == 45


def test_a_nest_without_an_instance_can_be_compared_with_others() -> None:
    never = NestLoop(None, 7, pad="p", pinned=(Affine((), 9),), uppers=(Bound(Affine((), 1)),))

    def place(order: Sequence[NestLoop], changes: int) -> Placement | None:
        return placement((*order, never), ("i",), changes)

    (found,) = placements(loops(i=7), ("i",), (), 0, 0, place)
    assert found.ranks(np.array([[0], [6]])).tolist() == [-1, -1]
