"""Float operations in less precision, where the result is the same in every bit.

Rewrite
-------
    (float)((double)x * (double)y)      x * y                   in float
    (float)((double)x * 0.5)            x * 0.5f
    x / 4.0f                            x * 0.25f

A double holds more than twice the digits of two floats: rounding a sum, difference, product,
quotient or root of floats to double first changes no digit of the float that it is rounded to
(Figueroa, "When is double rounding innocuous?", SIGNUM 30, 1995: 53 >= 2 * 24 + 2).
"""

from __future__ import annotations

from rtlgen.ir.expr import Constant, Expr, FloatOperation, float_text, walk
from rtlgen.ir.float_arithmetic import evaluate, fits_integer, unpack
from rtlgen.ir.types import FloatType, IntType

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
