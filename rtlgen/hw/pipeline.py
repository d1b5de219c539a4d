"""Registers in a row: delay lines that share their taps, and the stages of one operator."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.source_lines import mark
from rtlgen.source import Span


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


class Steps:
    """The steps of an operator, over which its cycles are spread evenly.

    An operator ends each of its steps once; what it keeps is there in every later one, behind the
    registers that are wanted for that. Cycles that are more than its steps delay the result.

    Parameters
    ----------
    count: of the steps. cycles: of the operator, any number of them.
    """

    def __init__(self, m: Module, count: int, cycles: int, span: Span | None = None) -> None:
        self.m = m
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
        held = mark(Signal(signal.shape(), name=f"{signal.name}_q", reset_less=True), self._span)
        self.m.d.sync += held.eq(signal)
        return held

    def keep(self, value: Value, name: str) -> Kept:
        """Return what shows a value in this step and in later ones."""
        return Kept(self, self.wire(value, name))

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

    @property
    def now(self) -> Signal:
        """The value in the step in which the operator is."""
        age = self._steps.cycle - self._since
        while len(self._chain) <= age:
            self._chain.append(self._steps.register(self._chain[-1]))
        return self._chain[age]
