"""Types that a program leaves to be found: `typeof`, `auto`, and `sizeof` of any expression.

Rewrite
-------
    typeof(a[0]) t;                short t;                                   short a[8]
    auto s = a[0] * 2L;            long s = a[0] * 2L;
    sizeof(a[0] + 1)               sizeof(int)
    sizeof(short[3])               (3 * sizeof(short))
"""

from __future__ import annotations

from copy import copy

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedType
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.lowering.expression_types import ExpressionTypes, unqualified

_WORDS = frozenset(("typeof", "typeof_unqual", "auto", "sizeof"))
_POINTER_BYTES = "8UL"
_FLOATING_BYTES = {("float",): "4UL", ("double",): "8UL", ("long", "double"): "16UL"}


def find_types(tree: c_ast.FileAST, locator: Locator, words: frozenset[str]) -> None:
    """Rewrite a file in place.

    Parameters
    ----------
    words: the tokens of the program.

    Raises
    ------
    UnsupportedType: the type of an expression cannot be found.
    """
    if _WORDS & words:
        _Finder(locator).visit(tree)


class _Finder:
    """Follows the declarations of a file, in order."""

    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._types = ExpressionTypes()

    def visit(self, node: c_ast.Node) -> None:
        """Rewrite what is below a node, and declare what it declares."""
        match node:
            case c_ast.Compound() | c_ast.For():
                with self._types.block():
                    self._children(node)
            case c_ast.FuncDef():
                self._function(node)
            case c_ast.Decl() if isinstance(getattr(node.type, "type", None), c_ast.InferredType):
                # Its name stands for nothing yet in its value.
                self.visit(node.init)
                node.init = self._settled(node.init)
                self._infer(node)
            case c_ast.Decl() | c_ast.Typedef():
                self._declaration(node)
            case c_ast.FuncDecl():
                with self._types.block():
                    self._children(node)
            case c_ast.Enumerator():
                self._children(node)
                self._types.enumeration_constant(node.name)
            case c_ast.Struct() | c_ast.Union():
                with self._types.block():
                    self._children(node)
                self._types.declare_members(node)
            case _:
                self._children(node)

    def _children(self, node: c_ast.Node) -> None:
        """Rewrite what is below a node, then types and sizes among its fields."""
        for _, child in node.children():
            self.visit(child)
        for field in node.__slots__:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [self._settled(part) for part in value]
            elif isinstance(value, c_ast.Node):
                setattr(node, field, self._settled(value))

    def _settled(self, part: object) -> object:
        """Return what stands in place of a part of a node."""
        match part:
            case c_ast.TypeDecl(type=c_ast.TypeOf() as asked):
                return self._found(asked, part)
            case c_ast.UnaryOp(op="sizeof"):
                return self._size(part)
        return part

    def _function(self, node: c_ast.FuncDef) -> None:
        self.visit(node.decl)
        with self._types.block():
            arguments = getattr(node.decl.type, "args", None)
            for parameter in arguments.params if arguments is not None else ():
                if isinstance(parameter, c_ast.Decl) and parameter.name is not None:
                    self._types.declare_parameter(parameter.name, parameter.type)
            for declared in node.param_decls or ():
                self.visit(declared)
                self._types.declare_parameter(declared.name, declared.type)
            self.visit(node.body)

    def _declaration(self, node: c_ast.Decl | c_ast.Typedef) -> None:
        self.visit(node.type)
        node.type = self._settled(node.type)
        if node.name is not None:
            is_type = isinstance(node, c_ast.Typedef)
            declare = self._types.declare_type if is_type else self._types.declare
            declare(node.name, node.type)
        if isinstance(node, c_ast.Decl):
            for field in ("init", "bitsize"):
                value = getattr(node, field)
                if value is not None:
                    self.visit(value)
                    setattr(node, field, self._settled(value))

    def _infer(self, node: c_ast.Decl) -> None:
        """Give a variable the type of its value."""
        type_ = self._types.value_of(node.init)
        if type_ is None:
            raise self._not_known(node.init)
        node.type = _placed(type_, node.type, list(node.quals))
        node.storage = [word for word in node.storage if word != "auto"]
        self._types.declare(node.name, node.type)

    def _found(self, asked: c_ast.TypeOf, declared: c_ast.TypeDecl) -> c_ast.Node:
        """Return the type that `typeof` names, around the name that has it."""
        named = isinstance(asked.expr, c_ast.Typename)
        type_ = asked.expr.type if named else self._types.of(asked.expr)
        if type_ is None:
            raise self._not_known(asked.expr)
        if asked.op == "typeof_unqual":
            type_ = unqualified(self._types.resolved(type_))
        return _placed(type_, declared, list(declared.quals))

    def _size(self, node: c_ast.UnaryOp) -> c_ast.Node:
        """Return a size that the reader of expressions knows, or the node itself."""
        inner, at = node.expr, node.coord
        if isinstance(inner, c_ast.ID | c_ast.ArrayRef) or (
            isinstance(inner, c_ast.UnaryOp) and inner.op == "*"
        ):
            return node
        named = isinstance(inner, c_ast.Typename)
        type_ = inner.type if named else self._types.of(inner)
        if type_ is None:
            return node
        type_ = self._types.resolved(type_)
        match type_:
            case c_ast.PtrDecl():
                return c_ast.Constant("unsigned long int", _POINTER_BYTES, at)
            case c_ast.ArrayDecl(dim=c_ast.Node() as extent):
                size = self._size(c_ast.UnaryOp("sizeof", _typename(type_.type, at), at))
                return c_ast.BinaryOp("*", extent, size, at)
        number = self._types.number_of(type_)
        if isinstance(number, tuple):
            return c_ast.Constant("unsigned long int", _FLOATING_BYTES[number], at)
        return node if named else c_ast.UnaryOp("sizeof", _typename(type_, at), at)

    def _not_known(self, node: c_ast.Node) -> UnsupportedType:
        return UnsupportedType(
            "the type of this expression is not known",
            labels=(Label(self._locator.span(node)),),
            help="write the type itself",
        )


def _typename(type_: c_ast.Node, at: c_ast.Coord) -> c_ast.Typename:
    return c_ast.Typename(None, [], None, _moved(type_, at), at)


def _placed(type_: c_ast.Node, declared: c_ast.TypeDecl, quals: list[str]) -> c_ast.Node:
    """Return a type around the name that is declared with it, and its qualifiers."""
    moved = inner = _moved(type_, declared.coord)
    while not isinstance(inner, c_ast.TypeDecl):
        inner = inner.type
    inner.declname = declared.declname
    # Those of an array are those of its elements (C11 6.7.3); those of a pointer are its own.
    pointer = moved if isinstance(moved, c_ast.PtrDecl) else inner
    pointer.quals = [*pointer.quals, *(word for word in quals if word not in pointer.quals)]
    return moved


def _moved(type_: c_ast.Node, at: c_ast.Coord) -> c_ast.Node:
    """Return a copy of a type, all of it at one place: where it is used."""
    copied = copy(type_)
    for field in _fields(type_):
        setattr(copied, field, _part(getattr(type_, field), at))
    copied.coord = at
    if isinstance(copied, c_ast.Struct | c_ast.Union) and copied.name is not None:
        # Declared once is enough.
        copied.decls = None
    if isinstance(copied, c_ast.Enum) and copied.name is not None:
        copied.values = None
    return copied


def _part(value: object, at: c_ast.Coord) -> object:
    if isinstance(value, c_ast.Node):
        return _moved(value, at)
    return [_part(each, at) for each in value] if isinstance(value, list) else value


def _fields(node: c_ast.Node) -> list[str]:
    return [field for field in node.__slots__ if field not in ("coord", "__weakref__")]
