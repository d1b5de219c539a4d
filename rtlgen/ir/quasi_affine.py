"""Quasi-affine functions of iterators: quotients and remainders by constants as well.

C's conversions, comparisons and truncating divisions as quotients that round down.

Rewrite
-------
    (uint8_t)(18 * i + j)      ->   (18 * i + j) % 256
    i > 0                      ->   (i - 1 + 8) / 8                    where -8 <= i - 1 < 8
    (i - 7) / 3                ->   (i - 7 + 2 * (i < 7)) / 3          rounded down

What is left are sums, multiples, quotients and remainders of iterators in 64 bits, none of which
wraps: quasi-affine functions, as isl knows them. The rules are those of floor division (Graham,
Knuth and Patashnik, Concrete Mathematics, 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
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
from rtlgen.ir.ints import Ints
from rtlgen.ir.types import INT64, FloatType, IntType
from rtlgen.ir.value_ranges import Range, ValueRanges, binary_range, is_truth, value_range

_LARGEST = 1 << 62
"""No number on the way is larger: the sum of two of them is still one of 64 bits."""


class NoFloorForm(Exception):
    """An expression is no quasi-affine function of the iterators."""


def floor_form(expr: Expr, iterators: Mapping[str, Range]) -> Expr:
    """Return an expression of the same value in which every quotient rounds down.

    Parameters
    ----------
    iterators: inclusive range of every iterator.

    Raises
    ------
    NoFloorForm: there is none, or it needs more than 64 bits.
    """
    return _Forms(iterators).of(expr)


class _Forms:
    def __init__(self, iterators: Mapping[str, Range]) -> None:
        self._iterators = iterators

    def of(self, expr: Expr) -> Expr:
        match expr:
            case Constant(value):
                return self._held(Constant(value, INT64))
            case IndexValue(affine, type_):
                return self._wrapped(self._held(IndexValue(affine, INT64)), type_)
            case Cast(operand, IntType() as type_):
                return self._wrapped(self.of(operand), type_)
            case Unary("neg", operand, type_):
                return self._wrapped(self._negated(self.of(operand)), type_)
            case Unary("not", operand, type_):
                inverse = self._plus(self._negated(self.of(operand)), -1)
                return self._wrapped(inverse, type_)
            case Unary("lnot", operand):
                return self._compared("eq", self.of(operand), Constant(0, INT64))
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op, self.of(left), self.of(right))
            case Binary("and" | "or" as op, left, right) if is_truth(left) and is_truth(right):
                both = self._binary("add", self.of(left), self.of(right))
                return self._quotient(self._plus(both, int(op == "or")), 2)
            case Binary(op, left, right, type_):
                return self._wrapped(self._combined(op, left, right), type_)
            case Select(condition, if_true, if_false):
                ahead = self._binary("sub", self.of(if_true), self.of(if_false))
                low, high = self._range(ahead)
                if low == high:
                    chosen = self._times(self._truth(condition), low)
                    return self._binary("add", self.of(if_false), chosen)
        raise NoFloorForm

    def _combined(self, op: str, left: Expr, right: Expr) -> Expr:
        """Return the mathematical result of an operation, before it wraps."""
        a, b = self.of(left), self.of(right)
        low, high = self._range(b)
        by = low if low == high else None
        match op:
            case "add" | "sub":
                return self._binary("add" if op == "add" else "sub", a, b)
            case "mul" if by is not None:
                return self._times(a, by)
            case "mul" if isinstance(a, Constant):
                return self._times(b, a.value)
            case "shl" if by is not None and 0 <= by < INT64.width_bits:
                return self._times(a, 1 << by)
            case "shr" if by is not None and 0 <= by < INT64.width_bits:
                return self._quotient(a, 1 << by)
            case "div" if by:
                return self._times(self._truncated(a, abs(by)), 1 if by > 0 else -1)
            case "rem" if by:
                whole = self._times(self._truncated(a, abs(by)), abs(by))
                return self._binary("sub", a, whole)
            case "and" if by is not None and by >= 0 and by & (by + 1) == 0:
                return self._remainder(a, by + 1)
        raise NoFloorForm

    def _truncated(self, a: Expr, by: int) -> Expr:
        """Return a quotient that is rounded towards zero: up where the dividend is negative."""
        low, high = self._range(a)
        if high <= 0:
            return self._negated(self._quotient(self._negated(a), by))
        if low < 0:
            negative = self._compared("lt", a, Constant(0, INT64))
            a = self._binary("add", a, self._times(negative, by - 1))
        return self._quotient(a, by)

    def _truth(self, condition: Expr) -> Expr:
        if is_truth(condition):
            return self.of(condition)
        return self._compared("ne", self.of(condition), Constant(0, INT64))

    def _compared(self, op: str, a: Expr, b: Expr) -> Expr:
        ahead = self._binary("sub", a, b)
        match op:
            case "ge":
                return self._is_positive(self._plus(ahead, 1))
            case "gt":
                return self._is_positive(ahead)
            case "le":
                return self._is_positive(self._plus(self._negated(ahead), 1))
            case "lt":
                return self._is_positive(self._negated(ahead))
        above = self._is_positive(ahead)
        from_there = self._is_positive(self._plus(ahead, 1))
        equal = self._binary("sub", from_there, above)
        return equal if op == "eq" else self._plus(self._negated(equal), 1)

    def _is_positive(self, a: Expr) -> Expr:
        """Return 1 where a number is positive, else 0: its sign, as a quotient by a power of 2."""
        low, high = self._range(a)
        if low > 0 or high <= 0:
            return Constant(int(low > 0), INT64)
        above = self._plus(a, -1)
        size = 1 << max(-(low - 1) - 1, high - 1, 1).bit_length()
        return self._plus(self._quotient(above, size), 1)

    def _wrapped(self, a: Expr, type_: IntType) -> Expr:
        """Return what a type holds of a number."""
        low, high = self._range(a)
        if type_.is_bool and not 0 <= low <= high <= 1:
            return self._compared("ne", a, Constant(0, INT64))
        if type_.minimum <= low and high <= type_.maximum:
            return a
        if type_.width_bits == INT64.width_bits:
            raise NoFloorForm
        modulus, first = 1 << type_.width_bits, type_.minimum
        return self._plus(self._remainder(self._plus(a, -first), modulus), first)

    def _remainder(self, a: Expr, by: int) -> Expr:
        low, high = self._range(a)
        if low // by == high // by:
            return self._plus(a, -(low // by) * by)
        lifted = self._plus(a, max(0, -(low // by)) * by)
        return Binary("rem", lifted, Constant(by, INT64), INT64)

    def _quotient(self, a: Expr, by: int) -> Expr:
        """Return a quotient that is rounded down."""
        low, high = self._range(a)
        if low // by == high // by:
            return Constant(low // by, INT64)
        if by == 1:
            return a
        lift = max(0, -(low // by))
        found = Binary("div", self._plus(a, lift * by), Constant(by, INT64), INT64)
        return self._plus(found, -lift)

    # Sums and multiples, as short as they can be.

    def _plus(self, a: Expr, by: int) -> Expr:
        return self._binary("add", a, Constant(by, INT64)) if by else a

    def _negated(self, a: Expr) -> Expr:
        return self._times(a, -1)

    def _times(self, a: Expr, by: int) -> Expr:
        match a:
            case Constant(value):
                return self._held(Constant(value * by, INT64))
            case IndexValue(affine):
                return self._held(IndexValue(affine * by, INT64))
        return a if by == 1 else self._binary("mul", a, Constant(by, INT64))

    def _binary(self, op: BinaryOp, a: Expr, b: Expr) -> Expr:
        if op in ("add", "sub"):
            first, second = _affine(a), _affine(b)
            if first is not None and second is not None:
                total = first + second if op == "add" else first - second
                return self._held(IndexValue(total, INT64))
            if isinstance(b, Constant):
                return self._moved(a, b.value if op == "add" else -b.value)
        return self._held(Binary(op, a, b, INT64))

    def _moved(self, a: Expr, by: int) -> Expr:
        match a:
            case Binary("add", inner, Constant(value)):
                a, by = inner, by + value
            case Binary("sub", inner, Constant(value)):
                a, by = inner, by - value
        if by == 0:
            return a
        return self._held(Binary("add" if by > 0 else "sub", a, Constant(abs(by), INT64), INT64))

    def _held(self, expr: Expr) -> Expr:
        low, high = self._range(expr)
        if low < -_LARGEST or high > _LARGEST:
            raise NoFloorForm
        return Constant(low, INT64) if low == high else expr

    def _range(self, expr: Expr) -> Range:
        return value_range(expr, self._iterators)


def _affine(expr: Expr) -> Affine | None:
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
    return None


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
