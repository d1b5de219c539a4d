"""Scalars that a loop moves by a constant are functions of its iterator."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError, NonAffineSubscript

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
        "int k = 1; for (int i = 0; i < 5; i++) { a[k] = 1; k *= 2; }",
        "int k = 0; for (int i = 0; i < 5; i++) { a[k] = 1; k += i; }",
        "int k = 0, m = 1; for (int i = 0; i < 5; i++) { a[k] = 1; m++; k += m; }",
        "int k = 0, m = 1; for (int i = 0; i < 5; i++) { a[k] = 1; k += m; m++; }",
        "int k = a[0]; for (int i = 0; i < 5; i++) a[k++] = 1;",
        "unsigned char k = 250; for (int i = 0; i < 9; i++) { a[k - 250] = 1; k++; }",
        "int k = 0; for (int i = 0; i < 8; i++) { a[k] = 1; { int k = 1; k++; a[k] = 2; } k++; }",
    ],
)
def test_what_is_moved_differently_is_refused(body: str) -> None:
    with pytest.raises(NonAffineSubscript):
        accesses(body)


def test_an_increment_that_c_leaves_open_is_refused() -> None:
    for body in ("int k = 0; a[k++] = k;", "int k = 0; a[k++] = b[0][k++];", "a[0] = a[0]++;"):
        with pytest.raises(FrontendError):
            accesses(body)


def test_behind_a_loop_that_may_be_empty_nothing_is_known() -> None:
    body = (
        "for (int i = 0; i < 8; i++) { int k = 0; for (int j = 4; j < i; j++) k += 1; a[k] = 1; }"
    )
    with pytest.raises(NonAffineSubscript):
        accesses(body)
