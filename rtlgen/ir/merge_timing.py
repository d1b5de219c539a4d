"""The cycle model of the stream into which the offers of several workers are merged: `hw.merge`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from rtlgen.ir.transfer_patterns import Item

QUEUED_OFFERS = 3
"""Offers that each of the queues holds: of a mover, and in front of the channel."""

NOBODY = -1
"""The mover, or the party, that was served last, before any was."""

Offers = Sequence[Item | None]


class Rotation:
    """In which order movers have their turns: `hw.turns`.

    Parameters
    ----------
    parties: of every mover. classes: movers, those of the first class before all others.
    """

    def __init__(self, parties: Sequence[int], *classes: Sequence[int]) -> None:
        self.parties = parties
        self._orders = {
            last: [n for own in classes for n in sorted(own, key=lambda n: parties[n] <= last)]
            for last in (NOBODY, *set(parties))
        }

    def after(self, party: int) -> list[int]:
        """Return all of them, the first one first, when a party was served last."""
        return self._orders[party]


class DirectOffers:
    """The offers of one worker's movers: the channel chooses among them."""

    def __init__(self, turns: Rotation) -> None:
        self.order: Sequence[int] = turns.after(NOBODY)

    def key(self) -> object:
        return None

    def copied(self) -> DirectOffers:
        return self

    def shown(self, offers: Offers) -> Offers:
        """Return what the channel is offered, by mover."""
        return offers

    def told(self, finished: Sequence[int]) -> Sequence[int]:
        """Return which movers hear in a cycle that a tile is done, where some tiles are."""
        return finished

    def cycle(self, offers: Offers, served: int | None) -> tuple[Sequence[int], bool]:
        """Go through a cycle in which the channel takes an offer of a mover, or none.

        Return whose offers are taken, and whether anything changed.
        """
        return ((), False) if served is None else ((served,), True)


class MergedOffers:
    """The offers of several workers' movers, one of which is shown to the channel.

    Members
    -------
    order: whose offer is shown. queues: of each mover. waiting: offers in them that are not chosen.
    chosen: the mover whose first offer goes to the stream in this cycle. stream: those in front of
        the channel, with their movers.
    before: the mover that was chosen last, if its next word may follow; goes_on: in the last cycle
        in which there was room. party: that was served last. finished: movers that will hear in
        the next cycle that a tile is done.
    """

    __slots__ = (
        "_movers",
        "_shown",
        "before",
        "chosen",
        "finished",
        "goes_on",
        "order",
        "party",
        "queues",
        "stream",
        "turns",
        "waiting",
    )

    def __init__(self, turns: Rotation) -> None:
        self.turns = turns
        self._movers = turns.after(NOBODY)
        self._shown: list[Item | None] = [None] * len(turns.parties)
        self.order: Sequence[int] = ()
        self.queues: dict[int, tuple[Item, ...]] = dict.fromkeys(self._movers, ())
        self.waiting = 0
        self.stream: tuple[tuple[int, Item], ...] = ()
        self.chosen = NOBODY
        self.before = NOBODY
        self.goes_on = False
        self.party = NOBODY
        self.finished: Sequence[int] = ()

    def key(self) -> object:
        queues = tuple(self.queues.values())
        turn = self.chosen, self.before, self.goes_on, self.party
        return queues, self.stream, turn, tuple(self.finished)

    def copied(self) -> MergedOffers:
        mine = copy(self)
        mine._shown = list(self._shown)
        mine.queues = dict(self.queues)
        return mine

    def shown(self, offers: Offers) -> Offers:
        """Return what the channel is offered, by mover."""
        return self._shown

    def told(self, finished: Sequence[int]) -> Sequence[int]:
        """Return who hears of tiles in this cycle; see `DirectOffers.told`."""
        before, self.finished = self.finished, finished
        return before

    def cycle(self, offers: Offers, served: int | None) -> tuple[Sequence[int], bool]:
        """Go through a cycle; see `DirectOffers.cycle`."""
        queues, stream, chosen = self.queues, self.stream, self.chosen
        on_its_way = chosen != NOBODY
        has_room = len(stream) + on_its_way < QUEUED_OFFERS
        next_one = self._next() if has_room and self.waiting else NOBODY
        taken = [
            n for n in self._movers if offers[n] is not None and len(queues[n]) < QUEUED_OFFERS
        ]
        if served is not None:
            stream = stream[1:]
        if on_its_way:
            stream = (*stream, (chosen, queues[chosen][0]))
            queues[chosen] = queues[chosen][1:]
        if has_room:
            self.goes_on = next_one != NOBODY
        self.chosen = next_one
        if next_one != NOBODY:
            self.waiting -= 1
            self.before = NOBODY if queues[next_one][0].last else next_one
            self.party = self.turns.parties[next_one]
        for n in taken:
            offer = offers[n]
            assert offer is not None, "what is taken was offered"
            queues[n] = (*queues[n], offer)
        self.waiting += len(taken)
        if stream is not self.stream:
            self._show(stream)
        changed = bool(taken) or on_its_way or next_one != NOBODY or served is not None
        return taken, changed

    def _next(self) -> int:
        """Return whose turn it is, where some mover has an item that is not chosen yet."""
        queues, before, chosen = self.queues, self.before, self.chosen
        if self.goes_on and before != NOBODY:
            queue = queues[before][1:] if before == chosen else queues[before]
            if queue and queue[0].moves and queue[0].follows:
                return before
        return next(
            n for n in self.turns.after(self.party) if len(queues[n]) > (1 if n == chosen else 0)
        )

    def _show(self, stream: tuple[tuple[int, Item], ...]) -> None:
        for n in self.order:
            self._shown[n] = None
        self.stream = stream
        self.order = ()
        if stream:
            first, item = stream[0]
            self._shown[first] = item
            self.order = (first,)


def offers_of(workers: Sequence[int], movers: Sequence[int]) -> DirectOffers | MergedOffers:
    """Return what a channel is offered by movers of its direction, which have turns.

    Parameters
    ----------
    workers: of every mover, of either direction.
    """
    if len(set(workers)) < 2:
        return DirectOffers(Rotation(workers, movers))
    return MergedOffers(Rotation(range(len(workers)), movers))
