"""Local arrays may have extents that are variables with one value."""

from __future__ import annotations

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
