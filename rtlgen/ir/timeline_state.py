"""What changes while tiled regions run: movers, port and tokens, and how far they have come."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TypeAlias

from rtlgen.ir.port_timing import PortTiming
from rtlgen.ir.transfer_patterns import Item

Credits: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each mover, iterations that it may be ahead of each of the stores that it waits for."""


@dataclass(slots=True)
class Mover:
    """State of one mover; tiles are counted from the one that its worker started last.

    Members
    -------
    tile, item: where its control is. drops: iterations that it drops before it shows that item.
    claimed: the tile whose tokens it takes next. finished: the tile that it is done with next.
    queue, read: items on their way to the port. begun: whether it holds a token for their tile.
    own, kernels: tokens at hand: copies that the mover may use, and the kernel.
    credits: iterations that it may be ahead of each of the stores that it waits for.
    """

    tile: int
    item: int
    drops: int
    own: int
    kernels: int
    credits: tuple[int, ...]
    claimed: int = 1
    finished: int = 1
    queue: tuple[Item, ...] = ()
    read: Item | None = None
    begun: bool = False

    def key(self) -> tuple[object, ...]:
        """Return all but the credits."""
        tiles = self.tile, self.claimed, self.finished
        place = self.item, self.drops, self.begun
        return *tiles, *place, self.own, self.kernels, self.queue, self.read

    def passes_tile(self) -> None:
        """Count tiles from the next one on."""
        self.tile -= 1
        self.claimed -= 1
        self.finished -= 1


@dataclass(slots=True)
class Pace:
    """When one worker goes on.

    Members
    -------
    rest: cycles until its next tile may start. busy: cycles until its last one is done.
    used: (cycles until then, number of the mover) where its kernel gives back a copy of a window.
    """

    rest: int = 0
    busy: int = 0
    used: list[tuple[int, int]] = field(default_factory=list)

    def key(self) -> tuple[object, ...]:
        return self.rest, self.busy, tuple(self.used)

    def count_down(self, cycles: int) -> None:
        """Let the timers of tiles run for some cycles."""
        self.rest = max(0, self.rest - cycles)
        self.busy = max(0, self.busy - cycles)
        self.used = [(left - cycles, n) for left, n in self.used]

    def tick(self) -> bool:
        """Count down by a cycle; return whether something is to happen in the next one."""
        due = False
        if self.used:
            self.used = [(left - 1, n) for left, n in self.used]
            due = self.used[0][0] == 0
        if self.rest:
            self.rest -= 1
            due |= self.rest == 0
        if self.busy:
            self.busy -= 1
            due |= self.busy == 0
        return due


@dataclass(slots=True)
class State:
    """All that changes.

    Members
    -------
    movers: of all workers. port: of the memory off chip. paces: by worker.
    """

    movers: list[Mover]
    port: PortTiming
    paces: list[Pace]

    def key(self) -> tuple[object, ...]:
        """Return all but the credits, of which only whether they are few matters."""
        movers = tuple([mover.key() for mover in self.movers])
        return movers, self.port.key(), tuple([pace.key() for pace in self.paces])

    @property
    def credits(self) -> Credits:
        return tuple([mover.credits for mover in self.movers])

    def count_down(self, cycles: int) -> None:
        """Let the timers of tiles run for some cycles."""
        for pace in self.paces:
            pace.count_down(cycles)

    def copied(self, credits: Credits) -> State:
        """Return a state that changes by itself, with other credits."""
        movers = [copy(mover) for mover in self.movers]
        for mover, own in zip(movers, credits, strict=True):
            mover.credits = own
        paces = [Pace(pace.rest, pace.busy, list(pace.used)) for pace in self.paces]
        return State(movers, self.port.copied(), paces)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What happens from the start of some tile to that of the next, of whatever worker.

    Members
    -------
    after: the state then, and its key. gains: of credits; gains_any: whether there are some.
    started: the workers whose tiles start then.
    """

    cycles: int
    after: State
    key: tuple[object, ...]
    gains: Credits
    gains_any: bool
    started: tuple[int, ...] = ()


def gains_of(before: Credits, after: Credits) -> Credits:
    """Return what credits have become more."""
    return tuple(
        tuple(b - a for a, b in zip(old, new, strict=True))
        for old, new in zip(before, after, strict=True)
    )


@dataclass(slots=True)
class At:
    """How far workers have been followed: to the start of a tile.

    Members
    -------
    state: then, but for the credits. key: of it.
    """

    state: State
    key: tuple[object, ...]
    credits: Credits
    cycles: int

    def few(self, most: int) -> Credits:
        """Return the credits, as many as matter."""
        return tuple([tuple([min(c, most) for c in own]) for own in self.credits])

    def move(self, step: Step, steps: int) -> None:
        """Go on by a step, several times where it leaves all as it was."""
        self.cycles += steps * step.cycles
        self.state, self.key = step.after, step.key
        if step.gains_any:
            self.credits = tuple(
                [
                    tuple([c + gain for c, gain in zip(own, gains, strict=True)])
                    for own, gains in zip(self.credits, step.gains, strict=True)
                ]
            )
