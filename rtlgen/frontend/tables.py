"""Arrays with initial values.

    const int w[4] = {3, 1, 4, 1};

is filled by a loop of its own, before everything else when it is constant:

    for (int k = 0; k < 4; k++) w[k] = k < 2 ? (k < 1 ? 3 : 1) : (k < 3 ? 4 : 1);

Where a constant array is read with constant subscripts, the value itself takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.expr import Binary, Constant, Expr, IndexValue, Select
from rtlgen.ir.types import INT32, IntType
from rtlgen.source import Span

MAX_ELEMENTS = 256


def initial_values(
    node: c_ast.Node, shape: Sequence[int], element: IntType, reader: ExpressionReader, span: Span
) -> tuple[int, ...]:
    """Return the values of all elements, in the order in which they are stored.

    Raises
    ------
    InitialiserUnsupported: they are not constants in braces, one pair a dimension, or too many.
    """
    count = 1
    for extent in shape:
        count *= extent
    if count > MAX_ELEMENTS:
        raise _refused(span, f"the array has {count} elements, at most {MAX_ELEMENTS} are set")
    return tuple(_values(node, shape, element, reader, span))


def _values(
    node: c_ast.Node, shape: Sequence[int], element: IntType, reader: ExpressionReader, span: Span
) -> list[int]:
    if not shape:
        if isinstance(node, c_ast.InitList | c_ast.NamedInitializer):
            raise _refused(span, "braces or names that do not follow the dimensions")
        value = reader.value(node)
        if value.constant is None:
            raise _refused(value.span, "this is no constant")
        return [element.wrap(value.constant)]
    if not isinstance(node, c_ast.InitList):
        raise _refused(span, "one pair of braces is needed for each dimension")
    if len(node.exprs or ()) > shape[0]:
        raise _refused(span, f"{len(node.exprs)} values for {shape[0]} places")
    size = 1
    for extent in shape[1:]:
        size *= extent
    values: list[int] = []
    for part in node.exprs or ():
        values += _values(part, shape[1:], element, reader, span)
    return values + [0] * (shape[0] * size - len(values))


def _refused(span: Span, why: str) -> InitialiserUnsupported:
    return InitialiserUnsupported(
        "this initial value of an array is not supported",
        labels=(Label(span, why),),
        help="give constants in braces, or fill the array in a loop",
    )


def chosen(values: Sequence[int], position: Affine, element: IntType) -> Expr:
    """Return the expression that is `values[k]` where `position` is k."""
    return _chosen(values, 0, IndexValue(position, INT32), element)


def _chosen(values: Sequence[int], first: int, position: IndexValue, element: IntType) -> Expr:
    if len(set(values)) == 1:
        return Constant(values[0], element)
    half = len(values) // 2
    before = Binary("lt", position, Constant(first + half, INT32), INT32)
    low = _chosen(values[:half], first, position, element)
    high = _chosen(values[half:], first + half, position, element)
    return Select(before, low, high, element)


def position_of(subscripts: Sequence[Affine], shape: Sequence[int]) -> Affine:
    """Return the place of an element in the order in which the array is stored."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return affine_sum(s * stride for s, stride in zip(subscripts, strides, strict=True))
