"""Reads whose element depends on data: where their subscripts may lie.

    s = sbox[x & 15];           some element from 0 to 15

What the text of a subscript tells is found here. What the rest of the program tells, and whether
it is enough, is found on the whole program (`poly.lookups`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rtlgen.frontend.analysis.guards import Guard
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.values import ObstacleKind
from rtlgen.frontend.reading.refusals import subscript_refusal
from rtlgen.frontend.reading.symbols import LookedUp
from rtlgen.frontend.syntax.types import OPEN
from rtlgen.ir.affine import Affine
from rtlgen.ir.conditions import facts_of
from rtlgen.ir.expr import Expr
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.quotients import simplified_parts
from rtlgen.ir.scop import Access, Window
from rtlgen.ir.value_ranges import Range, ValueRanges, value_range

_NEVER_BOUNDED = (ObstacleKind.ARGUMENT, ObstacleKind.WRAPS)
"""Obstacles of values of which the rest of the program tells nothing more."""


def window(
    index: LookedUp,
    extent: int,
    ranges: Ranges,
    told: Callable[[Expr], Range | None],
    *,
    is_conditional: bool,
) -> Window:
    """Return the part of a dimension of `extent` elements that a subscript may lie in.

    Parameters
    ----------
    told: returns what assertions say of a value.

    Raises
    ------
    ParameterInControl, IndexWraps: nothing keeps it inside of the array.
    """
    expr, iterators = index.value.expr, ranges.boxes()
    low, high = value_range(expr, iterators)
    stated = told(expr)
    if stated is not None:
        low, high = max(low, stated[0]), min(high, stated[1])
    last = high if extent == OPEN else extent - 1
    obstacle = index.value.obstacle
    assert obstacle is not None, "what is looked up is not affine"
    is_inside = low >= 0 and high <= last
    if not is_inside and not is_conditional and obstacle.kind in _NEVER_BOUNDED:
        raise subscript_refusal(index.value, index.text, extent)
    first = min(max(low, 0), max(last, 0))
    known = quasi_affine(expr, iterators)
    return Window(first, max(first, min(high, last)), known, told=stated)


def stays_inside(access: Access, shape: Sequence[int], ranges: Ranges) -> bool:
    """Return whether an access cannot leave its array; where data decides, it is not known yet."""
    for subscript, extent in zip(access.subscripts, shape, strict=True):
        if isinstance(subscript, Affine):
            low, high = ranges.minimum(subscript), ranges.maximum(subscript)
        elif subscript.known is not None:
            low, high = value_range(subscript.known, ranges.boxes())
        else:
            return False
        if low < 0 or (extent != OPEN and high >= extent):
            return False
    return True


def guard_keeps_inside(access: Access, shape: Sequence[int], guard: Guard, ranges: Ranges) -> bool:
    """Return whether it is seen that a guard holds only where an access is inside of its array."""
    boxes = ranges.boxes()
    facts = facts_of(simplified_parts(guard.expr, boxes), True)
    values = ValueRanges(boxes)
    for subscript, extent in zip(access.subscripts, shape, strict=True):
        if isinstance(subscript, Affine):
            if ranges.minimum(subscript) < 0 or ranges.maximum(subscript) >= extent:
                return False
        elif subscript.known is not None:
            low, high = values.range(simplified_parts(subscript.known, boxes), facts)
            if low < 0 or high >= extent:
                return False
    return True


def bounds_of(access: Access, shape: Sequence[int]) -> tuple[Affine, ...]:
    """Return what is >= 0, all of it, just where the affine subscripts are inside of the array."""
    return tuple(
        bound
        for subscript, extent in zip(access.subscripts, shape, strict=True)
        if isinstance(subscript, Affine)
        for bound in (subscript, -subscript + (extent - 1))
        if extent != OPEN or bound is subscript
    )
