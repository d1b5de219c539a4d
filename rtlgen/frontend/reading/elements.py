"""Arrays, parts of arrays and elements, as expressions with pointers name them.

a[i]      *(a + i)      (&a[i])[0]         one element
a + 4     &a[4]                            the part of `a` from element 4 on

A subscript is affine in the iterators, or it is looked up: its value is computed while it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.values import ObstacleKind, Value
from rtlgen.frontend.errors import (
    CallArguments,
    IndexWraps,
    NonAffineSubscript,
    ParameterInControl,
    PointerUnsupported,
    SubscriptCount,
)
from rtlgen.frontend.reading.lookups import window
from rtlgen.frontend.reading.refusals import expression_refusal, subscript_refusal, unknown_name
from rtlgen.frontend.reading.symbols import Index, LookedUp, Scopes, Unusable, Variable, View
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.types import OPEN, CType
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Expr, IndexValue, Unary
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.scop import Access, Window
from rtlgen.ir.types import INT64
from rtlgen.ir.value_ranges import value_range
from rtlgen.source import Span

_START = Affine()

COMPUTED = (NonAffineSubscript, ParameterInControl, IndexWraps)
"""Refusals of elements that iterators alone do not tell: which one it is may still be computed."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is left of an array when its first dimensions have subscripts.

    Members
    -------
    name: as the text calls it.
    offset: what the next subscript is counted from.
    is_pointed_to: it is reached through a pointer.
    is_whole: it is the address of the whole variable, so that one subscript more names nothing.
    """

    name: str
    variable: Variable
    subscripts: tuple[Index, ...] = ()
    offset: Index = _START
    is_pointed_to: bool = False
    is_whole: bool = False

    def element(self, subscript: Index) -> Part:
        """Return what one more subscript names."""
        place = plus(self.offset, subscript)
        if self.is_whole and (place == Affine() or self.variable.shape == ()):
            return replace(self, offset=Affine(), is_whole=False, is_pointed_to=False)
        return replace(self, subscripts=(*self.subscripts, place), offset=Affine(), is_whole=False)

    def moved(self, step: Index) -> Part:
        """Return the part that begins `step` further on."""
        return replace(self, offset=plus(self.offset, step))

    def address(self) -> Part:
        """Return the part that begins with this element."""
        if not self.subscripts:
            return replace(self, is_whole=not self.is_pointed_to)
        return replace(self, subscripts=self.subscripts[:-1], offset=self.subscripts[-1])


def plus(a: Index, b: Index) -> Index:
    """Return the sum of two subscripts, as exact as pointers are."""
    if isinstance(a, Affine) and isinstance(b, Affine):
        return a + b
    if b == Affine():
        return a
    if a == Affine():
        return b
    known = b if isinstance(b, LookedUp) else a
    assert isinstance(known, LookedUp)
    return _computed(Binary("add", _wide(a), _wide(b), INT64), known)


def negated(place: Index) -> Index:
    """Return a subscript with the other sign."""
    if isinstance(place, Affine):
        return -place
    return _computed(Unary("neg", _wide(place), INT64), place)


def _wide(place: Index) -> Expr:
    if isinstance(place, Affine):
        return IndexValue(place, INT64)
    return Cast(place.value.expr, INT64)


def _computed(expr: Expr, of: LookedUp) -> LookedUp:
    return LookedUp(Value(expr, None, of.value.obstacle, of.value.span), of.text)


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a variable, as the text names it."""

    variable: Variable
    subscripts: tuple[Index, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Written:
    """The element that is assigned.

    Members
    -------
    at: where data decides which one it is, the values of the subscripts that are no affine ones.
    """

    variable: Variable
    access: Access
    at: tuple[Expr, ...] = ()


class ElementReader:
    """Reads lvalues, and arguments that are arrays.

    Parameters
    ----------
    ranges: the loops and conditions around them.
    subscript: returns the value of a subscript.
    note_access: is told of every element that is assigned.
    """

    def __init__(
        self,
        locator: Locator,
        scopes: Scopes,
        ranges: Ranges,
        subscript: Callable[[c_ast.Node], Value],
        note_access: Callable[[Variable, Access], None],
    ) -> None:
        self._locator = locator
        self._scopes = scopes
        self._ranges = ranges
        self._value = subscript
        self._note_access = note_access

    def written(self, node: c_ast.Node) -> Written:
        """Return the element that is assigned, as iterators tell it.

        Raises
        ------
        NonAffineSubscript, ParameterInControl, IndexWraps: see `COMPUTED`.
        """
        element = self.element(node)
        return Written(element.variable, self._access(element, self._known))

    def computed(self, node: c_ast.Node, *, is_conditional: bool) -> Written:
        """Return the element that is assigned, which data decides.

        Parameters
        ----------
        is_conditional: it is assigned only where a condition on data holds.

        Raises
        ------
        ParameterInControl, IndexWraps: nothing keeps it inside of its array.
        """
        element = self.element(node)

        def place(index: LookedUp, extent: int) -> Window:
            return window(index, extent, self._ranges, is_conditional=is_conditional)

        at = tuple(i.value.expr for i in element.subscripts if isinstance(i, LookedUp))
        return Written(element.variable, self._access(element, place), at)

    def _access(self, element: Element, place: Callable[[LookedUp, int], Window]) -> Access:
        """Return the access to an element, and note it.

        Parameters
        ----------
        place: returns where a subscript that is no affine one lies, in a dimension of an extent.
        """
        variable = element.variable
        pairs = zip(element.subscripts, variable.shape, strict=True)
        subscripts = (i if isinstance(i, Affine) else place(i, extent) for i, extent in pairs)
        access = Access(variable.name, tuple(subscripts), element.span)
        self._note_access(variable, access)
        return access

    def _known(self, index: LookedUp, extent: int) -> Window:
        """Return a subscript that quotients and remainders of iterators make up."""
        iterators, obstacle = self._ranges.boxes(), index.value.obstacle
        known = quasi_affine(index.value.expr, iterators)
        if known is None:
            raise subscript_refusal(index.value, index.text)
        low, high = value_range(known, iterators)
        is_inside = low >= 0 and extent != OPEN and high < extent
        if obstacle is not None and obstacle.kind is ObstacleKind.WRAPS and not is_inside:
            # Nobody means to leave an array by wrapping round.
            raise subscript_refusal(index.value, index.text)
        return Window(low, high, known)

    def element(self, node: c_ast.Node) -> Element:
        """Return the element that an expression names."""
        part = self.part(node)
        shape, span = part.variable.shape, self._locator.span(node)
        if part.is_whole or (part.is_pointed_to and not part.subscripts):
            raise PointerUnsupported(
                f"the pointer `{part.name}` is used as a value",
                labels=(Label(span, "a pointer"),),
                help=f"write `*{part.name}` or `{part.name}[0]`",
            )
        if len(part.subscripts) != len(shape) or part.offset != Affine():
            raise SubscriptCount(
                f"`{part.name}` has {_count(len(shape), 'dimension')}, not {len(part.subscripts)}",
                labels=(Label(span, f"{_count(len(part.subscripts), 'subscript')} here"),),
                notes=(f"`{part.name}` is declared at {part.variable.span}",),
            )
        return Element(part.variable, part.subscripts, span)

    def view(
        self, node: c_ast.Node, parameter: str, type_: CType, *, is_at_once: bool = False
    ) -> View:
        """Return what an array parameter of that type is when `node` is its argument.

        Parameters
        ----------
        is_at_once: nothing is assigned before the last use of it, so that it may depend on data.
        """
        part = self.part(node)
        variable = part.variable
        for place in (*part.subscripts, part.offset):
            if isinstance(place, LookedUp) and not is_at_once:
                raise subscript_refusal(place.value, place.text)
        left = variable.shape[len(part.subscripts) :]
        if part.is_whole:
            left = (1, *left)
        if (
            variable.element != type_.element
            or len(left) != len(type_.shape)
            or left[1:] != type_.shape[1:]
        ):
            raise CallArguments(
                f"the argument does not fit the parameter `{parameter}`",
                labels=(Label(self._locator.span(node), "another type, or other extents"),),
                notes=(f"`{part.name}` is declared at {variable.span}",),
                help="give both the same element type, and the same extents behind the first",
            )
        is_const = variable.is_const or type_.is_const
        return View(
            parameter, variable, part.subscripts, part.offset, is_const, is_whole=part.is_whole
        )

    def part(self, node: c_ast.Node) -> Part:
        """Return the array, the part of one, or the element that an expression names."""
        match node:
            case c_ast.ID():
                return self._whole(node)
            case c_ast.ArrayRef():
                return self.part(node.name).element(self._subscript(node.subscript))
            case c_ast.UnaryOp(op="*"):
                return self.part(node.expr).element(Affine())
            case c_ast.UnaryOp(op="&"):
                return self.part(node.expr).address()
            case c_ast.BinaryOp(op="+" | "-" as op):
                step = self._subscript(node.right)
                return self.part(node.left).moved(step if op == "+" else negated(step))
            case _:
                raise expression_refusal(node, self._locator.span(node))

    def _whole(self, node: c_ast.ID) -> Part:
        span = self._locator.span(node)
        match self._scopes.lookup(node.name):
            case Variable() as variable:
                return Part(node.name, variable)
            case View(_, variable, fixed, offset, is_whole=is_whole):
                return Part(
                    node.name, variable, fixed, offset, is_pointed_to=True, is_whole=is_whole
                )
            case None:
                raise unknown_name(node.name, span)
            case Unusable(error):
                raise error
            case _:
                raise SubscriptCount(
                    f"`{node.name}` is not an array", labels=(Label(span, "has subscripts"),)
                )

    def _subscript(self, node: c_ast.Node) -> Index:
        value = self._value(node)
        if value.affine is not None:
            return value.affine
        return LookedUp(value, self._locator.text(node))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
