"""Pointers that an expression chooses get names, and conditions on pointers are written out.

Rewrite
-------
    (c ? a : b)[i] = x;              int *chosen = c ? a : b; chosen[i] = x;
    p = n++ ? a : b;                 int asked = n++; p = asked ? a : b;
    move(c ? a : b, n);              int *chosen = c ? a : b; move(chosen, n);
    while ((c ? a : b)[i]) S         while (c ? a[i] : b[i]) S
    while (p && *p) S                while (p != 0 && *p) S
    if (!p) S                        if (p == 0) S
    i[a] + *(int *)a                 a[i] + *a

What an expression may do before it chooses stays where it is.
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.errors import SideEffect
from rtlgen.frontend.lowering.nodes import (
    assign,
    copied,
    has_effect,
    integer,
    with_parts,
)
from rtlgen.frontend.lowering.order import Order
from rtlgen.frontend.lowering.pointer_values import Targets, past_void, pointer_side
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter
from rtlgen.frontend.lowering.types import ArrayOf, PointerTo, Returning
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator


def name_chosen_pointers(
    tree: c_ast.FileAST, locator: Locator, changing: frozenset[str]
) -> Refused:
    """Rewrite all functions of a file in place; return what is refused, by function.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    """
    namer = _Namer(tree, locator, changing)
    if any(isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl) for node in below(tree)):
        namer.file()
    return namer.refused


class _Namer(Rewriter):
    refusing = SideEffect

    def __init__(self, tree: c_ast.FileAST, locator: Locator, changing: frozenset[str]) -> None:
        super().__init__(tree, locator)
        self._order = Order(self.names, tree, changing)
        self._targets = Targets(self.names)
        self._asked_before: list[c_ast.Node] = []

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.If() | c_ast.While() | c_ast.DoWhile():
                node.cond = self._asked(node.cond)
            case c_ast.For(cond=condition) if condition is not None:
                with self.names.block():
                    for each in node.init.decls if isinstance(node.init, c_ast.DeclList) else ():
                        self.names.declare(each)
                    node.cond = self._asked(condition)
        return super()._statement(node)

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        init = getattr(node, "init", None)
        if isinstance(init, c_ast.TernaryOp) and self._is_pointer(init):
            self.names.declare(node)
            before: list[c_ast.Node] = []
            self._arms(init, before)
            return [*before, node]
        return super().declaration(node)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        value = node.rvalue if isinstance(node, c_ast.Assignment) else None
        if isinstance(value, c_ast.TernaryOp) and self._is_pointer(value):
            before: list[c_ast.Node] = []
            self._arms(value, before)
            return [*before, node]
        return super().effect(node)

    def listed(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return a part of a header, in which nothing can be declared."""
        made: list[c_ast.Node] = []
        for part in node.exprs if isinstance(node, c_ast.ExprList) else [node]:
            before: list[c_ast.Node] = []
            if isinstance(part, c_ast.Assignment) and self._is_pointer(part.rvalue):
                self._arms(part.rvalue, before)
            made += [assign(x.name, x.init, x.coord) for x in before]
            self._asked_before += before
            made.append(self.expression(part, None))
        return self.sequence(made, node)

    def leave(self, node: c_ast.FuncDef) -> None:
        """Declare what headers ask at the start of the function."""
        for part in self._asked_before:
            part.init = None
        node.body.block_items = [*self._asked_before, *node.body.block_items]
        self._asked_before = []

    def _arms(self, node: c_ast.Node, before: Before) -> None:
        """Rewrite the conditions of what a pointer is set to, which may be asked several times."""
        if not isinstance(node, c_ast.TernaryOp):
            return
        node.cond = self.expression(self._asked(node.cond), None)
        if self._order.has_effect(node.cond):
            type_ = self.names.value_type(node.cond)
            if before is None or type_ is None:
                message = "a condition with a side effect chooses a pointer"
                raise self._refused(message, node.cond, "ask it in a statement of its own")
            node.cond = self.kept("asked", type_, node.cond, node.coord, before)
        self._arms(node.iftrue, None)
        self._arms(node.iffalse, None)

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.Cast() if self._targets.is_converted_to_itself(node):
                return self.expression(past_void(self.names, node.expr), before)
            case c_ast.ArrayRef(name=first, subscript=array) if self._is_turned(first, array):
                node.name, node.subscript = array, first
        match node:
            case c_ast.TernaryOp() if self._is_pointer(node):
                root = self.root
                is_seen = root is None or self._order.is_seen(node.cond, root)
                self._arms(node, None if is_seen else before)
                is_early = before is not None and self._is_early(node)
                return self._named(node, before) if is_early and before is not None else node
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*") if before is None:
                choice = self._choice(node)
                is_value = not isinstance(self.names.type_of(node), PointerTo | ArrayOf)
                if choice is not None and is_value and not has_effect(node):
                    arms = map(copied, (choice.iftrue, choice.iffalse))
                    ways = [with_parts(node, {id(choice): arm}) for arm in arms]
                    made = c_ast.TernaryOp(choice.cond, *ways, node.coord)
                    return self.expression(made, None)
            case c_ast.UnaryOp(op="!", expr=inner) if self._is_pointer(inner):
                zero = integer(0, node.coord)
                made = c_ast.BinaryOp("==", inner, zero, node.coord)
                return self.inside(made, before)
            case c_ast.TernaryOp():
                node.cond = self._asked(node.cond)
            case c_ast.BinaryOp(op="&&" | "||"):
                node.left, node.right = self._asked(node.left), self._asked(node.right)
        return self.inside(node, before)

    def _is_turned(self, first: c_ast.Node, second: c_ast.Node) -> bool:
        """Return whether an array stands between the brackets."""
        sides = [isinstance(self.names.decayed(x), PointerTo) for x in (first, second)]
        return sides == [False, True]

    def _asked(self, node: c_ast.Node) -> c_ast.Node:
        """Return a condition that is no pointer."""
        if not self._is_pointer(node):
            return node
        return c_ast.BinaryOp("!=", node, integer(0, node.coord), node.coord)

    def _is_pointer(self, node: c_ast.Node | None) -> bool:
        is_text = isinstance(node, c_ast.Constant)
        type_ = None if node is None or is_text else self.names.decayed(node)
        return isinstance(type_, PointerTo) and not isinstance(type_.to, Returning)

    def _is_early(self, node: c_ast.TernaryOp) -> bool:
        """Return whether nothing tells if a choice is made before the statement."""
        root = self.root
        return root is not None and not has_effect(node) and not self._order.is_seen(node, root)

    def _choice(self, node: c_ast.Node) -> c_ast.TernaryOp | None:
        """Return the choice of a pointer that the way of an expression begins with."""
        match node:
            case c_ast.TernaryOp():
                return node if self._is_pointer(node) else None
            case c_ast.ArrayRef(name=inner) | c_ast.StructRef(name=inner):
                return self._choice(inner)
            case c_ast.UnaryOp(op="*", expr=inner):
                return self._choice(inner)
            case c_ast.BinaryOp(op="+" | "-"):
                side = pointer_side(self.names, node)
                return None if side is None else self._choice(side)
        return None

    def _named(self, node: c_ast.TernaryOp, before: list[c_ast.Node]) -> c_ast.Node:
        type_ = self.names.decayed(node)
        assert type_ is not None, "it is a pointer"
        return self.kept("chosen", type_, node, node.coord, before)
