"""Outer iterations that are alike: in which the same happens further in.

What happens depends on conditions, each a form of the outer counters plus one of the inner ones.
Inner loops are counted from where they begin at the earliest: so in skewed loops, which begin later
from one outer iteration to the next, the same may happen in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from rtlgen.ir.iterations import Bools, Ints
from rtlgen.ir.levels import Condition, IndexForm, Level, LevelBound, Predicate

MOST_PLACES = 4
"""Places for pairs of numbers, for each pair that there is, up to which pairs are not sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """Levels inside of some outer iterations.

    Members
    -------
    outer: (count, depth) counters of the iterations. levels: those inside.
    begins: for each of these, its least counter in each outer iteration, as far as is known without
        a look at the levels in between; None: 0 in all. extents: no counter is so far beyond.
    """

    outer: Ints
    levels: tuple[Level, ...]
    begins: tuple[Ints | None, ...]
    extents: tuple[int, ...]

    @classmethod
    def of(cls, outer: Ints, levels: Sequence[Level]) -> Inside:
        """Return what is known of some levels inside of outer iterations."""
        ranges: list[_Range] = []
        for level in levels:
            ranges.append(_Range.of(level, outer, ranges))
        begins, extents = [found.low for found in ranges], [found.extent for found in ranges]
        return cls(outer, tuple(levels), tuple(begins), tuple(extents))

    def values(self, form: IndexForm) -> Ints:
        """Return the value of a form where all inner levels are as `begins` says."""
        depth = self.outer.shape[1]
        coefficients = np.array(form.coefficients, dtype=np.int64)
        found: Ints = self.outer @ coefficients[:depth]
        found += form.constant
        for coefficient, low in zip(form.coefficients[depth:], self.begins, strict=False):
            if coefficient and low is not None:
                found += coefficient * low
        return found

    def telling_predicate(self, predicate: Predicate) -> Iterator[Ints]:
        """Yield numbers, the same for outer iterations in which the same inner ones hold.

        Where a condition holds nowhere inside, the others of its alternative do not matter.
        """
        for conditions in predicate.alternatives:
            decided = []
            never = np.zeros(len(self.outer), dtype=np.bool_)
            for condition in conditions:
                found = self._decided(condition)
                never |= found.holds_nowhere
                decided.append((found.values, found.below))
            for values, below in decided:
                values[never] = below
                yield values

    def telling_bounds(self, count: int) -> Iterator[Ints]:
        """Yield numbers, the same for outer iterations in which the first levels count alike."""
        depth = self.outer.shape[1]
        for place, level in enumerate(self.levels[:count]):
            if not place and (level.lowers or level.uppers):
                # Of the next level, it does not matter which bounds are the ones that rule.
                yield _Range.of(level, self.outer, []).trips
                continue
            last = LevelBound(IndexForm((), level.extent - 1))
            kept = [bound.kept_by(depth + place, 1) for bound in level.lowers]
            kept += [bound.kept_by(depth + place, -1) for bound in (last, *level.uppers)]
            for condition in kept:
                yield self._decided(condition).values

    def _decided(self, condition: Condition) -> _Decided:
        inner = condition.form.coefficients[self.outer.shape[1] :]
        reach = [c * (extent - 1) for c, extent in zip(inner, self.extents, strict=False)]
        low, high = sum(min(0, r) for r in reach), sum(max(0, r) for r in reach)
        clipped = self.values(condition.form)
        np.clip(clipped, -high - 1, -low + 1, out=clipped)
        nowhere = clipped < -high
        if condition.equal:
            nowhere |= clipped > -low
        return _Decided(clipped, nowhere, -high - 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Range:
    """The least and the greatest counter of a level in each outer iteration; `low` None for 0."""

    low: Ints | None
    high: Ints

    @property
    def trips(self) -> Ints:
        return self.high - (0 if self.low is None else self.low) + 1

    @property
    def extent(self) -> int:
        return int(self.trips.max())

    @classmethod
    def of(cls, level: Level, outer: Ints, between: Sequence[_Range]) -> _Range:
        """Return the range of a level, whatever the counters of those between are in theirs."""
        low: Ints | None = None
        if level.lowers:
            starts = [-(-_least(b.form, outer, between) // b.divisor) for b in level.lowers]
            low = np.maximum(reduce(np.maximum, starts), 0)
        high = np.full(len(outer), level.extent - 1, dtype=np.int64)
        for upper in level.uppers:
            high = np.minimum(high, -_least(_negated(upper.form), outer, between) // upper.divisor)
        return cls(low, np.maximum(high, (0 if low is None else low) + level.at_least - 1))


def _negated(form: IndexForm) -> IndexForm:
    return IndexForm(tuple(-c for c in form.coefficients), -form.constant)


def _least(form: IndexForm, outer: Ints, between: Sequence[_Range]) -> Ints:
    """Return the least value of a form, for each outer iteration."""
    depth = outer.shape[1]
    found: Ints = outer @ np.array(form.coefficients[:depth], dtype=np.int64)
    found += form.constant
    for coefficient, each in zip(form.coefficients[depth:], between, strict=False):
        if coefficient > 0 and each.low is not None:
            found += coefficient * each.low
        elif coefficient < 0:
            found += coefficient * each.high
    return found


def told_apart(kinds: Ints, values: Ints) -> Ints:
    """Return small numbers, equal where kinds and values are.

    Parameters
    ----------
    kinds: small numbers themselves, from 0 on.
    """
    low = int(values.min())
    span = int(values.max()) - low + 1
    if span == 1:
        return kinds
    pairs = kinds * span + (values - low)
    count = (int(kinds.max()) + 1) * span
    if count > MOST_PLACES * len(pairs):
        _, numbers = np.unique(pairs, return_inverse=True)
        result: Ints = numbers.reshape(-1).astype(np.int64)
        return result
    # There are few pairs that there could be: a place for each of them is faster than sorting.
    is_there = np.zeros(count, dtype=np.bool_)
    is_there[pairs] = True
    number_of: Ints = np.cumsum(is_there, dtype=np.int64) - 1
    told: Ints = number_of[pairs]
    return told


def first_of_each(kinds: Ints) -> Ints:
    """Return the first place of each of the numbers from 0 on."""
    first = np.zeros(int(kinds.max()) + 1, dtype=np.int64)
    # Of several places of a number, the last one assigned stays.
    first[kinds[::-1]] = np.arange(len(kinds), dtype=np.int64)[::-1]
    return first


@dataclass(frozen=True, slots=True, eq=False)
class _Decided:
    """The part of a condition that outer iterations decide, cut off where it decides all.

    Members
    -------
    holds_nowhere: where no inner iteration makes it hold. below: a value of which that is so.
    """

    values: Ints
    holds_nowhere: Bools
    below: int
