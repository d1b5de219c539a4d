"""AXI4 read channels: what loads ask for, in bursts, and where the words belong that come."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.bursts import ADDRESS_BITS, ArrayPages, BurstFormer, WordNumbers, far_members
from rtlgen.hw.merge import streams_of, tell_finished
from rtlgen.hw.offers import (
    OUT_OF_STEP,
    chosen_of,
    error_members,
    row_bits,
    user_bits,
    user_members,
)
from rtlgen.hw.queues import ReadyFIFO
from rtlgen.ir.plan import MemorySide, Transfer, address_bits


class AxiRead(wiring.Component):
    """Load words for several movers.

    A word that is asked for has its place in a window already, so the answer is taken at once; but
    for a cycle in which a tile of its own end passes by.

    Words are told apart by their order alone. One too many or too few is known by `rlast`, which
    has to come with the last word of each burst: if it does not, or a word comes that nobody has
    asked for, the port is out of step until a reset: `error` stays high, nothing is asked for, all
    that still waits for a word passes by, and any word that comes is dropped.

    Parameters
    ----------
    workers: of every transfer, the number of its worker.

    Members
    -------
    offer_N, finished_N, fill_N: see `offers`. fill_row, fill_data: Out, the word and its place.
    begin: In(1), before a run. error: Out(1), some answer of the run was an error. failed: In(1),
        there was one on some channel: from the next cycle on nothing more is asked for, and every
        offer passes by.
    error_word, error_response: Out, number of the word whose answer was the first such one, and
        that answer, before the word is told to be there; error_response: OKAY while there is none,
        OUT_OF_STEP without a word where the port is.
    far_N: In, see `ArrayPages`.
    araddr, arlen, arvalid, rready: Out; arready, rdata, rresp, rlast, rvalid: In; of AXI4.
    """

    def __init__(
        self, side: MemorySide, transfers: Sequence[Transfer], workers: Sequence[int]
    ) -> None:
        self.workers = tuple(workers)
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
                    "araddr": Out(ADDRESS_BITS),
                    "arlen": Out(8),
                    "arvalid": Out(1),
                    "arready": In(1),
                    "rdata": In(side.word_bits),
                    "rresp": In(2),
                    "rlast": In(1),
                    "rvalid": In(1),
                    "rready": Out(1),
                    "fill_row": Out(row_bits(self.transfers)),
                    "fill_data": Out(side.word_bits),
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
        entry = data.StructLayout(
            {
                "user": unsigned(user_bits(len(users))),
                "row": unsigned(len(self.fill_row)),
                "last": 1,
                "is_word": 1,
                "is_first": 1,
            }
        )
        m.submodules.asked = asked = ReadyFIFO(width=entry.size, depth=side.bus.read_words)
        # The head of the queue is in a register: a RAM of LUTs is slow to read.
        new = Signal(entry)
        head = Signal(entry, reset_less=True)
        has_head = Signal()
        bursts.take_from(m, streams)
        bursts.take_places(m, self)
        m.d.comb += [
            bursts.stops.eq(self.failed | self.error),
            bursts.room.eq(asked.w_rdy),
            bursts.voids.eq(asked.w_rdy),
            bursts.may_close.eq(1),
            bursts.ready.eq(self.arready),
            self.araddr.eq(bursts.addr),
            self.arlen.eq(bursts.len),
            self.arvalid.eq(bursts.valid),
            new.user.eq(chosen_of(bursts.chosen, users_of)),
            new.row.eq(chosen_of(bursts.chosen, [stream.row for stream in streams])),
            new.last.eq(chosen_of(bursts.chosen, [stream.last for stream in streams])),
            new.is_word.eq(bursts.is_word),
            new.is_first.eq(~bursts.extends),
            asked.w_data.eq(new),
            # Words that are skipped leave no trace, but for the end of their tile.
            asked.w_en.eq(bursts.is_word | (bursts.chosen.any() & new.last)),
        ]
        has_word = Signal()
        passes = Signal()
        lost = Signal()
        m.d.comb += [
            passes.eq(has_head & (has_word | ~head.is_word | lost)),
            asked.r_en.eq(passes | ~has_head),
            self.rready.eq(~has_word | head.is_word | lost),
            self.fill_row.eq(head.row),
        ]
        with m.If(asked.r_en):
            m.d.sync += [head.eq(asked.r_data), has_head.eq(asked.r_rdy)]
        response = Signal(len(self.rresp), reset_less=True)
        first_error = Signal(len(self.rresp))
        is_last = Signal(reset_less=True)
        was_last = Signal(init=1)
        with m.If(self.rready):
            m.d.sync += [
                self.fill_data.eq(self.rdata),
                response.eq(self.rresp),
                is_last.eq(self.rlast),
                has_word.eq(self.rvalid),
            ]
        with m.If(passes & head.is_word):
            m.d.sync += was_last.eq(is_last)
        # Behind the last word of a burst comes the first one of another, or none; behind others
        # neither. All words of a burst are in the queue before its address is shown.
        out_of_step = Mux(
            has_head, head.is_word & (head.is_first != was_last), has_word | ~was_last
        )
        is_error = self.rready & self.rvalid & self.rresp[1]
        m.d.sync += [
            lost.eq(lost | out_of_step),
            self.error.eq((self.error & ~self.begin) | is_error | lost | out_of_step),
        ]
        with m.If(self.begin):
            m.d.sync += first_error.eq(0)
        with m.Elif(passes & head.is_word & response[1] & ~first_error[1]):
            m.d.sync += first_error.eq(response)
        m.d.comb += self.error_response.eq(Mux(lost, OUT_OF_STEP, first_error))
        # In the queue, and at its head.
        m.submodules.numbers = numbers = WordNumbers(
            width=len(self.error_word), depth=side.bus.read_words + 1
        )
        m.d.comb += [
            numbers.put.eq(asked.w_en & asked.w_rdy),
            numbers.number.eq(bursts.word),
            numbers.take.eq(passes),
            numbers.hold.eq(first_error[1]),
            self.error_word.eq(numbers.shown),
        ]
        for n in users:
            mine = passes & (head.user == n)
            m.d.comb += getattr(self, f"fill_{n}").eq(mine & head.is_word)
            tell_finished(m, self, n, mine & head.last)
        return m
