"""A loop's variable that is declared before the loop keeps its last value behind it."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import NonAffineBound
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "int f(int a[64], int b[8][8]) { "


def accesses(body: str) -> list[str]:
    scop = parse_text(HEAD + body + " return 0; }").scop
    return [str(statement.write) for statement in scop.statements][:-1]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("int i; for (i = 0; i < 8; i++) a[i] = 1; a[i] = 7;", ["a[i_1]", "a[8]"]),
        ("int i; for (i = 0; i < 8; i += 3) a[i] = 1; a[i] = 7;", ["a[i_1]", "a[9]"]),
        ("int i; for (i = 9; i >= 0; i -= 4) a[i] = 1; a[i + 9] = 7;", ["a[i_1]", "a[6]"]),
        ("int i = 5; a[i] = 1; for (i = 0; i < 3; i++) a[i] = 2;", ["a[5]", "a[i_1]"]),
        ("int i = 2; for (; i < 8; i++) a[i] = 1;", ["a[i_1]"]),
        ("int i; for (i = 0; i < 8; i++) a[i] = 1; for (; i < 9; i++) a[i] = 2;", ["a[i_1]"] * 2),
        ("int i, k; for (i = 0; i < 8; i++); k = 2 * i; a[k] = i;", ["a[16]"]),
        ("int i; for (i = 0; i < 8; i++) a[i] = 1;", ["a[i]"]),
        (
            "for (int i = 0; i < 8; i++) { int j; for (j = 0; j < i; j++) b[i][j] = 1;"
            " b[i][j] = 2; }",
            ["b[i][j_1]", "b[i][i]"],
        ),
    ],
)
def test_the_value_behind_a_loop_is_affine(body: str, written: list[str]) -> None:
    found = accesses(body)
    assert found == written


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < 8; i++) { for (j = 3; j < i; j++) a[j] += b[i][j]; s += j * j; }",
        "for (i = 0; i < 8; i++) { for (j = 3; j < i; j++) a[j] += b[i][j];"
        " s += j; for (; j < 8; j++) a[j] -= b[i][j]; }",
        "for (i = 0; i < 8; i++) { for (j = 1; j < 2 * i; j += 3) a[j] += s; b[i][0] = j; }",
        "for (i = 0; i < 8; i++) { for (j = 7; j >= i && j >= 4; j -= 2) a[j]++; s += j; }",
        "for (i = 0; i < 8; i++) { for (j = i > 3 ? i : 3; j < 8 && j < i + 3; j++) a[j]++; s += j;"
        " }",
        "for (i = 0; i < 8; i++) { if (a[i] > 0) for (j = 0; j < i; j++) a[j] += 3; s += j; }",
        "for (i = 0; i < 8; i++) { if (i > 4) for (j = 0; j < i; j++) a[j] += 3; s += j; }",
        "for (i = 10; i < 5; i++) a[i] = 0; a[i] = 3;",
        "for (i = 0; i < 8; i++); for (int t = 0; t < 4; t++) { a[t] = i;"
        " for (i = 0; i < t; i++) s += i; }",
        "for (i = 0; i < 8; i++) { for (j = 0; j < 8; j++) a[j]++; if (j == 8) a[i] ^= 5; }",
        "i = 5; a[i] = 1; for (i = 0; i != 9; i++) a[i]++; { int i; for (i = 0; i < 3; i++) a[i]++;"
        " } a[i] = 17;",
    ],
)
def test_the_value_behind_a_loop_is_that_of_c(body: str) -> None:
    assert_as_gcc(HEAD + f"int i, j = 9, s = 0; {body} return 64 * s + j; }}")


@needs_gcc
def test_a_loop_variable_may_be_returned() -> None:
    program = assert_as_gcc("int f(int a[8]) { int i; for (i = 1; i < 8; i++) a[i]++; return i; }")
    assert [str(s.write) for s in program.scop.statements] == ["a[i_1]", "return_value"]


def test_a_start_that_data_decides_is_no_bound() -> None:
    body = "int i = a[0]; for (; i < 8; i++) b[0][0]++;"
    with pytest.raises(NonAffineBound):
        accesses(body)
    body = "int j = 0; for (int i = 0; i < 8; i++) for (; j < 4 * i; j++) a[j]++;"
    with pytest.raises(NonAffineBound):
        accesses(body)


@needs_gcc
@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0, j = 30; i < j; i += 2, j--)",
        "int i, j; for (i = 0, j = 29; i <= j; i += 3, j -= 2)",
        "for (int i = 30, j = 0; j < i; i -= 3, j += 2)",
        "int i = 4, j = 20; for (; i < j; i++, j--)",
        "int i = 4, j = 20; for (; i < j; i += 5, j -= 2)",
        "int i_count = 3; for (int i = 0, j = 30; i + i_count < j; i += 2, j--)",
    ],
)
def test_two_variables_run_towards_each_other(loop: str) -> None:
    text = f"int f(int a[32]) {{ {loop} {{ int t = a[i]; a[i] = a[j] + i; a[j] = t; }} return 0; }}"
    program = assert_as_gcc(text)
    assert not any(array.name in ("i", "j") for array in program.scop.arrays)


def test_variables_that_meet_somewhere_are_refused() -> None:
    loop = "int j = 30; for (int i = 0; i < j; i += 2, j -= a[0]) a[0] = 2;"
    with pytest.raises(NonAffineBound):
        parse_text(f"void f(int a[32]) {{ {loop} }}")
