"""The comparison finds every difference and names the first ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rtlgen.verify.compare import SHOWN_MISMATCHES, compare_memories
from rtlgen.verify.values import Elements


def test_equal_memories_are_exact() -> None:
    memory: dict[str, Elements] = {
        "A": np.arange(6, dtype=np.int32).reshape(2, 3),
        "s": np.array(7, dtype=np.int8),
    }
    result = compare_memories(memory, {name: array.copy() for name, array in memory.items()})
    assert result.exact
    assert result.text() == "all 7 elements agree"


def test_a_single_wrong_bit_is_named() -> None:
    expected = {"A": np.arange(6, dtype=np.int32).reshape(2, 3)}
    got = {"A": expected["A"].copy()}
    got["A"][1, 0] ^= -(2**31)
    result = compare_memories(expected, got)
    assert not result.exact
    assert result.text() == ("1 of 6 elements differ\n  A[1][0]: expected 3, got -2147483645")
    cycles: dict[tuple[str, tuple[int, ...]], int] = {("A", (1, 0)): 41}
    assert result.with_cycles(cycles).text().endswith("got -2147483645, written in cycle 41")


def test_all_differences_are_counted_and_some_are_shown() -> None:
    expected = {"A": np.zeros(30, dtype=np.uint8), "B": np.zeros(30, dtype=np.uint8)}
    got = {name: array + np.uint8(1) for name, array in expected.items()}
    result = compare_memories(expected, got, shown=31)
    assert (result.mismatches, len(result.first)) == (60, 31)
    assert result.first[-1].array == "B"
    assert result.text().endswith("and 29 more")


def test_ten_differences_are_shown_where_nobody_asks_for_more() -> None:
    result = compare_memories({"A": np.zeros(30, np.int8)}, {"A": np.ones(30, np.int8)})
    assert len(result.first) == 10 == SHOWN_MISMATCHES


def test_one_equal_element_is_enough_to_compare() -> None:
    memory: dict[str, Elements] = {"s": np.array(7, np.int8)}
    assert compare_memories(memory, memory).exact


def test_scalars_differ_too_and_the_result_is_json() -> None:
    result = compare_memories({"s": np.array(1, np.int16)}, {"s": np.array(2, np.int16)})
    assert json.loads(json.dumps(result.to_json())) == {
        "exact": False,
        "elements": 1,
        "mismatches": 1,
        "first": [{"array": "s", "index": [], "expected": 1, "got": 2, "cycle": None}],
    }


def test_comparing_nothing_proves_nothing() -> None:
    result = compare_memories({}, {})
    assert not result.exact
    assert result.text() == "nothing was compared"


@pytest.mark.parametrize(
    "got",
    [
        {},
        {"A": np.zeros(4, np.int32), "B": np.zeros(4, np.int32)},
        {"A": np.zeros((2, 2), np.int32)},
        {"A": np.zeros(4, np.uint32)},
    ],
)
def test_memories_of_another_form_are_refused(got: dict[str, Elements]) -> None:
    with pytest.raises(ValueError, match="compared with"):
        compare_memories({"A": np.zeros(4, np.int32)}, got)
