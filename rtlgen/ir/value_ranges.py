"""Value ranges of expressions: how many bits a value really needs, and where a subscript may lie.

Interval arithmetic, with what conditions tell on the way:

    x < 0 ? 0 : x > 15 ? 15 : x         lies in 0 .. 15
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rtlgen.ir.affine import Affine
from rtlgen.ir.conditions import Fact, Shapes, facts_of, is_ordered, limits
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
    Scatter,
    Select,
    Unary,
)
from rtlgen.ir.types import NumberType

Range: TypeAlias = tuple[int, int]
"""Smallest and largest value, inclusive."""

Facts: TypeAlias = tuple[Fact, ...]


class NoValueYet(Exception):
    """A read of which nothing is known yet, not even a first value."""


def width_of(values: Range) -> tuple[int, bool]:
    """Return (bits, signed) of the smallest integer format that holds the inclusive range."""
    low, high = values
    if low < 0:
        return max((~x if x < 0 else x).bit_length() for x in values) + 1, True
    return max(1, high.bit_length()), False


def value_range(expr: Expr, iterators: Mapping[str, Range]) -> Range:
    """Return an inclusive range that holds every value `expr` can take.

    Parameters
    ----------
    iterators: inclusive range of every iterator.
    """
    return ValueRanges(iterators).range(expr)


def _of_type(read: Read) -> Range:
    return read.type.minimum, read.type.maximum


class ValueRanges:
    """Ranges of the expressions of one statement.

    Parameters
    ----------
    iterators: inclusive range of every iterator.
    read_range: returns the range of a read, or raises `NoValueYet`.
    index_range: returns the range of a function of several iterators, where more is known of them
        than their ranges.
    shapes: of the expressions, where others ask of the same ones.
    """

    def __init__(
        self,
        iterators: Mapping[str, Range],
        read_range: Callable[[Read], Range] = _of_type,
        index_range: Callable[[Affine], Range] | None = None,
        shapes: Shapes | None = None,
    ) -> None:
        self._iterators = iterators
        self._read_range = read_range
        self._index_range = index_range
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Expr, Range]] = {}
        self._facts: dict[tuple[int, bool], tuple[Expr, Facts]] = {}
        self._shapes = Shapes() if shapes is None else shapes

    def range(self, expr: Expr, facts: Facts = ()) -> Range:
        """Return an inclusive range that holds every value `expr` can take where `facts` hold."""
        # Of what a branch tells, most parts of its arms hear nothing, and keep their one range.
        telling = tuple(fact for fact in facts if self._shapes.may_tell(fact, expr))
        # Equal expressions are named by identity, which is cheap; what is named has to stay.
        key = id(expr), tuple(map(id, telling))
        if key not in self._known:
            self._known[key] = expr, self._found(expr, telling)
        return self._known[key][1]

    def decided(self, condition: Expr, facts: Facts = ()) -> bool | None:
        """Return whether a condition always holds, or never, where `facts` do; None: either."""
        try:
            low, high = self.range(condition, facts)
        except NoValueYet:
            return None
        if low > 0 or high < 0:
            return True
        return False if low == high == 0 else None

    def _found(self, expr: Expr, facts: Facts) -> Range:
        exact = self._exact(expr, facts)
        low, high = expr.type.minimum, expr.type.maximum
        if exact is not None:
            first, last = expr.type.wrap(exact[0]), expr.type.wrap(exact[1])
            # It wraps as one, or not at all.
            if last - first == exact[1] - exact[0]:
                low, high = first, last
        for fact in facts:
            least, most = limits(fact, expr, self.range)
            # A contradiction: the program never comes here.
            if max(low, least) <= min(high, most):
                low, high = max(low, least), min(high, most)
        return low, high

    def _exact(self, expr: Expr, facts: Facts) -> Range | None:
        """Range of the mathematical result before wrapping, or None if only the type is known."""
        match expr:
            case Constant(value):
                return value, value
            case IndexValue(affine):
                if self._index_range is not None and len(affine.terms) > 1:
                    return self._index_range(affine)
                return affine.range(dict(self._iterators))
            case ScalarParameter():
                return None
            case Read():
                return self._read_range(expr)
            case Cast(operand):
                return self.range(operand, facts)
            case Unary(op, operand):
                low, high = self.range(operand, facts)
                if op == "lnot":
                    return (0, 0) if low > 0 or high < 0 else (int(low == high), 1)
                return (-high, -low) if op == "neg" else (~high, ~low)
            case FloatOperation():
                return (0, 1) if expr.op in COMPARISONS else None
            case Select():
                return self._select(expr, facts)
            case Scatter():
                return self._scatter(expr, facts)
            case Binary("add", left, right) if found := self._between(left, right, facts):
                return found
            case Binary(op, left, right):
                return binary_range(
                    op, self.range(left, facts), self.range(right, facts), expr.type
                )

    def _between(self, left: Expr, right: Expr, facts: Facts) -> Range | None:
        """Return the range of `x + (y - x) / 2`, which lies between x and y, where x <= y."""
        match right:
            case Binary("div" | "shr" as op, Binary("sub", more, less, type_), Constant(by)) if (
                less == left and by >= (1 if op == "div" else 0)
            ):
                if any(is_ordered(fact, less, more, type_, self.range) for fact in facts):
                    return self.range(less, facts)[0], self.range(more, facts)[1]
        return None

    def _scatter(self, expr: Scatter, facts: Facts) -> Range:
        """Return the range of all the elements that may be written, left alone or not."""
        arms: list[tuple[Expr, Facts]] = [(expr.old, facts)]
        if self.decided(expr.condition, facts) is not False:
            arms.append((expr.value, (*facts, *self._told(expr.condition, True))))
        return self._hull(arms)

    def _hull(self, arms: Sequence[tuple[Expr, Facts]]) -> Range:
        """Return the range of what is any of some expressions, each where its facts hold.

        Raises
        ------
        NoValueYet: nothing is known of any of them.
        """
        found = []
        for arm, facts in arms:
            try:
                found.append(self.range(arm, facts))
            except NoValueYet:
                continue
        if not found:
            raise NoValueYet
        return min(low for low, _ in found), max(high for _, high in found)

    def _select(self, expr: Select, facts: Facts) -> Range:
        arms = []
        for arm, holds in ((expr.if_true, True), (expr.if_false, False)):
            if self.decided(expr.condition, facts) is not (not holds):
                arms.append((arm, (*facts, *self._told(expr.condition, holds))))
        return self._hull(arms)

    def _told(self, condition: Expr, holds: bool) -> Facts:
        """Return what a condition tells: the same facts each time."""
        key = id(condition), holds
        if key not in self._facts:
            self._facts[key] = condition, facts_of(condition, holds)
        return self._facts[key][1]


def binary_range(op: str, a: Range, b: Range, type_: NumberType) -> Range | None:
    """Return the range of the mathematical result of `a op b`, or None if nothing is known.

    Parameters
    ----------
    type_: of the result.
    """
    if op in COMPARISONS:
        return _comparison(op, a, b)
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "mul":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "and":
            if a[0] == a[1] and b[0] == b[1]:
                return a[0] & b[0], a[0] & b[0]
            bounds = [high for low, high in (a, b) if low >= 0]
            return (0, min(bounds)) if bounds else None
        case "or" | "xor":
            if a[0] == a[1] and b[0] == b[1]:
                value = a[0] | b[0] if op == "or" else a[0] ^ b[0]
                return value, value
            if a[0] < 0 or b[0] < 0:
                return None
            return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
        case "shl":
            if b[0] != b[1] or not 0 <= b[0] < type_.width_bits:
                return None
            return a[0] << b[0], a[1] << b[0]
        case "shr":
            if not 0 <= b[0] <= b[1] < type_.width_bits:
                return None
            corners = [x >> y for x in a for y in b]
            return min(corners), max(corners)
        case "rem":
            return _remainder(a, b)
        case "div":
            return _quotient(a, b)
        case _:
            return None


def _comparison(op: str, a: Range, b: Range) -> Range:
    """Return the range of a comparison, which two ranges may decide."""
    match op:
        case "gt" | "ge":
            return _comparison("lt" if op == "gt" else "le", b, a)
        case "lt":
            always, never = a[1] < b[0], a[0] >= b[1]
        case "le":
            always, never = a[1] <= b[0], a[0] > b[1]
        case "eq":
            always, never = a[0] == a[1] == b[0] == b[1], a[1] < b[0] or b[1] < a[0]
        case _:
            always, never = a[1] < b[0] or b[1] < a[0], a[0] == a[1] == b[0] == b[1]
    return int(always), int(not never)


def _quotient(a: Range, b: Range) -> Range:
    if b[0] <= 0 <= b[1]:
        # No quotient is larger than the dividend; that by zero is -1.
        largest = max(abs(a[0]), abs(a[1]), 1)
        return -largest, largest
    quotients = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in a for y in b]
    return min(quotients), max(quotients)


def _remainder(a: Range, b: Range) -> Range | None:
    # The sign is the dividend's; a zero divisor returns the dividend itself.
    if b[0] <= 0 <= b[1]:
        return None
    magnitude = max(abs(b[0]), abs(b[1])) - 1
    return (-min(magnitude, -a[0]) if a[0] < 0 else 0), (min(magnitude, a[1]) if a[1] > 0 else 0)
