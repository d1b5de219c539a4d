"""Variables that are `volatile`, as plain ones.

Rewrite
-------
    volatile int v;      ->      int v;

While a circuit runs, nobody else reads or writes what it works on.
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.writers import below


def drop_volatile(root: c_ast.Node) -> list[c_ast.Node]:
    """Rewrite what is below `root` in place; return the declarations that were `volatile`."""
    found: list[c_ast.Node] = []
    for node in below(root):
        match node:
            case c_ast.TypeDecl() | c_ast.PtrDecl() if "volatile" in (node.quals or ()):
                found.append(node)
                node.quals = [each for each in node.quals if each != "volatile"]
            case c_ast.Decl() | c_ast.Typename():
                node.quals = [each for each in node.quals or () if each != "volatile"]
    return found
