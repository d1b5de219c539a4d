"""Where the elements of an array with several banks are between runs."""

from __future__ import annotations

from rtlgen.options import CompileOptions
from tests.scheduling.test_replay import compiled

HALVES = """
void f(int a[64], const int b[64]) {
  for (int t = 0; t < %d; t++)
    for (int i = 0; i < 32; i++) {
      a[i] += b[i];
      a[i + 32] -= b[i];
    }
}
"""


def test_homes_are_the_same_however_many_instances_there_are() -> None:
    few, many = (
        compiled(HALVES % times, CompileOptions()).plan.memory("a") for times in (3, 1_000_000)
    )
    assert few.write_ports == 2
    assert few.homes == many.homes == (0,) * 32 + (1,) * 32
