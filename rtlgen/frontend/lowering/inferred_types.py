"""Types that a program leaves to be found, and names that it gives to types and numbers.

Rewrite
-------
    typeof(a[0]) t;                short t;                                   short a[8]
    auto s = a[0] * 2L;            long s = a[0] * 2L;
    sizeof(a[0] + 1)               4UL
    sizeof(short[n])               (n * 2UL)
    void f(const void *a)          void f(const short *a)        f is the kernel
    { const short *p = a; }

    enum mode { IDLE, RUN = 4 };   const int IDLE = 0; const int RUN = 4;
    enum mode m;                   unsigned m;

    typedef short row[8];
    row a[2];                      short a[2][8];
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from rtlgen.frontend.errors import UnsupportedType
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import Place, copied, integer, map_children, statement_fields
from rtlgen.frontend.lowering.pointer_values import is_void, way_root
from rtlgen.frontend.lowering.rewriter import PartRewriter, refusal
from rtlgen.frontend.lowering.types import (
    INT,
    ArrayOf,
    PointerTo,
    Type,
    declaration,
    declarator,
    element_of,
    innermost,
    number_type,
    plain,
    qualified,
    rewrapped,
    size_constant,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below, functions
from rtlgen.frontend.syntax.locate import Locator, float_type
from rtlgen.frontend.syntax.region import parameters

_WORDS = frozenset(("typeof", "typeof_unqual", "auto", "sizeof"))


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


def take_seen_types(tree: c_ast.FileAST, kernel: str) -> None:
    """Let a `void *` that a kernel is given point to what it is seen as first."""
    names = Names()
    taken = {name: parameters(node) for name, node in functions(tree).items()}
    found: dict[int, Type | c_ast.Decl] = {}
    for function in tree.ext:
        for part in names.walk(function):
            for wanted, given, to in _conversions(part, names, taken):
                root = way_root(names, given) if isinstance(wanted, PointerTo) else None
                symbol = names.lookup(root.name) if isinstance(root, c_ast.ID) else None
                if symbol is not None and is_void(element_of(symbol.type)):
                    is_open = is_void(element_of(wanted))
                    if not is_open or to is not None:
                        found.setdefault(id(symbol.node), to if is_open and to else wanted)
    for parameter in taken.get(kernel, ()):
        type_ = names.read(parameter.type)
        seen: Type | c_ast.Decl | None = found.get(id(parameter))
        # Who hands it on sees it as the function does that takes it.
        for _ in found:
            seen = found.get(id(seen)) if isinstance(seen, c_ast.Decl) else seen
        if isinstance(type_, PointerTo) and isinstance(seen, PointerTo):
            inner = qualified(unqualified(seen.to), getattr(type_.to, "quals", ()))
            parameter.type = declarator(
                _in_words(PointerTo(inner, type_.quals)), parameter.name, parameter.type.coord
            )


def _conversions(
    node: c_ast.Node, names: Names, taken: Mapping[str, Sequence[c_ast.Decl]]
) -> Iterator[tuple[Type | None, c_ast.Node, c_ast.Decl | None]]:
    """Yield what is converted to another type: the type, the value, and the parameter it is for."""
    match node:
        case c_ast.Cast(to_type=to, expr=value):
            yield names.read(to), value, None
        case c_ast.Decl(init=c_ast.Node() as value):
            yield names.read(node.type), value, None
        case c_ast.Assignment(op="=", lvalue=target, rvalue=value):
            yield names.type_of(target), value, None
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=given)):
            for value, parameter in zip(given, taken.get(name, ()), strict=False):
                yield names.read(parameter.type), value, parameter


def number_enumerations(tree: c_ast.FileAST) -> None:
    """Rewrite the enumerations of a file in place: their constants, and what is of their types."""
    if any(isinstance(node, c_ast.Enum) for node in below(tree)):
        _Numberer().visit(tree)


class _Numberer(PartRewriter):
    def __init__(self) -> None:
        super().__init__()
        self._made: set[int] = set()

    def visit(self, node: c_ast.Node) -> None:
        for items in _listed(node):
            made = [(item, list(_constants(item))) for item in items]
            self._made |= {id(each) for _, constants in made for each in constants}
            items[:] = [part for item, constants in made for part in (*constants, item)]
        super().visit(node)
        for items in _listed(node):
            items[:] = [x for x in items if not isinstance(getattr(x, "type", None), c_ast.Enum)]

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        if isinstance(part, c_ast.TypeDecl) and isinstance(part.type, c_ast.Enum):
            number = number_type(self.names.read(part))
            if number is not None:
                part.type = c_ast.IdentifierType(list(number.words), part.type.coord)
        if isinstance(part, c_ast.TypeOf) and isinstance(part.expr, c_ast.ID):
            symbol = self.names.lookup(part.expr.name)
            if symbol is not None and id(symbol.node) in self._made:
                # It is a number, and not what a declaration makes constant.
                part.expr = c_ast.UnaryOp("+", part.expr, part.expr.coord)
        return part


def _listed(node: c_ast.Node) -> list[list[c_ast.Node]]:
    """Return the lists of declarations and statements that stand directly in a node."""
    names = ("ext",) if isinstance(node, c_ast.FileAST) else statement_fields(node)
    return [items for name in names if isinstance(items := getattr(node, name), list)]


def _constants(item: c_ast.Node) -> Iterator[c_ast.Decl]:
    """Yield what the enumerations that a declaration spells out name, each one more than before."""
    inside = below(item.type) if isinstance(item, c_ast.Decl | c_ast.Typedef) else ()
    spelled = [part for part in inside if isinstance(part, c_ast.Enum) and part.values is not None]
    for enum in sorted(spelled, key=lambda part: part.coord.line):
        given = enum.underlying_type
        before: c_ast.Node | None = None
        for each in enum.values.enumerators:
            at = each.coord
            value = each.value
            if value is None:
                one = integer(1, at)
                value = integer(0, at) if before is None else c_ast.BinaryOp("+", before, one, at)
            type_ = qualified(plain(INT), ("const",))
            made = declaration(each.name, type_, copied(value), at, ("const",))
            if given is not None:
                made.type.type = copied(given.type.type)
            yield made
            before = c_ast.ID(each.name, at)


def write_out_type_names(tree: c_ast.FileAST) -> None:
    """Rewrite a file in place: each type is spelled without a name that the program gives it."""
    _Speller().visit(tree)


class _Speller(PartRewriter):
    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        match part:
            case c_ast.TypeDecl(type=c_ast.IdentifierType(names=[name])):
                symbol = self.names.lookup(name)
                if symbol is not None and symbol.is_type and float_type([name]) is None:
                    type_ = _in_words(self.names.read(part))
                    return declarator(type_, part.declname, part.coord)
        return part


class _Finder(PartRewriter):
    def __init__(self, locator: Locator) -> None:
        super().__init__()
        self._locator = locator

    def visit(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Decl(type=c_ast.TypeDecl(type=c_ast.InferredType())):
                # Its name stands for nothing yet in its value.
                self.visit(node.init)
                node.init = self.rewritten(node.init)
                self._infer(node)
                self.names.declare(node)
            case c_ast.Decl() | c_ast.Typedef():
                self.visit(node.type)
                node.type = self.rewritten(node.type)
                super().visit(node)
            case _:
                super().visit(node)

    def children(self, node: c_ast.Node) -> None:
        is_declared = isinstance(node, c_ast.Decl | c_ast.Typedef)
        for name, child in node.children():
            if not (is_declared and name == "type"):
                self.visit(child)
        map_children(node, self.rewritten)

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        match part:
            case c_ast.TypeDecl(type=c_ast.TypeOf() as asked):
                if not isinstance(asked.expr, c_ast.Typename):
                    self._require(self.names.type_of(asked.expr), asked.expr)
                type_ = self.names.read(asked)
                type_ = unqualified(type_) if asked.op == "typeof_unqual" else type_
                whole = _in_words(qualified(type_, tuple(part.quals)))
                return declarator(whole, part.declname, part.coord)
            case c_ast.UnaryOp(op="sizeof"):
                return self._size(part)
        return part

    def _infer(self, node: c_ast.Decl) -> None:
        """Give a variable the type of its value."""
        type_ = self._require(self.names.value_type(node.init), node.init)
        whole = _in_words(qualified(type_, tuple(node.quals)))
        node.type = declarator(whole, node.name, node.type.coord)
        node.storage = [word for word in node.storage if word != "auto"]

    def _size(self, node: c_ast.UnaryOp) -> c_ast.Node:
        """Return the number that a size is; the node itself where an extent is not known here."""
        inner = node.expr
        is_named = isinstance(inner, c_ast.Typename)
        type_ = self.names.read(inner) if is_named else self.names.type_of(inner)
        symbol = self.names.lookup(inner.name) if isinstance(inner, c_ast.ID) else None
        if symbol is not None and symbol.is_parameter and isinstance(type_, PointerTo):
            # That of a pointer is not what is meant: it is refused.
            return node
        found = None if type_ is None else self._size_of(type_, is_named, node.coord)
        return node if found is None else self._locator.stand_in(found, node)

    def _size_of(self, type_: Type, is_named: bool, at: Place) -> c_ast.Node | None:
        """Return the size of a type; None if that is open.

        Parameters
        ----------
        is_named: extents are what stands there; those of a variable are what they were.
        """
        size = self.names.size(type_)
        if size is not None:
            return size_constant(size, at)
        if not (is_named and isinstance(type_, ArrayOf)) or type_.extent is None:
            return None
        inner = self._size_of(type_.of, is_named, at)
        return None if inner is None else c_ast.BinaryOp("*", type_.extent, inner, at)

    def _require(self, type_: Type | None, node: c_ast.Node) -> Type:
        if type_ is not None:
            return type_
        message, remedy = "the type of this expression is not known", "write the type itself"
        raise refusal(UnsupportedType, message, self._locator, node, remedy, "")


def _in_words(type_: Type) -> Type:
    """Return a type that means the same wherever it stands: the names of numbers may not."""
    inner = innermost(type_)
    number = number_type(inner)
    if number is None:
        return type_
    return rewrapped(type_, qualified(plain(number), getattr(inner, "quals", ())))
