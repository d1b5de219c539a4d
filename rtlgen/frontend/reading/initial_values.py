"""Initial values of arrays: which element each of them is for, and tables of constants.

    const int w[2][3] = {1, 2, 3, [1][2] = 9};

is a table of constants: 1, 2, 3, 0, 0, 9. Where it is read with constant subscripts, the value
takes its place. An array that is not constant is filled where it is declared (see `filling`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import FrontendError, InitialiserUnsupported
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.syntax.types import OPEN
from rtlgen.frontend.text.constants import CHARACTER, character_constant
from rtlgen.ir.types import INT64, NumberType
from rtlgen.source import Span

MAX_ELEMENTS = 1 << 16
"""Elements of the largest table: more than the block RAM of a device holds is a mistake."""


@dataclass(frozen=True, slots=True)
class InitialValues:
    """What the elements of an array are set to, in the order in which they are stored.

    Members
    -------
    constants: of all elements; 0 for one that is computed.
    computed: the expressions of those that are no constants, by their number.
    """

    constants: tuple[int, ...]
    computed: Mapping[int, c_ast.Node]


def initial_values(
    node: c_ast.Node,
    shape: Sequence[int],
    element: NumberType,
    reader: ExpressionReader,
    span: Span,
    *,
    may_be_computed: bool = False,
) -> InitialValues:
    """Return what all elements of an array, or a scalar, are set to.

    Parameters
    ----------
    may_be_computed: where it is declared, they are assigned; else they have to be constants.

    Raises
    ------
    InitialiserUnsupported: one is no constant, or they do not fit the array.
    """
    if not shape:
        return InitialValues((_constant(_unbraced(node, span), element, reader),), {})
    count = prod(shape)
    if count > MAX_ELEMENTS:
        raise _refused(span, f"the array has {count} elements, at most {MAX_ELEMENTS} are set")
    constants = [0] * count
    computed: dict[int, c_ast.Node] = {}
    for at, value in _filler(node, shape, element, reader, span).values.items():
        try:
            constants[at] = value if isinstance(value, int) else _constant(value, element, reader)
        except FrontendError:
            if not may_be_computed or isinstance(value, int):
                raise
            # Where it is assigned, it is read again, and refused if it has to be.
            computed[at] = value
    return InitialValues(tuple(constants), computed)


def first_extent(
    node: c_ast.Node,
    inner: Sequence[int],
    element: NumberType,
    reader: ExpressionReader,
    span: Span,
) -> int:
    """Return the first extent of an array that its values give it.

    Parameters
    ----------
    inner: the other extents.
    """
    return max(1, -(-_filler(node, (OPEN, *inner), element, reader, span).end // prod(inner)))


def _filler(
    node: c_ast.Node,
    shape: Sequence[int],
    element: NumberType,
    reader: ExpressionReader,
    span: Span,
) -> _Filler:
    filler = _Filler(element, reader, span)
    if isinstance(node, c_ast.InitList):
        filler.fill(node, shape, 0)
    elif _is_text(node) and len(shape) == 1:
        filler.text(node.value, shape[0], 0)
    else:
        raise _refused(span, "its values stand in no braces")
    return filler


@dataclass(slots=True)
class _Filler:
    """Takes one initial value after the other to its element (C11 6.7.9).

    Members
    -------
    values: expressions, and the numbers of characters, by element. end: behind the last one.
    """

    element: NumberType
    reader: ExpressionReader
    span: Span
    values: dict[int, c_ast.Node | int] = field(default_factory=dict)
    end: int = 0

    def fill(
        self, node: c_ast.InitList, shape: Sequence[int], base: int, places: str = "places"
    ) -> None:
        """Take the values in one pair of braces to the array of extents `shape` at `base`.

        Parameters
        ----------
        places: what a refusal calls its elements.
        """
        values = list(node.exprs or ())
        if len(values) == 1 and len(shape) == 1 and _is_text(values[0]):
            self.text(values[0].value, shape[0], base)
            return
        at, size = 0, prod(shape)
        for value in values:
            depth = None
            if isinstance(value, c_ast.NamedInitializer):
                at, depth = self._designated(value.name, shape)
                value = value.expr
            if shape[0] != OPEN and at >= size:
                raise _refused(self.span, f"more values than {places}")
            at += self._take(value, shape, at, depth, base)

    def _take(
        self, value: c_ast.Node, shape: Sequence[int], at: int, depth: int | None, base: int
    ) -> int:
        """Take one value to element `at` or the part that begins there; return its size.

        Parameters
        ----------
        depth: of the part that a designator names; None for the next one.
        """
        if isinstance(value, c_ast.InitList):
            inner = shape[depth if depth is not None else _level(shape, at) :]
            if not inner:
                self._set(base + at, _unbraced(value, self.span))
                return 1
            for taken in range(base + at, base + at + prod(inner)):
                self.values.pop(taken, None)
            self.fill(value, inner, base + at, f"the {prod(inner)} places in these braces")
            self.end = max(self.end, base + at + prod(inner))
            return prod(inner)
        if _is_text(value) and at % shape[-1] == 0 and len(shape) > 1:
            self.text(value.value, shape[-1], base + at)
            return shape[-1]
        self._set(base + at, value)
        return 1

    def text(self, literal: str, extent: int, base: int) -> None:
        """Take characters to their elements; the last one may have no place (C11 6.7.9, 14)."""
        characters = CHARACTER.findall(literal[1:-1]) if literal.startswith('"') else None
        count = len(characters or ())
        extent = count + 1 if extent == OPEN else extent
        if characters is None or self.element.width_bits != 8 or count > extent:
            raise _refused(self.span, "a string that does not fit")
        try:
            numbers = [self.element.wrap(character_constant(f"'{c}'")) for c in characters]
        except ValueError as error:
            raise _refused(self.span, str(error)) from error
        for at in range(extent):
            self._set(base + at, numbers[at] if at < count else 0)

    def _set(self, at: int, value: c_ast.Node | int) -> None:
        self.values[at] = value
        self.end = max(self.end, at + 1)

    def _designated(self, names: Sequence[c_ast.Node], shape: Sequence[int]) -> tuple[int, int]:
        """Return the element at which a designated part begins, and its depth."""
        at = 0
        for depth, name in enumerate(names):
            if depth >= len(shape) or not isinstance(name, c_ast.ArrayDesignator):
                raise _refused(self.span, "braces or names that do not follow the dimensions")
            number = _constant(name.expr, INT64, self.reader)
            if number < 0 or (shape[depth] != OPEN and number >= shape[depth]):
                raise _refused(self.reader.span(name.expr), f"there is no element {number}")
            at += number * prod(shape[depth + 1 :])
        return at, len(names)


def _level(shape: Sequence[int], at: int) -> int:
    """Return the depth of the largest part of an array that begins at an element."""
    return next(d for d in range(1, len(shape) + 1) if at % prod(shape[d:]) == 0)


def _is_text(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.type == "string"


def _unbraced(node: c_ast.Node, span: Span) -> c_ast.Node:
    """Return the value of a scalar, out of the braces around it."""
    if isinstance(node, c_ast.InitList) and len(node.exprs or ()) == 1:
        node = node.exprs[0]
    if isinstance(node, c_ast.InitList | c_ast.NamedInitializer):
        raise _refused(span, "braces or names that do not follow the dimensions")
    return node


def _constant(node: c_ast.Node, element: NumberType, reader: ExpressionReader) -> int:
    value = reader.arithmetic.convert(reader.value(node), element)
    if value.stored_constant is None:
        raise _refused(value.span, "this is no constant")
    return value.stored_constant


def _refused(span: Span, why: str) -> InitialiserUnsupported:
    return InitialiserUnsupported(
        "this initial value of an array is not supported",
        labels=(Label(span, why),),
        help="give constants in braces, or fill the array in a loop",
    )
