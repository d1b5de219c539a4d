"""Scalars that have no law where a loop carries them, and one where its body reads them."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.options import CompileOptions
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        # Two counters that go round, asked before they are used.
        "void f(int y[8][8], int x[64]) { for (int n = 0, r = 0, c = 0; n < 64; n++, c++) {"
        " if (c == 8) { c = 0; r++; } y[r][c] = x[n]; } }",
        # A beginning of its own before the period.
        "void f(int y[3], int x[20]) { int p = 7; for (int i = 0; i < 20; i++) {"
        " if (p < 3) y[p] += x[i]; p = p >= 5 ? p - 4 : (p + 1) % 3; } }",
        # Down, in steps of 3, each for two iterations of a loop of larger steps.
        "void f(int y[40], int x[24]) { int k = 39, w = 9; for (int i = 23; i > 0; i -= 2) {"
        " w++; if (w > 1) { w = 0; k -= 3; } y[k] += x[i]; } }",
        # One of few iterations after the other.
        "void f(int y[30], int x[16]) { int k = 0; for (int i = 0; i < 16; i++) {"
        " if (x[i] > 2) y[k] = x[i]; k++; if (i % 3 == 0 || i == 7) k++; } }",
        "void f(int y[64], int x[64]) { for (int t = 0; t < 3; t++) { unsigned s = 1;"
        " for (int i = 0; i < 15; i++) { y[s] += x[i] + t; s = s & 1 ? (s >> 1) ^ 12 : s >> 1; }"
        " } }",
        "int f(int a[99]) { int x = 0, y = 8; for (int i = 0; i < 7; i++) { a[x] += y;"
        " int t = x; x = y; y = t + 1; } return x; }",
        "void f(int a[9]) { int j = 0; for (int n = 0; n < 40; n++) {"
        " if (j == 8) { j = 0; a[0]++; } a[j]++; j++; } }",
        "void f(int a[40]) { int k = 1, m = 0, r = 0; for (int i = 0; i < 5; i++) {"
        " a[k] += 1; k *= 2; a[m] += 2; m += i; a[r] += 3; r = i / 2; } }",
        # It is read in some iterations only.
        "void f(int a[64]) { int x = 2, y = 0; for (int i = 0; i < 9; i++) { x++;"
        " if (x >= 2) { x = 1; y = y == 3 ? 1 : y + 1; } a[y] += i; if (i >= 2) a[y] ^= y; } }",
        # What is behind the loop is not what its last iterations would go on with.
        "void f(int a[16]) { int k = 0; for (int i = 0; i < 2; i++) { k = 0;"
        " for (int j = 0; j < 4; j++) { a[k] += j; k += j == 1 ? 2 : 1; } } a[k] = 7; }",
        # It begins beyond what it goes round in.
        "void f(int a[64]) { int z = 2; for (int i = 0; i < 6; i++) {"
        " for (int j = 2; j < 7; j += 2) { a[z] += j; z = z == 5 ? 1 : z + 1; } z += 2; } }",
        # It begins with an iterator around, and is one less than that by its later law.
        "void f(int a[64]) { unsigned x = 2; for (int i = 0; i < 4; i++)"
        " for (int j = 3; j < 9; j++) { x = j; for (int k = 0; k < 7; k++) {"
        " if (j < x) x = x == 3 ? 0 : x + 1; if (++x == 3) x = 1; a[x + 16] += k; x += 1; } } }",
        # The first value is told apart by an inner loop.
        "void f(int a[8][4]) { int k = 3; for (int i = 0; i < 8; i++) {"
        " for (int j = 0; j < 4; j++) a[i][j] += k; k = 2 * i; a[k & 7][0] ^= 1; } }",
        # The same name in a block stands for another variable.
        "void f(int y[8][8], int x[64]) { int r = 0, c = 0; for (int n = 0; n < 64; n++) {"
        " if (c == 8) { c = 0; r++; } { int c = n % 4; y[r][c] += x[n]; } y[r][c] ^= 1; c++; } }",
    ],
)
def test_what_a_loop_reads_is_known_by_running_it(text: str) -> None:
    assert compile_program(assert_as_gcc(text), CompileOptions()).replayed


@pytest.mark.parametrize(
    "text",
    [
        # Data has a say, or more iterations than are written out have no law.
        "void f(int y[64], int x[32]) { int k = 0; for (int i = 0; i < 32; i++) {"
        " y[k] = x[i]; if (x[i]) k++; } }",
        "void f(int y[64], int x[40]) { unsigned s = 1; for (int i = 0; i < 40; i++) {"
        " y[s] += x[i]; s = s & 1 ? (s >> 1) ^ 48 : s >> 1; } }",
        # What a function changes, or an inner loop, is not seen in passing.
        "static int k; static void step(void) { k = k == 5 ? 2 : k + 1; }"
        " void f(int y[8], int x[8]) { k = 0; for (int i = 0; i < 8; i++)"
        " { y[k] += x[i]; step(); } }",
    ],
)
def test_a_scalar_without_a_law_is_computed(text: str) -> None:
    assert is_scattered(text)
