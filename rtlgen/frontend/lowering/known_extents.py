"""Extents of local arrays that are variables with one value.

Rewrite
-------
    int n = 8, t[n];            int n = 8, t[8];            n is never assigned
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names, Symbol
from rtlgen.frontend.lowering.nodes import replaced
from rtlgen.frontend.lowering.types import number_type, placed
from rtlgen.frontend.syntax.assigned import assigned, below


def take_known_extents(tree: c_ast.FileAST) -> None:
    """Rewrite all functions of a file in place."""
    names, seen = Names(), set[int]()
    for node in tree.ext:
        changed = {name for name, _ in assigned(node)} if isinstance(node, c_ast.FuncDef) else set()
        for symbol in names.used(node):
            # Where it is used, another variable may have the name of one in its extent.
            is_new = isinstance(symbol.node, c_ast.Decl) and id(symbol.node) not in seen
            seen.add(id(symbol.node))
            array = symbol.node.type if is_new else None
            while isinstance(array, c_ast.ArrayDecl):
                if array.dim is not None:
                    array.dim = _known(array.dim, names, changed)
                array = array.type


def _known(extent: c_ast.Node, names: Names, changed: set[str]) -> c_ast.Node:
    """Return an extent with values in place of variables."""
    values = {}
    for part in below(extent):
        symbol = names.lookup(part.name) if isinstance(part, c_ast.ID) else None
        if symbol is not None and symbol.name not in changed and _holds(symbol, names):
            values[symbol.name] = placed(symbol.node.init, part.coord)
    return replaced(extent, values)


def _holds(symbol: Symbol, names: Names) -> bool:
    """Return whether something is a variable that is given a literal that its type holds."""
    node, number = symbol.node, number_type(symbol.type)
    if not isinstance(node, c_ast.Decl) or not isinstance(node.init, c_ast.Constant):
        return False
    # A constant is one already, and what is shared may change elsewhere.
    if symbol.is_shared or node.storage or "const" in node.quals or number is None:
        return False
    value = None if number.is_floating else names.constant(node.init)
    return value is not None and value <= number.limits[1]
