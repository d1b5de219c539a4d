"""Workers and the port that they share, cycle by cycle.

What stands around a kernel is small: tokens, queues of two words, one port. A cycle is followed
where it changes more than counts, and in it those movers alone that may do something: one that has
done nothing in a cycle does nothing until a token, a credit or its control wakes it.

The names are those of `hw.mover` and `hw.tile_sequencer`; for the port see `ir.port_timing`.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.port_timing import port_timing
from rtlgen.ir.tiled import Workers
from rtlgen.ir.timeline_state import HANDED, Mover, Pace, State
from rtlgen.ir.timeline_tracks import QUEUED, Flags, Track
from rtlgen.ir.transfer_patterns import Item

CONTROL_CYCLES = 1
"""Cycles of a region before a control shows its first iteration."""


MOST_SEEN = 64
"""Accesses that are looked back at for one that began like the one at hand."""


class Team:
    """What is known of workers beforehand.

    Members
    -------
    tracks: one a worker. track_of: by mover, its worker's.
    opens: by mover, for each of its waits which tiles wait.
    awaited: by mover, who waits for it, as which of its waits, for which tiles.
    """

    def __init__(self, workers: Workers, bus: Bus) -> None:
        self.bus = bus
        self.tracks: list[Track] = []
        for _ in workers.regions:
            first = self.tracks[-1].movers.stop if self.tracks else 0
            self.tracks.append(Track(workers, len(self.tracks), bus, first))
        self.track_of = [track for track in self.tracks for _ in track.movers]
        self.worker_of = [n for n, track in enumerate(self.tracks) for _ in track.movers]
        transfers = workers.transfers
        self.is_store = [transfer.direction == "store" for transfer in transfers]
        self.stores = [n for n, stores in enumerate(self.is_store) if stores]
        self.copies = [transfer.copies for transfer in transfers]
        self.waits = [transfer.after for transfer in transfers]
        self.opens = [
            [track.opens(wait.takes) for wait in own]
            for track, own in zip(self.track_of, self.waits, strict=True)
        ]
        self.awaited: list[list[tuple[int, int, Flags]]] = [
            [
                (n, k, track.closes(wait.gives))
                for n, own in enumerate(self.waits)
                for k, wait in enumerate(own)
                if wait.window == transfer.window
            ]
            for track, transfer in zip(self.track_of, transfers, strict=True)
        ]
        # Of kernels, by worker: what they wait for, in which tiles, and who waits for them.
        self.kernel_waits = [region.waits for region in workers.regions]
        self.kernel_opens = [
            [track.opens(wait.takes) for wait in own]
            for track, own in zip(self.tracks, self.kernel_waits, strict=True)
        ]
        self.kernel_awaited: list[list[tuple[int, int, Flags]]] = [
            [
                (n, k, track.closes(wait.gives))
                for n, own in enumerate(self.kernel_waits)
                for k, wait in enumerate(own)
                if workers.giver(n, wait) == number
            ]
            for number, track in enumerate(self.tracks)
        ]
        self.used_cycles = [
            tiled.used_cycle(transfer.window)
            for tiled in workers.regions
            for transfer in tiled.transfers
        ]

    def initial(self) -> State:
        """Return the state in the first cycle."""
        movers = []
        for n, waits in enumerate(self.waits):
            is_store, copies = self.is_store[n], self.copies[n]
            first = self.track_of[n].pattern(n, 1)[0]
            movers.append(
                Mover(
                    tile=1,
                    item=0,
                    shows=first.dropped + CONTROL_CYCLES,
                    own=0 if is_store else copies,
                    kernels=copies if is_store else 0,
                    credits=tuple([wait.distance for wait in waits]),
                )
            )
        return State(
            movers,
            port_timing(self.bus, self.is_store, self.worker_of),
            [self._first_pace(number) for number in range(len(self.tracks))],
        )

    def _first_pace(self, number: int) -> Pace:
        waits = self.kernel_waits[number]
        # Which tiles wait, or are waited for, is shown by a control, a cycle before it counts.
        begins = CONTROL_CYCLES + 1 if waits or self.kernel_awaited[number] else 0
        return Pace(rested=begins, credits=tuple([wait.distance for wait in waits]))

    def may_start(self, state: State, number: int) -> bool:
        """Return whether a worker's kernel has what it waits for before its next tile."""
        track = self.tracks[number]
        for credit, opens in zip(
            state.paces[number].credits, self.kernel_opens[number], strict=True
        ):
            if not credit and track.counts(1, opens):
                return False
        return True

    def begin(self, state: State, number: int) -> None:
        """Take what a worker's kernel has waited for before its next tile."""
        pace, track = state.paces[number], self.tracks[number]
        if pace.credits:
            pairs = zip(pace.credits, self.kernel_opens[number], strict=True)
            pace.credits = tuple([credit - track.counts(1, opens) for credit, opens in pairs])

    def hand_over(self, state: State, number: int) -> None:
        """Let others know that a worker's kernel is done with its peers in one more tile."""
        pace, track = state.paces[number], self.tracks[number]
        for waiter, k, closes in self.kernel_awaited[number]:
            if track.counts(pace.handed, closes):
                credits = list(state.paces[waiter].credits)
                credits[k] += 1
                state.paces[waiter].credits = tuple(credits)
        pace.handed += 1

    def is_admitted(self, mover: Mover, n: int) -> bool:
        """Return whether the item at hand may go on: its tile has a token, or finds one."""
        if mover.begun:
            return True
        if not mover.own:
            return False
        track = self.track_of[n]
        for credit, opens in zip(mover.credits, self.opens[n], strict=True):
            if not credit and track.counts(mover.claimed, opens):
                return False
        return True

    def claim(self, mover: Mover, n: int) -> None:
        """Take the tokens for a tile."""
        mover.own -= 1
        if mover.credits:
            track = self.track_of[n]
            mover.credits = tuple(
                [
                    credit - track.counts(mover.claimed, opens)
                    for credit, opens in zip(mover.credits, self.opens[n], strict=True)
                ]
            )
        mover.claimed += 1


class Cycles:
    """Follow a state.

    Parameters
    ----------
    state: changes.
    """

    def __init__(self, team: Team, state: State) -> None:
        self.team = team
        self.state = state
        self.offers: list[Item | None] = [None] * len(state.movers)
        self.awake = set(range(len(state.movers)))
        self.stretch = Stretch(team)
        # Cycles in which a timer ends; and whether some worker may have what it starts with.
        self.alarms = [mover.shows for mover in state.movers if mover.shows > state.now]
        for pace in state.paces:
            self.alarms += [cycle for cycle in (pace.rested, pace.idle) if cycle > state.now]
            self.alarms += [cycle for cycle, _ in pace.used]
        heapify(self.alarms)
        self.may_start = self.gives_back = True

    def to_next_start(self) -> tuple[int, tuple[int, ...]]:
        """Follow the state until the end of the cycle in which a next tile starts.

        Return the cycles, that one included, and the workers whose tiles start.
        """
        state, begin = self.state, self.state.now
        while True:
            started = self._starting()
            moved = self._cycle(started)
            if started:
                for number in started:
                    track = self.team.tracks[number]
                    track.start()
                    if self.team.kernel_awaited[number]:
                        state.paces[number].handed -= 1
                    for n in track.movers:
                        state.movers[n].passes_tile()
                return state.now - begin, started
            if not moved:
                self._wait()
            self._stretch()

    def to_end(self) -> int:
        """Follow the state until all is stored; return the cycles before that one."""
        begin = self.state.now
        while not self._is_done():
            if not self._cycle(()):
                self._wait()
            self._stretch()
        return self.state.now - begin

    def _stretch(self) -> None:
        self.awake.update(self.stretch.skipped(self.state))

    def _starting(self) -> tuple[int, ...]:
        """Return the workers that start a tile."""
        if not self.may_start:
            return ()
        self.may_start = False
        state = self.state
        movers, now = state.movers, state.now
        found = []
        for number, track in enumerate(self.team.tracks):
            if state.paces[number].rested <= now and not track.is_over:
                for n in track.movers:
                    if not movers[n].kernels:
                        break
                else:
                    if self.team.may_start(state, number):
                        found.append(number)
        return tuple(found)

    def _is_done(self) -> bool:
        movers, copies = self.state.movers, self.team.copies
        if any([movers[n].kernels != copies[n] for n in self.team.stores]):
            return False
        return all([pace.idle <= self.state.now for pace in self.state.paces])

    def _wait(self) -> None:
        """Let the cycles pass in which nothing but counts changes."""
        state = self.state
        ends = self.alarms[:1]
        if waits := state.port.waits():
            ends.append(state.now + waits)
        if not ends:
            raise PlanError("a tile waits for what never happens")
        more = min(ends) - state.now
        state.port.wait(more)
        state.now += more
        self._ring()

    def _ring(self) -> bool:
        """See to the timers that have ended; return whether there are some."""
        state, alarms = self.state, self.alarms
        now = state.now
        if not alarms or alarms[0] > now:
            return False
        while alarms and alarms[0] <= now:
            heappop(alarms)
        self.may_start = self.gives_back = True
        self.awake.update([n for n, mover in enumerate(state.movers) if mover.shows == now])
        return True

    def _cycle(self, started: tuple[int, ...]) -> bool:
        """Go through one cycle; return whether more than counts changed, or will in the next."""
        team, state = self.team, self.state
        movers, now = state.movers, state.now
        for n in self.awake:
            self.offers[n] = self._offer(n, movers[n])
        served = state.port.cycle(self.offers)
        moved = bool(started) or served.moved
        self.awake.update(served.taken)
        asleep = []
        for n in self.awake:
            mover = movers[n]
            claimed, changed = self._move(mover, n, n in served.taken)
            if changed:
                moved = True
                if claimed:
                    team.claim(mover, n)
            else:
                asleep.append(n)
        self.awake.difference_update(asleep)
        for n in served.finished:
            self._finish(n)
        for number in started:
            self._start(number)
        if self.gives_back:
            self.gives_back = False
            for number, pace in enumerate(state.paces):
                while pace.used and pace.used[0][0] <= now:
                    n = pace.used.pop(0)[1]
                    moved = True
                    if n == HANDED:
                        team.hand_over(state, number)
                        self.may_start = True
                    else:
                        movers[n].own += 1
                        self.awake.add(n)
        state.now = now + 1
        return self._ring() or moved

    def _start(self, number: int) -> None:
        """Start a tile of a worker."""
        team, state = self.team, self.state
        track, pace = team.tracks[number], state.paces[number]
        pace.rested = state.now + track.tiled.issue_cycles
        pace.idle = state.now + track.tiled.kernel.length_cycles
        pace.used += [(state.now + team.used_cycles[n], n) for n in track.movers]
        if team.kernel_awaited[number]:
            pace.used.append((state.now + track.tiled.handed_cycle, HANDED))
        team.begin(state, number)
        pace.used.sort()
        for cycle in (pace.rested, pace.idle, *(cycle for cycle, _ in pace.used)):
            heappush(self.alarms, cycle)
        self.gives_back = self.may_start = True
        for n in track.movers:
            state.movers[n].kernels -= 1

    def _offer(self, n: int, mover: Mover) -> Item | None:
        """Return what a mover offers to the port."""
        if self.team.is_store[n]:
            return mover.read
        return mover.queue[0] if mover.queue and self.team.is_admitted(mover, n) else None

    def _move(self, mover: Mover, n: int, taken: bool) -> tuple[bool, bool]:
        """Go through one cycle of a mover; return whether it claims a token, and does anything."""
        item = mover.queue[0] if mover.queue else None
        pops = taken
        if self.team.is_store[n]:
            pops = (
                item is not None
                and (mover.read is None or taken)
                and self.team.is_admitted(mover, n)
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
        if mover.shows > self.state.now or len(mover.queue) == QUEUED:
            return None
        track = self.team.track_of[n]
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
            if not track.has(mover.tile):
                return shown
            pattern = track.pattern(n, mover.tile)
        # The iteration that it goes on to is shown in the next cycle.
        dropped = pattern[mover.item].dropped
        mover.shows = self.state.now + 1 + dropped
        if dropped:
            heappush(self.alarms, mover.shows)
        return shown

    def _finish(self, n: int) -> None:
        """Give the tokens of a mover that is done with a tile."""
        team, movers = self.team, self.state.movers
        mover = movers[n]
        mover.kernels += 1
        self.may_start = True
        for waiter, k, closes in team.awaited[n]:
            if team.track_of[n].counts(mover.finished, closes):
                credits = list(movers[waiter].credits)
                credits[k] += 1
                movers[waiter].credits = tuple(credits)
                self.awake.add(waiter)
        mover.finished += 1


class Stretch:
    """Skip accesses that follow each other alike, of one mover or of several in turn.

    When an access begins, and all is as when one before began, but for the numbers of words, then
    so it is again after as many cycles, until an item of another kind is shown or a timer ends.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self.seen: dict[tuple[object, ...], tuple[int, list[int]]] = {}

    def skipped(self, state: State) -> list[int]:
        """Skip what is alike; return the movers whose accesses were."""
        user, now = state.port.begun(), state.now
        if user is None:
            return []
        left = [self._left(n, mover, now) for n, mover in enumerate(state.movers)]
        if not left[user]:
            self.seen.clear()
            return []
        if len(self.seen) > MOST_SEEN:
            self.seen.clear()
        timers = [timer - now for pace in state.paces for timer in (pace.rested, pace.idle)]
        waits = tuple([timer <= 0 for timer in timers])
        pairs = zip(state.movers, left, strict=True)
        places = [_place(mover, more > 0, now) for mover, more in pairs]
        items = [mover.item for mover in state.movers]
        begun, before = self.seen.setdefault((user, waits, state.port.key(), *places), (now, items))
        if begun == now:
            return []
        period = now - begun
        gains = [item - old for item, old in zip(items, before, strict=True)]
        ends = [cycle - now for pace in state.paces for cycle, _ in pace.used]
        ends += [mover.shows - now for mover in state.movers]
        ends = [timer for timer in (*ends, *timers) if timer > 0]
        count = min(
            [more // gain for more, gain in zip(left, gains, strict=True) if gain]
            + [(end - 1) // period - 1 for end in ends]
        )
        self.seen.clear()
        if count < 1:
            return []
        moved = [n for n, gain in enumerate(gains) if gain]
        for n in moved:
            self._skip(state, n, count * gains[n])
        state.now += count * period
        return moved

    def _left(self, n: int, mover: Mover, now: int) -> int:
        """Return how many items more a mover shows that are like those on their way."""
        first = mover.item - QUEUED - 1
        if first < 0 or mover.shows > now:
            return 0
        track = self.team.track_of[n]
        end = track.end_of_plain(n, mover.tile, mover.item)
        if end - mover.item < 2 or track.end_of_plain(n, mover.tile, first) != end:
            return 0
        return end - mover.item - 1

    def _skip(self, state: State, n: int, count: int) -> None:
        """Let a mover make so many accesses more, each as the one before."""
        mover = state.movers[n]
        pattern = self.team.track_of[n].pattern(n, mover.tile)
        mover.item += count
        queued = mover.item - len(mover.queue)
        mover.queue = pattern[queued : mover.item]
        if mover.read is not None:
            mover.read = pattern[queued - 1]


def _place(mover: Mover, moves: bool, now: int) -> tuple[object, ...]:
    """Return the state of a mover, without its words where it moves some."""
    tokens = mover.own, mover.kernels, mover.begun, mover.credits
    if moves:
        return (*tokens, mover.tile, len(mover.queue), mover.read is None)
    # How long it drops what it does not move is a timer's matter.
    return *tokens, *mover.key(max(now, mover.shows - 1))
