"""Idioms of C programs as what they mean: small rewritings of one expression or definition each.

Rewrite
-------
    int f(a, n) int a[8]; int n; { S }         int f(int a[8], int n) { S }
    if (__builtin_expect(x > 0, 1)) S          if (x > 0) S
    volatile int n;                            int n;
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedDeclaration
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator


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


_HINTS = frozenset(("__builtin_expect", "__builtin_expect_with_probability"))


def drop_expectations(root: c_ast.Node) -> None:
    """Rewrite in place what is only asked whether it is 0."""
    for node in below(root):
        match node:
            case c_ast.If() | c_ast.TernaryOp() | c_ast.For() | c_ast.While():
                node.cond = _bare(node.cond)
            case c_ast.BinaryOp(op="&&" | "||"):
                node.left, node.right = _bare(node.left), _bare(node.right)
            case c_ast.UnaryOp(op="!"):
                node.expr = _bare(node.expr)


def _bare(node: c_ast.Node | None) -> c_ast.Node | None:
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[first, *_])) if (
            name in _HINTS
        ):
            return _bare(first)
    return node


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
