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
