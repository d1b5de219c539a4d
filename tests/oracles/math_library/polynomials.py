"""Polynomials through the Chebyshev nodes of [0, 1], with coefficients that fit into tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache

from tests.oracles.math_library.functions import cos, pi

Function = Callable[[Decimal], Decimal]


def in_units(value: Decimal, bits: int) -> int:
    """Return the multiple of 2**-bits that is nearest to a value."""
    return int((value * 2**bits).to_integral_value(ROUND_HALF_EVEN))


def polynomial(function: Function, degree: int) -> list[Decimal]:
    """Return the coefficients, the constant first, of a polynomial that is near `function`.

    It goes through the values at the Chebyshev nodes of [0, 1], which is but little worse than the
    best polynomial of its degree.
    """
    nodes = _nodes(degree + 1)
    divided = [function(node) for node in nodes]
    for step in range(1, len(nodes)):
        for k in range(len(nodes) - 1, step - 1, -1):
            divided[k] = (divided[k] - divided[k - 1]) / (nodes[k] - nodes[k - step])
    coefficients = [divided[-1]]
    for node, value in zip(reversed(nodes[:-1]), reversed(divided[:-1]), strict=True):
        shifted = [Decimal(0), *coefficients]
        coefficients = [
            above - node * here
            for above, here in zip(shifted, [*coefficients, Decimal(0)], strict=True)
        ]
        coefficients[0] += value
    return coefficients


def in_units_one_by_one(
    function: Function, units: Sequence[int], lowest: int = 0, signs: Sequence[int] | None = None
) -> list[int]:
    """Return the coefficients in units of 2**-units[n], each fitted to the rounded ones above it.

    So what rounding takes from a high power is given back by the lower ones.

    Parameters
    ----------
    lowest: power of the first coefficient that is not 0; the error is relative to x**lowest.
    signs: 1 or -1 for each coefficient, of which the magnitude is returned: it has no other sign.
    """
    rest = polynomial(lambda x: function(x) / x**lowest, len(units) - 1 - lowest)
    kept = [0] * len(units)
    for power in reversed(range(lowest, len(units))):
        highest = polynomial(lambda x: _value(rest, x), power - lowest)[-1]
        if signs is None:
            kept[power] = in_units(highest, units[power])
        else:
            kept[power] = max(0, in_units(highest * signs[power], units[power]))
        sign = 1 if signs is None else signs[power]
        rest[power - lowest] -= sign * Decimal(kept[power]) / 2 ** units[power]
    return kept


def _value(coefficients: Sequence[Decimal], x: Decimal) -> Decimal:
    value = Decimal(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


@cache
def _nodes(count: int) -> tuple[Decimal, ...]:
    return tuple((1 + cos(pi() * (2 * k + 1) / (2 * count))) / 2 for k in range(count))
