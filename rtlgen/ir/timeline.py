"""The cycle model of tiles: how long workers take, exactly.

They are followed from the start of a tile to the start of the next, of whatever worker
(`ir.timeline_cycles`). What happens in between depends on the state at the first start and on what
is moved in few of the tiles around; where both have been seen before (`ir.timeline_known`), so has
the outcome. So the work grows with the kinds of tiles, and only by a look into a table with their
number.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.tiled import Workers
from rtlgen.ir.timeline_cycles import Cycles, Team
from rtlgen.ir.timeline_known import KnownSteps, Recent
from rtlgen.ir.timeline_state import At, Credits, State, Step, gains_of
from rtlgen.ir.timeline_tracks import Look, Track

END_CYCLES = 2
"""Cycles from the one in which all is stored to the end of the workers, both included."""


MOST_KNOWN = 64
"""Workers whose cycles are kept."""

known_cycles: OrderedDict[tuple[Workers, Bus], int] = OrderedDict()
"""The cycles of workers that have been followed, those asked for last behind the others."""


def workers_cycles(workers: Workers, bus: Bus, most: int | None = None) -> int:
    """Return the cycles between the start of some workers and that of what follows them.

    Parameters
    ----------
    most: where they are more than that, at least so many are returned.

    Raises
    ------
    PlanError: they would wait for ever.
    """
    key = workers, bus
    if key in known_cycles:
        known_cycles.move_to_end(key)
        return known_cycles[key]
    found = _Timeline(workers, bus).cycles(most)
    if most is None or found <= most:
        known_cycles[key] = found
        if len(known_cycles) > MOST_KNOWN:
            known_cycles.popitem(last=False)
    return found


def estimated_cycles(workers: Workers, bus: Bus, starts: int) -> int:
    """Return the cycles of workers, if all of their tiles start as often as the first ones do.

    Parameters
    ----------
    starts: of tiles that are followed.

    Raises
    ------
    PlanError: they would wait for ever.
    """
    return _Timeline(workers, bus).estimated(starts)


MOST_STATES = 1 << 18
"""States of movers that are kept, in each of two generations; all of them take 250 MB."""


class _Timeline:
    """Follow workers from their first cycle to their last."""

    def __init__(self, workers: Workers, bus: Bus) -> None:
        self.team = Team(workers, bus)
        self.tracks = self.team.tracks
        self.enough = max(track.enough for track in self.tracks)
        most = max(1, MOST_STATES // max(1, len(self.team.is_store)))
        self.known = KnownSteps(most)
        self.known_rows: dict[tuple[object, ...], Step] = {}
        self.keys: Recent[int] = Recent(most)
        self.numbers = count()

    def cycles(self, most: int | None = None) -> int:
        """Return the length of all of it; where it is more than `most`, at least so many cycles."""
        at = self._begin()
        if len(self.tracks) == 1:
            self._follow_rows(at, self.tracks[0])
        else:
            while not all([track.is_over for track in self.tracks]):
                self._follow_start(at)
                if most is not None and (least := at.cycles + self._left()) > most:
                    return least
        rest = Cycles(self.team, at.state.copied(at.credits))
        return at.cycles + rest.to_end() + END_CYCLES

    def _begin(self) -> At:
        state = self.team.initial()
        return At(state, self._key(state), state.credits, 0)

    def estimated(self, starts: int) -> int:
        """Return the length of all of it, from how long it takes until so many tiles start."""
        at = self._begin()
        total = sum(track.tiled.tiles for track in self.tracks)
        begun = 0
        while begun < starts and not all([track.is_over for track in self.tracks]):
            begun += len(self._follow_start(at).started)
        return at.cycles * total // begun

    def _left(self) -> int:
        """Return the cycles that are left at least: those of the kernels."""
        return max(
            (track.tiled.tiles - 1 - track.tile) * track.tiled.issue_cycles for track in self.tracks
        )

    def _follow_start(self, at: At) -> Step:
        """Follow all workers to the next start of a tile."""
        begin = at.key, at.few(self.enough)
        step = self.known.get(begin)
        if step is None:
            looks: list[Look] = []
            for track in self.tracks:
                track.watch(looks)
            step = self._step(at.state.copied(at.credits))
            self.known.add(begin, looks, step)
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
        tile = end = 0
        seen: dict[tuple[object, Credits], tuple[int, int]] = {}
        while tile < count:
            if tile >= end:
                # In tiles of one kind, what comes back to a state goes round again.
                end = min(row.ends[tile], count)
                seen.clear()
            begun, cycles = seen.setdefault((at.key, at.credits), (tile, at.cycles))
            if rounds := (end - tile) // (tile - begun) if begun < tile else 0:
                at.cycles += rounds * (at.cycles - cycles)
                tile += rounds * (tile - begun)
                seen.clear()
                continue
            track.row, track.number, track.tile = row, number, row.first + tile
            self._follow_start(at)
            tile += 1

    def _step(self, state: State) -> Step:
        """Follow the state from the start of a tile to that of the next."""
        before = state.credits
        cycles, started = Cycles(self.team, state).to_next_start()
        gains = gains_of(before, state.credits)
        return Step(cycles, state, self._key(state), gains, any(map(any, gains)), started)

    def _key(self, state: State) -> int:
        """Return a number for a state: a small one is looked up faster than all it stands for.

        One that comes back after long has another number then, and is followed again.
        """
        key = state.key()
        number = self.keys.get(key)
        if number is None:
            number = next(self.numbers)
            self.keys.add(key, number)
        return number
