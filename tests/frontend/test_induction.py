"""Scalars that a loop moves by a constant are functions of its iterator."""

from __future__ import annotations

from typing import Any

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError, NonAffineBound
from rtlgen.frontend.evolution.program import Evaluation
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "void f(int a[64], int b[8][8]) "


def accesses(body: str) -> list[str]:
    scop = parse_text(HEAD + "{ " + body + " }").scop
    return [str(statement.write) for statement in scop.statements]


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("int k = 3; for (int i = 0; i < 8; i++) { a[k] = 1; k++; }", ["a[i + 3]"]),
        ("int k = 3; for (int i = 0; i < 8; i++) { k++; a[k] = 1; }", ["a[i + 4]"]),
        ("int k = 63; for (int i = 2; i < 8; i++) a[k--] = 1;", ["a[-i + 65]"]),
        ("int k = 0; for (int i = 7; i >= 0; i--) a[k++] = 1;", ["a[-i + 7]"]),
        ("int k = 0; for (int i = 0; i < 8; i += 2) { a[k] = 1; k += 4; }", ["a[2*i]"]),
        (
            "int k = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[k++] = b[i][j];",
            ["a[8*i + j]"],
        ),
        (
            "int row = 0; for (int i = 0; i < 8; i++) {"
            " for (int j = 0; j < 8; j++) a[row + j] = 1; row = row + 8; }",
            ["a[8*i + j]"],
        ),
        ("int k = 0; for (int i = 0; i < 8; i++) k += 3; a[k] = 1;", ["a[24]"]),
        (
            "int k = 0; for (int i = 0; i < 8; i++) { for (int j = 0; j < i; j++) a[k + j] = 1;"
            " k += 7; }",
            ["a[7*i + j]"],
        ),
        ("for (int i = 0, j = 7; i < 8; i++, j--) b[i][j] = 1;", ["b[i][-i + 7]"]),
        (
            "int k = 0; for (int i = 0; i < 8; i++)"
            " { a[k] = 1; { int k = 1; k++; a[k] = 2; } k++; }",
            ["a[i]", "a[2]"],
        ),
        (
            "int k = 0; for (int i = 0; i < 8; i++) { int t = k + 3; a[k] = 1; k = t - 1; }",
            ["a[2*i]"],
        ),
        ("int k = 0; for (int i = 0; i < 8; i++) { a[k] = 1; k = 8 * i + 8; }", ["a[8*i]"]),
        (
            "int k = 2; for (int i = 7; i > 0; i -= 2)"
            " { for (int j = 0; j < 4; j++) { a[k] = 1; k += 9; } k = 11 - i; } a[k] = 2;",
            ["a[-i + 9*j + 9]", "a[10]"],
        ),
        (
            "int n = 4, c = n, k = 0; do { a[k] = 1; k += 7; c--; k = n - c; } while (c > 0);"
            " a[k] = 2;",
            ["a[trip]", "a[4]"],
        ),
        ("int i, j; for (j = 7, i = 0; i < 8; --j, ++i) b[i][j] = 1;", ["b[i][-i + 7]"]),
    ],
)
def test_the_subscript_is_affine(body: str, written: list[str]) -> None:
    assert accesses(body) == written


@pytest.mark.parametrize(
    "body",
    [
        "int k = 0; for (int i = 0; i < 8; i++) { if (a[i]) k++; b[0][k] = 1; }",
        "int k = 0; for (int i = 0; i < 8; i++) for (int j = 0; j < i; j++) a[k++] = 1;",
        "int k = 1; for (int i = 0; i < 17; i++) { a[k & 7] = 1; k *= 3; }",
        "int k = 0; for (int i = 0; i < 17; i++) { a[k & 7] = 1; k += i; }",
        "int k = a[0]; for (int i = 0; i < 5; i++) a[k++] = 1;",
    ],
)
def test_what_is_moved_differently_is_computed(body: str) -> None:
    assert is_scattered(HEAD + "{ " + body + " }")


ROUND = "int c = 0, s = 0; for (int i = 0; i < 24; i++) { a[c] += b[i & 7][i / 8]; "


@needs_gcc
@pytest.mark.parametrize(
    "step",
    [
        "if (++c == 5) c = 0;",
        "c++; if (c >= 5) c = 0;",
        "c = (c == 4) ? 0 : c + 1;",
        "c = (c + 1) % 5;",
        "if (c < 4) c++; else c = 0;",
        "if (c++ == 4) c = 0;",
        "if (c-- == 0) c = 4;",
        "c = c ? c - 1 : 4;",
        "c = (c + 1) & 3;",
        "c += 2; if (c > 6) c -= 7;",
        "c = 1 - c;",
        "c ^= 1;",
        "c = !c;",
        "for (int k = 0; k < 3; k++) if (++c == 5) c = 0;",
        "if (c == 0) s += 3; else if (c < 3) s ^= i; c++; if (c == 5) c = 0;",
    ],
)
def test_a_scalar_that_goes_round_is_known_whatever_it_is_written_with(step: str) -> None:
    text = "int f(int a[64], int b[8][8]) { " + ROUND + step + " } return 8 * s + c; }"
    program = assert_as_gcc(text)
    assert "c" not in {statement.write.array for statement in program.scop.statements}


@needs_gcc
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 7, 24, 30])
def test_a_scalar_goes_round_in_nested_loops(limit: int) -> None:
    body = (
        "int c = 0; for (int i = 0; i < 4; i++) { a[40 + c] ^= i;"
        f" for (int j = 6; j > 0; j--) {{ a[c] += b[i][j]; if (++c == {limit}) c = 0; }} }}"
    )
    assert_as_gcc(f"int f(int a[128], int b[8][8]) {{ {body} return c; }}")


@needs_gcc
def test_a_narrow_scalar_goes_round_by_itself() -> None:
    body = (
        "unsigned char c = 250; for (int i = 0; i < 24; i += 2) { c++; a[c & 15] += b[1][i & 7]; }"
    )
    assert_as_gcc(HEAD.replace("void", "int") + "{ " + body + " return c; }")


@pytest.mark.parametrize(
    "step",
    [
        "if (b[0][i & 7]) { if (++c == 5) c = 0; }",
        "if (++c == 5) c = b[1][1] & 3;",
        "c = (5 * c + 1) & 15;",
        "if (++c == 5) c = 0; if (i == 7) c = 0;",
        "{ int c = i; if (++c == 5) c = 0; } c += b[0][0];",
        "int d = b[0][1]; if (d > 3) c++; if (c == 5) c = 0;",
    ],
)
def test_a_scalar_that_goes_round_irregularly_is_computed(step: str) -> None:
    assert is_scattered(HEAD + "{ int d = 4; " + ROUND + step + " } }")


def test_a_triangular_loop_turns_a_scalar_by_no_constant() -> None:
    assert is_scattered(
        HEAD + "{ int c = 0; for (int i = 0; i < 4; i++) for (int j = 0; j < i; j++)"
        " { a[c] += 1; if (++c == 5) c = 0; } }"
    )


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "int k = 0, m = 1; for (int i = 0; i < 5; i++) { int m = b[0][i] & 3; a[0] += k; k += m; }",
        "int k = 0, m = 1; for (int i = 0; i < 5; i++) { a[0] += k; m++; k += m; } a[1] = k;",
        "int c = 0, m = 1; for (int i = 0; i < 9; i++) { int m = b[0][i & 7] & 1; a[0] += c;"
        " if (m) c++; if (c == 3) c = 0; } a[1] = c;",
    ],
)
def test_a_name_means_in_a_loop_what_it_means_there(body: str) -> None:
    assert_as_gcc(HEAD + "{ " + body + " }")


def test_an_increment_that_c_leaves_open_is_refused() -> None:
    for body in ("int k = 0; a[k++] = k;", "int k = 0; a[k++] = b[0][k++];", "a[0] = a[0]++;"):
        with pytest.raises(FrontendError):
            accesses(body)


def test_behind_a_loop_that_may_be_empty_nothing_is_known() -> None:
    body = (
        "for (int i = 0; i < 8; i++) { int k = 0; for (int j = 4; j < i; j++) k += 1; a[k] = 1; }"
    )
    assert is_scattered(HEAD + "{ " + body + " }")


@pytest.mark.sample("s <<= 2", "s += 7")
@pytest.mark.parametrize("step", ["s <<= 2", "s += s", "s = 3 * s", "s += 7", "s = 5"])
def test_a_loop_of_billions_of_iterations_is_not_gone_through(step: str) -> None:
    # i - 1 is 4294967295 here: a typing error for i, and for a loop that is empty.
    body = f"int s = 2; for (unsigned i = 0; i < 1; i++) for (int j = 0; i - 1 >= j; j++) {step};"
    with pytest.raises(NonAffineBound):
        accesses(f"{body} a[0] = s;")


def test_what_a_scalar_becomes_in_many_steps_is_counted_in_its_width() -> None:
    body = "unsigned s = 3; for (int i = 0; i < 40; i++) {{ {} }} a[0] = s; a[1] = s >> 3;"
    for step in ("s <<= 2;", "s *= 3;", "s = s * 2 + 5;"):
        assert_as_gcc(HEAD + "{ " + body.format(step) + " }")


def test_what_a_deep_nest_makes_of_a_scalar_is_found_level_by_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluations: list[Evaluation] = []
    begin = Evaluation.run

    def noted(self: Evaluation, *arguments: Any) -> None:
        evaluations.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(Evaluation, "run", noted)
    nest = " ".join(f"for (int i{k} = 0; i{k} < 2; i{k}++)" for k in range(12))
    parse_text(f"int f(const int x[1]) {{ int s = 0; {nest} s += x[0]; return s; }}")
    assert sum({id(each): each.steps for each in evaluations}.values()) < 300
