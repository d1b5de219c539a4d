"""Scalars that go round, or step on whenever another one has gone round.

    for (i = 0; i < n; i++) { ...; if (++x == 5) { x = 0; y++; } }     x is i % 5, y is i / 5

Whatever a loop writes them with, their laws are fitted to values that running it has shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
)
from rtlgen.ir.quotients import quotient
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, INT64, IntType

MAX_VALUES = 512
"""Values that are tried to see a law."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The value low + (pace * (form / scale)) mod modulus, the quotient rounded down.

    Members
    -------
    modulus: None where it never begins again.
    """

    low: Affine
    modulus: int | None
    form: Affine
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

    @property
    def is_affine(self) -> bool:
        """Whether it is affine wherever it is."""
        return self.modulus is None and (self.scale == 1 or self.pace == 0)

    def at(self, form: int) -> int:
        """Return the value for a value of the form."""
        whole = self.pace * (form // self.scale)
        return self.low.constant + (whole % self.modulus if self.modulus else whole)

    def move(self, at: int, by: int) -> int:
        """Return by how much a value that never begins again is larger where its form is."""
        return self.pace * ((at + by) // self.scale - at // self.scale)

    def over(self, loop: Loop) -> Turn:
        """Return a law that was fitted to the iterations of a loop as one of its iterator."""
        size = abs(loop.step)
        gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
        form = gone * self.form.coefficient(AT) + self.form.constant * size
        return replace(self, form=form, scale=self.scale * size)

    def moved(self, by: Affine) -> Turn:
        """Return the value when the form is larger by `by`."""
        return replace(self, form=self.form + by)

    def finer(self, factor: int) -> Turn:
        """Return the same value, its form counted in smaller parts."""
        return replace(self, form=self.form * factor, scale=self.scale * factor)

    def range(self, ranges: Ranges) -> tuple[int, int]:
        """Return bounds of the value."""
        if self.modulus is not None:
            # All that it may be is some first value and multiples of a unit.
            terms = [c for _, c in self.form.terms] if self.scale == 1 else [1]
            unit = gcd(self.modulus, *(self.pace * c for c in terms))
            first = self.pace * self.form.constant % unit if self.scale == 1 else 0
            low = self.low.constant + first
            return low, low + self.modulus - unit
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


Seen: TypeAlias = dict[int, int]
"""Values of a scalar, by the number of the iteration, or the value of a form."""


def period_of(values: Sequence[int]) -> int:
    """Return after how many of them values are as before; their number if they never are."""
    return next(n for n in range(1, len(values) + 1) if values[n:] == values[: len(values) - n])


AT = "at"
"""The name of what values are given by, in the form of a law that is fitted to them."""


def law_in(seen: Seen) -> Turn | None:
    """Return values as a law of what they are given by; None if they follow none.

    They are low + gap * h, where h is (a * k + b) / d, or pace * that modulo the number of
    heights. What a and d may be is told by how long h stays, and by what it grows by in a period.
    """
    low = min(seen.values())
    gap = gcd(*(value - low for value in seen.values()))
    if gap == 0:
        return Turn(Affine((), low), None, Affine(), pace=0)
    heights = {k: (value - low) // gap for k, value in sorted(seen.items())}
    for slope, width in _slopes(heights, None):
        offset = _offset(heights, slope, width, None)
        if offset is not None:
            form = Affine.of({AT: slope}, offset)
            return Turn(Affine((), low), None, form, width, gap)
    number = max(heights.values()) + 1
    if number > len(seen):
        # What goes round has been everywhere.
        return None
    for pace in _paces(heights, number):
        inverse = pow(pace, -1, number)
        steps = {k: h * inverse % number for k, h in heights.items()}
        for slope, width in _slopes(steps, number):
            offset = _offset(steps, slope, width, number)
            if offset is not None:
                form = Affine.of({AT: slope}, offset)
                return _plain(Turn(Affine((), low), number * gap, form, width, pace * gap))
    return None


def value_in(law: Turn, k: int) -> int:
    """Return the value of a law that was fitted."""
    return law.at(law.form.coefficient(AT) * k + law.form.constant)


def _plain(turn: Turn) -> Turn:
    """Return the same law without a pace, if it has no quotient."""
    return replace(turn, form=turn.form * turn.pace, pace=1) if turn.scale == 1 else turn


def _paces(heights: Seen, number: int) -> list[int]:
    """Return by how much values that go round may move at once: the smallest first."""
    moves = {(b - a) % number for (i, a), (j, b) in pairwise(heights.items()) if j == i + 1}
    apart = {(a - b) % number for a in moves | {0} for b in moves} if len(moves) < 3 else set()
    return sorted({n for n in apart | {1} if gcd(n, number) == 1})


def _slopes(heights: Seen, number: int | None) -> Iterator[tuple[int, int]]:
    """Yield a and d of the laws (a * k + b) / d that values may follow."""
    first, last = min(heights), max(heights)
    rise = heights[last] - heights[first]
    widths = {_longest_run(heights)}
    if rise and number is None:
        widths |= {(last - first) // abs(rise), (last - first) // abs(rise) + 1}
    for width in sorted(widths - {0}):
        yield from ((1, width), (-1, width))
    if last - first + 1 > len(heights) or len(heights) < 2:
        return
    values = list(heights.values())
    moves = [b - a if number is None else (b - a) % number for a, b in pairwise(values)]
    if number is not None and set(moves) == {0, number - 1}:
        moves = [move - number if move else 0 for move in moves]
    period = period_of(moves)
    if period == 1 or 2 * period <= len(moves):
        # What is seen less than twice is no period.
        growth = sum(moves[:period])
        common = gcd(growth, period)
        yield growth // common, period // common


def _offset(heights: Seen, slope: int, width: int, number: int | None) -> int | None:
    """Return b such that all values are (slope * k + b) / width, modulo any given number."""
    if number is None:
        least = max(width * h - slope * k for k, h in heights.items())
        most = min(width * h + width - 1 - slope * k for k, h in heights.items())
        return least if least <= most else None
    k, h = next(iter(heights.items()))
    starts = ((width * h - slope * k + more) % (width * number) for more in range(width))
    for at in sorted(starts):
        if all((slope * k + at) // width % number == h for k, h in heights.items()):
            return at
    return None


def _longest_run(seen: Seen) -> int:
    """Return in how many iterations on end a scalar has one value, at most."""
    longest = run = 1
    for (i, a), (j, b) in pairwise(sorted(seen.items())):
        run = run + 1 if (j, b) == (i + 1, a) else 1
        longest = max(longest, run)
    return longest
