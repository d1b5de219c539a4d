"""Idioms of C programs as what they mean: small rewritings of one expression or definition each.

Rewrite
-------
    int f(a, n) int a[8]; int n; { S }         int f(int a[8], int n) { S }
    if (__builtin_expect(x > 0, 1)) S          if (x > 0) S
    ceil((double)n / 4)                        the quotient of integers, rounded up
    (int)1e3                                   1000
    volatile int n;                            int n;
"""

from __future__ import annotations

import re
import struct

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


_WIDE_TYPES = frozenset(("float", "double", "long double"))


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
        case c_ast.Constant(type=type_, value=text) if type_ in _WIDE_TYPES:
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
    is_literal = isinstance(node, c_ast.Constant) and node.type in _WIDE_TYPES
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
