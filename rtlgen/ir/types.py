"""C arithmetic types: integers with their wrap-around, and IEEE 754 formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class IntType:
    """A two's-complement integer type of 8, 16, 32 or 64 bits.

    Members
    -------
    is_bool: it is `_Bool`: 8 bits that hold 0 or 1, and to which conversion asks for "not 0".
    """

    width_bits: int
    signed: bool
    is_bool: bool = False

    def __post_init__(self) -> None:
        if self.width_bits not in (8, 16, 32, 64):
            raise ValueError(f"no C integer type has {self.width_bits} bits")

    @property
    def minimum(self) -> int:
        return -(1 << (self.width_bits - 1)) if self.signed else 0

    @property
    def maximum(self) -> int:
        return 1 if self.is_bool else (1 << (self.width_bits - self.signed)) - 1

    def wrap(self, value: int) -> int:
        """Return `value` modulo 2**width, in this type's range (gcc's conversion, -fwrapv)."""
        if self.is_bool:
            return int(value != 0)
        value &= (1 << self.width_bits) - 1
        if self.signed and value >> (self.width_bits - 1):
            value -= 1 << self.width_bits
        return value

    @property
    def promoted(self) -> IntType:
        """The type after C's integer promotions (C11 6.3.1.1): int, when int holds every value."""
        return self if self.width_bits >= 32 else INT32

    def __str__(self) -> str:
        return f"{'' if self.signed else 'u'}int{self.width_bits}"


@dataclass(frozen=True, slots=True, order=True)
class FloatType:
    """A binary interchange format of IEEE 754-2019 (3.4): sign, biased exponent, fraction.

    A value of the type is its bit pattern, an unsigned integer: memories, wires and words of a bus
    hold nothing else, and only `FloatOperation` knows what the bits mean.

    Members
    -------
    exponent_bits, fraction_bits: of the fields; the leading bit of a significand is not stored.
    subnormals: False: what is less than the normal numbers is 0, of its sign; that is a format of
        operations, not one that anything is stored in.
    """

    exponent_bits: int
    fraction_bits: int
    subnormals: bool = True

    def __post_init__(self) -> None:
        if self.exponent_bits < 2 or self.fraction_bits < 1:
            raise ValueError("a format has two bits of exponent and one of fraction at least")

    @property
    def width_bits(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def signed(self) -> bool:
        """Patterns are unsigned."""
        return False

    @property
    def is_bool(self) -> bool:
        """No format of numbers is `_Bool`."""
        return False

    @property
    def minimum(self) -> int:
        """The least pattern."""
        return 0

    @property
    def maximum(self) -> int:
        """The greatest pattern."""
        return (1 << self.width_bits) - 1

    def wrap(self, value: int) -> int:
        """Return the low bits of a pattern."""
        return value & self.maximum

    @property
    def promoted(self) -> FloatType:
        """The type itself: only integers are promoted."""
        return self

    def holds(self, other: FloatType) -> bool:
        """Return whether every value of another format is one of this one, subnormals included."""
        least = self.bias + self.fraction_bits
        return (
            self.bias >= other.bias
            and self.fraction_bits >= other.fraction_bits
            and least >= other.bias + other.fraction_bits
        )

    @property
    def greatest_integer(self) -> int:
        """Beyond all finite numbers, the power of two."""
        return 1 << self.bias + 1

    @property
    def bias(self) -> int:
        """What is added to an exponent where it is stored."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def sign_bit(self) -> int:
        """The pattern of -0."""
        return 1 << (self.width_bits - 1)

    @property
    def infinity(self) -> int:
        """The pattern of +infinity."""
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def nan(self) -> int:
        """The pattern of the one NaN that operations make: quiet, positive, without payload."""
        return self.infinity | 1 << (self.fraction_bits - 1)

    @property
    def without_subnormals(self) -> FloatType:
        """The format whose subnormal numbers are 0."""
        return replace(self, subnormals=False)

    def __str__(self) -> str:
        if not self.subnormals:
            return f"{replace(self, subnormals=True)}z"
        return _FLOAT_NAMES.get(self, f"float{self.exponent_bits}_{self.fraction_bits}")


INT32 = IntType(32, True)
INT64 = IntType(64, True)
FLOAT16 = FloatType(5, 10)
BFLOAT16 = FloatType(8, 7)
FLOAT32 = FloatType(8, 23)
FLOAT64 = FloatType(11, 52)

_FLOAT_NAMES = {
    FLOAT16: "float16", BFLOAT16: "bfloat16", FLOAT32: "float32", FLOAT64: "float64",
}  # fmt: skip

C_FLOAT_NAMES: Mapping[FloatType, str] = {
    FLOAT16: "_Float16", BFLOAT16: "__bf16", FLOAT32: "float", FLOAT64: "double",
}  # fmt: skip
"""The formats that C has, by what it calls them."""


def power_of_two(bits: int, type_: FloatType) -> bool:
    """Tell whether a pattern is that of a power of two, of either sign, that is not subnormal."""
    magnitude = bits & ~type_.sign_bit
    is_normal = magnitude >> type_.fraction_bits > 0 and magnitude < type_.infinity
    return is_normal and magnitude & ((1 << type_.fraction_bits) - 1) == 0


NumberType: TypeAlias = IntType | FloatType
"""What an element of an array, a scalar and an expression can be."""

_NAMED: dict[str, NumberType] = {
    **{name: type_ for type_, name in _FLOAT_NAMES.items()},
    **{str(t): t for t in (IntType(w, s) for w in (8, 16, 32, 64) for s in (True, False))},
}


def type_named(name: str) -> NumberType:
    """Return the type whose text is `name`; KeyError when there is none."""
    return _NAMED[name]


def integral(type_: NumberType) -> IntType:
    """Return the type of something that only an integer is: an affine function, a count."""
    assert isinstance(type_, IntType), f"{type_} holds no integer as it is"
    return type_


def common_type(a: NumberType, b: NumberType) -> NumberType:
    """Return the type of a binary operation (C11 6.3.1.8, the usual arithmetic conversions).

    Of `_Float16` and `__bf16`, neither of which holds the values of the other, it is `float`, as
    the hardware conversions of both have it; gcc refuses the pair.
    """
    if isinstance(a, FloatType) or isinstance(b, FloatType):
        floats = [t for t in (a, b) if isinstance(t, FloatType)]
        if set(floats) == {FLOAT16, BFLOAT16}:
            return FLOAT32
        return max(floats, key=lambda t: (t.width_bits, t.fraction_bits))
    return common_integer(a, b)


def common_integer(a: IntType, b: IntType) -> IntType:
    """Return the type of a binary operation on integers (C11 6.3.1.8)."""
    a, b = a.promoted, b.promoted
    width = max(a.width_bits, b.width_bits)
    # The unsigned operand wins unless the signed one is wider and so holds all its values.
    signed = all(t.signed for t in (a, b) if t.width_bits == width)
    return IntType(width, signed)
