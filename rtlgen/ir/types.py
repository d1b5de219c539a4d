"""C integer types: width, signedness, ranges and wrap-around."""

from __future__ import annotations

from dataclasses import dataclass


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


INT32 = IntType(32, True)
INT64 = IntType(64, True)


def common_type(a: IntType, b: IntType) -> IntType:
    """Return the type of a binary operation (C11 6.3.1.8, the usual arithmetic conversions)."""
    a, b = a.promoted, b.promoted
    width = max(a.width_bits, b.width_bits)
    # The unsigned operand wins unless the signed one is wider and so holds all its values.
    signed = all(t.signed for t in (a, b) if t.width_bits == width)
    return IntType(width, signed)
