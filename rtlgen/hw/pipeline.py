"""Registers in a row: delay lines that share their taps, and the stages of one operator."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Module, Shape, Signal, Value


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
    """Hand out the register stages of an operator of fixed latency, front to back."""

    def __init__(self, m: Module, cycles: int) -> None:
        self._m = m
        self.cycles_left = cycles

    def register(self, value: Value, shape: Shape, name: str) -> Value:
        """Return `value` at the end of this cycle, or at once when no cycle is left."""
        held = Signal(shape, name=name, reset_less=True)
        domain = self._m.d.sync if self.cycles_left else self._m.d.comb
        domain += held.eq(value)
        return held

    def end_cycle(self) -> None:
        """Go on to the next cycle when there is one."""
        self.cycles_left = max(0, self.cycles_left - 1)

    def cut(self, values: Sequence[Value], names: Sequence[str]) -> list[Value]:
        """Register all of `values` and go on to the next cycle, when there is one."""
        held = [self.register(v, v.shape(), n) for v, n in zip(values, names, strict=True)]
        self.end_cycle()
        return held

    def delay_to_end(self, value: Value) -> Value:
        """Return `value` after all the cycles that are left."""
        while self.cycles_left:
            (value,) = self.cut([value], [f"hold_{self.cycles_left}"])
        return value
