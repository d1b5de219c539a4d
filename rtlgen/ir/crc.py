"""CRC-64/ECMA-182, the arithmetic of the checksum in software and in hardware.

Polynomial x^64 + ... + 1 (`POLYNOMIAL` holds the terms below x^64), initial state 0, bits most
significant first, no reflection, no final inversion. Over the ASCII digits 1 to 9 it is
0x6C40DF5F0B497347.

Absorbing a word of w bits is linear over GF(2): the state and the word, aligned to the top,
are added and multiplied by x^w modulo the polynomial. Everything here follows from that.

Reference
---------
ECMA-182 (1992), annex B.
"""

from __future__ import annotations

CRC_BITS = 64
POLYNOMIAL = 0x42F0E1EBA9EA3693

_MASK = (1 << CRC_BITS) - 1


def times_x(state: int) -> int:
    """Return `state` * x modulo the polynomial: one step of the shift register."""
    return ((state << 1) & _MASK) ^ (POLYNOMIAL if state >> (CRC_BITS - 1) else 0)


def multiply(a: int, b: int) -> int:
    """Return a * b modulo the polynomial; both are polynomials of degree below 64."""
    product = 0
    for bit in reversed(range(CRC_BITS)):
        product = times_x(product)
        if b >> bit & 1:
            product ^= a
    return product


def power_of_x(exponent: int) -> int:
    """Return x**exponent modulo the polynomial."""
    if exponent < 0:
        raise ValueError(f"x has no power {exponent}")
    result = 1
    for digit in bin(exponent)[2:]:
        result = multiply(result, result)
        if digit == "1":
            result = times_x(result)
    return result


def absorb(state: int, value: int, width_bits: int) -> int:
    """Return the state after the low `width_bits` bits of `value`, most significant bit first."""
    _check_width(width_bits)
    state ^= (value & ((1 << width_bits) - 1)) << (CRC_BITS - width_bits)
    for _ in range(width_bits):
        state = times_x(state)
    return state


def absorb_masks(width_bits: int) -> list[tuple[int, int]]:
    """Return, for each bit of the next state, what it is the parity of.

    Entry k is (state mask, data mask): bit k of the state after a word of `width_bits` bits is the
    parity of (state & state mask) and (word & data mask). The lists are the XOR trees of a
    circuit that absorbs one word a cycle.
    """
    _check_width(width_bits)
    images = [absorb(1 << bit, 0, width_bits) for bit in range(CRC_BITS)]
    masks = []
    for k in range(CRC_BITS):
        state_mask = sum((image >> k & 1) << bit for bit, image in enumerate(images))
        # A bit of the word goes in where the state's bit of the same distance from the top does.
        masks.append((state_mask, state_mask >> (CRC_BITS - width_bits)))
    return masks


def _check_width(width_bits: int) -> None:
    if not 1 <= width_bits <= CRC_BITS:
        raise ValueError(f"a word of 1 to {CRC_BITS} bits is absorbed, not of {width_bits}")
