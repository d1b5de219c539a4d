"""Calls of functions of <math.h> that are an operation, or a few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.values import Arithmetic, Value, literal
from rtlgen.frontend.errors import CallArguments
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.syntax.functions import (
    BIT_PATTERNS,
    CLASSIFICATIONS,
    FLOAT_OPERATIONS,
    ORDERED_COMPARISONS,
    ROUNDED_TO_INTEGERS,
)
from rtlgen.ir.expr import BinaryOp
from rtlgen.ir.types import FLOAT64, INT32, FloatType, IntType
from rtlgen.source import Span


def is_float_function(name: str) -> bool:
    """Tell whether a function that no file declares is one of <math.h> that is known."""
    return any(
        name in known
        for known in (
            BIT_PATTERNS,
            CLASSIFICATIONS,
            FLOAT_OPERATIONS,
            ORDERED_COMPARISONS,
            ROUNDED_TO_INTEGERS,
        )
    )


def float_call(
    name: str, arguments: Sequence[c_ast.Node], reader: ExpressionReader, span: Span
) -> Value | None:
    """Return the value of a call; None if the function is none of these.

    Raises
    ------
    CallArguments: there are too few arguments, or too many.
    """
    if not is_float_function(name):
        return None
    values = [reader.value(argument) for argument in arguments]
    arithmetic = reader.arithmetic
    if name in FLOAT_OPERATIONS:
        op, count, type_ = FLOAT_OPERATIONS[name]
        _require(name, count, values, span)
        operands = [arithmetic.convert(value, type_) for value in values]
        return arithmetic.floating(op, operands, type_, span)
    if name in BIT_PATTERNS:
        _require(name, 1, values, span)
        of, to = BIT_PATTERNS[name]
        return arithmetic.reinterpreted(arithmetic.convert(values[0], of), to)
    if name in ORDERED_COMPARISONS:
        _require(name, 2, values, span)
        compared = cast(BinaryOp, ORDERED_COMPARISONS[name])
        return arithmetic.binary(compared, values[0], values[1], span)
    _require(name, 1, values, span)
    if name in ROUNDED_TO_INTEGERS:
        op, to, type_ = ROUNDED_TO_INTEGERS[name]
        whole = arithmetic.floating(op, [arithmetic.convert(values[0], type_)], type_, span)
        return arithmetic.convert(whole, to)
    return _classified(name, values[0], arithmetic, span)


def _require(name: str, count: int, values: Sequence[Value], span: Span) -> None:
    if len(values) != count:
        raise CallArguments(
            f"`{name}` takes {count}, not {len(values)}, arguments", labels=(Label(span),)
        )


def _classified(name: str, value: Value, arithmetic: Arithmetic, span: Span) -> Value:
    """Return what a classification says: of the magnitude, or of the sign."""
    type_ = value.type if isinstance(value.type, FloatType) else FLOAT64
    value = arithmetic.convert(value, type_)

    def compared(op: BinaryOp, left: Value, right: int) -> Value:
        return arithmetic.binary(op, left, literal(right, type_, span), span)

    if "isnan" in name:
        return arithmetic.binary("ne", value, value, span)
    if "signbit" in name:
        bits = arithmetic.reinterpreted(value, IntType(type_.width_bits, False))
        count = literal(type_.width_bits - 1, INT32, span)
        sign = arithmetic.binary("shr", bits, count, span)
        return arithmetic.convert(sign, INT32)
    magnitude = arithmetic.floating("abs", [value], type_, span)
    if "isinf" in name:
        return compared("eq", magnitude, type_.infinity)
    is_finite = compared("lt", magnitude, type_.infinity)
    if "isfinite" in name:
        return is_finite
    is_normal = compared("ge", magnitude, 1 << type_.fraction_bits)
    return arithmetic.logical("and", is_normal, is_finite, span)
