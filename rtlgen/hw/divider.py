"""A pipelined restoring divider with C's rounding."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import Stages
from rtlgen.source import Span


class Divider(wiring.Component):
    """dividend / divisor rounded towards zero, and the remainder with the dividend's sign.

    Division by zero gives the quotient -1 (all ones) and the dividend as remainder.

    Members
    -------
    dividend, divisor: In. quotient, remainder: Out, one bit wider than the dividend, so that
        the smallest value divided by -1 is exact.

    Timing
    ------
    Latency `latency_cycles`, one division a cycle. With `width + 2` cycles each one holds a
    single subtraction; with fewer, several share a cycle.
    """

    def __init__(
        self, dividend: Shape, divisor: Shape, latency_cycles: int, span: Span | None = None
    ) -> None:
        self.latency_cycles = latency_cycles
        self.span = span
        result = signed(dividend.width + 1)
        super().__init__(
            {
                "dividend": In(dividend),
                "divisor": In(divisor),
                "quotient": Out(result),
                "remainder": Out(result),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stages = Stages(m, self.latency_cycles, self.span)
        rows = len(self.dividend)
        steps = rows + 2
        remainder_bits = max(len(self.dividend), len(self.divisor))
        divisor = _magnitude(self.divisor)
        sign_bits: list[Value] = [
            _is_negative(self.dividend),
            # A quotient of all ones by a zero divisor stays as it is.
            (_is_negative(self.dividend) ^ _is_negative(self.divisor)) & self.divisor.any(),
            ~self.divisor.any(),
        ]
        state: list[Value] = [_magnitude(self.dividend), Const(0, 1), divisor, *sign_bits]
        names = ["dividend", "remainder", "divisor", "negative", "quotient_negative", "by_zero"]
        for step in range(steps):
            if 0 < step <= rows:
                state[:2] = _row(state[0], state[1], state[2], remainder_bits)
            if step == steps - 1:
                state = [
                    Mux(state[4], -state[0], Cat(state[0], state[5]).as_signed()),
                    Mux(state[3], -state[1], Cat(state[1], Const(0, 1)).as_signed()),
                ]
                names = ["quotient", "remainder"]
            labels = [f"{name}_{step}" for name in names]
            if _ends_cycle(step, steps, self.latency_cycles):
                state = stages.cut(state, labels)
            else:
                state = stages.name(state, labels)
        while stages.cycles_left:
            state = stages.cut(state, [f"{name}_hold" for name in names])
        m.d.comb += [self.quotient.eq(state[0]), self.remainder.eq(state[1])]
        return m


def _row(
    dividend: Value, remainder: Value, divisor: Value, remainder_bits: int
) -> tuple[Value, Value]:
    """Return (dividend, remainder) after one bit; quotient bits enter the dividend from below."""
    partial = Cat(dividend[-1], remainder)
    difference = partial - divisor
    fits = ~difference[-1]
    shifted = Cat(fits, dividend[:-1])
    return shifted, Mux(fits, difference, partial)[:remainder_bits]


def _ends_cycle(step: int, steps: int, cycles: int) -> bool:
    """Tell whether a register stands behind `step`, so that `cycles` of them are spread evenly."""
    return (step + 1) * cycles // steps > step * cycles // steps


def _is_negative(value: Value) -> Value:
    return value[-1] if value.shape().signed else Const(0, 1)


def _magnitude(value: Value) -> Value:
    """Return the magnitude, as unsigned bits of the same width."""
    bits = value.as_unsigned()
    return Mux(value[-1], -bits, bits)[: len(value)] if value.shape().signed else bits
