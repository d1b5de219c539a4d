"""The comparison finds every difference and names the first ones.

The checksum is the CRC of the memory image, sensitive to every bit and to the order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.crc import absorb
from rtlgen.verify.compare import (
    SHOWN_MISMATCHES,
    Mismatch,
    checksum,
    compare_memories,
    crc_of_bytes,
    format_checksum,
)
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


def test_scalars_differ_too() -> None:
    result = compare_memories({"s": np.array(1, np.int16)}, {"s": np.array(2, np.int16)})
    assert not result.exact
    assert result.first == (Mismatch("s", (), 1, 2),)


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


def word_by_word(arrays: list[npt.NDArray[np.integer]]) -> int:
    """Absorb element by element, as the hardware unit does."""
    state = 0
    for array in arrays:
        for value in array.reshape(-1).tolist():
            state = absorb(state, value, array.dtype.itemsize * 8)
    return state


def test_the_published_check_value_is_met() -> None:
    assert crc_of_bytes(b"123456789") == 0x6C40DF5F0B497347


def test_an_empty_image_has_the_initial_state() -> None:
    assert checksum([]) == 0


@given(st.binary(max_size=400))
def test_any_length_agrees_with_one_byte_at_a_time(message: bytes) -> None:
    state = 0
    for byte in message:
        state = absorb(state, byte, 8)
    assert crc_of_bytes(message) == state


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_each_width_agrees_with_one_word_at_a_time(dtype: str) -> None:
    generator = np.random.default_rng(1)
    info = np.iinfo(dtype)
    values = generator.integers(info.min, info.max, size=(5, 7), dtype=dtype, endpoint=True)
    assert checksum([values]) == word_by_word([values])


def test_widths_may_be_mixed_and_scalars_count() -> None:
    arrays: list[npt.NDArray[np.integer]] = [
        np.array(-2, dtype=np.int16),
        np.arange(6, dtype=np.uint64).reshape(2, 3),
    ]
    assert checksum(arrays) == word_by_word(arrays)


def test_every_single_bit_changes_it() -> None:
    image = np.array([[1, -1], [2**31 - 1, -(2**31)]], dtype=np.int32)
    seen = {checksum([image])}
    for bit in range(image.nbytes * 8):
        flipped = np.frombuffer(image.tobytes(), dtype=np.uint8).copy()
        flipped[bit // 8] ^= 1 << bit % 8
        seen.add(checksum([flipped.view(np.int32)]))
    assert len(seen) == image.nbytes * 8 + 1


def test_the_order_of_elements_and_of_arrays_counts() -> None:
    a, b = np.arange(4, dtype=np.int32), np.arange(4, 8, dtype=np.int32)
    assert len({checksum([a, b]), checksum([b, a]), checksum([a[::-1], b])}) == 3


def test_memory_layout_does_not_count() -> None:
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert checksum([np.asfortranarray(a)]) == checksum([a])
    assert checksum([a.astype(">i4")]) == checksum([a])


def test_a_large_image_agrees_with_its_folded_halves() -> None:
    generator = np.random.default_rng(2)
    message = generator.integers(0, 256, size=1 << 20, dtype=np.uint8).tobytes()
    whole = crc_of_bytes(message)
    # Linear: the CRC of a sum is the sum of the CRCs.
    half = len(message) // 2
    front = message[:half] + bytes(half)
    assert whole == crc_of_bytes(front) ^ crc_of_bytes(message[half:])


def test_of_numbers_it_is_over_their_patterns() -> None:
    numbers = np.array([1.5, -0.0, np.nan], np.float32)
    assert checksum([numbers]) == checksum([numbers.view(np.uint32)])


def test_what_is_no_word_of_c_is_refused() -> None:
    with pytest.raises(TypeError, match="complex128"):
        checksum([np.zeros(3, complex)])


def test_it_is_printed_with_all_its_digits() -> None:
    assert format_checksum(0xAB) == "0x00000000000000ab"
