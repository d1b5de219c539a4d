"""The CRC arithmetic agrees with the bit-serial definition and the published check value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.ir.crc import (
    CRC_BITS,
    POLYNOMIAL,
    absorb,
    absorb_masks,
    multiply,
    power_of_x,
    times_x,
)

states = st.integers(0, 2**64 - 1)


def bit_serial(state: int, value: int, width_bits: int) -> int:
    """Absorb as the standard draws it: one bit at a time against the register's top bit."""
    for bit in reversed(range(width_bits)):
        feedback = (state >> 63 ^ value >> bit) & 1
        state = (state << 1) & (2**64 - 1)
        if feedback:
            state ^= POLYNOMIAL
    return state


def test_the_published_check_value_is_met() -> None:
    state = 0
    for byte in b"123456789":
        state = absorb(state, byte, 8)
    assert state == 0x6C40DF5F0B497347


@given(state=states, value=states, width=st.integers(1, 64))
def test_absorbing_a_word_equals_absorbing_its_bits(state: int, value: int, width: int) -> None:
    assert absorb(state, value, width) == bit_serial(state, value, width)


@given(state=states, value=states, width=st.sampled_from([1, 8, 16, 32, 64]))
def test_masks_describe_the_same_step(state: int, value: int, width: int) -> None:
    expected = absorb(state, value, width)
    for k, (state_mask, data_mask) in enumerate(absorb_masks(width)):
        parity = ((state & state_mask).bit_count() + (value & data_mask).bit_count()) & 1
        assert parity == expected >> k & 1
        assert data_mask >> width == 0


@given(a=states, exponent=st.integers(0, 200))
def test_multiplying_by_a_power_of_x_is_shifting(a: int, exponent: int) -> None:
    shifted = a
    for _ in range(exponent):
        shifted = times_x(shifted)
    assert multiply(a, power_of_x(exponent)) == shifted


@pytest.mark.parametrize("width", [0, CRC_BITS + 1, -3])
def test_a_word_that_does_not_fit_is_refused(width: int) -> None:
    with pytest.raises(ValueError, match="absorbed"):
        absorb(0, 0, width)
    with pytest.raises(ValueError, match="absorbed"):
        absorb_masks(width)
