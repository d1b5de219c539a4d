"""Iterations of a tile loop side by side, although each needs something of those before it.

The iterations of the outermost tile loop are called *rows*, those of the loop inside of it
*columns*. Each row is one worker's, and it goes through its columns behind the row before: column J
begins when that row is done with column J + lag. Where no dependence runs from (I', J') to (I, J)
with J' > J + lag * (I - I'), all of them are in order so, since the row before has waited for the
one before it in the same way.

Which column stands for one that the row before does not have: the first one behind it, or its last
one. That is enough where no row ends more than `lag` columns before the row before it does; other
tiles are not shared so.

Where a row hands values over to the next one on chip, room for them is needed. With room for those
of `ahead` columns, column J waits until the row behind is done with column J - ahead. Nobody waits
for ever if `ahead` is more than the lag, and all workers together have room for more columns than a
row has: along J + s * I, with lag < s < ahead, each tile waits for what is before it, and the next
row of a worker comes behind the one that it had.

Reference: Cytron, "Doacross: beyond vectorization for multiprocessors", ICPP 1986; and THREAD,
whose wavefronts with a barrier are the same order with everybody waiting for everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.plan import Predicate, Wait
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.sets import ScopSets
from rtlgen.scheduling.predicates import counter_box, predicate_within


@dataclass(frozen=True, slots=True)
class Doacross:
    """How rows wait for each other.

    Members
    -------
    space: number of the tile loop whose iterations are the rows; those outside have one.
    lag: see above. columns: of the longest row.
    taken, given: in counters of the tile loops: the tiles that wait for the row before, and those
        that they wait for, one each, in the same order.
    ahead: how many columns a row may be ahead of the row behind it, where it hands values over.
    room: the same as `taken` and `given` for that; None where that cannot be told.
    """

    space: int
    lag: int
    columns: int
    taken: Predicate
    given: Predicate
    ahead: int = 0
    room: tuple[Predicate, Predicate] | None = None

    @property
    def rows_at_a_time(self) -> int:
        """How many rows run side by side: each begins lag + 1 columns after the one before."""
        return -(-self.columns // (self.lag + 1))

    def wait(self, window: str) -> Wait:
        """Return how a transfer waits for a store of the row before."""
        return Wait(window, 0, self.space + 2, self.taken, self.given)

    def wait_for_room(self, window: str) -> Wait:
        """Return how a kernel waits for that of the row behind it."""
        assert self.room is not None, "it can be told"
        return Wait(window, 0, self.space + 2, *self.room)


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A tile loop whose iterations workers share.

    Members
    -------
    number: of the loop. across: how its iterations wait for one another; None where they need not.
    """

    number: int
    across: Doacross | None = None


def doacross(
    sets: ScopSets, loops: Sequence[NestLoop], space: int, pairs: Iterable[isl.Map], workers: int
) -> Doacross | None:
    """Return how the rows of some tiles can run side by side; None where that is not known.

    Parameters
    ----------
    loops: over tiles. space: number of the loop of the rows; those outside have one iteration.
    pairs: tiles of which the second depends on the first, in the values of the tile loops.
    workers: how many share the rows.
    """
    if space + 1 >= len(loops):
        return None
    between = [
        later
        for found in pairs
        if not (later := _rows_and_columns(found, space).coalesce()).is_empty()
    ]
    lag = smallest_lag(between, loops[space + 1].extent)
    tiles = counter_box(sets, loops[: space + 2])
    tiles = tiles.project_out(isl.dim_type.set, 0, space)
    if lag is None or not covers(tiles, lag):
        return None
    paired = pairing(tiles, lag)
    found = _told(sets, loops, space, paired)
    if found is None:
        return None
    columns = loops[space + 1].extent
    ahead, room = room_ahead(lag, columns, workers), None
    late = _map(paired, f"{{ [I, J] -> [K, L] : L > J + {lag} }}")
    if paired.is_disjoint(late):
        room = _told(sets, loops, space, pairing_for_room(tiles, ahead))
    return Doacross(space, lag, columns, *found, ahead, room)


def room_ahead(lag: int, columns: int, workers: int) -> int:
    """Return how many columns a row may be ahead of the next one, so that nobody waits for ever."""
    return lag + 1 + -(-columns // workers)


def _told(
    sets: ScopSets, loops: Sequence[NestLoop], space: int, paired: isl.Map
) -> tuple[Predicate, Predicate] | None:
    """Return the first and the second ones of pairs of (row, column), by the tile loops' counters.

    None where that cannot be told.
    """
    found = []
    for side in (paired.domain(), paired.range()):
        counted = side.insert_dims(isl.dim_type.set, 0, space)
        for k in range(space):
            counted = counted.fix_val(isl.dim_type.set, k, isl.Val(0, counted.get_ctx()))
        told = predicate_within(counted, counter_box(sets, loops[: space + 2]))
        if told is None:
            return None
        found.append(told.with_forms(lambda form: form.padded(len(loops))))
    taken, given = found
    return taken, given


def _rows_and_columns(pairs: isl.Map, space: int) -> isl.Map:
    """Return the rows and columns of pairs in different rows."""
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        pairs = pairs.project_out(kind, space + 2, pairs.dim(kind) - space - 2)
        pairs = pairs.project_out(kind, 0, space)
    return pairs.order_lt(isl.dim_type.in_, 0, isl.dim_type.out, 0)


def smallest_lag(pairs: Sequence[isl.Map], columns: int) -> int | None:
    """Return the smallest lag that all pairs of (row, column) allow; None where none does.

    Parameters
    ----------
    columns: no pair is so many apart.
    """
    # Most lags are small.
    low, high = 0, 0
    while not _allows(pairs, high):
        if high == columns:
            return None
        low, high = high + 1, min(columns, 2 * high + 1)
    while low < high:
        middle = (low + high) // 2
        if _allows(pairs, middle):
            high = middle
        else:
            low = middle + 1
    return low


def _allows(pairs: Sequence[isl.Map], lag: int) -> bool:
    for found in pairs:
        keep_going(found.get_ctx())
        late = _map(found, f"{{ [I, J] -> [K, L] : J > L + {lag} * (K - I) }}")
        if not found.is_disjoint(late):
            return False
    return True


def covers(tiles: isl.Set, lag: int) -> bool:
    """Tell whether no row ends more than `lag` columns before the one before it does.

    And whether there is a row between any two.
    """
    rows = tiles.project_out(isl.dim_type.set, 1, 1)
    after_first = rows.subtract(rows.lexmin())
    if not after_first.is_subset(rows.apply(_map(rows, "{ [I] -> [I + 1] }"))):
        return False
    followed = tiles.intersect(
        rows.apply(_map(rows, "{ [I] -> [I - 1] }")).insert_dims(isl.dim_type.set, 1, 1)
    )
    reached = _map(tiles, f"{{ [I, J] -> [I - 1, K] : K <= J + {lag} }}")
    return bool(followed.is_subset(tiles.apply(reached)))


def pairing(tiles: isl.Set, lag: int) -> isl.Map:
    """Return the tiles that wait, each with the one that it waits for, both once.

    Parameters
    ----------
    tiles: (row, column), all that there are.
    """
    before = _map(tiles, "{ [I, J] -> [I - 1, K] }").intersect_domain(tiles).intersect_range(tiles)
    behind = before.intersect(_map(tiles, f"{{ [I, J] -> [I - 1, K] : K >= J + {lag} }}"))
    last = before.subtract_domain(behind.domain()).lexmax()
    wanted = behind.lexmin().union(last).coalesce()
    return _each_once(wanted)


def pairing_for_room(tiles: isl.Set, ahead: int) -> isl.Map:
    """Return the tiles that wait for the row behind theirs, each with its own, both once.

    Parameters
    ----------
    tiles: (row, column), all that there are. ahead: columns that a row may be ahead.
    """
    behind = _map(tiles, f"{{ [I, J] -> [I + 1, K] : K <= J - {ahead} }}")
    wanted = behind.intersect_domain(tiles).intersect_range(tiles).lexmax().coalesce()
    return _each_once(wanted)


def _each_once(wanted: isl.Map) -> isl.Map:
    """Return tiles with those that they want: of some that want one, the first waits for all."""
    return wanted.reverse().lexmin().reverse().coalesce()


def _map(like: isl.Set | isl.Map, text: str) -> isl.Map:
    return isl.Map.read_from_str(like.get_ctx(), text)
