"""When things begin: the region counter and the start / done / idle handshake."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of `length_cycles` cycles, or as long as it takes where that is None.

    Members
    -------
    events: cycles of it that something waits for; `length_cycles` is the one after its last.
        Where there is no length, only cycle 0 can be waited for.
    """

    length_cycles: int | None
    events: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.length_cycles is None:
            if set(self.events) > {0}:
                raise ValueError(f"{self.events} in a phase of no known length")
            return
        if self.length_cycles < 1:
            raise ValueError("a phase lasts at least one cycle")
        if any(not 0 <= event <= self.length_cycles for event in self.events):
            raise ValueError(f"{self.events} leaves a phase of {self.length_cycles} cycles")


def event_name(phase: int, cycle: int) -> str:
    """Return the member of `Sequencer` that announces `cycle` of phase number `phase`."""
    return f"before_{phase}_{cycle}"


class Sequencer(wiring.Component):
    """Run phases one after another, each timed by one counter.

    Members
    -------
    start: In(1), looked at while `idle` is high.
    accepted: Out(1), high in the cycle before cycle 0.
    done: Out(1), high in the last cycle of the last phase.
    idle: Out(1), a register; high while nothing runs.
    ended_P: In(1), high in the cycle before the last one of phase P, where it has no length.
    before_P_C: Out(1), for each event: high in the cycle before cycle C of phase P, so that what it
        sets is seen in that cycle.

    Timing
    ------
    Phases follow each other without a gap. Without any, `done` answers `start` at once.
    """

    def __init__(self, phases: tuple[Phase, ...]) -> None:
        self.phases = phases
        members = {
            event_name(p, cycle): Out(1) for p, phase in enumerate(phases) for cycle in phase.events
        }
        members |= {
            f"ended_{p}": In(1) for p, phase in enumerate(phases) if phase.length_cycles is None
        }
        super().__init__(
            {
                "start": In(1),
                "accepted": Out(1),
                "done": Out(1),
                "idle": Out(1, init=1),
                **members,
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.accepted.eq(self.start & self.idle)
        if not self.phases:
            m.d.comb += [self.done.eq(self.accepted), self.idle.eq(1)]
            return m
        lengths = [phase.length_cycles or 1 for phase in self.phases]
        counter = Signal(range(max(2, *lengths)), name="n")
        entering: Value = self.accepted
        entries = []
        for number, phase in enumerate(self.phases):
            last = self._phase(m, number, phase, entering, counter)
            entries.append(entering)
            entering = last
        m.d.comb += self.done.eq(entering)
        with m.If(self.accepted):
            m.d.sync += self.idle.eq(0)
        with m.Elif(self.done):
            m.d.sync += self.idle.eq(1)
        with m.If(reduce(or_, entries)):
            m.d.sync += counter.eq(0)
        with m.Elif(~self.idle):
            m.d.sync += counter.eq(counter + 1)
        return m

    def _phase(
        self, m: Module, number: int, phase: Phase, entering: Value, counter: Signal
    ) -> Signal:
        """Build one phase and return the register that is high in its last cycle."""
        running: Value = ~self.idle
        last = Signal(name=f"last_{number}")
        if len(self.phases) > 1:
            running = Signal(name=f"running_{number}")
            with m.If(entering):
                m.d.sync += running.eq(1)
            with m.Elif(last):
                m.d.sync += running.eq(0)

        def before(cycle: int) -> Value:
            if cycle == phase.length_cycles:
                return last
            return entering if cycle == 0 else running & (counter == cycle - 1)

        ends: Value
        if phase.length_cycles is None:
            ends = getattr(self, f"ended_{number}")
        else:
            ends = before(phase.length_cycles - 1)
        m.d.sync += last.eq(ends)
        for cycle in phase.events:
            event: Signal = getattr(self, event_name(number, cycle))
            m.d.comb += event.eq(before(cycle))
        return last
