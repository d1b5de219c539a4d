"""Scalars that go round, or step on whenever another one has gone round.

    for (i = 0; i < n; i++) { ...; if (++x == 5) { x = 0; y++; } }     x is i % 5, y is i / 5

Whether a statement only turns a scalar is found by carrying it out for every value the scalar may
have: whatever it is written with, `x` then goes through a range of values by equal steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.quotients import quotient
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, INT64, IntType

MAX_VALUES = 256
"""Values of a scalar up to which each is tried."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The value low + (pace * (form / scale)) mod modulus, the quotient rounded down.

    Members
    -------
    modulus: None where it never begins again.
    values: all that it may be; empty without a modulus.
    """

    low: Affine
    modulus: int | None
    form: Affine
    values: frozenset[int]
    scale: int = 1
    pace: int = 1

    def __post_init__(self) -> None:
        if self.modulus is not None and not (self.low.is_constant and self.pace > 0):
            raise ValueError(f"{self} does not go round")

    @property
    def period(self) -> int:
        """By how much the form is larger when it is the same again; 0 if it never is."""
        if self.modulus is None:
            return 0
        return self.scale * (self.modulus // gcd(self.modulus, self.pace))

    def at(self, form: int) -> int:
        """Return the value for a value of the form; it has to go round."""
        assert self.modulus is not None
        return self.low.constant + self.pace * (form // self.scale) % self.modulus

    def moved(self, by: Affine) -> Turn:
        """Return the value when the form is larger by `by`."""
        return replace(self, form=self.form + by)

    def finer(self, factor: int) -> Turn:
        """Return the same value, its form counted in smaller parts."""
        return replace(self, form=self.form * factor, scale=self.scale * factor)

    def range(self, ranges: Ranges) -> tuple[int, int]:
        """Return bounds of the value."""
        if self.modulus is not None:
            return min(self.values), max(self.values)
        whole = self.low * self.scale + self.form * self.pace
        lost = self.pace * (self.scale - 1)
        low, high = ranges.minimum(whole) - max(0, lost), ranges.maximum(whole) - min(0, lost)
        return -(-low // self.scale), high // self.scale

    def affine(self, ranges: Ranges) -> Affine | None:
        """Return the value where it is affine, and never begins again."""
        steps = quotient(self.form, self.scale, ranges.boxes())
        if steps is None:
            return None
        whole = steps * self.pace
        if self.modulus is None:
            return self.low + whole
        turns = {ranges.minimum(whole) // self.modulus, ranges.maximum(whole) // self.modulus}
        if len(turns) > 1:
            return None
        return self.low + whole - turns.pop() * self.modulus

    def expr(self, type_: IntType, ranges: Ranges) -> Expr:
        """Return the value as an expression."""
        # A dividend that is never negative is rounded down in C, too.
        lift = -(ranges.minimum(self.form) // (self.period or self.scale))
        form = self.form + max(0, lift) * (self.period or self.scale)
        low = self.low
        if self.modulus is None:
            low -= max(0, lift) * self.pace
        wide = _holding(form * self.pace, low, ranges)
        found: Expr = IndexValue(form, wide)
        if self.modulus is not None and self.pace == 1:
            found = _applied("rem", found, self.modulus * self.scale, wide)
        found = _applied("div", found, self.scale, wide)
        if self.pace != 1:
            found = _applied("mul", found, self.pace, wide)
            if self.modulus is not None:
                found = _applied("rem", found, self.modulus, wide)
        if low != Affine():
            more = Constant(low.constant, wide) if low.is_constant else IndexValue(low, wide)
            found = Binary("add", found, more, wide)
        return found if wide == type_ else Cast(found, type_)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a scalar is at one place of a loop's body.

    Members
    -------
    law: its value in all iterations in which it is read; None where there is none.
    values: by the value of the iterator.
    """

    iterator: str
    law: Turn | None
    values: Mapping[int, int]

    def known(self, ranges: Ranges) -> Affine | Turn | None:
        """Return the value inside of `ranges`, as a function of the iterators."""
        if self.law is not None:
            return self.law.affine(ranges) or self.law
        at = Affine.variable(self.iterator)
        first, last = ranges.minimum(at), ranges.maximum(at)
        value = self.values.get(first) if first == last else None
        return None if value is None else Affine((), value)


def _holding(form: Affine, low: Affine, ranges: Ranges) -> IntType:
    """Return a type for what is computed on the way."""
    bounds = [getattr(ranges, end)(part) for end in ("minimum", "maximum") for part in (form, low)]
    return INT32 if 2 * sum(abs(bound) for bound in bounds) <= INT32.maximum else INT64


def _applied(op: str, expr: Expr, constant: int, type_: IntType) -> Expr:
    if op == "div" and constant == 1:
        return expr
    match op:
        case "div" | "rem" | "mul":
            return Binary(op, expr, Constant(constant, type_), type_)
    raise ValueError(op)


Effect: TypeAlias = Callable[[int], int | None]
"""What a statement makes of a value of a scalar; None where that depends on something else."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What a statement does that makes low + (value - low + move) mod modulus of a value.

    Members
    -------
    values: all that are ever reached.
    """

    low: int
    modulus: int
    move: int
    values: frozenset[int]


def rotation(possible: Iterable[int], effect: Effect) -> Rotation | None:
    """Return how a statement turns a scalar; None if it does not.

    Parameters
    ----------
    possible: the values that the scalar may have at first.
    """
    after = _closed(possible, effect)
    if after is None:
        return None
    moves = {new - old for old, new in after.items()}
    low = min(after)
    if moves == {0}:
        return Rotation(low, 0, 0, frozenset(after))
    if len(moves) != 2:
        return None
    modulus, move = max(moves) - min(moves), min(moves, key=abs)
    if max(after) >= low + modulus or not _turns(after, low, low, modulus, move):
        return None
    return Rotation(low, modulus, move, frozenset(after))


def period_of(values: Sequence[int]) -> int:
    """Return after how many of them values are as before; their number if they never are."""
    return next(n for n in range(1, len(values) + 1) if values[n:] == values[: len(values) - n])


def cycle(values: Sequence[int]) -> Turn | None:
    """Return a scalar that has these values in turn as one that goes round; None if it does not.

    The form counts the values from 0.
    """
    low, number = min(values), len(values)
    gap = gcd(*(value - low for value in values))
    modulus = gap * number
    pace = (values[1 % number] - values[0]) % modulus if number > 1 else 0
    first = next((k for k in range(number) if pace * k % (modulus or 1) == values[0] - low), None)
    if not pace or first is None:
        return None
    found = Turn(Affine((), low), modulus, Affine((), first), frozenset(values), pace=pace)
    return found if all(found.at(first + k) == v for k, v in enumerate(values)) else None


def begun(before: Affine | Turn, found: Rotation) -> Turn | None:
    """Return a value as one that is turned from here on; None if it was turned otherwise."""
    if isinstance(before, Affine):
        return Turn(Affine((), found.low), found.modulus, before - found.low, found.values)
    if before.modulus != found.modulus or before.pace != 1:
        return None
    shifted = (before.low - found.low) * before.scale
    return replace(before.moved(shifted), low=Affine((), found.low), values=found.values)


def inside_loop(turn: Turn, move: int, loop: Loop) -> Turn:
    """Return the value in an iteration of a loop, each of which moves the form by `move` scales.

    Parameters
    ----------
    turn: before the loop, its scale a multiple of the size of the loop's step.
    """
    ahead = Affine.variable(loop.iterator) - loop.start
    return turn.moved(ahead * (move * turn.scale // loop.step))


def after_statement(turn: Turn, effect: Effect) -> Turn | None:
    """Return what a statement leaves of a value that goes round; None if it is not known."""
    modulus, old_low = turn.modulus, turn.low.constant
    if modulus is None or turn.pace != 1:
        return None
    known: dict[int, int] = {}
    for value in turn.values:
        new = effect(value)
        if new is None:
            # The first one that is not known tells: each costs a run of the statement.
            return None
        known[value] = new
    low, (old, new) = min(known.values()), next(iter(known.items()))
    move = (new - low - (old - old_low)) % modulus
    if not _turns(known, old_low, low, modulus, move):
        return None
    moved = turn.moved(Affine((), move * turn.scale))
    return replace(moved, low=Affine((), low), values=frozenset(known.values()))


def _turns(after: Mapping[int, int], old_low: int, low: int, modulus: int, move: int) -> bool:
    return all(new == low + (old - old_low + move) % modulus for old, new in after.items())


def values_of(before: Affine | Turn, ranges: Ranges) -> frozenset[int]:
    """Return all values, or none where there are too many."""
    if isinstance(before, Turn):
        return before.values
    low, high = ranges.minimum(before), ranges.maximum(before)
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
