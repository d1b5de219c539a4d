"""What the levels of a stream mean: every iteration in order, and which of them are alike.

Outer iterations that are alike: in which the same happens further in.

What happens depends on conditions, each a form of the outer counters plus one of the inner ones.
Inner loops are counted from where they begin at the earliest: so in skewed loops, which begin later
from one outer iteration to the next, the same may happen in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import gcd

import numpy as np

from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    Condition,
    FoldedForm,
    InBank,
    IndexForm,
    Level,
    LevelBound,
    Memory,
    PlanError,
    Predicate,
    Stream,
)


def stream_iterations(stream: Stream) -> Ints:
    """Return the (count, levels) counters of all iterations of `stream`.

    Raises
    ------
    PlanError: a level is empty for some outer iteration, counts below 0, or the number of
        iterations is not the stream's.
    """
    rows = iterations_of(stream.levels)
    if len(rows) != stream.count:
        raise PlanError(f"{stream.statement} issues {len(rows)} iterations, not {stream.count}")
    return rows


def iterations_of(levels: Sequence[Level]) -> Ints:
    """Return the (count, levels) counters of all iterations of some levels, in order.

    Raises
    ------
    PlanError: a level is empty for some outer iteration, or counts below 0.
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    for inner, _ in level_iterations(levels):
        rows = inner
    return rows


def level_iterations(levels: Sequence[Level]) -> Iterator[tuple[Ints, Ints]]:
    """Yield for every level, outermost first, its iterations and the outer ones they belong to.

    The first array is (count, number + 1): the counters of level `number` and the levels outside
    of it. The second is (count,): the row in the first array of the level before.

    Raises
    ------
    PlanError: a level is empty for some outer iteration, or counts below 0.
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    for level in levels:
        rows, parents = inner_iterations(rows, *level_range(level, rows))
        yield rows, parents


def inner_iterations(outer: Ints, low: Ints, trips: Ints) -> tuple[Ints, Ints]:
    """Return the iterations of a level in each of some outer ones, and which of these it is in.

    Parameters
    ----------
    low, trips: the first counter of the level, and its iterations.
    """
    first = np.repeat(np.cumsum(trips) - trips, trips)
    parents = np.repeat(np.arange(len(outer), dtype=np.int64), trips)
    counter = low[parents] + np.arange(trips.sum()) - first
    return np.concatenate([outer[parents], counter[:, None]], axis=1), parents


def level_range(level: Level, outer: Ints) -> tuple[Ints, Ints]:
    """Return the first counter of a level, and its iterations, for each iteration of outer ones.

    Raises
    ------
    PlanError: it is empty for some of them, or counts below 0.
    """
    depth = outer.shape[1]
    low = np.zeros(len(outer), dtype=np.int64)
    if level.lowers:
        starts = [-(-_outer_values(b.form, outer, depth) // b.divisor) for b in level.lowers]
        low = np.max(starts, axis=0)
    high = np.full(len(outer), level.extent - 1, dtype=np.int64)
    for upper in level.uppers:
        high = np.minimum(high, _outer_values(upper.form, outer, depth) // upper.divisor)
    trips: Ints = np.maximum(high - low + 1, level.at_least)
    if trips.min() < 1 or low.min() < 0:
        raise PlanError(f"level {depth} is empty or starts below 0")
    return low, trips


def _outer_values(form: IndexForm, rows: Ints, depth: int) -> Ints:
    result: Ints = rows @ np.array(form.coefficients[:depth], dtype=np.int64) + form.constant
    return result


def form_values(form: IndexForm, counters: Ints) -> Ints:
    """Return the value of a form for each of (n, levels) iterations."""
    result: Ints = counters @ np.array(form.coefficients, dtype=np.int64) + form.constant
    return result


def address_values(address: Address, counters: Ints, tiles: Ints | int = 0) -> Ints:
    """Return the address that each of (n, levels) iterations presents: of any bank, the place.

    Parameters
    ----------
    tiles: number of the tile of each iteration, in its run.
    """
    if isinstance(address, AnyBank):
        address = address.place
    if isinstance(address, IndexForm):
        return form_values(address, counters)
    assert isinstance(address, FoldedForm), "a row in a bank is no address"
    found = np.zeros(len(counters), dtype=np.int64)
    shift = 0
    for field in address.fields:
        found |= (form_values(field.form, counters) & ((1 << field.width_bits) - 1)) << shift
        shift += field.width_bits
    found |= (np.asarray(tiles, dtype=np.int64) & ((1 << address.tile_bits) - 1)) << shift
    return found


def element_numbers(memory: Memory, address: Address, counters: Ints) -> Ints:
    """Return the row-major number of the element at the address that each iteration presents.

    It is -1 where a bank has none there. Only of a memory that is no window; of what is folded, it
    is the number of the place.
    """
    if isinstance(address, IndexForm | FoldedForm):
        return address_values(address, counters)
    banks: Ints | int
    if isinstance(address, InBank):
        banks, rows = address.bank, form_values(address.row, counters)
    else:
        assert isinstance(address, AnyBank), "one bank or several"
        places = address_values(address, counters)
        banks = chosen_bits(places, address.bank_bits)
        rows = chosen_bits(places, address.row_bits)
    elements = memory.bank_map.elements
    inside = (rows >= 0) & (rows < elements.shape[1])
    found: Ints = np.where(inside, elements[banks, np.where(inside, rows, 0)], -1)
    return found


def chosen_bits(numbers: Ints, bits: Sequence[int]) -> Ints:
    """Return some bits of numbers, the first one lowest."""
    found = np.zeros_like(numbers)
    for place, bit in enumerate(bits):
        found |= (numbers >> bit & 1) << place
    return found


def predicate_mask(predicate: Predicate, counters: Ints) -> Bools:
    """Tell for each of (n, levels) iterations whether a predicate holds."""
    mask = np.zeros(len(counters), dtype=np.bool_)
    for conditions in predicate.alternatives:
        every = np.ones(len(counters), dtype=np.bool_)
        for condition in conditions:
            every &= _holds(condition, counters)
        mask |= every
    return mask


def _holds(condition: Condition, counters: Ints) -> Bools:
    values = form_values(condition.form, counters)
    return values == 0 if condition.equal else values >= 0


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
        found = _values(form, self.outer)
        inner = form.coefficients[self.outer.shape[1] :]
        for coefficient, low in zip(inner, self.begins, strict=False):
            if coefficient and low is not None:
                found += coefficient * low
        return found

    def telling_predicate(self, predicate: Predicate) -> Iterator[Ints]:
        """Yield numbers, the same for outer iterations in which the same inner ones hold.

        Where a condition holds nowhere inside, the others of its alternative do not matter. Each is
        asked of the counters that tell the least apart, of those that its equalities allow.
        """
        for conditions in predicate.alternatives:
            decided = []
            never = np.zeros(len(self.outer), dtype=np.bool_)
            for condition in conditions:
                alike = self._where_equal(condition, conditions)
                found = min(map(self._decided, alike), key=lambda each: each.span)
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

    def _where_equal(
        self, condition: Condition, conditions: Sequence[Condition]
    ) -> Iterator[Condition]:
        """Yield conditions that hold where this one does, as long as all of some hold.

        Each equality takes one of the inner counters that it tells out of it.
        """
        yield condition
        if condition.equal:
            return
        depth = self.outer.shape[1]
        for zero in (each.form for each in conditions if each.equal):
            for level in range(depth, depth + len(self.levels)):
                if condition.form.coefficients[level] and abs(zero.coefficients[level]) == 1:
                    yield _without(condition, level, zero)

    def _decided(self, condition: Condition) -> _Decided:
        inner = condition.form.coefficients[self.outer.shape[1] :]
        pairs = [pair for pair in zip(inner, self.extents, strict=False) if pair[0]]
        # What inner counters add is a multiple of this: it matters which one makes up for the rest.
        unit = gcd(*(c for c, _ in pairs)) or 1
        reach = [c // unit * (extent - 1) for c, extent in pairs]
        low, high = sum(min(0, r) for r in reach), sum(max(0, r) for r in reach)
        found = self.values(condition.form)
        clipped = found // unit if unit > 1 else found
        if condition.equal and unit > 1:
            clipped[found % unit != 0] = -high - 1
        np.clip(clipped, -high - 1, -low + int(condition.equal), out=clipped)
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
            high = np.minimum(high, -_least(-upper.form, outer, between) // upper.divisor)
        return cls(low, np.maximum(high, (0 if low is None else low) + level.at_least - 1))


def _without(condition: Condition, level: int, zero: IndexForm) -> Condition:
    """Return a condition without the counter of a level, where a form that has it once is 0."""
    own = condition.form
    factor = own.coefficients[level] * zero.coefficients[level]
    return replace(condition, form=own - zero * factor)


def _values(form: IndexForm, outer: Ints) -> Ints:
    """Return the value of a form of the outer counters alone.

    Few coefficients are not 0: a pass for each of these is faster than a product of matrices.
    """
    found: Ints = np.full(len(outer), form.constant, dtype=np.int64)
    for coefficient, counters in zip(form.coefficients, outer.T, strict=False):
        if coefficient:
            found += coefficient * counters
    return found


def _least(form: IndexForm, outer: Ints, between: Sequence[_Range]) -> Ints:
    """Return the least value of a form, for each outer iteration."""
    found = _values(form, outer)
    for coefficient, each in zip(form.coefficients[outer.shape[1] :], between, strict=False):
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

    @property
    def span(self) -> int:
        """How many values there may be."""
        return int(np.ptp(self.values))
