"""IEEE 754 arithmetic on bit patterns, exactly, in integers: what every float operation means.

Each operation finds its exact result as a sign and a significand times a power of two, and rounds
it once, to nearest, ties to even (IEEE 754-2019, 4.3.1). Subnormals, signed zeros and infinities
are as the standard has them, but in a format without subnormals, where these are zeros; every NaN
that an operation makes is `FloatType.nan`. It is slow, and plainly right: the golden interpreter
and constant folding use it, and the circuits are tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.types import FloatType, IntType, NumberType


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A number as (-1)**negative * significand * 2**exponent; or infinite, or no number."""

    negative: bool
    significand: int = 0
    exponent: int = 0
    is_infinite: bool = False
    is_nan: bool = False

    @property
    def is_zero(self) -> bool:
        return self.significand == 0 and not self.is_infinite and not self.is_nan

    @property
    def integer(self) -> int:
        """The significand with the sign."""
        return -self.significand if self.negative else self.significand


def unpack(bits: int, type_: FloatType) -> Unpacked:
    """Return what a pattern stands for."""
    negative = bool(bits & type_.sign_bit)
    magnitude = bits & ~type_.sign_bit
    if magnitude >= type_.infinity:
        return Unpacked(
            negative,
            is_infinite=magnitude == type_.infinity,
            is_nan=magnitude > type_.infinity,
        )
    biased = magnitude >> type_.fraction_bits
    if biased == 0 and not type_.subnormals:
        return Unpacked(negative)
    fraction = magnitude & ((1 << type_.fraction_bits) - 1)
    leading = 1 << type_.fraction_bits if biased else 0
    return Unpacked(negative, fraction | leading, max(biased, 1) - type_.bias - type_.fraction_bits)


def flushed(bits: int, type_: FloatType) -> int:
    """Return a pattern as a format has it: one without subnormals has zeros in their place."""
    is_normal = bits & type_.infinity
    return bits if type_.subnormals or is_normal else bits & type_.sign_bit


def rounded(negative: bool, significand: int, exponent: int, type_: FloatType) -> int:
    """Return the pattern of a number that is nearest to significand * 2**exponent."""
    sign = type_.sign_bit if negative else 0
    if significand == 0:
        return sign
    leading = exponent + significand.bit_length() - 1
    # Of the last bit that the format keeps: below the least exponent there are fewer of them.
    last = max(leading, 1 - type_.bias) - type_.fraction_bits
    kept = _to_nearest(significand, last - exponent)
    # A significand that rounding has doubled carries into the exponent.
    magnitude = kept + ((last + type_.fraction_bits + type_.bias - 1) << type_.fraction_bits)
    if magnitude >> type_.fraction_bits == 0 and not type_.subnormals:
        return sign
    return sign | min(magnitude, type_.infinity)


def _to_nearest(significand: int, dropped: int) -> int:
    """Return significand / 2**dropped, rounded to nearest, ties to even."""
    if dropped <= 0:
        return significand << -dropped
    kept, rest, half = significand >> dropped, significand & ((1 << dropped) - 1), 1 << dropped - 1
    return kept + (rest > half or (rest == half and kept & 1))


def from_fraction(value: Fraction, type_: FloatType) -> int:
    """Return the pattern of the number that is nearest to a rational one."""
    negative, value = value < 0, abs(value)
    return _quotient(negative, value.numerator, value.denominator, 0, type_)


def to_fraction(bits: int, type_: FloatType) -> Fraction:
    """Return the value of a finite number."""
    x = unpack(bits, type_)
    if x.is_nan or x.is_infinite:
        raise ValueError("it is not finite")
    return x.integer * Fraction(2) ** x.exponent


def _quotient(negative: bool, a: int, b: int, exponent: int, type_: FloatType) -> int:
    """Return a / b * 2**exponent, rounded."""
    # Two bits more than are kept, and a last one that says whether anything is left.
    more = max(0, type_.fraction_bits + 3 - a.bit_length() + b.bit_length())
    quotient, rest = divmod(a << more, b)
    return rounded(negative, quotient << 1 | (rest != 0), exponent - more - 1, type_)


def evaluate(op: FloatOp, operands: Sequence[int], of: NumberType, to: NumberType) -> int:
    """Return the result of an operation.

    Parameters
    ----------
    operands: patterns, or integers for `from_int`. of: their type. to: that of the result.
    """
    if isinstance(of, IntType):
        assert op == "from_int" and isinstance(to, FloatType)
        return rounded(operands[0] < 0, abs(operands[0]), 0, to)
    operands = [flushed(bits, of) for bits in operands]
    if isinstance(to, IntType):
        return (
            _to_int(operands[0], of, to)
            if op == "to_int"
            else int(_holds(op, operands[0], operands[1], of))
        )
    if op == "convert":
        return _converted(operands[0], of, to)
    return _computed(op, operands, of)


def _computed(op: FloatOp, operands: Sequence[int], type_: FloatType) -> int:
    match op:
        case "neg":
            return operands[0] ^ type_.sign_bit
        case "abs":
            return operands[0] & ~type_.sign_bit
        case "copysign":
            return (operands[0] & ~type_.sign_bit) | (operands[1] & type_.sign_bit)
        case "min" | "max":
            return _extreme(op, operands[0], operands[1], type_)
    numbers = [unpack(bits, type_) for bits in operands]
    if any(x.is_nan for x in numbers):
        return type_.nan
    match op:
        case "add" | "sub":
            left, right = numbers
            return _sum(left, _negated(right) if op == "sub" else right, type_)
        case "mul":
            return _pack(_product(numbers[0], numbers[1]), type_)
        case "fma":
            product = _product(numbers[0], numbers[1])
            return type_.nan if product.is_nan else _sum(product, numbers[2], type_)
        case "div":
            return _divided(numbers[0], numbers[1], type_)
        case "sqrt":
            return _root(numbers[0], operands[0], type_)
        case _:
            return _integral(op, numbers[0], operands[0], type_)


def _extreme(op: FloatOp, a: int, b: int, type_: FloatType) -> int:
    """Return the smaller or the greater number; of two equal ones, and of two NaN, the second."""
    if unpack(a, type_).is_nan or unpack(b, type_).is_nan:
        return b if unpack(a, type_).is_nan else a
    is_first = _holds("lt", a, b, type_) if op == "min" else _holds("lt", b, a, type_)
    return a if is_first else b


def _negated(x: Unpacked) -> Unpacked:
    return Unpacked(not x.negative, x.significand, x.exponent, x.is_infinite, x.is_nan)


def _pack(x: Unpacked, type_: FloatType) -> int:
    if x.is_nan:
        return type_.nan
    if x.is_infinite:
        return type_.infinity | (type_.sign_bit if x.negative else 0)
    return rounded(x.negative, x.significand, x.exponent, type_)


def _sum(a: Unpacked, b: Unpacked, type_: FloatType) -> int:
    if a.is_infinite or b.is_infinite:
        if a.is_infinite and b.is_infinite and a.negative != b.negative:
            return type_.nan
        return _pack(a if a.is_infinite else b, type_)
    low = min(a.exponent, b.exponent)
    total = (a.integer << a.exponent - low) + (b.integer << b.exponent - low)
    # An exact sum of 0 is positive, unless both are negative zeros (6.3).
    negative = total < 0 or (total == 0 and a.negative and b.negative)
    return rounded(negative, abs(total), low, type_)


def _product(a: Unpacked, b: Unpacked) -> Unpacked:
    negative = a.negative != b.negative
    if a.is_infinite or b.is_infinite:
        return Unpacked(negative, is_infinite=True, is_nan=a.is_zero or b.is_zero)
    return Unpacked(negative, a.significand * b.significand, a.exponent + b.exponent)


def _divided(a: Unpacked, b: Unpacked, type_: FloatType) -> int:
    negative = a.negative != b.negative
    if (a.is_infinite and b.is_infinite) or (a.is_zero and b.is_zero):
        return type_.nan
    if a.is_infinite or b.is_zero:
        return _pack(Unpacked(negative, is_infinite=True), type_)
    if b.is_infinite:
        return _pack(Unpacked(negative), type_)
    exponent = a.exponent - b.exponent
    return _quotient(negative, a.significand, b.significand, exponent, type_)


def _root(x: Unpacked, bits: int, type_: FloatType) -> int:
    if x.is_zero or (x.is_infinite and not x.negative):
        return bits
    if x.negative:
        return type_.nan
    # An even exponent, and twice as many bits as are kept.
    more = 2 * type_.fraction_bits + 6
    more += (x.exponent - more) % 2
    root = isqrt(x.significand << more)
    is_inexact = root * root != x.significand << more
    return rounded(False, root << 1 | is_inexact, (x.exponent - more) // 2 - 1, type_)


def _integral(op: FloatOp, x: Unpacked, bits: int, type_: FloatType) -> int:
    """Return the number rounded to an integer, with its sign."""
    if x.is_infinite or x.exponent >= 0:
        return bits
    value = x.integer * Fraction(2) ** x.exponent
    match op:
        case "floor":
            found = value.__floor__()
        case "ceil":
            found = value.__ceil__()
        case "trunc":
            found = int(value)
        case "round":
            found = int(value + Fraction(1 if value > 0 else -1, 2))
        case "rint":
            found = round(value)
        case _:
            raise ValueError(f"{op} is no operation on {type_}")
    return rounded(x.negative, abs(found), 0, type_)


def _holds(op: FloatOp, a: int, b: int, type_: FloatType) -> bool:
    """Return whether a comparison holds; none does of a NaN."""
    x, y = unpack(a, type_), unpack(b, type_)
    if x.is_nan or y.is_nan:
        return False
    # Patterns of one sign are ordered as their numbers are; zeros of both signs are equal.
    left, right = (-(z & ~type_.sign_bit) if z & type_.sign_bit else z for z in (a, b))
    match op:
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "eq":
            return left == right
        case _:
            raise ValueError(f"{op} is no comparison")


def _to_int(bits: int, of: FloatType, to: IntType) -> int:
    """Return the integer part; beyond the type it is its nearest value, and 0 of a NaN."""
    x = unpack(bits, of)
    if x.is_nan:
        return 0
    if x.is_infinite:
        return to.minimum if x.negative else to.maximum
    whole = x.significand << x.exponent if x.exponent > 0 else x.significand >> -x.exponent
    return min(max(-whole if x.negative else whole, to.minimum), to.maximum)


def fits_integer(bits: int, of: FloatType, to: IntType) -> bool:
    """Return whether a conversion has a value in C: the integer part is one of the type's."""
    x = unpack(bits, of)
    if x.is_nan or x.is_infinite:
        return False
    whole = x.significand << x.exponent if x.exponent > 0 else x.significand >> -x.exponent
    return to.minimum <= (-whole if x.negative else whole) <= to.maximum


def _converted(bits: int, of: FloatType, to: FloatType) -> int:
    return _pack(unpack(bits, of), to)
