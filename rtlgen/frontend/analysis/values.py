"""Values of C expressions: the typed tree, and the affine function that it is, if it is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import cast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.cases import divided, is_by_iterators, is_decided, is_held
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.truth_tables import SYMBOLS
from rtlgen.frontend.errors import BadConstant, UnsupportedExpression
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    BinaryOp,
    Cast,
    Constant,
    Expr,
    FloatOp,
    FloatOperation,
    IndexValue,
    Select,
    Unary,
    UnaryOp,
)
from rtlgen.ir.float_arithmetic import evaluate, fits_integer
from rtlgen.ir.types import INT32, INT64, FloatType, IntType, NumberType, common_type, integral
from rtlgen.source import Span


class ObstacleKind(Enum):
    """Why a value is no affine function of the iterators."""

    DATA = auto()
    ARGUMENT = auto()
    NONLINEAR = auto()
    WRAPS = auto()


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The innermost part of an expression that keeps it from being affine, and why.

    Members
    -------
    parameter: the name of the scalar parameter, for an `ARGUMENT`.
    others: further places that are part of the reason.
    """

    kind: ObstacleKind
    reason: str
    span: Span
    parameter: str = ""
    others: tuple[Label, ...] = ()

    @property
    def fix(self) -> str:
        """How to make an `ARGUMENT` a constant."""
        return f"fix the parameter with -D {self.parameter}=VALUE"


@dataclass(frozen=True, slots=True)
class Value:
    """A lowered expression.

    Members
    -------
    expr: the typed tree.
    affine: the affine function that `expr` is for every iteration, wrapping included; or None.
    obstacle: set exactly when `affine` is None.
    modular: an affine function that the value equals modulo 2**width of its type, though not
        everywhere: unsigned `x + dx` with a negative dx, on its way to what it is meant to be.
    whole: the integer that a floating-point value is everywhere, if it is known to be one.
    ratio: the integers whose quotient, rounded, a floating-point value is; rounding it to an
        integer is the same as rounding the exact quotient.
    """

    expr: Expr
    affine: Affine | None
    obstacle: Obstacle | None
    span: Span
    modular: Affine | None = None
    whole: Value | None = None
    ratio: tuple[Value, Value] | None = None

    @property
    def residue(self) -> Affine | None:
        """An affine function that the value equals, at least modulo 2**width of its type."""
        return self.modular if self.affine is None else self.affine

    @property
    def type(self) -> NumberType:
        return self.expr.type

    @property
    def constant(self) -> int | None:
        """The value when it is the same everywhere and known; no number with a fraction is."""
        if self.affine is not None and self.affine.is_constant:
            return self.affine.constant
        return None

    @property
    def stored_constant(self) -> int | None:
        """What a memory holds of a value that is the same everywhere: of a float its pattern."""
        if isinstance(self.expr, Constant) and isinstance(self.type, FloatType):
            return self.expr.value
        return self.constant


def opaque(expr: Expr, obstacle: Obstacle, span: Span) -> Value:
    """Return a value that is not affine."""
    return Value(expr, None, obstacle, span)


def exact(affine: Affine, type_: IntType, span: Span) -> Value:
    """Return the value of an affine function that `type_` is known to hold."""
    if affine.is_constant:
        return Value(Constant(affine.constant, type_), affine, None, span)
    return Value(IndexValue(affine, type_), affine, None, span)


def literal(value: int, type_: NumberType, span: Span) -> Value:
    """Return a constant, wrapped to its type; of a float it is the pattern."""
    if isinstance(type_, FloatType):
        return _floating(Constant(type_.wrap(value), type_), span)
    return exact(Affine((), type_.wrap(value)), type_, span)


def _floating(expr: Expr, span: Span, *operands: Value, whole: Value | None = None) -> Value:
    """Return a floating-point value, or a comparison of some."""
    obstacle = next(
        (x.obstacle for x in operands if x.obstacle is not None),
        Obstacle(ObstacleKind.NONLINEAR, "is a floating-point number", span),
    )
    return Value(expr, None, obstacle, span, whole=whole)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """C's operators on values, in the loops and conditions that `ranges` describes.

    Members
    -------
    is_reached: what is computed may be evaluated. Else any value will do where C has none.
    """

    ranges: Ranges
    is_reached: bool = True

    def convert(self, value: Value, type_: NumberType) -> Value:
        """Convert as C does (C11 6.3.1.3; implementation-defined cases wrap, like gcc)."""
        if value.type == type_:
            return value
        if type_.is_bool:
            value = self.truth(value)
        if isinstance(type_, FloatType) or isinstance(value.type, FloatType):
            return self._to_or_from_float(value, type_)
        expr = Cast(value.expr, type_)
        if value.affine is not None:
            return self._fitted(value.affine, expr, value.span)
        if value.modular is not None and type_.width_bits <= value.type.width_bits:
            return self._fitted(value.modular, expr, value.span)
        return replace(value, expr=expr, modular=None)

    def number(self, value: Value) -> int | None:
        """Return the number that a value is here, if there is one that it always is."""
        if value.affine is None:
            return None
        low = self.ranges.minimum(value.affine)
        is_one = low == self.ranges.maximum(value.affine)
        return low if is_one and not is_held(value.affine, self.ranges) else None

    def promoted(self, value: Value) -> Value:
        """Apply the integer promotions."""
        return self.convert(value, value.type.promoted)

    def unary(self, op: UnaryOp, operand: Value, span: Span) -> Value:
        """Apply `-`, `~` or `!`."""
        if op == "lnot":
            if operand.constant is not None:
                return literal(int(operand.constant == 0), INT32, span)
            truth = self.truth(operand) if isinstance(operand.type, FloatType) else operand
            return opaque(
                Unary(op, truth.expr, INT32), self._blame("a negation", span, operand), span
            )
        if isinstance(operand.type, FloatType):
            if op != "neg":
                raise _no_integers("~", span, operand)
            return self.floating("neg", (operand,), operand.type, span)
        value = self.promoted(operand)
        expr = Unary(op, value.expr, integral(value.type))
        residue = value.residue
        if residue is None:
            return opaque(expr, self._blame("", span, value), span)
        # ~x is -x - 1 in two's complement.
        affine = -residue if op == "neg" else -residue - 1
        return self._fitted(affine, expr, span)

    def binary(self, op: BinaryOp, left: Value, right: Value, span: Span) -> Value:
        """Apply a binary operator, after the conversions that it makes."""
        if op not in FLOAT_OPS:
            for operand in (left, right):
                if isinstance(operand.type, FloatType):
                    raise _no_integers(SYMBOLS[op], span, operand)
        if op in ("shl", "shr"):
            return self._shift(op, self.promoted(left), self.promoted(right), span)
        type_ = common_type(left.type, right.type)
        if isinstance(type_, FloatType):
            return self._on_floats(op, left, right, type_, span)
        left, right = self.convert(left, type_), self.convert(right, type_)
        if op in ("div", "rem") and right.constant == 0:
            if not self.is_reached:
                return literal(0, type_, span)
            raise BadConstant("division by zero", labels=(Label(span, "the divisor is 0"),))
        result = INT32 if op in COMPARISONS else type_
        expr = Binary(op, left.expr, right.expr, result)
        if left.affine is None or right.affine is None:
            residue = _residue_of(op, left, right)
            if residue is not None:
                return self._fitted(residue, expr, span)
            return opaque(expr, self._blame("", span, left, right), span)
        if left.constant is not None and right.constant is not None:
            return literal(result_of(SYMBOLS[op], left.constant, right.constant), result, span)
        affine = _affine_result(op, left.affine, right.affine) or divided(expr, self.ranges)
        if affine is None and op in ("mul", "div", "rem"):
            affine = self._by_number(op, left, right)
        if affine is None:
            obstacle = Obstacle(ObstacleKind.NONLINEAR, _NONLINEAR[op], span)
            return opaque(expr, obstacle, span)
        return self._fitted(affine, expr, span)

    def _by_number(self, op: BinaryOp, left: Value, right: Value) -> Affine | None:
        """Return the result of an operation where a side that is no constant is a number here."""
        for value, other in ((right, left), (left, right)):
            number = self.number(value)
            if value.constant is None and number is not None and (number or op == "mul"):
                known = literal(number, value.type, value.span)
                first, second = (other, known) if value is right else (known, other)
                return self.binary(op, first, second, value.span).affine
            if op != "mul":
                break
        return None

    def select(self, condition: Value, if_true: Value, if_false: Value, span: Span) -> Value:
        """Choose by `condition`; both arms are converted to their common type."""
        type_ = common_type(if_true.type, if_false.type)
        if_true, if_false = self.convert(if_true, type_), self.convert(if_false, type_)
        is_known = isinstance(type_, FloatType) or None not in (if_true.affine, if_false.affine)
        if condition.constant is not None and is_known:
            return replace(if_true if condition.constant else if_false, span=span)
        expr = Select(self.truth(condition).expr, if_true.expr, if_false.expr, type_)
        if is_by_iterators(expr):
            decided = is_decided(expr.condition, self.ranges)
            if decided is not None:
                return replace(if_true if decided else if_false, span=span)
        what = "a conditional expression"
        found = opaque(expr, self._blame(what, span, condition, if_true, if_false), span)
        if not isinstance(type_, FloatType):
            return found
        wholes = [w for w in (self._whole(arm, type_) for arm in (if_true, if_false)) if w]
        whole = None
        if len(wholes) == 2:
            whole = self.select(condition, wholes[0], wholes[1], span)
        return replace(found, whole=whole)

    def truth(self, value: Value) -> Value:
        """Return 0 or 1 for a value that is tested."""
        if isinstance(value.expr, Binary | FloatOperation) and value.expr.op in COMPARISONS:
            return value
        if isinstance(value.expr, Unary) and value.expr.op == "lnot":
            return value
        return self.binary("ne", value, literal(0, INT32, value.span), value.span)

    # Floating point.

    def floating(
        self, op: FloatOp, operands: Sequence[Value], type_: NumberType, span: Span
    ) -> Value:
        """Apply an operation to values of one floating-point type; on constants, do it."""
        expr = FloatOperation(op, tuple(operand.expr for operand in operands), type_)
        known = [x.value for x in expr.operands if isinstance(x, Constant)]
        if len(known) == len(operands) and not _is_undefined(op, known, expr.of, type_):
            return literal(evaluate(op, known, expr.of, type_), type_, span)
        if isinstance(type_, FloatType):
            found = _floating(expr, span, *operands)
            if op == "div":
                return replace(found, ratio=self._ratio(operands[0], operands[1], type_))
            if op in ("floor", "ceil") and operands[0].ratio is not None:
                dividend, divisor = operands[0].ratio
                return replace(found, whole=self._rounded(op, dividend, divisor, span))
            return found
        return opaque(expr, self._blame("a floating-point comparison", span, *operands), span)

    def compared(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Return both sides of a comparison in one type: whole numbers are compared as integers."""
        type_ = common_type(left.type, right.type)
        if isinstance(type_, FloatType):
            a, b = self._whole(left, type_), self._whole(right, type_)
            if a is not None and b is not None:
                # Both are in the range of this type, whatever signs theirs have.
                return self.convert(a, INT64), self.convert(b, INT64)
        return self.convert(left, type_), self.convert(right, type_)

    def reinterpreted(self, value: Value, type_: NumberType) -> Value:
        """Return the number of another type with the same bits; integers are unsigned."""
        assert type_.width_bits == value.type.width_bits
        if isinstance(value.expr, Constant):
            return literal(value.expr.value, type_, value.span)
        blame = self._blame("the pattern of a float", value.span, value)
        return opaque(Cast(value.expr, type_), blame, value.span)

    def _on_floats(
        self, op: BinaryOp, left: Value, right: Value, type_: FloatType, span: Span
    ) -> Value:
        """Apply an operator to operands of which one is a float."""
        if op in COMPARISONS:
            left, right = self.compared(left, right)
            if not isinstance(left.type, FloatType):
                return self.binary(op, left, right, span)
        left, right = self.convert(left, type_), self.convert(right, type_)
        match op:
            case "gt" | "ge":
                return self.floating("lt" if op == "gt" else "le", (right, left), INT32, span)
            case "ne":
                is_equal = self.floating("eq", (left, right), INT32, span)
                return self.unary("lnot", is_equal, span)
            case "lt" | "le" | "eq":
                return self.floating(op, (left, right), INT32, span)
            case _:
                return self.floating(cast(FloatOp, op), (left, right), type_, span)

    def _ratio(
        self, dividend: Value, divisor: Value, type_: FloatType
    ) -> tuple[Value, Value] | None:
        """Return the integers that are divided, if the divisor is positive.

        The quotient of a dividend that has no more bits than the format is rounded to an integer
        only where it is one.
        """
        a, b = self._whole(dividend, type_), self._whole(divisor, type_)
        if a is None or b is None or b.affine is None or self.ranges.minimum(b.affine) < 1:
            return None
        return self.convert(a, INT64), self.convert(b, INT64)

    def _rounded(self, op: FloatOp, dividend: Value, divisor: Value, span: Span) -> Value:
        """Return an exact quotient rounded down or up, by divisions that round towards zero."""
        zero, one = literal(0, INT64, span), literal(1, INT64, span)
        most = self.binary("sub", divisor, one, span)
        opposite = self.unary("neg", dividend, span)

        def quotient(of: Value, *, is_raised: bool) -> Value:
            raised = self.binary("add", of, most, span) if is_raised else of
            return self.binary("div", raised, divisor, span)

        is_up = op == "ceil"
        below = self.unary("neg", quotient(opposite, is_raised=not is_up), span)
        above = quotient(dividend, is_raised=is_up)
        is_negative = self.binary("lt", dividend, zero, span)
        return self.select(is_negative, below, above, span)

    def _whole(self, value: Value, type_: FloatType) -> Value | None:
        """Return the integer that an operand is, if the type holds it."""
        if value.whole is not None:
            return value.whole
        if isinstance(value.expr, Constant) and isinstance(value.type, FloatType):
            bits, of = value.expr.value, value.type
            whole = _whole_constant(value)
            is_whole = evaluate("trunc", [bits], of, of) == bits
            return literal(whole, INT64, value.span) if is_whole and whole is not None else None
        return None if isinstance(value.type, FloatType) else self._held_whole(value, type_)

    def _held_whole(self, value: Value, type_: FloatType) -> Value | None:
        """Return an integer if a floating-point type holds every value that it may have."""
        low, high = value.type.minimum, value.type.maximum
        if value.affine is not None:
            low, high = self.ranges.minimum(value.affine), self.ranges.maximum(value.affine)
        most = 1 << type_.fraction_bits + 1
        return value if -most <= low and high <= most <= type_.greatest_integer else None

    def _to_or_from_float(self, value: Value, type_: NumberType) -> Value:
        """Convert where one of both types is a floating-point one (C11 6.3.1.4, 6.3.1.5)."""
        if not isinstance(value.type, FloatType):
            assert isinstance(type_, FloatType)
            if value.constant is not None:
                bits = evaluate("from_int", [value.constant], value.type, type_)
                whole = self._held_whole(value, type_)
                return _floating(Constant(bits, type_), value.span, value, whole=whole)
            expr = FloatOperation("from_int", (value.expr,), type_)
            return _floating(expr, value.span, value, whole=self._held_whole(value, type_))
        if not isinstance(type_, FloatType):
            if value.whole is not None:
                return self.convert(value.whole, type_)
            number = _whole_constant(value)
            if number is not None and type_.minimum <= number <= type_.maximum:
                return literal(number, type_, value.span)
            return self.floating("to_int", (value,), type_, value.span)
        match value.expr:
            case FloatOperation("convert", (inner,)) if inner.type == type_:
                # What has been made wider, and all its values are there.
                if isinstance(inner.type, FloatType) and value.type.holds(inner.type):
                    return replace(value, expr=inner)
        found = self.floating("convert", (value,), type_, value.span)
        if not type_.holds(value.type):
            return found
        return replace(found, whole=value.whole, ratio=value.ratio)

    def logical(self, op: BinaryOp, left: Value, right: Value, span: Span) -> Value:
        """Apply `&&` (op `and`) or `||` (op `or`); both operands are pure."""
        return self.binary(op, self.truth(left), self.truth(right), span)

    def _shift(self, op: BinaryOp, left: Value, right: Value, span: Span) -> Value:
        count = self.number(right)
        if count is not None and not 0 <= count < left.type.width_bits:
            if not self.is_reached:
                return literal(0, left.type, span)
            raise BadConstant(
                f"a shift by {count} is outside of the {left.type.width_bits} bits of its operand",
                labels=(Label(right.span, "here"),),
            )
        expr = Binary(op, left.expr, right.expr, integral(left.type))
        if op == "shl" and left.residue is not None and count is not None:
            return self._fitted(left.residue * (1 << count), expr, span)
        if left.affine is None or count is None:
            reason = "a shift by an iterator" if count is None else _NONLINEAR[op]
            return opaque(expr, self._blame(reason, span, left, right), span)
        if left.constant is not None:
            return literal(left.constant >> count, left.type, span)
        affine = divided(expr, self.ranges)
        if affine is not None:
            return self._fitted(affine, expr, span)
        return opaque(expr, Obstacle(ObstacleKind.NONLINEAR, _NONLINEAR[op], span), span)

    def _fitted(self, affine: Affine, expr: Expr, span: Span) -> Value:
        """Return the affine value if the type of `expr` holds it everywhere, else the tree."""
        type_ = integral(expr.type)
        low, high = self.ranges.minimum(affine), self.ranges.maximum(affine)
        if type_.minimum <= low and high <= type_.maximum:
            return exact(affine, type_, span)
        if affine.is_constant:
            return literal(affine.constant, type_, span)
        beyond = low if low < type_.minimum else high
        reason = f"computed as {type_}, where {beyond} wraps to {type_.wrap(beyond)}"
        obstacle = Obstacle(ObstacleKind.WRAPS, reason, span)
        return replace(opaque(expr, obstacle, span), modular=_reduced(affine, type_.width_bits))

    def _blame(self, what: str, span: Span, *operands: Value) -> Obstacle:
        """Return the first obstacle of the operands, or the operation as the obstacle."""
        for operand in operands:
            if operand.obstacle is not None:
                return operand.obstacle
        return Obstacle(ObstacleKind.NONLINEAR, what, span)


FLOAT_OPS = frozenset(("add", "sub", "mul", "div", *COMPARISONS))
"""The binary operators that floating-point numbers have."""


def _no_integers(symbol: str, span: Span, operand: Value) -> UnsupportedExpression:
    return UnsupportedExpression(
        f"`{symbol}` is for integers",
        labels=(Label(span), Label(operand.span, f"is {operand.type}")),
        help="convert the operand to an integer type",
    )


def _whole_constant(value: Value) -> int | None:
    """Return the integer part of a constant; None if it is none, or is too large for any type."""
    match value.expr:
        case Constant(bits, FloatType() as type_) if fits_integer(bits, type_, INT64):
            return evaluate("to_int", [bits], type_, INT64)
    return None


def _is_undefined(op: FloatOp, known: Sequence[int], of: NumberType, to: NumberType) -> bool:
    """Tell whether C leaves the result of a conversion open: the run will tell."""
    if op != "to_int":
        return False
    assert isinstance(of, FloatType) and isinstance(to, IntType)
    return not fits_integer(known[0], of, to)


_NONLINEAR = {
    "mul": "a product of iterators",
    "div": "a quotient of an iterator",
    "rem": "a remainder of an iterator",
    "and": "a bit operation on an iterator",
    "or": "a bit operation on an iterator",
    "xor": "a bit operation on an iterator",
    "shl": "a shift of an iterator",
    "shr": "a quotient of an iterator",
    **dict.fromkeys(COMPARISONS, "a comparison of iterators"),
}


def _affine_result(op: str, left: Affine, right: Affine) -> Affine | None:
    """Return the affine function that an operation on two affine functions is, if it is one."""
    match op:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul" if left.is_constant:
            return right * left.constant
        case "mul" if right.is_constant:
            return left * right.constant
        case "div" | "rem" if right.is_constant:
            divisor = right.constant
            if all(c % divisor == 0 for c in (left.constant, *(c for _, c in left.terms))):
                quotient = Affine.of(
                    {n: c // divisor for n, c in left.terms}, left.constant // divisor
                )
                return quotient if op == "div" else Affine()
    return None


def _reduced(affine: Affine, width_bits: int) -> Affine:
    """Return a function that is the same modulo 2**width, with the smallest numbers in it."""
    signed = IntType(width_bits, signed=True)
    terms = {name: signed.wrap(coefficient) for name, coefficient in affine.terms}
    return Affine.of(terms, signed.wrap(affine.constant))


def _residue_of(op: str, left: Value, right: Value) -> Affine | None:
    """Return what an operation gives modulo 2**width, if that is an affine function."""
    if op not in ("add", "sub", "mul") or left.residue is None or right.residue is None:
        return None
    return _affine_result(op, left.residue, right.residue)
