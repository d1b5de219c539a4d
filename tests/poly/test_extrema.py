"""Extrema over dependences are those of the enumerated pairs."""

from __future__ import annotations

import random
from unittest.mock import Mock

import numpy as np
import pytest

from rtlgen.ir.sets import ScopSets
from rtlgen.poly import extrema
from rtlgen.poly.counting import product_factors
from rtlgen.poly.extrema import set_extrema
from tests.poly.sources import SMALL, analysed, pairs_of


@pytest.mark.parametrize("name", SMALL)
def test_extrema_of_random_functions_are_those_of_the_pairs(name: str) -> None:
    draw = random.Random(name)
    for dependence in analysed(SMALL[name]).dependences:
        rows = [(*p, *q) for p, q in pairs_of(dependence.relation)]
        extrema = set_extrema(dependence.relation.wrap().flatten())
        for _ in range(5):
            c = [draw.randint(-20, 20) for _ in rows[0]]
            constant = draw.randint(-9, 9)
            values = [constant + sum(a * b for a, b in zip(c, row, strict=True)) for row in rows]
            assert extrema.maximum(c, constant) == max(values)
            assert extrema.minimum(c, constant) == min(values)


@pytest.mark.parametrize(
    "relation",
    [
        "{ s0[i] -> s0[j] : 0 <= i <= 7 and 2 * j = i }",
        "{ s0[i] -> s0[j] : 0 <= i and 0 <= j and 2 * i + 3 * j <= 10 }",
        "{ s0[i] -> s0[j] : exists e : i = 3 * e and 1 <= i <= 8 and 0 <= j < i }",
        "{ s0[i] -> s0[j] : (0 <= i <= 3 and j = i) or (i = 9 and 2 <= j <= 4) }",
        "{ s0[i] -> s0[j] : 0 <= i, j <= 9 and (i + 2j) mod 5 = 3 }",
    ],
    ids=["stride", "fractional-vertex", "existential", "union", "modulus"],
)
def test_pieces_without_integer_vertices_are_exact_too(relation: str) -> None:
    sets: ScopSets = analysed(SMALL["skewed"]).sets
    pairs = pairs_of(sets.read_map(relation))
    extrema = set_extrema(sets.read_map(relation).wrap().flatten())
    for c, d in ((1, 1), (-2, 1), (3, -1), (0, 1), (5, 7)):
        values = [c * p[0] + d * q[0] + 4 for p, q in pairs]
        assert extrema.maximum([c, d], 4) == max(values)
        assert extrema.minimum([c, d], 4) == min(values)


def test_questions_about_fractional_vertices_are_no_integer_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two places of a sum of subscripts: its vertices are fractional, its points few."""
    sets: ScopSets = analysed(SMALL["skewed"]).sets
    within = " and ".join(f"0 <= {h}, {x} <= 9 and 0 <= {p} <= 1" for h, x, p in ("hxp", "ijq"))
    relation = f"{{ s0[h, x, p] -> s0[i, j, q] : {within} and 2p + 10h + x = 2q + 10i + j }}"
    extrema = set_extrema(sets.read_map(relation).wrap().flatten())
    assert not extrema.others
    pairs = pairs_of(sets.read_map(relation))
    assert len(extrema.vertices) * 4 < len(pairs)
    rows = np.array([(*p, *q) for p, q in pairs])
    draw = np.random.default_rng(1)
    for c in draw.integers(-9, 9, (200, 6)).tolist():
        assert extrema.maximum(c, 0) == (rows @ c).max()


def test_where_vertices_take_long_points_are_exact_too(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Mock(side_effect=extrema._listed_corners)
    monkeypatch.setattr(extrema, "_listed_corners", listed)
    monkeypatch.setattr(extrema, "VERTEX_OPERATIONS", 1)
    sets: ScopSets = analysed(SMALL["skewed"]).sets
    found = set_extrema(
        sets.read_map("{ s0[i] -> s0[j] : 0 <= i <= 9 and i <= j <= 2 * i }").wrap().flatten()
    )
    assert listed.call_count == 1 and not found.others
    assert (found.maximum([-3, 2], 1), found.minimum([-3, 2], 1)) == (10, -8)


def test_pieces_with_many_points_are_left_to_isl() -> None:
    sets: ScopSets = analysed(SMALL["skewed"]).sets
    extrema = set_extrema(
        sets.read_map("{ s0[i] -> s0[j] : 0 <= i < 999 and 0 <= 2j <= i + 1 }").wrap().flatten()
    )
    assert not len(extrema.vertices) and len(extrema.others) == 1
    assert extrema.maximum([1, 2], 3) == 998 + 2 * 499 + 3


def test_a_product_falls_into_its_factors() -> None:
    points = np.array(
        [(i, j, i + 5, k) for i in (0, 7) for j, k in ((0, 0), (0, 3), (2, 3))], dtype=np.int64
    )
    factors = product_factors(points)
    assert [dims for dims, _ in factors] == [[0, 2], [1, 3]]
    assert [len(own) for _, own in factors] == [2, 3]


def test_what_only_three_dimensions_show_is_no_product() -> None:
    points = np.array([(a, b, a ^ b) for a in (0, 1) for b in (0, 1)], dtype=np.int64)
    assert [dims for dims, _ in product_factors(points)] == [[0, 1, 2]]
