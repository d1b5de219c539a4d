"""What depends on a choice by the iterators is read once for each case of it."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import NonAffineBound
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

MACROS = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
"""
LEAST = "static int least(int a, int b) { return a < b ? a : b; }\n"


def accepted(body: str) -> str:
    head = MACROS + (LEAST if "least" in body else "")
    return head + "int f(int a[64], int b[16][16]) { " + body + " return a[0]; }"


@pytest.mark.sample(every=2)
@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "a[i < 4 ? i : i + 2] = b[1][i] + i;",
        "a[i < 4 ? 3 - i : i + 2] += b[1][i] * a[i];",
        "a[MIN(i, 5)] ^= b[i][1];",
        "a[MAX(i - 3, 0) + 1] -= b[i][1];",
        "a[least(i, 9)] += i;",
        "b[MIN(i, 3)][MAX(i, 7)] += i;",
        "int k; if (i < 4) k = i; else k = i + 2; a[k] += b[2][i];",
        "int k = i; if (i >= 4 && i < 9) k += 20; a[k]++;",
        "int k = i < 4 ? i : i < 9 ? i + 20 : 50 - i; a[k] = b[k & 15][i];",
        "a[i % 2 ? i / 2 : i / 2 + 8] = b[2][i];",
        "a[i % 3 == 1 ? i : i + 20] = b[2][i];",
        "int k = i % 3 == 0 ? 2 * i : 40 + i / 3; a[k] += i;",
        "int k = i - 4; if (k < 0) k = -k; a[k] += b[3][i];",
        "if (b[0][i] & 1) a[i < 4 ? i : i + 2] = 7; else a[i < 4 ? i : i + 2] = i;",
        "if (b[0][i] & 1) a[i < 4 ? i : i + 2] += 5;",
        "for (int j = 0; j < 5; j++) b[i < j ? i : j][i < j ? j : i] += i - j;",
        "int c = (i == 5) ? 0 : i; a[c == 0 ? 15 : c - 1] += c;",
        "*(a + (i < 4 ? i : i + 2)) = i;",
        "int c = i & 1 ? 2 : 1; b[i][(c + 1) % 3] += i; b[i][(c * 5) & 7] ^= 1;",
        "a[i == 3 || i == 7 ? 0 : i] += 1;",
    ],
)
def test_a_written_subscript_may_be_a_choice(body: str) -> None:
    program = assert_as_gcc(accepted("for (int i = 0; i < 12; i++) { " + body + " }"))
    assert not any(s.write.is_lookup for s in program.scop.statements)


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "int n = i < 4 ? 3 : 5; for (int j = 0; j < n; j++) b[i][j] += j;",
        "int n; if (i < 4) n = 3; else n = 5; for (int j = 0; j < n; j++) a[i] += b[i][j];",
        "for (int j = i < 6 ? 6 - i : 0; j < 10; j++) a[i] += b[i][j];",
        "int lo = i & 1 ? 1 : 0; for (int j = lo; j < 9; j += 2) b[i][j] ^= i;",
        "for (int j = 0; j < MAX(i, 4); j++) b[i][j] += j;",
        "for (int j = MAX(0, i - 4); j < 16; j += 2) b[i][j] += j;",
        "for (int j = 0; j != MIN(10, i + 3); j++) b[i][j] += j;",
        "for (int j = 0; j < (i < 8 ? (i + 1) / 2 : i / 2); j++) b[i][j] += j;",
        "int n = 6; if (i > 8) n = 14 - i; for (int j = 0; j < n; j++) b[i][j] += 1;",
        "for (int j = 9; j >= (i < 3 ? i : 7); j--) b[i][j] += j;",
        "int n = i < 4 ? 0 : 5, j; for (j = 0; j < n; j++) b[i][j] += j; a[i] = j;",
        "int n = i < 4 ? 3 : 5; for (int j = 0; j < 8 && j < n; j++) b[i][j] += j;",
    ],
)
def test_a_bound_may_be_a_choice(body: str) -> None:
    program = assert_as_gcc(accepted("for (int i = 0; i < 12; i++) { " + body + " }"))
    assert not program.warnings


@pytest.mark.parametrize(
    "body",
    [
        "a[b[0][i] < 4 ? i : i + 2] = 1;",
        "a[i < 4 ? b[0][0] : i + 2] = 1;",
        "a[(i + 1) * (i + 9) % b[0][0] < 20 ? i : i + 2] = 1;",
    ],
)
def test_a_choice_by_data_is_computed(body: str) -> None:
    assert is_scattered(accepted("for (int i = 0; i < 12; i++) { " + body + " }"))


def test_a_bound_that_data_chooses_is_refused() -> None:
    body = "for (int j = 0; j < (b[0][i] ? b[1][i] : 5); j++) a[0] += 1;"
    with pytest.raises(NonAffineBound):
        parse_text(accepted("for (int i = 0; i < 12; i++) { " + body + " }"))


def test_the_same_statement_in_two_cases_keeps_its_label() -> None:
    text = accepted("for (int i = 0; i < 12; i++) { here: a[i < 4 ? i : i + 2] = b[1][i]; }")
    assert [s.name for s in parse_text(text).scop.statements][:2] == ["here", "here_1"]


@needs_gcc
@pytest.mark.parametrize("guard", ["i >= 5 && i != 8", "i != 8", "(i & 5) != 4", "i < 3 || i > 9"])
def test_a_position_that_runs_on_under_a_guard_is_read_where_it_holds(guard: str) -> None:
    assert_as_gcc(
        accepted(
            f"int k = 0; for (int i = 0; i < 12; i++) {{ a[k++] = i; if ({guard}) a[k++] -= 7; }}"
        )
    )
