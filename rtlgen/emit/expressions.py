"""Right-hand sides of statements as C: types and values are those of the program, in every bit.

Operations on numbers as C: what it has itself, and functions for what it leaves open.

`float` and `double` are computed as they stand; of a narrower type, C may keep more digits until a
conversion, so each result is converted. A number that an integer type does not hold has the result
that the golden model defines.

Signed arithmetic is written as it stands and needs -fwrapv. What C leaves open is written out: a
shift count is taken modulo the width, a negative number is shifted as an unsigned one, and a
division by 0 or of the smallest value by -1 has the result that the golden model defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rtlgen.emit.lines import bare
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
    float_text,
    walk,
)
from rtlgen.ir.types import (
    BFLOAT16,
    C_FLOAT_NAMES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    FloatType,
    IntType,
    NumberType,
)

_NUMBER_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==",
}  # fmt: skip
_FUNCTIONS = {"abs": "fabs", "min": "fmin", "max": "fmax"}
"""Of <math.h>, where they have other names there."""


def number_text(bits: int, type_: FloatType, calls: Mapping[str, str]) -> str:
    """Return a constant of just this type."""
    magnitude = bits & ~type_.sign_bit
    if _has_payload(bits, type_):
        return f"{calls[_of_bits(type_)]}({_pattern_text(bits, type_)})"
    text = float_text(bits, type_)
    if magnitude >= type_.infinity and type_ != FLOAT32:
        return f"({C_FLOAT_NAMES[type_]})({text})"
    return f"({text})" if text.startswith("-") else text


def number_function_bodies(exprs: Sequence[Expr]) -> dict[str, tuple[str, ...]]:
    """Return the functions that some expressions call and C does not have: lines by names."""
    found: dict[str, tuple[str, ...]] = {}
    for node in (node for expr in exprs for node in walk(expr)):
        if isinstance(node, FloatOperation) and node.flushes:
            for type_ in (node.of, node.type):
                if isinstance(type_, FloatType):
                    found[_flush(type_)] = _flush_lines(type_)
        match node:
            case FloatOperation("to_int"):
                of, to = node.of, node.type
                assert isinstance(of, FloatType) and isinstance(to, IntType)
                found[_whole(of, to)] = _whole_lines(of, to)
            case FloatOperation("fma", type=FloatType() as type_) if _is_narrow(type_):
                found[_fused(type_)] = _fused_lines(type_)
            case Cast(operand, IntType()) if isinstance(operand.type, FloatType):
                found[_bits_of(operand.type)] = _reinterpreting_lines(operand.type, is_number=False)
            case Cast(operand, FloatType() as type_) if operand.type != type_:
                found[_of_bits(type_)] = _reinterpreting_lines(type_, is_number=True)
            case Constant(bits, FloatType() as type_) if _has_payload(bits, type_):
                found[_of_bits(type_)] = _reinterpreting_lines(type_, is_number=True)
    return dict(sorted(found.items()))


def needs_math(exprs: Sequence[Expr]) -> bool:
    """Tell whether some expressions name something of <math.h>."""
    return any(
        node.op not in (*_NUMBER_SYMBOLS, "neg", "from_int", "to_int", "convert")
        if isinstance(node, FloatOperation)
        else isinstance(node, Constant)
        and isinstance(node.type, FloatType)
        and node.value & ~node.type.sign_bit >= node.type.infinity
        for expr in exprs
        for node in walk(expr)
    )


def operation_text(expr: FloatOperation, operands: Sequence[str], calls: Mapping[str, str]) -> str:
    """Return an operation as C, in parentheses unless it is a single call."""
    if not expr.flushes:
        return _plain_text(expr, operands, calls)
    given = [
        _flushed(text, operand, calls)
        for text, operand in zip(operands, expr.operands, strict=True)
    ]
    text = _plain_text(expr, given, calls)
    return f"{calls[_flush(expr.type)]}({bare(text)})" if isinstance(expr.type, FloatType) else text


def _flushed(text: str, operand: Expr, calls: Mapping[str, str]) -> str:
    """Return an operand of an operation that takes subnormal ones as zeros."""
    is_flushed = isinstance(operand, FloatOperation) and operand.flushes
    if is_flushed or not isinstance(operand.type, FloatType):
        return text
    return f"{calls[_flush(operand.type)]}({bare(text)})"


def _plain_text(expr: FloatOperation, operands: Sequence[str], calls: Mapping[str, str]) -> str:
    of, to = expr.of, expr.type
    if expr.op in COMPARISONS:
        return f"({operands[0]} {_NUMBER_SYMBOLS[expr.op]} {operands[1]})"
    if isinstance(to, IntType):
        assert isinstance(of, FloatType)
        return f"{calls[_whole(of, to)]}({bare(operands[0])})"
    name = C_FLOAT_NAMES[to]
    if expr.op in ("from_int", "convert"):
        return f"({name}){operands[0]}"
    if expr.op == "neg":
        return f"(-{operands[0]})"
    if expr.op in _NUMBER_SYMBOLS:
        text = f"({operands[0]} {_NUMBER_SYMBOLS[expr.op]} {operands[1]})"
        return f"({name}){text}" if _is_narrow(to) else text
    if expr.op == "fma" and _is_narrow(to):
        return f"{calls[_fused(to)]}({', '.join(map(bare, operands))})"
    # Of numbers of a narrow type all of these are exact in float, or rounded as in the type itself.
    function = _FUNCTIONS.get(expr.op, expr.op) + ("" if to == FLOAT64 else "f")
    text = f"{function}({', '.join(map(bare, operands))})"
    return f"({name}){text}" if _is_narrow(to) else text


def cast_text(operand: str, expr: Cast, calls: Mapping[str, str], type_text: str) -> str:
    """Return the bits of a number as an integer, or the number that has some bits."""
    of = expr.operand.type
    if isinstance(of, FloatType):
        text = f"{calls[_bits_of(of)]}({bare(operand)})"
        if expr.type == IntType(of.width_bits, False):
            return text
        return operand if expr.type == of else f"({type_text}){text}"
    assert isinstance(expr.type, FloatType)
    return f"{calls[_of_bits(expr.type)]}((uint{expr.type.width_bits}_t){operand})"


def _is_narrow(type_: FloatType) -> bool:
    return type_ in (FLOAT16, BFLOAT16)


def _has_payload(bits: int, type_: FloatType) -> bool:
    magnitude = bits & ~type_.sign_bit
    return magnitude > type_.infinity and magnitude != type_.nan


def _pattern_text(bits: int, type_: FloatType) -> str:
    return f"UINT64_C(0x{bits:x})" if type_.width_bits == 64 else f"0x{bits:x}u"


def _bits_of(type_: FloatType) -> str:
    return f"bits_of_{type_}"


def _of_bits(type_: FloatType) -> str:
    return f"{type_}_of_bits"


def _whole(of: FloatType, to: IntType) -> str:
    return f"{'bool' if to.is_bool else to}_of_{of}"


def _fused(type_: FloatType) -> str:
    return f"fma_{type_}"


def _flush(type_: FloatType) -> str:
    return f"flushed_{type_}"


def _reinterpreting_lines(type_: FloatType, *, is_number: bool) -> tuple[str, ...]:
    """Return the body of a function that reads the bits of `a` as another type."""
    bits, number = f"uint{type_.width_bits}_t", C_FLOAT_NAMES[type_]
    given, found = (bits, number) if is_number else (number, bits)
    return (
        f"{found} NAME({given} a)",
        f"union {{ {given} a; {found} b; }} same = {{a}};",
        "return same.b;",
    )


def _flush_lines(type_: FloatType) -> tuple[str, ...]:
    """Return the body of a function that makes zeros of subnormal numbers."""
    bits, number = f"uint{type_.width_bits}_t", C_FLOAT_NAMES[type_]
    exponent, sign = (_pattern_text(each, type_) for each in (type_.infinity, type_.sign_bit))
    return (
        f"{number} NAME({number} a)",
        f"union {{ {number} a; {bits} b; }} same = {{a}};",
        f"if ((same.b & {exponent}) == 0) same.b &= {sign};",
        "return same.a;",
    )


def _whole_lines(of: FloatType, to: IntType) -> tuple[str, ...]:
    """Return the body of a function that drops the fraction of `a`."""
    name, most = f"{to}_t", to.maximum
    beyond = f"0x1p{most.bit_length()}"
    greatest = "1" if to.is_bool else f"{'' if to.signed else 'U'}INT{to.width_bits}_MAX"
    head = f"{name} NAME({C_FLOAT_NAMES[of]} a)"
    top = f"if (a >= {beyond}) return {greatest};"
    if to.signed:
        least = f"INT{to.width_bits}_MIN"
        return head, top, f"if (a <= -{beyond}) return {least};", f"return a != a ? 0 : ({name})a;"
    return head, top, f"return a > -1 ? ({name})a : 0;"


def _fused_lines(type_: FloatType) -> tuple[str, ...]:
    """Return the body of a function that rounds a * b + c to odd, and then to the type."""
    name = C_FLOAT_NAMES[type_]
    return (
        f"{name} NAME({name} a, {name} b, {name} c)",
        "const double product = (double)a * b, sum = product + c, part = sum - product;",
        "const double rest = (product - (sum - part)) + (c - part);",
        "union { double number; uint64_t bits; } odd = {sum};",
        "if (sum - sum == 0 && rest != 0 && odd.bits % 2 == 0)",
        "  odd.bits += (rest > 0) == (sum > 0) ? 1 : -1;",
        f"return ({name})odd.number;",
    )


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
