"""Bounds of loops with quotients, remainders and masks of iterators, negative ones too."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

NOT_NEGATIVE = [
    "j = 0; j < i % 2; j++",
    "j = i & 3; j < 6; j++",
    "j = 9; j > i % 5; j--",
    "j = 0; j < i / 2 + i % 2; j++",
    "j = 0; j < MIN(i % 4, 21 - i); j++",
    "j = MAX(i & 1, i / 8); j <= 7 - (i & 4); j++",
    "j = 0; j < (i ^ 5) % 4; j++",
    "j = 0; j < (i | 3) - i; j++",
    "j = i & ~3; j < i; j++",
    "unsigned j = i & ~7u; j < (unsigned)i; j++",
    "j = 0; j < (3 * i + 1) % 7; j++",
    "j = 0; j < (i < 9 ? i % 3 : i >> 2) && j < 9; j++",
    "j = 0; j < 3 * (i / 5); j += 2",
    "j = 0; j < i % 20; j++",
    "j = 0; j < (i - 3) / 2; j++",
    "j = i / 2; j < 16; j += 2",
    "j = 15; j != i / 2; j--",
    "j = i % 16; j != 16; j++",
    "j = 0; j < (i & 20) / 4; j++",
    "j = 0; j < (i & 18); j++",
]
SIGNED = [
    "j = 0; j < i % 3 + 3; j++",
    "j = i % 4 + 4; j >= i / 4; j--",
    "j = 0; j < (i & 3); j++",
    "j = (i & ~3) + 12; j < i + 13; j++",
    "j = 0; j < MAX(i / -3, 2) + i % -2; j++",
    "j = 0; j < (i >> 2) + 4; j++",
    "j = i / 2; j < i % 5; j++",
    "j = 0; j < (i & 12) + (i & -2) + 10; j++",
    "j = 0; j < (i ^ 6) + 16; j++",
]
MACROS = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"


def counting(headers: list[str], start: int) -> str:
    """Return a kernel that tells how often each loop runs, and over which values."""
    loops = "".join(
        f"for ({'' if 'j =' in header and header[0] == 'u' else 'int '}{header}) "
        f"{{ n[i - {start}][{k}]++; n[i - {start}][{k}] += 100 * (int)j; }}\n"
        for k, header in enumerate(headers)
    )
    return (
        f"{MACROS}void f(int n[22][{len(headers)}]) {{\n"
        f"for (int i = {start}; i < {start} + 22; i++) {{ {loops} }} }}"
    )


@needs_gcc
@pytest.mark.parametrize(("headers", "start"), [(NOT_NEGATIVE, 0), (SIGNED, -10)])
def test_loops_run_as_often_as_in_c(headers: list[str], start: int) -> None:
    assert_as_gcc(counting(headers, start), runs=1)


def test_a_case_for_each_residue_or_quotient_is_read_whichever_are_fewer() -> None:
    def statements(bound: str) -> int:
        loops = f"for (int i = 0; i < 90; i++) for (int j = 0; j < {bound}; j++)"
        text = f"void f(int n[9]) {{ {loops} n[0]++; }}"
        return len(parse_text(text).scop.statements)

    # The residue 0 has no iteration.
    assert statements("i % 3") == 2 and statements("(i & 7)") == 7
    assert statements("i % 30") == 3
    # In each case the product has a constant factor.
    assert statements("i % 3 * i") == 2


def test_of_too_many_cases_the_most_iterations_are_run() -> None:
    loops = "for (int i = 0; i < 900; i++) for (int j = 0; j < i % 29; j++)"
    scop = parse_text(f"void f(int n[9]) {{ {loops} n[0]++; }}").scop
    assert [s.loops[1].stop.constant for s in scop.statements] == [28]


def test_what_the_loops_around_tell_makes_a_quotient_affine() -> None:
    scop = parse_text(
        """void f(int a[32]) {
          for (int i = 8; i < 16; i++) { a[i % 8] = i / 8; a[i & 7] += i >> 3; } }"""
    ).scop
    assert [str(s.write) for s in scop.statements] == ["a[i - 8]", "a[i - 8]"]


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        # What is written lies at a quotient of either sign, or where a narrow type wraps.
        "void f(int a[16], int b[16]) { for (int i = 0; i < 16; i++) {"
        " a[(i - 7) / 3 + 2] += i; b[(i - 7) % 3 + 2] -= i; } }",
        "void f(int a[12]) { for (int i = -5; i < 7; i++) a[i / -2 + 4] += i; }",
        "void f(int a[256]) { for (unsigned char i = 0; i < 18; i++)"
        " for (unsigned char j = 0; j < 18; j++)"
        " { unsigned char k = i * 18 + j; a[k] += i - j; } }",
        "void f(int a[8]) { for (int i = 0; i < 12; i++) { signed char k = i * 50;"
        " a[(k + 128) / 32] += i; } }",
        # What is read lies where comparisons say.
        "void f(int a[8][8]) { for (int i = 0; i < 8; i++) for (int j = i; j < 8; j++)"
        " a[i][j] = a[i - (i > 0)][0]; }",
        "void f(int a[9]) { for (int i = 0; i < 9; i++) a[i] += a[i + (i != 8) - (i > 4) * 3]; }",
    ],
)
def test_subscripts_of_either_sign_and_narrow_types_name_what_they_name_in_c(text: str) -> None:
    assert compile_program(assert_as_gcc(text), CompileOptions()).replayed


@needs_gcc
@pytest.mark.parametrize(
    "text",
    [
        "void f(int a[64], const int b[8]) { for (int i = 0; i < 8; i++)"
        " for (int j = 0; j < 30; j++) if (i * j < 64) a[i * j] += b[i]; }",
        "void f(int a[50]) { for (int i = 0; i < 8; i++) a[i * i] += i; }",
        "void f(int a[60]) { for (int i = 1; i <= 6; i++) for (int j = 0; j < 60; j += i)"
        " a[j] += i; }",
        "void f(int a[64]) { for (int p = 2; p < 8; p++) for (int j = p * p; j < 64; j += p)"
        " a[j] = 1; }",
        "void f(int a[64]) { for (int i = 0; i < 6; i++) for (int j = 0; j < (1 << i); j++)"
        " a[j + (1 << i)] += j / (i + 1); }",
        "void f(int a[80]) { for (int i = -3; i < 4; i++) for (int j = i * (i - 1) / 2; j < 9; j++)"
        " a[(i + 4) * (j + 1)] += j; }",
        # The same in variables, which are computed once.
        "void f(int a[8]) { for (int s = 1; s <= 3; s++) { int m = 1 << s, h = m >> 1;"
        " for (int k = 0; k < 8; k += m) for (int j = 0; j < h; j++)"
        " { int t = a[k + j + h] * m; a[k + j + h] = a[k + j] - t; a[k + j] += t; } } }",
        "void f(int a[64], int y[8]) { for (int i = 0; i < 8; i++) { int square = i * i;"
        " a[square] += i; y[i] = square + a[i]; } }",
        "void f(int a[40]) { int m = 1; for (int i = 1; i < 6; i++) { m = i * i + m;"
        " for (int j = 0; j < 40; j += i * i) a[j] += m; } }",
    ],
)
def test_products_of_iterators_are_taken_apart_where_one_has_few_values(text: str) -> None:
    assert compile_program(assert_as_gcc(text), CompileOptions()).replayed
