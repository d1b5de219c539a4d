"""`memset` and `memcpy` as the loops that they are.

Rewrite
-------
    memset(a, 0, sizeof a);                for (k = 0; k < 16; k++) a[k] = 0;          int a[16]
    memcpy(b[i], a, 8 * sizeof(int));      for (k = 0; k < 8; k++) b[i][k] = a[k];
"""

from __future__ import annotations

from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import CallUnsupported
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.types import OPEN
from rtlgen.ir.types import IntType
from rtlgen.source import Span

BLOCK_CALLS = frozenset(("memset", "memcpy", "memmove"))

_ARGUMENTS = 3


def block_loops(name: str, node: c_ast.FuncCall, reader: ExpressionReader) -> c_ast.Node:
    """Return the loops that do what a call of the function `name` does.

    Raises
    ------
    CallUnsupported: what it sets is no whole number of elements or rows, or not known.
    """
    span = reader.span(node)
    arguments = list(node.args.exprs) if node.args is not None else []
    if len(arguments) != _ARGUMENTS:
        raise _refusal(name, span, "takes three arguments")
    target, source, size = arguments
    shape, element = _rows(reader, target)
    size_bytes = reader.value(size).constant
    if size_bytes is None:
        raise _refusal(name, span, "its size is not a constant")
    unit_bytes = prod(shape[1:]) * element.width_bits // 8
    if size_bytes % unit_bytes:
        raise _refusal(name, span, f"{size_bytes} bytes are no whole number of {unit_bytes}")
    extents = (size_bytes // unit_bytes, *shape[1:])
    names = [f"{name}_index{k}" for k in range(len(extents))]
    if name == "memset":
        value: c_ast.Node = _filling(name, source, reader, element, span)
    else:
        if _rows(reader, source)[1] != element or len(_rows(reader, source)[0]) != len(shape):
            raise _refusal(name, span, "the two have different types")
        if name == "memmove" and reader.elements.part(source).variable == (
            reader.elements.part(target).variable
        ):
            raise _refusal(name, span, "it moves elements within one array")
        value = _element(source, names, node)
    loop: c_ast.Node = c_ast.Assignment("=", _element(target, names, node), value, node.coord)
    for index, extent in zip(reversed(names), reversed(extents), strict=True):
        loop = _counting(index, extent, loop, node)
    return loop


def _rows(reader: ExpressionReader, node: c_ast.Node) -> tuple[tuple[int, ...], IntType]:
    """Return the extents of what a pointer points to, the first of them free, and its type."""
    if isinstance(node, c_ast.Cast):
        node = node.expr
    part = reader.elements.part(node)
    shape = part.variable.shape[len(part.subscripts) :]
    return shape or (OPEN,), part.variable.element


def _filling(
    name: str, source: c_ast.Node, reader: ExpressionReader, element: IntType, span: Span
) -> c_ast.Constant:
    """Return the element of which each byte is the one that `memset` is given."""
    byte = reader.value(source).constant
    if byte is None:
        raise _refusal(name, span, "the byte is not a constant")
    pattern = (byte & 0xFF) * (((1 << element.width_bits) - 1) // 0xFF)
    return c_ast.Constant("unsigned long int", f"{pattern}UL", source.coord)


def _element(array: c_ast.Node, names: list[str], call: c_ast.Node) -> c_ast.Node:
    node = array.expr if isinstance(array, c_ast.Cast) else array
    for name in names:
        node = c_ast.ArrayRef(node, c_ast.ID(name, call.coord), call.coord)
    return node


def _counting(index: str, extent: int, body: c_ast.Node, call: c_ast.Node) -> c_ast.For:
    at = call.coord
    type_ = c_ast.TypeDecl(index, [], None, c_ast.IdentifierType(["int"], at), at)
    zero = c_ast.Constant("int", "0", at)
    declared = c_ast.Decl(index, [], [], [], [], type_, zero, None, at)
    end = c_ast.Constant("int", str(extent), at)
    condition = c_ast.BinaryOp("<", c_ast.ID(index, at), end, at)
    step = c_ast.UnaryOp("p++", c_ast.ID(index, at), at)
    return c_ast.For(c_ast.DeclList([declared], at), condition, step, body, at)


def _refusal(name: str, span: Span, reason: str) -> CallUnsupported:
    return CallUnsupported(
        f"this `{name}` cannot be written as a loop",
        labels=(Label(span, reason),),
        help="write the loop over the elements",
    )
