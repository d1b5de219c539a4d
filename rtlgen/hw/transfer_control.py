"""Which words a mover moves: the iterations of a transfer, tile after tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.control_ports import ControlPorts
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.predicates import TRUE
from rtlgen.hw.tile_marks import STAGE, MarkPorts, next_tile
from rtlgen.ir.plan import Condition, IndexForm, Level, Mark, Predicate, Transfer


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
