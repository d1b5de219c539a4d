"""The statement that uses a scalar first, where it does nothing but set it.

for (...) { b[i] = 0; if (k == 5) k = 0; a[k] = x; k++; }        if (k == 5) k = 0;
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from rtlgen.frontend.writers import assigned, calls, mentions


def first_use(
    node: c_ast.Node, names: frozenset[str], is_entered: Callable[[c_ast.For], bool]
) -> c_ast.Node | None:
    """Return the first part of a statement that uses a scalar; None if it does more than set it.

    Parameters
    ----------
    names: what the text calls the scalar. is_entered: whether a loop surely has an iteration.
    """
    match node:
        case c_ast.Compound():
            # A function that is called may use a global.
            uses = (i for i in node.block_items or () if mentions(i, names) or calls(i))
            first = next(uses, None)
            return None if first is None else first_use(first, names, is_entered)
        case c_ast.Label():
            return first_use(node.stmt, names, is_entered)
        case c_ast.For():
            header = (part for part in (node.init, node.cond, node.next) if part is not None)
            if any(mentions(part, names) for part in header) or not is_entered(node):
                return None
            return first_use(node.stmt, names, is_entered)
        case c_ast.If() | c_ast.Assignment() | c_ast.UnaryOp():
            only = {name for name, _ in assigned(node)} <= names and not calls(node)
            return node if only else None
    return None
