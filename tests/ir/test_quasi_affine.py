"""Quasi-affine functions: what counts as one, and what it is worth at every point."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Constant, Expr, IndexValue, Read, walk
from rtlgen.ir.quasi_affine import quasi_affine, quasi_affine_text, quasi_affine_values
from rtlgen.ir.types import FLOAT32, FLOAT64, IntType
from rtlgen.verify.golden import run_golden

BOX = {"i": (0, 8), "j": (0, 6)}


def subscript(text: str) -> Expr:
    """Return a subscript in a loop over i < 9 and j < 7 as the front end reads it."""
    scop = parse_text(
        f"""void f(const int a[4096], const int n[1], int y[9][7]) {{
          for (int i = 0; i < 9; i++) for (int j = 0; j < 7; j++) y[i][j] = a[{text}];
        }}"""
    ).scop
    reads = [node for node in walk(scop.statements[0].expr) if isinstance(node, Read) and node.at]
    return reads[-1].at[0]


FUNCTIONS = [
    "13 * i % 16",
    "i / 2 + j % 3",
    "(i + 2 * j) / 4 * 4 + (j + 1) % 4",
    "(7 * i + 3) & 15",
    "(i * 5 + j) >> 2",
    "(i + j / 3) % 5 * 3",
    "40 - (i + j) / 3",
    "(unsigned)(i * 3 + 1) % 7u",
    "i ^ 4",
    "(i ^ 1) + (j & 2) * 8",
    "(2 * i + j | 8) & 4",
    "0 * (i % 2) + j % 4",
    "(i / 16 + 3) * (j % 2) + 20 % (j / 9 + 3)",
    "(7 % (j / 7 + 4) << i / 9) + j % 2",
    "(i - 4) % 3 + 3",
    "(i - 20) / 3 + 9",
    "(5 - i) / -2 + 3",
    "(unsigned char)(i * 40)",
    "(signed char)(i * 40 - 3 * j) + 128",
    "(unsigned short)(i - j) / 2000",
    "i - (i > j)",
    "(i == j) + (i != 3) + !(i - j) + (_Bool)(i - 2 * j)",
    "(i > 2 && j <= 4) + 2 * (i < 3 || j == 5)",
    "i < 4 ? i : i + 3",
    "~(i % 3) + 12",
]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_a_quasi_affine_subscript_has_the_value_that_c_gives_it(text: str) -> None:
    expr = quasi_affine(subscript(text), BOX)
    assert expr is not None
    points = np.indices((9, 7)).reshape(2, -1).T
    values = quasi_affine_values(expr, ("i", "j"), points)
    scop = parse_text(
        f"""void f(int y[9][7]) {{
          for (int i = 0; i < 9; i++) for (int j = 0; j < 7; j++) y[i][j] = {text};
        }}"""
    ).scop
    golden = run_golden(scop, {}, engine="interpreter").arrays["y"]
    assert values.tolist() == golden.ravel().tolist()
    graph = isl.Map(f"{{ [d0, d1] -> [w] : w = {quasi_affine_text(expr, ('i', 'j'))} }}")
    for (i, j), value in zip(points.tolist(), values.tolist(), strict=True):
        image = graph.intersect_domain(isl.Set(f"{{ [{i}, {j}] }}")).range()
        assert image.is_equal(isl.Set(f"{{ [{value}] }}"))


@pytest.mark.parametrize(
    "text",
    [
        "i * j",
        "n[0] & 15",
        "(i + 1) / (j + 1)",
        "(i * 16) ^ j",
        "i < 4 ? j : i",
        "i & 5",
    ],
)
def test_what_is_no_quasi_affine_function_is_not_taken_for_one(text: str) -> None:
    assert quasi_affine(subscript(text), BOX) is None


def test_factors_and_divisors_that_have_one_value_are_constants() -> None:
    scop = parse_text(
        """void f(const int b[40], int y[40]) {
          for (int i = 3; i < 4; i++) for (int j = 0; j < 8; j++) y[i * j] = b[j % i + 20 % i];
        }"""
    ).scop
    values = np.arange(40, dtype=np.int32)
    golden = run_golden(scop, {"b": values, "y": values * 0}, engine="interpreter").arrays["y"]
    assert golden[:24:3].tolist() == [j % 3 + 2 for j in range(8)]


def test_a_factor_that_became_a_number_later_is_one_for_isl() -> None:
    # Written out, an outer loop leaves a number where there was an iterator.
    int32 = IntType(32, signed=True)
    three = IndexValue(Affine((), 3), int32)
    i = IndexValue(Affine.variable("i"), int32)
    half = Binary("div", i, Constant(2, int32), int32)
    text = quasi_affine_text(Binary("mul", three, half, int32), ["i"])
    function = isl.Map(f"{{ [d0] -> [w] : w = {text} and d0 = 5 }}")
    assert function.range().is_equal(isl.Set("{ [6] }"))


def test_a_float_is_none_though_its_pattern_is_known() -> None:
    """A pattern is no number: `exact` values of it would be compared and added as integers."""
    for bits, type_ in ((0x4004000000000000, FLOAT64), (0, FLOAT32)):
        assert quasi_affine(Constant(bits, type_), BOX) is None
    scop = parse_text(
        """void f(const double x[8], double y[8]) {
          double t = 2.5;
          for (int i = 0; i < 8; i++) { double u = t; y[i] = x[i] * u; }
        }"""
    ).scop
    data = {"x": np.arange(8, dtype=np.float64)}
    assert run_golden(scop, data).arrays["y"].tolist() == [2.5 * n for n in range(8)]
