"""Typed expression trees: the right-hand sides of statements, with every C conversion explicit.

The front end inserts a `Cast` wherever C converts, so the operands of a `Binary` have the type
in which the operation is done (shifts excepted: their right operand keeps its own promoted type).
Evaluation is pure and total: each node's value is its mathematical result wrapped to its type.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine
from rtlgen.ir.types import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    FloatType,
    IntType,
    NumberType,
)

UnaryOp: TypeAlias = Literal["neg", "not", "lnot"]
ArithmeticOp: TypeAlias = Literal[
    "add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr"
]
CompareOp: TypeAlias = Literal["lt", "le", "gt", "ge", "eq", "ne"]
BinaryOp: TypeAlias = ArithmeticOp | CompareOp

FloatOp: TypeAlias = Literal[
    "add", "sub", "mul", "div", "sqrt", "fma", "neg", "abs", "copysign", "min", "max",
    "floor", "ceil", "trunc", "round", "rint",
    "lt", "le", "eq",
    "from_int", "to_int", "convert",
]  # fmt: skip

SIGN_OPS: frozenset[FloatOp] = frozenset(("neg", "abs", "copysign"))
"""Operations that look at signs alone, and are wiring."""

COMPARISONS: frozenset[str] = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant, already in the range of its type; a float is its bit pattern."""

    value: int
    type: NumberType


@dataclass(frozen=True, slots=True)
class IndexValue:
    """The value of an affine expression of the iterators, computed in `type` (it wraps)."""

    affine: Affine
    type: IntType


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A scalar argument of the function, constant during a run."""

    name: str
    type: NumberType


@dataclass(frozen=True, slots=True)
class Read:
    """The element read by `Statement.reads[index]`.

    Members
    -------
    at: the values of those subscripts that depend on data, in order; () for an affine access.
    """

    index: int
    type: NumberType
    at: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Unary:
    """`neg` is -x, `not` is ~x (both in `type`, the operand's type); `lnot` is !x, an int.

    The operand is an integer.
    """

    op: UnaryOp
    operand: Expr
    type: IntType


@dataclass(frozen=True, slots=True)
class Binary:
    """A C binary operation; comparisons yield int 0 or 1.

    `shr` of a signed left operand is arithmetic. A shift count is taken modulo the width of the
    left operand, and is reported by the golden model when it is out of C's range.
    """

    op: BinaryOp
    left: Expr
    right: Expr
    type: IntType

    def __post_init__(self) -> None:
        if self.op in COMPARISONS and self.type != INT32:
            raise ValueError("a comparison has type int")
        if isinstance(self.left.type, FloatType) or isinstance(self.right.type, FloatType):
            raise ValueError("an operation on patterns of floats is a `FloatOperation`")


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion of an integer, or of the pattern of a float, to `type`, wrapping."""

    operand: Expr
    type: NumberType


@dataclass(frozen=True, slots=True)
class Select:
    """`condition ? if_true : if_false`; both arms are pure and of type `type`."""

    condition: Expr
    if_true: Expr
    if_false: Expr
    type: NumberType


@dataclass(frozen=True, slots=True)
class Scatter:
    """What a statement stores whose element depends on data: `value`, where `condition` holds.

    It is the whole of a statement's expression. To the program's other accesses the statement gives
    every element that it may write a new value, which is the old one in all elements but one, and
    in that one, too, where the condition does not hold: the `store` of McCarthy's theory of arrays.

    Members
    -------
    old: the read of what is in the elements that are left alone, at the subscripts that are
        written. No load makes it.
    """

    condition: Expr
    value: Expr
    old: Read

    @property
    def type(self) -> NumberType:
        """The type of the elements."""
        return self.old.type

    @property
    def at(self) -> tuple[Expr, ...]:
        """The values of the subscripts that depend on data, in order."""
        return self.old.at


@dataclass(frozen=True, slots=True)
class FloatOperation:
    """An operation of IEEE 754 on bit patterns; see `ir.float_arithmetic` for what each means.

    Operands are of one type, that of the result unless the operation is a comparison (`lt`, `le`,
    `eq`: an int, 0 or 1) or a conversion. `a > b` is `b < a`, and `a != b` is `!(a == b)`.
    `to_int` drops the fraction; beyond the type, where C leaves it undefined, it takes the type's
    nearest value, and 0 of a NaN, and the golden model reports it. `round` takes ties away from 0,
    `rint` to even. `min` and `max` of equal numbers are the second operand.

    Members
    -------
    flushes: subnormal operands are zeros of their sign, and so are subnormal results.
    """

    op: FloatOp
    operands: tuple[Expr, ...]
    type: NumberType
    flushes: bool = False

    def __post_init__(self) -> None:
        if self.op not in ("from_int", "to_int", "convert", *COMPARISONS):
            if any(operand.type != self.type for operand in self.operands):
                raise ValueError(f"the operands of {self.op} are not {self.type}")
        elif self.op in COMPARISONS and self.type != INT32:
            raise ValueError("a comparison has type int")
        if self.flushes and self.op in SIGN_OPS:
            raise ValueError("an operation on signs leaves the rest as it is")

    @property
    def formats(self) -> tuple[NumberType, NumberType]:
        """What it is computed in: types of the operands and of the result."""
        of, to = self.of, self.type
        if not self.flushes:
            return of, to
        return (
            of.without_subnormals if isinstance(of, FloatType) else of,
            to.without_subnormals if isinstance(to, FloatType) else to,
        )

    @property
    def of(self) -> NumberType:
        """The type of the operands."""
        return self.operands[0].type


Expr: TypeAlias = (
    Constant
    | IndexValue
    | ScalarParameter
    | Read
    | Unary
    | Binary
    | Cast
    | Select
    | Scatter
    | FloatOperation
)


def within(value: Expr, low: int, high: int) -> Expr:
    """Return whether an integer lies between two numbers of its type, as 0 or 1."""
    is_least = Binary("ge", value, Constant(low, value.type), INT32)
    is_most = Binary("le", value, Constant(high, value.type), INT32)
    return Binary("and", is_least, is_most, INT32)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of `expr`, left to right."""
    match expr:
        case Unary(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Read(at=at):
            return at
        case Binary(left=left, right=right):
            return (left, right)
        case Select(condition=condition, if_true=a, if_false=b):
            return (condition, a, b)
        case Scatter(condition, value, old):
            return (condition, value, old)
        case FloatOperation(operands=operands):
            return operands
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything below it, operands before the node that uses them."""
    for child in children(expr):
        yield from walk(child)
    yield expr


def with_children(expr: Expr, operands: tuple[Expr, ...]) -> Expr:
    """Return `expr` with its direct operands replaced, in the order of `children`."""
    match expr:
        case Unary(op, _, type_):
            return Unary(op, operands[0], type_)
        case Cast(_, type_):
            return Cast(operands[0], type_)
        case Read(index, type_):
            return Read(index, type_, operands)
        case Binary(op, _, _, type_):
            return Binary(op, operands[0], operands[1], type_)
        case Select(_, _, _, type_):
            return Select(operands[0], operands[1], operands[2], type_)
        case Scatter():
            old = operands[2]
            assert isinstance(old, Read), "what is left alone is read"
            return Scatter(operands[0], operands[1], old)
        case FloatOperation(op, _, type_, flushes):
            return FloatOperation(op, operands, type_, flushes)
        case _:
            return expr


def map_affine(expr: Expr, replacements: dict[str, Affine]) -> Expr:
    """Return `expr` with iterators replaced in every `IndexValue`."""
    if isinstance(expr, IndexValue):
        return IndexValue(expr.affine.substitute(replacements), expr.type)
    return with_children(expr, tuple(map_affine(part, replacements) for part in children(expr)))


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "neg": "-", "not": "~", "lnot": "!",
}  # fmt: skip


_FUNCTIONS = {
    "sqrt": "sqrt", "fma": "fma", "abs": "fabs", "copysign": "copysign", "min": "fmin",
    "max": "fmax", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round",
    "rint": "rint",
}  # fmt: skip
"""The functions of C's <math.h> that are one operation."""


def float_text(bits: int, type_: FloatType) -> str:
    """Return a number as C has it, in as few digits as tell it from its neighbours."""
    sign = "-" if bits & type_.sign_bit else ""
    magnitude = bits & ~type_.sign_bit
    if magnitude >= type_.infinity:
        return f"{sign}{'INFINITY' if magnitude == type_.infinity else 'NAN'}"
    biased, fraction = divmod(magnitude, 1 << type_.fraction_bits)
    significand = fraction + ((1 << type_.fraction_bits) if biased else 0)
    exponent = max(biased, 1) - type_.bias - type_.fraction_bits
    suffix = _SUFFIXES.get(type_, "")
    value = math.ldexp(significand, exponent)
    if type_ == FLOAT64:
        return f"{sign}{value!r}{suffix}"
    short = next(
        text
        for text in (f"{value:.{digits}g}" for digits in range(1, 18))
        if _is_nearest(float(text), significand, exponent)
    )
    return f"{sign}{short if set('.e') & set(short) else short + '.0'}{suffix}"


_SUFFIXES = {FLOAT32: "f", FLOAT16: "f16", BFLOAT16: "bf16"}


def _is_nearest(value: float, significand: int, exponent: int) -> bool:
    """Tell whether a number rounds to a significand: it is nearer than half the last place."""
    return abs(math.ldexp(value, -exponent) - significand) < 0.5


def to_text(expr: Expr, reads: tuple[str, ...]) -> str:
    """Return `expr` in C syntax, with `reads[k]` for the k-th read."""
    match expr:
        case Constant(value, type_):
            return float_text(value, type_) if isinstance(type_, FloatType) else str(value)
        case IndexValue(affine):
            return str(affine) if len(affine.terms) + bool(affine.constant) < 2 else f"({affine})"
        case ScalarParameter(name):
            return name
        case Read(index, at=at):
            return f"{reads[index]}{''.join(f'{{{to_text(part, reads)}}}' for part in at)}"
        case Unary(op, operand):
            return f"{_SYMBOLS[op]}{to_text(operand, reads)}"
        case Cast(operand, type_):
            return f"({type_}){to_text(operand, reads)}"
        case Binary(op, left, right):
            return f"({to_text(left, reads)} {_SYMBOLS[op]} {to_text(right, reads)})"
        case Select(condition, a, b):
            return f"({to_text(condition, reads)} ? {to_text(a, reads)} : {to_text(b, reads)})"
        case Scatter(condition, value, old):
            parts = [to_text(part, reads) for part in (value, old, condition)]
            return f"{parts[0]} at {parts[1]} if {parts[2]}"
        case FloatOperation(op, operands, type_):
            parts = [to_text(operand, reads) for operand in operands]
            if len(parts) == 2 and op in _SYMBOLS:
                return f"({parts[0]} {_SYMBOLS[op]} {parts[1]})"
            if op == "neg":
                return f"-{parts[0]}"
            name = f"({type_})" if op in ("from_int", "to_int", "convert") else _FUNCTIONS[op]
            return f"{name}({', '.join(parts)})"
