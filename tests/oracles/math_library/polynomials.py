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


def in_units_one_by_one(function: Function, units: Sequence[int], lowest: int = 0) -> list[int]:
    """Return the coefficients in units of 2**-units[n], each fitted to the rounded ones above it.

    So what rounding takes from a high power is given back by the lower ones.

    Parameters
    ----------
    lowest: power of the first coefficient that is not 0; the error is relative to x**lowest.
    """
    kept: dict[int, int] = {}
    for power in range(len(units) - 1, lowest - 1, -1):

        def rest(x: Decimal, kept: dict[int, int] = dict(kept)) -> Decimal:  # noqa: B006
            above = sum(Decimal(c) / 2 ** units[n] * x**n for n, c in kept.items())
            value: Decimal = (function(x) - above) / x**lowest
            return value

        kept[power] = in_units(polynomial(rest, power - lowest)[-1], units[power])
    return [kept.get(power, 0) for power in range(len(units))]


@cache
def _nodes(count: int) -> tuple[Decimal, ...]:
    return tuple((1 + cos(pi() * (2 * k + 1) / (2 * count))) / 2 for k in range(count))
