"""The cycle model of tiles: how long workers take, exactly.

What stands around a kernel is small: tokens, queues of two words, one port. It is followed here
cycle by cycle, but for stretches in which nothing but counts change, from the start of a tile to
the start of the next, of whatever worker. What happens between two starts depends on the state at
the first one and on what is moved in the few tiles around; where both have been seen before, so has
the outcome. So the work grows with the kinds of tiles, and only by a look into a table with their
number.

The names are those of `hw.mover` and `hw.tile_sequencer`; for the port see `ir.port_timing`.
"""

from __future__ import annotations

from functools import lru_cache

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.port_timing import port_timing
from rtlgen.ir.tiled import Wait, Workers
from rtlgen.ir.timeline_state import At, Mover, Pace, State, Step, gains_of
from rtlgen.ir.timeline_tracks import QUEUED, Track
from rtlgen.ir.transfer_patterns import Item

CONTROL_CYCLES = 1
"""Cycles of a region before a mover's control shows its first iteration."""

END_CYCLES = 2
"""Cycles from the one in which all is stored to the end of the workers, both included."""


@lru_cache(maxsize=64)
def workers_cycles(workers: Workers, bus: Bus) -> int:
    """Return the cycles between the start of some workers and that of what follows them.

    Raises
    ------
    PlanError: they would wait for ever.
    """
    return _Timeline(workers, bus).cycles()


class _Timeline:
    """Follow workers from their first cycle to their last."""

    def __init__(self, workers: Workers, bus: Bus) -> None:
        self.bus = bus
        self.tracks: list[Track] = []
        for region in workers.regions:
            first = self.tracks[-1].movers.stop if self.tracks else 0
            self.tracks.append(Track(region, workers, bus, first))
        # Whose a mover is.
        self.track_of = [track for track in self.tracks for _ in track.movers]
        transfers = workers.transfers
        self.is_store = [transfer.direction == "store" for transfer in transfers]
        self.copies = [transfer.copies for transfer in transfers]
        self.waits: list[tuple[Wait, ...]] = [transfer.after for transfer in transfers]
        # By store: who waits for it, as which of its waits.
        self.awaited: list[list[tuple[int, int]]] = [
            [
                (n, k)
                for n, own in enumerate(self.waits)
                for k, wait in enumerate(own)
                if wait.window == transfer.window
            ]
            for transfer in transfers
        ]
        self.used_cycles = [
            tiled.used_cycle(transfer.window)
            for tiled in workers.regions
            for transfer in tiled.transfers
        ]
        self.enough = max(track.enough for track in self.tracks)
        self.known: dict[tuple[object, ...], Step] = {}
        self.known_rows: dict[tuple[object, ...], Step] = {}

    def cycles(self) -> int:
        """Return the length of all of it."""
        state = self._initial()
        at = At(state, state.key(), state.credits, 0)
        if len(self.tracks) == 1:
            self._follow_rows(at, self.tracks[0])
        else:
            while not all([track.is_over for track in self.tracks]):
                self._follow_start(at)
        return at.cycles + self._to_end(at.state.copied(at.credits)) + END_CYCLES

    def _follow_start(self, at: At) -> Step:
        """Follow all workers to the next start of a tile."""
        kinds = tuple([track.kind for track in self.tracks])
        place = kinds, at.key, at.few(self.enough)
        step = self.known.get(place)
        if step is None:
            step = self.known[place] = self._step(at.state.copied(at.credits))
        else:
            for number in step.started:
                self.tracks[number].start()
        at.move(step, 1)
        return step

    def _follow_rows(self, at: At, track: Track) -> None:
        """Follow a single worker to its last start: where rows of tiles are alike, all at once."""
        self._follow_start(at)
        number = 0
        while number < track.sequence.rows - 1:
            track.enter(number)
            number += self._follow_row(at, track)
        track.enter(number)
        self._follow(at, track, track.row.count - 1)
        track.tile = track.tiled.tiles - 1

    def _follow_row(self, at: At, track: Track) -> int:
        """Follow the row at hand, and those like it where it leaves the state as it was.

        Return how many rows these are.
        """
        row, alike = track.row, track.sequence.alike(track.number)
        place = row.context, at.key, at.few(self.enough + row.count)
        step = self.known_rows.get(place)
        if step is None:
            before = At(at.state, at.key, at.credits, 0)
            own = At(at.state, at.key, at.credits, 0)
            self._follow(own, track, row.count)
            gains = gains_of(before.credits, own.credits)
            step = Step(own.cycles, own.state, own.key, gains, any(map(any, gains)))
            self.known_rows[place] = step
        steps = alike if step.key == at.key and not step.gains_any else 1
        at.move(step, steps)
        return steps

    def _follow(self, at: At, track: Track, count: int) -> None:
        """Follow a single worker through the first tiles of the row at hand, so many."""
        row, number = track.row, track.number
        tile = 0
        while tile < count:
            track.row, track.number, track.tile = row, number, row.first + tile
            key = at.key
            step = self._follow_start(at)
            tile += 1
            # In a row of tiles of one kind, what left the state as it was does so again.
            if step.key == key and not step.gains_any:
                more = min(row.ends[tile - 1], count) - tile
                at.move(step, max(0, more))
                tile += max(0, more)

    def _step(self, state: State) -> Step:
        """Follow the state from the start of a tile to that of the next."""
        before = state.credits
        cycles, started = self._to_next_start(state)
        gains = gains_of(before, state.credits)
        return Step(cycles, state, state.key(), gains, any(map(any, gains)), started)

    def _initial(self) -> State:
        movers = []
        for n, waits in enumerate(self.waits):
            is_store, copies = self.is_store[n], self.copies[n]
            first = self.track_of[n].pattern(n, 1)[0]
            movers.append(
                Mover(
                    tile=1,
                    item=0,
                    drops=first.dropped + CONTROL_CYCLES,
                    own=0 if is_store else copies,
                    kernels=copies if is_store else 0,
                    credits=tuple([wait.distance for wait in waits]),
                )
            )
        return State(movers, port_timing(self.bus, self.is_store), [Pace() for _ in self.tracks])

    def _to_next_start(self, state: State) -> tuple[int, tuple[int, ...]]:
        """Follow the state until the end of the cycle in which a next tile starts.

        Return the cycles, that one included, and the workers whose tiles start.
        """
        passed = 0
        stretch = Stretch(self)
        while True:
            started = self._starting(state)
            moved = self._cycle(state, started)
            if started:
                for number in started:
                    track = self.tracks[number]
                    track.start()
                    for n in track.movers:
                        state.movers[n].passes_tile()
                return passed + 1, started
            passed += 1 if moved else self._wait(state)
            passed += stretch.skipped(state, passed)

    def _starting(self, state: State) -> tuple[int, ...]:
        """Return the workers that start a tile."""
        movers = state.movers
        return tuple(
            [
                number
                for number, track in enumerate(self.tracks)
                if not (state.paces[number].rest or track.is_over)
                and all([movers[n].kernels for n in track.movers])
            ]
        )

    def _to_end(self, state: State) -> int:
        """Follow the state until all is stored; return the cycles before that one."""
        passed = 0
        stretch = Stretch(self)
        while not self._is_done(state):
            moved = self._cycle(state, ())
            passed += 1 if moved else self._wait(state)
            passed += stretch.skipped(state, passed)
        return passed

    def _is_done(self, state: State) -> bool:
        emptied = all(
            mover.kernels == copies
            for mover, copies, stores in zip(state.movers, self.copies, self.is_store, strict=True)
            if stores
        )
        return emptied and not any(pace.busy for pace in state.paces)

    def _wait(self, state: State) -> int:
        """Let the cycles pass, after one in which only counts changed, in which no others do.

        Return how many have passed together with that one.
        """
        ends = [mover.drops for mover in state.movers if mover.drops]
        for track, pace in zip(self.tracks, state.paces, strict=True):
            timer = pace.busy if track.is_over else pace.rest
            ends += [timer] if timer else []
            ends += [cycles for cycles, _ in pace.used]
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

    def _cycle(self, state: State, started: tuple[int, ...]) -> bool:
        """Go through one cycle; return whether more than counts changed."""
        movers = state.movers
        served = state.port.cycle([self._offer(n, mover) for n, mover in enumerate(movers)])
        moved = bool(started) or served.moved
        dropping = [n for n, mover in enumerate(movers) if mover.drops]
        claims = []
        for n, mover in enumerate(movers):
            claimed, changed = self._move(mover, n, n in served.taken)
            moved |= changed
            if claimed:
                claims.append(n)
        for n in claims:
            self._claim(movers[n], n)
        for n in served.finished:
            self._finish(state, n)
        for number in started:
            track, pace = self.tracks[number], state.paces[number]
            pace.rest, pace.busy = track.tiled.issue_cycles, track.tiled.kernel.length_cycles
            pace.used += [(self.used_cycles[n], n) for n in track.movers]
            pace.used.sort()
            for n in track.movers:
                movers[n].kernels -= 1
        for pace in state.paces:
            while pace.used and pace.used[0][0] == 0:
                movers[pace.used.pop(0)[1]].own += 1
                moved = True
        for n in dropping:
            movers[n].drops -= 1
            moved |= movers[n].drops == 0
        for pace in state.paces:
            moved |= pace.tick()
        return moved

    def _offer(self, n: int, mover: Mover) -> Item | None:
        """Return what a mover offers to the port."""
        if self.is_store[n]:
            return mover.read
        return mover.queue[0] if mover.queue and self._is_admitted(mover, n) else None

    def _is_admitted(self, mover: Mover, n: int) -> bool:
        """Return whether the item at hand may go on: its tile has a token, or finds one."""
        if mover.begun:
            return True
        if not mover.own:
            return False
        track = self.track_of[n]
        return all(
            [
                credit or not track.does_open(mover.claimed, wait.loops)
                for credit, wait in zip(mover.credits, self.waits[n], strict=True)
            ]
        )

    def _claim(self, mover: Mover, n: int) -> None:
        """Take the tokens for a tile."""
        mover.own -= 1
        if mover.credits:
            track = self.track_of[n]
            mover.credits = tuple(
                [
                    credit - track.does_open(mover.claimed, wait.loops)
                    for credit, wait in zip(mover.credits, self.waits[n], strict=True)
                ]
            )
        mover.claimed += 1

    def _move(self, mover: Mover, n: int, taken: bool) -> tuple[bool, bool]:
        """Go through one cycle of a mover; return whether it claimed a token, and did anything."""
        item = mover.queue[0] if mover.queue else None
        pops = taken
        if self.is_store[n]:
            pops = (
                item is not None and (mover.read is None or taken) and self._is_admitted(mover, n)
            )
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
        if mover.drops or len(mover.queue) == QUEUED:
            return None
        track = self.track_of[n]
        if not track.has(mover.tile):
            return None
        if not -track.behind <= mover.tile <= track.ahead:
            raise PlanError(f"a mover is {mover.tile} tiles off")
        pattern = track.pattern(n, mover.tile)
        shown = pattern[mover.item]
        mover.item += 1
        if mover.item == len(pattern):
            mover.item = 0
            mover.tile += 1
        if track.has(mover.tile):
            # The iteration that it goes on to is shown in the next cycle.
            mover.drops = track.pattern(n, mover.tile)[mover.item].dropped
        return shown

    def _finish(self, state: State, n: int) -> None:
        """Give the tokens of a mover that is done with a tile."""
        mover = state.movers[n]
        mover.kernels += 1
        for waiter, k in self.awaited[n]:
            if self.track_of[n].does_close(mover.finished, self.waits[waiter][k].loops):
                credits = list(state.movers[waiter].credits)
                credits[k] += 1
                state.movers[waiter].credits = tuple(credits)
        mover.finished += 1

    def end_of_plain(self, n: int, mover: Mover) -> int:
        """Return the first item that ends a stretch of words from the one at hand on."""
        return self.track_of[n].end_of_plain(n, mover.tile, mover.item)

    def skip_accesses(self, state: State, n: int, count: int, cycles: int) -> None:
        """Let a mover make so many accesses more, each as the one before.

        Parameters
        ----------
        cycles: that all of them take.
        """
        mover = state.movers[n]
        pattern = self.track_of[n].pattern(n, mover.tile)
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
        timers = [timer for pace in state.paces for timer in (pace.rest, pace.busy)]
        waits = tuple([timer == 0 for timer in timers])
        key = (user, waits, state.port.key(), *[_place(m, m is mover) for m in state.movers])
        before, self.before = self.before, (mover.item, key, passed)
        if before is None or before[:2] != (mover.item - 1, key):
            return 0
        period = passed - before[2]
        ends = [cycles for pace in state.paces for cycles, _ in pace.used]
        ends += [timer for timer in timers if timer]
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
