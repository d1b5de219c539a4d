"""Steps of workers that have been followed, found again by the state they begin in and by tiles.

What happens from the start of a tile to that of the next depends on few of the tiles around: a
worker that waits for its turn looks at none. So a step is known by those that were looked at while
it was followed, and stands for all in which these are the same. Which tile is looked at first
depends on the state alone, the next one on the state and on the first tile: the steps of a state
make a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

from rtlgen.ir.timeline_state import Step
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
