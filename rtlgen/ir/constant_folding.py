"""Expressions without what has one value only, and floats in less precision where that is the same.

Float operations in less precision, where the result is the same in every bit.

Rewrite
-------
    (float)((double)x * (double)y)      x * y                   in float
    (float)((double)x * 0.5)            x * 0.5f
    x / 4.0f                            x * 0.25f

A double holds more than twice the digits of two floats: rounding a sum, difference, product,
quotient or root of floats to double first changes no digit of the float that it is rounded to
(Figueroa, "When is double rounding innocuous?", SIGNUM 30, 1995: 53 >= 2 * 24 + 2).

Constant folding: expressions without what has one value only, and without neutral operands.

Rewrite
-------
    x * 1 + y * 0           ->   x
    0 - x * 2               ->   -(x * 2)
    s + x * -1              ->   s - x
    8 > 9 ? x : y           ->   y

Exact in the type of every operation, modulo a power of two. What divides by zero, or shifts by more
than the width of its operand, stays as it is unless a range tells its value.
"""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    IndexValue,
    Scatter,
    Select,
    Unary,
    children,
    float_text,
    walk,
    with_children,
)
from rtlgen.ir.float_arithmetic import evaluate, fits_integer, unpack
from rtlgen.ir.types import FloatType, IntType
from rtlgen.ir.value_ranges import Facts, NoValueYet, ValueRanges, facts_of

_ROUNDED_TWICE = frozenset(("add", "sub", "mul", "div", "sqrt"))


def folded_float(expr: FloatOperation) -> Expr:
    """Return an operation on folded operands as a constant, or as one that costs less."""
    known = [x.value for x in expr.operands if isinstance(x, Constant)]
    of, to = expr.formats
    if len(known) == len(expr.operands):
        is_open = (
            expr.op == "to_int"
            and isinstance(of, FloatType)
            and isinstance(to, IntType)
            and not fits_integer(known[0], of, to)
        )
        return expr if is_open else Constant(evaluate(expr.op, known, of, to), expr.type)
    match expr:
        case FloatOperation("convert", (FloatOperation() as inner,), FloatType() as type_):
            if inner.flushes == expr.flushes:
                return _narrowed(inner, type_) or expr
        case FloatOperation("div", (x, Constant(bits)), FloatType() as type_):
            inverse = _inverse(bits, type_)
            if inverse is not None:
                return FloatOperation("mul", (x, Constant(inverse, type_)), type_, expr.flushes)
    return expr


def _narrowed(inner: FloatOperation, type_: FloatType) -> Expr | None:
    """Return an operation whose result is rounded to a type once more, done in that type."""
    wide = inner.type
    if not isinstance(wide, FloatType):
        return None
    if inner.op in _ROUNDED_TWICE and is_innocuous(wide, type_):
        parts = [_as_narrow(x, wide, type_, flushes=inner.flushes) for x in inner.operands]
        operands = tuple(part for part in parts if part is not None)
        if len(operands) == len(parts):
            return FloatOperation(inner.op, operands, type_, inner.flushes)
    return None


def is_innocuous(wide: FloatType, narrow: FloatType) -> bool:
    """Return whether rounding to a wide format first never changes the narrow result.

    Subnormal results included: products of narrow numbers are exact in the wide format, whose
    exponents reach twice as far.
    """
    least = narrow.bias - 1 + narrow.fraction_bits
    return (
        wide.fraction_bits + 1 >= 2 * (narrow.fraction_bits + 1) + 2
        and wide.bias - 1 >= 2 * least
        and wide.bias > narrow.bias + least + 1
    )


def _as_narrow(
    operand: Expr, wide: FloatType, narrow: FloatType, *, flushes: bool = False
) -> Expr | None:
    """Return an operand in a narrow type, if that holds its value.

    Where it flushes, a constant that is subnormal there is no longer what it is.
    """
    match operand:
        case FloatOperation("convert", (inner,)) if inner.type == narrow:
            return inner
        case Constant(bits):
            held = narrow.without_subnormals if flushes else narrow
            known = evaluate("convert", [bits], wide, held)
            is_same = evaluate("convert", [known], held, wide) == bits
            return Constant(known, narrow) if is_same else None
        case FloatOperation("from_int", (inner,)) if isinstance(inner.type, IntType):
            # All its values have so few digits that both formats hold them.
            most = 1 << narrow.fraction_bits + 1
            is_held = -most <= inner.type.minimum and inner.type.maximum <= most
            if is_held and most <= narrow.greatest_integer:
                return FloatOperation("from_int", (inner,), narrow)
    return None


def _inverse(bits: int, type_: FloatType) -> int | None:
    """Return the inverse of a power of two, if it is a normal number, as that is."""
    x = unpack(bits, type_)
    fraction = bits & ((1 << type_.fraction_bits) - 1)
    if x.is_nan or x.is_infinite or x.is_zero or fraction:
        return None
    one = type_.bias << type_.fraction_bits
    inverse = evaluate("div", [one, bits], type_, type_)
    is_normal = (bits & ~type_.sign_bit) >> type_.fraction_bits > 0
    return inverse if is_normal and (inverse & ~type_.sign_bit) >> type_.fraction_bits else None


def widening_constants(expr: Expr) -> tuple[tuple[str, str], ...]:
    """Return the constants for which alone operations on a narrower type are done in a wide one.

    Each as C has it, and as it would be written in the narrower type.
    """
    found: list[tuple[str, str]] = []
    for node in walk(expr):
        match node:
            case FloatOperation(op, (left, right), FloatType() as wide) if op in _ROUNDED_TWICE:
                for constant, other in ((left, right), (right, left)):
                    narrow = _widened_from(other, wide)
                    if not isinstance(constant, Constant) or narrow is None:
                        continue
                    if _as_narrow(constant, wide, narrow) is None:
                        nearest = evaluate("convert", [constant.value], wide, narrow)
                        found.append(
                            (float_text(constant.value, wide), float_text(nearest, narrow))
                        )
    return tuple(found)


def _widened_from(expr: Expr, wide: FloatType) -> FloatType | None:
    """Return the narrower format in which a value was before C widened it."""
    match expr:
        case FloatOperation("convert", (inner,)) if isinstance(inner.type, FloatType):
            return inner.type if wide.holds(inner.type) else None
    return None


def folded(expr: Expr, ranges: ValueRanges, facts: Facts = ()) -> Expr:
    """Return an expression that has the value of `expr` wherever `facts` hold.

    Parameters
    ----------
    ranges: of expressions of the statement that has this one.
    """
    if isinstance(expr, Scatter):
        # It is no value of one element.
        inside = (*facts, *facts_of(expr.condition, True))
        at = tuple(folded(part, ranges, inside) for part in expr.at)
        return Scatter(
            folded(expr.condition, ranges, facts),
            folded(expr.value, ranges, inside),
            replace(expr.old, at=at),
        )
    try:
        low, high = ranges.range(expr, facts)
    except NoValueYet:
        # Nothing that runs gives it a value.
        return expr
    if low == high:
        return Constant(low, expr.type)
    if isinstance(expr, Select):
        return _selected(expr, ranges, facts)
    return _neutral(with_children(expr, tuple(folded(x, ranges, facts) for x in children(expr))))


def unconverted(expr: Expr, ranges: ValueRanges) -> Expr:
    """Return what `expr` is, without conversions that change no value."""
    while isinstance(expr, Cast):
        low, high = ranges.range(expr.operand)
        if low < expr.type.minimum or expr.type.maximum < high:
            break
        expr = expr.operand
    return expr


def _selected(expr: Select, ranges: ValueRanges, facts: Facts) -> Expr:
    # Where a function of the iterators is >= 0 reads may be made that are not made elsewhere. Such
    # a condition stays unless it always holds, for those reads as well.
    where = () if is_of_iterators(expr.condition) else facts
    taken = ranges.decided(expr.condition, where)
    arms = [
        folded(arm, ranges, (*facts, *facts_of(expr.condition, holds)))
        for arm, holds in ((expr.if_true, True), (expr.if_false, False))
        if taken is not (not holds)
    ]
    if len(arms) == 1 or arms[0] == arms[1]:
        return arms[0]
    condition = folded(expr.condition, ranges, where)
    return Select(condition, arms[0], arms[1], expr.type)


def is_of_iterators(condition: Expr) -> bool:
    """Tell whether a condition is that a function of the iterators is >= 0."""
    return isinstance(condition, Binary) and isinstance(condition.left, IndexValue)


def _neutral(expr: Expr) -> Expr:
    """Return an operation on folded operands without those that change nothing."""
    match expr:
        case FloatOperation():
            return folded_float(expr)
        case Unary("neg", Unary("neg", x)) | Unary("not", Unary("not", x)):
            return x
        case Binary("add" | "or" | "xor", x, Constant(0)) | Binary(
            "add" | "or" | "xor", Constant(0), x
        ):
            return x
        case Binary("sub" | "shl" | "shr", x, Constant(0)) | Binary("mul" | "div", x, Constant(1)):
            return x
        case Binary("mul", Constant(1), x):
            return x
        case Binary("sub", Constant(0), x):
            return _negative(x, expr.type)
        case Binary("mul" | "div" as op, x, Constant(value)) if _is_minus_one(op, value, expr.type):
            return _negative(x, expr.type)
        case Binary("mul", Constant(value), x) if _is_minus_one("mul", value, expr.type):
            return _negative(x, expr.type)
        case Binary("and", x, Constant(value)) | Binary("and", Constant(value), x) if (
            expr.type.wrap(-1) == value
        ):
            return x
        case Binary("or", _, Constant(value)) | Binary("or", Constant(value), _) if (
            expr.type.wrap(-1) == value
        ):
            return Constant(value, expr.type)
        case Binary("add", x, Unary("neg", y)) | Binary("add", Unary("neg", y), x):
            return Binary("sub", x, y, expr.type)
        case Binary("sub", x, Unary("neg", y)):
            return Binary("add", x, y, expr.type)
        case _:
            return expr


def _is_minus_one(op: str, value: int, type_: IntType) -> bool:
    """Tell whether a factor or divisor only changes the sign, modulo a power of two."""
    return value == (-1 if op == "div" else type_.wrap(-1))


def _negative(x: Expr, type_: IntType) -> Expr:
    return _neutral(Unary("neg", x, type_))
