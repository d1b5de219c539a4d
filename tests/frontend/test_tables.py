"""Arrays with initial values."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.expr import Constant, walk
from rtlgen.ir.types import INT32
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc


def test_a_constant_element_takes_the_place_of_its_read() -> None:
    scop = parse_text("""
        static const int taps[3] = {3, -5, 7};
        void f(int a[8]) { for (int i = 1; i < 7; i++) a[i] = taps[0] * a[i - 1] + taps[1]; }
        """).scop
    (statement,) = scop.statements
    constants = {node.value for node in walk(statement.expr) if isinstance(node, Constant)}
    assert constants == {3, -5}
    assert [array.name for array in scop.arrays] == ["a"]


def test_a_table_of_constants_needs_no_statement() -> None:
    scop = parse_text("""
        void f(int a[8]) {
          for (int i = 0; i < 8; i++) {
            static const int w[] = {9, 9, 4, 1};
            for (int k = 0; k < 4; k++) a[i] += w[k];
          }
        }""").scop
    (statement,) = scop.statements
    assert statement.reads[1].array == "w"
    assert scop.array("w").values == (9, 9, 4, 1)
    assert scop.array("w").role == "local"


def test_an_array_with_initial_values_is_filled_from_a_table_unless_they_are_all_equal() -> None:
    scop = parse_text("""
        void f(int a[8]) {
          for (int i = 0; i < 8; i++) {
            int t[4] = {9, 9, 4, 1};
            int z[4] = {0};
            for (int k = 0; k < 4; k++) { z[k] += t[3 - k]; t[k] = a[k]; a[i] += z[k]; }
          }
        }""").scop
    first, second = scop.statements[:2]
    assert [read.array for read in first.reads] == ["t_initial"]
    assert scop.array("t_initial").values == (9, 9, 4, 1)
    assert second.reads == () and second.expr == Constant(0, INT32)


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_tables_hold_what_gcc_puts_into_them() -> None:
    assert_as_gcc("""
        enum { N = 5 };
        static const signed char g[2][N] = {{1, -2, 300, 'x'}, {N, N * N}};
        const unsigned short one[7] = {65535, -1, 3};
        void f(int a[8], long b[8]) {
          const int last = one[2];
          for (int i = 0; i < N; i++) {
            int t[3] = {5, 4};
            t[1] += i;
            for (int k = 0; k < 3; k++) { a[i] += t[k] * g[1][i]; t[k] = 0; }
            if (a[i] > 0) { int u[2] = {7, 8}; for (int k = 0; k < 2; k++) b[k] += u[k]; }
            b[i] ^= g[0][N - 1 - i] + one[i + 2] - one[0];
          }
          a[7] = last + g[0][2];
        }""")
