"""What circuits do with subscripts that C gives no meaning: nothing else is overwritten."""

from __future__ import annotations

import numpy as np
import pytest

import rtlgen
from tests.end_to_end.judge import compiled
from tests.plans.interpreter import interpret

ROWS = """void f(const int row[8], const int at[8], const short v[8], int y[3][10])
{
  for (int i = 0; i < 8; i++)
    y[row[i]][at[i] - 2] = v[i];
}
"""


def test_what_is_not_stored_need_not_be_loaded() -> None:
    """Behind the first iterations no row of m is inside, so nothing is stored, whatever x is."""
    found = compiled(
        """void f(const unsigned char x[6], const int b[6], int a[12], const short m[2][7])
        {
          for (int i = 0; i < 6; i++)
            if (b[i] & 1)
              a[x[i] / 2] = m[x[i] + i][i] + 1;
        }"""
    )
    assert found is not None
    x, b = [1, 0, 9, 9, 9, 9], [1, 1, 0, 0, 2, 4]
    a, m = list(range(12)), list(range(14))
    after = interpret(found.plan, {"x": x, "b": b, "a": a, "m": m}, {})
    assert after["a"] == [m[8] + 1, *range(1, 12)]


@pytest.mark.simulation
def test_a_store_outside_of_a_row_stores_nothing() -> None:
    design = rtlgen.compile(source=ROWS)
    row = np.array([0, 0, 2, -1, 3, 1 << 30, 1, 2], np.int32)
    at = np.array([12, 1, 14, 5, 5, 2, 2 + (1 << 31) - (1 << 32), 7], np.int32)
    y = np.arange(30, dtype=np.int32).reshape(3, 10)
    found = design.run(row=row, at=at, v=np.full(8, -7, np.int16), y=y).arrays["y"]
    assert found[2][5] == -7
    y[2][5] = -7
    assert (found == y).all()
