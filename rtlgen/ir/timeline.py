"""The cycle model of tiles: how long a tiled region takes, exactly.

What stands around a kernel is small: tokens, queues of two words, one port. It is followed here
cycle by cycle, but for stretches in which nothing but counts change, from the start of a tile to
the start of the next. What happens between two starts depends on the state at the first one and on
what is moved in the few tiles around; where both have been seen before, so has the outcome. So the
work grows with the kinds of tiles, and only by a look into a table with their number.

The names are those of `hw.mover` and `hw.tile_sequencer`; for the port see `ir.port_timing`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.port_timing import port_timing
from rtlgen.ir.tile_rows import TileSequence, tile_rows
from rtlgen.ir.tiled import TiledRegion
from rtlgen.ir.timeline_state import At, Mover, State, Step, gains_of
from rtlgen.ir.transfer_patterns import (
    Ints,
    Item,
    TilePatterns,
    patterns_of,
    plain_until,
    told_apart,
)

QUEUED = 2
"""Items that a mover's queue holds."""

CONTROL_CYCLES = 1
"""Cycles of a region before a mover's control shows its first iteration."""

END_CYCLES = 2
"""Cycles from the one in which all is stored to the region's end, both included."""


@lru_cache(maxsize=64)
def tiled_cycles(tiled: TiledRegion, bus: Bus) -> int:
    """Return the cycles between the start of a tiled region and that of what follows it.

    Raises
    ------
    PlanError: it would wait for ever.
    """
    return _Timeline(tiled, bus).cycles()


class _Timeline:
    """Follow a tiled region from its first cycle to its last."""

    def __init__(self, tiled: TiledRegion, bus: Bus) -> None:
        self.tiled = tiled
        self.bus = bus
        transfers = tiled.transfers
        rows = tile_rows(tiled.levels, transfers, bus.has_bursts)
        self.patterns: list[TilePatterns] = [
            patterns_of(t, rows.tiles, bus.has_bursts) for t in transfers
        ]
        self.is_store = [transfer.direction == "store" for transfer in transfers]
        self.used_cycles = [tiled.used_cycle(transfer.window) for transfer in transfers]
        self.copies = [transfer.copies for transfer in transfers]
        windows = [transfer.window for transfer in transfers]
        self.waits = [[windows.index(w) for w, _ in transfer.after] for transfer in transfers]
        # A control is at most so far behind the tile that was started last, or ahead of it.
        self.behind = max(self.copies, default=0) + 1
        self.ahead = max(self.copies, default=0) + QUEUED + 3
        kinds: Ints = np.zeros(len(rows.tiles), dtype=np.int64)
        for pattern in self.patterns:
            kinds = told_apart(kinds, pattern.of_tile)
        self.sequence = TileSequence(rows, kinds, self.behind, self.ahead)
        tiles = self.sequence.firsts[-1] + self.sequence.row(self.sequence.rows - 1).count
        if tiles != tiled.tiles:
            raise PlanError(f"{tiles} tiles, not {tiled.tiles}")
        self.row = self.sequence.row(0)
        # So many credits are not used up from one start to the next.
        self.enough = self.behind + self.ahead + 1
        self.plain = [
            [plain_until(pattern, bus.latency_cycles) for pattern in found.patterns]
            for found in self.patterns
        ]
        self.first = 0
        self.known: dict[tuple[object, ...], Step] = {}
        self.known_rows: dict[tuple[object, ...], Step] = {}

    def cycles(self) -> int:
        """Return the length of the region."""
        state = self._initial()
        # The tile that was started last is none yet: number -1.
        self.first = -1
        start = self._to_next_start(state) + 1
        at = At(state, state.key(), state.credits, start)
        number = 0
        while number < self.sequence.rows - 1:
            self.row = self.sequence.row(number)
            number += self._follow_row(at, self.sequence.alike(number))
        self.row = self.sequence.row(number)
        self._follow(at, self.row.count - 1)
        self.first = self.tiled.tiles - 1
        return at.cycles + self._to_end(at.state.copied(at.credits)) + END_CYCLES

    def _follow_row(self, at: At, alike: int) -> int:
        """Follow the row at hand, and those like it where it leaves the state as it was.

        Return how many rows these are, of `alike` ones.
        """
        place = self.row.context, at.key, at.few(self.enough + self.row.count)
        step = self.known_rows.get(place)
        if step is None:
            before = At(at.state, at.key, at.credits, 0)
            own = At(at.state, at.key, at.credits, 0)
            self._follow(own, self.row.count)
            gains = gains_of(before.credits, own.credits)
            step = Step(own.cycles, own.state, own.key, gains, any(map(any, gains)))
            self.known_rows[place] = step
        steps = alike if step.key == at.key and not step.gains_any else 1
        at.move(step, steps)
        return steps

    def _follow(self, at: At, count: int) -> None:
        """Follow the first tiles of the row at hand, so many."""
        tile = 0
        while tile < count:
            place = (self.row.kinds[tile], at.key, at.few(self.enough))
            step = self.known.get(place)
            if step is None:
                self.first = self.row.first + tile
                step = self.known[place] = self._step(at.state.copied(at.credits))
            # In a row of tiles of one kind, what left the state as it was does so again.
            is_same = step.key == at.key and not step.gains_any
            steps = max(1, min(self.row.ends[tile], count) - tile) if is_same else 1
            at.move(step, steps)
            tile += steps

    def _step(self, state: State) -> Step:
        """Follow the state from the start of a tile to that of the next."""
        before = state.credits
        cycles = self._to_next_start(state) + 1
        gains = gains_of(before, state.credits)
        return Step(cycles, state, state.key(), gains, any(map(any, gains)))

    def _initial(self) -> State:
        movers = []
        for n, transfer in enumerate(self.tiled.transfers):
            is_store, copies = self.is_store[n], self.copies[n]
            first = self._pattern(n, 0)[0]
            movers.append(
                Mover(
                    tile=1,
                    item=0,
                    drops=first.dropped + CONTROL_CYCLES,
                    own=0 if is_store else copies,
                    kernels=copies if is_store else 0,
                    credits=tuple(distance for _, distance in transfer.after),
                )
            )
        return State(movers, port_timing(self.bus, self.is_store))

    def _to_next_start(self, state: State) -> int:
        """Follow the state until the end of the cycle in which the next tile starts.

        Return the cycles before that one. Then tiles are counted from that next tile.
        """
        passed = 0
        stretch = Stretch(self)
        while True:
            starts = state.rest == 0 and all([mover.kernels for mover in state.movers])
            moved = self._cycle(state, starts)
            if starts:
                for mover in state.movers:
                    mover.tile -= 1
                return passed
            passed += 1 if moved else self._wait(state, [state.rest])
            passed += stretch.skipped(state, passed)

    def _to_end(self, state: State) -> int:
        """Follow the state until all is stored; return the cycles before that one."""
        passed = 0
        stretch = Stretch(self)
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
            passed += stretch.skipped(state, passed)

    def _wait(self, state: State, timers: list[int]) -> int:
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

    def _pass(self, state: State, cycles: int) -> None:
        """Count down by some cycles."""
        state.port.wait(cycles)
        state.count_down(cycles)
        for mover in state.movers:
            mover.drops = max(0, mover.drops - cycles)

    def _cycle(self, state: State, starts: bool) -> bool:
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

    def _tick(self, state: State) -> bool:
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

    def _offer(self, n: int, mover: Mover) -> Item | None:
        """Return what a mover offers to the port."""
        if self.is_store[n]:
            return mover.read
        return mover.queue[0] if mover.queue and mover.is_admitted else None

    def _move(self, mover: Mover, n: int, taken: bool) -> tuple[bool, bool]:
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

    def _push(self, mover: Mover, n: int) -> Item | None:
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

    def _finish(self, state: State, n: int) -> None:
        """Give the tokens of a mover that is done with a tile."""
        state.movers[n].kernels += 1
        for other, waits in zip(state.movers, self.waits, strict=True):
            if n in waits:
                other.credits = tuple(
                    [c + (store == n) for store, c in zip(waits, other.credits, strict=True)]
                )

    def _pattern(self, n: int, tile: int) -> tuple[Item, ...]:
        patterns = self.patterns[n]
        return patterns.patterns[patterns.of_tile[self.row.place(tile)]]

    def end_of_plain(self, n: int, mover: Mover) -> int:
        """Return the first item that ends a stretch of words from the one at hand on."""
        tile = self.first + mover.tile
        if tile >= self.tiled.tiles:
            return mover.item
        ends = self.plain[n][int(self.patterns[n].of_tile[self.row.place(tile)])]
        return ends[mover.item]

    def skip_accesses(self, state: State, n: int, count: int, cycles: int) -> None:
        """Let a mover make so many accesses more, each as the one before.

        Parameters
        ----------
        cycles: that all of them take.
        """
        mover = state.movers[n]
        pattern = self._pattern(n, self.first + mover.tile)
        mover.item += count
        queued = mover.item - len(mover.queue)
        mover.queue = pattern[queued : mover.item]
        if mover.read is not None:
            mover.read = pattern[queued - 1]
        state.count_down(cycles)


class Stretch:
    """Skip accesses of one mover that follow each other alike.

    When an access begins, and all is as when the one before began, but for the number of the word,
    then so it is at the next one, until an item of another kind is shown or a timer ends.
    """

    def __init__(self, timeline: _Timeline) -> None:
        self.timeline = timeline
        self.before: tuple[int, tuple[object, ...], int] | None = None

    def skipped(self, state: State, passed: int) -> int:
        """Skip what is alike in a state that `passed` cycles have led to; return the cycles."""
        user = state.port.begun()
        if user is None:
            return 0
        mover = state.movers[user]
        left = self.timeline.end_of_plain(user, mover) - mover.item - 1
        if left < 1 or mover.item <= QUEUED or mover.drops:
            self.before = None
            return 0
        waits = state.rest == 0, state.busy == 0
        key = (user, waits, state.port.key(), *[_place(m, m is mover) for m in state.movers])
        before, self.before = self.before, (mover.item, key, passed)
        if before is None or before[:2] != (mover.item - 1, key):
            return 0
        period = passed - before[2]
        ends = [cycles for cycles, _ in state.used]
        ends += [timer for timer in (state.rest, state.busy) if timer]
        count = min([left, *[(end - 1) // period - 1 for end in ends]])
        if count < 1:
            return 0
        self.timeline.skip_accesses(state, user, count, count * period)
        self.before = None
        return count * period


def _place(mover: Mover, moves: bool) -> tuple[object, ...]:
    """Return the state of a mover, without its words where it moves some."""
    tokens = mover.own, mover.kernels, mover.begun, mover.credits
    if moves:
        return (*tokens, mover.tile, len(mover.queue), mover.read is None)
    return *tokens, *mover.key()
