"""Definitions with the types of parameters behind the list of their names, as C had them first.

Rewrite
-------
    int f(a, n) int a[8]; { ... }      ->      int f(int a[8], int n) { ... }
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedDeclaration
from rtlgen.frontend.locate import Locator


def type_parameters_in_place(tree: c_ast.FileAST, locator: Locator) -> None:
    """Rewrite all functions of a file in place.

    Raises
    ------
    UnsupportedDeclaration: a type is given to something that is no parameter.
    """
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef) and isinstance(node.decl.type, c_ast.FuncDecl):
            arguments = node.decl.type.args
            names = [p for p in arguments.params if isinstance(p, c_ast.ID)] if arguments else []
            if names or node.param_decls:
                _rewrite(node, names, locator)


def _rewrite(node: c_ast.FuncDef, names: list[c_ast.ID], locator: Locator) -> None:
    typed = {declared.name: declared for declared in node.param_decls or ()}
    listed = {name.name for name in names}
    for name, declared in typed.items():
        if name not in listed:
            raise UnsupportedDeclaration(
                f"`{name}` is no parameter of `{node.decl.name}`",
                labels=(Label(locator.name_span(declared, name)),),
                help="declare variables behind the opening brace",
            )
    if names:
        node.decl.type.args.params = [typed.get(name.name) or _int(name) for name in names]
    node.param_decls = None


def _int(name: c_ast.ID) -> c_ast.Decl:
    """Return the declaration of a parameter whose type is left out."""
    at = name.coord
    type_ = c_ast.TypeDecl(name.name, [], None, c_ast.IdentifierType(["int"], at), at)
    return c_ast.Decl(name.name, [], [], [], [], type_, None, None, at)
