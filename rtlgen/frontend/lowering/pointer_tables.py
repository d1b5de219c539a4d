"""Arrays of pointers become pointers, and pointers to pointers or functions what they are set to.

Rewrite
-------
    static int *const t[2] = {a, b};        in each function that uses it: int *t_0 = a, *t_1 = b;
    const struct job *j = m; s += j->n;     s += m->n;
    int *rows[2] = {a, b};                  int *rows_0 = a, *rows_1 = b;
    rows[k][i] = x;                         (k == 0 ? rows_0 : rows_1)[i] = x;
    rows[k] = c;                            if (k == 0) rows_0 = c; else rows_1 = c;
    int **p = &q; *(*p)++ = x;              *q++ = x;
    int (*f)(int) = g; y = f(x);            y = g(x);
    y = ops[k](x);                          y = k == 0 ? add(x) : sub(x);

So nobody else has to know of pointers to pointers. A pointer that is chosen is a matter of
`pointer_choices`; what is set to another place later, or handed over by the host, stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import FrontendError, PointerUnsupported
from rtlgen.frontend.lowering.initialisers import Initialiser
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import (
    block,
    changed,
    copied,
    has_effect,
    integer,
    is_set,
    named,
    replaced,
    with_parts,
    without,
)
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter
from rtlgen.frontend.lowering.types import (
    INT,
    ArrayOf,
    PointerTo,
    Record,
    RecordType,
    Returning,
    Type,
    declaration,
    plain,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below, declared, functions, mentioned
from rtlgen.frontend.syntax.braces import Way
from rtlgen.frontend.syntax.locate import Locator

MOST = 16
"""Pointers of an array that is taken apart."""


def take_in_pointers(tree: c_ast.FileAST) -> None:
    """Declare pointers of a file that nobody changes in the functions that use them, in place."""
    names = Names()
    found: dict[str, c_ast.Decl] = {}
    for node in tree.ext:
        if isinstance(node, c_ast.Decl) and _is_of_pointers(names.declare(node).type):
            if isinstance(node.init, c_ast.Node):
                found[node.name] = node
        elif isinstance(node, c_ast.FuncDef):
            names.declare(node.decl)
        elif isinstance(node, c_ast.Decl | c_ast.Typedef) and node.name not in found:
            names.declare(node)
    known = functions(tree).values()
    for function in known:
        _merge_copies(function, names)
    for name, node in found.items():
        users = [x for x in known if name in mentioned(x.body)]
        if any(is_set(x.body, name, _depth(names.read(node.type))) for x in users):
            continue
        around = mentioned(node.init) | {name}
        if any(around & declared(x.decl.type, x.body) for x in users):
            continue
        for function in users:
            made = copied(node)
            made.storage = []
            function.body.block_items.insert(0, made)
        tree.ext.remove(node)
    for function in known:
        for node in below(function.body):
            if isinstance(node, c_ast.Decl) and node.init is not None and "static" in node.storage:
                type_ = names.read(node.type)
                if _is_of_pointers(type_) and not is_set(function.body, node.name, _depth(type_)):
                    node.storage = []


def _merge_copies(function: c_ast.FuncDef, names: Names) -> None:
    """Take the name of a structure's pointer for copies of it, where nobody sets either."""
    parts = [x for x in below(function) if isinstance(x, c_ast.Decl) and x.name]
    count = Counter(x.name for x in parts)
    for node in parts:
        value = node.init
        while isinstance(value, c_ast.Cast):
            value = value.expr
        if not isinstance(node.type, c_ast.PtrDecl) or not isinstance(value, c_ast.ID):
            continue
        record = _pointed_record(names.read(node.type))
        sources = [x for x in parts if x.name == value.name]
        if record is None or count[node.name] > 1 or len(sources) != 1:
            continue
        if _pointed_record(names.read(sources[0].type)) is not record:
            continue
        if not any(is_set(function.body, name) for name in (node.name, value.name)):
            body = without([function.body], frozenset((id(node),)))
            function.body = replaced(body[0], {node.name: value})


def _pointed_record(type_: Type) -> Record | None:
    """Return the structure that a pointer points to."""
    inner = type_.to if isinstance(type_, PointerTo) else None
    return inner.record if isinstance(inner, RecordType) else None


def _is_of_pointers(type_: Type) -> bool:
    """Return whether something is a pointer, or an array of pointers."""
    inner = type_.of if isinstance(type_, ArrayOf) else type_
    return isinstance(inner, PointerTo)


def _depth(type_: Type) -> int:
    """Return how many subscripts lead to a pointer."""
    return int(isinstance(type_, ArrayOf))


def part_tables(tree: c_ast.FileAST, locator: Locator) -> Refused:
    """Rewrite all functions of a file in place.

    Returns
    -------
    Refused: arrays of pointers that cannot be taken apart.
    """
    parter = _Parter(tree, locator)
    if any(_is_table(node) for node in below(tree) if isinstance(node, c_ast.Decl)):
        parter.file()
    return parter.refused


def _is_table(node: c_ast.Decl) -> bool:
    """Return whether a declaration spells an array of pointers, or a pointer to a pointer."""
    inner = node.type.type if isinstance(node.type, c_ast.ArrayDecl | c_ast.PtrDecl) else None
    return isinstance(inner, c_ast.PtrDecl | c_ast.FuncDecl)


class _Parter(Rewriter):
    """Gives each pointer of an array a name."""

    refusing = PointerUnsupported

    def __init__(self, tree: c_ast.FileAST, locator: Locator) -> None:
        super().__init__(tree, locator)
        self._body: c_ast.Node = tree
        self._tables: dict[int, list[str]] = {}
        self._settled: dict[int, c_ast.Node] = {}

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        self._body = node.body
        return super().parameters(node)

    # Declarations.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        is_local = isinstance(node, c_ast.Decl) and not self.names.is_outermost
        type_ = self.names.read(node.type) if is_local and not node.storage else None
        if isinstance(type_, ArrayOf) and isinstance(type_.of, PointerTo):
            return self._parted(node, type_, type_.of)
        if isinstance(type_, PointerTo) and isinstance(type_.to, PointerTo | Returning):
            made: list[c_ast.Node] = []
            value = None if node.init is None else self._settling(node.init, made)
            if value is not None and not is_set(self._body, node.name):
                self._settled[id(self.names.declare(node).node)] = value
                return made
        return super().declaration(node)

    def _parted(self, node: c_ast.Decl, type_: ArrayOf, of: PointerTo) -> list[c_ast.Node]:
        """Return a declaration for each pointer of an array."""
        values: dict[Way, c_ast.Node] = {}
        count = self.names.constant(type_.extent)
        if isinstance(node.init, c_ast.InitList):
            values = Initialiser(self.names, self._locator, type_, node.init).values
        if count is None or not 0 < count <= MOST or any(len(way) != 1 for way in values):
            raise self._too_many(node)
        before: list[c_ast.Node] = []
        names = [self.fresh(f"{node.name}_{place}") for place in range(count)]
        self._tables[id(self.names.declare(node).node)] = names
        for place, name in enumerate(names):
            value = values.get((place,))
            value = None if value is None else self.expression(value, before)
            made = declaration(name, unqualified(of), value, node.coord)
            if isinstance(of.to, Returning) and value is not None:
                # It is no variable, but another name of the function.
                self._settled[id(made)] = _function(value)
            else:
                before.append(made)
            self.names.declare(made)
        return before

    def _settling(self, node: c_ast.Node, before: list[c_ast.Node]) -> c_ast.Node | None:
        """Return what stands for a pointer that is set to `node` alone; None if that may change."""
        node = self.expression(node, before)
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID()):
                return _function(node) if self._is_function(node.expr) else node
            case c_ast.ID() if self._table(node) is not None or self._is_function(node):
                return node
            case c_ast.TernaryOp(cond=condition):
                arms = [self._settling(x, before) for x in (node.iftrue, node.iffalse)]
                if any(arm is None for arm in arms):
                    return None
                chosen = self.kept("chosen", plain(INT), condition, node.coord, before)
                return c_ast.TernaryOp(chosen, *arms, node.coord)
        return None

    def _is_function(self, node: c_ast.Node) -> bool:
        return isinstance(self.names.type_of(node), Returning)

    # Uses.

    def _table(self, node: c_ast.Node) -> list[str] | None:
        """Return the pointers of the array that an expression is."""
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self._tables.get(id(symbol.node))

    def _meant(self, node: c_ast.Node) -> c_ast.Node:
        """Return what stands for a pointer to a pointer, or to a function."""
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        found = None if symbol is None else self._settled.get(id(symbol.node))
        return node if found is None else copied(found)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        for part in below(node):
            target = changed(part)
            if not isinstance(target, c_ast.ArrayRef) or has_effect(target.subscript):
                continue
            table = self._table(self._meant(target.name))
            if table is not None and self.names.constant(target.subscript) is None:
                at = node.coord
                ways = [
                    block(self.effect(with_parts(node, {id(target.subscript): number})), at)
                    for number in (integer(place, at) for place in range(len(table)))
                ]
                return [self._by_place(target.subscript, ways, c_ast.If)]
        return super().effect(node)

    def _by_place(
        self,
        place: c_ast.Node,
        ways: Sequence[c_ast.Node],
        choice: type[c_ast.If] | type[c_ast.TernaryOp],
    ) -> c_ast.Node:
        """Return a choice by a subscript, which is that of an element."""
        *others, found = ways
        for number, way in reversed(list(enumerate(others))):
            at = place.coord
            asked = c_ast.BinaryOp("==", copied(place), integer(number, at), at)
            found = choice(asked, way, found, at)
        return found

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.ID():
                return self._meant(node)
            case c_ast.FuncCall():
                node = self.inside(node, before)
                is_direct = isinstance(node.name, c_ast.ID) and self._meant(node.name) is node.name
                return node if is_direct else self._called(node, before)
        node = self.inside(node, before)
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.UnaryOp(op="&", expr=inner)):
                return inner
            case c_ast.UnaryOp(op="*", expr=c_ast.BinaryOp(op="+", left=array, right=place)):
                return self._element(node, array, place)
            case c_ast.UnaryOp(op="*", expr=inner):
                return self._element(node, inner, integer(0, node.coord))
            case c_ast.ArrayRef(name=c_ast.UnaryOp(op="&", expr=inner), subscript=place):
                return inner if self.names.constant(place) == 0 else node
            case c_ast.ArrayRef(name=array, subscript=place):
                return self._element(node, array, place)
        return node

    def _element(self, node: c_ast.Node, array: c_ast.Node, place: c_ast.Node) -> c_ast.Node:
        """Return a pointer of an array; something else as it is."""
        table = self._table(array)
        if table is None:
            return node
        number = self.names.constant(place)
        if has_effect(place) or (number is not None and not 0 <= number < len(table)):
            raise self._several(node)
        ways = [self._meant(named(name, node.coord)) for name in table]
        return self._by_place(place, ways, c_ast.TernaryOp) if number is None else ways[number]

    def _called(self, node: c_ast.FuncCall, before: Before) -> c_ast.Node:
        """Return a call by way of a pointer as one of what it points to."""
        called = _function(self.expression(node.name, before))
        if not isinstance(called, c_ast.TernaryOp):
            return c_ast.FuncCall(called, node.args, node.coord)
        if has_effect(called.cond) or (node.args is not None and has_effect(node.args)):
            raise self._several(node)
        arms = [
            self._called(c_ast.FuncCall(arm, copied(node.args), node.coord), None)
            if node.args is not None
            else c_ast.FuncCall(arm, None, node.coord)
            for arm in (called.iftrue, called.iffalse)
        ]
        return self._locator.stand_in(c_ast.TernaryOp(called.cond, *arms, node.coord), node)

    # Refusals.

    def _too_many(self, node: c_ast.Decl) -> PointerUnsupported:
        message = f"`{node.name}` is an array of pointers, of which there may be {MOST}"
        remedy = "put what they point to into one array, and choose a row of it"
        label = Label(self._locator.name_span(node, node.name), "here")
        return PointerUnsupported(message, labels=(label,), help=remedy)

    def _several(self, node: c_ast.Node) -> FrontendError:
        message = "which pointer of an array this is cannot be asked for several times"
        remedy = "make what it changes, or its subscript, a statement of its own"
        return self._refused(message, node, remedy)


def _function(node: c_ast.Node) -> c_ast.Node:
    """Return a function that is named with `*` or `&`, which say nothing of it."""
    while isinstance(node, c_ast.UnaryOp) and node.op in "*&":
        node = node.expr
    return node
