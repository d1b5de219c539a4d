"""How many dimensions the pieces of a relation tie together.

Points are counted as isl counts them one by one, at any size.
"""

from __future__ import annotations

from fractions import Fraction

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.counting import count_by_rows, count_points, widest_factor
from rtlgen.poly.dependences import dataflow
from rtlgen.poly.polynomial import Polynomial, sum_over
from rtlgen.transforms.normalise import normalise


@pytest.mark.parametrize(
    ("text", "widest"),
    [
        ("{ [i, j, k] : 0 <= i < 4 and j = k and 0 <= j < 3 }", 2),
        ("{ [i, j] : 0 <= i < 4 and 0 <= j < 5 }", 1),
        # A division ties what it is of.
        ("{ [i, j, k] : 0 <= i, j, k < 4 and (i + j) % 3 = 0 }", 2),
        ("{ [] : }", 0),
    ],
)
def test_constraints_tie_dimensions_together(text: str, widest: int) -> None:
    (piece,) = isl.Set(text).get_basic_sets()
    assert widest_factor(piece) == widest


def flows_of(text: str) -> list[int]:
    """Return the widest factor of each flow of a program."""
    flows = dataflow(ScopSets(normalise(parse_text(text).scop))).flows
    return [
        max(widest_factor(piece) for piece in flow.relation.wrap().get_basic_sets())
        for flow in flows
    ]


def test_flows_are_joined_where_they_stay_as_simple() -> None:
    loops = "".join(f"for (int {i} = 0; {i} < 2; {i}++) " for i in "abcde")
    deep = f"int f(const int x[1]) {{ int s = 0; {loops} s += x[0]; return s; }}"
    assert max(flows_of(deep)) <= 2


N = 7

SETS = [
    f"{{ [i, j, k] : 0 <= j <= i < {N} and 0 <= k < {N} }}",
    f"{{ [i, j, k] : 0 <= j <= i < {N} and i <= k < {N} and k <= j + 5 }}",
    f"{{ [i, j, k] : 0 <= j <= i < {N} and i + j = k }}",
    f"{{ [i, j, k] : 0 <= j <= 2i < {N} and i + j = k }}",
    f"{{ [i, j] : 0 <= 3j <= 2i < {N} }}",
    f"{{ [i] : 0 <= i < {N} and i mod 3 = 1 }}",
    f"{{ [i, j] : 0 <= i < {N} and (j = i or j = 3) }}",
    "{ [i, j, k] : 0 <= i < 40 and 0 <= j < 5 and 0 <= k <= 8i - 3j and k < 70 }",
    "{ [i, j, k] : 0 <= j and 1 - 6i + 6j < k <= 6 and i <= j + 6 and 2k <= 6i - 9j + k }",
    "{ [i, j] : 0 <= i < 30 and 3j = 2i }",
    "{ [i, j] : 0 <= i < 30 and j = floor(i / 4) }",
    "{ [i] : exists (e : 0 <= e < 9 and 3e <= i <= 3e + 4) }",
    "{ [i, j] : 0 <= i < 9 and 2 <= 7j - 3i <= 3 }",
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


def test_long_dimensions_take_no_rows() -> None:
    def points(length: int) -> isl.BasicSet:
        return isl.BasicSet(
            f"{{ [i, j, k, l] : 0 <= i < 5 and i <= 4j + k <= {length} + i and 0 <= k < 4 "
            f"and 0 <= 16l - 3k <= {length} }}"
        )

    counts = [count_by_rows(points(length), 20) for length in (1 << 10, 1 << 20)]
    # Both long dimensions have as many values in each row, but for one.
    assert counts[0] == isl.Set.from_basic_set(points(1 << 10)).count_val().to_python()
    assert counts[1] is not None and 0.9 < counts[1] / (counts[0] << 20) < 1.1
    assert count_by_rows(points(1 << 10), 19) is None


@given(
    st.lists(st.tuples(st.integers(-3, 2), st.integers(0, 9)), min_size=1, max_size=4),
    st.lists(
        st.tuples(
            st.lists(st.integers(-6, 6), min_size=4, max_size=4), st.integers(-9, 30), st.booleans()
        ),
        max_size=4,
    ),
)
def test_rows_are_counted_with_any_coefficients(
    ranges: list[tuple[int, int]], conditions: list[tuple[list[int], int, bool]]
) -> None:
    names = [f"d{k}" for k in range(len(ranges))]
    text = [f"{low} <= {name} <= {high}" for name, (low, high) in zip(names, ranges, strict=True)]
    for coefficients, constant, is_equal in conditions:
        form = " + ".join(f"{c}*{name}" for c, name in zip(coefficients, names, strict=False))
        text.append(f"{form} + {constant} {'=' if is_equal else '>='} 0")
    points = isl.BasicSet(f"{{ [{', '.join(names)}] : {' and '.join(text)} }}")
    expected = isl.Set.from_basic_set(points).count_val().to_python()
    assert count_by_rows(points, 1 << 20) == expected


@pytest.mark.parametrize("exponent", range(6))
@pytest.mark.parametrize(("first", "last"), [(0, 5), (-4, 3), (2, 2), (3, 2)])
def test_powers_are_summed(exponent: int, first: int, last: int) -> None:
    power = Polynomial.of(Affine.variable("x")).power(exponent)
    total = sum_over(power, "x", Affine.variable("a"), Affine.variable("b"))
    expected = sum(x**exponent for x in range(first, last + 1))
    assert total.evaluate({"a": first, "b": last}) == Fraction(expected)
