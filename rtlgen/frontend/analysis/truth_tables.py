"""Conditions that one affine function of the iterators decides, told by all values that it has.

(e % 4) / 2 == 0, e is even        e % 4 == 0
e * e < 50                         -7 <= e <= 7
(e & 6) == 2, e is even            e % 8 == 2

What an expression looks like does not matter: it is computed for every value, as C does it. Of many
values, those are enough after which it repeats: one that asks for remainders alone does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import gcd, lcm

from rtlgen.frontend.analysis.ranges import Cases, Ranges
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Select,
    Unary,
    children,
    walk,
)
from rtlgen.ir.types import IntType

BINARY_OPS: Mapping[str, BinaryOp] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor",
    "<<": "shl", ">>": "shr", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip
SYMBOLS = {op: symbol for symbol, op in BINARY_OPS.items()}
"""How C spells operations."""

MOST_VALUES = 1024
"""Of the function, for each of which a condition is computed."""

MOST_NODES = 64
"""Of a condition, in which parts may stand several times."""

MOST_REPEATED = 1 << 14
"""Of the function, for each of which one is computed that repeats."""


def told_by_values(condition: Expr, negated: bool, ranges: Ranges) -> Cases | None:
    """Return where a value is not 0 (or is, if `negated`).

    None: it depends on more than one function of the iterators, or on one of many values that does
    not repeat, or holds in several places: each would make a statement more.
    """
    form = _only_form(condition)
    if form is None:
        return None
    low, high = ranges.minimum(form), ranges.maximum(form)
    step, first = _stride(form, ranges)
    begin = low + (first - low) % step
    if not begin < high:
        return None
    values = range(begin, high + 1, step)
    if len(values) > MOST_VALUES:
        values = _deciding(condition, form, values)
    told = [_value_at(condition, form, value) for value in values]
    if not told or None in told:
        return None
    holds = [value for value, each in zip(values, told, strict=True) if bool(each) != negated]
    return _progression(form, values, holds)


def _only_form(condition: Expr) -> Affine | None:
    """Return the function, without a constant, of which all in a condition are multiples."""
    form: Affine | None = None
    nodes = list(islice(walk(condition), MOST_NODES + 1))
    for node in nodes if len(nodes) <= MOST_NODES else ():
        if not isinstance(node, IndexValue | Constant | Cast | Unary | Binary | Select):
            return None
        if not isinstance(node.type, IntType):
            return None
        if not isinstance(node, IndexValue) or node.affine.is_constant:
            continue
        own = node.affine - node.affine.constant
        unit = gcd(*(c for _, c in own.terms))
        sign = 1 if own.terms[0][1] > 0 else -1
        primitive = Affine(tuple((name, sign * c // unit) for name, c in own.terms))
        if form not in (None, primitive):
            return None
        form = primitive
    return form


def _stride(form: Affine, ranges: Ranges) -> tuple[int, int]:
    """Return the divisor, and the rest, of all values of a function."""
    for known in ranges.congruences:
        ahead = known.form - form
        if ahead.is_constant:
            return known.modulus, -ahead.constant % known.modulus
    return 1, 0


def _times(affine: Affine, form: Affine) -> int:
    """Return which multiple of the function another one is, but for a constant."""
    name, unit = form.terms[0]
    return affine.coefficient(name) // unit


def _value_at(expr: Expr, form: Affine, value: int) -> int | None:
    """Return an expression where the function has a value; None where C does not say."""
    match expr:
        case Constant(number):
            return number
        case IndexValue(affine, type_):
            assert isinstance(type_, IntType)
            return type_.wrap(_times(affine, form) * value + affine.constant)
        case Select(condition, if_true, if_false):
            chosen = _value_at(condition, form, value)
            if chosen is None:
                return None
            return _value_at(if_true if chosen else if_false, form, value)
    assert isinstance(expr, Cast | Unary | Binary), "others are no part of such conditions"
    parts = [_value_at(part, form, value) for part in children(expr)]
    known = [part for part in parts if part is not None]
    return computed(expr, known) if len(known) == len(parts) else None


def _deciding(condition: Expr, form: Affine, values: range) -> range:
    """Return those of many values that tell of the others, which repeat; none where none do."""
    turns: list[int] = []
    period = _period(condition, form, turns)
    if period is None:
        return range(0)
    size = 2 * lcm(period, values.step)
    # Where a dividend changes its sign, its remainder does.
    first = max(0, min(turns, default=values[0]) - size - values[0]) // values.step
    last = max(0, max(turns, default=values[0]) + size - values[0]) // values.step
    found = values[first : last + 1]
    return found if len(found) <= MOST_REPEATED else range(0)


def _period(expr: Expr, form: Affine, turns: list[int]) -> int | None:
    """Return by how much the function is larger when a value is the same again.

    Parameters
    ----------
    turns: takes the values of the function from which on that is so, or up to which.
    """
    match expr:
        case IndexValue(affine):
            return 1 if affine.is_constant else None
        case Binary("rem" | "and" as op, IndexValue(affine), Constant(by)) if (
            not affine.is_constant and by > 0
        ):
            times = _times(affine, form)
            if op == "rem" and expr.type.signed:
                turns.append(-affine.constant // times)
            size = by if op == "rem" else 1 << by.bit_length()
            return size // gcd(size, times)
    periods = [_period(part, form, turns) for part in children(expr)]
    known = [period for period in periods if period is not None]
    return lcm(*known) if len(known) == len(periods) else None


def _progression(form: Affine, values: range, holds: Sequence[int]) -> Cases | None:
    """Return the one row of equal steps in which a condition holds; no case where it never does."""
    if not holds:
        return ()
    first, last = holds[0], holds[-1]
    gap = holds[1] - first if len(holds) > 1 else values.step
    if list(holds) != list(range(first, last + 1, gap)):
        return None
    low = (form - first,) if first - gap >= values[0] else ()
    high = (-form + last,) if last + gap <= values[-1] else ()
    if gap == values.step:
        return ((*low, *high),)
    turns = gap // values.step
    modulus = turns if gcd(turns, values.step) == 1 else gap
    return ((Congruence(form - first % modulus, modulus), *low, *high),)


def computed(expr: Cast | Unary | Binary, parts: Sequence[int]) -> int | None:
    """Return what an operation makes of numbers; None where C does not say."""
    type_ = expr.type
    assert isinstance(type_, IntType)
    match expr:
        case Cast():
            return type_.wrap(parts[0])
        case Unary("lnot"):
            return int(parts[0] == 0)
        case Unary(op):
            return type_.wrap(-parts[0] if op == "neg" else ~parts[0])
        case Binary("div" | "rem") if parts[1] == 0:
            return None
        case Binary("shl" | "shr") if not 0 <= parts[1] < type_.width_bits:
            return None
        case Binary(op):
            return type_.wrap(result_of(SYMBOLS[op], parts[0], parts[1]))
