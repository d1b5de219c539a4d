"""Products with a constant as sums of shifted copies."""

from __future__ import annotations

from functools import reduce
from operator import add

from amaranth.hdl import Value


def signed_digits(constant: int) -> tuple[tuple[int, int], ...]:
    """Return (place, +1 or -1) for each digit of `constant` in non-adjacent form.

    No form with digits -1, 0, 1 has fewer of them that are not 0 (Reitwiesner, 1960).
    """
    digits = []
    place = 0
    while constant:
        if constant & 1:
            digit = 2 - (constant & 3)
            digits.append((place, digit))
            constant -= digit
        constant >>= 1
        place += 1
    return tuple(digits)


def constant_product(value: Value, constant: int) -> Value:
    """Return value * constant, exactly, from one addition or subtraction for each further digit."""
    digits = signed_digits(constant)
    added = [value << place for place, digit in digits if digit > 0]
    subtracted = [value << place for place, digit in digits if digit < 0]
    if not subtracted:
        return reduce(add, added) if added else value & 0
    negative = reduce(add, subtracted)
    return reduce(add, added) - negative if added else -negative
