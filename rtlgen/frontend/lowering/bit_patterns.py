"""Floating-point numbers and integers of one size as each other's bits.

Rewrite
-------
    k = *(int *)&x;                     k = (int)__float_as_uint(x);
    *(unsigned *)&y = k;                y = __uint_as_float(k);
    memcpy(&u, &a[i], sizeof u);        u = __float_as_uint(a[i]);

Through a pointer, C leaves it undefined (C11 6.5, 7); what is meant is what `memcpy` and unions do.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import copied, has_effect
from rtlgen.frontend.lowering.part_rewriter import PartRewriter
from rtlgen.frontend.lowering.types import (
    Number,
    PointerTo,
    Type,
    cast,
    element_of,
    number_type,
    plain,
)

_TO_BITS = {32: "__float_as_uint", 64: "__double_as_ulong", 16: "__half_as_ushort"}
_OF_BITS = {32: "__uint_as_float", 64: "__ulong_as_double", 16: "__ushort_as_half"}


def are_alike(a: Number | None, b: Number | None) -> bool:
    """Return whether numbers of two types have the same bits in them, and one of them is a float.

    There are no patterns of `__bf16`, which no function of C's library takes apart.
    """
    if a is None or b is None or a.is_bool or b.is_bool or a.is_short or b.is_short:
        return False
    is_one = a.is_floating != b.is_floating
    return is_one and a.bits == b.bits == a.bytes * 8 and a.bits in _TO_BITS


def reinterpreted(value: c_ast.Node, of: Number, to: Number) -> c_ast.Node:
    """Return the number of type `to` whose bits are those of a value of type `of`."""
    at = value.coord
    if of.is_floating == to.is_floating:
        return cast(plain(to), value)
    # The functions take and return unsigned integers.
    name = (_TO_BITS if of.is_floating else _OF_BITS)[of.bits]
    given = value if of.is_floating else cast(plain(replace(of, is_signed=False)), value)
    call = c_ast.FuncCall(c_ast.ID(name, at), c_ast.ExprList([given], at), at)
    return cast(plain(to), call)


def take_patterns(tree: c_ast.FileAST) -> None:
    """Rewrite a file in place."""
    _Patterns().visit(tree)


class _Patterns(PartRewriter):
    def visit(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Assignment) and self._seen_as(node.lvalue) is not None:
            self.visit(node.rvalue)
            self._assignment(node)
        else:
            super().visit(node)

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        match part:
            case c_ast.UnaryOp(op="*"):
                seen = self._seen_as(part)
                if seen is not None:
                    place, own, other = seen
                    return reinterpreted(place, own, other)
            case c_ast.FuncCall(name=c_ast.ID(name="memcpy" | "memmove"), args=arguments):
                return self._copied(part, arguments.exprs if arguments is not None else [])
        return part

    def _seen_as(self, node: c_ast.Node) -> tuple[c_ast.Node, Number, Number] | None:
        """Return the place that is looked at as another type, its type, and that type."""
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.Cast(to_type=to, expr=pointer)):
                place = _pointed_to(pointer)
                other = number_type(element_of(self.names.read(to)))
                own = None if place is None else number_type(self.names.type_of(place))
                if place is not None and own is not None and other is not None:
                    return (place, own, other) if are_alike(own, other) else None
        return None

    def _assignment(self, node: c_ast.Assignment) -> None:
        """Let a place be set that is seen as another type."""
        seen = self._seen_as(node.lvalue)
        assert seen is not None
        place, own, other = seen
        value = node.rvalue
        if node.op != "=":
            if has_effect(place):
                return
            old = reinterpreted(copied(place), own, other)
            value = c_ast.BinaryOp(node.op.removesuffix("="), old, value, node.coord)
        node.lvalue, node.op = place, "="
        node.rvalue = reinterpreted(cast(plain(other), value), other, own)

    def _copied(self, call: c_ast.FuncCall, arguments: list[c_ast.Node]) -> c_ast.Node:
        """Return a copy of one number's bytes into another one as an assignment."""
        if len(arguments) != 3:
            return call
        places = [self._place(argument) for argument in arguments[:2]]
        numbers = [number_type(self.names.type_of(place)) for place in places]
        to, of = places
        target, source = numbers
        if to is None or of is None or target is None or source is None:
            return call
        if not are_alike(target, source) or self._size(arguments[2]) != target.bytes:
            return call
        return c_ast.Assignment("=", to, reinterpreted(of, source, target), call.coord)

    def _place(self, argument: c_ast.Node) -> c_ast.Node | None:
        """Return the number that a pointer points to."""
        place = _pointed_to(argument)
        if place is not None:
            return place
        pointed: Type | None = self.names.decayed(argument)
        if isinstance(pointed, PointerTo) and number_type(pointed.to) is not None:
            return c_ast.UnaryOp("*", argument, argument.coord)
        return None

    def _size(self, node: c_ast.Node) -> int | None:
        if isinstance(node, c_ast.UnaryOp) and node.op == "sizeof":
            inner = node.expr
            is_type = isinstance(inner, c_ast.Typename)
            type_ = self.names.read(inner) if is_type else self.names.type_of(inner)
            return self.names.size(type_)
        return self.names.constant(node)


def _pointed_to(node: c_ast.Node) -> c_ast.Node | None:
    """Return what `&` is taken of, whatever the pointer is converted to."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        place: c_ast.Node = node.expr
        return place
    return None
