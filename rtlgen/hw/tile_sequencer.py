"""When the tiles of a region begin, what waits for whom, and who uses which copy of a window.

Iterations of outer tile loops at which something waits, or is waited for, told tile by tile.

A *token* stands for a copy. Each window has free ones and full ones; whoever uses a copy takes a
token from one side and gives one to the other side when it is done. What a transfer waits for,
besides, and a kernel for others, are *credits* for iterations of outer tile loops. See `ir.tiled`
for the rules.

Whether a transfer's next tile may begin is a register: its mover is somewhere else in the circuit,
and so is the port that takes the mover's word in the same cycle. And so is the start of a kernel's
tile, which goes to all that works in it. Both are decided in the cycle before, from the tokens that
there will be then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Cat, Const, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.control_ports import ControlBuilder, ControlPorts
from rtlgen.hw.index_styles import build_index_unit
from rtlgen.hw.index_units import IndexUnit, all_of
from rtlgen.hw.pipeline import delayed_pulse
from rtlgen.hw.predicates import TRUE
from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.plan import IndexForm, Level, Mark, TiledRegion, Transfer, Wait, Workers

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


class TileSequencer(wiring.Component):
    """Start a region once a tile.

    Parameters
    ----------
    workers: those of which the region is one, by its number.
    events: cycles of a tile that something in its kernel waits for.

    Members
    -------
    begin: In(1), in the cycle before cycle 0 of the tiled region.
    before_C: Out(1), for each event: high in the cycle before cycle C of every tile.
    ended: Out(1), high for one cycle, when all is stored. working: Out(1), high from the cycle
        after `begin` until then. resting: Out(1), none of its tiles is in the kernel.
    and for every transfer, by its number N: ready_N: Out(1), there is a token for its mover.
    claimed_N, will_open_N_K, passed_N, closes_N_K: In(1), of the mover; finished_N: In(1), of the
        port.
    stored_N_G: Out(1), of a store that is awaited: it is done with an iteration that counts for
        what is awaited as number G.
    credit_N_K: In(1), of what transfer N waits for as number K: that is done with an iteration.
    handed_G: Out(1), the kernel is done with an iteration that counts for what other kernels wait
        for as number G. credit_kernel_K: In(1), what it waits for as number K is.

    Timing
    ------
    A tile can begin two cycles after `begin`, four where kernels wait for each other, and
    `issue_cycles` after the one before.
    """

    def __init__(self, workers: Workers, number: int, events: Sequence[int]) -> None:
        self.tiled = tiled = workers.regions[number]
        self.number = number
        self.handed = workers.handed(number)
        self.kernel_marks = workers.kernel_marks(number)
        self.events = tuple(sorted(set(events)))
        self.workers = workers
        depth = len(tiled.levels)
        self.marks = [workers.marks(transfer, depth) for transfer in tiled.transfers]
        self.awaited = [workers.waited_for(transfer.window) for transfer in tiled.transfers]
        members = {"begin": In(1), "ended": Out(1), "working": Out(1), "resting": Out(1)}
        members |= {f"before_{cycle}": Out(1) for cycle in self.events}
        for n, transfer in enumerate(tiled.transfers):
            members |= {f"ready_{n}": Out(1, init=self._begins_ready(transfer))}
            members |= {f"claimed_{n}": In(1), f"finished_{n}": In(1)}
            waiting = {wait.takes for wait in transfer.after}
            members |= {f"will_open_{n}_{k}": In(1) for k in self._numbers(n, waiting)}
            members |= {f"credit_{n}_{k}": In(1) for k in range(len(transfer.after))}
            members |= {f"stored_{n}_{k}": Out(1) for k in range(len(self.awaited[n]))}
            if closing := self._numbers(n, self.awaited[n]):
                members |= {f"passed_{n}": In(1)}
                members |= {f"closes_{n}_{k}": In(1) for k in closing}
        members |= {f"credit_kernel_{k}": In(1) for k in range(len(tiled.waits))}
        members |= {f"handed_{k}": Out(1) for k in range(len(self.handed))}
        super().__init__(Signature(members))

    @staticmethod
    def _begins_ready(transfer: Transfer) -> bool:
        """Return whether the first tile of a transfer waits for nothing."""
        return transfer.direction == "load" and all(wait.distance for wait in transfer.after)

    def _numbers(self, transfer: int, marks: Collection[Mark]) -> list[int]:
        """Return which of the marks of a transfer are among some."""
        return [k for k, mark in enumerate(self.marks[transfer]) if mark in marks]

    def stored(self, transfer: int, gives: Mark) -> Signal:
        """Return what says that a store is done with an iteration that counts."""
        stored: Signal = getattr(self, f"stored_{transfer}_{self.awaited[transfer].index(gives)}")
        return stored

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tiled = self.tiled
        go = Signal()
        will_have: list[Value] = self._kernel_credits(m, go) if self.kernel_marks else []
        empty: list[Value] = []
        for n, transfer in enumerate(tiled.transfers):
            used = self._later(m, go, tiled.used_cycle(transfer.window), f"used_{n}")
            claimed, finished = getattr(self, f"claimed_{n}"), getattr(self, f"finished_{n}")
            ready = getattr(self, f"ready_{n}")
            copies = transfer.copies
            credits = self._credits(m, n, transfer)
            self._announce(m, n, transfer)
            if transfer.direction == "load":
                free = _tokens(m, f"free_{n}", copies, copies, used, claimed)
                full = _tokens(m, f"full_{n}", copies, 0, finished, go)
                m.d.sync += ready.eq(free.coming & all_of(credits))
                will_have.append(full.coming)
            else:
                free = _tokens(m, f"free_{n}", copies, copies, finished, go)
                full = _tokens(m, f"full_{n}", copies, 0, used, claimed)
                m.d.sync += ready.eq(full.coming & all_of(credits))
                will_have.append(free.coming)
                empty.append(free.count == copies)
        self._start(m, go, will_have, empty)
        for cycle in self.events:
            m.d.comb += getattr(self, f"before_{cycle}").eq(
                self._later(m, go, cycle, f"go_{cycle}")
            )
        return m

    def _start(
        self, m: Module, go: Signal, will_have: Sequence[Value], empty: Sequence[Value]
    ) -> None:
        """Say when a tile begins, and when the last one is done.

        Parameters
        ----------
        go: becomes a register. will_have: that there will be in the next cycle what a tile takes.
        """
        tiled = self.tiled
        left = Signal(range(tiled.tiles + 1))
        running = Signal()
        will_be_left = Signal()
        will_rest = Signal()
        rest = _timer(m, "rest", go, tiled.issue_cycles - 1)
        busy = _timer(m, "busy", go, tiled.kernel.length_cycles - 1)
        m.d.comb += [
            will_be_left.eq(self.begin | Mux(go, left != 1, left != 0)),
            will_rest.eq(Mux(go, int(tiled.issue_cycles > 1), rest > 1)),
            self.ended.eq(running & (left == 0) & (busy == 0) & all_of(empty)),
            self.working.eq(running & ~self.ended),
            self.resting.eq((busy == 0) & ~go),
        ]
        m.d.sync += go.eq(will_be_left & ~will_rest & all_of(will_have))
        with m.If(self.begin):
            m.d.sync += [left.eq(tiled.tiles), running.eq(1)]
        with m.Else():
            with m.If(go):
                m.d.sync += left.eq(left - 1)
            with m.If(self.ended):
                m.d.sync += running.eq(0)

    def _kernel_credits(self, m: Module, go: Signal) -> list[Value]:
        """Return what will let a tile begin in the next cycle, for all that the kernel waits for.

        And say what it is done with itself.
        """
        tiled = self.tiled
        m.submodules.marks = marks = TileMarks(self.kernel_marks, tiled.levels)
        m.d.comb += [marks.begin.eq(self.begin), marks.started.eq(go)]
        found: list[Value] = [marks.will_be_valid]
        for k, wait in enumerate(tiled.waits):
            number = self.kernel_marks.index(wait.takes)
            opens = getattr(marks, f"opens_{number}")
            given = getattr(self, f"credit_kernel_{k}")
            ahead = _iterations(self.workers.regions[self.workers.giver(self.number, wait)], wait)
            credit = _credit(m, f"kernel_{k}", wait, ahead, given, go & opens)
            found.append(credit.coming | ~getattr(marks, f"will_open_{number}"))
        for k, gives in enumerate(self.handed):
            closes = getattr(marks, f"closes_{self.kernel_marks.index(gives)}")
            handed = self._later(m, go & closes, tiled.handed_cycle, f"handed_{k}")
            m.d.comb += getattr(self, f"handed_{k}").eq(handed)
        return found

    def _later(self, m: Module, go: Value, cycle: int, name: str) -> Value:
        return delayed_pulse(m, go, cycle, self.tiled.issue_cycles, name)

    def _credits(self, m: Module, number: int, transfer: Transfer) -> list[Value]:
        """Return for each thing that a transfer waits for, whether a tile may begin next."""
        claimed: Signal = getattr(self, f"claimed_{number}")
        # Of every mark, whether the tile opens an iteration, and whether the next one to be claimed
        # will; of what all tiles count for there is none.
        opening: dict[int, tuple[Value, Value]] = {}
        for place in self._numbers(number, {wait.takes for wait in transfer.after}):
            opens = Signal(name=f"opens_{number}_{place}")
            will_open = getattr(self, f"will_open_{number}_{place}")
            m.d.sync += opens.eq(will_open)
            opening[place] = opens, will_open
        found: list[Value] = []
        for k, wait in enumerate(transfer.after):
            given = getattr(self, f"credit_{number}_{k}")
            places = self._numbers(number, {wait.takes})
            opens, will_open = opening[places[0]] if places else (Const(1), Const(1))
            ahead = self._ahead(transfer, wait)
            credit = _credit(m, f"after_{number}", wait, ahead, given, claimed & opens)
            found.append(credit.coming | ~will_open)
        return found

    def _ahead(self, transfer: Transfer, wait: Wait) -> int:
        """Return how many iterations a store may be done with before a transfer comes to them.

        That of the same worker with none where a load waits, since it comes after the load.
        Another store, or worker, may be as far ahead as nothing else keeps it.
        """
        own = [other.window for other in self.tiled.transfers]
        if wait.window in own and transfer.direction == "load":
            return 0
        (other,) = (
            region
            for region in self.workers.regions
            for transfer in region.transfers
            if transfer.window == wait.window
        )
        return _iterations(other, wait)

    def _announce(self, m: Module, number: int, transfer: Transfer) -> None:
        """Say when a store is done with iterations of outer loops."""
        finished: Signal = getattr(self, f"finished_{number}")
        awaited = self.awaited[number]
        closing = self._numbers(number, awaited)
        if closing:
            # Which of the tiles that are on their way are the last ones of iterations.
            m.submodules[f"passed_{number}"] = passed = SyncFIFO(
                width=len(closing), depth=transfer.copies
            )
            m.d.comb += [
                passed.w_data.eq(Cat(getattr(self, f"closes_{number}_{k}") for k in closing)),
                passed.w_en.eq(getattr(self, f"passed_{number}")),
                passed.r_en.eq(finished),
            ]
        for n, gives in enumerate(awaited):
            closes: Value = Const(1)
            for place in self._numbers(number, {gives}):
                closes = passed.r_data[closing.index(place)]
            m.d.comb += getattr(self, f"stored_{number}_{n}").eq(finished & closes)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Tokens at hand.

    Members
    -------
    count: how many, in a register. coming: whether there will be some in the next cycle.
    """

    count: Signal
    coming: Signal


def _tokens(m: Module, name: str, most: int, initial: int, given: Value, taken: Value) -> _Tokens:
    count = Signal(range(most + 1), name=name, init=initial)
    some = Signal(name=f"{name}_some", init=initial > 0)
    coming = Signal(name=f"{name}_coming")
    m.d.comb += coming.eq(some)
    with m.If(given & ~taken):
        m.d.comb += coming.eq(1)
        m.d.sync += count.eq(count + 1)
    with m.Elif(taken & ~given):
        m.d.comb += coming.eq(count != 1)
        m.d.sync += count.eq(count - 1)
    m.d.sync += some.eq(coming)
    return _Tokens(count, coming)


def _credit(m: Module, name: str, wait: Wait, ahead: int, given: Value, taken: Value) -> _Tokens:
    """Return what a wait has credit for.

    Parameters
    ----------
    ahead: iterations that whoever is waited for may be done with before they are asked for.
    """
    return _tokens(m, f"{name}_{wait.window}", wait.distance + ahead, wait.distance, given, taken)


def _iterations(region: TiledRegion, wait: Wait) -> int:
    """Return how many iterations a region has of the loops that a wait counts."""
    return len(iterations_of(region.levels[: wait.loops]))


def _timer(m: Module, name: str, start: Value, cycles: int) -> Signal:
    """Return a counter that is 0 from `cycles` + 1 cycles after `start` on."""
    left = Signal(range(cycles + 1), name=name)
    with m.If(start):
        m.d.sync += left.eq(cycles)
    with m.Elif(left != 0):
        m.d.sync += left.eq(left - 1)
    return left
