"""AXI4 write channels: what stores bring, in bursts, and when it has arrived."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.bursts import ADDRESS_BITS, ArrayPages, BurstFormer, WordNumbers, far_members
from rtlgen.hw.merge import streams_of, tell_finished
from rtlgen.hw.offers import (
    OUT_OF_STEP,
    chosen_of,
    error_members,
    user_bits,
    user_members,
    written_bytes,
)
from rtlgen.hw.queues import ReadyFIFO
from rtlgen.ir.plan import MemorySide, Transfer, address_bits
from rtlgen.ir.port_timing import WRITE_WORDS


class AxiWrite(wiring.Component):
    """Store words for several movers.

    The address of a burst goes out when all of its words are here, and no word goes out before its
    address has been shown. A tile is done when the response of its last burst has come.

    A response that comes while each burst whose words are out has one is one too many: the port is
    out of step from then on, as `AxiRead` is.

    Parameters
    ----------
    workers: of every transfer, the number of its worker.
    words: that may wait for the bus. bursts: that may have no answer yet; None: as many as
        the bus asks for.

    Members
    -------
    offer_N, finished_N: see `offers`. begin, error, failed, far_N: as of `AxiRead`.
    error_word, error_response: Out, as of `AxiRead`, but the first word of a burst: an answer is
        to all of it.
    awaddr, awlen, awvalid, wdata, wstrb, wlast, wvalid, bready: Out; awready, wready, bresp,
        bvalid: In; of AXI4.
    """

    def __init__(
        self,
        side: MemorySide,
        transfers: Sequence[Transfer],
        workers: Sequence[int],
        words: int = WRITE_WORDS,
        bursts: int | None = None,
    ) -> None:
        self.workers = tuple(workers)
        self.words = words
        self.bursts = side.bus.write_bursts if bursts is None else bursts
        self.side = side
        self.transfers = tuple(transfers)
        self.pages = ArrayPages(side, {transfer.array for transfer in transfers})
        super().__init__(
            Signature(
                {
                    "begin": In(1),
                    **error_members(side),
                    "failed": In(1),
                    **far_members(self.pages),
                    "awaddr": Out(ADDRESS_BITS),
                    "awlen": Out(8),
                    "awvalid": Out(1),
                    "awready": In(1),
                    "wdata": Out(side.word_bits),
                    "wstrb": Out(side.bytes_per_word),
                    "wlast": Out(1),
                    "wvalid": Out(1),
                    "wready": In(1),
                    "bresp": In(2),
                    "bvalid": In(1),
                    "bready": Out(1),
                    **user_members(self.transfers, side),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        side, users = self.side, range(len(self.transfers))
        streams, users_of = streams_of(m, self)
        m.submodules.bursts = bursts = BurstFormer(
            len(streams), address_bits(side.depth_words), self.pages
        )
        beat = data.StructLayout(
            {"data": side.word_bits, "strobes": side.bytes_per_word, "last": 1}
        )
        entry = data.StructLayout(
            {"user": unsigned(user_bits(len(users))), "last": 1, "is_burst": 1}
        )
        m.submodules.words = words = ReadyFIFO(width=beat.size, depth=self.words)
        m.submodules.asked = asked = ReadyFIFO(width=entry.size, depth=self.bursts)
        # The word that was taken last waits until it is known whether its burst goes on.
        held = Signal(beat)
        ends_tile = Signal()
        owner = Signal(user_bits(len(users)))
        user = chosen_of(bursts.chosen, users_of)
        last = chosen_of(bursts.chosen, [stream.last for stream in streams])
        bursts.take_from(m, streams)
        bursts.take_places(m, self)
        m.d.comb += [
            bursts.stops.eq(self.failed | self.error),
            bursts.room.eq(words.w_rdy),
            bursts.voids.eq(asked.w_rdy & ~bursts.open),
            bursts.may_close.eq(words.w_rdy & asked.w_rdy),
            bursts.ready.eq(self.awready),
            self.awaddr.eq(bursts.addr),
            self.awlen.eq(bursts.len),
            self.awvalid.eq(bursts.valid),
        ]
        # The word itself is shown in the cycle after the one in which it is taken.
        source = Signal(len(streams))
        comes = Signal()
        word = Signal(side.word_bits)
        shown = written_bytes(source, held.strobes, [stream.data for stream in streams])
        m.d.comb += word.eq(Mux(comes, shown, held.data))
        m.d.sync += [source.eq(bursts.chosen), comes.eq(bursts.is_word), held.data.eq(word)]
        with m.If(bursts.is_word):
            m.d.sync += [
                held.strobes.eq(chosen_of(bursts.chosen, [stream.strobes for stream in streams])),
                ends_tile.eq(last),
                owner.eq(user),
            ]
        m.d.comb += [
            words.w_data.eq(Cat(word, held.strobes, bursts.closing)),
            words.w_en.eq(bursts.closing | (bursts.extends & bursts.is_word)),
        ]
        sent = self._send(m, bursts, words, data.View(beat, words.r_data))
        new = Signal(entry)
        head = data.View(entry, asked.r_data)
        passes_by = bursts.chosen.any() & ~bursts.is_word
        # Nothing passes by an open burst, and it is known long before it is closed.
        with m.If(bursts.open):
            m.d.comb += [new.user.eq(owner), new.last.eq(ends_tile), new.is_burst.eq(1)]
        with m.Else():
            m.d.comb += [new.user.eq(user), new.last.eq(last)]
        passes = Signal()
        lost = Signal()
        due = Signal(range(self.bursts + 1))
        is_due = Signal()
        m.d.comb += [
            asked.w_data.eq(new),
            asked.w_en.eq(bursts.closing | (passes_by & last)),
            passes.eq(asked.r_rdy & (~head.is_burst | (is_due & (self.bvalid | lost)))),
            asked.r_en.eq(passes),
            self.bready.eq((asked.r_rdy & head.is_burst & is_due) | lost),
        ]
        # Bursts whose words are all out, and which have not passed.
        ends = passes & head.is_burst
        with m.If(sent & ~ends):
            m.d.sync += [due.eq(due + 1), is_due.eq(1)]
        with m.Elif(ends & ~sent):
            m.d.sync += [due.eq(due - 1), is_due.eq(due != 1)]
        # There is no answer before the last word of its burst.
        out_of_step = self.bvalid & ~is_due & ~sent
        is_error = Signal()
        first_error = Signal(len(self.bresp))
        m.d.comb += is_error.eq(self.bready & self.bvalid & self.bresp[1])
        m.d.sync += [
            lost.eq(lost | out_of_step),
            self.error.eq((self.error & ~self.begin) | is_error | lost | out_of_step),
        ]
        with m.If(self.begin):
            m.d.sync += first_error.eq(0)
        with m.Elif(is_error & ~self.error):
            m.d.sync += first_error.eq(self.bresp)
        m.d.comb += self.error_response.eq(Mux(lost, OUT_OF_STEP, first_error))
        m.submodules.numbers = numbers = WordNumbers(width=len(self.error_word), depth=self.bursts)
        m.d.comb += [
            numbers.put.eq(asked.w_en & asked.w_rdy),
            numbers.number.eq(bursts.first),
            numbers.take.eq(passes),
            numbers.hold.eq(self.error),
            self.error_word.eq(numbers.shown),
        ]
        for n in users:
            tell_finished(m, self, n, passes & (head.user == n) & head.last)
        return m

    def _send(
        self, m: Module, bursts: BurstFormer, words: ReadyFIFO, beat: data.View[data.StructLayout]
    ) -> Value:
        """Send the words of bursts whose address is out; return whether the last of one goes."""
        owed = Signal(range(self.bursts + 1))
        sent = Signal()
        m.d.comb += [
            self.wdata.eq(beat.data),
            self.wstrb.eq(beat.strobes),
            self.wlast.eq(beat.last),
            self.wvalid.eq(words.r_rdy & (owed != 0)),
            words.r_en.eq(self.wready & (owed != 0)),
            sent.eq(self.wvalid & self.wready & self.wlast),
        ]
        m.d.sync += owed.eq(owed + bursts.closing - sent)
        return sent
