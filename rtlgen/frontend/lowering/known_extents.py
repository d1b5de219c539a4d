"""Extents of local arrays that are variables with one value.

Rewrite
-------
    int n = 8, t[n];            int n = 8, t[8];            n is never assigned
"""

from __future__ import annotations

from copy import copy

from pycparser import c_ast

from rtlgen.frontend.constants import integer_constant
from rtlgen.frontend.types import integer_type
from rtlgen.frontend.writers import assigned, below
from rtlgen.ir.types import IntType


def take_known_extents(tree: c_ast.FileAST) -> None:
    """Rewrite all functions of a file in place."""
    shared = {node.name for node in tree.ext if isinstance(node, c_ast.Decl)}
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            _rewrite(node, shared)


def _rewrite(function: c_ast.FuncDef, shared: set[str | None]) -> None:
    declared = [part for part in below(function) if isinstance(part, c_ast.Decl)]
    arrays = [part for part in declared if isinstance(part.type, c_ast.ArrayDecl)]
    asked = {
        part.name
        for array in arrays
        for dim in _extents(array)
        for part in below(dim)
        if isinstance(part, c_ast.ID)
    }
    if not asked:
        return
    changed = {name for name, _ in assigned(function.body)}
    names = [part.name for part in declared]
    known = {
        part.name: part.init
        for part in declared
        if part.name in asked - changed - shared
        # Another one of that name might be meant.
        and names.count(part.name) == 1
        and _holds(part)
        # A constant is one already.
        and not part.storage
        and "const" not in part.quals
    }
    for array in arrays:
        inner = array.type
        while isinstance(inner, c_ast.ArrayDecl):
            inner.dim = None if inner.dim is None else _replaced(inner.dim, known)
            inner = inner.type


def _holds(node: c_ast.Decl) -> bool:
    """Return whether a variable is given a literal that its type holds."""
    inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
    if not isinstance(inner, c_ast.IdentifierType) or not isinstance(node.init, c_ast.Constant):
        return False
    is_size = inner.names == ["size_t"]
    type_ = IntType(64, False) if is_size else integer_type(inner.names)
    try:
        value, _ = integer_constant(node.init.value)
    except ValueError:
        return False
    return type_ is not None and value <= type_.maximum


def _extents(array: c_ast.Decl) -> list[c_ast.Node]:
    found, inner = [], array.type
    while isinstance(inner, c_ast.ArrayDecl):
        found += [] if inner.dim is None else [inner.dim]
        inner = inner.type
    return found


def _replaced(node: c_ast.Node, known: dict[str, c_ast.Node]) -> c_ast.Node:
    """Return an extent with values in place of variables."""
    match node:
        case c_ast.ID(name=name) if name in known:
            value = copy(known[name])
            value.coord = node.coord
            return value
        case c_ast.BinaryOp():
            node.left, node.right = _replaced(node.left, known), _replaced(node.right, known)
        case c_ast.UnaryOp() | c_ast.Cast():
            node.expr = _replaced(node.expr, known)
    return node
