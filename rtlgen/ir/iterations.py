"""What the levels of a stream mean: every iteration that they issue, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.ints import Ints
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    Condition,
    FoldedForm,
    InBank,
    IndexForm,
    Level,
    Memory,
    PlanError,
    Predicate,
    Stream,
)

Bools = NDArray[np.bool_]


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
