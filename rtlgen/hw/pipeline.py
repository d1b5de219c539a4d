"""Registers in a row: delay lines that share their taps, stages of an operator, later pulses.

The one place that ties a net to a line of the C program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value

from rtlgen.source import Span


def mark(signal: Signal, span: Span | None) -> Signal:
    """Let `signal` carry the C line of `span` as its `src` attribute, and return it.

    Amaranth has no public way to say where a signal comes from; it writes `src_loc`, a pair of
    file and line, into the netlist, and `rtlgen.output.verilog_text` names the ones of C files
    only.
    """
    if span is not None:
        signal.src_loc = (span.file, span.line)
    return signal


class DelayLines:
    """Delay signals by whole cycles, with one shift chain a signal however often it is used.

    A chain of control bits is reset, so that a reset in mid-run leaves nothing on its way; a chain
    of data is not, since nothing looks at data that no control bit announces.
    """

    def __init__(self, m: Module) -> None:
        self._m = m
        self._chains: dict[int, list[Signal]] = {}

    def at(self, signal: Signal, cycles: int, *, reset: bool = False) -> Signal:
        """Return what `signal` was `cycles` cycles ago."""
        chain = self._chains.setdefault(id(signal), [signal])
        while len(chain) <= cycles:
            held = Signal(signal.shape(), name=f"{signal.name}_d{len(chain)}", reset_less=not reset)
            held.src_loc = signal.src_loc
            self._m.d.sync += held.eq(chain[-1])
            chain.append(held)
        return chain[cycles]


class Stages:
    """Hand out the register stages of an operator of fixed latency, front to back.

    What it makes carries the C line of `span`.
    """

    def __init__(self, m: Module, cycles: int, span: Span | None = None) -> None:
        self._m = m
        self._span = span
        self.cycles_left = cycles

    def name(self, values: Sequence[Value], names: Sequence[str]) -> list[Value]:
        """Return `values` as signals: an expression that is used twice would be built twice."""
        held: list[Value] = []
        for value, name in zip(values, names, strict=True):
            signal = mark(Signal(value.shape(), name=name), self._span)
            self._m.d.comb += signal.eq(value)
            held.append(signal)
        return held

    def cut(self, values: Sequence[Value], names: Sequence[str]) -> list[Value]:
        """Register all of `values` and go on to the next cycle, when there is one."""
        if self.cycles_left == 0:
            return self.name(values, names)
        self.cycles_left -= 1
        held: list[Value] = []
        for value, name in zip(values, names, strict=True):
            register = mark(Signal(value.shape(), name=name, reset_less=True), self._span)
            self._m.d.sync += register.eq(value)
            held.append(register)
        return held

    def pass_by(self, cycles: int) -> None:
        """Leave out cycles through which the caller keeps its values in registers of its own."""
        if not 0 <= cycles <= self.cycles_left:
            raise ValueError(f"{cycles} of {self.cycles_left} cycles are passed by")
        self.cycles_left -= cycles

    def delay_to_end(self, value: Value, name: str) -> Value:
        """Return `value` after all the cycles that are left."""
        while self.cycles_left:
            (value,) = self.cut([value], [f"{name}_{self.cycles_left}_to_go"])
        return value


Step: TypeAlias = Callable[[Sequence[Value], Sequence[Value]], Sequence[Value]]


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Steps that are alike.

    Members
    -------
    steps: how many; an operation begins no sooner after another one if a circuit does them in turn.
    growth: bits by which a step makes each value of its state longer.
    step: makes the next state of one, and of what all steps use.
    """

    steps: int
    growth: Sequence[int]
    step: Step


class Steps:
    """The steps of an operator, over which its cycles are spread evenly.

    An operator ends each of its steps once; what it keeps is there in every later one, behind the
    registers that are wanted for that. Cycles that are more than its steps delay the result.

    Parameters
    ----------
    count: of the steps. cycles: of the operator, any number of them.
    begin: whether operands are there, where they are not in every cycle, so that each step has a
        cycle of its own; see `repeat`.
    """

    def __init__(
        self,
        m: Module,
        count: int,
        cycles: int,
        span: Span | None = None,
        begin: Signal | None = None,
    ) -> None:
        self.m = m
        self._begin = begin
        self._begun = DelayLines(m)
        self.cycle = 0
        self._count = count
        self._cycles = cycles
        self._step = 0
        self._span = span

    def end(self, steps: int = 1) -> None:
        """Go on to the next step, or further."""
        self.cycle += self.cycles_of(steps)
        self._step += steps

    def cycles_of(self, steps: int) -> int:
        """Return how many cycles the next steps take."""
        cycles = min(self._cycles, self._count)
        return (self._step + steps) * cycles // self._count - self._step * cycles // self._count

    def wire(self, value: Value, name: str) -> Signal:
        """Return a value as a signal: an expression that is used twice would be built twice."""
        signal = mark(Signal(value.shape(), name=name), self._span)
        self.m.d.comb += signal.eq(value)
        return signal

    def register(self, signal: Signal) -> Signal:
        """Return what a signal was a cycle ago."""
        held = self._signal(signal.shape(), f"{signal.name}_q")
        self.m.d.sync += held.eq(signal)
        return held

    def keep(self, value: Value, name: str) -> Kept:
        """Return what shows a value in this step and in later ones."""
        return Kept(self, self.wire(value, name))

    def repeat(
        self,
        turns: Sequence[Turn],
        state: Sequence[Value],
        used: Sequence[Kept] = (),
        beside: Sequence[Kept] = (),
    ) -> list[Signal]:
        """End this step, do steps that are alike, and return the state after them.

        Where operands are there in every cycle, each of the steps has a circuit of its own. Else
        one circuit does several in turn: it takes over a state in the cycle in which the one before
        is done with it, and then goes on with what it has itself.

        Parameters
        ----------
        turns: of one circuit after the other. state: before them, in this step.
        used: by each of the steps, beside the state; beside: what is wanted behind these steps.
        """
        if self._begin is None:
            for turn in turns:
                for _ in range(turn.steps):
                    state = turn.step(self._for_next(state), [each.now for each in used])
            return self._for_next(state)
        needed: list[Signal] = [each.now for each in used]
        wanted: list[Signal] = []
        for turn in turns:
            widths = [len(v) + n * turn.steps for v, n in zip(state, turn.growth, strict=True)]
            own = [self._signal(width, "state") for width in widths]
            is_taken = self._begun.at(self._begin, self.cycle, reset=True)
            needed = self._held(is_taken, needed)
            self.end()
            # Before the last step the values are as much shorter.
            shorter = [v[: len(v) - n] for v, n in zip(own, turn.growth, strict=True)]
            made = zip(turn.step(shorter, needed), widths, strict=True)
            after = [self.wire(value[:width], "after") for value, width in made]
            for register, given, value in zip(own, state, after, strict=True):
                self.m.d.sync += register.eq(Mux(is_taken, given, value))
            # Behind the last step, when these are wanted, the next state may be there already.
            is_begun = self._begun.at(self._begin, self.cycle, reset=True)
            wanted = self._held(is_begun, wanted or [each.now for each in beside])
            self.end(turn.steps - 1)
            state = after
        results = self._for_next(state)
        for each, held in zip(beside, wanted, strict=True):
            each.replace(held)
        return results

    def _for_next(self, values: Sequence[Value]) -> list[Signal]:
        """End this step, and return its values in the next one."""
        kept = [self.keep(value, "state") for value in values]
        self.end()
        return [each.now for each in kept]

    def _held(self, when: Value, values: Sequence[Value]) -> list[Signal]:
        """Return registers with what values were when something last held."""
        held = [self._signal(value.shape(), "held") for value in values]
        with self.m.If(when):
            self.m.d.sync += [h.eq(value) for h, value in zip(held, values, strict=True)]
        return held

    def _signal(self, shape: ShapeLike, name: str) -> Signal:
        return mark(Signal(shape, name=name, reset_less=True), self._span)

    def finish(self, value: Value, name: str) -> Value:
        """Return the result of the last step, after all the cycles that are left."""
        kept = self.keep(value, name)
        self.end()
        assert self._step == self._count, f"{self._step} of {self._count} steps are made"
        self.cycle = self._cycles
        return kept.now


class Kept:
    """A value of one step of an operator, for later ones."""

    def __init__(self, steps: Steps, signal: Signal) -> None:
        self._steps = steps
        self._since = steps.cycle
        self._chain = [signal]

    def replace(self, signal: Signal) -> None:
        """Let a signal show the value from this step on."""
        self._since = self._steps.cycle
        self._chain = [signal]

    @property
    def now(self) -> Signal:
        """The value in the step in which the operator is."""
        age = self._steps.cycle - self._since
        while len(self._chain) <= age:
            self._chain.append(self._steps.register(self._chain[-1]))
        return self._chain[age]


SHIFTED_CYCLES = 3
"""Up to this delay a shift register is smaller than a counter."""


def delayed_pulse(m: Module, pulse: Value, cycles: int, apart_cycles: int, name: str) -> Value:
    """Return a pulse `cycles` cycles after each one of `pulse`.

    Parameters
    ----------
    apart_cycles: how far pulses are apart at least. A counter delays by that much at most, so that
        a longer delay takes several.
    """
    while cycles:
        if cycles <= SHIFTED_CYCLES or apart_cycles <= SHIFTED_CYCLES:
            later = Signal(name=f"{name}_{cycles}")
            m.d.sync += later.eq(pulse)
            cycles -= 1
        else:
            part = min(cycles, apart_cycles)
            left = Signal(range(part + 1), name=f"{name}_in_{cycles}")
            later = Signal(name=f"{name}_{cycles}")
            with m.If(pulse):
                m.d.sync += left.eq(part)
            with m.Elif(left != 0):
                m.d.sync += left.eq(left - 1)
            m.d.comb += later.eq(left == 1)
            cycles -= part
        pulse = later
    return pulse
