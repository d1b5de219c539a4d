"""Constant factors in signed digits: which products are cheaper as additions."""

from __future__ import annotations

MAXIMAL_DIGITS = 3
"""A constant factor of up to this many signed digits is cheaper as additions."""


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


def is_sum(constant: int) -> bool:
    """Tell whether a product with `constant` is built from additions, not from multipliers."""
    return len(signed_digits(constant)) <= MAXIMAL_DIGITS
