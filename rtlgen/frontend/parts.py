"""Arrays, parts of arrays and elements, as expressions with pointers name them.

a[i]      *(a + i)      (&a[i])[0]         one element
a + 4     &a[4]                            the part of `a` from element 4 on

A subscript is affine in the iterators, or it is looked up: its value is computed while it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtlgen.frontend.symbols import Index, LookedUp, Variable
from rtlgen.frontend.values import Value
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Expr, IndexValue, Unary
from rtlgen.ir.types import INT64

_START = Affine()


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
