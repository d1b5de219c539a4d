"""Functions of a file that change something that outlives their calls, found without reading them.

static int next(int *seed) { return *seed = *seed * 5 + 1; }        what is handed over
static int count(void) { static int n; return ++n; }                what it keeps
static int twice(int x) { x *= 2; return x; }                       nothing
"""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import changed, variable_of
from rtlgen.frontend.writers import NUMBERS, assigned, below


def changing_functions(tree: c_ast.FileAST) -> frozenset[str]:
    """Return the names of functions that change more than their own variables, or call such.

    What functions outside of the file do is not known, and not asked for.
    """
    bodies = {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}
    found = {name for name, node in bodies.items() if _changes(node)}
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


def _changes(function: c_ast.FuncDef) -> bool:
    own = _own(function)
    members = (name for node in below(function.body) for name in _member_of(node))
    return any(name not in own for name in (*(n for n, _ in assigned(function.body)), *members))


def _member_of(node: c_ast.Node) -> Iterator[str]:
    """Yield the name of the structure of which a node changes a member."""
    target = changed(node, "&")
    if isinstance(target, c_ast.StructRef):
        yield variable_of(target) or ""


def _own(function: c_ast.FuncDef) -> set[str]:
    """Return the variables that die with a call: numbers and arrays that it declares.

    A name that stands for something else, too, in an inner block, is none of them.
    """
    arguments = function.decl.type.args
    parameters = [*(arguments.params if arguments is not None else ())]
    found: dict[str, bool] = {}
    for root, is_parameter in [*((p, True) for p in parameters), (function.body, False)]:
        for node in below(root):
            if isinstance(node, c_ast.Decl) and node.name is not None:
                is_own = not node.storage and _is_held(node.type, is_parameter)
                found[node.name] = is_own and found.get(node.name, True)
    return {name for name, is_own in found.items() if is_own}


def _is_held(type_: c_ast.Node, is_parameter: bool) -> bool:
    """Return whether a variable of a type holds what is assigned by way of its name."""
    while isinstance(type_, c_ast.ArrayDecl) and not is_parameter:
        type_ = type_.type
    if not isinstance(type_, c_ast.TypeDecl):
        return False
    # A name of a type may stand for a pointer.
    return not isinstance(type_.type, c_ast.IdentifierType) or set(type_.type.names) <= NUMBERS
