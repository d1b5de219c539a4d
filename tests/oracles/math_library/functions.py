"""The functions of <math.h> in decimal numbers of many digits, and their rounding to a float.

`decimal` rounds `exp`, `ln` and `log10` correctly in any precision; the others are series here.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

HALVINGS = 6
"""Of an angle, before its tangent goes into a series."""

DIGITS = 60
"""Of a value: 199 bits. No value of these functions agrees with a midpoint in more than 60."""

SAME_BITS = 140
"""Of 60 digits, these are right; a power that is no midpoint does not come so near to one."""

SMALLEST_REST = 20
"""Digits that the angle of a float or double loses, at most, by what it is nearest to."""


@cache
def pi() -> Decimal:
    """Return pi to 450 digits: 16 arctan(1/5) - 4 arctan(1/239) (Machin)."""
    one = 10**460

    def arctan_of_inverse(n: int) -> int:
        term = total = one // n
        k = 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total

    value = 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)
    return Context(prec=450).divide(Decimal(value), Decimal(one))


def sin(x: Decimal) -> Decimal:
    """Return the sine to the digits of the context, also where it is small."""
    with localcontext() as context:
        context.prec += max(x.adjusted(), 0) + SMALLEST_REST + 5
        half = pi() / 2
        turns = int((x / half).to_integral_value())
        rest = x - turns * half
        value = _sin_series(rest) if turns % 2 == 0 else _cos_series(rest)
    return +(-value if turns % 4 >= 2 else value)


def cos(x: Decimal) -> Decimal:
    """Return the cosine to the digits of the context, also where it is small."""
    with localcontext() as context:
        context.prec += max(x.adjusted(), 0) + SMALLEST_REST + 5
        half = pi() / 2
        turns = int((x / half).to_integral_value())
        rest = x - turns * half
        value = _cos_series(rest) if turns % 2 == 0 else _sin_series(rest)
    return +(-value if turns % 4 in (1, 2) else value)


def _sin_series(x: Decimal) -> Decimal:
    return _series(x, x, 1)


def _cos_series(x: Decimal) -> Decimal:
    return _series(x, Decimal(1), 0)


def _series(x: Decimal, term: Decimal, n: int) -> Decimal:
    """Return x^n/n! - x^(n+2)/(n+2)! + ..., of which `term` is the first."""
    total, before = term, None
    square = x * x
    while total != before:
        before = total
        term = -term * square / ((n + 1) * (n + 2))
        n += 2
        total += term
    return total


def atan(x: Decimal) -> Decimal:
    """Return the inverse tangent to the digits of the context, also where it is small."""
    if x == 0:
        return x
    with localcontext() as context:
        context.prec += 15
        size = abs(x)
        rest = 1 / size if size > 1 else size
        # Each halves the angle.
        for _ in range(HALVINGS):
            rest /= 1 + (1 + rest * rest).sqrt()
        value = (1 << HALVINGS) * _atan_series(rest)
        value = pi() / 2 - value if size > 1 else value
    return +value.copy_sign(x)


def _atan_series(x: Decimal) -> Decimal:
    """Return x - x^3/3 + x^5/5 - ..."""
    total, before, power, n = x, None, x, 1
    square = x * x
    while total != before:
        before = total
        power = -power * square
        n += 2
        total += power / n
    return total


def tanh(x: Decimal) -> Decimal:
    """Return the hyperbolic tangent to the digits of the context, also where it is small."""
    if x == 0:
        return x
    if abs(x) > 100:
        return Decimal(1).copy_sign(x)
    with localcontext() as context:
        # Of e^(2x) - 1 as many digits cancel as x has zeros in front, 45 at most.
        context.prec += 50
        raised = (2 * x).exp()
        value = (raised - 1) / (raised + 1)
    return +value


def erf(x: Decimal) -> Decimal:
    """Return the error function to the digits of the context, also where it is small."""
    if abs(x) > 20:
        return Decimal(1).copy_sign(x)
    with localcontext() as context:
        # Terms grow to e^(x^2) before they fall.
        context.prec += 15 + int(x * x / 2)
        total, before, term, n = x, None, x, 0
        square = x * x
        while total != before:
            before = total
            n += 1
            term = -term * square / n
            total += term / (2 * n + 1)
        value = 2 * total / pi().sqrt()
    return +value


def cbrt(x: Decimal) -> Decimal:
    """Return the cube root."""
    if x == 0:
        return x
    with localcontext() as context:
        context.prec += 5
        size = abs(x)
        value = (size.ln() / 3).exp()
        # One step of Newton's where the value of the logarithm is large.
        value -= (value * value * value - size) / (3 * value * value)
    return +value.copy_sign(x)


def sinh(x: Decimal) -> Decimal:
    """Return the hyperbolic sine to the digits of the context, also where it is small."""
    with localcontext() as context:
        # As many digits cancel as x has zeros in front.
        context.prec += 5 + max(0, -x.adjusted()) if x else 0
        value = (x.exp() - (-x).exp()) / 2
    return +value


def cosh(x: Decimal) -> Decimal:
    """Return the hyperbolic cosine."""
    with localcontext() as context:
        context.prec += 5
        value = (x.exp() + (-x).exp()) / 2
    return +value


def expm1(x: Decimal) -> Decimal:
    """Return e^x - 1 to the digits of the context, also where it is small."""
    with localcontext() as context:
        context.prec += 5 + max(0, -x.adjusted()) if x else 0
        value = x.exp() - 1
    return +value


def log1p(x: Decimal) -> Decimal:
    """Return log(1 + x) to the digits of the context, also where x is small."""
    with localcontext() as context:
        context.prec += 5 + max(0, -x.adjusted()) if x else 0
        value = (1 + x).ln()
    return +value


def tan(x: Decimal) -> Decimal:
    """Return the tangent to the digits of the context."""
    with localcontext() as context:
        context.prec += 5
        value = sin(x) / cos(x)
    return +value


def exp(x: Decimal) -> Decimal:
    """Return e^x."""
    return x.exp()


def log(x: Decimal) -> Decimal:
    """Return the natural logarithm."""
    return x.ln()


def exp2(x: Decimal) -> Decimal:
    """Return 2^x."""
    return Decimal(2) ** x


def log2(x: Decimal) -> Decimal:
    """Return the logarithm to the base 2."""
    with localcontext() as context:
        context.prec += 5
        value = x.ln() / Decimal(2).ln()
    return +value


def log10(x: Decimal) -> Decimal:
    """Return the logarithm to the base 10."""
    return x.log10()


def power(x: Decimal, y: Decimal) -> Decimal:
    """Return x^y."""
    return x**y


FUNCTIONS: Mapping[str, Callable[..., Decimal]] = {
    "expf": exp, "logf": log, "powf": power, "tanhf": tanh, "sinf": sin, "cosf": cos,
    "exp2f": exp2, "log2f": log2, "log10f": log10, "exp2": exp2,
    "log2": log2, "log10": log10,
    "exp": exp, "log": log, "pow": power, "sin": sin, "cos": cos, "tanh": tanh,
    "atanf": atan, "erff": erf, "cbrtf": cbrt, "sinhf": sinh, "coshf": cosh, "expm1f": expm1,
    "log1pf": log1p, "tanf": tan,
    "erf": erf, "cbrt": cbrt, "cosh": cosh, "sinh": sinh, "expm1": expm1, "log1p": log1p,
}  # fmt: skip


def float_value(bits: int) -> Decimal:
    """Return the value of a finite float, exactly."""
    return Decimal(struct.unpack("<f", struct.pack("<I", bits))[0])


def double_value(bits: int) -> Decimal:
    """Return the value of a finite double, exactly."""
    return Decimal(struct.unpack("<d", struct.pack("<Q", bits))[0])


def units_off(value: Decimal, bits: int) -> Decimal:
    """Return by how many units in the last place of `value` a finite double is another number."""
    _, exponent = math.frexp(float(value))
    return abs(double_value(bits) - value) / Decimal(2) ** max(exponent - 53, -1074)


def rounded(value: Decimal) -> int:
    """Return the bits of the float that is nearest to a value, the even one of two.

    What agrees with a midpoint in `SAME_BITS` bits is one.
    """
    sign = 0x80000000 if value.is_signed() else 0
    if value.is_infinite():
        return sign | 0x7F800000
    magnitude = abs(Fraction(value))
    if magnitude == 0:
        return sign
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    scaled = magnitude / Fraction(2) ** max(exponent - 23, -149)
    half_units = round(2 * scaled)
    if abs(2 * scaled - half_units) < Fraction(1, 2**SAME_BITS):
        scaled = Fraction(half_units, 2)
    # Python rounds to even.
    return sign | min((max(exponent, -126) + 126 << 23) + round(scaled), 0x7F800000)


def correctly_rounded(name: str, *bits: int) -> int:
    """Return what a function is of finite floats, inside of its domain and not 0, as bits."""
    with localcontext(Context(prec=DIGITS, traps=[])):
        return rounded(FUNCTIONS[name](*(float_value(operand) for operand in bits)))
