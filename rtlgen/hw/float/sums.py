"""Sums of two floats, and of a product and a float."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Value

from rtlgen.hw.float.parts import (
    fields,
    leading_zeros,
    limited_shift,
    outcome,
    round_and_pack,
    saturated,
    shifted,
    shifted_right,
)
from rtlgen.hw.float.products import exact_product
from rtlgen.hw.pipeline import Steps
from rtlgen.ir.types import FloatType
from rtlgen.target import NARROW, float_product_steps


def add(steps: Steps, left: Value, right: Value, type_: FloatType) -> Value:
    """Return left + right.

    The smaller magnitude is shifted, so the difference of two has the sign of the greater one.
    """
    precision = type_.fraction_bits + 1
    is_less = steps.wire((left[:-1] - right[:-1])[-1], "is_less")
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    differs = steps.wire(a.sign ^ b.sign, "differs")
    distances: list[Value] = [a.exponent - b.exponent, b.exponent - a.exponent]
    bits = (precision + 2).bit_length()
    if precision > NARROW:
        # Beside a comparison that takes long, before it is known which of both is the distance.
        distances = [steps.wire(saturated(d.as_unsigned()[:-1], bits), "cut") for d in distances]
    # Subtracted is what is added in ones' complement, with a carry into the lowest bit.
    lesser = Mux(is_less, a.significand, b.significand) ^ differs.replicate(precision)
    sign = steps.keep(Mux(is_less, b.sign, a.sign), "sign")
    opposite = steps.keep(differs, "opposite")
    exponent = steps.keep(Mux(is_less, b.exponent, a.exponent), "exponent")
    large = steps.keep(Mux(is_less, b.significand, a.significand), "large")
    small = steps.keep(lesser, "small")
    away = Mux(is_less, distances[1], distances[0])
    distance = steps.keep(away[: type_.exponent_bits], "distance")
    is_special = steps.keep(a.is_special | b.is_special, "is_special")
    both_special = steps.keep(a.is_special & b.is_special, "both_special")
    steps.end()
    # What is special has the greatest magnitude; of two infinities a difference is no number.
    no_number = large.now[:-1].any() | (both_special.now & opposite.now)
    is_nan = steps.keep(is_special.now & no_number, "is_nan")
    fill = opposite.now
    below = _shifted_below(
        steps,
        Cat(fill.replicate(3), small.now),
        saturated(distance.now, bits),
        fill,
    )
    aligned = steps.keep(below, "aligned")
    count, is_none = leading_zeros(
        steps, _anticipated(steps, large.now, small.now, distance.now, fill)
    )
    zeros, is_zero = steps.keep(count, "zeros"), steps.keep(is_none, "is_zero")
    steps.end()
    carry = opposite.now
    sum_ = (Cat(carry, Const(0, 3), large.now) + Cat(carry, aligned.now))[1:]
    # The carry of a difference stands for no bit.
    total = steps.keep(Cat(sum_[:-1], sum_[-1] & ~carry), "total")
    room = (exponent.now - 1).as_signed()
    shift = limited_shift(steps, room, zeros.now, type_, can_underflow=False)
    steps.end()
    result = outcome(
        steps,
        # An exact difference of 0 is positive.
        sign=sign.now & (~is_zero.now | is_special.now),
        is_zero=is_zero.now,
        is_special=is_special.now,
        is_nan=is_nan.now,
    )
    value = shifted(steps, total.now, shift, precision, slowly=precision > NARROW)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")


def _anticipated(
    steps: Steps, large: Value, inverted: Value, distance: Value, opposite: Value
) -> Value:
    """Return bits the first one of which says where that of a sum will be, or one below.

    The topmost is for the carry of a sum. A difference loses more than a bit only where the smaller
    number is shifted by one at most. Subtracted digit by digit it is 0s, a 1, then some -1s: the
    first one of the result is where the last of these is, or one below if what follows is negative.

    Parameters
    ----------
    inverted: the smaller significand, in one's complement if it is subtracted.

    Reference: Schmookler and Nowka, "Leading Zero Anticipation and Detection", ARITH 2001.
    """
    is_far = distance[1:].any()
    a = Cat(Const(0, 1), large)
    b = steps.wire(Mux(distance[0], Cat(inverted, Const(1, 1)), Cat(Const(1, 1), inverted)), "near")
    differs = ~(a ^ b)
    is_last = Cat(Const(1, 1), (a | b)[:-1])
    found = differs & is_last
    return Cat(found[:-1], found[-1] | is_far, ~opposite)


def _shifted_below(steps: Steps, value: Value, count: Value, fill: Value) -> Value:
    """Return value >> count, with `fill` from above; what differs from it and falls out sticks."""
    bits = len(value)
    plain = shifted_right(steps, steps.wire(value ^ fill.replicate(bits), "plain"), count)
    return plain ^ fill.replicate(bits)


def fused_multiply_add(
    steps: Steps, left: Value, right: Value, addend: Value, type_: FloatType
) -> Value:
    """Return left * right + addend, rounded once.

    The addend is shifted beside the product, from three bits above it to where it only sticks.
    """
    precision = type_.fraction_bits + 1
    width = 3 * precision + 5
    product = exact_product(steps, left, right, type_)
    c = fields(steps, addend, type_, "addend")
    # An infinite addend meets what is no number, or an infinity of its sign, or it rules.
    infinities = product.is_infinite.now & c.is_infinite & (product.sign.now ^ c.sign)
    is_nan = steps.keep(product.is_nan.now | c.is_nan | infinities, "no_number")
    is_special = steps.keep(product.is_infinite.now | c.is_special | is_nan.now, "is_special")
    special_sign = steps.keep(Mux(c.is_special, c.sign, product.sign.now), "special_sign")
    addend_sign = steps.keep(c.sign, "addend_sign")
    addend_exponent = steps.keep(c.exponent, "addend_exponent")
    significand = steps.keep(c.significand, "addend_significand")
    steps.end()
    places = product.room.now - addend_exponent.now + (precision + 4)
    away = steps.wire(places.as_signed(), "places")
    is_above = steps.wire(away[-1] | product.is_zero.now, "is_above")
    beside = product.room.now + (precision + 4)
    exponent = steps.keep(Mux(is_above, addend_exponent.now, beside).as_signed(), "exponent_of_sum")
    right_shift = saturated(Mux(is_above, 0, away[:-1]), width.bit_length())
    places_right = steps.keep(right_shift, "places_right")
    steps.end(float_product_steps(precision) - 2)
    exact = product.significand
    if not type_.subnormals:
        exact &= ~product.is_zero.now.replicate(len(exact))
    multiplied = steps.keep(exact, "multiplied")
    steps.end()
    spread = Cat(Const(0, width - precision), significand.now)
    aligned = steps.keep(shifted_right(steps, spread, places_right.now), "aligned")
    steps.end()
    wide = Cat(Const(0, 3), multiplied.now)
    opposite = steps.wire(product.sign.now ^ addend_sign.now, "opposite")
    difference = steps.wire(aligned.now - wide, "difference")
    total = steps.keep(
        Mux(opposite, difference, (aligned.now + wide).as_signed())[: width + 1], "total"
    )
    # The product is greater than an addend of the other sign.
    is_negative = steps.keep(opposite & difference[-1], "is_negative")
    steps.end()
    negative = is_negative.now
    inverted = steps.wire(total.now ^ negative.replicate(width + 1), "inverted")
    absolute = (Cat(negative, inverted) + negative)[1 : width + 2]
    # One's complement may have a zero more above than two's.
    magnitude = steps.keep(Cat(absolute, Const(0, 1)), "magnitude")
    count, _ = leading_zeros(steps, inverted)
    zeros = steps.keep(count, "zeros_of_sum")
    is_zero = steps.keep(~total.now.any(), "is_zero_sum")
    steps.end()
    shift = limited_shift(steps, exponent.now, zeros.now, type_, can_underflow=True)
    # An exact difference of 0 is positive.
    both_negative = product.sign.now & addend_sign.now
    finite_sign = Mux(is_zero.now, both_negative, addend_sign.now ^ is_negative.now)
    result = outcome(
        steps,
        sign=Mux(is_special.now, special_sign.now, finite_sign),
        is_zero=is_zero.now,
        is_special=is_special.now,
        is_nan=is_nan.now,
    )
    value = shifted(steps, magnitude.now, shift, precision, begins_early=True, slowly=True)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")
