"""Whether anything in an expression can tell when a part of it is done.

    x = c ? a[i++] : b[j];        nothing: the part goes before the statement
    x = i + (c ? a[i++] : 0);     C leaves open what i is on the left
    *p = next(&s) + t;            next cannot change t, nor where p points

A part is what is done in one case only, behind a comma, or in a call. What stands beside it may use
what it changes, or change what it uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import changed, reads_memory_itself, variable_of
from rtlgen.frontend.lowering.types import ArrayOf, PointerTo, Returning
from rtlgen.frontend.syntax.assigned import below, called_by, functions, mentioned


class Order:
    """Knows what expressions change, by the names in sight.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    """

    def __init__(self, names: Names, tree: c_ast.FileAST, changing: frozenset[str]) -> None:
        self._names = names
        self._changing = changing
        self._quiet = functions(tree).keys() - changing

    def has_effect(self, node: c_ast.Node) -> bool:
        """Return whether something is changed at or below a node."""
        return any(changed(x) is not None or self.is_changing_call(x) for x in below(node))

    def is_changing_call(self, node: c_ast.Node) -> bool:
        """Return whether a node calls a function that changes something."""
        return called_by(node) in self._changing

    def is_seen(self, part: c_ast.Node, root: c_ast.Node) -> bool:
        """Return whether what stands beside a part of an expression may tell when it is done."""
        inside = {id(x) for x in below(part)}
        beside = [x for x in below(root) if id(x) not in inside]
        # What is set is so behind its value.
        stored = root.lvalue if isinstance(root, c_ast.Assignment) and root.op == "=" else None
        while isinstance(stored, c_ast.ArrayRef | c_ast.ID):
            beside = [x for x in beside if x is not stored]
            stored = stored.name if isinstance(stored, c_ast.ArrayRef) else None
        if isinstance(part, c_ast.FuncCall):
            return self._is_call_seen(part, [x for x in beside if x is not root])
        calls = [x for x in beside if isinstance(x, c_ast.FuncCall)]
        if calls and self.has_effect(part):
            return True
        # A function is called when its arguments are known.
        if any(self.is_changing_call(x) and not any(y is part for y in below(x)) for x in calls):
            return True
        if any(map(self.is_changing_call, below(part))):
            names = mentioned(part)
            return any(map(reads_memory_itself, beside)) or any(
                isinstance(x, c_ast.ID) and (x.name in names or self._is_shared(x)) for x in beside
            )
        mine = {variable_of(x) for y in below(part) if (x := changed(y)) is not None}
        theirs = {variable_of(x) for y in beside if (x := changed(y)) is not None and y is not root}
        if None in mine or None in theirs:
            return any(map(reads_memory_itself, beside)) or bool(theirs)
        own = variable_of(root.lvalue) if isinstance(root, c_ast.Assignment) else None
        used = {own, *(x.name for x in beside if isinstance(x, c_ast.ID))}
        return bool(mine & used) or bool(theirs & mentioned(part))

    def _is_call_seen(self, call: c_ast.FuncCall, beside: Sequence[c_ast.Node]) -> bool:
        """Return whether something beside a call may tell when it happens."""
        inside = (x for x in below(call) if x is not call)
        if any(self._may_change(x) for x in (*inside, *beside)):
            return True
        if called_by(call) in self._quiet:
            return False
        handed = set(self._handed(call))
        used = (x for x in beside if isinstance(x, c_ast.ID))
        return any(x.name in handed or self._may_be_shared(x) for x in used)

    def _may_change(self, node: c_ast.Node) -> bool:
        is_call = isinstance(node, c_ast.FuncCall)
        return called_by(node) not in self._quiet if is_call else changed(node) is not None

    def _handed(self, call: c_ast.FuncCall) -> Iterator[str]:
        """Yield the names of what a function may change by way of its arguments."""
        for node in below(call):
            match node:
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                    yield name
                case c_ast.ID() if isinstance(self._names.type_of(node), ArrayOf | PointerTo):
                    yield node.name

    def _may_be_shared(self, node: c_ast.ID) -> bool:
        """Return whether a function that is called may see a variable by another name."""
        symbol = self._names.lookup(node.name)
        if symbol is None or isinstance(symbol.type, Returning):
            return False
        is_pointer = isinstance(symbol.type, PointerTo) and not symbol.is_parameter
        return is_pointer or (symbol.is_shared and symbol.value is None)

    def _is_shared(self, node: c_ast.ID) -> bool:
        symbol = self._names.lookup(node.name)
        return symbol is not None and symbol.is_shared
