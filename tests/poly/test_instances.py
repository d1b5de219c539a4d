"""Points of sets are listed exactly: those that isl visits, each once."""

from __future__ import annotations

import islpy as isl
import pytest

from rtlgen.ir.sets import for_each, point_values
from rtlgen.poly.closed_extrema import REACH, corner_pairs
from rtlgen.poly.instances import listed_points

SETS = [
    "{ [i, j] : 0 <= i < 7 and i <= j < 9 }",
    "{ [i, j] : 0 <= i < 7 and 0 <= 2j <= i }",
    "{ [i, j] : 0 <= 3i + 2j <= 11 and -2 <= i - j <= 5 }",
    "{ [i, j, k] : 0 <= i < 5 and j = i + 2 and 0 <= k <= j - i }",
    "{ [i, j] : 0 <= i < 9 and i mod 3 = 1 and 0 <= j < 2 }",
    "{ [i] : 0 <= i < 4 or 2 <= i < 9 }",
    "{ [i, j] : 2i = 3j and 0 <= i <= 12 }",
    "{ [i, j] : 1 <= 2i <= 1 and 0 <= j < 3 }",
    "{ [] : }",
    "{ [i] : false }",
]


@pytest.mark.parametrize("text", SETS)
def test_every_point_is_listed_once(text: str) -> None:
    points = isl.Set(text)
    expected = sorted(point_values(point) for point in for_each(points.foreach_point))
    found = listed_points(points)
    assert found.shape == (len(expected), points.dim(isl.dim_type.set))
    assert sorted(map(tuple, found.tolist())) == expected


def test_samples_are_the_pairs_near_the_corners() -> None:
    relation = isl.Map("{ [i] -> [j] : 0 <= i < 100 and i < j <= 100 }")
    pairs = corner_pairs(relation)
    found = set(zip(pairs.sources[:, 0].tolist(), pairs.sinks[:, 0].tolist(), strict=True))
    corners = [(0, 1), (0, 100), (99, 100)]
    assert set(corners) <= found
    assert all(0 <= i < j <= 100 for i, j in found)
    assert all(any(abs(i - a) <= REACH >= abs(j - b) for a, b in corners) for i, j in found)
    assert len(found) > len(corners)
