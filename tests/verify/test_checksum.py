"""The checksum is the CRC of the memory image, sensitive to every bit and to the order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.crc import absorb
from rtlgen.verify.checksum import checksum, crc_of_bytes, format_checksum


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
