"""Bounds of loops with quotients, remainders and masks of iterators, negative ones too."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
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
