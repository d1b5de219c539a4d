"""Value ranges of expressions: how many bits a value really needs."""

from __future__ import annotations

from collections.abc import Mapping

from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
)
from rtlgen.ir.types import IntType

Range = tuple[int, int]


def width_of(values: Range) -> tuple[int, bool]:
    """Return (bits, signed) of the smallest integer format that holds the inclusive range."""
    low, high = values
    if low < 0:
        return max((~x if x < 0 else x).bit_length() for x in values) + 1, True
    return max(1, high.bit_length()), False


def value_range(expr: Expr, iterators: Mapping[str, Range]) -> Range:
    """Return an inclusive range that holds every value `expr` can take.

    Parameters
    ----------
    iterators: inclusive range of every iterator.
    """
    exact = _exact_range(expr, iterators)
    type_range = (expr.type.minimum, expr.type.maximum)
    if exact is None or exact[0] < type_range[0] or exact[1] > type_range[1]:
        return type_range
    return exact


def _exact_range(expr: Expr, iterators: Mapping[str, Range]) -> Range | None:
    """Range of the mathematical result before wrapping, or None where only the type is known."""
    match expr:
        case Constant(value):
            return value, value
        case IndexValue(affine):
            return affine.range(dict(iterators))
        case Read() | ScalarParameter():
            return None
        case Cast(operand):
            return value_range(operand, iterators)
        case Unary(op, operand):
            low, high = value_range(operand, iterators)
            match op:
                case "neg":
                    return -high, -low
                case "not":
                    return ~high, ~low
                case "lnot":
                    return 0, 1
        case Select(_, a, b):
            first, second = value_range(a, iterators), value_range(b, iterators)
            return min(first[0], second[0]), max(first[1], second[1])
        case Binary(op, left, right):
            return _binary(
                op, value_range(left, iterators), value_range(right, iterators), expr.type
            )


def _binary(op: str, a: Range, b: Range, type_: IntType) -> Range | None:
    if op in COMPARISONS:
        return 0, 1
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "mul":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "and":
            bounds = [high for low, high in (a, b) if low >= 0]
            return (0, min(bounds)) if bounds else None
        case "or" | "xor":
            if a[0] < 0 or b[0] < 0:
                return None
            return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
        case "shl":
            if b[0] != b[1] or not 0 <= b[0] < type_.width_bits:
                return None
            return a[0] << b[0], a[1] << b[0]
        case "shr":
            if not 0 <= b[0] <= b[1] < type_.width_bits:
                return None
            corners = [x >> y for x in a for y in b]
            return min(corners), max(corners)
        case "rem":
            return _remainder(a, b)
        case _:
            return None


def _remainder(a: Range, b: Range) -> Range | None:
    # The sign is the dividend's; a zero divisor returns the dividend itself.
    if b[0] <= 0 <= b[1]:
        return None
    magnitude = max(abs(b[0]), abs(b[1])) - 1
    return (-min(magnitude, -a[0]) if a[0] < 0 else 0), (min(magnitude, a[1]) if a[1] > 0 else 0)
