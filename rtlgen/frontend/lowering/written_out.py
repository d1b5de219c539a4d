"""Functions that give or take what a caller cannot hold are written out where they are called.

Rewrite
-------
    static int *row(int *m, int i) { return m + 8 * i; }
    *row(m, k) = x;                         int *m_2 = m; int i_2 = k; *(m_2 + 8 * i_2) = x;

    static int *larger(int *p, int *q) { if (*p > *q) return p; return q; }
    r = larger(a, b);                       int *larger_value;
                                            { int *p_2 = a; int *q_2 = b;
                                              if (*p_2 > *q_2) { larger_value = p_2; goto done; }
                                              larger_value = q_2; goto done; done: ; }
                                            r = larger_value;

    static int next(const int **p) { return *(*p)++; }
    s += next(&q);                          int next_value; { const int **p_2 = &q; ... }

That is a pointer that a function returns, and, of what it is given, the address of a pointer or
function, a null pointer, a pointer to it does not say what, and one that sees numbers as others of
their size. What a variable of these points to is for `pointer_tables` and `walkers` to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.errors import SideEffect
from rtlgen.frontend.lowering.nodes import (
    assign,
    block,
    copied,
    has_effect,
    is_set,
    map_children,
    mapped,
    named,
    specified,
)
from rtlgen.frontend.lowering.order import Order
from rtlgen.frontend.lowering.pointer_values import Targets, is_look_alike, is_null, way_root
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter
from rtlgen.frontend.lowering.types import (
    ArrayOf,
    Plain,
    PointerTo,
    Returning,
    Type,
    as_value,
    cast,
    declaration,
    element_of,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below, called_by, declared, mentioned
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import parameters

Scope: TypeAlias = dict[str, str | c_ast.Node]
"""What stands for names: other names, or values that never change."""


def write_out_calls(
    tree: c_ast.FileAST, locator: Locator, changing: frozenset[str], asked: Set[str]
) -> Refused:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    asked: functions of which a loop needs to know the arrays that they are given.

    Returns
    -------
    Refused: calls that something beside them would notice.
    """
    writer = _Writer(tree, locator, changing, asked)
    if len(writer.bodies) > 1:
        writer.file()
    return writer.refused


class _Writer(Rewriter):
    """Writes out calls.

    Members
    -------
    bodies: the functions that keep nothing from call to call, by their names.
    """

    refusing = SideEffect

    def __init__(
        self,
        tree: c_ast.FileAST,
        locator: Locator,
        changing: frozenset[str],
        asked: Set[str],
    ) -> None:
        super().__init__(tree, locator)
        self._asked = asked
        self._order = Order(self.names, tree, changing)
        self._active: list[str] = []
        self._nowhere: set[str] = set()
        self._targets = Targets(self.names)
        # Pointers that see numbers as others of their size, by the identities of declarations.
        self._converted: set[int] = set()
        self.bodies = {x.decl.name: x for x in tree.ext if _keeps_nothing(x)}

    # Calls.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        made = super().declaration(node)
        if isinstance(node, c_ast.Decl) and node.init is not None:
            self._note(named(node.name, node.coord), node.init)
        return made

    def _note(self, target: c_ast.Node, value: c_ast.Node) -> None:
        """Note a pointer that is set to see numbers as others."""
        symbol = self.names.lookup(target.name) if isinstance(target, c_ast.ID) else None
        if symbol is not None and self._is_converted(symbol.type, value):
            self._converted.add(id(symbol.node))

    def _is_converted(self, type_: Type, value: c_ast.Node) -> bool:
        """Return whether something points to other numbers than its type says."""
        if not isinstance(type_, PointerTo):
            return False
        root = way_root(self.names, value)
        symbol = self.names.lookup(root.name) if isinstance(root, c_ast.ID) else None
        given = element_of(self.names.decayed(value))
        return (
            is_look_alike(element_of(type_), given)
            or self._targets.is_seen_otherwise(value)
            or (given is not None and symbol is not None and id(symbol.node) in self._converted)
        )

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            self._note(node.lvalue, node.rvalue)
        if isinstance(node, c_ast.FuncCall) and self._may_go(node):
            before: list[c_ast.Node] = []
            self.inside(node, before)
            return [*before, *self._written(node, None)]
        return super().effect(node)

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        if isinstance(node, c_ast.FuncCall) and before is not None and self._may_go(node):
            root = self.root
            is_whole = node is root or (
                isinstance(root, c_ast.Assignment)
                and node is root.rvalue
                and isinstance(root.lvalue, c_ast.ID)
            )
            if is_whole or (root is not None and not self._order.is_seen(node, root)):
                self.inside(node, before)
                return self._value(node, before)
            message = f"`{called_by(node)}` may change what stands beside its call"
            remedy = "make the call a statement of its own"
            why = "in C, before or behind the rest"
            raise self._refused(message, node, remedy, why)
        return self.inside(node, before)

    def _may_go(self, call: c_ast.FuncCall) -> bool:
        """Return whether a call can be written out here."""
        name = called_by(call)
        if name not in self.bodies or name in (*self._active, self.function):
            return False
        function = self.bodies[name]
        given = call.args.exprs if call.args is not None else []
        symbol = self.names.lookup(name)
        type_ = None if symbol is None else symbol.type
        if not isinstance(type_, Returning) or len(parameters(function)) != len(given):
            return False
        taken = type_.parameters
        # Those of headers know nothing of the texts that they are given.
        asked = self._locator.is_above(function.decl) and any(map(_is_pointer, taken))
        pairs = zip(taken, given, strict=False)
        is_held = all(
            _is_held(x) and not self._is_nowhere(x, value) and not self._is_converted(x, value)
            for x, value in pairs
        )
        if is_held and not (asked or name in self._asked or _is_pointer(type_.result)):
            return False
        # What the function takes from the file must be in sight here.
        outer = mentioned(function.body) - declared(function.decl.type, function.body)
        found = [self.names.lookup(each) for each in outer]
        return all(x is None or x.is_shared or x.value is not None for x in found)

    def _is_nowhere(self, taken: Type, given: c_ast.Node) -> bool:
        """Return whether a parameter is a null pointer."""
        is_known = isinstance(given, c_ast.ID) and given.name in self._nowhere
        return isinstance(taken, PointerTo) and (is_known or is_null(self.names, given))

    def _value(self, call: c_ast.FuncCall, before: list[c_ast.Node]) -> c_ast.Node:
        """Return the value of a call that is carried out before."""
        name = called_by(call)
        symbol = self.names.lookup(name)
        assert symbol is not None and isinstance(symbol.type, Returning), "it is a function"
        type_ = unqualified(symbol.type.result)
        items = self.bodies[name].body.block_items or []
        if len(items) == 1 and isinstance(items[0], c_ast.Return) and items[0].expr is not None:
            scope = self._bound(call, before)
            value = self._placed(_renamed(items[0].expr, scope, {}), call)
            with self._inside(name):
                value = self.expression(value, before)
            return value if isinstance(type_, PointerTo) else cast(type_, value, call.coord)
        kept = self.kept(f"{name}_value", type_, None, call.coord, before)
        before += self._written(call, kept.name)
        return kept

    def _written(self, call: c_ast.FuncCall, kept: str | None) -> list[c_ast.Node]:
        """Return the statements of a call, which leave its value in a variable."""
        name, at = called_by(call), call.coord
        items: list[c_ast.Node] = []
        scope = self._bound(call, items)
        labels: dict[str, str] = {}
        for part in below(self.bodies[name].body):
            if isinstance(part, c_ast.Label):
                labels[part.name] = self.fresh(part.name)
        names = declared(self.bodies[name].body)
        inner = {each: self.fresh(each) for each in names if each}
        fresh = {**labels, **inner}
        items_of_body = self.bodies[name].body.block_items or ()
        body = [self._placed(_renamed(x, scope, fresh), call) for x in items_of_body]
        returns = [x for part in body for x in below(part) if isinstance(x, c_ast.Return)]
        is_last = not returns or (len(returns) == 1 and body[-1] is returns[0])
        label = None if is_last else self.fresh("done")
        items += [_left(x, kept, label) for x in body]
        if label is not None:
            items.append(c_ast.Label(label, c_ast.EmptyStatement(at), at))
        with self._inside(name):
            return self.statement(block(items, at))

    def _placed(self, node: c_ast.Node, call: c_ast.FuncCall) -> c_ast.Node:
        """Return a part of a function; one of a header's has no place but that of its call."""
        if self._locator.is_above(self.bodies[called_by(call)].decl):
            for part in below(node):
                part.coord = call.coord
        return node

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        self._active.append(name)
        try:
            yield
        finally:
            self._active.pop()

    def _bound(self, call: c_ast.FuncCall, before: list[c_ast.Node]) -> Scope:
        """Declare the parameters; return what stands for them."""
        taken, body = parameters(self.bodies[called_by(call)]), self.bodies[called_by(call)].body
        scope: Scope = {each.name: self.fresh(each.name) for each in taken}
        for parameter, value in zip(taken, call.args.exprs if call.args else (), strict=True):
            type_, found = as_value(self.names.read(parameter)), self.names.decayed(value)
            name = scope[parameter.name]
            assert isinstance(name, str), "each parameter has one name"
            is_nowhere = self._is_nowhere(type_, value) and not is_set(body, parameter.name)
            if isinstance(type_, PointerTo) and not _is_held(type_):
                if is_nowhere:
                    scope[parameter.name] = value
                    continue
                # What `void *` points to is what it is given.
                type_ = replace(found, quals=()) if isinstance(found, PointerTo) else type_
            self._nowhere |= {name} if is_nowhere else set()
            made = declaration(name, type_, value, value.coord)
            made.type = _renamed(made.type, scope, {})
            self.names.declare(made)
            self._note(named(name, value.coord), value)
            before.append(made)
        return scope


def _keeps_nothing(node: c_ast.Node) -> bool:
    """Return whether a part of a file is a function without variables that outlive its calls."""
    return isinstance(node, c_ast.FuncDef) and not any(
        isinstance(x, c_ast.Decl) and "static" in x.storage for x in below(node.body)
    )


def _is_pointer(type_: Type) -> bool:
    return isinstance(type_, PointerTo)


def _is_held(type_: Type) -> bool:
    """Return whether a variable of a type is a number, a structure, or a pointer to such."""
    inner = type_.to if isinstance(type_, PointerTo) else type_
    while isinstance(inner, ArrayOf):
        inner = inner.of
    is_anything = isinstance(type_, PointerTo) and isinstance(inner, Plain) and inner.number is None
    return not isinstance(inner, PointerTo | Returning) and not is_anything


def _left(node: c_ast.Node, kept: str | None, label: str | None) -> c_ast.Node:
    """Return a statement in which a `return` sets a variable, and goes to a label."""
    if not isinstance(node, c_ast.Return):
        map_children(node, lambda child: _left(child, kept, label))
        return node
    made: list[c_ast.Node] = []
    if node.expr is not None and kept is not None:
        made.append(assign(kept, node.expr, node.coord))
    elif node.expr is not None and has_effect(node.expr):
        made.append(node.expr)
    if label is not None:
        made.append(c_ast.Goto(label, node.coord))
    return made[0] if len(made) == 1 else block(made, node.coord)


def _renamed(node: c_ast.Node, scope: Scope, fresh: Mapping[str, str]) -> c_ast.Node:
    """Return a copy of a piece of a function with other names.

    Parameters
    ----------
    scope: what stands for the names in sight, to which declarations add theirs.
    fresh: those of labels, and of what is declared.
    """
    match node:
        case c_ast.ID(name=name):
            found = scope.get(name, name)
            return c_ast.ID(found, node.coord) if isinstance(found, str) else copied(found)
        case c_ast.StructRef():
            made = copy(node)
            made.name = _renamed(node.name, scope, fresh)
            return made
        case c_ast.NamedInitializer():
            made = copy(node)
            # The name of a member is none of a variable.
            made.name = [
                x if isinstance(x, c_ast.ID) else _renamed(x, scope, fresh) for x in node.name
            ]
            made.expr = _renamed(node.expr, scope, fresh)
            return made
        case c_ast.Compound() | c_ast.For() | c_ast.FuncDecl() | c_ast.Struct() | c_ast.Union():
            inner = dict(scope)
            return mapped(node, lambda child: _renamed(child, inner, fresh))
        case c_ast.Label() | c_ast.Goto():
            made = mapped(node, lambda child: _renamed(child, scope, fresh))
            made.name = fresh[node.name]
            return made
        case c_ast.Decl(name=str(name)) if name in fresh:
            made = copy(node)
            made.type = _renamed(node.type, dict(scope), fresh)
            made.name = scope[name] = specified(made.type).declname = fresh[name]
            made.init = None if node.init is None else _renamed(node.init, scope, fresh)
            return made
    return mapped(node, lambda child: _renamed(child, scope, fresh))
