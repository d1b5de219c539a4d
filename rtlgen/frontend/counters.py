"""Which declared variables only count loops: their initial values are never used."""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast


def loop_counters(body: c_ast.Node) -> frozenset[int]:
    """Return the ids of the declarations in `body` whose variables some `for` header sets.

    Names are resolved as C does, so that a variable of the same name in another block is not
    taken for the counter.
    """
    found: set[int] = set()
    _visit(body, ({},), found)
    return frozenset(found)


def _visit(node: c_ast.Node, scopes: Sequence[dict[str, c_ast.Decl]], found: set[int]) -> None:
    match node:
        case c_ast.Compound():
            scopes = (*scopes, {})
        case c_ast.Decl():
            scopes[-1][node.name] = node
            return
        case c_ast.For(init=c_ast.Assignment(lvalue=c_ast.ID(name=name))):
            declaration = next((s[name] for s in reversed(scopes) if name in s), None)
            if declaration is not None:
                found.add(id(declaration))
        case c_ast.For():
            scopes = (*scopes, {})
    for _, child in node.children():
        _visit(child, scopes, found)
