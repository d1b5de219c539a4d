"""What the variable of a loop holds behind it.

for (i = 2; i < 9; i += 3) S            i is 11
for (j = i; j < n; j++) S               j is the greater of i and n
"""

from __future__ import annotations

from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.values import Obstacle, ObstacleKind, Value, exact, opaque
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue, Select
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, INT64, IntType
from rtlgen.source import Span


def exit_value(loop: Loop, type_: IntType, ranges: Ranges, span: Span) -> Value:
    """Return the first value with which a loop that has one bound does not go on.

    Parameters
    ----------
    type_: of the iterator; it holds all values up to that one.
    ranges: what is around the loop.
    """
    # What is left to go, whatever the direction.
    way = (loop.stop - loop.start) * (1 if loop.step > 0 else -1)
    if ranges.maximum(way) <= 0:
        return exact(loop.start, type_, span)
    is_entered = ranges.minimum(way) > 0
    end = _end(loop, way)
    if end is not None and (is_entered or ranges.minimum(way) == 0):
        return exact(end, type_, span)
    obstacle = Obstacle(ObstacleKind.NONLINEAR, "where a loop ends", span)
    beyond = exact(end, type_, span).expr if end is not None else _rounded_end(loop, way, type_)
    if not is_entered:
        stop, start = (exact(form, INT64, span).expr for form in (loop.stop, loop.start))
        enters = Binary("gt" if loop.step > 0 else "lt", stop, start, INT32)
        beyond = Select(enters, beyond, exact(loop.start, type_, span).expr, type_)
    return opaque(beyond, obstacle, span)


def _end(loop: Loop, way: Affine) -> Affine | None:
    """Return where a loop ends that is entered, or just not, if that is affine."""
    size = abs(loop.step)
    if way.is_constant:
        return loop.start + -(-way.constant // size) * loop.step
    return loop.stop if size == 1 else None


def _rounded_end(loop: Loop, way: Affine, type_: IntType) -> Expr:
    """Return where a loop of larger steps ends: its start and all steps."""
    size = abs(loop.step)
    steps = Binary("div", _wide(way + (size - 1)), Constant(size, INT64), INT64)
    moved = Binary("mul", steps, Constant(loop.step, INT64), INT64)
    return Cast(Binary("add", _wide(loop.start), moved, INT64), type_)


def _wide(form: Affine) -> Expr:
    return Constant(form.constant, INT64) if form.is_constant else IndexValue(form, INT64)
