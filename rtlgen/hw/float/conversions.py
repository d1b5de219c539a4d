"""Conversions between floats and integers and among floats, and floats rounded to integers."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Mux, Value, signed

from rtlgen.hw.float.parts import (
    fields,
    flushed,
    leading_zeros,
    limited_shift,
    ones,
    outcome,
    round_and_pack,
    saturated,
    shifted,
)
from rtlgen.hw.pipeline import Steps
from rtlgen.ir.types import FloatType, IntType


def from_integer(steps: Steps, operand: Value, type_: FloatType) -> Value:
    """Return the number that is nearest to an integer."""
    bits, precision = len(operand), type_.fraction_bits + 1
    negative = operand[-1] if operand.shape().signed else Const(0, 1)
    inverted = steps.wire(operand.as_unsigned() ^ negative.replicate(bits), "inverted")
    # One's complement may have a zero more above than two's.
    magnitude = (Cat(negative, inverted) + negative)[1 : bits + 1]
    value = steps.keep(Cat(magnitude, Const(0, 1)), "magnitude")
    zeros, _ = leading_zeros(steps, inverted)
    exponent = type_.bias + bits - 2
    shift = limited_shift(
        steps,
        Const(exponent, signed(exponent.bit_length() + 1)),
        zeros,
        type_,
        can_underflow=False,
    )
    none = Const(0, 1)
    result = outcome(steps, sign=negative, is_zero=~operand.any(), is_special=none, is_nan=none)
    steps.end()
    upper = shifted(steps, value.now, shift, precision)
    steps.end()
    packed = round_and_pack(steps, upper, shift.base, result, type_)
    return steps.finish(packed, "result")


def to_integer(steps: Steps, operand: Value, of: FloatType, to: IntType) -> Value:
    """Return the integer part, or the nearest that there is; 0 of what is no number."""
    a = fields(steps, operand, of, "operand")
    precision, bits = of.fraction_bits + 1, to.width_bits
    width = max(precision, bits)
    # The leading bit stands above the point by so much.
    places = steps.wire((a.exponent - of.bias).as_signed(), "places")
    is_less_than_one = places[-1]
    too_great = steps.keep((places >= bits) | a.is_special, "too_great")
    is_nan = steps.keep(a.is_nan, "is_nan")
    sign = steps.keep(a.sign, "sign")
    count = saturated((Const(width - 1) - places).as_unsigned(), width.bit_length())
    count = Mux(is_less_than_one, ones(len(count)), count)
    right = steps.keep(Mux(places >= width, 0, count), "right")
    significand = steps.keep(Cat(Const(0, width - precision), a.significand), "significand")
    steps.end()
    whole = significand.now
    for bit in reversed(range(len(right.now))):
        whole = steps.wire(Mux(right.now[bit], whole[1 << bit :], whole), f"right_{bit}")
    kept = steps.keep(whole, "whole")
    steps.end()
    whole, negative = kept.now, sign.now
    number = steps.wire(((whole ^ negative.replicate(width)) + negative)[:bits], "number")
    if to.signed:
        # Of the numbers beyond, the least integer is none.
        beyond = too_great.now | whole[bits - 1 :].any()
        limit = Cat(~negative.replicate(bits - 1), negative)
    else:
        beyond = too_great.now | whole[bits:].any() | (negative & whole.any())
        limit = ~negative.replicate(bits)
    clear = is_nan.now
    chosen = Mux(beyond, limit, number) & ~clear.replicate(bits)
    return steps.finish(chosen, "integer")


def convert(steps: Steps, operand: Value, of: FloatType, to: FloatType) -> Value:
    """Return the number of another format that is nearest."""
    return _moved(steps, operand, of, to, to.bias - of.bias, Const(0, 1))


def scale(steps: Steps, operand: Value, power: int, type_: FloatType) -> Value:
    """Return the product with a power of two.

    Parameters
    ----------
    power: its pattern.
    """
    places = ((power & ~type_.sign_bit) >> type_.fraction_bits) - type_.bias
    negative = Const(int(power >= type_.sign_bit), 1)
    return _moved(steps, operand, type_, type_, places, negative)


def _moved(
    steps: Steps, operand: Value, of: FloatType, to: FloatType, places: int, negative: Value
) -> Value:
    """Return the number whose exponent, as it is stored, is greater by so many places."""
    a = fields(steps, operand, of, "operand")
    precision = to.fraction_bits + 1
    # What was subnormal may be so no longer, or the other way round.
    grows = places > 0 and of.subnormals
    zeros = leading_zeros(steps, a.significand)[0] if grows else None
    room = Cat(a.exponent, Const(0, 1)).as_signed() + (places - 1)
    shift = limited_shift(steps, room, zeros, to, can_underflow=places < 0)
    significand = steps.keep(Cat(a.significand, Const(0, 1)), "significand")
    result = outcome(
        steps,
        sign=a.sign ^ negative,
        is_zero=a.is_zero,
        is_special=a.is_special,
        is_nan=a.is_nan,
    )
    steps.end()
    value = shifted(steps, significand.now, shift, precision)
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, to)
    return steps.finish(packed, "result")


def integral(steps: Steps, op: str, operand: Value, type_: FloatType) -> Value:
    """Return the integer that `floor`, `ceil`, `trunc`, `round` or `rint` makes of a number.

    The bits of the fraction are set: what carries over them rounds away from 0.
    """
    fraction, bias = type_.fraction_bits, type_.bias
    operand = flushed(steps, operand, type_, "operand")
    a = fields(steps, operand, type_, "operand")
    stored = operand[fraction:-1]
    # So many bits of the fraction stand behind the point.
    behind = steps.wire((Const(bias + fraction) - stored).as_signed(), "behind")
    count = steps.wire(saturated(behind[:-1], fraction.bit_length()), "count")
    mask = steps.keep(Mux(behind[-1], 0, _thermometer(steps, count, fraction))[:fraction], "mask")
    bits = steps.keep(operand, "bits")
    is_small = steps.keep(stored < bias, "is_small")
    # Where the least exponent is that of 1, a half is subnormal.
    half_fraction = a.fraction if bias > 1 else a.fraction[:-1]
    is_half = stored == bias - 1 if bias > 1 else a.fraction[-1]
    at_half = steps.keep(is_half, "at_half")
    above_half = steps.keep(is_half & half_fraction.any(), "above_half")
    is_nan = steps.keep(a.is_nan, "is_nan")
    is_zero = steps.keep(a.is_zero, "is_zero")
    steps.end()
    within, sign = bits.now[:fraction] & mask.now, bits.now[-1]
    # The mask is ones below the point: its last one is the first bit behind it.
    first = mask.now & ~Cat(mask.now[1:], Const(0, 1))
    half = steps.wire((within & first).any(), "half")
    below = steps.wire((within & ~first).any(), "below")
    # The bit before the point; the leading one where the fraction is all behind it.
    unit = (bits.now[:fraction] & Cat(Const(0, 1), first[:-1])).any() | mask.now.all()
    inexact = half | below
    match op:
        case "floor":
            up, small_up = sign & inexact, sign
        case "ceil":
            up, small_up = ~sign & inexact, ~sign
        case "trunc":
            up, small_up = Const(0, 1), Const(0, 1)
        case "round":
            up, small_up = half, at_half.now
        case "rint":
            up, small_up = half & (below | unit), above_half.now
        case _:
            raise ValueError(f"{op} rounds nothing")
    carry, is_one = steps.keep(up, "up"), steps.keep(small_up & ~is_zero.now, "is_one")
    steps.end()
    filled = bits.now[:-1] | mask.now
    moved = (Cat(carry.now, filled) + carry.now)[1 : type_.width_bits]
    rounded = Cat(moved[:fraction] & ~mask.now, moved[fraction:])
    one = Const(bias << fraction, type_.width_bits - 1)
    small = Mux(is_one.now, one, 0)
    result = Mux(is_small.now, small, rounded)[: type_.width_bits - 1]
    pattern = Mux(is_nan.now, Const(type_.nan, type_.width_bits), Cat(result, bits.now[-1]))
    return steps.finish(pattern, "result")


def _thermometer(steps: Steps, count: Value, bits: int) -> Value:
    """Return so many ones from below; all of them for a count that is greater."""
    value: Value = Const(0, bits)
    for bit in range(len(count)):
        filled = Cat(ones(min(1 << bit, bits)), value)[:bits]
        value = steps.wire(Mux(count[bit], filled, value), f"ones_{bit}")
    return value
