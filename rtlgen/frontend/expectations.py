"""Conditions with a hint of how they mostly turn out.

Rewrite
-------
    if (__builtin_expect(x > 0, 1))      ->      if (x > 0)
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.writers import below

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
