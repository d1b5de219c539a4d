"""Iterations of outer tile loops at which something waits, or is waited for, told tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from amaranth.hdl import Cat, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.control_ports import ControlBuilder, ControlPorts
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.index_units import IndexUnit, all_of
from rtlgen.hw.predicates import TRUE
from rtlgen.ir.plan import IndexForm, Level, Mark

STAGE = 1
"""All that a mover's control shows is in registers, so that who waits for it may hold it long."""


class MarkPorts:
    """The outputs of a control that tell of marks.

    Parameters
    ----------
    levels: of the control, the first `tile_levels` over tiles. index: enumerates them.
    stage: in which they are shown.

    Members
    -------
    counts_K: Out(1), the tile is in an iteration that counts for mark K.
    closes_K: Out(1), it is the last one in an iteration of the loops of mark K.
    """

    def __init__(
        self,
        marks: Sequence[Mark],
        levels: Sequence[Level],
        tile_levels: int,
        index: IndexUnit,
        ports: ControlPorts,
        stage: int = STAGE,
    ) -> None:
        self._marks = marks
        self._stage = stage
        self._index = index
        # Tile loops of one iteration are none of the index unit's.
        active = [level.extent > 1 for level in levels]
        self._outside = [sum(active[: mark.loops]) for mark in marks]
        self._tiles = sum(active[:tile_levels])
        for n, mark in enumerate(marks):
            when = mark.when.with_forms(partial(IndexForm.padded, levels=len(levels)))
            ports.add_guard(f"counts_{n}", when, stage, tuple(levels), enable=False)

    def members(self) -> Mapping[str, Member]:
        """Return those that the control has beside those of its ports."""
        return {f"closes_{n}": Out(1) for n in range(len(self._marks))}

    def build(self, m: Module, control: Any, builder: ControlBuilder) -> None:
        """Drive these."""
        for n, outside in enumerate(self._outside):
            closes = Signal(name=f"closes_{n}_now")
            m.d.comb += closes.eq(all_of(self._index.lasts[outside : self._tiles]))
            m.d.comb += getattr(control, f"closes_{n}").eq(builder.delayed(closes, self._stage))


def next_tile(index: IndexUnit) -> Value:
    """Return whether the iteration that is issued is a tile's last one, and not the last of all."""
    return index.valid & index.pauses & ~all_of(index.lasts)


class TileMarks(wiring.Component):
    """Tell what the next tile of a kernel counts for.

    What is shown, and the two tiles behind it, are in registers beside who starts tiles: they say
    in time what will be shown in the next cycle. The loops over tiles may be somewhere else in the
    circuit, and go on when the last register is free.

    Parameters
    ----------
    levels: the tile loops.

    Members
    -------
    begin: In(1), three cycles before the first tile is shown. Between runs none is.
    valid: Out(1), there is a next tile. started: In(1), it is started: the one behind it is shown
        from the next cycle on.
    opens_K, closes_K: Out(1), it is the first one, the last one, of an iteration that counts for
        mark K.
    will_be_valid, will_open_K: Out(1), what valid and opens_K are in the next cycle.
    """

    def __init__(self, marks: Sequence[Mark], levels: tuple[Level, ...]) -> None:
        self.marks = tuple(marks)
        self._control = _MarkControl(self.marks, levels)
        every = range(len(self.marks))
        super().__init__(
            Signature(
                {
                    "begin": In(1),
                    "valid": Out(1),
                    "will_be_valid": Out(1),
                    "started": In(1),
                    **{f"opens_{n}": Out(1) for n in every},
                    **{f"will_open_{n}": Out(1) for n in every},
                    **{f"closes_{n}": Out(1) for n in every},
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        control = self._control
        is_next = Signal()
        taken = Signal()
        m.submodules.control = EnableInserter(~is_next)(control)
        m.d.comb += [control.begin.eq(self.begin), taken.eq(control.valid & ~is_next)]
        marks: list[Value] = []
        for n in range(len(self.marks)):
            counts, closes = getattr(control, f"counts_{n}"), getattr(control, f"closes_{n}")
            first = Signal(name=f"first_{n}", init=1)
            with m.If(taken):
                m.d.sync += first.eq(closes)
            marks += [first & counts, closes & counts]
        shown, behind, last = (Signal(len(marks), name=n) for n in ("shown", "behind", "last"))
        is_behind = Signal()
        shows = Signal()
        moves = Signal()
        m.d.comb += [shows.eq(self.started | ~self.valid), moves.eq(shows | ~is_behind)]
        with m.If(shows):
            m.d.sync += [self.valid.eq(is_behind), shown.eq(behind)]
        with m.If(moves):
            m.d.sync += [
                is_behind.eq(is_next | taken),
                behind.eq(Mux(is_next, last, Cat(*marks))),
                is_next.eq(0),
            ]
        with m.Elif(taken):
            m.d.sync += [last.eq(Cat(*marks)), is_next.eq(1)]
        m.d.comb += self.will_be_valid.eq(is_behind | ~shows)
        for n in range(len(self.marks)):
            opens, closes = getattr(self, f"opens_{n}"), getattr(self, f"closes_{n}")
            m.d.comb += [
                opens.eq(shown[2 * n]),
                closes.eq(shown[2 * n + 1]),
                getattr(self, f"will_open_{n}").eq(Mux(shows, behind, shown)[2 * n]),
            ]
        return m


class _MarkControl(wiring.Component):
    """Show tiles, one a cycle, in no registers: see `MarkPorts`. `valid`: Out(1), it shows one."""

    def __init__(self, marks: Sequence[Mark], levels: tuple[Level, ...]) -> None:
        self._index = build_index_unit("odometer", levels, 1, 0, len(levels))
        self._ports = ControlPorts(self._index)
        self._marks = MarkPorts(marks, levels, len(levels), self._index, self._ports, 0)
        members = {**self._marks.members(), **self._ports.members()}
        super().__init__(Signature({"begin": In(1), "valid": Out(1), **members}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        goes_on = Signal()
        m.d.comb += goes_on.eq(next_tile(self._index))
        builder = self._ports.build(m, self, self.begin | goes_on)
        m.d.comb += self.valid.eq(builder.enable(TRUE, 0))
        self._marks.build(m, self, builder)
        return m
