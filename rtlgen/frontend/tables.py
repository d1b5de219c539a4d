"""Arrays with initial values.

    const int w[4] = {3, 1, 4, 1};

is a table of constants. Where it is read with constant subscripts, the value takes its place. An
array that is not constant is filled from such a table, by a loop where it is declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.ir.types import IntType
from rtlgen.source import Span

MAX_ELEMENTS = 1 << 16
"""Elements of the largest table: more than the block RAM of a device holds is a mistake."""


def initial_values(
    node: c_ast.Node, shape: Sequence[int], element: IntType, reader: ExpressionReader, span: Span
) -> tuple[int, ...]:
    """Return the values of all elements, in the order in which they are stored.

    Raises
    ------
    InitialiserUnsupported: they are not constants in braces, one pair a dimension, or too many.
    """
    count = prod(shape)
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
    values: list[int] = []
    for part in node.exprs or ():
        values += _values(part, shape[1:], element, reader, span)
    return values + [0] * (prod(shape) - len(values))


def _refused(span: Span, why: str) -> InitialiserUnsupported:
    return InitialiserUnsupported(
        "this initial value of an array is not supported",
        labels=(Label(span, why),),
        help="give constants in braces, or fill the array in a loop",
    )
