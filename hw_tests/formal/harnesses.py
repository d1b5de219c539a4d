"""What is proven, of which part."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Assert, Assume, Cat, Const, Module, Mux, Shape, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Signature

from rtlgen.hw.axi_write import AxiWrite
from rtlgen.hw.bursts import ADDRESS_BITS, PAGE_BITS, ArrayPages, BurstFormer
from rtlgen.hw.divider import Divider
from rtlgen.hw.merge import OfferMerge
from rtlgen.hw.offers import RoundRobin, Turns, offer_signature, written_bytes
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.ir.memory_side import BURST_WORDS
from rtlgen.ir.plan import Bus, MemorySide, OffChip, TiledRegion, Transfer, Workers

USERS = 2
WORD_BITS = 11
COUNT_BITS = 12
FAR_BITS = 6
"""Of how far an array is from its place in the map, in pages, either way."""
FEW_BITS = 4
"""Of a count that is no larger than a bounded proof has cycles."""


def stable(
    m: Module,
    valid: Value,
    ready: Value,
    *payload: Value,
    claim: type[Assert] | type[Assume] = Assert,
) -> None:
    """Assert, or assume, that what is valid stays, as it is, until it is taken."""
    waited = Signal()
    m.d.sync += waited.eq(valid & ~ready)
    with m.If(waited):
        m.d.comb += claim(valid)
    for value in payload:
        before = Signal(len(value))
        m.d.sync += before.eq(value)
        with m.If(waited):
            m.d.comb += claim(value == before)


class Bursts(wiring.Component):
    """`BurstFormer` serves one user at a time, and its bursts cover exactly the words it takes.

    Any user may offer anything in every cycle, as long as `follows` is true. Words are counted as
    they are taken; of one of them, whichever it is, the number is held, and looked for in the burst
    that covers it. They are in two arrays, the first one a page, which are anywhere.
    """

    def __init__(
        self,
        kind: type[BurstFormer] = BurstFormer,
        bytes_per_word: int = 8,
        pages: type[ArrayPages] = ArrayPages,
    ) -> None:
        self.bytes_per_word = bytes_per_word
        self.page_words = (1 << PAGE_BITS) // bytes_per_word
        bits, others = 8 * bytes_per_word, (1 << WORD_BITS) - self.page_words
        arrays = (
            OffChip("first", bits, False, (self.page_words,), "inout", 0),
            OffChip("second", bits, False, (others,), "inout", self.page_words),
        )
        side = MemorySide(bits, Bus("axi", 8), arrays)
        self.former = kind(USERS, WORD_BITS, pages(side, {"first", "second"}))
        each = unsigned(USERS)
        members = {name: In(each) for name in ("offered", "moves", "follows")}
        flags = ("stops", "room", "voids", "may_close", "ready")
        members |= {name: In(1) for name in flags}
        members |= {f"word_{n}": In(WORD_BITS) for n in range(USERS)}
        members |= {"which": In(COUNT_BITS), "far_0": In(FAR_BITS), "far_1": In(FAR_BITS)}
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.former = former = self.former
        words = [getattr(self, f"word_{n}") for n in range(USERS)]
        chosen_word = Signal(WORD_BITS)
        m.d.comb += chosen_word.eq(Mux(former.chosen[0], words[0], words[1]))
        for name in ("offered", "moves", "follows", "stops", "room", "voids", "may_close"):
            m.d.comb += getattr(former, name).eq(getattr(self, name))
        m.d.comb += [
            former.ready.eq(self.ready),
            former.word.eq(chosen_word),
            former.far_0.eq(self.far_0.as_signed()),
            former.far_1.eq(self.far_1.as_signed()),
        ]
        self._assume(m, words)
        m.d.comb += [
            Assert((former.chosen & (former.chosen - 1)) == 0),
            Assert((former.chosen & ~self.offered) == 0),
            Assert(~former.extends | ~former.is_word | (former.chosen == former.owner)),
        ]
        stable(m, former.valid, former.ready, former.addr, former.len)
        self._cover(m, chosen_word)
        return m

    def _assume(self, m: Module, words: list[Signal]) -> None:
        """Narrow `follows`: the word behind the last one of this user, and no multiple of 16."""
        former = self.former
        for n, word in enumerate(words):
            last = Signal(WORD_BITS, name=f"last_{n}")
            with m.If(former.chosen[n] & former.is_word):
                m.d.sync += last.eq(word)
            with m.If(self.follows[n]):
                m.d.comb += Assume((word == last + 1) & (word % BURST_WORDS != 0))
            # The word on top of the open burst is the last one of its owner: for induction.
            with m.If(former.open & former.owner[n]):
                m.d.comb += Assert(last == former.first + former.length)
        began = Signal()
        m.d.sync += began.eq(1)
        # The bases of arrays stay as they are, too.
        for value in (self.which, self.far_0, self.far_1):
            before = Signal.like(value)
            m.d.sync += before.eq(value)
            with m.If(began):
                m.d.comb += Assume(value == before)

    def _cover(self, m: Module, word: Value) -> None:
        former = self.former
        taken, closed = Signal(COUNT_BITS), Signal(COUNT_BITS)
        seen, number = Signal(), Signal(WORD_BITS)
        # So many words that no counter goes round: the proof is for any number below.
        m.d.comb += Assume(~taken.all())
        m.d.sync += taken.eq(taken + former.is_word)
        with m.If(former.is_word & (taken == self.which)):
            m.d.sync += [seen.eq(1), number.eq(word)]
        m.d.comb += Assert(seen == (taken > self.which))
        with m.If(former.open):
            m.d.comb += [
                Assert(taken == closed + former.length + 1),
                Assert((former.owner & (former.owner - 1)) == 0),
                Assert(former.owner != 0),
                Assert((former.first % BURST_WORDS) + former.length < BURST_WORDS),
                Assert(former.array == Mux(former.first < self.page_words, 1, 2)),
            ]
            with m.If(seen & (self.which >= closed)):
                m.d.comb += Assert(number == former.first + (self.which - closed)[:WORD_BITS])
        with m.Else():
            m.d.comb += Assert(taken == closed)
        sent, sent_words = Signal(COUNT_BITS), Signal(range(BURST_WORDS + 1))
        with m.If(former.closing):
            m.d.sync += [
                closed.eq(closed + former.length + 1),
                sent.eq(closed),
                sent_words.eq(former.length + 1),
            ]
        shift = (self.bytes_per_word - 1).bit_length()
        with m.If(former.valid):
            # Of the burst on the address channel: its length, its place, and its page.
            m.d.comb += [
                Assert(former.len + 1 == sent_words),
                Assert(sent + sent_words == closed),
                Assert(
                    (former.addr[:PAGE_BITS] + (former.len + 1) * self.bytes_per_word)
                    <= 1 << PAGE_BITS
                ),
            ]
            with m.If(seen & (self.which >= sent) & (self.which < sent + sent_words)):
                # Its array is anywhere; there the word is in its place.
                first, address = Signal(WORD_BITS), Signal(ADDRESS_BITS)
                far = Mux(number < self.page_words, former.far_0, former.far_1)
                m.d.comb += [
                    first.eq(number - (self.which - sent)),
                    address.eq((far << PAGE_BITS) + (first << shift)),
                    Assert(former.addr == address),
                ]


class Writes(wiring.Component):
    """`AxiWrite` keeps the rules of its channels, and what is sent is what was offered.

    Of the words taken, one, whichever it is, is looked for among those sent; of the bursts, the end
    of one, whichever it is, is where WLAST has to be.
    """

    def __init__(
        self,
        side: MemorySide,
        transfers: tuple[Transfer, ...],
        workers: Sequence[int],
        kind: type[AxiWrite] = AxiWrite,
    ) -> None:
        self.port = kind(side, transfers, workers, words=2, bursts=2)
        self.users = range(len(transfers))
        members = {"awready": In(1), "wready": In(1), "bvalid": In(1), "bresp": In(2)}
        members |= {"failed": In(1), "which": In(COUNT_BITS), "burst": In(COUNT_BITS)}
        for n in self.users:
            offer = getattr(self.port, f"offer_{n}")
            members |= {
                f"{name}_{n}": In(len(getattr(offer, name)))
                for name in ("valid", "moves", "last", "follows", "word", "data", "strobes")
            }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.port = port = self.port
        for name in ("awready", "wready", "bvalid", "bresp", "failed"):
            m.d.comb += getattr(port, name).eq(getattr(self, name))
        # From the cycle behind an error on, words are taken as if they were none.
        stopped = Signal()
        m.d.sync += stopped.eq(self.failed | port.error)
        taken = Signal()
        word, strobes = Signal(len(port.wdata)), Signal(len(port.wstrb))
        for n in self.users:
            self._offer(m, n, getattr(port, f"offer_{n}"), stopped, taken, word, strobes)
        stable(m, port.awvalid, self.awready, port.awaddr, port.awlen)
        stable(m, port.wvalid, self.wready, port.wdata, port.wstrb, port.wlast)
        for value in (self.which, self.burst):
            before, began = Signal.like(value), Signal()
            m.d.sync += [before.eq(value), began.eq(1)]
            with m.If(began):
                m.d.comb += Assume(value == before)
        self._follow(m, taken, word, strobes)
        return m

    def _offer(
        self,
        m: Module,
        n: int,
        offer: wiring.PureInterface,
        stopped: Value,
        taken: Signal,
        word: Signal,
        strobes: Signal,
    ) -> None:
        """Let user `n` offer anything, as long as it holds, and `follows` is true."""
        shown = {
            name: getattr(self, f"{name}_{n}")
            for name in ("valid", "moves", "last", "follows", "word", "data", "strobes")
        }
        m.d.comb += [getattr(offer, name).eq(value) for name, value in shown.items()]
        last, goes_on = Signal(len(offer.word), name=f"last_{n}"), Signal(name=f"goes_on_{n}")
        with m.If(offer.taken):
            m.d.sync += [last.eq(offer.word), goes_on.eq(offer.moves & ~offer.last)]
        with m.If(offer.follows):
            follows = goes_on & (offer.word == last + 1) & (offer.word % BURST_WORDS != 0)
            m.d.comb += Assume(follows)
        # What moves nothing is there to end a tile.
        m.d.comb += [Assume(offer.moves | offer.last), Assert(~offer.taken | offer.valid)]
        moved, before = offer.taken & offer.moves & ~stopped, Signal(name=f"moved_{n}")
        m.d.sync += before.eq(moved)
        with m.If(moved):
            m.d.comb += [taken.eq(1), strobes.eq(offer.strobes)]
        # The word comes in the cycle behind the one in which it is taken.
        with m.If(before):
            m.d.comb += word.eq(offer.data)

    def _follow(self, m: Module, taken: Signal, word: Signal, strobes: Signal) -> None:
        """Follow words from where they are taken to where they are sent."""
        port = self.port
        counts = {name: Signal(COUNT_BITS, name=name) for name in ("came", "sent", "ends", "owed")}
        m.d.sync += counts["came"].eq(counts["came"] + taken)
        held, held_strobes, seen = Signal.like(word), Signal.like(strobes), Signal()
        comes = Signal()
        m.d.sync += comes.eq(taken & (counts["came"] == self.which))
        with m.If(taken & (counts["came"] == self.which)):
            m.d.sync += [held_strobes.eq(strobes), seen.eq(1)]
        with m.If(comes):
            m.d.sync += held.eq(word)
        goes = port.wvalid & port.wready
        m.d.sync += counts["sent"].eq(counts["sent"] + goes)
        with m.If(port.wvalid):
            m.d.comb += Assert(counts["sent"] < counts["came"])
            with m.If(counts["sent"] == self.which):
                data = written_bytes(Const(1, 1), held_strobes, [held])
                m.d.comb += Assert(seen & (port.wdata == data) & (port.wstrb == held_strobes))
        # An address is new in the first cycle in which it is shown.
        waited, promised, shown = Signal(), Signal(COUNT_BITS), Signal(COUNT_BITS)
        m.d.sync += waited.eq(port.awvalid & ~port.awready)
        new = port.awvalid & ~waited
        total = Signal(COUNT_BITS)
        m.d.comb += total.eq(promised + Mux(new, port.awlen + 1, 0))
        m.d.sync += [promised.eq(total), shown.eq(shown + new)]
        end, known = Signal(COUNT_BITS), Signal()
        with m.If(new & (shown == self.burst)):
            m.d.sync += [end.eq(total), known.eq(1)]
            m.d.comb += Assert(~goes | (counts["sent"] < total))
        with m.If(port.wvalid):
            # No word without its address; all words of it are here then.
            m.d.comb += [Assert(counts["sent"] < total), Assert(total <= counts["came"])]
        with m.If(known & port.wvalid & (counts["sent"] + 1 == end)):
            m.d.comb += Assert(port.wlast)
        with m.If(known & port.wvalid & port.wlast & (counts["ends"] == self.burst)):
            m.d.comb += Assert(counts["sent"] + 1 == end)
        m.d.sync += [
            counts["ends"].eq(counts["ends"] + (goes & port.wlast)),
            counts["owed"].eq(counts["owed"] + (goes & port.wlast) - (port.bvalid & port.bready)),
        ]
        # A memory answers what it has been given.
        with m.If(port.bvalid):
            m.d.comb += Assume(counts["owed"] != 0)


class Fair(wiring.Component):
    """`Turns` are given to one user that wants it, and no worker waits while another has two.

    Users want turns, and give up wanting them, as they like. Of one worker, whichever it is, it is
    counted how often each other one has been served since it began to wait.
    """

    def __init__(self, workers: Sequence[int], kind: type[Turns] = Turns) -> None:
        self.workers = tuple(workers)
        self.kind = kind
        users = len(self.workers)
        super().__init__(
            Signature({"wanted": In(users), "free": In(1), "begin": In(1), "which": In(2)})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        served = self._served(m)
        m.d.comb += [
            Assert((served & (served - 1)) == 0),
            Assert((served & ~self.wanted) == 0),
            Assert(served.any() == (self.free & self.wanted.any())),
        ]
        groups = sorted(set(self.workers))
        mine = {
            group: [n for n, own in enumerate(self.workers) if own == group] for group in groups
        }
        wants = {group: Cat(self.wanted[n] for n in mine[group]).any() for group in groups}
        serves = {group: Cat(served[n] for n in mine[group]).any() for group in groups}
        which, began = Signal(2), Signal()
        m.d.sync += [which.eq(self.which), began.eq(1)]
        with m.If(began):
            m.d.comb += Assume(self.which == which)
        for group in groups:
            for other in groups:
                if other == group:
                    continue
                had_one = Signal(name=f"had_one_{group}_{other}")
                # A worker that waits has seen the other one served once already.
                with m.If(~wants[group] | serves[group] | self.begin):
                    m.d.sync += had_one.eq(0)
                with m.Elif(serves[other]):
                    m.d.sync += had_one.eq(1)
                with m.If((self.which == group) & had_one & ~self.begin):
                    m.d.comb += Assert(~(serves[other] & wants[group] & ~serves[group]))
        return m

    def _served(self, m: Module) -> Signal:
        """Return who is served: whose turn it is, where there is one."""
        served = Signal(len(self.workers))
        turns = self.kind(self.workers)
        m.d.comb += served.eq(turns.build(m, list(self.wanted), self.free, self.begin, served))
        return served


class FairRoundRobin(Fair):
    """The same of a `RoundRobin`, in which each user is a worker."""

    def __init__(self, users: int, kind: type[RoundRobin] = RoundRobin) -> None:
        super().__init__(range(users))
        self.round_robin = kind

    def _served(self, m: Module) -> Signal:
        served = Signal(len(self.workers))
        turn = self.round_robin(len(self.workers)).build(m, self.wanted, self.begin, self.free)
        m.d.comb += served.eq(turn & self.free.replicate(len(turn)))
        return served


class Merge(wiring.Component):
    """`OfferMerge` shows what was offered, in order, and no mover waits for long.

    The offers of each mover are numbered, and their numbers looked for in the stream. Of every
    mover it is counted how many bursts of each other one come out of the stream while something
    of its own is on its way.
    """

    MOST_BURSTS = 3
    """Three are in front of the channel, or two, and a mover that comes first has a turn."""

    def __init__(
        self,
        side: MemorySide,
        transfer: Transfer,
        movers: int,
        kind: type[OfferMerge] = OfferMerge,
    ) -> None:
        self.users = range(movers)
        self.merge = kind(side, (transfer,) * movers)
        names = offer_signature(transfer, side).members
        self.numbered = [
            name for name in names if name not in ("valid", "taken", "moves", "follows", "data")
        ]
        members = {"begin": In(1), "takes": In(1)}
        members |= {
            f"{name}_{n}": In(1) for n in self.users for name in ("valid", "moves", "follows")
        }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.merge = merge = self.merge
        merged = merge.merged
        goes = merged.valid & self.takes
        m.d.comb += [merge.begin.eq(self.begin), merged.taken.eq(goes)]
        # A word follows the one that is just before it in the stream, of the same mover.
        before, is_word = Signal.like(merged.user), Signal()
        with m.If(goes):
            m.d.sync += [before.eq(merged.user), is_word.eq(merged.moves)]
        follows = merged.follows & merged.moves
        with m.If(merged.valid):
            m.d.comb += [
                Assert(merged.user < len(self.users)),
                Assert(~follows | (is_word & (merged.user == before))),
            ]
        on_its_way = [self._follow(m, n, goes & self._shows(n)) for n in self.users]
        # No run begins before the last one is over.
        m.d.comb += Assume(~self.begin | ~Cat(on_its_way).any())
        self._wait(m, goes, on_its_way)
        return m

    def _shows(self, n: int) -> Value:
        """Return whether what the stream shows is of mover `n`."""
        return self.merge.merged.user == n

    def _follow(self, m: Module, n: int, goes: Value) -> Value:
        """Let a mover offer anything, numbered; return whether something of it is on its way."""
        offer, merged = getattr(self.merge, f"offer_{n}"), self.merge.merged
        for name in ("valid", "moves", "follows"):
            m.d.comb += getattr(offer, name).eq(getattr(self, f"{name}_{n}"))
        came, went = Signal(FEW_BITS, name=f"came_{n}"), Signal(FEW_BITS, name=f"went_{n}")
        m.d.sync += [came.eq(came + offer.taken), went.eq(went + goes)]
        goes_on = Signal(name=f"goes_on_{n}")
        with m.If(offer.taken):
            m.d.sync += goes_on.eq(offer.moves & ~offer.last)
        m.d.comb += [Assume(~offer.follows | goes_on), Assert(~offer.taken | offer.valid)]
        if hasattr(offer, "data"):
            # A word is shown in the cycle behind the one in which its offer is taken.
            came_before, went_before = Signal.like(came), Signal.like(went)
            has_gone = Signal(name=f"has_gone_{n}")
            m.d.sync += [came_before.eq(came), went_before.eq(went), has_gone.eq(goes)]
            m.d.comb += offer.data.eq(came_before)
            with m.If(has_gone):
                m.d.comb += Assert(merged.data == went_before)
        for name in self.numbered:
            m.d.comb += getattr(offer, name).eq(came)
            with m.If(merged.valid & self._shows(n)):
                shown = getattr(merged, name)
                m.d.comb += [Assert(came != went), Assert(shown == went[: len(shown)])]
        return came != went

    def _wait(self, m: Module, goes: Value, on_its_way: Sequence[Value]) -> None:
        """Count the bursts of others while a mover waits."""
        merged = self.merge.merged
        begins = goes & ~(merged.follows & merged.moves)
        for n in self.users:
            for other in self.users:
                if other == n:
                    continue
                bursts = Signal(3, name=f"bursts_{n}_{other}")
                with m.If(~on_its_way[n] | (goes & self._shows(n)) | self.begin):
                    m.d.sync += bursts.eq(0)
                with m.Elif(begins & self._shows(other)):
                    m.d.sync += bursts.eq(bursts + 1)
                m.d.comb += Assert(bursts <= self.MOST_BURSTS)


class Tokens(wiring.Component):
    """The tokens of a `TileSequencer` are those that wide counters find, and never too many.

    Movers claim what is ready, and finish what they have claimed.
    """

    def __init__(self, tiled: TiledRegion, kind: type[TileSequencer] = TileSequencer) -> None:
        self.tiled = tiled
        self.used = [tiled.used_cycle(transfer.window) for transfer in tiled.transfers]
        self.sequencer = kind(Workers((tiled,)), 0, [0, *self.used])
        members = {"begin": In(1)}
        for n in range(len(tiled.transfers)):
            members |= {f"claimed_{n}": In(1), f"finished_{n}": In(1)}
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.sequencer = sequencer = self.sequencer
        running, began = Signal(), Signal()
        m.d.sync += [began.eq(1), running.eq((running | self.begin) & ~sequencer.ended)]
        m.d.comb += [sequencer.begin.eq(self.begin), Assume(~(self.begin & running))]
        windows = [transfer.window for transfer in self.tiled.transfers]
        finished = [getattr(self, f"finished_{n}") for n in range(len(windows))]
        for n, transfer in enumerate(self.tiled.transfers):
            claimed, ready = getattr(self, f"claimed_{n}"), getattr(sequencer, f"ready_{n}")
            m.d.comb += [
                getattr(sequencer, f"claimed_{n}").eq(claimed),
                getattr(sequencer, f"finished_{n}").eq(finished[n]),
                Assume(~claimed | (ready & running)),
            ]
            under_way = self._count(m, f"under_way_{n}", 0, claimed, finished[n])
            m.d.comb += Assume(~finished[n] | (under_way != 0) | claimed)
            used = getattr(sequencer, f"before_{self.used[n]}")
            copies, is_load = transfer.copies, transfer.direction == "load"
            to_mover = self._count(m, f"mover_{n}", copies if is_load else 0, used, claimed)
            to_kernel = self._count(
                m, f"kernel_{n}", 0 if is_load else copies, finished[n], sequencer.before_0
            )
            wanted: Value = to_mover != 0
            for k, wait in enumerate(transfer.after):
                number = windows.index(wait.window)
                stored = finished[number]
                announced = sequencer.stored(number, wait.gives)
                m.d.comb += [
                    getattr(sequencer, f"credit_{n}_{k}").eq(announced),
                    Assert(announced == stored),
                ]
                wanted = wanted & (
                    self._count(m, f"after_{n}_{wait.window}", wait.distance, stored, claimed) != 0
                )
            m.d.comb += [
                Assert(ready == wanted),
                Assert((to_mover >= 0) & (to_mover <= copies)),
                Assert((to_kernel >= 0) & (to_kernel <= copies)),
                Assert(~sequencer.before_0 | (to_kernel != 0)),
                Assert(under_way >= 0),
            ]
        return m

    def _count(self, m: Module, name: str, initial: int, given: Value, taken: Value) -> Signal:
        count = Signal(range(-(1 << 11), 1 << 11), name=name, init=initial)
        m.d.sync += count.eq(count + given - taken)
        return count


class Divides(wiring.Component):
    """`Divider` gives what C's `/` and `%` do, and for a zero divisor what it says.

    All digits are in one cycle: where the registers are, says nothing about values.
    """

    def __init__(self, dividend: Shape, divisor: Shape, kind: type[Divider] = Divider) -> None:
        self.divider = kind(dividend, divisor, 0)
        super().__init__({"dividend": In(dividend), "divisor": In(divisor)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.divider = divider = self.divider
        quotient, remainder = divider.quotient, divider.remainder
        m.d.comb += [divider.dividend.eq(self.dividend), divider.divisor.eq(self.divisor)]
        size, of = _magnitude(remainder), _magnitude(self.divisor)
        with m.If(self.divisor == 0):
            m.d.comb += [Assert(quotient == -1), Assert(remainder == self.dividend)]
        with m.Else():
            m.d.comb += [
                Assert(quotient * self.divisor + remainder == self.dividend),
                Assert(size < of),
                Assert((remainder == 0) | ((remainder < 0) == (self.dividend < 0))),
            ]
        return m


def _magnitude(value: Value) -> Value:
    return Mux(value < 0, -value, value)
