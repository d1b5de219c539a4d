"""Scalars that hold what a condition gave, where that matters for subscripts and domains."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.poly.errors import LookupOutOfRange
from tests.frontend.gcc_check import assert_as_gcc
from tests.lookup_warnings import lookup_warnings
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

TWO = "int f(const int a[16], const int b[16]) { int s = 0; for (int i = 0; i < 16; i++) "


def compiled(text: str) -> None:
    program = assert_as_gcc(text) if have_gcc() else parse_text(text)
    compile_program(program, CompileOptions())


@pytest.mark.parametrize(
    "body",
    [
        "int ok = j >= 0 && j < 16; s += ok ? a[j] : 0;",
        "int ok = j >= 0 && j < 16; if (ok) s += a[j]; else s ^= 3;",
        "_Bool out = j < 0 || j >= 16; if (!out) s += a[j];",
        "int out = j < 0 || j >= 16; if (out == 0 && b[i] > 0) s += a[j];",
    ],
)
def test_a_bound_check_on_iterators_may_stand_in_a_variable(body: str) -> None:
    loops = f"for (int d = -1; d <= 1; d++) {{ int j = i + d; {body} }}"
    compiled(f"{TWO} {loops} return s; }}")


@pytest.mark.parametrize(
    "body",
    [
        "int j = b[i]; int ok = j >= 0 && j < 16; s += ok ? a[j] : 0;",
        "int j = b[i], ok = j >= 0 && j < 16; if (ok) { s += a[j]; s ^= 1; }",
        "int ok = b[i] >= 0 && b[i] < 16; if (ok) s += a[b[i]];",
        "int j = b[i], k = j + 1, ok = k > 0 && k <= 16; if (ok && a[k - 1] > 3) s++;",
        "int j = b[i], low = j < 0, high = j > 15; if (!low && !high) s += a[j];",
        "int j = b[i]; _Bool ok = j >= 0 && j < 16; s += ok ? a[j] : 1;",
        "int j = b[i]; unsigned char ok = j >= 0 && j < 16; s += ok ? a[j] : 1;",
        "int j = i + (b[0] > 3) - (b[1] > 3); _Bool ok = j >= 0 && j < 16; s += ok ? a[j] : 1;",
        "if (i > 3) { int j = b[i]; int ok = j >= 0 && j < 16; if (ok) s += a[j]; }",
    ],
)
def test_a_bound_check_on_data_may_stand_in_a_variable(body: str) -> None:
    compiled(f"{TWO} {{ {body} }} return s; }}")


@pytest.mark.parametrize(
    "body",
    [
        "int j = b[i]; int ok = j >= 0 && j < 16; j++; if (ok) s += a[j];",
        "int j = b[i]; int ok = j >= 0 && j < 16;"
        " for (int k = 0; k < 2; k++) { if (ok) s += a[j]; j = b[15 - i]; }",
        "int j = b[i]; int ok = j >= 0 && j < 16; if (b[0] > 3) ok = 1; if (ok) s += a[j];",
        "int j = b[i]; int ok = j >= 0; if (ok) s += a[j];",
    ],
)
def test_a_check_of_another_value_does_not_count(body: str) -> None:
    assert lookup_warnings(f"{TWO} {{ {body} }} return s; }}")


def test_an_array_that_changes_is_not_asked_again() -> None:
    body = "int ok = b[i] >= 0 && b[i] < 16; b[i] = 99; if (ok) s += a[b[i]];"
    program = parse_text(f"{TWO.replace('const int b', 'int b')} {{ {body} }} return s; }}")
    with pytest.raises(LookupOutOfRange):
        compile_program(program, CompileOptions())


def conditions(body: str) -> list[int]:
    scop = parse_text(f"void f(int a[16]) {{ for (int i = 0; i < 16; i++) {{ {body} }} }}").scop
    return [len(statement.conditions) for statement in scop.statements]


def test_a_condition_on_iterators_in_a_variable_is_a_domain() -> None:
    assert conditions("int odd = i & 1; if (odd) a[i] = 1;") == [1]
    assert conditions("int third = i % 3 == 0, late = i > 7; if (third && !late) a[i] = 1;") == [2]
    assert conditions("int ends = i == 0 || i == 15; if (ends) a[i] = 1;") == [1, 2]


@needs_gcc
def test_a_bound_may_stand_in_a_variable() -> None:
    text = """
        int f(int a[19], int b[19]) {
          for (int t = 0; t < 19; t += 5) {
            int end = t + 5 < 19 ? t + 5 : 19, n = end - t;
            for (int j = 0; j < n; j++) b[t + j] += a[t + j] * n;
          }
          return 0;
        }"""
    program = assert_as_gcc(text)
    assert [len(s.loops) for s in program.scop.statements] == [2, 0]


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "int f(int a[16], int n) { int i = 0;"
        " for (int k = 0; k < 40; k++) if (i < 16 && a[i] > n) i++; return i; }",
        "int f(int m[8][8], int key) { int r = 0, c = 7; while (r < 8 && c >= 0) {"
        " if (m[r][c] == key) return r * 8 + c; if (m[r][c] > key) c--; else r++; } return -1; }",
        "int f(int a[16], int b[16]) { int i = 0, j = 0, n = 0; while (i < 16 && j < 16) {"
        " if (a[i] == b[j]) { n++; i++; j++; } else if (a[i] < b[j]) i++; else j++; } return n; }",
        # What is told of a position is asked only where the condition holds.
        "int f(int a[16], int d[32]) { int k = 0, s = 0; for (int i = 0; i < 32; i++) {"
        " int y = d[i] & 1; if (y != 0 && k / y < 9 && k < 16) { s += a[k]; k++; y = 0; } }"
        " return s; }",
        "int f(int w[6], int v[6]) { int d[33] = {0}; for (int i = 0; i < 6; i++)"
        " for (int c = 32; c >= (w[i] & 63); c--) { int t = d[c - (w[i] & 63)] + v[i];"
        " if (t > d[c]) d[c] = t; } return d[32]; }",
        # What holds where the position is not 0 is not the position itself.
        "int f(signed char x, int g[12]) { int n = 0; for (int i = 0; i < 4; i++) {"
        " if (x) { n += g[(unsigned)x % 12]; x = x - 1; } } return n; }",
    ],
)
def test_a_condition_that_is_kept_tells_where_a_position_lies(text: str) -> None:
    program = assert_as_gcc(text)
    assert compile_program(program, CompileOptions()).replayed


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        # The position moves on between the question and the read.
        "int f(int a[16]) { int i = 0, s = 0; for (int k = 0; k < 20; k++) {"
        " int ok = i < 16 && a[i & 15] > 0; if (ok) { i++; s += a[i]; } } return s; }",
        "int f(int a[16]) { int i = 0, s = 0; for (int k = 0; k < 20; k++) {"
        " int ok = i < 16 && a[i & 15] > 0; for (int j = 0; j < 2; j++)"
        " { if (ok) s += a[i]; if (a[j] > 0) i++; } } return s; }",
        "int f(int a[16]) { int i = 0, s = 0, ok = 1; for (int k = 0; k < 20; k++) {"
        " if (ok) s += a[i]; ok = i < 16; if (a[k & 15] > 0) i++; } return s; }",
    ],
)
def test_a_condition_of_another_time_tells_nothing(text: str) -> None:
    assert lookup_warnings(text)
