"""`memset`, `memcpy` and `memmove` as the loops that they are.

Rewrite
-------
    memset(a, 0, sizeof a);                for (k = 0; k < 16; k++) a[k] = 0;          int a[16]
    memcpy(b[i], a, 8 * sizeof(int));      for (k = 0; k < 8; k++) b[i][k] = a[k];
    memmove(a + 1, a, 4 * sizeof(int));    for (k = 3; k >= 0; k--) (a + 1)[k] = a[k];

What is moved within one array goes from the end that is not overwritten; where that depends on
data, through an array of its own.
"""

from __future__ import annotations

from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import CallUnsupported
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.syntax.types import OPEN
from rtlgen.ir.affine import Affine
from rtlgen.ir.types import NumberType
from rtlgen.source import Span

_ARGUMENTS = 3
_SIZES = {8: "char", 16: "short", 32: "int", 64: "long"}


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
        if name == "memmove" and not _is_upward(reader, target, source):
            if _is_upward(reader, source, target):
                return _loops(node, target, source, names, extents, is_down=True)
            return _through(node, target, source, names, extents, element)
        value = source
    return _loops(node, target, value, names, extents)


def _loops(
    node: c_ast.FuncCall,
    target: c_ast.Node,
    value: c_ast.Node,
    names: list[str],
    extents: tuple[int, ...],
    *,
    is_down: bool = False,
) -> c_ast.Node:
    """Return the loops that set the elements of `target` to a constant, or those of an array.

    Parameters
    ----------
    is_down: the outermost one begins at the end.
    """
    if not isinstance(value, c_ast.Constant):
        value = _element(value, names, node)
    loop: c_ast.Node = c_ast.Assignment("=", _element(target, names, node), value, node.coord)
    for level in reversed(range(len(names))):
        loop = _counting(names[level], extents[level], loop, node, is_down and not level)
    return loop


def _is_upward(reader: ExpressionReader, target: c_ast.Node, source: c_ast.Node) -> bool:
    """Return whether elements may be moved from the first one on, one after the other."""
    to, at = (reader.elements.part(_uncast(place)) for place in (target, source))
    if to.variable != at.variable:
        return True
    distance = Affine()
    ends = zip((*to.subscripts, to.offset), (*at.subscripts, at.offset), strict=True)
    for level, (first, second) in enumerate(ends):
        if not isinstance(first, Affine) or not isinstance(second, Affine):
            return False
        distance += (first - second) * prod(to.variable.shape[level + 1 :])
    return reader.arithmetic.ranges.maximum(distance) <= 0


def _through(
    node: c_ast.FuncCall,
    target: c_ast.Node,
    source: c_ast.Node,
    names: list[str],
    extents: tuple[int, ...],
    element: NumberType,
) -> c_ast.Compound:
    """Return the loops that move elements by way of another array."""
    kept, at = c_ast.ID("memmove_kept", node.coord), node.coord
    sign = "signed" if element.signed else "unsigned"
    words = ["_Bool"] if element.is_bool else [sign, _SIZES[element.width_bits]]
    type_: c_ast.Node = c_ast.TypeDecl(kept.name, [], None, c_ast.IdentifierType(words, at), at)
    for extent in reversed(extents):
        type_ = c_ast.ArrayDecl(type_, c_ast.Constant("int", str(extent), at), [], at)
    declared = c_ast.Decl(kept.name, [], [], [], [], type_, None, None, at)
    moves = ((kept, source), (target, kept))
    return c_ast.Compound(
        [declared, *(_loops(node, to, from_, names, extents) for to, from_ in moves)], at
    )


def _rows(reader: ExpressionReader, node: c_ast.Node) -> tuple[tuple[int, ...], NumberType]:
    """Return the extents of what a pointer points to, the first of them free, and its type."""
    part = reader.elements.part(_uncast(node))
    shape = part.variable.shape[len(part.subscripts) :]
    return shape or (OPEN,), part.variable.element


def _uncast(node: c_ast.Node) -> c_ast.Node:
    return node.expr if isinstance(node, c_ast.Cast) else node


def _filling(
    name: str, source: c_ast.Node, reader: ExpressionReader, element: NumberType, span: Span
) -> c_ast.Constant:
    """Return the element of which each byte is the one that `memset` is given."""
    byte = reader.value(source).constant
    if byte is None:
        raise _refusal(name, span, "the byte is not a constant")
    pattern = (byte & 0xFF) * (((1 << element.width_bits) - 1) // 0xFF)
    return c_ast.Constant("unsigned long int", f"{pattern}UL", source.coord)


def _element(array: c_ast.Node, names: list[str], call: c_ast.Node) -> c_ast.Node:
    node = _uncast(array)
    for name in names:
        node = c_ast.ArrayRef(node, c_ast.ID(name, call.coord), call.coord)
    return node


def _counting(
    index: str, extent: int, body: c_ast.Node, call: c_ast.Node, is_down: bool
) -> c_ast.For:
    at = call.coord
    type_ = c_ast.TypeDecl(index, [], None, c_ast.IdentifierType(["int"], at), at)
    first, end = (extent - 1, 0) if is_down else (0, extent)
    start = c_ast.Constant("int", str(first), at)
    declared = c_ast.Decl(index, [], [], [], [], type_, start, None, at)
    bound = c_ast.Constant("int", str(end), at)
    condition = c_ast.BinaryOp(">=" if is_down else "<", c_ast.ID(index, at), bound, at)
    step = c_ast.UnaryOp("p--" if is_down else "p++", c_ast.ID(index, at), at)
    return c_ast.For(c_ast.DeclList([declared], at), condition, step, body, at)


def _refusal(name: str, span: Span, reason: str) -> CallUnsupported:
    return CallUnsupported(
        f"this `{name}` cannot be written as a loop",
        labels=(Label(span, reason),),
        help="write the loop over the elements",
    )
