"""The cycle model of tiles: how long workers take, exactly.

Steps of workers that have been followed, found again by the state they begin in and by tiles.

What happens from the start of a tile to that of the next depends on few of the tiles around: a
worker that waits for its turn looks at none. So a step is known by those that were looked at while
it was followed, and stands for all in which these are the same. Which tile is looked at first
depends on the state alone, the next one on the state and on the first tile: the steps of a state
make a tree.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Generic, TypeVar

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.tiled import Workers
from rtlgen.ir.timeline_cycles import Cycles, Team
from rtlgen.ir.timeline_state import At, Credits, State, Step, gains_of
from rtlgen.ir.timeline_tracks import Look, Track

Key = tuple[object, ...]

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """What was found of the last keys that were asked for.

    States of many workers hardly ever come back, but to the last few ones: each is kept until as
    many others as fill a generation have been found or asked for.

    Parameters
    ----------
    most: values of a generation.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._size = 0
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        """Return what is known of a key."""
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.add(key, found)
        return found

    def add(self, key: Key, value: Value) -> None:
        """Keep what was found."""
        self.make_room()
        self._young[key] = value

    def make_room(self) -> None:
        """Count a value more: of a new key, or of one that has several."""
        if self._size >= self.most:
            self._old, self._young, self._size = self._young, {}, 0
        self._size += 1


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A tile that is looked at, and what follows for each kind of it."""

    track: Track
    tile: int
    next: dict[int, _Branch | Step] = field(default_factory=dict)


class KnownSteps:
    """Steps that have been followed.

    Parameters
    ----------
    most: steps of a generation, of which two are kept.
    """

    def __init__(self, most: int) -> None:
        self._begins: Recent[_Branch | Step] = Recent(most)

    def get(self, state: Key) -> Step | None:
        """Return the step from a state on, if it is known for the tiles at hand."""
        found = self._begins.get(state)
        while isinstance(found, _Branch):
            found = found.next.get(found.track.kind_of(found.tile))
        return found

    def add(self, state: Key, looks: list[Look], step: Step) -> None:
        """Keep a step that was followed.

        Parameters
        ----------
        looks: the tiles that it depends on, in the order in which they were looked at.
        """
        found = self._begins.get(state)
        if not looks:
            self._begins.add(state, step)
            return
        if found is None:
            found = _Branch(*looks[0][:2])
            self._begins.add(state, found)
        else:
            self._begins.make_room()
        for (_, _, kind), after in pairwise(looks):
            assert isinstance(found, _Branch), "the same state looks at the same tiles"
            found = found.next.setdefault(kind, _Branch(*after[:2]))
        assert isinstance(found, _Branch), "the same state looks at the same tiles"
        found.next[looks[-1][2]] = step


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
