"""Loops are split so that quotients and remainders of iterators can be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, BinaryOp, Constant, IndexValue
from rtlgen.ir.quasi_affine import quasi_affine_values
from rtlgen.ir.quotients import division_in, quotient, simplified
from rtlgen.ir.types import INT32
from rtlgen.ir.value_ranges import value_range
from rtlgen.planning.analysis import examine
from tests.end_to_end.judge import assert_plan_exact, compiled
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


def function(body: str) -> str:
    return (
        "void f(const int x[64], const int y[16][16], int a[64], int b[4][16], int h[3][10])"
        f" {{ {body} }}"
    )


BODIES = {
    "quotient": "for (int i = 0; i < 24; i++) a[i / 8] += x[i];",
    "both": "for (int i = 0; i < 60; i++) b[i / 16][i % 16] = x[i];",
    "bits": "for (unsigned i = 0; i < 61; i++) b[(i >> 2) & 3][i & 3] ^= x[i] * (i + 1);",
    "shifted left": "for (int i = 0; i < 32; i++) a[((i & 3) << 3) + (i >> 2)] = x[i];",
    "down": "for (int i = 39; i >= 0; i--) { a[i % 7] += x[i] * 3; b[0][(i + 5) / 5] = a[i % 7]; }",
    "from 1 by 4": "for (int i = 1; i < 60; i += 4) a[i / 8] = a[i / 8] * 5 + x[i];",
    "sum": "for (int i = 0; i < 12; i++) for (int j = i; j < 9; j++) a[(i + j) % 5] += y[i][j];",
    "several": "for (int i = 0; i < 48; i++) b[i / 12][i / 4 % 3 * 4 + i % 2] += x[i];",
    "no divisors": "for (int i = 0; i < 60; i++) { a[i % 12] = a[i % 20]; a[i / 3] = x[i]; }",
    "guarded": "for (int i = 3; i < 16; i++) if (x[i]) { a[i % 4] = 1; a[9 + (i - 3) % 5] = i; }",
    "rotating": """for (int t = 2; t < 20; t++) for (int i = 1; i < 9; i++)
                     h[t % 3][i] = h[(t - 1) % 3][i - 1] + h[(t - 2) % 3][i + 1] - i;""",
    "round": "for (int i = 0; i < 9; i++) for (int k = 0; k < 4; k++) a[i] += x[(i - k + 9) % 9];",
    "by scalars": """int q = 0, last = 0; for (int i = 0; i < 40; i++) { int r = i / 16, c = i % 16;
                     q = r + 1; if (x[i] > 9) b[q][c] ^= last; else b[r][15 - c] = x[i] + c;
                     last = c; } a[0] = q + last;""",
    "ping-pong": """for (int t = 0; t < 9; t++) for (int i = 1; i < 9; i++)
                      h[(t + 1) % 2][i] = h[t % 2][i - 1] + h[t % 2][i + 1];""",
    "between loops": """for (int i = 0; i < 16; i++) { a[i / 2] = 0;
                          for (int j = 0; j < 16; j++) { a[i / 2] += y[i][j]; b[i / 4][j] = i; }
                          a[32 + i % 3] = a[i / 2]; }""",
    "one loop after the other": """int k; for (k = 0; k < 9; k++) a[k / 2] = x[k];
                                   for (k = 4; k < 9; k++) a[k % 4] += x[k];""",
    "of a multiple": "for (int i = 0; i < 24; i++) { a[3 * i / 2] = x[i]; a[5 * i / 3] ^= x[i]; }",
    "of a multiple, down": "for (int i = 23; i > 0; i--) a[(60 - 2 * i) / 3] += x[i] * i;",
    "remainder of a multiple": "for (int i = 3; i < 24; i++) if (x[i] > 9) a[4 * i % 6] ^= x[i];",
    "multiples of two": """for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++)
                            a[(2 * i + 3 * j) / 4] += y[i][j];""",
    "counted beside larger steps": """int k = 0, m = 40; for (int i = 0; i < 40; i += 4)
                                      for (int j = 0; j < 2; j++) { a[k++] = x[i + j] + x[m]; m--; }
                                      a[k] += m;""",
    "limited": "for (int i = 0; i < 12; i++) for (int j = 0; j < i && j < 9; j++) a[j / 2] += i;",
}


@pytest.mark.sample(
    without=(
        "no divisors",
        "between loops",
        "of a multiple",
        "rotating",
        "by scalars",
        "multiples of two",
        "down",
        "guarded",
    ),
    every=2,
)
@needs_gcc
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_split_program_computes_what_gcc_computes(body: str) -> None:
    assert_as_gcc(function(body))
    accepted = compiled(function(body))
    assert accepted is not None
    assert_plan_exact(accepted)


def test_what_is_written_is_affine_in_the_loops_of_quotient_and_rest() -> None:
    scop = parse_text(function(BODIES["both"])).scop
    (statement,) = scop.statements
    assert statement.iterators == ("i_div16", "i_mod16")
    assert str(statement.write) == "b[i_div16][i_mod16]"
    # 60 is no multiple of 16: the last row is shorter.
    assert [str(c) for c in statement.conditions] == ["-16*i_div16 - i_mod16 + 59"]


def test_a_range_of_whole_blocks_needs_no_condition() -> None:
    (statement,) = parse_text(function(BODIES["quotient"])).scop.statements
    assert statement.conditions == ()


def test_no_loop_is_split_for_what_is_only_read() -> None:
    body = "for (int i = 0; i < 16; i++) a[i] = x[i / 2] + x[i % 3];"
    (statement,) = parse_text(function(body)).scop.statements
    assert statement.iterators == ("i",)


@pytest.mark.parametrize("subscript", ["x[i] % 4", "i * x[i] % 4"])
def test_what_no_split_makes_affine_is_computed(subscript: str) -> None:
    assert is_scattered(function(f"for (int i = 0; i < 16; i++) a[{subscript}] = 0;"))


def test_a_statement_is_written_out_for_few_values_only() -> None:
    body = "for (int i = 0; i < 60; i++) a[5 * i / {}] = 1;"
    copies = parse_text(function(body.format(3))).scop.statements
    assert [copy.name for copy in copies] == ["S0", "S0_1", "S0_2"]
    assert [str(copy.write) for copy in copies] == [
        "a[5*i_div3]",
        "a[5*i_div3 + 1]",
        "a[5*i_div3 + 3]",
    ]
    assert is_scattered(function(body.format(37)))


def test_steps_are_counted_where_a_scalar_counts_them() -> None:
    body = "int k = 3; for (int i = 0; i < 60; i += 6) { a[k] = x[i]; k += 4; }"
    (statement,) = parse_text(function(body)).scop.statements
    assert (str(statement.write), str(statement.reads[0])) == ("a[4*i + 3]", "x[6*i]")


def test_a_remainder_outside_of_its_array_is_refused() -> None:
    body = "for (int i = 0; i < 64; i++) b[i % 5][0] = 0;"
    with pytest.raises(RtlgenError) as caught:
        examine(parse_text(function(body)))
    assert caught.value.code == "E0201"


def test_what_is_read_in_turns_is_affine_in_each_of_its_turns() -> None:
    body = BODIES["rotating"]
    statements = parse_text(function(body)).scop.statements
    assert [str(s.write) for s in statements] == ["h[0][i]", "h[1][i]", "h[2][i]"]
    assert not any(read.is_lookup for s in statements for read in s.reads)


INSIDE = """for (int p = 0; p < 64; p++) { int x = p % 16, q = p / 16;
  if (x < 15) b[q][x + 1] = a[p] + p; if (q > 0 && x > 0) b[q - 1][x - 1] += a[p];
  if (x > 0) a[p] += y[q][x - 1]; if (x != 15) b[q][x + 1] ^= p; }"""


@needs_gcc
def test_a_condition_on_remainders_keeps_what_is_read_and_written_inside() -> None:
    program = assert_as_gcc(function(INSIDE))
    assert "W0108" not in {warning.code for warning in program.warnings}
    accepted = compiled(function(INSIDE))
    assert accepted is not None
    assert_plan_exact(accepted)


@pytest.mark.parametrize(
    "body",
    [
        "if (p % 16 < 15) b[p / 16][p % 16 + 2] = 1;",
        "if (x[p] > 3) b[p / 16][p % 16 + 1] = 1;",
    ],
)
def test_a_guarded_store_that_may_leave_its_array_is_made_inside_only(body: str) -> None:
    program = parse_text(function(f"for (int p = 0; p < 64; p++) {{ {body} }}"))
    assert "W0108" in {warning.code for warning in program.warnings}
    examine(program)


def test_a_read_under_another_condition_is_not_proven_inside() -> None:
    body = "for (int p = 0; p < 64; p++) if (p % 16 > 1) a[p] = y[p / 16][p % 16 - 3];"
    with pytest.raises(RtlgenError) as caught:
        examine(parse_text(function(body)))
    assert caught.value.code == "E0201"
    assert "read by S0(2)" in str(caught.value)


def test_quotients_are_simplified_exactly() -> None:
    boxes = {"i": (0, 7), "j": (0, 3), "k": (-2, -1)}
    form = Affine.of({"i": 8, "j": 2, "k": 1}, 3)
    for divisor in range(1, 40):
        found = quotient(form, divisor, boxes)
        points = [(i, j, k) for i in range(8) for j in range(4) for k in (-2, -1)]
        values = [dict(zip("ijk", point, strict=True)) for point in points]
        exact = [form.evaluate(v) // divisor for v in values]
        assert found is None or [found.evaluate(v) for v in values] == exact
    assert quotient(form, 8, {**boxes, "j": (0, 1)}) == Affine.variable("i")
    assert quotient(form, 2, boxes) is not None


def test_a_simplified_dividend_is_never_negative() -> None:
    box = {"n": (0, 11), "k": (0, 3)}
    form = IndexValue(Affine.of({"n": 1, "k": -1}, 12), INT32)
    expected: Mapping[BinaryOp, Callable[[int], int]] = {
        "rem": lambda x: x % 12,
        "div": lambda x: x // 12,
    }
    for op, value in expected.items():
        after = simplified(Binary(op, form, Constant(12, INT32), INT32), box)
        assert value_range(after, box)[0] >= 0
        points = np.array([(n, k) for n in range(12) for k in range(4)], dtype=np.int64)
        seen = quasi_affine_values(after, ("n", "k"), points).tolist()
        assert seen == [value(n - k + 12) for n, k in points.tolist()]


def test_a_simplified_expression_has_the_same_value() -> None:
    box = {"i": (0, 9), "j": (0, 5)}
    i, six = IndexValue(Affine.of({"i": 12, "j": 2}, 1), INT32), Constant(6, INT32)
    remainder = Binary("rem", i, six, INT32)
    expr = Binary("add", Binary("div", i, Constant(8, INT32), INT32), remainder, INT32)
    points = np.array([(a, b) for a in range(10) for b in range(6)], dtype=np.int64)
    before = quasi_affine_values(expr, ("i", "j"), points)
    after = simplified(expr, box)
    assert division_in(after) is not None
    assert (quasi_affine_values(after, ("i", "j"), points) == before).all()


def test_a_scalar_that_is_a_quotient_stands_for_it() -> None:
    body = (
        "for (int i = 0; i < 60; i++) { int r = i / 16, c = i % 16; b[r][c] = x[4 * r + c / 8]; }"
    )
    scop = parse_text(function(body)).scop
    assert [str(s.write) for s in scop.statements] == ["b[i_div16][i_mod16]"]


@pytest.mark.parametrize(
    "body",
    [
        "int r; for (int i = 0; i < 9; i++) { r = i / 2; if (x[i]) r = 3; a[r] = 1; }",
        "int r = 0; for (int i = 0; i < 9; i++) { a[r] = 1; r = x[i] ? i / 2 : 0; }",
    ],
)
def test_a_scalar_that_may_be_something_else_stands_for_nothing(body: str) -> None:
    assert is_scattered(function(body))
