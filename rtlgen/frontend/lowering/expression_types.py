"""The C types of expressions, found from declarations without reading what they compute.

A type is what a declaration has of it in the syntax tree: `int[8]` is an `ArrayDecl` around a
`TypeDecl`, whatever name stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.constants import WIDE_CHARACTERS, integer_constant
from rtlgen.frontend.types import integer_type
from rtlgen.ir.types import INT32, IntType, common_type

_FLOATING = (("float",), ("double",), ("long", "double"))
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_WORDS = {8: "char", 16: "short", 32: "int", 64: "long"}

Number: TypeAlias = IntType | tuple[str, ...]
"""An integer type, or the words of a floating-point type."""


class ExpressionTypes:
    """The names in sight, and the types of expressions of them."""

    def __init__(self) -> None:
        self._names: list[dict[str, c_ast.Node]] = [{}]
        self._typedefs: list[dict[str, c_ast.Node | None]] = [{}]
        self._members: dict[str, c_ast.Node] = {}

    @contextmanager
    def block(self) -> Iterator[None]:
        """Open a scope."""
        self._names.append({})
        self._typedefs.append({})
        try:
            yield
        finally:
            self._names.pop()
            self._typedefs.pop()

    def declare(self, name: str, type_: c_ast.Node) -> None:
        """Give a variable, function or enumeration constant its type."""
        self._names[-1][name] = type_
        self._typedefs[-1][name] = None

    def declare_parameter(self, name: str, type_: c_ast.Node) -> None:
        """Give a parameter its type: an array is a pointer (C11 6.7.6.3)."""
        self.declare(name, decayed(type_))

    def declare_type(self, name: str, type_: c_ast.Node) -> None:
        """Give a type another name."""
        self._typedefs[-1][name] = type_

    def declare_members(self, node: c_ast.Struct | c_ast.Union) -> None:
        """Note the members of a structure or union."""
        if node.name is not None and node.decls is not None:
            self._members[node.name] = node

    def enumeration_constant(self, name: str) -> None:
        """Declare a constant of an enumeration."""
        self.declare(name, number_type(INT32))

    def resolved(self, type_: c_ast.Node) -> c_ast.Node:
        """Return what a type is that may only be called by a name of a typedef."""
        while isinstance(type_, c_ast.TypeDecl) and isinstance(type_.type, c_ast.IdentifierType):
            (name, *more) = type_.type.names
            scopes = reversed(self._typedefs)
            known = next((scope[name] for scope in scopes if name in scope), None)
            if more or known is None:
                break
            type_ = known
        return type_

    def of(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return the type of an expression; None where it is not known."""
        match node:
            case c_ast.ID(name=name):
                scopes = reversed(self._names)
                return next((scope[name] for scope in scopes if name in scope), None)
            case c_ast.Constant():
                return _of_constant(node)
            case c_ast.Cast(to_type=c_ast.Typename(type=type_)):
                return type_
            case c_ast.CompoundLiteral(type=c_ast.Typename(type=type_)):
                return type_
            case c_ast.ArrayRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
                return self._pointed_to(inner)
            case c_ast.UnaryOp():
                return self._of_unary(node)
            case c_ast.Assignment(lvalue=target):
                return self.of(target)
            case c_ast.BinaryOp():
                return self._of_binary(node)
            case c_ast.TernaryOp(iftrue=first, iffalse=second):
                return self._common(first, second) or self._value(first)
            case c_ast.ExprList(exprs=[*_, last]):
                return self._value(last)
            case c_ast.FuncCall(name=called):
                function = self.of(called)
                return function.type if isinstance(function, c_ast.FuncDecl) else None
            case c_ast.StructRef():
                return self._of_member(node)
        return None

    def value_of(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return the type of what an expression has for a value: no array, no qualifiers."""
        return self._value(node)

    def _value(self, node: c_ast.Node) -> c_ast.Node | None:
        type_ = self.of(node)
        return None if type_ is None else unqualified(decayed(self.resolved(type_)))

    def _pointed_to(self, node: c_ast.Node) -> c_ast.Node | None:
        type_ = self._value(node)
        if type_ is None and isinstance(node, c_ast.BinaryOp):
            return None
        inner = type_.type if isinstance(type_, c_ast.PtrDecl) else None
        return inner if isinstance(inner, c_ast.Node) else None

    def _of_unary(self, node: c_ast.UnaryOp) -> c_ast.Node | None:
        match node.op:
            case "!":
                return number_type(INT32)
            case "sizeof" | "_Alignof":
                return number_type(IntType(64, False))
            case "&":
                inner = self.of(node.expr)
                return None if inner is None else c_ast.PtrDecl([], inner)
            case "+" | "-" | "~":
                return self._promoted(node.expr)
        return self._value(node.expr)

    def _of_binary(self, node: c_ast.BinaryOp) -> c_ast.Node | None:
        if node.op in _COMPARISONS:
            return number_type(INT32)
        if node.op in ("<<", ">>"):
            return self._promoted(node.left)
        sides = [self._value(node.left), self._value(node.right)]
        pointers = [side for side in sides if isinstance(side, c_ast.PtrDecl)]
        if pointers and None not in sides:
            return number_type(IntType(64, True)) if len(pointers) > 1 else pointers[0]
        return self._common(node.left, node.right)

    def _promoted(self, node: c_ast.Node) -> c_ast.Node | None:
        number = self.number(node)
        if number is None:
            return None
        return number_type(number.promoted if isinstance(number, IntType) else number)

    def _common(self, first: c_ast.Node, second: c_ast.Node) -> c_ast.Node | None:
        """Return the type that the usual arithmetic conversions give (C11 6.3.1.8)."""
        numbers = [self.number(first), self.number(second)]
        left, right = numbers
        if left is None or right is None:
            return None
        if isinstance(left, IntType) and isinstance(right, IntType):
            return number_type(common_type(left, right))
        floating = [number for number in (left, right) if not isinstance(number, IntType)]
        return number_type(max(floating, key=_FLOATING.index))

    def number(self, node: c_ast.Node) -> Number | None:
        """Return the type of a number; None if an expression is none, or nothing is known."""
        type_ = self._value(node)
        return None if type_ is None else self.number_of(type_)

    def number_of(self, type_: c_ast.Node) -> Number | None:
        """Return which number a type is; None if it is none."""
        resolved = self.resolved(type_)
        match resolved.type if isinstance(resolved, c_ast.TypeDecl) else None:
            case c_ast.IdentifierType(names=names):
                words = tuple(sorted(names, key="long double".find))
                return words if words in _FLOATING else integer_type(names)
            case c_ast.Enum():
                # What gcc takes where no constant is negative.
                return IntType(32, False)
        return None

    def _of_member(self, node: c_ast.StructRef) -> c_ast.Node | None:
        outer = self._pointed_to(node.name) if node.type == "->" else self.of(node.name)
        outer = None if outer is None else self.resolved(outer)
        inner = outer.type if isinstance(outer, c_ast.TypeDecl) else None
        if isinstance(inner, c_ast.Struct | c_ast.Union) and inner.decls is None:
            inner = self._members.get(inner.name)
        members = inner.decls if isinstance(inner, c_ast.Struct | c_ast.Union) else None
        found = (member.type for member in members or () if member.name == node.field.name)
        return next(found, None)


def decayed(type_: c_ast.Node) -> c_ast.Node:
    """Return a type as a value has it: an array is a pointer to its first element."""
    if isinstance(type_, c_ast.ArrayDecl):
        return c_ast.PtrDecl([], type_.type)
    return c_ast.PtrDecl([], type_) if isinstance(type_, c_ast.FuncDecl) else type_


def unqualified(type_: c_ast.Node) -> c_ast.Node:
    """Return a type without `const` and its like."""
    match type_:
        case c_ast.TypeDecl():
            return c_ast.TypeDecl(type_.declname, [], None, type_.type, type_.coord)
        case c_ast.PtrDecl():
            return c_ast.PtrDecl([], type_.type, type_.coord)
    return type_


def number_type(number: Number) -> c_ast.TypeDecl:
    """Return the type of a number as a declaration has it."""
    if isinstance(number, IntType):
        sign = "signed" if number.signed else "unsigned"
        words = ["_Bool"] if number.is_bool else [sign, _WORDS[number.width_bits]]
    else:
        words = list(number)
    return c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(words))


def _of_constant(node: c_ast.Constant) -> c_ast.Node | None:
    text: str = node.value
    if node.type in ("float", "double", "long double"):
        return number_type(tuple(node.type.split()))
    if node.type == "string":
        return c_ast.PtrDecl([], number_type(IntType(8, True))) if text[0] == '"' else None
    prefix, quote, _ = text.partition("'")
    if quote and not prefix:
        return number_type(INT32)
    if quote and prefix in WIDE_CHARACTERS:
        return number_type(WIDE_CHARACTERS[prefix])
    try:
        return number_type(integer_constant(text)[1])
    except ValueError:
        return None
