"""A mover: it carries the words of one transfer between the memory off chip and a window.

Its control runs ahead of it, into a queue of two words, and drops what moves nothing. So the next
word is known when an access ends, unless more iterations in a row move nothing than an access has
cycles. What a mover has to wait for at the border of a tile are *tokens*: copies of its window that
are free, of a load, or full, of a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.transfer_control import TransferControl
from rtlgen.ir.plan import MemorySide, Transfer, address_bits


class Mover(wiring.Component):
    """Move words, tile after tile.

    Parameters
    ----------
    transfer: its levels begin with `tile_levels` loops over tiles.

    Members
    -------
    begin: In(1), in the cycle before a run. Between runs the mover is empty.
    ready: In(1), there is a token for one more tile. claimed: Out(1), that token is taken.
    finished: Out(1), all words of a tile are moved.
    request: Out(1), it asks for an access. addr: Out, to this word. data, strobes: Out, what to
        write, and which bytes; of a store alone. taken: In(1), the access goes on its way.
    answered: In(1), the access that was taken last is done. It is the only one on its way.
    window_en, window_addr: Out. A load writes the word of the answer to its window while they ask
        for it; a store reads the window.
    window_data: In, of a store: the word that it asked for last.

    Timing
    ------
    The first request comes three cycles after `begin` at the earliest, of a store four.
    """

    def __init__(self, transfer: Transfer, tile_levels: int, side: MemorySide) -> None:
        self.transfer = transfer
        self.side = side
        self._control = TransferControl(transfer, tile_levels, side.depth_words)
        self.is_store = transfer.direction == "store"
        row_bits = transfer.at.width_bits
        members: dict[str, Member] = {
            "begin": In(1),
            "ready": In(1),
            "claimed": Out(1),
            "finished": Out(1),
            "request": Out(1),
            "addr": Out(address_bits(side.depth_words)),
            "taken": In(1),
            "answered": In(1),
            "window_en": Out(1),
            "window_addr": Out(row_bits),
        }
        if self.is_store:
            members |= {
                "data": Out(side.word_bits),
                "strobes": Out(side.bytes_per_word),
                "window_data": In(side.word_bits),
            }
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        item, valid, pop = self._queue(m)
        begun = Signal()
        admitted = Signal()
        m.d.comb += [admitted.eq(begun | self.ready), self.claimed.eq(pop & ~begun)]
        with m.If(pop):
            m.d.sync += begun.eq(~item.last)
        if self.is_store:
            self._store(m, item, valid & admitted, pop)
        else:
            self._load(m, item, valid & admitted, pop)
        return m

    def _queue(self, m: Module) -> tuple[_Item, Signal, Signal]:
        """Build the control and the queue behind it; return its head, whether it is one, and pop.

        Iterations that move nothing are dropped, but for the last one of a tile.
        """
        advance, push, full = Signal(), Signal(), Signal()
        control = self._control
        m.submodules.control = EnableInserter(advance)(control)
        m.d.comb += control.begin.eq(self.begin)
        wanted = Signal()
        m.d.comb += [
            wanted.eq(control.valid & (control.moves | control.last)),
            push.eq(wanted & ~full),
            advance.eq(~(wanted & full)),
        ]
        shown = _Item(
            control.moves,
            control.last,
            control.word,
            control.at,
            Cat(strobe.replicate(self._strobe_bytes) for strobe in control.strobes),
        )
        head, behind = shown.registers("head"), shown.registers("behind")
        valid, pop = Signal(name="head_valid"), Signal(name="pop")
        with m.If(pop | ~valid):
            m.d.sync += [*head.becomes(behind, shown, full), valid.eq(full | push)]
        with m.If(full):
            m.d.sync += full.eq(~pop)
        with m.Elif(push & valid & ~pop):
            m.d.sync += [*behind.eq(shown), full.eq(1)]
        return head, valid, pop

    @property
    def _strobe_bytes(self) -> int:
        return self.side.bytes_per_word // max(1, len(self.transfer.strobes))

    def _load(self, m: Module, item: _Item, valid: Value, pop: Signal) -> None:
        """Ask for the head of the queue; the answer goes to the window."""
        on_its_way = self._on_its_way(m, item)
        row = Signal.like(self.window_addr, name="row", reset_less=True)
        passed = Signal()
        with m.If(self.taken):
            m.d.sync += row.eq(item.at)
        m.d.comb += [
            self.request.eq(valid & item.moves),
            self.addr.eq(item.word),
            passed.eq(valid & ~item.moves & ~on_its_way.any),
            pop.eq(self.taken | passed),
            self.finished.eq(passed | (self.answered & on_its_way.last)),
            self.window_en.eq(self.answered),
            self.window_addr.eq(row),
        ]

    def _store(self, m: Module, item: _Item, valid: Value, pop: Signal) -> None:
        """Read the window at the head of the queue, and write what comes out of it."""
        read = item.registers("read")
        has_read, passed = Signal(), Signal()
        on_its_way = self._on_its_way(m, read)
        m.d.comb += [
            pop.eq(valid & (~has_read | self.taken | passed)),
            self.window_en.eq(pop & item.moves),
            self.window_addr.eq(item.at),
            self.request.eq(has_read & read.moves),
            self.addr.eq(read.word),
            self.data.eq(self.window_data),
            self.strobes.eq(read.strobes),
            passed.eq(has_read & ~read.moves & ~on_its_way.any),
            self.finished.eq(passed | (self.answered & on_its_way.last)),
        ]
        with m.If(pop):
            m.d.sync += [*read.eq(item), has_read.eq(1)]
        with m.Elif(self.taken | passed):
            m.d.sync += has_read.eq(0)

    def _on_its_way(self, m: Module, item: _Item) -> _OnItsWay:
        """Build what is known of the access that is on its way."""
        access = _OnItsWay(Signal(name="on_its_way"), Signal(name="is_last"))
        with m.If(self.taken):
            m.d.sync += [access.any.eq(1), access.last.eq(item.last)]
        with m.Elif(self.answered):
            m.d.sync += access.any.eq(0)
        return access


@dataclass(frozen=True, slots=True)
class _OnItsWay:
    """Whether an access is on its way, and whether it is the last one of its tile."""

    any: Signal
    last: Signal


@dataclass(frozen=True, slots=True)
class _Item:
    """An iteration of a transfer; see `TransferControl`."""

    moves: Value
    last: Value
    word: Value
    at: Value
    strobes: Value

    def _values(self) -> Mapping[str, Value]:
        return {name: getattr(self, name) for name in _Item.__dataclass_fields__}

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
