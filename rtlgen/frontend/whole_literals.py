"""Floating-point literals that are integers, where a value is converted to another type.

Rewrite
-------
    int sum = 0.0;        ->    int sum = 0;
    a[i] = (int)-2e3;     ->    a[i] = (int)-2000;

The conversion gives the same value (C11 6.3.1.4). Where a literal takes part in a calculation, that
is one in floating point, and it stays as it is.
"""

from __future__ import annotations

import re
import struct

from pycparser import c_ast

from rtlgen.frontend.writers import below

_FLOATING = frozenset(("float", "double", "long double"))


def take_whole_literals(root: c_ast.Node) -> list[c_ast.Constant]:
    """Rewrite what is below `root` in place; return what stands for floating-point literals."""
    found: list[c_ast.Constant] = []
    for node in below(root):
        match node:
            case c_ast.Assignment(op="="):
                node.rvalue = _whole(node.rvalue, found)
            case c_ast.Decl() if node.init is not None:
                node.init = _whole(node.init, found)
            case c_ast.Return() | c_ast.Cast() if node.expr is not None:
                node.expr = _whole(node.expr, found)
            case c_ast.FuncCall() if node.args is not None:
                node.args.exprs = [_whole(part, found) for part in node.args.exprs]
            case c_ast.InitList():
                node.exprs = [_whole(part, found) for part in node.exprs or ()]
    return found


def _whole(node: c_ast.Node, found: list[c_ast.Constant]) -> c_ast.Node:
    """Return an integer in place of a floating-point one, or the node itself."""
    match node:
        case c_ast.Constant(type=type_, value=text) if type_ in _FLOATING:
            value = _value(text)
            if value is None:
                return node
            found.append(c_ast.Constant("int", str(value), node.coord))
            return found[-1]
        case c_ast.UnaryOp(op="+" | "-", expr=inner):
            return c_ast.UnaryOp(node.op, _whole(inner, found), node.coord)
        case c_ast.Cast(
            to_type=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=names))),
            expr=inner,
        ) if set(names) & {"float", "double"} and (_is_floating(inner) or _is_integer(inner)):
            return _whole(inner, found)
        case c_ast.TernaryOp(iftrue=first, iffalse=second) if _are_numbers(first, second):
            arms = (_whole(first, found), _whole(second, found))
            return c_ast.TernaryOp(node.cond, *arms, node.coord)
    return node


def _are_numbers(first: c_ast.Node, second: c_ast.Node) -> bool:
    """Return whether both are literals, and what is converted is a floating-point number."""
    literals = all(_is_floating(arm) or _is_integer(arm) for arm in (first, second))
    return literals and (_is_floating(first) or _is_floating(second))


def _is_floating(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        return _is_floating(node.expr)
    is_literal = isinstance(node, c_ast.Constant) and node.type in _FLOATING
    return is_literal and _value(node.value) is not None


def _is_integer(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        return _is_integer(node.expr)
    return isinstance(node, c_ast.Constant) and node.type == "int" and node.value.isdecimal()


def _value(text: str) -> int | None:
    """Return the integer that a floating-point literal is; None if it is none."""
    match = re.fullmatch(r"(0[xX][^pP]+[pP][+-]?\d+|[\d.]+(?:[eE][+-]?\d+)?)([fFlL]?)", text)
    if match is None:
        return None
    digits, suffix = match.groups()
    try:
        value = float.fromhex(digits) if digits[:2] in ("0x", "0X") else float(digits)
        if suffix in ("f", "F"):
            (value,) = struct.unpack("f", struct.pack("f", value))
    except (ValueError, OverflowError):
        return None
    return int(value) if value.is_integer() else None
