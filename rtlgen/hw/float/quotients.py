"""Quotients and square roots of floats, by restoring digits, two bits a cycle where they fit.

Where the next one begins some cycles later, one circuit computes several digits in turn.

Reference: Ercegovac and Lang, "Digital Arithmetic", 2004, chapters 5 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

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
from rtlgen.hw.pipeline import Kept, Step, Steps, Turn
from rtlgen.ir.types import FloatType
from rtlgen.target import divider_shares, float_quotient_steps, float_root_steps


def _counted(steps: Steps, number: Fields, type_: FloatType, name: str) -> tuple[Kept, Kept]:
    """Return the zeros above a significand, if it may have some, and the significand itself."""
    significand = number.significand
    zeros = leading_zeros(steps, significand)[0] if type_.subnormals else Const(0, 0)
    return (
        steps.keep(zeros, f"{name}_zeros"),
        steps.keep(significand, f"{name}_significand"),
    )


def _brought_up(steps: Steps, zeros: Kept, significand: Kept) -> Value:
    return shifted_left(steps, significand.now, zeros.now, len(significand.now))


def divide(
    steps: Steps, left: Value, right: Value, type_: FloatType, interval_cycles: int
) -> Value:
    """Return left / right.

    Parameters
    ----------
    interval_cycles: from one division to the next, at least.
    """
    precision = type_.fraction_bits + 1
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    a_zeros, a_significand = _counted(steps, a, type_, "left")
    b_zeros, b_significand = _counted(steps, b, type_, "right")
    exponents = steps.keep((a.exponent - b.exponent).as_signed(), "exponents")
    is_nan = a.is_nan | b.is_nan | (a.is_infinite & b.is_infinite) | (a.is_zero & b.is_zero)
    result = outcome(
        steps,
        sign=a.sign ^ b.sign,
        is_zero=a.is_zero | b.is_infinite,
        is_special=is_nan | a.is_infinite | b.is_zero,
        is_nan=is_nan,
    )
    if type_.subnormals:
        steps.end()
    remainder = steps.keep(_brought_up(steps, a_zeros, a_significand), "remainder")
    divisor = steps.keep(_brought_up(steps, b_zeros, b_significand), "divisor")
    difference = exponents.now - a_zeros.now + b_zeros.now + (type_.bias - 2)
    room = steps.keep(difference.as_signed(), "exponent")
    steps.end()
    shift = limited_shift(steps, room.now, None, type_, can_underflow=True)
    # Both are at least 1 and less than 2: the first bit is found while the divisor is tripled.
    once = steps.wire(remainder.now - divisor.now, "once")
    rest = steps.wire(Mux(once[-1], remainder.now, once[:precision]), "rest")
    quotient = steps.wire(~once[-1], "quotient")
    triple = steps.keep(divisor.now + Cat(Const(0, 1), divisor.now), "triple")

    def step(state: Sequence[Value], used: Sequence[Value]) -> Sequence[Value]:
        digit, left_over = _digit(steps, state[0], *used)
        return left_over, Cat(digit, state[1])

    left_over, digits = steps.repeat(
        [
            Turn(count, (0, 2), step)
            for count in divider_shares(float_quotient_steps(precision) - 1, interval_cycles)
        ],
        [rest, quotient],
        used=[divisor, triple],
        beside=[*shift.kept, *result.kept],
    )
    value = shifted(steps, Cat(left_over.any(), digits), shift, precision)
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


def square_root(steps: Steps, operand: Value, type_: FloatType, interval_cycles: int) -> Value:
    """Return the square root; see `divide`."""
    precision = type_.fraction_bits + 1
    a = fields(steps, operand, type_, "operand")
    zeros, significand = _counted(steps, a, type_, "operand")
    exponent = steps.keep(a.exponent, "exponent")
    is_nan = a.is_nan | (a.sign & ~a.is_zero)
    result = outcome(
        steps, sign=a.sign, is_zero=a.is_zero, is_special=a.is_special | is_nan, is_nan=is_nan
    )
    if type_.subnormals:
        steps.end()
    normal = steps.wire(_brought_up(steps, zeros, significand), "normal")
    doubled = steps.wire((exponent.now - zeros.now + type_.bias).as_signed(), "doubled")
    # The exponent is made even.
    radicand = steps.wire(Mux(doubled[0], Cat(Const(0, 1), normal), normal), "radicand")
    halved = steps.keep(doubled[1:].as_signed(), "halved")
    # What is left of the radicand, the rest and the root, in as many bits as these need.
    _, rest, root = steps.repeat(
        [
            Turn(count, (0, bits, bits), _root_step(steps, bits, interval_cycles))
            for bits, alike in groupby(float_root_steps(precision))
            for count in divider_shares(len(list(alike)), interval_cycles)
        ],
        [radicand, Const(0, 1), Const(0, 0)],
        beside=[halved, *result.kept],
    )
    # The root of the smallest number is below the normal ones where the exponents are few.
    shift = limited_shift(
        steps, halved.now - 2, None, type_, can_underflow=type_.bias < type_.fraction_bits + 3
    )
    value = shifted(steps, Cat(rest.any(), Const(0, 1), root), shift, precision)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")


def _root_step(steps: Steps, bits: int, interval_cycles: int) -> Step:
    """Return what finds some bits of a root.

    Two bits in turn have no time for two chains in a row: what the bits before lead to is chosen in
    front of each step, too.
    """
    if bits == 2 and interval_cycles > 1:
        return partial(_two_bits_of_root, steps)
    return partial(_bits_of_root, steps, bits)


def _two_bits_of_root(
    steps: Steps, state: Sequence[Value], used: Sequence[Value]
) -> Sequence[Value]:
    """Return the same as `_bits_of_root`: what is right for the second bit is chosen in the end."""
    left, rest, root = state
    given = steps.wire(Cat(left[-4:], rest, Const(0, 1)), "given")
    bits = len(given)
    first = steps.wire((given[2:-1] - Cat(Const(1, 2), root)), "first")
    second = steps.wire((given - Cat(Const(1, 3), root))[:bits], "second")
    with_first = Cat(given[:2], first)
    both = steps.wire((with_first - Cat(Const(5, 3), root))[:bits], "both")
    fits = ~first[-1]
    fits_second = Mux(fits, ~both[-1], ~second[-1])
    found = steps.wire(Cat(fits_second, fits, root), "found")
    size = len(found) + 1
    taken = Mux(fits, both[:size], second[:size])
    kept = Mux(fits, with_first[:size], given[:size])
    return Cat(Const(0, 4), left[:-4]), Mux(fits_second, taken, kept), found


def _bits_of_root(
    steps: Steps, bits: int, state: Sequence[Value], used: Sequence[Value]
) -> Sequence[Value]:
    """Return what is left of a radicand, the rest and the root after some bits of that."""
    left, rest, root = state
    for _ in range(bits):
        partial_rest = steps.wire(Cat(left[-2:], rest), "partial")
        left = Cat(Const(0, 2), left[:-2])
        left_over = steps.wire(partial_rest - Cat(Const(1, 2), root), "left_over")
        fits = ~left_over[-1]
        root = steps.wire(Cat(fits, root), "root")
        # No rest is more than twice the root.
        rest = steps.wire(Mux(fits, left_over, partial_rest)[: len(root) + 1], "rest")
    return left, rest, root
