"""What changes while tiled regions run: movers, port and tokens, and how far they have come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from rtlgen.ir.port_timing import PortTiming
from rtlgen.ir.transfer_patterns import Item

Credits: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each mover, iterations that it may be ahead of each of the stores that it waits for; then of
each kernel, the same of the kernels that it waits for."""


@dataclass(slots=True)
class Mover:
    """State of one mover; tiles are counted from the one that its worker started last.

    Members
    -------
    tile, item: where its control is. shows: the cycle from which on it shows that item, when it has
        dropped those before it.
    claimed: the tile whose tokens it takes next. finished: the tile that it is done with next.
    queue, read: items on their way to the port. begun: whether it holds a token for their tile.
    own, kernels: tokens at hand: copies that the mover may use, and the kernel.
    credits: iterations that it may be ahead of each of the stores that it waits for.
    """

    tile: int
    item: int
    shows: int
    own: int
    kernels: int
    credits: tuple[int, ...]
    claimed: int = 1
    finished: int = 1
    queue: tuple[Item, ...] = ()
    read: Item | None = None
    begun: bool = False

    def key(self, now: int) -> tuple[object, ...]:
        """Return all but the credits."""
        drops = self.shows - now if self.shows > now else 0
        return (
            self.tile,
            self.claimed,
            self.finished,
            self.item,
            drops,
            self.begun,
            self.own,
            self.kernels,
            self.queue,
            self.read,
        )

    def copied(self, credits: tuple[int, ...]) -> Mover:
        """Return a mover that changes by itself, with other credits."""
        return Mover(
            self.tile,
            self.item,
            self.shows,
            self.own,
            self.kernels,
            credits,
            self.claimed,
            self.finished,
            self.queue,
            self.read,
            self.begun,
        )

    def passes_tile(self) -> None:
        """Count tiles from the next one on."""
        self.tile -= 1
        self.claimed -= 1
        self.finished -= 1


HANDED = -1
"""In place of the number of a mover: of a kernel."""


@dataclass(slots=True)
class Pace:
    """When one worker goes on.

    Members
    -------
    rested: the cycle from which on its next tile may start. idle: that from which on none is in its
        kernel.
    used: (cycle, number of the mover) where its kernel gives back a copy of a window; with HANDED
        for a number, where it is done with the memories of its peers.
    credits: iterations that its kernel may be ahead of each of those that it waits for.
    handed: the tile that it is done with next, counted from the one that it started last.
    """

    rested: int = 0
    idle: int = 0
    used: list[tuple[int, int]] = field(default_factory=list)
    credits: tuple[int, ...] = ()
    handed: int = 1

    def key(self, now: int) -> tuple[object, ...]:
        """Return all but the credits."""
        used = tuple([(cycle - now, n) for cycle, n in self.used])
        return max(0, self.rested - now), max(0, self.idle - now), self.handed, used

    def copied(self, credits: tuple[int, ...]) -> Pace:
        """Return a pace that changes by itself, with other credits."""
        return Pace(self.rested, self.idle, list(self.used), credits, self.handed)


@dataclass(slots=True)
class State:
    """All that changes.

    Members
    -------
    movers: of all workers. port: of the memory off chip. paces: by worker. now: the cycle at hand,
        counted from anywhere.
    """

    movers: list[Mover]
    port: PortTiming
    paces: list[Pace]
    now: int = 0

    def key(self) -> tuple[object, ...]:
        """Return all but the credits, of which only whether they are few matters."""
        now = self.now
        movers = tuple([mover.key(now) for mover in self.movers])
        return movers, self.port.key(), tuple([pace.key(now) for pace in self.paces])

    @property
    def credits(self) -> Credits:
        movers = [mover.credits for mover in self.movers]
        return tuple(movers + [pace.credits for pace in self.paces])

    def copied(self, credits: Credits) -> State:
        """Return a state that changes by itself, with other credits."""
        movers = [mover.copied(own) for mover, own in zip(self.movers, credits, strict=False)]
        own = credits[len(movers) :]
        paces = [pace.copied(owned) for pace, owned in zip(self.paces, own, strict=True)]
        return State(movers, self.port.copied(), paces, self.now)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What happens from the start of some tile to that of the next, of whatever worker.

    Members
    -------
    after: the state then. key: a number for it. gains: of credits; gains_any: whether there are
        some.
    started: the workers whose tiles start then.
    """

    cycles: int
    after: State
    key: int
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
    state: then, but for the credits. key: a number for it, equal for equal ones.
    """

    state: State
    key: int
    credits: Credits
    cycles: int
    _few: tuple[int, Credits, Credits] = (0, (), ())

    def few(self, most: int) -> Credits:
        """Return the credits, as many as matter."""
        # Most steps leave them as they were.
        if self._few[0] != most or self._few[1] is not self.credits:
            found = tuple([tuple([min(c, most) for c in own]) for own in self.credits])
            self._few = most, self.credits, found
        return self._few[2]

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
