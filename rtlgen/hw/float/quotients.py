"""Quotients and square roots of floats, by restoring digits, two bits a cycle where they fit.

Reference: Ercegovac and Lang, "Digital Arithmetic", 2004, chapters 5 and 6.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Value

from rtlgen.hw.float.parts import (
    Fields,
    fields,
    leading_zeros,
    limited_shift,
    outcome,
    round_and_pack,
    shifted,
    shifted_left,
)
from rtlgen.hw.pipeline import Kept, Steps
from rtlgen.ir.types import FloatType
from rtlgen.target import float_quotient_steps, float_root_steps


def _normal(steps: Steps, number: Fields, name: str) -> tuple[Kept, Kept]:
    """Return the zeros above a significand, and the significand itself."""
    significand = number.significand
    return (
        steps.keep(leading_zeros(steps, significand)[0], f"{name}_zeros"),
        steps.keep(significand, f"{name}_significand"),
    )


def _brought_up(steps: Steps, zeros: Kept, significand: Kept) -> Value:
    return shifted_left(steps, significand.now, zeros.now, len(significand.now))


def divide(steps: Steps, left: Value, right: Value, type_: FloatType) -> Value:
    """Return left / right."""
    precision = type_.fraction_bits + 1
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    a_zeros, a_significand = _normal(steps, a, "left")
    b_zeros, b_significand = _normal(steps, b, "right")
    exponents = steps.keep((a.exponent - b.exponent).as_signed(), "exponents")
    is_nan = a.is_nan | b.is_nan | (a.is_infinite & b.is_infinite) | (a.is_zero & b.is_zero)
    result = outcome(
        steps,
        sign=a.sign ^ b.sign,
        is_zero=a.is_zero | b.is_infinite,
        is_special=is_nan | a.is_infinite | b.is_zero,
        is_nan=is_nan,
    )
    steps.end()
    remainder = steps.keep(_brought_up(steps, a_zeros, a_significand), "remainder")
    divisor = steps.keep(_brought_up(steps, b_zeros, b_significand), "divisor")
    difference = exponents.now - a_zeros.now + b_zeros.now + (type_.bias - 2)
    room = steps.keep(difference.as_signed(), "exponent")
    steps.end()
    shift = limited_shift(steps, room.now, None, precision, can_underflow=True)
    # Both are at least 1 and less than 2: the first bit is found while the divisor is tripled.
    once = steps.wire(remainder.now - divisor.now, "once")
    rest = steps.keep(Mux(once[-1], remainder.now, once[:precision]), "rest")
    quotient = steps.keep(~once[-1], "quotient")
    triple = steps.keep(divisor.now + Cat(Const(0, 1), divisor.now), "triple")
    steps.end()
    for _ in range(float_quotient_steps(precision) - 1):
        digit, left_over = _digit(steps, rest.now, divisor.now, triple.now)
        rest = steps.keep(left_over, "rest")
        quotient = steps.keep(Cat(digit, quotient.now), "quotient")
        steps.end()
    value = shifted(steps, Cat(rest.now.any(), quotient.now), shift, precision)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")


def _digit(steps: Steps, rest: Value, divisor: Value, triple: Value) -> tuple[Value, Value]:
    """Return two bits of a quotient, and what is left of a rest that was less than the divisor.

    It has been subtracted once, twice and three times, side by side.
    """
    precision = len(divisor)
    partial = Cat(Const(0, 2), rest)
    multiples = divisor, Cat(Const(0, 1), divisor), triple
    once, twice, thrice = (steps.wire(partial - each, "fewer") for each in multiples)
    fits_once, fits_twice, fits_thrice = ~once[-1], ~twice[-1], ~thrice[-1]
    many, few = Mux(fits_thrice, thrice, twice), Mux(fits_once, once, partial)
    digit = Cat(Mux(fits_twice, fits_thrice, fits_once), fits_twice)
    return digit, Mux(fits_twice, many, few)[:precision]


def square_root(steps: Steps, operand: Value, type_: FloatType) -> Value:
    """Return the square root."""
    precision = type_.fraction_bits + 1
    a = fields(steps, operand, type_, "operand")
    zeros, significand = _normal(steps, a, "operand")
    exponent = steps.keep(a.exponent, "exponent")
    is_nan = a.is_nan | (a.sign & ~a.is_zero)
    result = outcome(
        steps, sign=a.sign, is_zero=a.is_zero, is_special=a.is_special | is_nan, is_nan=is_nan
    )
    steps.end()
    normal = steps.wire(_brought_up(steps, zeros, significand), "normal")
    doubled = steps.wire((exponent.now - zeros.now + type_.bias).as_signed(), "doubled")
    # The exponent is made even.
    radicand = steps.keep(Mux(doubled[0], Cat(Const(0, 1), normal), normal), "radicand")
    halved = steps.keep(doubled[1:].as_signed(), "halved")
    steps.end()
    shift = limited_shift(
        steps, halved.now - 2, None, precision, can_underflow=type_.bias <= type_.fraction_bits
    )
    bits = precision + 1
    root: Value = Const(0, 0)
    rest: Value = Const(0, 0)
    left = Cat(Const(0, 2 * bits - precision - 1), radicand.now[: precision + 1])
    for digits in float_root_steps(precision):
        for _ in range(digits):
            partial = steps.wire(Cat(left[-2:], rest), "partial")
            left = left[:-2]
            left_over = steps.wire(partial - Cat(Const(1, 2), root), "left_over")
            fits = ~left_over[-1]
            root = steps.wire(Cat(fits, root), "root")
            # No rest is more than twice the root.
            rest = steps.wire(Mux(fits, left_over, partial)[: len(root) + 1], "rest")
        kept = [steps.keep(v, n) for v, n in ((left, "left"), (rest, "rest"), (root, "root"))]
        steps.end()
        left, rest, root = (each.now for each in kept)
    value = shifted(steps, Cat(rest.any(), Const(0, 1), root), shift, precision)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")
