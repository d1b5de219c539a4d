"""Quasi-affine functions of iterators: quotients and remainders by constants as well.

    a[13 * k % 16]        b[i / 2 + 1]        c[i & 7]

Such a subscript is computed like one that depends on data, but it is known which element it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
    children,
    with_children,
)
from rtlgen.ir.floor_forms import NoFloorForm, floor_form
from rtlgen.ir.ints import Ints
from rtlgen.ir.types import FloatType
from rtlgen.ir.value_ranges import Range, ValueRanges, binary_range, value_range


def quasi_affine(expr: Expr, iterators: Mapping[str, Range]) -> Expr | None:
    """Return the quasi-affine function that `expr` is, or None if it is none.

    It never wraps, no dividend is negative, and whatever has one value only is a constant: factors
    and divisors are numbers, as isl and the rules of simplification need them.

    Parameters
    ----------
    iterators: inclusive range of every iterator.
    """
    found = plain_quasi_affine(expr, iterators)
    if found is not None or isinstance(expr.type, FloatType):
        return found
    try:
        return plain_quasi_affine(floor_form(expr, iterators), iterators)
    except NoFloorForm:
        return None


def plain_quasi_affine(expr: Expr, iterators: Mapping[str, Range]) -> Expr | None:
    """Return the quasi-affine function that `expr` is as it is written, or None.

    Conditions are none: what they tell of other values can be read only as long as they stay. A
    float is none, whatever is known of it: what it holds is a pattern.
    """
    if isinstance(expr.type, FloatType):
        return None
    found = _folded(expr, ValueRanges(iterators))
    return found if found is not None and _is_quasi_affine(found, iterators) else None


def _folded(expr: Expr, values: ValueRanges) -> Expr | None:
    """Return `expr` with each part that has one value replaced by it; None if data is left."""
    low, high = values.range(expr)
    if low == high:
        return Constant(low, expr.type)
    if isinstance(expr, Read | ScalarParameter | Select | FloatOperation):
        return None
    parts: list[Expr] = []
    for part in children(expr):
        found = _folded(part, values)
        if found is None:
            return None
        parts.append(found)
    return with_children(expr, tuple(parts))


def _is_quasi_affine(expr: Expr, iterators: Mapping[str, Range]) -> bool:
    match expr:
        case Constant():
            return True
        case IndexValue(affine):
            return _fits(expr, affine.range(dict(iterators)))
        case Cast(operand):
            inner = value_range(operand, iterators)
            return _is_quasi_affine(operand, iterators) and _fits(expr, inner)
        case Unary("neg", operand):
            low, high = value_range(operand, iterators)
            return _is_quasi_affine(operand, iterators) and _fits(expr, (-high, -low))
        case Binary():
            return _combines(expr, iterators)
        case _:
            return False


def _combines(expr: Binary, iterators: Mapping[str, Range]) -> bool:
    """Return whether an operation makes a quasi-affine function of two of them."""
    if not all(_is_quasi_affine(part, iterators) for part in (expr.left, expr.right)):
        return False
    form = bit_as_quotient(expr)
    if form is not None:
        return _is_quasi_affine(form, iterators)
    a, b = value_range(expr.left, iterators), value_range(expr.right, iterators)
    constant = expr.right.value if isinstance(expr.right, Constant) else None
    match expr.op:
        case "add" | "sub":
            return _fits(expr, binary_range(expr.op, a, b, expr.type))
        case "mul":
            scales = constant is not None or isinstance(expr.left, Constant)
            return scales and _fits(expr, binary_range("mul", a, b, expr.type))
        case "div" | "rem":
            return constant is not None and constant > 0 and a[0] >= 0
        case "shl":
            is_shift = constant is not None and 0 <= constant < expr.type.width_bits
            return is_shift and _fits(expr, binary_range("shl", a, b, expr.type))
        case "shr":
            return constant is not None and 0 <= constant < expr.type.width_bits
        case "and":
            return constant is not None and constant > 0 and constant & (constant + 1) == 0
        case _:
            return False


def bit_as_quotient(expr: Binary) -> Expr | None:
    """Return an operation on one bit as what it does to a number that is not negative.

    i & 4  ->  4 * (i / 4 % 2)        i ^ 4  ->  i + 4 - 8 * (i / 4 % 2)
    """
    match expr.left, expr.right:
        case (operand, Constant(mask)) | (Constant(mask), operand):
            pass
        case _:
            return None
    is_remainder = expr.op == "and" and mask == 1
    if expr.op not in ("and", "or", "xor") or mask < 1 or mask & (mask - 1) or is_remainder:
        return None

    def applied(op: BinaryOp, left: Expr, by: int) -> Expr:
        return Binary(op, left, Constant(by, expr.type), expr.type)

    bit = applied("rem", applied("div", operand, mask), 2)
    if expr.op == "and":
        return applied("mul", bit, mask)
    taken = applied("mul", bit, mask if expr.op == "or" else 2 * mask)
    return Binary("sub", applied("add", operand, mask), taken, expr.type)


def _fits(expr: Expr, values: Range | None) -> bool:
    return values is not None and expr.type.minimum <= values[0] and values[1] <= expr.type.maximum


def quasi_affine_text(expr: Expr, names: Sequence[str]) -> str:
    """Return a quasi-affine function in isl syntax, with iterator k of `names` called `d<k>`."""
    match expr:
        case Constant(value):
            return str(value)
        case IndexValue(affine) if affine.is_constant:
            # isl takes a number in parentheses for no factor.
            return str(affine.constant)
        case IndexValue(affine):
            terms = [f"{c}*d{names.index(name)}" for name, c in affine.terms]
            return f"({' + '.join([*terms, str(affine.constant)])})"
        case Cast(operand):
            return quasi_affine_text(operand, names)
        case Unary("neg", operand):
            return f"(-{quasi_affine_text(operand, names)})"
        case Binary() if (form := bit_as_quotient(expr)) is not None:
            return quasi_affine_text(form, names)
        case Binary(op, left, right):
            a, b = quasi_affine_text(left, names), quasi_affine_text(right, names)
            if op in ("add", "sub", "mul"):
                return f"({a} {_SYMBOLS[op]} {b})"
            if op == "and":
                return f"({a} mod {_constant(right) + 1})"
            if op == "rem":
                return f"({a} mod {_constant(right)})"
            if op == "shl":
                return f"({1 << _constant(right)} * {a})"
            divisor = 1 << _constant(right) if op == "shr" else _constant(right)
            return f"floor({a}/{divisor})"
    raise ValueError(f"{expr} is not quasi-affine")


def affine_values(affine: Affine, names: Sequence[str], points: Ints) -> Ints:
    """Return the values of an affine function at (n, names) points."""
    total = np.full(len(points), affine.constant, dtype=np.int64)
    for name, coefficient in affine.terms:
        total += coefficient * points[:, names.index(name)]
    return total


def quasi_affine_values(expr: Expr, names: Sequence[str], points: Ints) -> Ints:
    """Return the values of a quasi-affine function at (n, names) points."""
    match expr:
        case Constant(value):
            return np.full(len(points), value, dtype=np.int64)
        case IndexValue(affine):
            return affine_values(affine, names, points)
        case Cast(operand):
            return quasi_affine_values(operand, names, points)
        case Unary("neg", operand):
            return -quasi_affine_values(operand, names, points)
        case Binary() if (form := bit_as_quotient(expr)) is not None:
            return quasi_affine_values(form, names, points)
        case Binary(op, left, right):
            a = quasi_affine_values(left, names, points)
            b = quasi_affine_values(right, names, points)
            return _combined(op, a, b)
    raise ValueError(f"{expr} is not quasi-affine")


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*"}


def _combined(op: str, a: Ints, b: Ints) -> Ints:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a // b
        case "rem":
            return a % b
        case "shl":
            return a << b
        case "shr":
            return a >> b
        case _:
            return a & b


def _constant(expr: Expr) -> int:
    assert isinstance(expr, Constant), "a divisor is a constant"
    return expr.value
