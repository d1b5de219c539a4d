"""Right-hand sides of statements as C: each node with the type and the value of the program.

Signed arithmetic is written as it stands and needs -fwrapv. What C leaves open is written out: a
shift count is taken modulo the width, a negative number is shifted as an unsigned one, and a
division by 0 or of the smallest value by -1 has the result that the golden model defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rtlgen.emit.numbers import cast_text, number_text, operation_text
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
    walk,
)
from rtlgen.ir.types import C_FLOAT_NAMES, FloatType, IntType, NumberType

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "and": "&", "or": "|", "xor": "^",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


Element: TypeAlias = Callable[[int, Sequence[str]], str]
"""(number of the read, texts of its computed subscripts) -> text of the element."""


def type_text(type_: NumberType) -> str:
    """Return the C name of a type."""
    return C_FLOAT_NAMES[type_] if isinstance(type_, FloatType) else f"{type_}_t"


def constant_text(value: int, type_: NumberType, calls: Mapping[str, str]) -> str:
    """Return a constant of just this type.

    Parameters
    ----------
    calls: what each function is called that makes a NaN of its bits.
    """
    if isinstance(type_, FloatType):
        return number_text(value, type_, calls)
    if type_.width_bits < 32:
        return f"({type_text(type_)}){value}" if value >= 0 else f"({type_text(type_)})({value})"
    if type_.signed and value == type_.minimum:
        return f"INT{type_.width_bits}_MIN"
    if type_.width_bits == 64:
        return f"{'' if type_.signed else 'U'}INT64_C({value})"
    text = f"{value}{'' if type_.signed else 'u'}"
    return text if value >= 0 else f"({text})"


def division_name(op: str, type_: IntType) -> str:
    """Return the name of the total division or remainder of a type."""
    return f"{'divide' if op == 'div' else 'remainder'}_{type_}"


def division_body(op: str, type_: IntType) -> str:
    """Return that function's value, of the dividend `a` and the divisor `b`."""
    undefined = "a" if op == "rem" else "-1" if type_.signed else f"UINT{type_.width_bits}_MAX"
    plain = f"a {_SYMBOLS[op]} b"
    if not type_.signed:
        return f"b == 0 ? {undefined} : {plain}"
    # The quotient by -1 may not fit its type: then it wraps, as a negation does.
    by_minus_one = "0" if op == "rem" else "-a"
    return f"b == 0 ? {undefined} : b == -1 ? {by_minus_one} : {plain}"


def divisions(expr: Expr) -> frozenset[tuple[str, IntType]]:
    """Return the total divisions that the text of `expr` calls."""
    return frozenset(
        (node.op, node.type)
        for node in walk(expr)
        if isinstance(node, Binary) and node.op in ("div", "rem") and not _divides_plainly(node)
    )


def has_conditions(expr: Expr) -> bool:
    """Return whether something in `expr` is true or false."""
    return any(
        node.op == "lnot" if isinstance(node, Unary) else node.op in COMPARISONS
        for node in walk(expr)
        if isinstance(node, Unary | Binary | FloatOperation)
    )


def _divides_plainly(node: Binary) -> bool:
    return isinstance(node.right, Constant) and node.right.value not in (0, -1)


def expression_text(expr: Expr, element: Element, calls: Mapping[str, str]) -> str:
    """Return `expr` as C, in parentheses unless it is a single name, call or constant.

    Parameters
    ----------
    element: gives the text of an access.
    calls: what each total division is called, and each function on numbers that C does not have.
    """

    def text(part: Expr) -> str:
        return expression_text(part, element, calls)

    match expr:
        case Constant(value, type_):
            return constant_text(value, type_, calls)
        case IndexValue(affine, type_):
            if affine.is_constant:
                return constant_text(type_.wrap(affine.constant), type_, calls)
            shown = str(affine)
            return f"({type_text(type_)}){shown if shown.isidentifier() else f'({shown})'}"
        case ScalarParameter(name):
            return name
        case Read(index, at=at):
            return element(index, [text(part) for part in at])
        case Unary(op, operand, type_):
            return _unary(op, text(operand), type_)
        case Cast(operand, type_):
            if isinstance(type_, FloatType) or isinstance(operand.type, FloatType):
                return cast_text(text(operand), expr, calls, type_text(type_))
            return f"({type_text(type_)}){text(operand)}"
        case Scatter():
            raise ValueError("a scatter is no value of one element")
        case Select(condition, if_true, if_false):
            return f"({text(condition)} != 0 ? {text(if_true)} : {text(if_false)})"
        case Binary():
            return _binary(expr, text(expr.left), text(expr.right), calls)
        case FloatOperation(operands=operands):
            return operation_text(expr, [text(operand) for operand in operands], calls)


def _unary(op: str, operand: str, type_: IntType) -> str:
    if op == "lnot":
        return f"({operand} == 0)"
    return _wrapped(f"({'-' if op == 'neg' else '~'}{operand})", type_)


def _binary(expr: Binary, left: str, right: str, calls: Mapping[str, str]) -> str:
    type_ = expr.left.type
    if expr.op in COMPARISONS:
        return f"({left} {_SYMBOLS[expr.op]} {right})"
    if expr.op in ("shl", "shr"):
        count = _shift_count(expr, right)
        if expr.op == "shr":
            return f"({left} >> {count})"
        pattern = type_text(IntType(max(32, type_.width_bits), False))
        return f"({type_text(type_)})(({pattern}){left} << {count})"
    if expr.op in ("div", "rem") and not _divides_plainly(expr):
        return f"{calls[division_name(expr.op, expr.type)]}({left}, {right})"
    return _wrapped(f"({left} {_SYMBOLS[expr.op]} {right})", expr.type)


def _shift_count(expr: Binary, right: str) -> str:
    last = expr.left.type.width_bits - 1
    if isinstance(expr.right, Constant):
        return str(expr.right.value & last)
    return f"({right} & {last})"


def _wrapped(text: str, type_: IntType) -> str:
    """Return what C computes in int, converted to a type that is narrower."""
    return text if type_.width_bits >= 32 else f"({type_text(type_)}){text}"
