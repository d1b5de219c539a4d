"""Scalars that go round: a loop counts them up to a limit, and lets them begin again.

for (i = 0; i < n; i++) { ...; if (++c == 5) c = 0; }        c is i % 5 inside, n % 5 behind

Whether a statement only turns a scalar is found by carrying it out for every value the scalar may
have: whatever it is written with, `c` then goes through a range of values by equal steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, INT64, IntType

MAX_VALUES = 256
"""Values of a scalar up to which each is tried."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The value low + (form mod (modulus * scale)) / scale, rounded down.

    Members
    -------
    values: all that it may be.
    """

    low: int
    modulus: int
    form: Affine
    values: frozenset[int]
    scale: int = 1

    def moved(self, by: Affine, values: frozenset[int]) -> Turn:
        """Return the value when the form is larger by `by`."""
        return replace(self, form=self.form + by, values=values)

    def finer(self, factor: int) -> Turn:
        """Return the same value, its form counted in smaller parts."""
        return replace(self, form=self.form * factor, scale=self.scale * factor)

    def affine(self, ranges: Ranges) -> Affine | None:
        """Return the value where it never begins again."""
        turns = ranges.minimum(self.form) // self.modulus, ranges.maximum(self.form) // self.modulus
        if self.scale > 1 or turns[0] != turns[1]:
            return None
        return self.form + (self.low - turns[0] * self.modulus)

    def expr(self, type_: IntType, ranges: Ranges) -> Expr:
        """Return the value as an expression."""
        whole = self.modulus * self.scale
        # A dividend that is never negative is rounded down in C, too.
        form = self.form + max(0, -(ranges.minimum(self.form) // whole)) * whole
        wide = INT32 if ranges.maximum(form) + abs(self.low) <= INT32.maximum else INT64
        found: Expr = Binary("rem", IndexValue(form, wide), Constant(whole, wide), wide)
        if self.scale > 1:
            found = Binary("div", found, Constant(self.scale, wide), wide)
        if self.low:
            found = Binary("add", found, Constant(self.low, wide), wide)
        return found if wide == type_ else Cast(found, type_)


Effect: TypeAlias = Callable[[int], int | None]
"""What a statement makes of a value of a scalar; None where that depends on something else."""


def turn_of(
    before: Affine | Turn, effect: Effect, ranges: Ranges
) -> tuple[Affine | Turn, int] | None:
    """Return what a loop's body finds, and by how much it turns it; None if it does not.

    Parameters
    ----------
    before: the value before the loop. effect: of the body.
    """
    possible = before.values if isinstance(before, Turn) else _values(before, ranges)
    after = _closed(possible, effect)
    if after is None:
        return None
    moves = {new - old for old, new in after.items()}
    if moves == {0}:
        return before, 0
    if len(moves) != 2:
        return None
    low, modulus = min(after), max(moves) - min(moves)
    move = min(moves, key=abs)
    if max(after) >= low + modulus or not _turns(after, low, low, modulus, move):
        return None
    values = frozenset(after)
    if isinstance(before, Affine):
        return Turn(low, modulus, before - low, values), move
    if before.modulus != modulus:
        return None
    shifted = Affine((), (before.low - low) * before.scale)
    return replace(before.moved(shifted, values), low=low), move


def inside_loop(turn: Turn, move: int, loop: Loop) -> Turn:
    """Return the value in an iteration of a loop, each of which turns it by `move`."""
    ahead = Affine.variable(loop.iterator) - loop.start
    turned = turn.finer(abs(loop.step))
    by = move * turn.scale * (1 if loop.step > 0 else -1)
    return turned.moved(ahead * by, turn.values)


def after_statement(turn: Turn, effect: Effect) -> Turn | None:
    """Return what a statement leaves of a value that goes round; None if it is not known."""
    after = {value: effect(value) for value in turn.values}
    known = {old: new for old, new in after.items() if new is not None}
    if len(known) < len(after):
        return None
    low, (old, new) = min(known.values()), next(iter(known.items()))
    move = (new - low - (old - turn.low)) % turn.modulus
    if not _turns(known, turn.low, low, turn.modulus, move):
        return None
    values = frozenset(known.values())
    return replace(turn.moved(Affine((), move * turn.scale), values), low=low)


def _turns(after: Mapping[int, int], old_low: int, low: int, modulus: int, move: int) -> bool:
    return all(new == low + (old - old_low + move) % modulus for old, new in after.items())


def _values(form: Affine, ranges: Ranges) -> frozenset[int]:
    low, high = ranges.minimum(form), ranges.maximum(form)
    return frozenset(range(low, high + 1)) if high - low < MAX_VALUES else frozenset()


def _closed(values: Iterable[int], effect: Effect) -> dict[int, int] | None:
    """Return what becomes of every value that is ever reached."""
    after: dict[int, int] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in after:
            continue
        found = effect(value)
        if found is None or len(after) == MAX_VALUES:
            return None
        after[value] = found
        pending.append(found)
    return after or None
