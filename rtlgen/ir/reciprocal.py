"""Reciprocals that divide a range of integers exactly, by one multiplication and one shift."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """x // divisor == (x * factor) >> shift for every x up to the given maximum."""

    factor: int
    shift: int


def reciprocal(divisor: int, maximum: int) -> Reciprocal:
    """Return the smallest reciprocal that divides 0 .. `maximum` exactly.

    With factor = ceil(2**shift / divisor) = (2**shift + error) / divisor, the quotient of
    x = q * divisor + r comes out as q + (r + x * error / 2**shift) / divisor, which is below q + 1
    for every r < divisor exactly when x * error < 2**shift.

    The same factor divides negative numbers: for -maximum <= x < 0 the shifted product, which
    rounds down, is one less than the quotient rounded towards zero. With n = -x it is
    -ceil((n + n * error / 2**shift) / divisor), and with an error above 0, which every divisor
    but a power of two has, that number lies above n / divisor and not above (n + 1) / divisor.

    Reference
    ---------
    Granlund and Montgomery, Division by invariant integers using multiplication, PLDI 1994.
    """
    shift = 0
    while True:
        factor = -(-(1 << shift) // divisor)
        if maximum * (factor * divisor - (1 << shift)) < 1 << shift:
            return Reciprocal(factor, shift)
        shift += 1
