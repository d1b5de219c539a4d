"""Doubles that are nearest to multiples of a quarter turn, of each exponent."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tests.oracles.math_library.functions import pi


def hard_angles(exponents: Iterable[int]) -> list[int]:
    """Return the bits of doubles m 2^e that come near to a multiple of pi/2, for each exponent.

    m 2^e 2/pi is near a whole number where m is the denominator of a convergent of 2^e 2/pi, or a
    multiple of it.
    """
    found = []
    for exponent in exponents:
        turns = Fraction(2) ** (exponent + 1) / Fraction(pi())
        denominator = _last_denominator(turns, 1 << 53)
        least = -(-(1 << 52) // denominator)
        for times in range(least, min(least + 3, -(-(1 << 53) // denominator))):
            found.append((exponent + 1075 << 52) + times * denominator - (1 << 52))
    return found


def _last_denominator(value: Fraction, end: int) -> int:
    """Return the largest denominator below `end` of a convergent of a number."""
    before, here = 0, 1
    numerator, denominator = value.as_integer_ratio()
    numerator, denominator = denominator, numerator % denominator
    while denominator:
        quotient = numerator // denominator
        numerator, denominator = denominator, numerator % denominator
        if quotient * here + before >= end:
            break
        before, here = here, quotient * here + before
    return here
