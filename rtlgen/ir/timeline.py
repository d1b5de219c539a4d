"""The cycle model of tiles: how long a tiled region takes, exactly.

What stands around a kernel is small: tokens, queues of two words, one port. It is followed here
cycle by cycle, but for stretches in which nothing but counts change, from the start of a tile to
the start of the next. What happens between two starts depends on the state at the first one and on
what is moved in the few tiles around; where both have been seen before, so has the outcome. So the
work grows with the kinds of tiles, and only by a look into a table with their number.

The names are those of `hw.mover` and `hw.tile_sequencer`; for the port see `ir.port_timing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.port_timing import PortTiming, port_timing
from rtlgen.ir.tiled import TiledRegion
from rtlgen.ir.transfer_patterns import Ints, Item, TilePatterns, patterns_of

QUEUED = 2
"""Items that a mover's queue holds."""

CONTROL_CYCLES = 1
"""Cycles of a region before a mover's control shows its first iteration."""

Credits: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each mover, tiles that it may be ahead of each of the stores that it waits for."""

END_CYCLES = 2
"""Cycles from the one in which all is stored to the region's end, both included."""


@dataclass(slots=True)
class _Mover:
    """State of one mover; tiles are counted from the one that was started last.

    Members
    -------
    tile, item: where its control is. drops: iterations that it drops before it shows that item.
    queue, read: items on their way to the port. begun: whether it holds a token for their tile.
    own, kernels: tokens at hand: copies that the mover may use, and the kernel.
    credits: tiles that a load may be ahead of each of the stores that it waits for.
    """

    tile: int
    item: int
    drops: int
    own: int
    kernels: int
    credits: tuple[int, ...]
    queue: tuple[Item, ...] = ()
    read: Item | None = None
    begun: bool = False

    def key(self) -> tuple[object, ...]:
        place = self.tile, self.item, self.drops, self.begun
        return *place, self.own, self.kernels, self.queue, self.read

    @property
    def is_admitted(self) -> bool:
        """Whether the item at hand may go on: its tile has a token, or finds one."""
        return self.begun or (self.own > 0 and all(self.credits))

    def claim(self) -> None:
        """Take the tokens for a tile."""
        self.own -= 1
        self.credits = tuple([credit - 1 for credit in self.credits])


@dataclass(slots=True)
class _State:
    """All that changes.

    Members
    -------
    port: of the memory off chip.
    rest: cycles until the next tile may start. busy: cycles until the last one is done.
    used: (cycles until then, number of the window) where the kernel gives back a copy.
    """

    movers: list[_Mover]
    port: PortTiming
    rest: int = 0
    busy: int = 0
    used: list[tuple[int, int]] = field(default_factory=list)

    def key(self) -> tuple[object, ...]:
        """Return all but the credits, of which only whether they are few matters."""
        movers = tuple([mover.key() for mover in self.movers])
        return movers, self.port.key(), tuple(self.used)

    @property
    def credits(self) -> Credits:
        return tuple([mover.credits for mover in self.movers])

    def copied(self, credits: Credits) -> _State:
        """Return a state that changes by itself, with other credits."""
        state = copy(self)
        state.movers = [copy(mover) for mover in self.movers]
        for mover, own in zip(state.movers, credits, strict=True):
            mover.credits = own
        state.port = self.port.copied()
        state.used = list(self.used)
        return state


@lru_cache(maxsize=64)
def tiled_cycles(tiled: TiledRegion, bus: Bus) -> int:
    """Return the cycles between the start of a tiled region and that of what follows it.

    Raises
    ------
    PlanError: it would wait for ever.
    """
    return _Timeline(tiled, bus).cycles()


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """What happens from the start of a tile to that of the next.

    Members
    -------
    after: the state then, and its key. gains: of credits; gains_any: whether there are some.
    """

    cycles: int
    after: _State
    key: tuple[object, ...]
    gains: Credits
    gains_any: bool


class _Timeline:
    """Follow a tiled region from its first cycle to its last."""

    def __init__(self, tiled: TiledRegion, bus: Bus) -> None:
        self.tiled = tiled
        self.bus = bus
        transfers = tiled.transfers
        tiles = iterations_of(tiled.levels)
        if len(tiles) != tiled.tiles:
            raise PlanError(f"{len(tiles)} tiles, not {tiled.tiles}")
        self.patterns: list[TilePatterns] = [
            patterns_of(t, tiles, bus.has_bursts) for t in transfers
        ]
        self.is_store = [transfer.direction == "store" for transfer in transfers]
        self.used_cycles = [tiled.used_cycle(transfer.window) for transfer in transfers]
        self.copies = [transfer.copies for transfer in transfers]
        windows = [transfer.window for transfer in transfers]
        self.waits = [[windows.index(w) for w, _ in transfer.after] for transfer in transfers]
        # A control is at most so far behind the tile that was started last, or ahead of it.
        self.behind = max(self.copies, default=0) + 1
        self.ahead = max(self.copies, default=0) + QUEUED + 3
        self.around = _around(self.patterns, len(tiles), self.behind, self.ahead)
        # So many credits are not used up from one start to the next.
        self.enough = self.behind + self.ahead + 1
        self.first = 0

    def cycles(self) -> int:
        """Return the length of the region."""
        tiles = self.tiled.tiles
        state = self._initial()
        # The tile that was started last is none yet: number -1.
        self.first = -1
        total = self._to_next_start(state) + 1
        known: dict[tuple[object, ...], _Step] = {}
        key, credits = state.key(), state.credits
        tile = 0
        while tile < tiles - 1:
            few = tuple([tuple([min(c, self.enough) for c in own]) for own in credits])
            place = (self.around.kinds[tile], key, few)
            step = known.get(place)
            if step is None:
                self.first = tile
                step = known[place] = self._step(state.copied(credits))
            # In a row of tiles of one kind, what left the state as it was does so again.
            is_same = step.key == key and not step.gains_any
            steps = self.around.alike(tile) if is_same else 1
            total += steps * step.cycles
            tile += steps
            state, key = step.after, step.key
            if step.gains_any:
                credits = tuple(
                    [
                        tuple([c + gain for c, gain in zip(own, gains, strict=True)])
                        for own, gains in zip(credits, step.gains, strict=True)
                    ]
                )
        self.first = tiles - 1
        return total + self._to_end(state.copied(credits)) + END_CYCLES

    def _step(self, state: _State) -> _Step:
        """Follow the state from the start of a tile to that of the next."""
        before = state.credits
        cycles = self._to_next_start(state) + 1
        gains = tuple(
            tuple(b - a for a, b in zip(old, new, strict=True))
            for old, new in zip(before, state.credits, strict=True)
        )
        return _Step(cycles, state, state.key(), gains, any(map(any, gains)))

    def _initial(self) -> _State:
        movers = []
        for n, transfer in enumerate(self.tiled.transfers):
            is_store, copies = self.is_store[n], self.copies[n]
            first = self._pattern(n, 0)[0]
            movers.append(
                _Mover(
                    tile=1,
                    item=0,
                    drops=first.dropped + CONTROL_CYCLES,
                    own=0 if is_store else copies,
                    kernels=copies if is_store else 0,
                    credits=tuple(distance for _, distance in transfer.after),
                )
            )
        return _State(movers, port_timing(self.bus, self.is_store))

    def _to_next_start(self, state: _State) -> int:
        """Follow the state until the end of the cycle in which the next tile starts.

        Return the cycles before that one. Then tiles are counted from that next tile.
        """
        passed = 0
        while True:
            starts = state.rest == 0 and all([mover.kernels for mover in state.movers])
            moved = self._cycle(state, starts)
            if starts:
                for mover in state.movers:
                    mover.tile -= 1
                return passed
            passed += 1 if moved else self._wait(state, [state.rest])

    def _to_end(self, state: _State) -> int:
        """Follow the state until all is stored; return the cycles before that one."""
        passed = 0
        while True:
            emptied = all(
                mover.kernels == copies
                for mover, copies, stores in zip(
                    state.movers, self.copies, self.is_store, strict=True
                )
                if stores
            )
            if emptied and state.busy == 0:
                return passed
            moved = self._cycle(state, False)
            passed += 1 if moved else self._wait(state, [state.busy])

    def _wait(self, state: _State, timers: list[int]) -> int:
        """Let the cycles pass, after one in which only counts changed, in which no others do.

        Return how many have passed together with that one.
        """
        ends = [timer for timer in timers if timer]
        ends += [mover.drops for mover in state.movers if mover.drops]
        ends += [cycles for cycles, _ in state.used]
        if waits := state.port.waits():
            ends.append(waits)
        if not ends:
            raise PlanError("a tile waits for what never happens")
        more = min(ends)
        self._pass(state, more)
        return more + 1

    def _pass(self, state: _State, cycles: int) -> None:
        """Count down by some cycles."""
        state.port.wait(cycles)
        state.rest = max(0, state.rest - cycles)
        state.busy = max(0, state.busy - cycles)
        state.used = [(left - cycles, n) for left, n in state.used]
        for mover in state.movers:
            mover.drops = max(0, mover.drops - cycles)

    def _cycle(self, state: _State, starts: bool) -> bool:
        """Go through one cycle; return whether more than counts changed."""
        movers = state.movers
        served = state.port.cycle([self._offer(n, mover) for n, mover in enumerate(movers)])
        moved = starts or served.moved
        dropping = [mover.drops > 0 for mover in movers]
        events = [self._move(mover, n, n in served.taken) for n, mover in enumerate(movers)]
        for n, (claimed, changed) in enumerate(events):
            moved |= changed
            if claimed:
                movers[n].claim()
        for n in served.finished:
            self._finish(state, n)
        if starts:
            state.rest, state.busy = self.tiled.issue_cycles, self.tiled.kernel.length_cycles
            state.used += [(cycles, n) for n, cycles in enumerate(self.used_cycles)]
            state.used.sort()
            for mover in movers:
                mover.kernels -= 1
        while state.used and state.used[0][0] == 0:
            movers[state.used.pop(0)[1]].own += 1
            moved = True
        for mover, drops in zip(movers, dropping, strict=True):
            mover.drops -= drops
            moved |= drops and mover.drops == 0
        return self._tick(state) or moved

    def _tick(self, state: _State) -> bool:
        """Count down by a cycle; return whether something is to happen in the next one."""
        state.used = [(left - 1, n) for left, n in state.used]
        due = bool(state.used) and state.used[0][0] == 0
        if state.rest:
            state.rest -= 1
            due |= state.rest == 0
        if state.busy:
            state.busy -= 1
            due |= state.busy == 0
        return due

    def _offer(self, n: int, mover: _Mover) -> Item | None:
        """Return what a mover offers to the port."""
        if self.is_store[n]:
            return mover.read
        return mover.queue[0] if mover.queue and mover.is_admitted else None

    def _move(self, mover: _Mover, n: int, taken: bool) -> tuple[bool, bool]:
        """Go through one cycle of a mover; return whether it claimed a token, and did anything."""
        item = mover.queue[0] if mover.queue else None
        pops = taken
        if self.is_store[n]:
            pops = item is not None and mover.is_admitted and (mover.read is None or taken)
            if pops or taken:
                mover.read = item if pops else None
        claimed = pops and not mover.begun
        pushed = self._push(mover, n)
        if pops:
            assert item is not None, "what is popped was there"
            mover.begun = not item.last
            mover.queue = mover.queue[1:]
        if pushed is not None:
            mover.queue = (*mover.queue, pushed)
        return claimed, pops or taken or pushed is not None

    def _push(self, mover: _Mover, n: int) -> Item | None:
        """Return the item that goes into a mover's queue, and let its control go on."""
        tile = self.first + mover.tile
        if mover.drops or len(mover.queue) == QUEUED or tile >= self.tiled.tiles:
            return None
        if not -self.behind <= mover.tile <= self.ahead:
            raise PlanError(f"a mover is {mover.tile} tiles off")
        pattern = self._pattern(n, tile)
        shown = pattern[mover.item]
        mover.item += 1
        if mover.item == len(pattern):
            mover.item = 0
            mover.tile += 1
            tile += 1
        if tile < self.tiled.tiles:
            # The iteration that it goes on to is shown in the next cycle.
            mover.drops = self._pattern(n, tile)[mover.item].dropped
        return shown

    def _finish(self, state: _State, n: int) -> None:
        """Give the tokens of a mover that is done with a tile."""
        state.movers[n].kernels += 1
        for other, waits in zip(state.movers, self.waits, strict=True):
            if n in waits:
                other.credits = tuple(
                    [c + (store == n) for store, c in zip(waits, other.credits, strict=True)]
                )

    def _pattern(self, n: int, tile: int) -> tuple[Item, ...]:
        patterns = self.patterns[n]
        return patterns.patterns[patterns.of_tile[tile]]


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """What is moved around each tile.

    Members
    -------
    kinds: a number a tile; tiles of one number have the same tiles around them.
    ends: for each tile, the first one behind it of another kind.
    """

    kinds: list[int]
    ends: list[int]

    def alike(self, tile: int) -> int:
        """Return how many tiles from here on are of one kind, but for the last tile of all."""
        return max(1, min(self.ends[tile], len(self.kinds) - 1) - tile)


def _around(patterns: Sequence[TilePatterns], tiles: int, behind: int, ahead: int) -> _Around:
    """Tell which tiles have the same patterns from `behind` tiles before to `ahead` behind."""
    kinds: Ints = np.zeros(tiles, dtype=np.int64)
    for pattern in patterns:
        kinds = _numbered(kinds * (len(pattern.patterns) + 1) + pattern.of_tile)
    # Outside of the region there is a kind of its own.
    padded = np.concatenate([np.zeros(behind, np.int64), kinds + 1, np.zeros(ahead, np.int64)])
    length, reach = behind + 1 + ahead, 1
    while reach < length:
        step = min(reach, length - reach)
        padded = _numbered(padded[:-step] * (int(padded.max()) + 1) + padded[step:])
        reach += step
    changes = np.flatnonzero(np.diff(padded)) + 1
    ends = np.append(changes, tiles)[np.searchsorted(changes, np.arange(tiles), side="right")]
    return _Around(padded.tolist(), ends.tolist())


def _numbered(values: Ints) -> Ints:
    """Return equal small numbers for equal values."""
    _, numbers = np.unique(values, return_inverse=True)
    result: Ints = numbers.reshape(-1).astype(np.int64)
    return result
