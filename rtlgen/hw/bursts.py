"""Words that follow each other become a burst.

A burst stays open as long as its mover offers, in every cycle, a word that goes on with it. In the
first cycle without one it is closed and its address goes on its way. So a burst never waits for
words, and while the bus makes it wait it may still grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.offers import chosen_of
from rtlgen.hw.turns import Turns
from rtlgen.ir.memory_side import BURST_WORDS

PAGE_BITS = 12
"""Of an address in 4096 bytes: what AXI4 lets no burst cross (specification, A3.4.1)."""

ADDRESS_BITS = 32


class BurstFormer(wiring.Component):
    """Choose whose word is next, and join words to bursts.

    Parameters
    ----------
    users: how many streams of offers there are; the first one that offers something comes first.
    word_bits: width of a word's number. bytes_per_word

    Members
    -------
    offered: In, a bit a user; moves: In, whether the offer is a word; follows: In, whether it goes
        on with the burst of the offer before. stops: In(1), from the next cycle on, words are
        taken as if they were none. word: In, the number of the word of the user that is chosen.
    room: In(1), a word may be taken that goes on with the open burst, or opens one.
    voids: In(1), an offer may be taken that moves nothing. may_close: In(1), the burst may end.
    chosen: Out, a bit a user: its offer is taken. is_word: Out(1), it moves a word.
    extends: Out(1), it goes on with the open burst.
    open: Out(1), there is an open burst. owner: Out, its user, a bit a user. first, length: Out,
        its first word, and how many more it has.
    closing: Out(1), it is closed in this cycle, and handed over to the address channel.
    base: In, of the memory, in pages.
    addr, len, valid: Out, of the address channel, len: words - 1; ready: In(1).
    """

    def __init__(self, users: int, word_bits: int, bytes_per_word: int) -> None:
        self.users = users
        self.bytes_per_word = bytes_per_word
        each = unsigned(users)
        length = BURST_WORDS.bit_length() - 1
        super().__init__(
            Signature(
                {
                    "offered": In(each),
                    "moves": In(each),
                    "follows": In(each),
                    "stops": In(1),
                    "word": In(word_bits),
                    "room": In(1),
                    "voids": In(1),
                    "may_close": In(1),
                    "chosen": Out(each),
                    "is_word": Out(1),
                    "extends": Out(1),
                    "open": Out(1),
                    "owner": Out(each),
                    "first": Out(word_bits),
                    "length": Out(length),
                    "closing": Out(1),
                    "base": In(ADDRESS_BITS - PAGE_BITS),
                    "addr": Out(ADDRESS_BITS),
                    "len": Out(length),
                    "valid": Out(1),
                    "ready": In(1),
                }
            )
        )

    def take_from(self, m: Module, offers: Sequence[Any]) -> None:
        """Wire the offers of its users; see `offers`."""
        m.d.comb += [offer.taken.eq(self.chosen[n]) for n, offer in enumerate(offers)]
        m.d.comb += [
            self.offered.eq(Cat(offer.valid for offer in offers)),
            self.moves.eq(Cat(offer.moves for offer in offers)),
            self.follows.eq(Cat(offer.follows for offer in offers)),
            self.word.eq(chosen_of(self.chosen, [offer.word for offer in offers])),
        ]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # A register beside what it stops.
        stopped = Signal()
        m.d.sync += stopped.eq(self.stops)
        words = self.offered & self.moves & ~stopped.replicate(self.users)
        voids = self.offered & ~words
        # A burst of the only user is its own.
        own = self.owner if self.users > 1 else Const(1)
        extending = words & self.follows & own & self.open.replicate(self.users)
        can_open = Signal()
        m.d.comb += [
            self.extends.eq(extending.any()),
            self.closing.eq(
                self.open & ~self.extends & self.may_close & (~self.valid | self.ready)
            ),
            can_open.eq((~self.open | self.closing) & self.room),
        ]
        # Any offer that may go, unless the open burst goes on.
        eligible = Signal(self.users)
        m.d.comb += eligible.eq(
            (words & can_open.replicate(self.users)) | (voids & self.voids.replicate(self.users))
        )
        turns = Turns.first_of(m, "turn", list(eligible), ~self.extends)
        grows = extending & self.room.replicate(self.users)
        m.d.comb += [
            self.chosen.eq(Mux(self.extends, grows, turns)),
            self.is_word.eq((self.chosen & words).any()),
        ]
        opens = self.is_word & ~self.extends
        with m.If(opens):
            m.d.sync += [self.first.eq(self.word), self.length.eq(0), self.owner.eq(self.chosen)]
        with m.Elif(self.is_word):
            m.d.sync += self.length.eq(self.length + 1)
        m.d.sync += self.open.eq(opens | (self.open & ~self.closing))
        self._hand_over(m)
        return m

    def _hand_over(self, m: Module) -> None:
        """Put the burst that is closed on the address channel."""
        shift = (self.bytes_per_word - 1).bit_length()
        place = Signal(ADDRESS_BITS)
        m.d.comb += place.eq(self.first << shift)
        with m.If(self.closing):
            m.d.sync += [
                self.addr.eq(Cat(place[:PAGE_BITS], self.base + place[PAGE_BITS:])),
                self.len.eq(self.length),
                self.valid.eq(1),
            ]
        with m.Elif(self.ready):
            m.d.sync += self.valid.eq(0)
