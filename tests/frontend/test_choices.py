"""Scalars that an `if` on iterators sets, and scalar parameters that the function assigns."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "int f(int a[20], int b[20]) { int s = 0; for (int i = 0; i < 20; i++) "


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "{ int lo = i - 2, hi = i + 2; if (lo < 0) lo = 0; if (hi > 19) hi = 19;"
        " for (int j = lo; j <= hi; j++) s += a[j]; b[i] = s / (hi - lo + 1); }",
        "for (int d = -2; d <= 2; d++) { int k = i + d; if (k < 0) k = -k;"
        " if (k >= 20) k = 38 - k; s += a[k]; }",
        "{ int k; if (i < 7) k = i; else k = i - 7; b[i] += a[k]; }",
        "{ int k = 3; if (i & 1) k = 5; else if (i > 10) k = i - 8; b[i] += a[k] * k; }",
        "{ int k = 3; if (a[i] & 1) k = 5; b[i] += a[k] * k; }",
        "{ int k = i; if (i > 5) { k = k - 5; if (i > 9) k = k - 5; } s += a[k]; b[i] = k; }",
        "{ int n = 6; if (i + n > 20) n = 20 - i; for (int j = 0; j < n; j++) b[i + j] += a[j]; }",
        "{ int n = 6; if (i > 14) n = 20 - i; for (int j = 0; j < n; j++) b[i + j] += a[j]; }",
        "{ int n = 6; if (i >= 14) n = 20 - i; for (int j = 0; j < n; j++) b[i + j] += a[j]; }",
        "{ int n = 20 - i; if (i <= 14) n = 6; for (int j = 0; j < n; j++) b[i + j] += a[j]; }",
    ],
)
def test_what_an_if_on_iterators_sets_is_known_behind_it(body: str) -> None:
    program = assert_as_gcc(f"{HEAD} {body} return s; }}")
    assert compile_program(program, CompileOptions()).replayed


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "int n = 15, i; for (i = 0; i < n; i++) { s += a[i]; n -= a[0]; }",
        "char n = 90; for (int i = 0; i < n; i++) { s += i; n += 2; }",
        "int n = 8; for (int i = 0; i < n; i++) { if (a[i]) n = 5; }",
        "int n = 8; for (int i = 0; i < 9 && i < n; i++) n -= a[i] & 3;",
        "int n = 1; for (int i = 0; i < 16; i += n) { s += a[i & 15]; n = 2; }",
    ],
)
def test_a_header_that_the_body_changes_is_asked_in_each_iteration(body: str) -> None:
    assert_as_gcc(f"int f(int a[20]) {{ int s = 0; {body} return s; }}", runs=4)


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "int f(int a[16]) { int i, j, t; for (i = 0, j = 15; i < j; i++, j--)"
        " { t = a[i], a[i] = a[j], a[j] = t; } return 16 * i + j; }",
        "int f(int a[16]) { for (int i = 0, j = 14; i <= j; ++i, --j) a[i] = a[j] * 3; return 0; }",
        "int f(int a[16]) { int j = 15, i, s = 0; for (i = 0; i < j; i++)"
        " { s += a[i] * a[j]; j--; } return s * 16 + j; }",
        "int f(int a[16]) { unsigned char k = 250; for (int i = 0; i < 16; i++) a[i] ^= k++;"
        " return k; }",
    ],
)
def test_two_scalars_may_run_towards_each_other(text: str) -> None:
    assert_as_gcc(text)


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "int f(int a[20], unsigned seed, int n) { seed += n; for (int i = 0; i < 20; i++)"
        " { seed = seed * 1664525 + 1013904223; a[i] = seed >> 9; } return seed; }",
        "int f(int a[20], unsigned char x, short y) { x = x & 7; y++;"
        " for (int i = 0; i < 20; i++) a[i] += x * y; return a[x & 15]; }",
        "int f(int a[20], int i, int j) { for (i = 0; i < 20; i++)"
        " for (j = 0; j < i; j++) a[j] += i; return i; }",
    ],
)
def test_a_scalar_parameter_may_be_assigned(text: str) -> None:
    assert_as_gcc(text)


def test_a_fixed_parameter_may_be_assigned() -> None:
    text = "void f(int a[20], int n) { n = n - 2; for (int i = 0; i < n; i++) a[i] = n; }"
    (statement,) = parse_text(text, defines={"n": "12"}).scop.statements
    assert str(statement.loops[0].stop) == "10"
