"""Variables with one value: as extents of local arrays, and as parameters of static functions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

HEAD = "#include <stddef.h>\nint g = 8; void f(int a[8], int b[8], int x) "


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize(
    "declared",
    [
        "int n = 8; int t[n];",
        "int n = 7, t[n + 1];",
        "int n = 2; int m = 4; int t[n * m];",
        "size_t n = 8; int t[n];",
        "int n = 8; { int n = x; b[0] = n; } int t[n];",
    ],
)
def test_an_extent_may_be_a_variable_with_one_value(declared: str) -> None:
    assert_as_gcc(
        f"""{HEAD} {{ {declared}
          for (int i = 0; i < 8; i++) t[i] = a[i] + 1;
          for (int i = 0; i < 8; i++) b[i] = t[7 - i] * n;
        }}"""
    )


@pytest.mark.parametrize(
    "declared",
    [
        "int n = 8; n++; int t[n];",
        "int n = x; int t[n];",
        "signed char n = 300; int t[n];",
        "_Bool n = 8; int t[n];",
        "int n = 8; { int n = x; int t[n]; b[0] = t[0]; } int t[8];",
        "int t[g];",
        "int t[x];",
    ],
)
def test_an_extent_that_may_be_another_is_refused(declared: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(f"{HEAD} {{ {declared} t[0] = a[0]; b[0] = t[x & 1]; g++; }}")


KERNEL = """
    enum { HALF = 4 }; typedef unsigned char byte; const int eight = 8; int shared = 8;
    static int f(int n, byte m, int a[8]) {
      int s = m;
      for (int i = 0; i < n; i++) s += a[i] * m;
      return s;
    }
"""


def given(text: str) -> list[str]:
    """Return the values that the parameters of `f` are known to have."""
    return [parameter.given for parameter in parse_text(text, function="f").scop.parameters]


@pytest.mark.parametrize(
    ("calls", "known"),
    [
        ("int n = 8; f(n, 3, a);", ["8", "3", ""]),
        ("f(8, 3, a); f(2 * HALF, 3, a); f(eight, 1 + 2, a);", ["8", "3", ""]),
        ("int n = 8; { int n = x; x = n; } f(n, x, a);", ["8", "", ""]),
        ("f(8, 3, a); f(7, 3, a);", ["", "3", ""]),
        ("f(-1, 300, a);", ["-1", "", ""]),
        ("int n = 8; f(n, 3, a); n = 7;", ["", "3", ""]),
        ("int n = 8; fill(&n); f(n, 3, a);", ["", "3", ""]),
        ("f(shared, 3, a);", ["", "3", ""]),
        ("f(8, 3, a); table[0] = f;", ["", "", ""]),
        ("f(8, 3);", ["", "", ""]),
        ("", ["", "", ""]),
    ],
)
def test_what_all_calls_give_the_same_number_is_that_number(
    calls: str, known: Sequence[str]
) -> None:
    outer = f"{KERNEL} void *table[1]; void fill(int *n); int main(void) {{ int a[8], x; {calls} }}"
    assert given(outer) == known
    # Others may call it with other numbers.
    assert given(outer.replace("static int f", "int f")) == ["", "", ""]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            """void f(float *y, const float *x, int rows, int cols, int gain) {
              for (int r = 0; r < rows; r++)
                for (int c = 0; c < cols; c++) y[c * rows + r] = gain * x[r * cols + c]; }""",
            {"rows": "4", "cols": "6"},
        ),
        (
            """static int sum(const int *x, int n) {
              int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
            int f(const int *x, int first, int last, int scale) {
              int size = last - first; return scale * sum(x + first, size); }""",
            {"first": "3", "last": "9"},
        ),
        (
            """int f(const char *x, int n, int seed, int k) {
              int end = (n - 1) >> 1, s = seed;
              while (end-- > 0) s = s * x[end] + k;
              return s; }""",
            {"n": "9"},
        ),
    ],
    ids=("subscripts", "calls", "values"),
)
def test_a_refusal_tells_all_options_that_settle_it(text: str, options: dict[str, str]) -> None:
    with pytest.raises(FrontendError) as refused:
        parse_text(text, function="f")
    told = " ".join(f"-D {name}=VALUE" for name in options)
    assert any(f"{told} fixes" in x or f": {told}" in x for x in refused.value.diagnostic.notes)
    assert parse_text(text, function="f", defines=options).scop.statements


def test_one_that_is_given_is_a_constant_of_the_kernel() -> None:
    text = """
        static void f(int last, int n, float a[n][n]) {
          for (int i = 0; i < n; i++) { a[last - 1][i] = 1; n = n; }
        }
        int main(void) { float a[8][8]; f(8, 8, a); return 0; }"""
    program = parse_text(text, function="f")
    assert [str(array) for array in program.scop.arrays if array.storage == "parameter"]
    assert program.scop.array("a").shape == (8, 8)
    assert not program.scop.scalars
    (warning,) = [each for each in program.warnings if each.code == "W0119"]
    assert [label.text for label in warning.labels] == ["is 8", "is 8"]
    fixed = parse_text(text, function="f", defines={"last": "3", "n": "4"}).scop
    assert fixed.array("a").shape == (4, 4)
    assert [parameter.given for parameter in fixed.parameters] == ["3", "4", ""]
