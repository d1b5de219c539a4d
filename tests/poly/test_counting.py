"""Points are counted as isl counts them one by one, at any size."""

from __future__ import annotations

from fractions import Fraction

import islpy as isl
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.poly.counting import count_points
from rtlgen.poly.polynomial import Polynomial, sum_over

N = 7

SETS = [
    f"{{ [i, j, k] : 0 <= j <= i < {N} and 0 <= k < {N} }}",
    f"{{ [i, j, k] : 0 <= j <= i < {N} and i <= k < {N} and k <= j + 5 }}",
    f"{{ [i, j, k] : 0 <= j <= i < {N} and i + j = k }}",
    f"{{ [i, j, k] : 0 <= j <= 2i < {N} and i + j = k }}",
    f"{{ [i, j] : 0 <= 3j <= 2i < {N} }}",
    f"{{ [i] : 0 <= i < {N} and i mod 3 = 1 }}",
    f"{{ [i, j] : 0 <= i < {N} and (j = i or j = 3) }}",
    "{ [] }",
    "{ [i] : 1 = 0 }",
    "{ [i, j] : 0 <= i < 5 and i <= j < 3 }",
]


@pytest.mark.parametrize("text", SETS)
def test_points_are_counted(text: str) -> None:
    points = isl.Set(text)
    assert count_points(points) == points.count_val().to_python()


def test_the_count_of_a_large_triangle_takes_no_time() -> None:
    large = 1 << 20
    points = isl.Set(f"{{ [i, j, k] : 0 <= j <= i < {large} and 0 <= k < {large} }}")
    assert count_points(points) == large * large * (large + 1) // 2


@pytest.mark.parametrize("exponent", range(6))
@pytest.mark.parametrize(("first", "last"), [(0, 5), (-4, 3), (2, 2), (3, 2)])
def test_powers_are_summed(exponent: int, first: int, last: int) -> None:
    power = Polynomial.of(Affine.variable("x")).power(exponent)
    total = sum_over(power, "x", Affine.variable("a"), Affine.variable("b"))
    expected = sum(x**exponent for x in range(first, last + 1))
    assert total.evaluate({"a": first, "b": last}) == Fraction(expected)
