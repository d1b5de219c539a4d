"""Pointers that an expression chooses get names, and conditions on pointers are written out.

Rewrite
-------
    (c ? a : b)[i] = x;              int *chosen = c ? a : b; chosen[i] = x;
    move(c ? a : b, n);              int *chosen = c ? a : b; move(chosen, n);
    while ((c ? a : b)[i]) S         while (c ? a[i] : b[i]) S
    while (p && *p) S                while (p != 0 && *p) S
    if (!p) S                        if (p == 0) S
    i[a] + *(int *)a                 a[i] + *a

What an expression may do before it chooses stays where it is.
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import (
    copied,
    has_effect,
    integer,
    with_parts,
)
from rtlgen.frontend.lowering.order import Order
from rtlgen.frontend.lowering.pointer_values import Targets, pointer_side
from rtlgen.frontend.lowering.rewriter import Before, Rewriter
from rtlgen.frontend.lowering.types import ArrayOf, PointerTo, Returning
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator


def name_chosen_pointers(tree: c_ast.FileAST, locator: Locator, changing: frozenset[str]) -> None:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    """
    if any(isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl) for node in below(tree)):
        _Namer(tree, locator, changing).file()


class _Namer(Rewriter):
    def __init__(self, tree: c_ast.FileAST, locator: Locator, changing: frozenset[str]) -> None:
        super().__init__(tree, locator)
        self._order = Order(self.names, tree, changing)
        self._targets = Targets(self.names)

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
            self._arms(init)
            return [node]
        return super().declaration(node)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        value = node.rvalue if isinstance(node, c_ast.Assignment) else None
        if isinstance(value, c_ast.TernaryOp) and self._is_pointer(value):
            self._arms(value)
            return [node]
        return super().effect(node)

    def _arms(self, node: c_ast.Node) -> None:
        """Rewrite the condition of what a pointer is set to."""
        if isinstance(node, c_ast.TernaryOp):
            node.cond = self.expression(self._asked(node.cond), None)
            self._arms(node.iftrue)
            self._arms(node.iffalse)

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.Cast(expr=inner) if self._targets.is_converted_to_itself(node):
                return self.expression(inner, before)
            case c_ast.ArrayRef(name=first, subscript=array) if self._is_turned(first, array):
                node.name, node.subscript = array, first
        match node:
            case c_ast.TernaryOp() if self._is_pointer(node):
                self._arms(node)
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
