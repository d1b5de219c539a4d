"""Words that follow each other become a burst, and the numbers of those that are asked for.

A burst stays open as long as its mover offers, in every cycle, a word that goes on with it. In the
first cycle without one it is closed and its address goes on its way. So a burst never waits for
words, and while the bus makes it wait it may still grow.

The numbers of words that have been asked for: of the one whose answer is an error, where it is.

They are in a RAM of their own, beside the queue of what is asked for: behind that queue are the
slowest paths of a port, and with the numbers in it, it becomes a block RAM, which is slow to read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.offers import Turns, chosen_of
from rtlgen.ir.memory_side import BURST_WORDS, MemorySide
from rtlgen.manifest.memory_map import AXI_ADDRESS_BITS, AXI_BASE_BYTES

PAGE_BITS = (AXI_BASE_BYTES - 1).bit_length()
ADDRESS_BITS = AXI_ADDRESS_BITS


class ArrayPages:
    """The pages of the memory map that arrays begin with, in order of their places.

    A word's array is known by its page. What is held of each array is how far it is from its place
    in the map, in pages, so that one sum gives an address.

    Parameters
    ----------
    names: of the arrays that are meant.
    """

    def __init__(self, side: MemorySide, names: Collection[str]) -> None:
        self._shift = (side.bytes_per_word - 1).bit_length()
        arrays = sorted(side.arrays, key=lambda array: array.base_words)
        chosen = [array for array in arrays if array.name in names]
        self.names = tuple(array.name for array in chosen)
        self.starts = tuple(array.base_words << self._shift >> PAGE_BITS for array in chosen)

    def array_of(self, word: Value) -> Value:
        """Return a bit for each array: the word with that number is in it."""
        place = Cat(Const(0, self._shift), word)
        page = place[PAGE_BITS:]
        behind = [Const(1, 1), *(page >= start for start in self.starts[1:]), Const(0, 1)]
        return Cat(here & ~above for here, above in pairwise(behind))

    def address(self, word: Value, array: Value, far: Sequence[Value]) -> Value:
        """Return the address of a word.

        Parameters
        ----------
        array: as of `array_of`. far: of each array, see above.
        """
        above = Const(0, ADDRESS_BITS - self._shift - len(word))
        place = Cat(Const(0, self._shift), word, above)
        pages = far[0] if len(far) == 1 else chosen_of(array, far)
        return Cat(place[:PAGE_BITS], (pages + place[PAGE_BITS:])[: ADDRESS_BITS - PAGE_BITS])


def far_members(pages: ArrayPages) -> Mapping[str, Member]:
    """Return the inputs that tell how far arrays are from their places, in pages."""
    return {f"far_{n}": In(ADDRESS_BITS - PAGE_BITS) for n in range(len(pages.names))}


class BurstFormer(wiring.Component):
    """Choose whose word is next, and join words to bursts.

    Parameters
    ----------
    users: how many streams of offers there are; the first one that offers something comes first.
    word_bits: width of a word's number. pages: of the arrays that the words are in.

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
        its first word, and how many more it has. array: Out, the one it is in, a bit an array of
        `pages`.
    closing: Out(1), it is closed in this cycle, and handed over to the address channel.
    far_N: In, how far array N of `pages` is from its place, in pages.
    addr, len, valid: Out, of the address channel, len: words - 1; ready: In(1).
    """

    def __init__(self, users: int, word_bits: int, pages: ArrayPages) -> None:
        self.users = users
        self.pages = pages
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
                    "array": Out(len(pages.names)),
                    "closing": Out(1),
                    **far_members(pages),
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

    def take_places(self, m: Module, port: Any) -> None:
        """Wire the places of arrays to a port that has the same inputs for them."""
        for far in far_members(self.pages):
            m.d.comb += getattr(self, far).eq(getattr(port, far))

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
        far = [getattr(self, name) for name in far_members(self.pages)]
        with m.If(opens):
            m.d.sync += [self.first.eq(self.word), self.length.eq(0), self.owner.eq(self.chosen)]
            m.d.sync += self.array.eq(self.pages.array_of(self.word))
        with m.Elif(self.is_word):
            m.d.sync += self.length.eq(self.length + 1)
        m.d.sync += self.open.eq(opens | (self.open & ~self.closing))
        # Hand the burst that is closed over to the address channel.
        with m.If(self.closing):
            m.d.sync += [
                self.addr.eq(self.pages.address(self.first, self.array, far)),
                self.len.eq(self.length),
                self.valid.eq(1),
            ]
        with m.Elif(self.ready):
            m.d.sync += self.valid.eq(0)
        return m


class WordNumbers(wiring.Component):
    """Keep numbers in order, and show the oldest one two cycles later.

    Parameters
    ----------
    depth: numbers that there may be at a time; there never are more.

    Members
    -------
    put, number: In, a number that is put in. take: In(1), the oldest one goes.
    hold: In(1), what is shown stays, from the next cycle on: what was the oldest one in the cycle
        before the first one with `hold`. shown: Out, what was the oldest one two cycles ago.
    """

    def __init__(self, *, width: int, depth: int) -> None:
        self.width = width
        self.address_bits = max(1, (depth - 1).bit_length())
        super().__init__(
            Signature(
                {
                    "put": In(1),
                    "number": In(width),
                    "take": In(1),
                    "hold": In(1),
                    "shown": Out(width),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = Memory(
            shape=self.width, depth=1 << self.address_bits, init=[]
        )
        write = storage.write_port()
        read = storage.read_port()
        behind = Signal(self.address_bits)
        oldest = Signal(self.address_bits)
        # Whether a word is asked for, or answered, is known late in a cycle.
        puts = Signal()
        given = Signal(self.width, reset_less=True)
        takes = Signal()
        holds = Signal()
        m.d.sync += [puts.eq(self.put), given.eq(self.number)]
        m.d.sync += [takes.eq(self.take), holds.eq(self.hold)]
        m.d.sync += [behind.eq(behind + puts), oldest.eq(oldest + takes)]
        m.d.comb += [
            write.addr.eq(behind),
            write.data.eq(given),
            write.en.eq(puts),
            # What was the oldest one a cycle ago was put in before.
            read.addr.eq(oldest),
            read.en.eq(~holds),
            self.shown.eq(read.data),
        ]
        return m
