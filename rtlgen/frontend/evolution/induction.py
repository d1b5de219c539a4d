"""What scalars hold, and what a loop that moves them by a constant makes of them.

for (j = 0; j < 8; j++) { a[k] = 0; k += 2; }        k is k0 + 2 * j inside, k0 + 16 behind
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT64

State: TypeAlias = Mapping[str, Affine | None]
"""What scalars hold, by their unique names; None where that is not known."""


def symbol(variable: Variable) -> Affine:
    """Return what a scalar held before."""
    return Affine.variable(symbol_of(variable))


def by_constant(after: Affine | None, variable: Variable) -> int | None:
    """Return by how much a scalar has moved; None if that is no constant."""
    gone = None if after is None else after - symbol(variable)
    return gone.constant if gone is not None and gone.is_constant else None


def symbol_of(variable: Variable) -> str:
    """Return the name of what a scalar held before."""
    return f"{variable.name} before"


def number_in(state: State, variable: Variable) -> int | None:
    """Return the value of a scalar, if it is a number."""
    value = state.get(variable.name)
    return value.constant if value is not None and value.is_constant else None


def trip_count(loop: Loop) -> Affine | None:
    """Return how often a loop runs, if that is affine; below 0 it stands for 0."""
    room = loop.stop - loop.start
    if room.is_constant:
        return Affine((), max(0, -(-room.constant // loop.step)))
    return room * loop.step if abs(loop.step) == 1 else None


def moved_inside(before: Affine | Expr, loop: Loop, move: int) -> Affine | Expr:
    """Return what a scalar is in an iteration of a loop, each of which moves it."""
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    size = abs(loop.step)
    if isinstance(before, Affine) and move % size == 0:
        return before + gone * (move // size)
    by: Expr = IndexValue(gone * (move // size if move % size == 0 else 1), INT64)
    if move % size:
        steps = Binary("div", by, Constant(size, INT64), INT64)
        by = Binary("mul", steps, Constant(move, INT64), INT64)
    return Binary("add", _wide(before), by, INT64)


def moved_behind(
    before: Affine | Expr, loop: Loop, move: int, ranges: Ranges
) -> Affine | Expr | None:
    """Return what a scalar is behind a loop, each iteration of which moves it, if that is known."""
    whole = distance(loop, move, ranges)
    if whole is None:
        return None
    if isinstance(before, Affine):
        return before + whole
    return Binary("add", before, _wide(whole), INT64)


def _wide(value: Affine | Expr) -> Expr:
    if isinstance(value, Affine):
        return IndexValue(value, INT64)
    return value if value.type == INT64 else Cast(value, INT64)


def distance(loop: Loop, move: int, ranges: Ranges) -> Affine | None:
    """Return by how much all iterations of a loop move something, if affine."""
    trips = trip_count(loop)
    return None if trips is None or ranges.minimum(trips) < 0 else trips * move
