"""Plans that took minutes once stay within a number of elementary steps."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import counted_effort
from rtlgen.options import CompileOptions

# In lanes, the sums of all rows share one variable, and then have one each.
DENSE = """
void dense(const signed char w[64][128], const signed char x[128], const int b[64],
           signed char y[64]) {
  for (int i = 0; i < 64; i++) {
    int s = b[i];
    for (int j = 0; j < 128; j++) s += w[i][j] * x[j];
    s = s >> 7;
    y[i] = s < 0 ? 0 : (s > 127 ? 127 : s);
  }
}
"""

# Strides that double: many statements, and copies of an array that other loops could do without.
WALSH = """
void walsh(int a[32]) {
  for (int len = 1; len < 32; len <<= 1)
    for (int i = 0; i < 32; i += 2 * len)
      for (int j = i; j < i + len; j++) {
        int u = a[j], v = a[j + len];
        a[j] = u + v;
        a[j + len] = u - v;
      }
}
"""

# Places that overlap: the dependences have fractional vertices.
OVERLAPPING = """
void overlapping(const int x[20], int c[60]) {
  for (int i = 0; i < 2; i++) {
    c[0] = i;
    for (int j = 0; j < 3; j++) for (int h = 0; h < 3; h++)
      for (int w = 0; w < 3; w++) for (int o = 0; o < 3; o++)
        c[3 * h + 2 * w + o] += x[j + h + w];
  }
}
"""

NEST_OF_TWO = """
int nest(const int x[1]) {
  int s = 0;
  for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) for (int c = 0; c < 2; c++)
  for (int d = 0; d < 2; d++) for (int e = 0; e < 2; e++) for (int f = 0; f < 2; f++)
  for (int g = 0; g < 2; g++) for (int h = 0; h < 2; h++) for (int i = 0; i < 2; i++)
  for (int j = 0; j < 2; j++) s += x[0];
  return s;
}
"""

WIDE_SUM = """
int sum(const int x[1]) { int s = 0; for (int i = 0; i < 1024; i++) s += x[0]; return s; }
"""


@pytest.mark.sample("wide-sum", "overlapping")
@pytest.mark.parametrize(
    ("text", "lanes", "cycles", "most_steps"),
    [
        (DENSE, {"i": 4}, 2_056, 2_500_000),
        (WALSH, {}, 38, 10_000_000),
        (OVERLAPPING, {}, 165, 4_000_000),
        (NEST_OF_TWO, {}, 1_025, 5_000_000),
        (WIDE_SUM, {"i": 512}, 3, 200_000),
    ],
    ids=["dense", "walsh", "overlapping", "nest-of-two", "wide-sum"],
)
def test_plans_take_few_steps(
    text: str, lanes: dict[str, int | None], cycles: int, most_steps: int
) -> None:
    with counted_effort() as effort:
        found = compile_program(parse_text(text), CompileOptions(unroll=lanes))
    assert predicted_cycles(found.plan) <= cycles
    assert effort.steps <= most_steps
