"""Scalars that are affine functions of the iterators are replaced by them."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import IndexWraps
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


def writes(text: str) -> list[str]:
    return [str(statement.write) for statement in parse_text(text).scop.statements]


def test_an_assignment_with_no_use_left_is_no_statement() -> None:
    text = """
        void f(int a[64]) {
          for (int i = 0; i < 8; i++) {
            int row = i * 8;
            for (int j = 0; j < 8; j++) a[row + j] = row;
          }
        }"""
    assert writes(text) == ["a[8*i + j]"]
    assert parse_text(text).scop.statements[0].name == "S0"


def test_an_assignment_whose_value_is_still_read_stays() -> None:
    text = """
        void f(int a[8], int b[8]) {
          int s = 0;
          for (int i = 0; i < 8; i++) { a[s] = 1; s = s + b[i]; }
          b[0] = s;
        }"""
    assert is_scattered(text)
    assert writes(text.replace("a[s]", "a[0]")) == ["s", "a[0]", "s", "b[0]"]


def test_bounds_and_conditions_are_replaced_too() -> None:
    text = """
        void f(int a[8][8]) {
          int n = 8, last;
          last = n - 1;
          for (int i = 0; i < n; i++) {
            int left = i + 1;
            for (int j = left; j <= last; j++) { int d = j - i; if (d != 2) a[i][j] = d; }
          }
        }"""
    assert set(writes(text)) == {"a[i][j]"}


def test_the_last_definition_before_the_use_counts() -> None:
    text = """
        void f(int a[8]) {
          int k = 1;
          a[k] = 0; k = k + 2; a[k] = 0; k++; a[k] = 0; k <<= 1; a[k - 1] = 0;
        }"""
    assert writes(text) == ["a[1]", "a[3]", "a[4]", "a[7]"]


def test_equal_definitions_in_both_branches_are_one_value() -> None:
    text = """
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) {
            int k;
            if (b[i] > 3) { k = 7 - i; b[i] = 1; } else { k = -i + 7; b[i] = 0; }
            a[k] = 1;
          }
        }"""
    assert writes(text)[-1] == "a[-i + 7]"


@pytest.mark.parametrize(
    "body",
    [
        "int k = 0; for (int i = 0; i < 4; i++) { a[k] = 1; if (a[i]) k = i; }",
        "int k = 0; for (int i = 0; i < 4; i++) { k = a[i]; } a[k] = 1;",
        "int k = 0; if (a[1] > 3) k = 1; a[k] = 1;",
        "int k; if (a[1] > 3) k = 2; else k = 1; a[k] = 1;",
        "for (int i = 0; i < 4; i++) { int k = 0; if (a[i] > 2) k = 1; a[k] = 1; }",
    ],
)
def test_of_two_definitions_that_may_reach_none_is_taken(body: str) -> None:
    assert is_scattered(f"void f(int a[8]) {{ {body} }}")


def test_a_loop_bound_that_changes_inside_is_asked_in_each_iteration() -> None:
    assert_as_gcc("""
        void f(int a[8]) {
          int n = 3;
          for (int i = 0; i < 2; i++) { for (int j = 0; j < n; j++) a[j] = i; n = 5; }
        }""")


@needs_gcc
def test_a_narrow_scalar_that_wraps_is_what_it_is_in_c() -> None:
    assert_as_gcc("""
        void f(int a[300]) {
          for (int i = 0; i < 300; i++) { unsigned char k = i; a[k] = i; }
        }""")


@needs_gcc
def test_replaced_values_are_those_of_c() -> None:
    assert_as_gcc("""
        int g;
        void f(long a[64], int b[8][8]) {
          int n = 8, k = 3;
          g = 5;
          a[g] = g;
          for (int i = 0; i < n; i++) {
            const int row = n * i;
            unsigned char low = row;
            short t;
            for (int j = 0; j < n; j++) {
              int at = row + j;
              t = at - 3;
              a[at] += low * t + b[at - row][i];
              if (t > 0) { int back = at - 1; a[back] ^= back; t = back; }
              b[i][j] = t + k;
            }
            k = i * 2;
            a[k] -= k;
          }
          g += k;
        }""")


@needs_gcc
@pytest.mark.parametrize(
    "subscript",
    ["i - 1 + 1", "y + dy", "(int)(i - 3) + 3", "4 * i - 8 - 3 * (i - 2) + 2", "~i + 8", "-i + 8"],
)
def test_a_sum_that_wraps_on_the_way_and_back_is_affine(subscript: str) -> None:
    text = f"""
        void f(unsigned a[9], const unsigned x[9]) {{
          for (unsigned i = 0; i < 8; i++)
            for (unsigned long y = 1; y < 8; y++)
              for (int dy = -1; dy <= 1; dy++)
                a[{subscript}] = a[{subscript}] * 3 + x[i] * y;
        }}"""
    assert_as_gcc(text)
    assert "*" not in writes(text)[0]


def test_a_sum_that_has_wrapped_for_good_is_refused() -> None:
    text = "void f(int a[9]) { for (unsigned i = 0; i < 8; i++) a[i - 1] = 0; }"
    with pytest.raises(IndexWraps):
        parse_text(text)


@needs_gcc
def test_a_local_constant_may_be_what_a_function_returns() -> None:
    text = """
        #include <math.h>
        static int twice(int x) { return 2 * x; }
        float f(float a[8], int n) {
          const float scale = 1.0f / sqrtf(16.0f);
          const int m = twice(n);
          for (int i = 0; i < 8; i++) { const float e = fabsf(a[i]); a[i] = e * scale + m; }
          return scale;
        }"""
    assert_as_gcc(text)


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "float f(float x) { float least = 0.1f; return x <= least ? least : x; }",
        "double f(double x) { double k = 1, h; h = k; k = -0.0; return h / k + x; }",
        """void f(float a[8]) {
             for (int i = 0; i < 8; i++) { float s = 0.25f; if (i > 4) s = -2.0f; a[i] *= s; }
           }""",
    ],
)
def test_constants_that_are_floats_are_replaced_too(text: str) -> None:
    program = assert_as_gcc(text)
    assert len(program.scop.statements) == 1
