"""The port to a memory off chip that serves one access at a time, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.offers import Turns, row_bits, user_members, written_bytes
from rtlgen.ir.plan import MemorySide, Transfer, address_bits


class FixedPort(wiring.Component):
    """Send one access at a time on its way.

    Parameters
    ----------
    transfers: of the users. Stores come first: a store frees what the kernel waits for.
    workers: of every user, whose mover it is; see `turns`.

    Members
    -------
    begin: In(1), before a run.
    offer_N, finished_N, fill_N: see `offers`. fill_row: Out, where the word belongs in the window;
        the word itself is what the memory answers.
    en, we, addr, wdata: Out, hold still until `ack`; all but wdata are registers. we: one bit a
        byte, none for a read. ack: In(1), in the last cycle of an access.
    """

    def __init__(
        self, side: MemorySide, transfers: Sequence[Transfer], workers: Sequence[int]
    ) -> None:
        self.workers = tuple(workers)
        self.side = side
        self.transfers = tuple(transfers)
        super().__init__(
            Signature(
                {
                    "begin": In(1),
                    "en": Out(1),
                    "we": Out(side.bytes_per_word),
                    "addr": Out(address_bits(side.depth_words)),
                    "wdata": Out(side.word_bits),
                    "ack": In(1),
                    "fill_row": Out(row_bits(self.transfers)),
                    **user_members(self.transfers, side),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        users = range(len(self.transfers))
        offers = [getattr(self, f"offer_{n}") for n in users]
        # Each has a name of its own: written out where it is used, it would be so for all others.
        asked = Signal(len(users))
        m.d.comb += asked.eq(Cat(offer.valid & offer.moves for offer in offers))
        requests: list[Value] = [asked[n] for n in users]
        serves = Signal(len(users))
        is_last = Signal()
        free = Signal()
        ends = Signal(len(users))
        m.d.comb += free.eq(~self.en | self.ack)
        turns = Signal(len(users))
        ending = [self.en & serves[n] & (is_last | ends[n]) for n in users]
        m.d.comb += turns.eq(self._turns(m, requests, ending, free, turns))
        with m.If(free):
            m.d.sync += [self.en.eq(asked.any()), self.we.eq(0)]
        self._show_data(m, offers, serves, turns)
        for n, offer in enumerate(offers):
            mine = self.en & serves[n]
            # What only ends a tile ends it with the word on its way, where that is of this tile.
            m.d.comb += [
                ends[n].eq(offer.valid & ~offer.moves & ~(mine & is_last)),
                offer.taken.eq(turns[n] | ends[n]),
                getattr(self, f"finished_{n}").eq(Mux(mine, self.ack & ending[n], ends[n])),
            ]
            with m.If(mine & ends[n] & ~self.ack):
                m.d.sync += is_last.eq(1)
            with m.If(turns[n]):
                m.d.sync += [self.addr.eq(offer.word), serves.eq(1 << n), is_last.eq(offer.last)]
                if self.transfers[n].direction == "store":
                    m.d.sync += self.we.eq(offer.strobes)
                else:
                    m.d.sync += self.fill_row.eq(offer.row)
            if self.transfers[n].direction == "load":
                m.d.comb += getattr(self, f"fill_{n}").eq(mine & self.ack)
        return m

    def _show_data(self, m: Module, offers: Sequence[Any], serves: Signal, turns: Value) -> None:
        """Show the word of the offer that was taken in the cycle before, and go on showing it."""
        stores = [n for n, t in enumerate(self.transfers) if t.direction == "store"]
        if not stores:
            return
        comes = Signal()
        kept = Signal(len(self.wdata), name="wdata_kept", reset_less=True)
        chosen = Cat(serves[n] for n in stores)
        shown = written_bytes(chosen, self.we, [offers[n].data for n in stores])
        m.d.comb += self.wdata.eq(Mux(comes, shown, kept))
        m.d.sync += [comes.eq(turns.any()), kept.eq(self.wdata)]

    def _turns(
        self,
        m: Module,
        requests: Sequence[Value],
        ending: Sequence[Value],
        free: Value,
        turns: Value,
    ) -> Value:
        """Return who has its turn, a bit a user; it is shown by `turns`.

        Parameters
        ----------
        ending: who is at the last word of a tile. It lets the others come to its end, too.
        """
        is_store = [transfer.direction == "store" for transfer in self.transfers]
        open_to = Signal(len(requests))
        stores = Signal()
        m.d.comb += open_to.eq(
            Cat(
                wants & ~(end & self._any_other(requests, n))
                for n, (wants, end) in enumerate(zip(requests, ending, strict=True))
            )
        )
        m.d.comb += stores.eq(Cat(open_to[n] for n, own in enumerate(is_store) if own).any())
        wanted = [open_to[n] if own else open_to[n] & ~stores for n, own in enumerate(is_store)]
        return Turns(self.workers).build(m, wanted, free, self.begin, turns)

    def _any_other(self, requests: Sequence[Value], user: int) -> Value:
        """Return whether another user asks for a word in the same direction."""
        direction = self.transfers[user].direction
        return Cat(
            wants
            for n, (wants, transfer) in enumerate(zip(requests, self.transfers, strict=True))
            if n != user and transfer.direction == direction
        ).any()
