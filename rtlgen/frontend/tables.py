"""Arrays with initial values.

    const int w[4] = {3, 1, 4, 1};

is a table of constants. Where it is read with constant subscripts, the value takes its place. An
array that is not constant is filled from such a table, by a loop where it is declared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.constants import character_constant
from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.ir.types import IntType
from rtlgen.source import Span

_CHARACTER = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|.)|[^\\]", re.DOTALL)

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
    if not shape:
        return (_scalar(node, element, reader, span),)
    if isinstance(node, c_ast.Constant) and node.type == "string" and len(shape) == 1:
        return _text(node.value, shape[0], element, span)
    if not isinstance(node, c_ast.InitList):
        raise _refused(span, "its values stand in no braces")
    pending = list(reversed(node.exprs or ()))
    values = _filled(pending, shape, element, reader, span)
    if pending:
        raise _refused(span, "more values than places")
    return tuple(values)


def _text(literal: str, extent: int, element: IntType, span: Span) -> tuple[int, ...]:
    """Return the characters of a string literal; its last one may have no place (C11 6.7.9, 14)."""
    characters = _CHARACTER.findall(literal[1:-1]) if literal.startswith('"') else None
    if characters is None or element.width_bits != 8 or len(characters) > extent:
        raise _refused(span, "a string that does not fit")
    try:
        values = [element.wrap(character_constant(f"'{c}'")) for c in characters]
    except ValueError as error:
        raise _refused(span, str(error)) from error
    return tuple(values + [0] * (extent - len(values)))


def rows(values: c_ast.InitList, inner: Sequence[int]) -> int:
    """Return the first extent of an array that its values give it.

    Parameters
    ----------
    inner: the other extents.
    """
    count = pending = 0
    for value in values.exprs or ():
        is_row = isinstance(value, c_ast.InitList) and not pending
        pending += 1
        if is_row or pending == prod(inner):
            count, pending = count + 1, 0
    return max(1, count + int(pending > 0))


def _filled(
    pending: list[c_ast.Node],
    shape: Sequence[int],
    element: IntType,
    reader: ExpressionReader,
    span: Span,
) -> list[int]:
    """Return the values of an array, taken off the end of `pending`; the rest of it is 0.

    What has no braces of its own takes as many values as it has places (C11 6.7.9, 20).
    """
    values: list[int] = []
    size = prod(shape[1:])
    for _ in range(shape[0]):
        if not pending:
            break
        if isinstance(pending[-1], c_ast.InitList) and len(shape) > 1:
            inner = list(reversed(pending.pop().exprs or ()))
            values += _filled(inner, shape[1:], element, reader, span)
            if inner:
                raise _refused(span, f"more values than the {size} places in these braces")
        elif len(shape) > 1:
            values += _filled(pending, shape[1:], element, reader, span)
        else:
            values.append(_scalar(pending.pop(), element, reader, span))
    return values + [0] * (prod(shape) - len(values))


def _scalar(node: c_ast.Node, element: IntType, reader: ExpressionReader, span: Span) -> int:
    if isinstance(node, c_ast.InitList) and len(node.exprs or ()) == 1:
        node = node.exprs[0]
    if isinstance(node, c_ast.InitList | c_ast.NamedInitializer):
        raise _refused(span, "braces or names that do not follow the dimensions")
    value = reader.value(node)
    if value.constant is None:
        raise _refused(value.span, "this is no constant")
    return element.wrap(value.constant)


def _refused(span: Span, why: str) -> InitialiserUnsupported:
    return InitialiserUnsupported(
        "this initial value of an array is not supported",
        labels=(Label(span, why),),
        help="give constants in braces, or fill the array in a loop",
    )
