"""Calls that change something, out of the expressions in which they stand.

Rewrite
-------
    y = next(&s) >> 3;             int next_value = next(&s); y = next_value >> 3;
    return first - fold(a);        int fold_value = fold(a); return first - fold_value;
    if (next(&s) > 2) S            int next_value = next(&s); if (next_value > 2) S

C leaves open when the call happens among the other operands. It is done first where that makes no
difference: it is surely made, it is the only one, nothing else is changed in the expression, and
what stands beside it uses nothing that was handed over, or that the whole file sees.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import FreshNames, changed, named, replaced_part, surely
from rtlgen.frontend.lowering.rewriter import Before, Rewriter
from rtlgen.frontend.lowering.types import (
    ArrayOf,
    PointerTo,
    Returning,
    declaration,
    number_type,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below


def call_first(tree: c_ast.FileAST, asked: frozenset[int], changing: frozenset[str]) -> None:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    asked: the calls that cannot stay where they are, by the lines of their places.
    changing: functions that change what outlives their calls.
    """
    if asked:
        defined = {node.decl.name for node in tree.ext if isinstance(node, c_ast.FuncDef)}
        _Caller(tree, asked, defined - changing).file(tree)


class _Caller(Rewriter):
    """Makes calls first.

    Parameters
    ----------
    quiet: functions that change nothing.
    """

    def __init__(self, tree: c_ast.FileAST, asked: frozenset[int], quiet: set[str]) -> None:
        super().__init__()
        self._quiet = quiet
        self._fresh = FreshNames(tree)
        self._asked = asked

    def _loop(self, node: c_ast.For) -> list[c_ast.Node]:
        """Leave the header as it is: nothing can be done before a part of it."""
        if isinstance(node.init, c_ast.DeclList):
            for each in node.init.decls:
                self.names.declare(each)
        node.stmt = self._arm(node.stmt)
        return []

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return an expression of which no call is asked to go first."""
        calls = [
            part
            for part in below(node)
            if isinstance(part, c_ast.FuncCall) and part.coord.line in self._asked
        ]
        type_ = self.names.type_of(calls[0]) if len(calls) == 1 else None
        if before is None or type_ is None or number_type(type_) is None:
            return node
        (call,) = calls
        if not any(part is call for part in surely(node)) or self._is_seen(call, node):
            return node
        name = self._fresh.fresh(f"{call.name.name}_value")
        before.append(declaration(name, unqualified(type_), call, call.coord))
        self.names.bind(Symbol(name, type_, before[-1]))
        return replaced_part(node, call, named(name, call.coord))

    def _is_seen(self, call: c_ast.FuncCall, root: c_ast.Node) -> bool:
        """Return whether something beside a call may tell when it happens."""
        inside = {id(part) for part in below(call)}
        beside = [part for part in below(root) if id(part) not in inside]
        # What is assigned is so behind the call, and where it is stored does not depend on it.
        stored = root.lvalue if isinstance(root, c_ast.Assignment) and root.op == "=" else None
        own = stored
        while isinstance(own, c_ast.ArrayRef):
            own = own.name
        if any(part is not root and self._has_effect(part) for part in beside):
            return True
        if any(part is not call and self._has_effect(part) for part in below(call)):
            return True
        handed = set(self._handed(call))
        used = (part for part in beside if isinstance(part, c_ast.ID) and part is not own)
        return any(part.name in handed or self._may_be_shared(part) for part in used)

    def _has_effect(self, node: c_ast.Node) -> bool:
        if isinstance(node, c_ast.FuncCall):
            return getattr(node.name, "name", "") not in self._quiet
        return changed(node) is not None

    def _handed(self, call: c_ast.FuncCall) -> Iterator[str]:
        """Yield the names of what a function may change by way of its arguments."""
        for node in below(call):
            match node:
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                    yield name
                case c_ast.ID() if isinstance(self.names.type_of(node), ArrayOf | PointerTo):
                    yield node.name

    def _may_be_shared(self, node: c_ast.ID) -> bool:
        """Return whether a function that is called may see a variable by another name."""
        symbol = self.names.lookup(node.name)
        if symbol is None or isinstance(symbol.type, Returning):
            return False
        is_pointer = isinstance(symbol.type, PointerTo) and not symbol.is_parameter
        return is_pointer or (symbol.is_shared and symbol.value is None)
