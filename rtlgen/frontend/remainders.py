"""Comparisons of remainders, as conditions that a loop can step by.

i % 3 == 1      (i & 3) == 0      !(i & 1)      (i + j) % 2
"""

from __future__ import annotations

from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue


def remainder_cases(
    value: Expr, op: str, wanted: int, ranges: Ranges
) -> tuple[tuple[Constraint, ...], ...] | None:
    """Return the cases in which `value op wanted` holds, or None if `value` is no remainder.

    "Not equal" is a stride only for a divisor of 2.

    Parameters
    ----------
    op: `eq` or `ne`.
    """
    found = _remainder(value)
    if found is None:
        return None
    form, modulus, towards_zero = found
    low, high = ranges.minimum(form), ranges.maximum(form)
    turns = low // modulus
    if turns == high // modulus and (low >= 0 or not towards_zero):
        # It is never divided: the remainder is affine.
        rest = form - turns * modulus - wanted
        return ((rest, -rest),) if op == "eq" else ((rest - 1,), (-rest - 1,))
    if op == "ne":
        if modulus != 2 or wanted not in (0, 1) or (wanted and towards_zero and low < 0):
            return None
        return ((Congruence(form - (1 - wanted), 2),),)
    if not towards_zero or low >= 0:
        return ((Congruence(form - wanted, modulus),),) if 0 <= wanted < modulus else ()
    if abs(wanted) >= modulus:
        return ()
    # C's remainder has the sign of the dividend.
    same_sign: tuple[Affine, ...] = ()
    if wanted > 0:
        same_sign = (form - 1,)
    elif wanted < 0 < high:
        same_sign = (-form - 1,)
    return ((Congruence(form - wanted, modulus), *same_sign),)


def _remainder(expr: Expr) -> tuple[Affine, int, bool] | None:
    """Return the dividend, the divisor, and whether the quotient is rounded towards zero."""
    match expr:
        case Cast(operand):
            inner = _remainder(operand)
            # A conversion keeps a remainder that is not negative and small.
            fits = inner is not None and not inner[2] and inner[1] - 1 <= expr.type.maximum
            return inner if fits else None
        case Binary("rem", IndexValue(form, type_), Constant(divisor)) if divisor > 0:
            return form, divisor, type_.signed
        case Binary("and", IndexValue(form), Constant(mask)) | Binary(
            "and", Constant(mask), IndexValue(form)
        ) if mask > 0 and mask & (mask + 1) == 0:
            return form, mask + 1, False
        case _:
            return None
