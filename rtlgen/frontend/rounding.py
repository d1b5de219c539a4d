"""Quotients that a program rounds by way of `double`, in integers.

Rewrite
-------
    floor((double)(n) / (double)(d))    ->   n < 0 ? -((-n + (d - 1)) / d) : n / d
    ceil((double)(n) / (double)(d))     ->   n < 0 ? -(-n / d) : (n + (d - 1)) / d

That is how PLUTO writes the bounds of tiled loops. The result is the same wherever a `double` holds
n exactly, as it holds every iterator.
"""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.writers import below

_ROUNDINGS = frozenset(("floor", "floorf", "ceil", "ceilf"))
_FLOATING = (["double"], ["float"])


def round_in_integers(tree: c_ast.FileAST) -> None:
    """Rewrite all rounded quotients of a file in place."""
    for node in [tree, *below(tree)]:
        for name in node.__slots__:
            value = getattr(node, name, None)
            if isinstance(value, c_ast.FuncCall):
                setattr(node, name, _rounded(value))
            elif isinstance(value, list):
                value[:] = [_rounded(x) if isinstance(x, c_ast.FuncCall) else x for x in value]


def _rounded(call: c_ast.FuncCall) -> c_ast.Node:
    """Return what stands in place of a call."""
    if not isinstance(call.name, c_ast.ID) or call.name.name not in _ROUNDINGS:
        return call
    match call.args:
        case c_ast.ExprList(exprs=[c_ast.BinaryOp(op="/", left=left, right=right)]):
            dividend, divisor = _integer(left), _integer(right)
        case _:
            return call
    if dividend is None or divisor is None:
        return call
    at = call.coord

    def binary(op: str, a: c_ast.Node, b: c_ast.Node) -> c_ast.BinaryOp:
        return c_ast.BinaryOp(op, a, b, at)

    def negative(a: c_ast.Node) -> c_ast.UnaryOp:
        return c_ast.UnaryOp("-", a, at)

    zero, one = (c_ast.Constant("int", digit, at) for digit in "01")
    most = binary("-", divisor, one)
    if call.name.name.startswith("floor"):
        below_zero = negative(binary("/", binary("+", negative(dividend), most), divisor))
        above = binary("/", dividend, divisor)
    else:
        below_zero = negative(binary("/", negative(dividend), divisor))
        above = binary("/", binary("+", dividend, most), divisor)
    return c_ast.TernaryOp(binary("<", dividend, zero), below_zero, above, at)


def _integer(node: c_ast.Node) -> c_ast.Node | None:
    """Return what is converted to a floating-point number."""
    match node:
        case c_ast.Cast(
            to_type=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)))
        ) if names in _FLOATING:
            return node.expr
    return None
