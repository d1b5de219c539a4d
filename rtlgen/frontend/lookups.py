"""Reads whose element depends on data: where their subscripts may lie.

    s = sbox[x & 15];           some element from 0 to 15

What the text of a subscript tells is found here. What the rest of the program tells, and whether
it is enough, is found on the whole program (`poly.lookups`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.refusals import subscript_refusal
from rtlgen.frontend.symbols import LookedUp
from rtlgen.frontend.types import OPEN
from rtlgen.frontend.values import ObstacleKind
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Access, Window
from rtlgen.ir.value_ranges import value_range

_NEVER_BOUNDED = (ObstacleKind.ARGUMENT, ObstacleKind.WRAPS)
"""Obstacles of values of which the rest of the program tells nothing more."""


def window(index: LookedUp, extent: int, ranges: Ranges, *, is_conditional: bool) -> Window:
    """Return the part of a dimension of `extent` elements that a subscript may lie in.

    Raises
    ------
    ParameterInControl, IndexWraps: nothing keeps it inside of the array.
    """
    low, high = value_range(index.value.expr, ranges.boxes())
    last = high if extent == OPEN else extent - 1
    obstacle = index.value.obstacle
    assert obstacle is not None, "what is looked up is not affine"
    is_inside = low >= 0 and high <= last
    if not is_inside and not is_conditional and obstacle.kind in _NEVER_BOUNDED:
        raise subscript_refusal(index.value, index.text)
    first = min(max(low, 0), max(last, 0))
    return Window(first, max(first, min(high, last)))


def stays_inside(access: Access, shape: Sequence[int], ranges: Ranges) -> bool:
    """Return whether an affine access cannot leave its array; of a lookup that is not known yet."""
    return not access.is_lookup and all(
        ranges.minimum(subscript) >= 0 and (extent == OPEN or ranges.maximum(subscript) < extent)
        for subscript, extent in zip(access.affine, shape, strict=True)
    )


def bounds_of(access: Access, shape: Sequence[int]) -> tuple[Affine, ...]:
    """Return what is >= 0, all of it, just where an affine access is inside of its array."""
    return tuple(
        bound
        for subscript, extent in zip(access.affine, shape, strict=True)
        for bound in (subscript, -subscript + (extent - 1))
        if extent != OPEN or bound is subscript
    )
