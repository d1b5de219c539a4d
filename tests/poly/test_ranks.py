"""Ranks by enumeration, against loops in Python."""

from __future__ import annotations

import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.ranks import enumerate_nest, rank_table

OUTER = NestLoop("i", 7)


def form(coefficient: int, constant: int = 0) -> Affine:
    return Affine.of({"i": coefficient}, constant)


def test_a_loop_runs_from_its_largest_lower_bound_to_its_smallest_upper_bound() -> None:
    inner = NestLoop("j", 10, lowers=(Bound(form(0)), Bound(form(1, -3))), uppers=(
        Bound(form(2, 1)), Bound(form(0, 9)),
    ))  # fmt: skip
    found = enumerate_nest((OUTER, inner))
    assert found is not None
    expected = [(i, j) for i in range(7) for j in range(max(0, i - 3), min(2 * i + 1, 9) + 1)]
    assert found[0].tolist() == list(map(list, expected))


def test_a_bound_with_a_divisor_rounds_inwards() -> None:
    inner = NestLoop("j", 14, -2, lowers=(Bound(form(2, -5), 3),), uppers=(Bound(form(3, 4), 2),))
    found = enumerate_nest((OUTER, inner))
    assert found is not None
    pairs = [(i, j) for i in range(7) for j in range(-2, 12)]
    expected = [(i, j) for i, j in pairs if 3 * j >= 2 * i - 5 and 2 * j <= 3 * i + 4]
    assert found[0].tolist() == list(map(list, expected))
    table = rank_table((OUTER, inner), ("i", "j"))
    assert table is not None
    assert table.of(np.array(expected)).tolist() == list(range(len(expected)))


def test_a_loop_that_is_empty_for_some_outer_value_is_not_enumerated() -> None:
    inner = NestLoop("j", 7, uppers=(Bound(form(2, -5), 3),))
    assert enumerate_nest((OUTER, inner)) is None


def test_a_loop_runs_at_least_as_long_as_it_must() -> None:
    inner = NestLoop("j", 10, uppers=(Bound(form(1, -2)),), at_least=3)
    found = enumerate_nest((OUTER, inner))
    assert found is not None
    expected = [[i, j] for i in range(7) for j in range(max(3, i - 1))]
    assert found[0].tolist() == expected


def test_a_pinned_pad_is_real_in_one_iteration_and_bounds_the_loops_inside() -> None:
    pad = NestLoop(None, 7, pad="p", pinned=(form(1, -1),), uppers=(Bound(form(1)),))
    inner = NestLoop("j", 7, uppers=(Bound(Affine.variable("p")),))
    found = enumerate_nest((OUTER, pad, inner))
    assert found is not None
    rows = [[i, p, j] for i in range(7) for p in range(i + 1) for j in range(p + 1)]
    assert found[0].tolist() == rows
    assert found[1].tolist() == [int(p == i - 1) for i, p, _ in rows]
    table = rank_table((OUTER, pad, inner), ("i", "j"))
    assert table is not None
    assert table.of(np.array([[3, 2]])).tolist() == [rows.index([3, 2, 2])]
    assert not table.covers(np.array([[0, 0]]))
