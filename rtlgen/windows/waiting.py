"""What tiles and their movers wait for: iterations of a tile loop side by side, words off chip.

Iterations of a tile loop side by side, although each needs something of those before it.

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

What the movers of tiles wait for, so that the memory off chip has what they load.

One worker runs tiles in order: a load waits for the stores of its own tiles, so many tiles before.
Workers that share the iterations of one tile loop keep no order but in the loops outside of it,
whose iterations are called *waves*. What passes from tile to tile is in one iteration of the shared
loop, and so in one worker, or it passes from one wave to a later one. So a load waits for all
workers to have stored what they store in a wave, so many waves before.

Where the iterations of the shared loop wait for one another (`windows.waiting`) there are no
waves: what is in two of them is in order by that. Kernels that hand values over wait in the same
way: then one comes behind the loads of the row before, as well.

A store that writes over what an earlier wave reads or writes waits likewise, unless the loads of
its own tile do already: a kernel does not start before its words are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.plan import Predicate, Transfer, Wait
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.sets import ScopSets, equal_outer
from rtlgen.memories.predicates import counter_box, predicate_within
from rtlgen.poly.dependences import Dependence
from rtlgen.windows.tile_kernel import TileKernel


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


MOST_WAITED = 4
"""Tiles between a store and the load that waits for it from which on it does not matter."""

FAR_WAITED = 16
"""The same where lanes run one behind the other, since the memory answers after many tiles, and
where windows have many copies, so that loads are far ahead."""


class Waiting:
    """Find what transfers wait for.

    Parameters
    ----------
    space: the tile loop that workers share; None for one worker.
    barrier: whether all workers meet after each wave.
    across: how iterations of the shared loop wait for one another; None for waves, and so with a
        barrier.
    far: whether it matters how many tiles are in between where these are many.
    """

    def __init__(
        self,
        kernel: TileKernel,
        space: int | None,
        barrier: bool,
        across: Doacross | None = None,
        far: bool = False,
    ) -> None:
        self.kernel = kernel
        self.space = space
        self.barrier = barrier
        self.across = across
        self.most = FAR_WAITED if far or not kernel.in_step else MOST_WAITED

    def of_load(self, pairs: Mapping[str, isl.Map]) -> list[Wait]:
        """Return what a load waits for.

        Parameters
        ----------
        pairs: by the window of a store, the tiles that store and the later ones that load it.
        """
        return [wait for window, found in pairs.items() for wait in self._within(window, found)]

    def _within(self, window: str, pairs: isl.Map) -> list[Wait]:
        depth = self.kernel.depth
        if self.space is None:
            return [Wait(window, self.kernel.between(pairs, depth, self.most), depth)]
        near = equal_outer(pairs, self.space + 1).coalesce()
        far = pairs.subtract(near).coalesce()
        found = []
        if not near.is_empty():
            found.append(Wait(window, self.kernel.between(near, depth, self.most), depth))
        if not far.is_empty():
            found.append(self._behind(window, far))
        return found

    def _behind(self, window: str, pairs: isl.Map) -> Wait:
        """Return how the second of some tiles waits for the first, in another iteration."""
        if self.across is not None:
            return self.across.wait(window)
        assert self.space, "nothing passes between workers in one wave"
        return Wait(window, self.kernel.between(pairs, self.space, self.most), self.space)

    def of_kernel(self, peers: Sequence[str]) -> tuple[Wait, ...]:
        """Return what a kernel waits for that takes values from another by way of some memories."""
        if not peers:
            return ()
        assert self.across is not None, "values are handed over from row to row"
        # The kernel that stores to one of them stores to all.
        return (self.across.wait(peers[0]),)

    def for_room(self, peers: Sequence[str]) -> tuple[Wait, ...]:
        """Return what a kernel waits for that hands values over to another."""
        if not peers:
            return ()
        assert self.across is not None, "values are handed over from row to row"
        return (self.across.wait_for_room(peers[0]),)

    def completed(
        self,
        transfers: Sequence[Transfer],
        drained: Mapping[str, str],
        dependences: Iterable[Dependence],
        kernels_wait: bool = False,
    ) -> tuple[Transfer, ...]:
        """Return transfers that wait for all that they have to.

        Parameters
        ----------
        transfers: with what loads wait for. drained: by statement, the window of what it stores.
        kernels_wait: whether a kernel waits for that of the row before.
        """
        if not self._levels_between:
            return tuple(transfers)
        after = {transfer.window: list(transfer.after) for transfer in transfers}
        loads = [transfer for transfer in transfers if transfer.direction == "load"]
        if self.barrier:
            waves = self._levels_between
            every = [Wait(window, 1, waves) for window in drained.values()]
            for transfer in loads or transfers:
                own = [wait for wait in transfer.after if wait.loops != waves]
                after[transfer.window] = [*own, *every]
        gates = {
            wait.window: wait.distance
            for transfer in loads
            for wait in sorted(after[transfer.window], key=lambda wait: -wait.distance)
            if self._is_between(wait)
        }
        for dependence in dependences:
            if not (kernels_wait and dependence.kind == "anti"):
                self._add(after, gates, drained, dependence)
        return tuple(replace(t, after=tuple(after[t.window])) for t in transfers)

    def _add(
        self,
        after: Mapping[str, list[Wait]],
        gates: Mapping[str, int],
        drained: Mapping[str, str],
        dependence: Dependence,
    ) -> None:
        """Let a store wait for what it writes over, where its tile does not wait for that yet.

        Parameters
        ----------
        gates: by window of a store, how many waves before a tile it is done; 0 where iterations
            wait for one another.
        """
        if dependence.kind == "flow" or dependence.sink not in drained:
            return
        relations = self.kernel.relations
        levels = self._levels_between
        pairs = relations.tile_pairs(relations.leaving(dependence.relation, levels))
        own = drained[dependence.sink]
        if dependence.kind == "anti":
            # A store that is done with a wave says that its tiles have been loaded, too.
            known = min(gates.values(), default=None)
            window: str | None = own
        else:
            window = drained.get(dependence.source)
            known = None if window is None else gates.get(window)
        if window is None or pairs.is_empty():
            return
        wait = self._behind(window, pairs)
        if known is not None and known <= wait.distance:
            return
        waits = after[own]
        others = [w for w in waits if w.window != window or not self._is_between(w)]
        nearest = min([wait.distance, *(w.distance for w in waits if w not in others)])
        waits[:] = [*others, replace(wait, distance=nearest)]

    @property
    def _levels_between(self) -> int:
        """How many outermost tile loops tell what is in order only if something waits."""
        if self.space is None:
            return 0
        return self.space if self.across is None else self.space + 1

    def _is_between(self, wait: Wait) -> bool:
        """Tell whether a wait is for another iteration of the loop that is shared, or of a wave."""
        if self.across is None:
            return wait.loops == self.space
        return not wait.is_plain
