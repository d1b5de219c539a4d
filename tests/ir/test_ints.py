"""Numbers and rows of numbers, each once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir import ints
from rtlgen.ir.ints import distinct, distinct_rows

ROWS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(-5, 5)] * width), min_size=1)
)


@pytest.mark.parametrize("most", [ints.MAX_NUMBER, 0])
@given(rows=ROWS)
def test_every_row_once_in_order(most: int, rows: list[tuple[int, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ints, "MAX_NUMBER", most)
        found = distinct_rows(np.array(rows))
    assert [tuple(row) for row in found.tolist()] == sorted(set(rows))


def test_columns_that_tell_no_rows_apart_are_as_many_as_there_are() -> None:
    rows = np.full((3, 100), 7)
    rows[:, (4, 90)] = [[2, 0], [1, 5], [2, 0]]
    assert distinct_rows(rows)[:, (3, 4, 90)].tolist() == [[7, 1, 5], [7, 2, 0]]
    assert distinct_rows(rows[::2]).tolist() == rows[:1].tolist()


def test_of_nothing_there_is_nothing() -> None:
    assert distinct_rows(np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)
    assert distinct_rows(np.zeros((3, 0), dtype=np.int64)).shape == (1, 0)
    assert not len(distinct(np.zeros(0, dtype=np.int64)))


@given(st.lists(st.integers(-9, 9)))
def test_every_number_once_in_order(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))
