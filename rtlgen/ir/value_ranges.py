"""What is known of values: their ranges, where conditions on data hold and where not.

What is known of values where a condition on data holds, or does not.

!(x < 0 || x > 15)          tells          x >= 0,  x <= 15

Value ranges of expressions: how many bits a value really needs, and where a subscript may lie.

Interval arithmetic, with what conditions tell on the way:

    x < 0 ? 0 : x > 15 ? 15 : x         lies in 0 .. 15
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rtlgen.ir.affine import Affine
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
    children,
)
from rtlgen.ir.types import IntType, NumberType

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
