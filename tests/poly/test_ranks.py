"""Ranks by enumeration, against loops in Python."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from rtlgen.ir import effort
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


def test_the_table_of_a_nest_that_fills_little_of_its_box_has_its_iterations_alone() -> None:
    names = [f"i{n}" for n in range(5)]
    outer = [NestLoop(names[0], 6)]
    inner = [
        NestLoop(name, 6, uppers=(Bound(Affine.variable(before)),))
        for before, name in pairwise(names)
    ]
    table = rank_table((*outer, *inner), names)
    assert table is not None
    points = [p for p in product(range(6), repeat=5) if all(b <= a for a, b in pairwise(p))]
    assert len(table.ranks) == len(points) < 6**5 / 16
    assert table.of(np.array(points)).tolist() == list(range(len(points)))
    assert table.covers(np.array(points))
    outside = np.array([[0, 1, 0, 0, 0], [5, 5, 5, 5, 5], [4, 5, 5, 5, 5]])
    assert table.of(outside).tolist() == [-1, len(points) - 1, -1]


def test_a_table_without_an_iteration_covers_nothing() -> None:
    pad = NestLoop(None, 7, pad="p", pinned=(form(0, 9),), uppers=(Bound(form(1)),))
    table = rank_table((OUTER, pad), ("i",))
    assert table is not None
    assert table.of(np.array([[0], [6]])).tolist() == [-1, -1]
    assert not table.covers(np.array([[3]]))


def test_what_tables_hold_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_WORK", 10 * effort.STEP_WORK)
    with effort.limited_effort(), pytest.raises(effort.TooComplex):
        rank_table((NestLoop("i", 9 * effort.STEP_WORK),), ("i",))
