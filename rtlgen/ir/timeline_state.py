"""What changes while a tiled region runs: movers, port and tokens, and how far it has come."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TypeAlias

from rtlgen.ir.port_timing import PortTiming
from rtlgen.ir.transfer_patterns import Item

Credits: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each mover, tiles that it may be ahead of each of the stores that it waits for."""


@dataclass(slots=True)
class Mover:
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
        """Return all but the credits."""
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
class State:
    """All that changes.

    Members
    -------
    port: of the memory off chip.
    rest: cycles until the next tile may start. busy: cycles until the last one is done.
    used: (cycles until then, number of the window) where the kernel gives back a copy.
    """

    movers: list[Mover]
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

    def count_down(self, cycles: int) -> None:
        """Let the timers of tiles run for some cycles."""
        self.rest = max(0, self.rest - cycles)
        self.busy = max(0, self.busy - cycles)
        self.used = [(left - cycles, n) for left, n in self.used]

    def copied(self, credits: Credits) -> State:
        """Return a state that changes by itself, with other credits."""
        state = copy(self)
        state.movers = [copy(mover) for mover in self.movers]
        for mover, own in zip(state.movers, credits, strict=True):
            mover.credits = own
        state.port = self.port.copied()
        state.used = list(self.used)
        return state


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What happens from the start of a tile to that of the next.

    Members
    -------
    after: the state then, and its key. gains: of credits; gains_any: whether there are some.
    """

    cycles: int
    after: State
    key: tuple[object, ...]
    gains: Credits
    gains_any: bool


def gains_of(before: Credits, after: Credits) -> Credits:
    """Return what credits have become more."""
    return tuple(
        tuple(b - a for a, b in zip(old, new, strict=True))
        for old, new in zip(before, after, strict=True)
    )


@dataclass(slots=True)
class At:
    """How far a region has been followed: to the start of a tile.

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
