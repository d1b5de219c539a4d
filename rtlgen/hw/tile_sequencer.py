"""When the tiles of a region begin, and who may use which copy of a window.

A *token* stands for a copy. Each window has free ones and full ones; whoever uses a copy takes a
token from one side and gives one to the other side when it is done. See `ir.tiled` for the rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.index_units import all_of
from rtlgen.hw.pulses import delayed_pulse
from rtlgen.ir.plan import TiledRegion, Transfer


class TileSequencer(wiring.Component):
    """Start a region once a tile.

    Parameters
    ----------
    events: cycles of a tile that something in its kernel waits for.

    Members
    -------
    begin: In(1), in the cycle before cycle 0 of the tiled region.
    before_C: Out(1), for each event: high in the cycle before cycle C of every tile.
    ended: Out(1), high for one cycle, when all is stored.
    and for every transfer, by its number N: ready_N: Out(1), there is a token for its mover.
    claimed_N, finished_N: In(1), of the mover.

    Timing
    ------
    A tile can begin two cycles after `begin`, and `issue_cycles` after the one before.
    """

    def __init__(self, tiled: TiledRegion, events: Sequence[int]) -> None:
        self.tiled = tiled
        self.events = tuple(sorted(set(events)))
        members = {"begin": In(1), "ended": Out(1)}
        members |= {f"before_{cycle}": Out(1) for cycle in self.events}
        for n in range(len(tiled.transfers)):
            members |= {f"ready_{n}": Out(1), f"claimed_{n}": In(1), f"finished_{n}": In(1)}
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tiled = self.tiled
        go = Signal()
        has_tokens: list[Value] = []
        empty: list[Value] = []
        for n, transfer in enumerate(tiled.transfers):
            used = self._later(m, go, tiled.used_cycle(transfer.window), f"used_{n}")
            claimed, finished = getattr(self, f"claimed_{n}"), getattr(self, f"finished_{n}")
            ready = getattr(self, f"ready_{n}")
            copies = transfer.copies
            if transfer.direction == "load":
                free = _tokens(m, f"free_{n}", copies, copies, used, claimed)
                full = _tokens(m, f"full_{n}", copies, 0, finished, go)
                credits = self._stored(m, n, transfer)
                m.d.comb += ready.eq((free != 0) & all_of([credit != 0 for credit in credits]))
                has_tokens.append(full != 0)
            else:
                free = _tokens(m, f"free_{n}", copies, copies, finished, go)
                full = _tokens(m, f"full_{n}", copies, 0, used, claimed)
                m.d.comb += ready.eq(full != 0)
                has_tokens.append(free != 0)
                empty.append(free == copies)
        self._start(m, go, has_tokens, empty)
        for cycle in self.events:
            m.d.comb += getattr(self, f"before_{cycle}").eq(
                self._later(m, go, cycle, f"go_{cycle}")
            )
        return m

    def _start(
        self, m: Module, go: Signal, has_tokens: Sequence[Value], empty: Sequence[Value]
    ) -> None:
        """Say when a tile begins, and when the last one is done."""
        tiled = self.tiled
        left = Signal(range(tiled.tiles + 1))
        running = Signal()
        rest = _timer(m, "rest", go, tiled.issue_cycles - 1)
        busy = _timer(m, "busy", go, tiled.kernel.length_cycles - 1)
        m.d.comb += [
            go.eq((left != 0) & (rest == 0) & all_of(has_tokens)),
            self.ended.eq(running & (left == 0) & (busy == 0) & all_of(empty)),
        ]
        with m.If(self.begin):
            m.d.sync += [left.eq(tiled.tiles), running.eq(1)]
        with m.Else():
            with m.If(go):
                m.d.sync += left.eq(left - 1)
            with m.If(self.ended):
                m.d.sync += running.eq(0)

    def _later(self, m: Module, go: Signal, cycle: int, name: str) -> Value:
        return delayed_pulse(m, go, cycle, self.tiled.issue_cycles, name)

    def _stored(self, m: Module, number: int, transfer: Transfer) -> list[Signal]:
        """Return how many tiles ahead a load may be of each of the stores that it waits for."""
        names = [other.window for other in self.tiled.transfers]
        claimed = getattr(self, f"claimed_{number}")
        return [
            _tokens(
                m,
                f"after_{number}_{window}",
                distance,
                distance,
                getattr(self, f"finished_{names.index(window)}"),
                claimed,
            )
            for window, distance in transfer.after
        ]


def _tokens(m: Module, name: str, most: int, initial: int, given: Value, taken: Value) -> Signal:
    """Return the number of tokens at hand."""
    count = Signal(range(most + 1), name=name, init=initial)
    with m.If(given & ~taken):
        m.d.sync += count.eq(count + 1)
    with m.Elif(taken & ~given):
        m.d.sync += count.eq(count - 1)
    return count


def _timer(m: Module, name: str, start: Value, cycles: int) -> Signal:
    """Return a counter that is 0 from `cycles` + 1 cycles after `start` on."""
    left = Signal(range(cycles + 1), name=name)
    with m.If(start):
        m.d.sync += left.eq(cycles)
    with m.Elif(left != 0):
        m.d.sync += left.eq(left - 1)
    return left
