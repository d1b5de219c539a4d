"""Scalars that go round at the start of a loop's body instead of at its end."""

from __future__ import annotations

import pytest

from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_a_wrap_at_the_top_is_one_at_the_bottom() -> None:
    program = assert_as_gcc(
        """
        int f(const int in[64], int a[8], int b[64], int c[9], int d[64]) {
          int j = 0, k = 0, m = 3, l = 0, p = 0;
          for (int n = 0; n < 64; n++) {
            d[n] = in[n];
            if (j == 8) j = 0;
            k %= 5;
            if (m < 0) { m = 3; }
            a[j] += in[n] + k; b[n] = m;
            j++; k++; m--;
          }
          for (int r = 0; r < 4; r++)
            for (int n = 0; n < 6; n++) { if (l == 4) l = 0; c[l] += in[n + r]; l++; }
          for (int n = 0; n < 7; n++) { d[n] += p; if (p == 3) p = 0; d[n + 8] -= p; p++; }
          return j + 10 * k + 100 * m + 1000 * l + 10000 * p;
        }"""
    )
    writes = [str(s.write) for s in program.scop.statements]
    # Neither a wrap nor a step is left of what only counts.
    assert not {"k", "m"} & set(writes)


@pytest.mark.parametrize(
    "body",
    [
        "a[j]++; if (j == 8) j = 0; j++;",
        "if (j == 8) j = 0; else j = j + x; a[j]++; j++;",
        "see(); if (j == 8) j = 0; a[j]++; j++;",
    ],
)
def test_what_is_seen_before_the_wrap_is_not_taken_for_another_value(body: str) -> None:
    text = f"""int j, seen; void see(void) {{ seen += j; }}
        void f(int a[9], int x) {{ j = 0; for (int n = 0; n < 40; n++) {{ {body} }} }}"""
    assert is_scattered(text, function="f")
