"""Expressions that are the least or the greatest of several affine functions.

a < b ? a : b        the least of a and b, however it was written: macro, function, `?:`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue, Select
from rtlgen.ir.types import IntType

Extreme: TypeAlias = Literal["least", "greatest"]

_CHOOSES_LEFT: dict[str, Extreme] = {
    "lt": "least", "le": "least", "gt": "greatest", "ge": "greatest",
}  # fmt: skip


def affine_parts(expr: Expr, extreme: Extreme, ranges: Ranges) -> tuple[Affine, ...] | None:
    """Return affine functions of which `expr` is the least, or greatest; None if it is not.

    Parameters
    ----------
    ranges: where it is; no type on the way may wrap inside of them.
    """
    match expr:
        case Constant(value):
            return (Affine((), value),)
        case IndexValue(affine):
            return (affine,)
        case Cast(operand, type_):
            parts = affine_parts(operand, extreme, ranges)
            return None if parts is None else _held(parts, type_, ranges)
        case Binary("add" | "sub" as op, left, Constant(value), type_):
            by = value if op == "add" else -value
            parts = affine_parts(left, extreme, ranges)
            return None if parts is None else _held([part + by for part in parts], type_, ranges)
        case Select(Binary(op, left, right), if_true, if_false) if op in _CHOOSES_LEFT:
            if _CHOOSES_LEFT[op] != extreme:
                if_true, if_false = if_false, if_true
            if not (_is_same(left, if_true) and _is_same(right, if_false)):
                return None
            first = affine_parts(if_true, extreme, ranges)
            second = affine_parts(if_false, extreme, ranges)
            # What is compared may have been converted for it.
            compared = [affine_parts(side, extreme, ranges) for side in (left, right)]
            if first is None or second is None or compared != [first, second]:
                return None
            return tuple(dict.fromkeys((*first, *second)))
    return None


def _held(parts: Sequence[Affine], type_: IntType, ranges: Ranges) -> tuple[Affine, ...] | None:
    """Return the parts if the type holds each of them everywhere."""
    fits = all(
        type_.minimum <= ranges.minimum(part) and ranges.maximum(part) <= type_.maximum
        for part in parts
    )
    return tuple(parts) if fits else None


def _is_same(compared: Expr, chosen: Expr) -> bool:
    """Return whether two expressions differ in their conversions only."""
    return _bare(compared) == _bare(chosen)


def _bare(expr: Expr) -> object:
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
        case Cast(operand, _):
            return _bare(operand)
    return expr
