"""A mover: it carries the words of one transfer between the memory off chip and a window.

Which words a mover moves: the iterations of a transfer, tile after tile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.control_ports import ControlPorts
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.offers import chosen_of, offer_signature
from rtlgen.hw.predicates import TRUE
from rtlgen.hw.tile_sequencer import STAGE, MarkPorts, next_tile
from rtlgen.ir.memory_side import BURST_WORDS
from rtlgen.ir.plan import Condition, IndexForm, Level, Mark, MemorySide, Predicate, Transfer


class TransferControl(wiring.Component):
    """Show the iterations of a transfer, one a cycle.

    Parameters
    ----------
    tile_levels: how many of the transfer's levels are loops over tiles.
    depth_words: of the memory off chip.
    marks: iterations of outermost tile loops that count for something.

    Members
    -------
    begin: In(1), two cycles before the first iteration. Between runs it shows none.
    valid: Out(1), there is an iteration. moves: Out(1), it moves a word. last: Out(1), it is the
        last one of its tile. word, at: Out, where the word is off chip, and in the window.
    closes_K, counts_K: Out(1), of its tile: see `MarkPorts`.
    strobe_K: Out(1), whether a store writes element K of the word.

    Of a transfer that looks at several words abreast, what is shown is the first of them; instead
    of one of the last but one, there are `moves_J` and `strobe_J_K` for each word J behind it.
    """

    def __init__(
        self,
        transfer: Transfer,
        tile_levels: int,
        depth_words: int,
        marks: Sequence[Mark] = (),
    ) -> None:
        self.transfer = transfer
        every = _looked_at(transfer)
        self._index = build_index_unit("odometer", every, 1, 0, tile_levels)
        self._ports = ControlPorts(self._index)
        first = partial(_abreast, transfer, 0)
        at = replace(
            transfer.at,
            fields=tuple(replace(f, form=first(f.form)) for f in transfer.at.fields),
        )
        self._ports.add_address("word", first(transfer.word), STAGE, depth_words, every, None)
        self._ports.add_address("at", at, STAGE, 0, every, None)
        for n in range(transfer.abreast):
            own, name = partial(_predicate_abreast, transfer, n), self._suffix(n)
            self._ports.add_guard(f"moves{name}", own(transfer.when), STAGE, every, enable=False)
            for lane, strobe in enumerate(transfer.strobes):
                guard = f"strobe{name}_{lane}"
                self._ports.add_guard(guard, own(strobe), STAGE, every, enable=False)
        self._marks = MarkPorts(marks, every, tile_levels, self._index, self._ports)
        super().__init__(
            Signature(
                {
                    "begin": In(1),
                    "valid": Out(1),
                    "last": Out(1),
                    **self._marks.members(),
                    **self._ports.members(),
                }
            )
        )

    def _suffix(self, number: int) -> str:
        return "" if self.transfer.abreast == 1 else f"_{number}"

    def moves_of(self, number: int) -> Signal:
        """Return whether one of the words abreast is moved."""
        moves: Signal = getattr(self, f"moves{self._suffix(number)}")
        return moves

    def strobes_of(self, number: int) -> tuple[Signal, ...]:
        """Return the strobes of one of the words abreast."""
        name, lanes = self._suffix(number), range(len(self.transfer.strobes))
        return tuple(getattr(self, f"strobe{name}_{lane}") for lane in lanes)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        index = self._index
        goes_on = Signal()
        m.d.comb += goes_on.eq(next_tile(index))
        builder = self._ports.build(m, self, self.begin | goes_on)
        ends = Signal()
        m.d.comb += ends.eq(index.pauses)
        m.d.comb += [
            self.valid.eq(builder.enable(TRUE, STAGE)),
            self.last.eq(builder.delayed(ends, STAGE)),
        ]
        self._marks.build(m, self, builder)
        return m


def _looked_at(transfer: Transfer) -> tuple[Level, ...]:
    """Return the levels of a transfer, the innermost one of what is looked at in one cycle."""
    if transfer.abreast == 1:
        return transfer.levels
    return (*transfer.levels[:-1], replace(transfer.levels[-1], extent=transfer.groups))


def _abreast(transfer: Transfer, number: int, form: IndexForm) -> IndexForm:
    """Return a form of the iteration that is so many behind the first one looked at in a cycle."""
    if transfer.abreast == 1:
        return form
    *outer, step = form.coefficients
    return IndexForm((*outer, step * transfer.abreast), form.constant + step * number)


def _predicate_abreast(transfer: Transfer, number: int, predicate: Predicate) -> Predicate:
    """Return a predicate of the iteration that is so many behind the first one, if there is one."""
    found = predicate.with_forms(partial(_abreast, transfer, number))
    if (transfer.groups - 1) * transfer.abreast + number < transfer.levels[-1].extent:
        return found
    before_last = (*(0 for _ in transfer.levels[1:]), -1)
    there = Condition(IndexForm(before_last, transfer.groups - 2))
    return Predicate(tuple((*conditions, there) for conditions in found.alternatives))


class Mover(wiring.Component):
    """Move words, tile after tile.

    Parameters
    ----------
    transfer: its levels begin with `tile_levels` loops over tiles.
    marks: iterations of outermost tile loops that wait, or are waited for.

    Members
    -------
    begin: In(1), in the cycle before a run. Between runs the mover is empty.
    ready: In(1), there is a token for one more tile. claimed: Out(1), that token is taken.
    will_open_K: Out(1), if there is a word to move in the next cycle, its tile is the first one in
        an iteration that counts for mark K.
    passed: Out(1), the last word of a tile leaves the queue. closes_K: Out(1), at the same time:
        that tile is the last one in an iteration that counts for mark K.
    offer: Out, to the port of the memory; see `offers`.
    window_en, window_addr: Out, window_data: In, of a store: it reads the window, and gets the word
        two cycles later, until two cycles after it asks again; it offers it a cycle before.

    Timing
    ------
    The first offer comes three cycles after `begin` at the earliest, of a store four.
    """

    def __init__(
        self, transfer: Transfer, tile_levels: int, side: MemorySide, marks: Sequence[Mark] = ()
    ) -> None:
        self.transfer = transfer
        self.side = side
        self.marks = tuple(marks)
        self._control = TransferControl(transfer, tile_levels, side.depth_words, marks)
        self.is_store = transfer.direction == "store"
        members: dict[str, Member] = {
            "begin": In(1),
            "ready": In(1),
            "claimed": Out(1),
            "passed": Out(1),
            **{f"will_open_{n}": Out(1) for n in range(len(self.marks))},
            **{f"closes_{n}": Out(1) for n in range(len(self.marks))},
            "offer": Out(offer_signature(transfer, side)),
        }
        if self.is_store:
            members |= {
                "window_en": Out(1),
                "window_addr": Out(transfer.at.width_bits),
                "window_data": In(side.word_bits),
            }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        item, valid, pop, counts_next = self._queue(m)
        begun = Signal()
        admitted = Signal()
        m.d.comb += [admitted.eq(begun | self.ready), self.claimed.eq(pop & ~begun)]
        with m.If(pop):
            m.d.sync += begun.eq(~item.last)
        m.d.comb += self.passed.eq(pop & item.last)
        for n in range(len(self.marks)):
            closes, counts = item.closes.bit_select(n, 1), item.counts.bit_select(n, 1)
            first, first_next = Signal(name=f"first_{n}", init=1), Signal(name=f"first_next_{n}")
            m.d.comb += [
                first_next.eq(Mux(self.passed, closes, first)),
                getattr(self, f"will_open_{n}").eq(first_next & counts_next.bit_select(n, 1)),
                getattr(self, f"closes_{n}").eq(closes & counts),
            ]
            m.d.sync += first.eq(first_next)
        if self.is_store:
            self._store(m, item, valid & admitted, pop)
        else:
            self._load(m, item, valid & admitted, pop)
        return m

    def _queue(self, m: Module) -> tuple[_Item, Signal, Signal, Value]:
        """Build the control and the queue behind it.

        Return its head, whether it is one, and pop; and what the head counts for in the next cycle.
        Iterations that move nothing are dropped, but for the last one of a tile.
        """
        advance = Signal()
        push = Signal()
        full = Signal()
        control = self._control
        m.submodules.control = EnableInserter(advance)(control)
        m.d.comb += control.begin.eq(self.begin)
        wanted = Signal()
        chosen = self._only() if self.transfer.abreast == 1 else self._next(m, push)
        m.d.comb += [
            wanted.eq(control.valid & (chosen.moves | chosen.last)),
            push.eq(wanted & ~full),
            advance.eq(~(wanted & (full if chosen.others is None else full | chosen.others))),
        ]
        shown = _Item(
            chosen.moves,
            chosen.last,
            Cat(getattr(control, f"closes_{n}") for n in range(len(self.marks))),
            Cat(getattr(control, f"counts_{n}") for n in range(len(self.marks))),
            self._follows(m, push, chosen),
            chosen.word,
            chosen.at,
            chosen.strobes,
        )
        head, behind = shown.registers("head"), shown.registers("behind")
        valid, pop = Signal(name="head_valid"), Signal(name="pop")
        with m.If(pop | ~valid):
            m.d.sync += [*head.becomes(behind, shown, full), valid.eq(full | push)]
        with m.If(full):
            m.d.sync += full.eq(~pop)
        with m.Elif(push & valid & ~pop):
            m.d.sync += [*behind.eq(shown), full.eq(1)]
        arriving = Mux(full, behind.counts, shown.counts)
        return head, valid, pop, Mux(pop | ~valid, arriving, head.counts)

    @property
    def _strobe_bytes(self) -> int:
        return self.side.bytes_per_word // max(1, len(self.transfer.strobes))

    def _only(self) -> _Choice:
        """Return the word that the control shows."""
        control = self._control
        strobes = self._strobes(0)
        return _Choice(control.moves, control.last, control.word, control.at, strobes)

    def _next(self, m: Module, push: Value) -> _Choice:
        """Return the first of the words abreast that is moved and was not yet pushed.

        Where none is left, it is the last one of a tile.
        """
        control, count = self._control, self.transfer.abreast
        last = (self.transfer.levels[-1].extent - 1) % count
        left, done = Signal(count, name="left"), Signal(count, name="done")
        first, rest = Signal(count, name="first"), Signal(count, name="rest")
        before = Cat(left[:n].any() for n in range(count))
        m.d.comb += [
            left.eq(Cat(control.moves_of(n) for n in range(count)) & ~done),
            first.eq(left & ~before),
            rest.eq(left & before),
        ]
        with m.If(push):
            m.d.sync += done.eq(Mux(rest.any(), done | first, 0))
        place = Signal(range(count), name="place")
        strobes = Signal(len(self._strobes(0)), name="strobes")
        numbers = [Const(n, len(place)) for n in range(count)]
        m.d.comb += [
            place.eq(chosen_of(first, numbers) | Mux(left.any(), 0, last)),
            strobes.eq(chosen_of(first, [self._strobes(n) for n in range(count)])),
        ]
        low = self.transfer.place_bits
        return _Choice(
            left.any(),
            control.last & ~rest.any(),
            (control.word + place)[: len(control.word)],
            Cat((control.at[:low] + place)[:low], control.at[low:]),
            strobes,
            rest.any(),
        )

    def _strobes(self, number: int) -> Value:
        strobes = self._control.strobes_of(number)
        return Cat(strobe.replicate(self._strobe_bytes) for strobe in strobes)

    def _follows(self, m: Module, push: Value, chosen: _Choice) -> Value:
        """Return whether the word that is chosen goes on with the burst of the last one."""
        if not self.side.bus.has_bursts:
            return Const(0, 0)
        word = chosen.word
        next_word = Signal(len(word), name="next_word", reset_less=True)
        goes_on = Signal()
        with m.If(push):
            m.d.sync += [next_word.eq(word + 1), goes_on.eq(chosen.moves & ~chosen.last)]
        place = word[: BURST_WORDS.bit_length() - 1]
        return goes_on & (word == next_word) & place.any()

    def _load(self, m: Module, item: _Item, valid: Value, pop: Signal) -> None:
        """Offer the head of the queue; the port brings the word to the window."""
        m.d.comb += [pop.eq(self.offer.taken), *item.shown_by(self.offer, valid)]
        m.d.comb += self.offer.row.eq(item.at)

    def _store(self, m: Module, item: _Item, valid: Value, pop: Signal) -> None:
        """Read the window at the head of the queue, and offer what comes out of it."""
        read = item.registers("read")
        has_read = Signal()
        m.d.comb += [
            pop.eq(valid & (~has_read | self.offer.taken)),
            self.window_en.eq(pop & item.moves),
            self.window_addr.eq(item.at),
            *read.shown_by(self.offer, has_read),
            self.offer.data.eq(self.window_data),
            self.offer.strobes.eq(read.strobes),
        ]
        with m.If(pop):
            m.d.sync += [*read.eq(item), has_read.eq(1)]
        with m.Elif(self.offer.taken):
            m.d.sync += has_read.eq(0)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What goes to the queue next.

    Members
    -------
    others: whether there are more of the words abreast; None where there is one.
    """

    moves: Value
    last: Value
    word: Value
    at: Value
    strobes: Value
    others: Value | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    """An iteration of a transfer; see `TransferControl`, and for `follows` the module `offers`.

    Members
    -------
    closes, counts: a bit for each mark; see `TransferControl`.
    """

    moves: Value
    last: Value
    closes: Value
    counts: Value
    follows: Value
    word: Value
    at: Value
    strobes: Value

    def _values(self) -> Mapping[str, Value]:
        return {name: getattr(self, name) for name in _Item.__dataclass_fields__}

    def shown_by(self, offer: Any, valid: Value) -> list[object]:
        """Return the assignments that make an offer of it."""
        shown = [
            offer.valid.eq(valid),
            offer.moves.eq(self.moves),
            offer.last.eq(self.last),
            offer.word.eq(self.word),
        ]
        return [*shown, offer.follows.eq(self.follows)] if len(self.follows) else shown

    def registers(self, prefix: str) -> _Item:
        """Return signals of the same shapes."""
        return _Item(
            **{
                name: Signal(len(value), name=f"{prefix}_{name}", reset_less=True)
                for name, value in self._values().items()
            }
        )

    def eq(self, other: _Item) -> list[object]:
        """Return the assignments of another item to this one."""
        pairs = zip(self._values().values(), other._values().values(), strict=True)
        return [mine.eq(its) for mine, its in pairs]

    def becomes(self, first: _Item, second: _Item, which: Value) -> list[object]:
        """Return the assignments of one of two items."""
        values = self._values()
        return [
            mine.eq(Mux(which, first._values()[name], second._values()[name]))
            for name, mine in values.items()
        ]
