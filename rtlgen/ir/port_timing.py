"""The cycle model of the ports to the memory off chip, and of the offers of several workers.

A port is followed cycle by cycle. In each one it is told what the movers offer and says what it
takes and which movers are done with a tile; see `hw.offers`. Where a cycle changes nothing but
counts, the next ones may be left out until a count is at its end.

`FixedTiming` is what `hw.fixed_port` does with a memory of constant latency. `AxiTiming` is what
`hw.axi_read` and `hw.axi_write` do with one that takes every address and word at once, gives the
first word of a burst a constant number of cycles after its address, or one cycle after the burst
before, then a word a cycle, and answers a write likewise. Where reads and writes share one data
bus, bursts have it in the order in which they were asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol, Self

from rtlgen.ir.memory_side import Bus
from rtlgen.ir.transfer_patterns import Item

QUEUED_OFFERS = 3
"""Offers that each of the queues holds: of a mover, and in front of the channel."""

NOBODY = -1
"""The mover, or the party, that was served last, before any was."""

Offers = Sequence[Item | None]


class Rotation:
    """In which order movers have their turns: `hw.offers`.

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


WRITE_WORDS = 32
"""Words that wait for their turn on the bus."""


@dataclass(slots=True)
class Served:
    """What a port did in a cycle.

    Members
    -------
    taken: whose offers. finished: who is done with a tile. moved: whether more than counts changed,
        or will in the next cycle.
    """

    taken: Sequence[int]
    finished: Sequence[int]
    moved: bool


class PortTiming(Protocol):
    """The state of a port."""

    def key(self) -> object:
        """Return what tells it from other states."""

    def copied(self) -> Self:
        """Return a state that changes by itself."""

    def cycle(self, offers: Offers) -> Served:
        """Go through a cycle."""

    def waits(self) -> int:
        """Return how many cycles nothing happens by itself; 0: until something else does."""

    def wait(self, cycles: int) -> None:
        """Let such cycles pass."""

    def begun(self) -> int | None:
        """Return whose access has just begun, where the next one may take as long."""


def port_timing(bus: Bus, is_store: Sequence[bool], workers: Sequence[int]) -> PortTiming:
    """Return an idle port for movers that load or store, each one a worker's."""
    loads = [n for n, stores in enumerate(is_store) if not stores]
    stores = [n for n, stores in enumerate(is_store) if stores]
    if bus.has_bursts:
        return AxiTiming(
            _Reads(bus, offers_of(workers, loads)),
            _Writes(bus, offers_of(workers, stores)),
        )
    rivals = [
        [k for k in (stores if is_store[n] else loads) if k != n] for n in range(len(is_store))
    ]
    return FixedTiming(bus.latency_cycles, Rotation(workers, stores, loads), rivals)


@dataclass(slots=True)
class FixedTiming:
    """One access at a time.

    Members
    -------
    turns: of movers. rivals: of each, the others that load, or store, as it does.
    user: whose access is on its way, or None; left: for how many cycles more; is_last: whether it
        ends a tile. served: the worker that was served last.
    """

    latency_cycles: int
    turns: Rotation
    rivals: Sequence[Sequence[int]]
    user: int | None = None
    left: int = 0
    is_last: bool = False
    served: int = NOBODY

    def key(self) -> object:
        return self.user, self.left, self.is_last, self.served

    def copied(self) -> FixedTiming:
        return copy(self)

    def cycle(self, offers: Offers) -> Served:
        user = self.user
        taken, finished = [], []
        for n, offer in enumerate(offers):
            # What only ends a tile ends it with the word on its way, where that is of this tile.
            if offer is not None and not offer.moves and not (n == user and self.is_last):
                taken.append(n)
                if n == user:
                    self.is_last = True
                else:
                    finished.append(n)
        ended: int | None = None
        if user is not None and self.left == 1:
            if self.is_last:
                ended = user
                finished.append(user)
            self.user = None
            moved = True
        else:
            moved = bool(taken)
        if self.user is None:
            for n in self.turns.after(self.served):
                offer = offers[n]
                if offer is not None and offer.moves:
                    # Who has ended a tile lets the others come to its end, too.
                    if n == ended and any(map(_moves, [offers[k] for k in self.rivals[n]])):
                        continue
                    self.served = self.turns.parties[n]
                    self.user, self.left, self.is_last = n, self.latency_cycles + 1, offer.last
                    taken.append(n)
                    moved = True
                    break
        if self.left:
            self.left -= 1
            moved |= self.left == 1
        return Served(taken, finished, moved)

    def waits(self) -> int:
        return self.left - 1 if self.user is not None else 0

    def wait(self, cycles: int) -> None:
        self.left = max(0, self.left - cycles)

    def begun(self) -> int | None:
        return self.user if self.left == self.latency_cycles else None


def _moves(offer: Item | None) -> bool:
    return offer is not None and offer.moves


@dataclass(slots=True)
class AxiTiming:
    """Reads and writes side by side.

    Members
    -------
    busy: cycles for which the data bus that they share is taken, from the next one on.
    """

    reads: _Reads
    writes: _Writes
    busy: int = 0

    def key(self) -> object:
        return self.reads.key(), self.writes.key(), self.busy

    def copied(self) -> AxiTiming:
        return AxiTiming(self.reads.copied(), self.writes.copied(), self.busy)

    def cycle(self, offers: Offers) -> Served:
        more = self.writes.cycle(offers, self)
        served = self.reads.cycle(offers, self)
        self.busy = max(0, self.busy - 1)
        return Served(
            (*served.taken, *more.taken),
            (*served.finished, *more.finished),
            served.moved | more.moved,
        )

    def waits(self) -> int:
        ends = [cycles for cycles in (self.reads.waits(), self.writes.waits()) if cycles]
        return min(ends, default=0)

    def wait(self, cycles: int) -> None:
        self.reads.now += cycles
        self.writes.now += cycles
        self.busy = max(0, self.busy - cycles)

    def asked(self, bus: Bus, words: int) -> int:
        """Let a burst of some words have the data bus; return in how many cycles it begins."""
        if not bus.is_shared:
            return bus.latency_cycles
        begins = max(bus.latency_cycles, self.busy)
        self.busy = begins + words + bus.burst_cycles
        return begins

    def begun(self) -> int | None:
        # Bursts of several movers are on their way at a time.
        return None


@dataclass(frozen=True, slots=True)
class _Burst:
    """The open one: of whom, how many words, whether it ends a tile."""

    owner: int
    words: int
    is_last: bool

    def goes_on(self, offers: Offers) -> bool:
        """Tell whether its owner offers one more word of it."""
        offer = offers[self.owner]
        return offer is not None and offer.moves and offer.follows


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a channel has been asked for.

    Members
    -------
    is_last: a tile ends with it. is_awaited: there will be an answer.
    """

    owner: int
    is_last: bool
    is_awaited: bool


@dataclass(slots=True)
class _Reads:
    """The read channels.

    Members
    -------
    open: the burst that may grow. sent: words of the one on the address channel, 0 without any.
    bursts: (words that are still to come, cycle from which on) of each one behind it.
    asked: what is to come, behind the head, which is next. has_word: whether a word has come and is
        not in its window.
    source: what is offered.
    """

    bus: Bus
    source: DirectOffers | MergedOffers
    now: int = 0
    open: _Burst | None = None
    sent: int = 0
    bursts: list[tuple[int, int]] = field(default_factory=list)
    asked: list[_Asked] = field(default_factory=list)
    head: _Asked | None = None
    has_word: bool = False

    def key(self) -> object:
        bursts = tuple([(words, max(0, due - self.now)) for words, due in self.bursts])
        state = self.open, self.sent, bursts, tuple(self.asked), self.head, self.has_word
        return *state, self.source.key()

    def copied(self) -> _Reads:
        mine = copy(self)
        mine.source = self.source.copied()
        mine.bursts, mine.asked = list(self.bursts), list(self.asked)
        return mine

    def cycle(self, offers: Offers, data: AxiTiming) -> Served:
        shown = self.source.shown(offers)
        has_room = len(self.asked) < self.bus.read_words
        head = self.head
        passes = head is not None and (self.has_word or not head.is_awaited)
        finished = [head.owner] if head is not None and passes and head.is_last else []
        takes = not self.has_word or (head is not None and head.is_awaited)
        comes = takes and bool(self.bursts) and self.bursts[0][1] <= self.now
        if comes:
            words, due = self.bursts[0]
            self.bursts[:1] = [(words - 1, due)] if words > 1 else []
        if takes:
            self.has_word = comes
        moved = passes or comes or self.sent > 0
        if (passes or head is None) and (self.asked or head is not None):
            self.head = self.asked.pop(0) if self.asked else None
            moved = True
        if self.sent:
            self.bursts.append((self.sent, self.now + data.asked(self.bus, self.sent)))
            self.sent = 0
        burst = self.open
        goes_on = burst is not None and burst.goes_on(shown)
        taken: int | None = None
        if burst is not None and goes_on:
            if has_room:
                taken = burst.owner
                self.open = _Burst(taken, burst.words + 1, False)
        else:
            if burst is not None:
                self.sent, self.open, moved = burst.words, None, True
            if has_room:
                taken = next((n for n in self.source.order if shown[n] is not None), None)
        if taken is not None:
            offer = shown[taken]
            assert offer is not None, "what is taken was offered"
            self.asked.append(_Asked(taken, offer.last, offer.moves))
            if offer.moves and not goes_on:
                self.open = _Burst(taken, 1, False)
        self.now += 1
        by_movers, changed = self.source.cycle(offers, taken)
        told = self.source.told(finished)
        moved |= changed or bool(told) or (bool(self.bursts) and self.bursts[0][1] == self.now)
        return Served(by_movers, told, moved)

    def waits(self) -> int:
        return max(0, self.bursts[0][1] - self.now) if self.bursts else 0


@dataclass(slots=True)
class _Writes:
    """The write channels.

    Members
    -------
    open: the burst that may grow; its last word is not among the `words` that wait for the bus.
    bursts: words of each one whose address is out; to_send: of the first one, those that are not
        yet out. due: cycles of their responses.
    asked: what waits for a response. source: what is offered.
    """

    bus: Bus
    source: DirectOffers | MergedOffers
    now: int = 0
    open: _Burst | None = None
    words: int = 0
    bursts: list[int] = field(default_factory=list)
    to_send: int = 0
    due: list[int] = field(default_factory=list)
    asked: list[_Asked] = field(default_factory=list)

    def key(self) -> object:
        due = tuple([max(0, cycle - self.now) for cycle in self.due])
        state = self.open, self.words, tuple(self.bursts), self.to_send, due, tuple(self.asked)
        return *state, self.source.key()

    def copied(self) -> _Writes:
        mine = copy(self)
        mine.source = self.source.copied()
        mine.bursts, mine.due, mine.asked = list(self.bursts), list(self.due), list(self.asked)
        return mine

    def cycle(self, offers: Offers, data: AxiTiming) -> Served:
        shown = self.source.shown(offers)
        has_room, may_ask = self.words < WRITE_WORDS, len(self.asked) < self.bus.write_bursts
        finished, moved = self._answer()
        moved |= self._send(data)
        burst = self.open
        goes_on = burst is not None and burst.goes_on(shown)
        taken: int | None = None
        if burst is not None and goes_on:
            if has_room:
                taken = burst.owner
                self.words += 1
                offer = shown[taken]
                assert offer is not None, "what goes on was offered"
                self.open = _Burst(taken, burst.words + 1, offer.last)
        else:
            if burst is not None and has_room and may_ask:
                self.words += 1
                self.bursts.append(burst.words)
                self.asked.append(_Asked(burst.owner, burst.is_last, True))
                self.open, moved = None, True
            opens = self.open is None and has_room
            passes = burst is None and may_ask
            for n in self.source.order:
                offer = shown[n]
                if offer is not None and (opens if offer.moves else passes):
                    taken = n
                    if offer.moves:
                        self.open = _Burst(n, 1, offer.last)
                    else:
                        self.asked.append(_Asked(n, offer.last, False))
                    break
        self.now += 1
        by_movers, changed = self.source.cycle(offers, taken)
        told = self.source.told(finished)
        moved |= changed or bool(told) or (bool(self.due) and self.due[0] == self.now)
        return Served(by_movers, told, moved)

    def _answer(self) -> tuple[list[int], bool]:
        """Take a response; return who is done with a tile, and whether there was one."""
        if not self.asked:
            return [], False
        head = self.asked[0]
        if head.is_awaited:
            if not self.due or self.due[0] > self.now:
                return [], False
            del self.due[0]
        del self.asked[0]
        return ([head.owner] if head.is_last else []), True

    def _send(self, data: AxiTiming) -> bool:
        """Send a word; return whether there was one."""
        if not self.bursts:
            return False
        self.words -= 1
        self.to_send = (self.to_send or self.bursts[0]) - 1
        if not self.to_send:
            words = self.bursts.pop(0)
            # What shares the data bus is done when all of it has gone over it.
            on_bus = words if self.bus.is_shared else 0
            self.due.append(self.now + data.asked(self.bus, words) + on_bus)
        return True

    def waits(self) -> int:
        return max(0, self.due[0] - self.now) if self.due else 0
