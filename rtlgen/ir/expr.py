"""Typed expression trees: the right-hand sides of statements, with every C conversion explicit.

The front end inserts a `Cast` wherever C converts, so the operands of a `Binary` have the type
in which the operation is done (shifts excepted: their right operand keeps its own promoted type).
Evaluation is pure and total: each node's value is its mathematical result wrapped to its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine
from rtlgen.ir.types import INT32, IntType

UnaryOp: TypeAlias = Literal["neg", "not", "lnot"]
ArithmeticOp: TypeAlias = Literal[
    "add", "sub", "mul", "div", "rem", "and", "or", "xor", "shl", "shr"
]
CompareOp: TypeAlias = Literal["lt", "le", "gt", "ge", "eq", "ne"]
BinaryOp: TypeAlias = ArithmeticOp | CompareOp

COMPARISONS: frozenset[str] = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer constant, already in the range of its type."""

    value: int
    type: IntType


@dataclass(frozen=True, slots=True)
class IndexValue:
    """The value of an affine expression of the iterators, computed in `type` (it wraps)."""

    affine: Affine
    type: IntType


@dataclass(frozen=True, slots=True)
class ScalarParameter:
    """A scalar argument of the function, constant during a run."""

    name: str
    type: IntType


@dataclass(frozen=True, slots=True)
class Read:
    """The element read by `Statement.reads[index]`.

    Members
    -------
    at: the values of those subscripts that depend on data, in order; () for an affine access.
    """

    index: int
    type: IntType
    at: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Unary:
    """`neg` is -x, `not` is ~x (both in `type`, the operand's type); `lnot` is !x, an int."""

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


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion of the operand's value to `type`, wrapping."""

    operand: Expr
    type: IntType


@dataclass(frozen=True, slots=True)
class Select:
    """`condition ? if_true : if_false`; both arms are pure and of type `type`."""

    condition: Expr
    if_true: Expr
    if_false: Expr
    type: IntType


Expr: TypeAlias = Constant | IndexValue | ScalarParameter | Read | Unary | Binary | Cast | Select


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


def to_text(expr: Expr, reads: tuple[str, ...]) -> str:
    """Return `expr` in C syntax, with `reads[k]` for the k-th read."""
    match expr:
        case Constant(value):
            return str(value)
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
