"""Carrying a statement out costs what its scalars need, and no more."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.evolution import trace
from rtlgen.frontend.reading.writes import read_assignment
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

ALIKE = """
void f(const int a[64][64], int b[64]) {
  int s = 0;
  for (int t = 0; t < 32; t++)
    for (int i = 0; i < 32; i++) { s = 0; for (int k = 0; k < 32; k++) s += a[i + t][k]; b[i] = s; }
}
"""
LONG = """
void f(const int a[8], int b[8]) {
  int n = 0, d = 1;
  for (int i = 0; i < 8; i++) {
    for (unsigned k = 0; k < 4000000000; k++) { if (k % 3 == 1) n++; else d += a[k & 7]; }
    b[i] = n + d;
  }
}
"""
HIDDEN = """
int f(int b[16]) {
  int k = 0, t[4] = {1, 2, 3, 4};
  static const int by[4] = {1, 2, 1, 2};
  for (int i = 0; i < 4; i++) { int t = 2; t += 1; b[k] = 1; k += t; }
  for (int i = 0; i < 2; i++) { k = 0; for (int j = 0; j < 4; j++) { b[k] += by[j]; k += by[j]; } }
  return k + t[1];
}
"""


@pytest.mark.parametrize("text", [ALIKE, LONG])
def test_iterations_that_tell_nothing_are_not_carried_out(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Callable[..., object] = read_assignment
    count = 0

    def counted(*arguments: object) -> object:
        nonlocal count
        count += 1
        return read(*arguments)

    monkeypatch.setattr(trace, "read_assignment", counted)
    parse_text(text)
    assert 0 < count < 1_000


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_a_name_that_hides_an_array_is_followed() -> None:
    assert_as_gcc(HIDDEN)
