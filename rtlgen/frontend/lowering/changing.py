"""Functions of a file that change something that outlives their calls, found without reading them.

static int next(int *seed) { return *seed = *seed * 5 + 1; }        what is handed over
static int count(void) { static int n; return ++n; }                what it keeps
static int twice(int x) { x *= 2; return x; }                       nothing
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import changed
from rtlgen.frontend.lowering.types import ArrayOf, PointerTo
from rtlgen.frontend.syntax.assigned import below


def changing_functions(tree: c_ast.FileAST) -> frozenset[str]:
    """Return the names of functions that change more than their own variables, or call such.

    What functions outside of the file do is not known, and not asked for.
    """
    bodies: dict[str, c_ast.FuncDef] = {}
    found: set[str] = set()
    names = Names()
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            bodies[node.decl.name] = node
            found |= {node.decl.name} if _changes(node, names) else set()
        elif isinstance(node, c_ast.Decl | c_ast.Typedef):
            names.declare(node)
    while callers := {
        name
        for name, node in bodies.items()
        if name not in found and not found.isdisjoint(called_below(node.body))
    }:
        found |= callers
    return frozenset(found)


def called_below(root: c_ast.Node) -> set[str]:
    """Return the names of the functions that are called below a node."""
    return {
        node.name.name
        for node in below(root)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    }


def _changes(function: c_ast.FuncDef, names: Names) -> bool:
    """Return whether a function changes more than its own variables; declare its name."""
    # A list, so that all of it is declared.
    return any([_changes_itself(node, names) for node in names.walk(function)])


def _changes_itself(node: c_ast.Node, names: Names) -> bool:
    if isinstance(node, c_ast.Decl):
        is_pointer = isinstance(node.type, c_ast.PtrDecl) and node.init is not None
        return is_pointer and not _points_to_own(node.init, names)
    target = changed(node, "&")
    return target is not None and not _is_own(target, names)


def _is_own(node: c_ast.Node, names: Names) -> bool:
    """Return whether an expression names a variable that dies with the call, or a part of it."""
    match node:
        case c_ast.ID(name=name):
            symbol = names.lookup(name)
            return symbol is not None and symbol.is_own
        case c_ast.ArrayRef(name=array):
            return isinstance(names.type_of(array), ArrayOf) and _is_own(array, names)
        case c_ast.StructRef(type=".", name=whole):
            return _is_own(whole, names)
    return False


def _points_to_own(node: c_ast.Node, names: Names) -> bool:
    """Return whether a pointer points into a variable that dies with the call, or nowhere."""
    match node:
        case c_ast.UnaryOp(op="&", expr=inner):
            return _is_own(inner, names)
        case c_ast.Cast(expr=inner):
            return _points_to_own(inner, names)
        case c_ast.BinaryOp(left=left, right=right):
            sides = [s for s in (left, right) if isinstance(names.decayed(s), PointerTo)]
            return all(_points_to_own(side, names) for side in sides)
        case c_ast.Constant():
            return True
    return isinstance(names.type_of(node), ArrayOf) and _is_own(node, names)
