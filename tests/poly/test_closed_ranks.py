"""Closed forms agree with enumeration: ranks, extrema of distances and where they are taken."""

from __future__ import annotations

from itertools import permutations

import islpy as isl
import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.nests.candidates import ragged_loops
from rtlgen.poly.closed_extrema import Distance, flattened
from rtlgen.poly.closed_ranks import ClosedRanks, closed_ranks
from rtlgen.poly.ranks import rank_table

ITERATORS = ("i", "j", "k")
ORDERS = list(permutations(range(3)))
DOMAINS = [
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }",
    "{ s0[i, j, k] : 0 <= k < i and k < j and i < 7 and j < 7 }",
    "{ s0[i, j, k] : 2 <= i < 8 and i <= j <= i + 3 and 0 <= k <= 9 - i }",
    "{ s0[i, j, k] : 0 <= i < 6 and 0 <= j < 5 and i <= k <= i + j + 1 }",
]
RELATIONS = [
    "{ s0[i, j, k] -> s0[i, j, k + 1] }",
    "{ s0[i, j, k] -> s0[i + 1, j, k] }",
    "{ s0[i, j, k] -> s0[a, b, c] : a > i and b = j and c = k }",
    "{ s0[i, j, k] -> s0[a, b, c] : c = i and b = j and c > k }",
    "{ s0[i, j, k] -> s0[a, b, c] : b = i and a = j and c >= k }",
]


def listed(points: isl.Set) -> Ints:
    found: list[list[int]] = []
    width = points.dim(isl.dim_type.set)
    points.foreach_point(
        lambda p: found.append(
            [p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(width)]
        )
    )
    return np.array(sorted(found), dtype=np.int64).reshape(-1, width)


def loops_in(domain: isl.Set, order: tuple[int, ...]) -> tuple[NestLoop, ...]:
    boxes = []
    for place in order:
        low, high = (f(place).to_python() for f in (domain.dim_min_val, domain.dim_max_val))
        boxes.append(NestLoop(ITERATORS[place], high - low + 1, low))
    return ragged_loops(domain, ITERATORS, boxes)


def closed(domain: isl.Set, loops: tuple[NestLoop, ...]) -> ClosedRanks:
    found = closed_ranks(domain, ITERATORS, loops)
    assert found is not None
    return found


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", DOMAINS)
def test_ranks_are_those_of_the_enumerated_nest(text: str, order: tuple[int, ...]) -> None:
    domain = isl.Set(text)
    loops = loops_in(domain, order)
    table = rank_table(loops, ITERATORS)
    found = closed_ranks(domain, ITERATORS, loops)
    assert (found is None) == (table is None)
    if found is None or table is None:
        return
    points = listed(domain)
    assert found.count == table.count
    assert np.array_equal(found.of(points), table.of(points))


@pytest.mark.sample(
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order3",
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order5",
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order2",
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order0",
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order4",
    "{ s0[i, j, k] : 0 <= j <= i < 7 and 0 <= k < 6 }-order1",
)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", DOMAINS[:2])
def test_extrema_and_level_sets_are_those_of_the_listed_pairs(
    text: str, order: tuple[int, ...]
) -> None:
    domain = isl.Set(text)
    ranks = closed(domain, loops_in(domain, order))
    compared = 0
    for relation in map(isl.Map, RELATIONS):
        inside = relation.intersect_domain(domain).intersect_range(domain)
        if inside.is_empty():
            continue
        pairs = listed(flattened(inside))
        gaps = 2 * ranks.of(pairs[:, :3]) - 3 * ranks.of(pairs[:, 3:])
        distance = Distance.between(inside, ranks.function, ranks.function, 2, 3)
        assert distance.extrema() == (gaps.min(), gaps.max())
        for value in (int(gaps.max()), int(gaps.max()) - 1):
            assert np.array_equal(listed(distance.at(value)), pairs[gaps == value])
            compared += 1
    assert compared


def test_a_distance_of_0_is_a_value_too() -> None:
    domain = isl.Set("{ s0[i, j, k] : 0 <= i < 4 and j = 0 and k = 0 }")
    ranks = closed(domain, loops_in(domain, (0, 1, 2)))
    same = isl.Map("{ s0[i, j, k] -> s0[i, j, k] }").intersect_domain(domain)
    distance = Distance.between(same, ranks.function, ranks.function, 1, 1)
    assert distance.extrema() == (0, 0)
    assert distance.at(0).count_val().to_python() == 4
    assert distance.at(1).is_empty()


def test_rows_of_a_least_length_are_counted() -> None:
    i = Affine.variable("i")
    loops = (NestLoop("i", 6), NestLoop("j", 9, 0, (), (Bound(i),), 4))
    domain = isl.Set("{ s0[i, j] : 0 <= j <= i < 6 }")
    table = rank_table(loops, ("i", "j"))
    found = closed_ranks(domain, ("i", "j"), loops)
    assert found is not None and table is not None
    assert found.count == table.count == 4 * 4 + 5 + 6
    assert np.array_equal(found.of(listed(domain)), table.of(listed(domain)))


def test_an_instance_is_in_the_iteration_of_its_pad_loop() -> None:
    i = Affine.variable("i")
    bounds = (Bound(i),)
    loops = (NestLoop("i", 6), NestLoop(None, 6, 0, (), bounds, pad="p", pinned=(i,)))
    domain = isl.Set("{ s0[i] : 0 <= i < 6 }")
    found = closed_ranks(domain, ("i",), loops)
    assert found is not None
    assert found.of(listed(domain)).tolist() == [0, 2, 5, 9, 14, 20]
    assert found.count == 21


@pytest.mark.parametrize(
    "loops",
    [
        # The inner loop is empty where i is 0; j = i + 1 has no iteration; a bound is a quotient.
        (NestLoop("i", 6), NestLoop("j", 6, 0, (), (Bound(Affine.variable("i") - 1),))),
        (NestLoop("i", 6), NestLoop("j", 6, 0, (), (Bound(Affine.variable("i")),))),
        (NestLoop("i", 6), NestLoop("j", 6, 0, (), (Bound(Affine.variable("i"), 2),))),
    ],
)
def test_what_has_no_closed_form_is_said(loops: tuple[NestLoop, ...]) -> None:
    domain = isl.Set("{ s0[i, j] : 0 <= i < 5 and 0 <= j <= i + 1 }")
    assert closed_ranks(domain, ("i", "j"), loops) is None


def test_a_large_nest_costs_no_more_than_a_small_one() -> None:
    size = 1 << 20
    domain = isl.Set(f"{{ s0[i, j, k] : 0 <= k < i and k < j and i < {size} and j < {size} }}")
    ranks = closed(domain, loops_in(domain, (2, 0, 1)))
    step = isl.Map("{ s0[i, j, k] -> s0[i, j, k + 1] }")
    inside = step.intersect_domain(domain).intersect_range(domain)
    distance = Distance.between(inside, ranks.function, ranks.function, 1, 1)
    # From (k, i, j) to (k + 1, i, j): the last step is the shortest one.
    assert distance.extrema()[1] == -1
