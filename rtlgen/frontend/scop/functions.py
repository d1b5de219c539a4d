"""Calls that need no statements: library functions, and functions that only compute.

`memset`, `memcpy` and `memmove` as the loops that they are.

Rewrite
-------
    memset(a, 0, sizeof a);                for (k = 0; k < 16; k++) a[k] = 0;          int a[16]
    memcpy(b[i], a, 8 * sizeof(int));      for (k = 0; k < 8; k++) b[i][k] = a[k];
    memmove(a + 1, a, 4 * sizeof(int));    for (k = 3; k >= 0; k--) (a + 1)[k] = a[k];

What is moved within one array goes from the end that is not overwritten; where that depends on
data, through an array of its own.

Calls of functions of <math.h> that are an operation, or a few of them.

Calls of functions that only compute: the call becomes the expression that it returns.

    int clamp(int x) { if (x < 0) x = 0; return x > 255 ? 255 : x; }
    b[i] = clamp(a[i]);         b[i] = (a[i] < 0 ? 0 : a[i]) > 255 ? 255 : (a[i] < 0 ? 0 : a[i]);

The function is carried out on expressions: both branches of an `if`, and a choice behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import prod
from typing import cast

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.truth_tables import BINARY_OPS
from rtlgen.frontend.analysis.values import Arithmetic, Value, literal
from rtlgen.frontend.errors import CallArguments, CallUnsupported
from rtlgen.frontend.lowering.bits import are_alike, reinterpreted
from rtlgen.frontend.lowering.nodes import integer, named
from rtlgen.frontend.lowering.types import ArrayOf, Number, Type, counting, declaration, plain
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.symbols import Scopes, Slot
from rtlgen.frontend.reading.types import TypeReader
from rtlgen.frontend.reading.writes import ASSIGNMENT_OPS
from rtlgen.frontend.syntax.assigned import Assumption, below
from rtlgen.frontend.syntax.locate import OPEN
from rtlgen.frontend.syntax.region import (
    BIT_PATTERNS,
    CLASSIFICATIONS,
    FLOAT_OPERATIONS,
    ORDERED_COMPARISONS,
    ROUNDED_TO_INTEGERS,
)
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import BinaryOp, walk
from rtlgen.ir.types import BFLOAT16, FLOAT64, INT32, FloatType, IntType, NumberType
from rtlgen.source import Span

_ARGUMENTS = 3


def block_loops(name: str, node: c_ast.FuncCall, reader: ExpressionReader) -> c_ast.Node:
    """Return the loops that do what a call of the function `name` does.

    Raises
    ------
    CallUnsupported: what it sets is no whole number of elements or rows, or not known.
    """
    span = reader.span(node)
    arguments = list(node.args.exprs) if node.args is not None else []
    if len(arguments) != _ARGUMENTS:
        raise _refusal(name, span, "takes three arguments")
    target, source, size = arguments
    shape, element = _rows(reader, target)
    size_bytes = reader.value(size).constant
    if size_bytes is None:
        raise _refusal(name, span, "its size is not a constant")
    unit_bytes = prod(shape[1:]) * element.width_bits // 8
    if size_bytes % unit_bytes:
        raise _refusal(name, span, f"{size_bytes} bytes are no whole number of {unit_bytes}")
    extents = (size_bytes // unit_bytes, *shape[1:])
    names = [f"{name}_index{k}" for k in range(len(extents))]
    if name == "memset":
        value = _filling(name, source, reader, element, span)
    else:
        if _rows(reader, source)[1] != element or len(_rows(reader, source)[0]) != len(shape):
            raise _refusal(name, span, "the two have different types")
        if name == "memmove" and not _is_upward(reader, target, source):
            if _is_upward(reader, source, target):
                value = _element(source, names, node)
                return _loops(node, target, value, names, extents, is_down=True)
            return _through(node, target, source, names, extents, element)
        value = _element(source, names, node)
    return _loops(node, target, value, names, extents)


def _loops(
    node: c_ast.FuncCall,
    target: c_ast.Node,
    value: c_ast.Node,
    names: list[str],
    extents: tuple[int, ...],
    *,
    is_down: bool = False,
) -> c_ast.Node:
    """Return the loops that set the elements of `target`.

    Parameters
    ----------
    is_down: the outermost one begins at the end.
    """
    loop: c_ast.Node = c_ast.Assignment("=", _element(target, names, node), value, node.coord)
    for level in reversed(range(len(names))):
        count = integer(extents[level], node.coord)
        last = extents[level] - 1 if is_down and not level else None
        loop = counting(names[level], count, loop, node.coord, last=last)
    return loop


def _is_upward(reader: ExpressionReader, target: c_ast.Node, source: c_ast.Node) -> bool:
    """Return whether elements may be moved from the first one on, one after the other."""
    to, at = (reader.elements.part(_uncast(place)) for place in (target, source))
    if to.variable != at.variable:
        return True
    distance = Affine()
    ends = zip((*to.subscripts, to.offset), (*at.subscripts, at.offset), strict=True)
    for level, (first, second) in enumerate(ends):
        if not isinstance(first, Affine) or not isinstance(second, Affine):
            return False
        distance += (first - second) * prod(to.variable.shape[level + 1 :])
    return reader.arithmetic.ranges.maximum(distance) <= 0


def _through(
    node: c_ast.FuncCall,
    target: c_ast.Node,
    source: c_ast.Node,
    names: list[str],
    extents: tuple[int, ...],
    element: NumberType,
) -> c_ast.Compound:
    """Return the loops that move elements by way of another array."""
    at = node.coord
    type_: Type = plain(_number(element))
    for extent in reversed(extents):
        type_ = ArrayOf(type_, integer(extent, at))
    kept = named("memmove_kept", at)
    declared = declaration(kept.name, type_, None, at)
    moves = ((kept, source), (target, kept))
    return c_ast.Compound(
        [
            declared,
            *(_loops(node, to, _element(x, names, node), names, extents) for to, x in moves),
        ],
        at,
    )


def _number(element: NumberType) -> Number:
    if isinstance(element, FloatType):
        is_short = element == BFLOAT16
        return Number(element.width_bits, is_floating=True, is_short=is_short)
    return Number(element.width_bits, element.signed, element.is_bool)


def _rows(reader: ExpressionReader, node: c_ast.Node) -> tuple[tuple[int, ...], NumberType]:
    """Return the extents of what a pointer points to, the first of them free, and its type."""
    part = reader.elements.part(_uncast(node))
    shape = part.variable.shape[len(part.subscripts) :]
    return shape or (OPEN,), part.variable.element


def _uncast(node: c_ast.Node) -> c_ast.Node:
    return node.expr if isinstance(node, c_ast.Cast) else node


def _filling(
    name: str, source: c_ast.Node, reader: ExpressionReader, element: NumberType, span: Span
) -> c_ast.Node:
    """Return the element of which each byte is the one that `memset` is given."""
    byte = reader.value(source).constant
    if byte is None:
        raise _refusal(name, span, "the byte is not a constant")
    pattern = (byte & 0xFF) * (((1 << element.width_bits) - 1) // 0xFF)
    value = c_ast.Constant("unsigned long int", f"{pattern}UL", source.coord)
    if not isinstance(element, FloatType) or pattern == 0:
        return value
    bits = Number(element.width_bits, is_signed=False)
    if not are_alike(bits, _number(element)):
        raise _refusal(name, span, f"there is no {element} with that pattern")
    return reinterpreted(value, bits, _number(element))


def _element(array: c_ast.Node, names: list[str], call: c_ast.Node) -> c_ast.Node:
    node = _uncast(array)
    for name in names:
        node = c_ast.ArrayRef(node, c_ast.ID(name, call.coord), call.coord)
    return node


def _refusal(name: str, span: Span, reason: str) -> CallUnsupported:
    return CallUnsupported(
        f"this `{name}` cannot be written as a loop",
        labels=(Label(span, reason),),
        help="write the loop over the elements",
    )


def is_float_function(name: str) -> bool:
    """Tell whether a function that no file declares is one of <math.h> that is known."""
    return any(
        name in known
        for known in (
            BIT_PATTERNS,
            CLASSIFICATIONS,
            FLOAT_OPERATIONS,
            ORDERED_COMPARISONS,
            ROUNDED_TO_INTEGERS,
        )
    )


def float_call(
    name: str, arguments: Sequence[c_ast.Node], reader: ExpressionReader, span: Span
) -> Value | None:
    """Return the value of a call; None if the function is none of these.

    Raises
    ------
    CallArguments: there are too few arguments, or too many.
    """
    if not is_float_function(name):
        return None
    values = [reader.value(argument) for argument in arguments]
    arithmetic = reader.arithmetic
    if name in FLOAT_OPERATIONS:
        op, count, type_ = FLOAT_OPERATIONS[name]
        _require(name, count, values, span)
        operands = [arithmetic.convert(value, type_) for value in values]
        return arithmetic.floating(op, operands, type_, span)
    if name in BIT_PATTERNS:
        _require(name, 1, values, span)
        of, to = BIT_PATTERNS[name]
        return arithmetic.reinterpreted(arithmetic.convert(values[0], of), to)
    if name in ORDERED_COMPARISONS:
        _require(name, 2, values, span)
        compared = cast(BinaryOp, ORDERED_COMPARISONS[name])
        return arithmetic.binary(compared, values[0], values[1], span)
    _require(name, 1, values, span)
    if name in ROUNDED_TO_INTEGERS:
        op, to, type_ = ROUNDED_TO_INTEGERS[name]
        whole = arithmetic.floating(op, [arithmetic.convert(values[0], type_)], type_, span)
        return arithmetic.convert(whole, to)
    return _classified(name, values[0], arithmetic, span)


def _require(name: str, count: int, values: Sequence[Value], span: Span) -> None:
    if len(values) != count:
        raise CallArguments(
            f"`{name}` takes {count}, not {len(values)}, arguments", labels=(Label(span),)
        )


def _classified(name: str, value: Value, arithmetic: Arithmetic, span: Span) -> Value:
    """Return what a classification says: of the magnitude, or of the sign."""
    type_ = value.type if isinstance(value.type, FloatType) else FLOAT64
    value = arithmetic.convert(value, type_)

    def compared(op: BinaryOp, left: Value, right: int) -> Value:
        return arithmetic.binary(op, left, literal(right, type_, span), span)

    if "isnan" in name:
        return arithmetic.binary("ne", value, value, span)
    if "signbit" in name:
        bits = arithmetic.reinterpreted(value, IntType(type_.width_bits, False))
        count = literal(type_.width_bits - 1, INT32, span)
        sign = arithmetic.binary("shr", bits, count, span)
        return arithmetic.convert(sign, INT32)
    magnitude = arithmetic.floating("abs", [value], type_, span)
    if "isinf" in name:
        return compared("eq", magnitude, type_.infinity)
    is_finite = compared("lt", magnitude, type_.infinity)
    if "isfinite" in name:
        return is_finite
    is_normal = compared("ge", magnitude, 1 << type_.fraction_bits)
    return arithmetic.logical("and", is_normal, is_finite, span)


MAX_NODES = 2000
"""Largest expression that is put in place of a call."""


class NotAnExpression(Exception):
    """A function does something that cannot be written as one expression of sensible size."""


class PureCall:
    """One evaluation of a pure function, its parameters bound in the innermost scope."""

    def __init__(self, reader: ExpressionReader, scopes: Scopes, types: TypeReader) -> None:
        self._reader = reader
        self._scopes = scopes
        self._types = types
        self._slots: list[Slot] = []

    def bind(self, name: str, type_: NumberType, value: Value | None, span: Span) -> None:
        """Declare a scalar."""
        if value is not None:
            value = self._reader.arithmetic.convert(value, type_)
        slot = Slot(name, type_, span, value)
        self._slots.append(slot)
        self._scopes.declare(name, slot)

    def run(self, items: Sequence[c_ast.Node], result: NumberType) -> Value | None:
        """Return what the statements return, or None where they end without `return`.

        Raises
        ------
        FrontendError: an expression is not supported.
        NotAnExpression: the function has to be read as statements.
        """
        for k, item in enumerate(items):
            rest = items[k + 1 :]
            match item:
                case c_ast.Return():
                    if item.expr is None:
                        raise NotAnExpression
                    value = self._reader.value(item.expr)
                    return _of_size(self._reader.arithmetic.convert(value, result))
                case c_ast.Compound():
                    return self.run([*(item.block_items or ()), *rest], result)
                case c_ast.If() if any(isinstance(node, c_ast.Return) for node in below(item)):
                    return self._either(item, rest, result)
                case c_ast.If():
                    self._both(item, result)
                case Assumption():
                    told = self._reader.asserted(item.condition)
                    with self._reader.believing(() if told is None else (told,)):
                        return self.run(rest, result)
                case c_ast.EmptyStatement():
                    pass
                case _:
                    self._assign(item)
        return None

    def _either(
        self, item: c_ast.If, rest: Sequence[c_ast.Node], result: NumberType
    ) -> Value | None:
        condition = self._reader.value(item.cond)
        before = self._values()
        with self._reader.conditionally(condition):
            chosen = self.run([item.iftrue, *rest], result)
        self._restore(before)
        with self._reader.conditionally(condition, is_met=False):
            otherwise = self.run([*([item.iffalse] if item.iffalse else []), *rest], result)
        if chosen is None or otherwise is None:
            raise NotAnExpression
        return _of_size(self._select(condition, chosen, otherwise, result, chosen.span))

    def _both(self, item: c_ast.If, result: NumberType) -> None:
        """Carry out both branches of an `if` that does not return, and choose what they set."""
        condition = self._reader.value(item.cond)
        before = self._values()
        with self._reader.conditionally(condition):
            self.run([item.iftrue], result)
        after = self._values()
        self._restore(before)
        if item.iffalse is not None:
            with self._reader.conditionally(condition, is_met=False):
                self.run([item.iffalse], result)
        for slot, value in zip(self._slots, after, strict=False):
            if slot.value is None:
                slot.value = value
            elif value is not None and value is not slot.value:
                chosen = self._select(condition, value, slot.value, slot.type, slot.span)
                slot.value = _of_size(chosen)

    def _select(
        self, condition: Value, chosen: Value, otherwise: Value, type_: NumberType, span: Span
    ) -> Value:
        arithmetic = self._reader.arithmetic
        return arithmetic.convert(arithmetic.select(condition, chosen, otherwise, span), type_)

    def _assign(self, item: c_ast.Node) -> None:
        """Carry out a declaration or assignment."""
        arithmetic = self._reader.arithmetic
        match item:
            case c_ast.Decl():
                span = self._reader.span(item)
                value = self._reader.value(item.init) if item.init is not None else None
                type_ = self._types.read(item, span).element
                if type_ is None:
                    raise NotAnExpression
                self.bind(item.name, type_, value, span)
                return
            case c_ast.Assignment(op="="):
                value = self._reader.value(item.rvalue)
            case c_ast.Assignment() if item.op in ASSIGNMENT_OPS:
                value = arithmetic.binary(
                    BINARY_OPS[item.op.removesuffix("=")],
                    self._reader.value(item.lvalue),
                    self._reader.value(item.rvalue),
                    self._reader.span(item),
                )
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                span = self._reader.span(item)
                op: BinaryOp = "add" if "+" in item.op else "sub"
                one = literal(1, INT32, span)
                value = arithmetic.binary(op, self._reader.value(item.expr), one, span)
            case _:
                raise NotAnExpression
        target = item.lvalue if isinstance(item, c_ast.Assignment) else item.expr
        slot = self._scopes.lookup(target.name)
        if not isinstance(slot, Slot):
            raise NotAnExpression
        slot.value = _of_size(arithmetic.convert(value, slot.type))

    def _values(self) -> list[Value | None]:
        return [slot.value for slot in self._slots]

    def _restore(self, values: Sequence[Value | None]) -> None:
        for slot, value in zip(self._slots, values, strict=False):
            slot.value = value


def _of_size(value: Value) -> Value:
    """Return the value if its expression is not too large."""
    if len(list(islice(walk(value.expr), MAX_NODES))) >= MAX_NODES:
        raise NotAnExpression
    return value
