"""One stream of offers out of those of many movers, for a port that several workers share.

What every mover offers goes into a queue, and from there, when it has its turn, into a queue in
front of the channel. So nothing that is decided in a cycle depends on what is decided elsewhere in
that cycle: not on who has tokens, not on whether the channel or the bus is ready. Whose turn it is
is decided a cycle before, too: twelve movers are all over the circuit, and the way from the word of
one of them to the stream takes a cycle by itself. It costs a word three cycles on its way, and none
between words: of a queue of three items one is chosen, one comes behind it, and one is on its way.

`ir.port_timing` is the same in the cycle model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.offers import (
    ALONE,
    RoundRobin,
    chosen_of,
    merged_signature,
    offer_signature,
    user_bits,
)
from rtlgen.ir.memory_side import MemorySide
from rtlgen.ir.plan import Transfer
from rtlgen.ir.port_timing import QUEUED_OFFERS


class AxiPort(Protocol):
    """What serves several movers; see `AxiRead` and `AxiWrite`. It has an `offer_N` for each."""

    side: MemorySide
    transfers: tuple[Transfer, ...]
    workers: tuple[int, ...]
    begin: Signal


class ItemQueue(wiring.Component):
    """Keep up to three items; what is in it, and whether there is room, are registers.

    Members
    -------
    put, item: In, an item that is put in, where there is room. room: Out(1).
    has: Out, a bit for each number of items: there are so many at least. first, second: Out, the
        oldest ones. take: In(1), the first one goes.
    """

    def __init__(self, width: int) -> None:
        super().__init__(
            Signature(
                {
                    "put": In(1),
                    "item": In(unsigned(width)),
                    "room": Out(1, init=1),
                    "has": Out(QUEUED_OFFERS),
                    "first": Out(unsigned(width)),
                    "second": Out(unsigned(width)),
                    "take": In(1),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        places = range(QUEUED_OFFERS)
        items = [Signal(len(self.item), name=f"item_{n}", reset_less=True) for n in places]
        held = Signal(QUEUED_OFFERS)
        puts = Signal()
        m.d.comb += [
            self.room.eq(~held[-1]),
            self.has.eq(held),
            self.first.eq(items[0]),
            self.second.eq(items[1]),
            puts.eq(self.put & self.room),
        ]
        for n in places[:-1]:
            with m.If(self.take | ~held[n]):
                m.d.sync += items[n].eq(Mux(held[n + 1], items[n + 1], self.item))
        with m.If(self.room):
            m.d.sync += items[-1].eq(self.item)
        with m.If(self.take):
            m.d.sync += held.eq(held[1:] | Mux(puts, held, 0))
        with m.Elif(puts):
            m.d.sync += held.eq(Cat(1, held))
        return m


class OfferMerge(wiring.Component):
    """Choose one offer a cycle among those of many movers.

    A mover whose word goes on with the burst of the word before, in the cycle behind it, has its
    turn again; else it comes last from then on. So one turn is one burst. Movers of one worker take
    turns like any others: each may be as many tiles ahead as its window has copies, while the tile
    that the kernel waits for needs words of all of them.

    Parameters
    ----------
    transfers: of the movers, all of one direction.

    Members
    -------
    begin: In(1), before a run. Between runs no mover offers anything.
    offer_N: In, of mover N. merged: Out, the stream, with the number of the mover; see `offers`.
        There, a word follows only one that is just before it in the stream.
    """

    def __init__(self, side: MemorySide, transfers: Sequence[Transfer]) -> None:
        self.transfers = tuple(transfers)
        users = {
            f"offer_{n}": In(offer_signature(transfer, side))
            for n, transfer in enumerate(self.transfers)
        }
        self._merged = merged_signature(self.transfers, side)
        super().__init__(Signature({"begin": In(1), **users, "merged": Out(self._merged)}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        users = range(len(self.transfers))
        shown = {
            name: member.shape
            for name, member in self._merged.members.items()
            if name not in ("valid", "taken", "user", "data")
        }
        layout = data.StructLayout(shown)
        queues: list[ItemQueue] = []
        for n in users:
            queue = ItemQueue(layout.size)
            m.submodules[f"offers_{n}"] = queue
            _connect(m, queue, layout, getattr(self, f"offer_{n}"))
            queues.append(queue)
        firsts = [data.View(layout, queue.first) for queue in queues]
        seconds = [data.View(layout, queue.second) for queue in queues]
        follows = Cat(first.follows for first in firsts)
        stream_layout = data.StructLayout({"user": unsigned(user_bits(len(users))), **shown})
        m.submodules.stream = stream = ItemQueue(stream_layout.size)
        follows_then = Cat(second.follows for second in seconds)
        chosen, is_chosen = self._choose(m, queues, follows, follows_then, stream)
        # Who was chosen last.
        before = Signal(len(users))
        with m.If(is_chosen):
            m.d.sync += before.eq(chosen)
        item = Signal(stream_layout)
        m.d.comb += [queue.take.eq(chosen[n]) for n, queue in enumerate(queues)]
        for name in shown:
            m.d.comb += item[name].eq(chosen_of(chosen, [first[name] for first in firsts]))
        m.d.comb += [
            item.user.eq(chosen_of(chosen, [Const(n) for n in users])),
            item.follows.eq((chosen & follows & before).any()),
            stream.item.eq(item),
            stream.put.eq(is_chosen),
            self.merged.valid.eq(stream.has[0]),
            stream.take.eq(self.merged.taken),
        ]
        first = data.View(stream_layout, stream.first)
        m.d.comb += [getattr(self.merged, name).eq(first[name]) for name in ("user", *shown)]
        if "data" in self._merged.members:
            self._build_data(m, queues, stream, chosen)
        return m

    def _choose(
        self,
        m: Module,
        queues: Sequence[ItemQueue],
        follows: Value,
        follows_then: Value,
        stream: ItemQueue,
    ) -> tuple[Signal, Signal]:
        """Return whose first item goes to the stream, a bit a mover, and whether any: registers.

        Parameters
        ----------
        follows, follows_then: of every mover, whether its first item follows, and its second one.
        """
        users = range(len(queues))
        chosen = Signal(len(users))
        is_chosen = Signal()
        # Who was chosen in the last cycle in which there was room.
        just_before = Signal(len(users))
        room = Signal()
        # Items that are not chosen yet; what is chosen is on its way.
        wants = Signal(len(users))
        goes_on = Signal(len(users))
        going = Signal(len(users))
        next_one = Signal(len(users))
        for n, queue in enumerate(queues):
            m.d.comb += [
                wants[n].eq(queue.has[1] | (queue.has[0] & ~chosen[n])),
                goes_on[n].eq(Mux(chosen[n], follows_then[n], follows[n])),
            ]
        m.d.comb += [
            going.eq(wants & goes_on & just_before),
            room.eq(~(stream.has[2] | (stream.has[1] & is_chosen))),
        ]
        turn = RoundRobin(len(users)).build(m, wants, self.begin, room & ~going.any())
        m.d.comb += next_one.eq(Mux(going.any(), going, turn))
        m.d.sync += [
            chosen.eq(next_one & room.replicate(len(users))),
            # The same as `chosen.any()`, whose bits are wherever the workers are.
            is_chosen.eq(wants.any() & room),
        ]
        with m.If(room):
            m.d.sync += just_before.eq(next_one)
        return chosen, is_chosen

    def _build_data(
        self, m: Module, queues: Sequence[ItemQueue], stream: ItemQueue, chosen: Value
    ) -> None:
        """Build queues of words, in which all happens a cycle later than in those of offers."""
        width = len(self.merged.data)
        words = []
        for n, queue in enumerate(queues):
            m.submodules[f"words_{n}"] = word = ItemQueue(width)
            m.d.comb += word.item.eq(getattr(self, f"offer_{n}").data)
            _follow(m, word, queue)
            words.append(word)
        m.submodules.stream_words = word = ItemQueue(width)
        chosen_before = Signal(len(queues))
        m.d.sync += chosen_before.eq(chosen)
        m.d.comb += word.item.eq(chosen_of(chosen_before, [each.first for each in words]))
        _follow(m, word, stream)
        m.d.comb += self.merged.data.eq(word.first)


def _follow(m: Module, behind: ItemQueue, queue: ItemQueue) -> None:
    """Let a queue do what another one has done a cycle before."""
    m.d.sync += [behind.put.eq(queue.put), behind.take.eq(queue.take)]


def _connect(m: Module, queue: ItemQueue, layout: data.StructLayout, offer: Any) -> None:
    """Wire the offers of a mover to its queue."""
    item = Signal(layout)
    m.d.comb += [
        *(item[name].eq(getattr(offer, name)) for name in layout.members if name != "follows"),
        item.follows.eq(offer.follows & offer.moves),
        queue.item.eq(item),
        queue.put.eq(offer.valid),
        offer.taken.eq(offer.valid & queue.room),
    ]


def streams_of(m: Module, port: AxiPort) -> tuple[list[Any], list[Value]]:
    """Return the streams of offers that a channel serves, and of each the user whose offer it is.

    One is merged of the offers of workers that run side by side; what others offer is one each.
    """
    workers = port.workers
    offers = [getattr(port, f"offer_{n}") for n in range(len(port.transfers))]
    shared = [n for n, worker in enumerate(workers) if worker != ALONE]
    alone = [n for n, worker in enumerate(workers) if worker == ALONE]
    streams = [offers[n] for n in alone]
    users: list[Value] = [Const(n, user_bits(len(offers))) for n in alone]
    if shared:
        merge = OfferMerge(port.side, [port.transfers[n] for n in shared])
        m.submodules.merge = merge
        m.d.comb += merge.begin.eq(port.begin)
        for k, n in enumerate(shared):
            wiring.connect(m, wiring.flipped(offers[n]), getattr(merge, f"offer_{k}"))
        streams.insert(0, merge.merged)
        users.insert(0, Array(Const(n) for n in shared)[merge.merged.user])
    return streams, users


def tell_finished(m: Module, port: AxiPort, user: int, finished: Value) -> None:
    """Tell a user of a channel that a tile is done; one with others beside it in the next cycle.

    What it gives then goes to other workers as well, from the far end of a queue of the channel.
    """
    told: Signal = getattr(port, f"finished_{user}")
    if port.workers[user] == ALONE:
        m.d.comb += told.eq(finished)
    else:
        m.d.sync += told.eq(finished)
