"""Calls of functions that only compute: the call becomes the expression that it returns.

    int clamp(int x) { if (x < 0) x = 0; return x > 255 ? 255 : x; }
    b[i] = clamp(a[i]);         b[i] = (a[i] < 0 ? 0 : a[i]) > 255 ? 255 : (a[i] < 0 ? 0 : a[i]);

The function is carried out on expressions: both branches of an `if`, and a choice behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from pycparser import c_ast

from rtlgen.frontend.analysis.values import Value, literal
from rtlgen.frontend.reading.expressions import BINARY_OPS, ExpressionReader
from rtlgen.frontend.reading.symbols import Function, Scopes, Slot
from rtlgen.frontend.reading.type_reader import TypeReader
from rtlgen.frontend.reading.writes import ASSIGNMENT_OPS
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.assumption import Assumption
from rtlgen.ir.expr import BinaryOp, walk
from rtlgen.ir.types import INT32, NumberType
from rtlgen.source import Span

MAX_NODES = 2000
"""Largest expression that is put in place of a call."""


def keeps_state(root: c_ast.Node, scopes: Scopes) -> bool:
    """Return whether a function that is called below `root` has variables that outlive the call."""
    known: set[int] = set()
    pending = [root]
    while pending:
        for node in below(pending.pop()):
            name = node.name.name if _is_call(node) else None
            function = scopes.lookup(name) if name is not None else None
            body = function.definition if isinstance(function, Function) else None
            if body is not None and id(body) not in known:
                known.add(id(body))
                pending.append(body)
            is_static = isinstance(node, c_ast.Decl) and "static" in node.storage
            if known and is_static and "const" not in node.quals and _is_stored(node):
                return True
    return False


def _is_call(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)


def _is_stored(node: c_ast.Decl) -> bool:
    return not isinstance(node.type, c_ast.FuncDecl)


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
                case c_ast.DeclList():
                    return self.run([*item.decls, *rest], result)
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
        with self._reader.conditionally():
            chosen = self.run([item.iftrue, *rest], result)
            self._restore(before)
            otherwise = self.run([*([item.iffalse] if item.iffalse else []), *rest], result)
        if chosen is None or otherwise is None:
            raise NotAnExpression
        return _of_size(self._select(condition, chosen, otherwise, result, chosen.span))

    def _both(self, item: c_ast.If, result: NumberType) -> None:
        """Carry out both branches of an `if` that does not return, and choose what they set."""
        condition = self._reader.value(item.cond)
        before = self._values()
        with self._reader.conditionally():
            self.run([item.iftrue], result)
            after = self._values()
            self._restore(before)
            if item.iffalse is not None:
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
