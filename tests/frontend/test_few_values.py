"""Loops whose iterator takes a few values by other steps are written out."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "int f(int a[64], const int b[64]) "


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "for (int n = 16; n > 1; n >>= 1) for (int i = 0; i < n / 2; i++) a[i] += a[n / 2 + i];",
        "for (int n = 1; n < 40; n *= 3) a[n] += b[n - 1];",
        "for (int n = 1; n <= 32; n = 2 * n + 1) { a[n] = k; k += n; }",
        "for (unsigned n = 8; n; n /= 2) a[n] ^= b[n];",
        "int n; for (n = 32; n >= 2; n = n >> 2) a[n] = n; k = n;",
        "for (int m = 2; m <= 8; m <<= 1) for (int n = m >> 1; n > 0; n >>= 1)"
        " for (int i = 0; i < 8; i++) a[i ^ n] += b[i & m] + m;",
        "for (int n = 1; n * n < 30; n++) a[n] += n;",
        "for (unsigned char n = 252; n % 9 <= 5; ++n) k++;",
        "for (int n = 0; n / 2 < 4; n++) a[n]++;",
        "for (int i = 0; i < 3; i++) for (int n = 1; n < 9; n += n) { if (i > 1) a[n + i] = i; }",
        "for (int n = 0; n < 8 && n != 3; n++) a[n] += k;",
        "int m = 1; for (int n = 16; n > m; n >>= 1) { a[0] += n; m++; }",
        "for (int n = 1; n * n < 3000; n++) a[n & 7] += n;",
        "for (int n = 16; n > 1; n >>= 1) { n--; a[0] += n; }",
    ],
)
def test_the_body_is_carried_out_for_each_value(body: str) -> None:
    assert_as_gcc(HEAD + "{ int k = 3; " + body + " return k; }")


@pytest.mark.parametrize("header", ["int n = 9; n < 5; n *= 2", "int n = 0; n < 8 && n > 2; n++"])
def test_a_loop_without_a_value_is_never_entered(header: str) -> None:
    program = parse_text(HEAD + f"{{ for ({header}) a[n] = 0; return a[0] + b[0]; }}")
    assert [warning.code for warning in program.warnings] == ["W0101"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("for (int n = 16; n > b[0]; n >>= 1) a[0] += n;", "E0117"),
        ("for (int n = 16; n > 1; n >>= 0) a[0] += n;", "E0117"),
    ],
)
def test_a_loop_of_other_values_is_refused(body: str, code: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(HEAD + "{ " + body + " return 0; }")
    assert caught.value.code == code


def test_nested_loops_are_written_out_so_far_only() -> None:
    loops = " ".join(f"for (int {n} = 1; {n} < 9999; {n} *= 2)" for n in "pqrstuvw")
    with pytest.raises(FrontendError) as caught:
        parse_text(HEAD + f"{{ {loops} a[0] += p * w; return 0; }}")
    assert caught.value.code == "E0117"
