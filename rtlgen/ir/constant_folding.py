"""Constant folding: expressions without what has one value only, and without neutral operands.

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

from rtlgen.ir.conditions import facts_of
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
    with_children,
)
from rtlgen.ir.float_narrowing import folded_float
from rtlgen.ir.types import IntType
from rtlgen.ir.value_ranges import Facts, NoValueYet, ValueRanges


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
