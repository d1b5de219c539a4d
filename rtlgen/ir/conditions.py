"""What is known of values where a condition on data holds, or does not.

!(x < 0 || x > 15)          tells          x >= 0,  x <= 15
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
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
)
from rtlgen.ir.types import IntType

_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

_Range = tuple[int, int]
_ANYWHERE: _Range = (-(1 << 64), 1 << 64)


@dataclass(frozen=True, slots=True)
class Fact:
    """`expr`, no conjunction, disjunction or negation, is not 0; where `holds` is False it is 0."""

    expr: Expr
    holds: bool


def facts_of(condition: Expr, holds: bool) -> tuple[Fact, ...]:
    """Return what is known where `condition` is not 0 (or, for `holds` False, where it is 0)."""
    return tuple(_facts(condition, holds))


def _facts(condition: Expr, holds: bool) -> Iterator[Fact]:
    match condition:
        case Unary("lnot", operand):
            yield from _facts(operand, not holds)
        case Binary("ne" | "eq" as op, left, Constant(0)):
            yield Fact(condition, holds)
            yield from _facts(left, holds == (op == "ne"))
        case Cast(operand) if _keeps_truth(condition):
            yield Fact(condition, holds)
            yield from _facts(operand, holds)
        case Binary("and", left, right) if holds:
            yield from _facts(left, True)
            yield from _facts(right, True)
        case Binary("or", left, right) if not holds:
            yield from _facts(left, False)
            yield from _facts(right, False)
        case Select(chosen, if_true, if_false):
            # Where one arm is the constant that was not found, the other one was taken.
            for arm, other, taken in ((if_true, if_false, True), (if_false, if_true, False)):
                if isinstance(other, Constant) and (other.value != 0) != holds:
                    yield from _facts(chosen, taken)
                    yield from _facts(arm, holds)
        case _:
            yield Fact(condition, holds)


def _keeps_truth(cast: Cast) -> bool:
    """Return whether a converted value is 0 just where the value is."""
    type_, operand = cast.type, cast.operand
    return type_.is_bool or type_.width_bits >= operand.type.width_bits or is_truth(operand)


def is_truth(expr: Expr) -> bool:
    """Return whether a value is 0 or 1."""
    match expr:
        case Constant(0 | 1) | Unary("lnot"):
            return True
        case Binary("and" | "or", left, right):
            return is_truth(left) and is_truth(right)
        case Binary(op):
            return op in COMPARISONS
        case Select(_, if_true, if_false):
            return is_truth(if_true) and is_truth(if_false)
        case Cast(operand):
            return is_truth(operand)
    return False


def limits(fact: Fact, expr: Expr, value_range: Callable[[Expr], _Range]) -> _Range:
    """Return bounds that `fact` sets to the value of `expr`.

    Parameters
    ----------
    value_range: the range of an expression, whatever else is known.
    """
    condition = fact.expr
    if isinstance(condition, Binary) and condition.op in COMPARISONS:
        op = condition.op if fact.holds else _NEGATED[condition.op]
        first = _side(op, condition.left, condition.right, expr, value_range)
        second = _side(_SWAPPED[op], condition.right, condition.left, expr, value_range)
        third = _difference(op, condition.left, condition.right, expr, value_range)
        found = (first, second, third)
        return max(low for low, _ in found), min(high for _, high in found)
    if condition == expr and not fact.holds:
        return 0, 0
    return _ANYWHERE


def is_ordered(
    fact: Fact, less: Expr, more: Expr, type_: IntType, value_range: Callable[[Expr], _Range]
) -> bool:
    """Tell whether a comparison says `less <= more`, whose difference `type_` holds."""
    asked = fact.expr
    if not isinstance(asked, Binary) or asked.op not in COMPARISONS:
        return False
    op = asked.op if fact.holds else _NEGATED[asked.op]
    difference = Binary("sub", more, less, type_)
    return _difference(op, asked.left, asked.right, difference, value_range)[0] >= 0


class Shapes:
    """Says quickly of most expressions that a fact tells nothing of them: `limits` is for the rest.

    What a comparison bounds is one of its sides or their difference, whatever conversions and
    constants there are on the way (`is_wrapped`). So the shape of an expression is its text without
    them; a fact may tell something of what has the shape of its subjects, or has it inside.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expr, int, frozenset[int]]] = {}
        self._subjects: dict[int, tuple[Fact, frozenset[int]]] = {}

    def may_tell(self, fact: Fact, expr: Expr) -> bool:
        """Return whether a fact may bound the value of `expr` or of a part of it."""
        if id(fact) not in self._subjects:
            self._subjects[id(fact)] = fact, frozenset(self._told(fact.expr))
        return not self._subjects[id(fact)][1].isdisjoint(self._shape(expr)[1])

    def _told(self, condition: Expr) -> Iterator[int]:
        yield self._shape(condition)[0]
        if isinstance(condition, Binary) and condition.op in COMPARISONS:
            sides = (condition.left, condition.right)
            left, right = (self._shape(side)[0] for side in sides)
            yield from (hash(("sub", left, right)), hash(("sub", right, left)))
            # Of a number, all is known already.
            yield from (self._shape(side)[0] for side in sides if not isinstance(side, Constant))

    def _shape(self, expr: Expr) -> tuple[int, frozenset[int]]:
        """Return the shape of an expression, and those of all its parts."""
        if id(expr) not in self._known:
            parts = [self._shape(part) for part in children(expr)]
            match expr:
                case Cast():
                    shape = parts[0][0]
                case Constant() | IndexValue():
                    shape = hash(type(expr))
                case Unary(op) | Binary(op) | FloatOperation(op):
                    shape = hash((op, *(part for part, _ in parts)))
                case Read(index):
                    shape = hash((index, *(part for part, _ in parts)))
                case ScalarParameter(name):
                    shape = hash(name)
                case Select():
                    shape = hash(tuple(part for part, _ in parts))
            # What is named by its identity has to stay.
            self._known[id(expr)] = expr, shape, frozenset({shape}).union(*(p for _, p in parts))
        return self._known[id(expr)][1:]


def _side(
    op: str, left: Expr, right: Expr, expr: Expr, value_range: Callable[[Expr], _Range]
) -> _Range:
    """Return the bounds of `expr` where `left op right`, if `left` is `expr`, converted or not.

    They may differ by a constant, and by the sign, where both are affine.
    """
    if isinstance(left, IndexValue) and isinstance(expr, IndexValue):
        low, high = _bounds(op, value_range(left), value_range(right))
        for sign, ends in ((1, (low, high)), (-1, (-high, -low))):
            rest = expr.affine - left.affine * sign
            if rest.is_constant:
                return ends[0] + rest.constant, ends[1] + rest.constant
        return _ANYWHERE
    seen, types = left, []
    while seen != expr:
        if is_wrapped(seen, expr):
            types.append(seen.type)
            break
        if not isinstance(seen, Cast):
            return _ANYWHERE
        types.append(seen.type)
        seen = seen.operand
    inner, other = value_range(expr), value_range(right)
    if all(type_.minimum <= inner[0] and inner[1] <= type_.maximum for type_ in types):
        return _bounds(op, inner, other)
    low, high = _bounds(op, _ANYWHERE, other)
    # What is compared is the value wrapped to an unsigned type: what is small has not wrapped.
    is_unsigned = not left.type.signed and left.type.width_bits >= expr.type.width_bits
    if len(types) == 1 and is_unsigned and high <= expr.type.maximum:
        return max(low, 0), high
    return _ANYWHERE


def _difference(
    op: str, left: Expr, right: Expr, expr: Expr, value_range: Callable[[Expr], _Range]
) -> _Range:
    """Return the bounds of `expr` where `left op right`, if it is the difference of these two."""
    if not isinstance(expr, Binary) or expr.op != "sub":
        return _ANYWHERE
    own = [_unconverted(side, value_range) for side in (expr.left, expr.right)]
    compared = [_unconverted(side, value_range) for side in (left, right)]
    if own == compared[::-1]:
        op = _SWAPPED[op]
    elif own != compared:
        return _ANYWHERE
    (low, high), (least, most) = (value_range(side) for side in (expr.left, expr.right))
    bounds = _bounds(op, (low - most, high - least), (0, 0))
    first, last = max(low - most, bounds[0]), min(high - least, bounds[1])
    # What the comparison leaves of the difference must not wrap.
    return bounds if expr.type.minimum <= first and last <= expr.type.maximum else _ANYWHERE


def _unconverted(expr: Expr, value_range: Callable[[Expr], _Range]) -> object:
    """Return an expression without the conversions that keep its value."""
    while isinstance(expr, Cast):
        low, high = value_range(expr.operand)
        if low < expr.type.minimum or high > expr.type.maximum:
            break
        expr = expr.operand
    match expr:
        case Constant(value):
            return value
        case IndexValue(affine, type_):
            low, high = value_range(expr)
            return affine if type_.minimum < low and high < type_.maximum else expr
    return expr


def is_wrapped(expr: Expr, inner: Expr) -> bool:
    """Tell whether `expr` is `inner` computed in another type of its width: (unsigned)x - 3, x - 3.

    Sums and products of the wrapped operands are the wrapped ones of the operands.
    """
    if expr.type.width_bits != inner.type.width_bits:
        return False
    if expr == inner:
        return True
    match expr, inner:
        case Constant(value), Constant(other):
            return expr.type.wrap(other) == value
        case Cast(operand), _ if operand.type.width_bits == expr.type.width_bits:
            return is_wrapped(operand, inner)
        case Binary("add" | "sub" | "mul" as op, left, right), Binary(other_op, first, second):
            return op == other_op and is_wrapped(left, first) and is_wrapped(right, second)
    return False


def _bounds(op: str, own: _Range, other: _Range) -> _Range:
    """Return where x lies if `x op y`, with x anywhere in `own` and y in `other`."""
    match op:
        case "lt":
            return _ANYWHERE[0], other[1] - 1
        case "le":
            return _ANYWHERE[0], other[1]
        case "gt":
            return other[0] + 1, _ANYWHERE[1]
        case "ge":
            return other[0], _ANYWHERE[1]
        case "eq":
            return other
        case _ if other[0] == other[1] and other[0] in own:
            # It is not the one end of its range.
            return own[0] + (other[0] == own[0]), own[1] - (other[0] == own[1])
        case _:
            return _ANYWHERE
