"""Variables with one value: in extents of local arrays, and as parameters of static functions.

Rewrite
-------
    int n = 8, t[n];            int n = 8, t[8];            n is never assigned

    static void f(int n);       n of `f` is 8: nobody outside of the file can call it
    int n = 8; f(n); f(8);
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names, Symbol
from rtlgen.frontend.lowering.nodes import parameters_of, replaced
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


def known_parameters(tree: c_ast.FileAST, function: str) -> dict[str, int]:
    """Return the parameters of a function that are the same integer whenever it is called.

    That is known of a `static` function, all calls of which are in the file.
    """
    found = {x.decl.name: x for x in tree.ext if isinstance(x, c_ast.FuncDef)}.get(function)
    if found is None or "static" not in found.decl.storage:
        return {}
    parameters = parameters_of(found)
    names = Names()
    calls = list(_calls(tree, function, names))
    named = sum(isinstance(x, c_ast.ID) and x.name == function for x in below(tree))
    # Where it is named otherwise, somebody may call it by its address.
    if not calls or len(calls) != named or any(len(x) != len(parameters) for x in calls):
        return {}
    known = {}
    for parameter, first, *others in zip(parameters, *calls, strict=True):
        number = number_type(names.read(parameter.type))
        if first is None or any(other != first for other in others) or number is None:
            continue
        low, high = number.limits
        if low <= first <= high and not number.is_floating:
            known[parameter.name] = first
    return known


def _calls(tree: c_ast.FileAST, function: str, names: Names) -> Iterator[list[int | None]]:
    """Yield the integers that each call of a function gives it; None where that is not known."""
    for node in tree.ext:
        changed = {name for name, _ in assigned(node)} if isinstance(node, c_ast.FuncDef) else set()
        for part in names.walk(node):
            match part:
                case c_ast.FuncCall(name=c_ast.ID(name=name), args=given) if name == function:
                    arguments = given.exprs if given is not None else ()
                    yield [names.constant(_known(x, names, changed)) for x in arguments]


def _known(extent: c_ast.Node, names: Names, changed: set[str]) -> c_ast.Node:
    """Return an extent, or an argument, with values in place of variables."""
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
