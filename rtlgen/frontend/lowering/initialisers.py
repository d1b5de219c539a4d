"""Arrays without a name as arrays with one, and initial values between braces.

Rewrite
-------
    b[i] = (int[]){3, 1, 4}[k];          static const int literal[] = {3, 1, 4};
                                         b[i] = literal[k];
    f((int[]){x, 1});                    int literal[] = {x, 1}; f(literal);
    const char *s = "abc";               static const char text[] = "abc"; const char *s = text;
    y = (short){x};                      y = (short)x;
    int *t = calloc(n, sizeof *t);       int memory[n] = {0}; int *t = memory;

Constants that nobody can change are a table of the function. What is computed is set anew where the
statement stands; under a condition inside of a statement there is no such place.
"""

from __future__ import annotations

from collections.abc import Set

from pycparser import c_ast

from rtlgen.frontend.errors import InitialiserUnsupported, UnsupportedExpression
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import changed, integer, named, specified
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter, refusal
from rtlgen.frontend.lowering.types import (
    SIGNED_CHAR,
    ArrayOf,
    Plain,
    PointerTo,
    RecordType,
    Type,
    declaration,
    element_of,
    number_type,
    size_constant,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import NUMBERS, below, called_by, functions
from rtlgen.frontend.syntax.braces import NAMELESS, Braces, Parts, Way, is_string
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.text.constants import CHARACTER


def name_literals(tree: c_ast.FileAST, locator: Locator) -> Refused:
    """Rewrite all functions of a file in place.

    Returns
    -------
    Refused: arrays that would have to be set inside of an expression.
    """
    literals = _Literals(tree, locator)
    if any(
        isinstance(node, c_ast.CompoundLiteral) or _is_text(node) or called_by(node) in _ALLOCATING
        for node in below(tree)
    ):
        literals.file()
    return literals.refused


_ALLOCATING = frozenset(("alloca", "__builtin_alloca", "calloc", "malloc"))


class _Literals(Rewriter):
    """Gives arrays names."""

    refusing = UnsupportedExpression

    def __init__(self, tree: c_ast.FileAST, locator: Locator) -> None:
        super().__init__(tree, locator)
        self._defined = functions(tree).keys()
        operands = (part for node in below(tree) for part in _pointers_of(node, self._defined))
        self._texts = {id(part) for part in operands if _is_text(part)}
        self._changed = {id(part) for node in below(tree) for part in _changed_by(node)}
        self._tables: list[c_ast.Node] = []

    def leave(self, node: c_ast.FuncDef) -> None:
        """Put the tables of a function at its start."""
        node.body.block_items = [*self._tables, *node.body.block_items]
        self._tables = []

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        """Leave what stands outside of functions where it is."""
        if self.names.is_outermost:
            self.names.declare(node)
            return [node]
        made: list[c_ast.Node] = []
        if isinstance(node, c_ast.Decl) and node.init is not None:
            # Its own name may stand in the size.
            type_ = self.names.declare(node).type
            node.init = self._allocated(node.init, type_, made)
        return [*made, *super().declaration(node)]

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the statements in place of an expression that is one."""
        if isinstance(node, c_ast.ExprList):
            return [part for each in node.exprs for part in self.effect(each)]
        made: list[c_ast.Node] = []
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            type_ = self.names.type_of(node.lvalue)
            node.rvalue = self._allocated(node.rvalue, type_, made)
        return [*made, *super().effect(node)]

    def _allocated(
        self, value: c_ast.Node, type_: Type | None, before: list[c_ast.Node]
    ) -> c_ast.Node:
        """Return the array that a pointer is set to which is given fresh memory, or the value."""
        call = value
        while isinstance(call, c_ast.Cast):
            call = call.expr
        name = called_by(call)
        if name not in _ALLOCATING or name in self._defined or not isinstance(type_, PointerTo):
            return value
        at, sizes = call.coord, [*call.args.exprs] if call.args is not None else []
        one = self.names.size(type_.to)
        if not one or len(sizes) != (2 if name == "calloc" else 1):
            return value
        bytes_ = sizes[0] if len(sizes) == 1 else c_ast.BinaryOp("*", *sizes, at)
        extent = c_ast.BinaryOp("/", bytes_, size_constant(one, at), at)
        known = self.names.constant(extent)
        extent = extent if known is None else integer(known, at)
        init = c_ast.InitList([integer(0, at)], at) if name == "calloc" else None
        return self.kept("memory", ArrayOf(unqualified(type_.to), extent), init, at, before)

    def listed(self, node: c_ast.Node) -> c_ast.Node:
        """Return a part of a header, in which nothing can be declared."""
        return self.expression(node, None)

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return what stands in place of an expression."""
        match node:
            case c_ast.ExprList(exprs=[first, *others]):
                # What stands behind a comma comes after what stands before it.
                others = [self.expression(part, None) for part in others]
                node.exprs = [self.expression(first, before), *others]
                return node
            case c_ast.ArrayRef(name=c_ast.CompoundLiteral() | c_ast.Constant() as array):
                node.subscript = self.expression(node.subscript, before)
                if _is_text(array):
                    node.name = self._text(array)
                elif _is_array(array):
                    is_read = id(array) not in self._changed
                    node.name = self._array(array, before, is_read=is_read)
                return node
            case c_ast.UnaryOp(op="&", expr=c_ast.CompoundLiteral() as value) if _is_number(value):
                return self._array(_as_array(value), before, is_read=False)
            case c_ast.CompoundLiteral() if _is_array(node):
                return self._array(node, before, is_read=False)
            case c_ast.CompoundLiteral() if _is_number(node):
                value = self.expression(_only(node.init) or node.init, before)
                return c_ast.Cast(node.type, value, node.coord)
            case c_ast.Constant() if id(node) in self._texts:
                return self._text(node)
        return self.inside(node, before)

    def _array(self, node: c_ast.CompoundLiteral, before: Before, *, is_read: bool) -> c_ast.Node:
        """Declare the array that a compound literal is, and return its name.

        Parameters
        ----------
        is_read: nothing of it is changed.
        """
        node.init = self.expression(node.init, before)
        inner = specified(node.type.type)
        is_const = is_read or "const" in inner.quals
        is_table = is_const and _is_constant(node.init) and _is_spelled(inner)
        if not is_table and before is None:
            message = "a compound literal here would be set inside of an expression"
            remedy = "declare an array above the statement, and use it here"
            raise self._refused(message, node, remedy, "")
        name = self.fresh("literal")
        inner.declname = name
        if is_table and "const" not in inner.quals:
            inner.quals = [*inner.quals, "const"]
        storage = ["static"] if is_table else []
        declared = c_ast.Decl(
            name, list(inner.quals), [], storage, [], node.type.type, node.init, None, node.coord
        )
        take_count(declared, self.names.read(declared), self.names, self._locator)
        if is_table or before is None:
            self._tables.append(declared)
        else:
            before.append(declared)
        return named(name, node.coord)

    def _text(self, node: c_ast.Constant) -> c_ast.Node:
        """Declare the array that a string is, and return its name."""
        at, name = node.coord, self.fresh("text")
        type_ = ArrayOf(Plain(("char",), ("const",), SIGNED_CHAR), None)
        declared = declaration(name, type_, node, at, ("const",), ("static",))
        take_count(declared, type_, self.names, self._locator)
        self._tables.append(declared)
        return named(name, at)


def _is_text(node: c_ast.Node | None) -> bool:
    return is_string(node) and node is not None and node.value.startswith('"')


def _pointers_of(node: c_ast.Node, defined: Set[str]) -> list[c_ast.Node]:
    """Return the operands of a node that stand for pointers where they are texts.

    Parameters
    ----------
    defined: functions of the file; what others do with a text is not read.
    """
    match node:
        case c_ast.Cast(to_type=c_ast.Typename(type=c_ast.PtrDecl()), expr=inner):
            return [inner]
        case c_ast.UnaryOp(op="*", expr=inner) | c_ast.Decl(type=c_ast.PtrDecl(), init=inner):
            return [inner]
        case c_ast.Decl(
            type=c_ast.ArrayDecl(type=c_ast.PtrDecl()), init=c_ast.InitList(exprs=parts)
        ):
            return [x.expr if isinstance(x, c_ast.NamedInitializer) else x for x in parts]
        case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
            return [left, right]
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(), rvalue=value):
            return [value]
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=arguments)):
            return list(arguments) if name in defined else []
    return []


def _is_array(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.CompoundLiteral) and isinstance(node.type.type, c_ast.ArrayDecl)


def _is_number(node: c_ast.CompoundLiteral) -> bool:
    type_ = node.type.type
    is_plain = isinstance(type_, c_ast.TypeDecl) and _is_spelled(type_)
    return is_plain and _only(node.init) is not None


def _is_spelled(type_: c_ast.TypeDecl) -> bool:
    """Return whether a type means the same everywhere."""
    return isinstance(type_.type, c_ast.IdentifierType) and set(type_.type.names) <= NUMBERS


def _only(values: c_ast.Node) -> c_ast.Node | None:
    """Return the one value in braces."""
    exprs = list(values.exprs or ()) if isinstance(values, c_ast.InitList) else []
    inner = exprs[0] if len(exprs) == 1 else None
    return None if isinstance(inner, c_ast.InitList | c_ast.NamedInitializer) else inner


def _as_array(node: c_ast.CompoundLiteral) -> c_ast.CompoundLiteral:
    """Return a number without a name as an array of one."""
    one = integer(1, node.coord)
    node.type.type = c_ast.ArrayDecl(node.type.type, one, [], node.coord)
    return node


def _is_constant(values: c_ast.Node) -> bool:
    """Return whether initial values are the same wherever they stand."""
    signs = ("+", "-", "~")
    return all(
        isinstance(
            part, c_ast.InitList | c_ast.Constant | c_ast.NamedInitializer | c_ast.ArrayDesignator
        )
        or (isinstance(part, c_ast.UnaryOp) and part.op in signs)
        for part in below(values)
    )


def _changed_by(node: c_ast.Node) -> list[c_ast.Node]:
    """Return what a node changes, or takes the address of, down to the array itself."""
    target = changed(node, "&")
    found = [] if target is None else [target]
    while found and isinstance(found[-1], c_ast.ArrayRef):
        found.append(found[-1].name)
    return found


class Initialiser(Braces):
    """The values of one pair of braces, of a type as the program has it."""

    def __init__(self, names: Names, locator: Locator, type_: Type, node: c_ast.InitList) -> None:
        self._names = names
        self._locator = locator
        super().__init__(self._parts_of(type_), node)
        # Who looks for members does not care which nameless ones they are in.
        self.values = {_plain(way): value for way, value in self.values.items()}

    def below(self, way: Way) -> dict[Way, c_ast.Node]:
        """Return the values of the parts of something, by their ways from there."""
        return {k[len(way) :]: v for k, v in self.values.items() if k[: len(way)] == way}

    def around(self, way: Way) -> tuple[Way, c_ast.Node] | None:
        """Return the value of the whole that a part belongs to, and the way to the whole."""
        for end in range(len(way), -1, -1):
            if way[:end] in self.values:
                return way[:end], self.values[way[:end]]
        return None

    def _parts_of(self, type_: Type) -> Parts | None:
        """Return what has values of its own in something; padding has none."""
        match type_:
            case ArrayOf(of=of, extent=extent):
                count = self._names.constant(extent)
                if extent is not None and count is None:
                    raise self.refused("the size of an array is not known", extent)
                return Parts(self._parts_of(of), count)
            case RecordType(record=record):
                members = {
                    member.name or f"{NAMELESS}{place}": self._parts_of(member.type)
                    for place, member in enumerate(record.members or ())
                    if member.name is not None or isinstance(member.type, RecordType)
                }
                is_union = record.keyword == "union"
                return Parts(members=members, is_union=is_union, record=record)
        return None

    def place(self, expr: c_ast.Node, extent: int | None) -> int:
        """Return the number of the element that a designator names."""
        place = self._names.constant(expr)
        if place is None or place < 0:
            raise self.refused("a designator is no known number", expr)
        return place

    def record_of(self, value: c_ast.Node) -> object:
        """Return which structure an expression is; None if it is none."""
        type_ = self._names.type_of(value)
        return type_.record if isinstance(type_, RecordType) else None

    def refused(self, message: str, node: c_ast.Node) -> InitialiserUnsupported:
        """Return what is wrong, and where."""
        remedy = "give each member its value, in braces of its own"
        return refusal(InitialiserUnsupported, message, self._locator, node, remedy)


def take_count(node: c_ast.Decl, type_: Type, names: Names, locator: Locator) -> None:
    """Give an array without an extent as many elements as it is given values."""
    if not isinstance(node.type, c_ast.ArrayDecl) or node.type.dim is not None:
        return
    exprs = node.init.exprs if isinstance(node.init, c_ast.InitList) else None
    text = exprs[0] if exprs is not None and len(exprs) == 1 else node.init
    count = 0
    if is_string(text) and number_type(element_of(type_)) is not None:
        count = len(CHARACTER.findall(text.value[1:-1])) + 1
    elif exprs is not None:
        try:
            count = Initialiser(names, locator, type_, node.init).count
        except InitialiserUnsupported:
            # It is refused when it is read in its turn.
            count = 0
    node.type.dim = integer(max(1, count), node.init.coord or node.coord)


def _plain(way: Way) -> Way:
    return tuple(step for step in way if not str(step).startswith(NAMELESS))
