"""A pipelined divider with C's rounding, two bits of the quotient at a time.

Three subtractions side by side tell whether the divisor fits once, twice or three times: one carry
chain and one multiplexer, where two restoring rows would be two of each in a row.

Reference: Ercegovac and Lang, "Digital Arithmetic", 2004, chapter 5 (radix 4, digits 0 to 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import Stages
from rtlgen.source import Span
from rtlgen.target import divider_steps


class Divider(wiring.Component):
    """dividend / divisor rounded towards zero, and the remainder with the dividend's sign.

    Division by zero gives the quotient -1 (all ones) and the dividend as remainder.

    Members
    -------
    dividend, divisor: In. quotient, remainder: Out, one bit wider than the dividend, so that
        the smallest value divided by -1 is exact.

    Timing
    ------
    Latency `latency_cycles`, one division a cycle. With `divider_steps` cycles each one holds a
    single carry chain; with fewer, several share a cycle.
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
        steps = divider_steps(len(self.dividend))
        remainder_bits = max(len(self.dividend), len(self.divisor))
        divisor = _magnitude(self.divisor)
        sign_bits: list[Value] = [
            _is_negative(self.dividend),
            # A quotient of all ones by a zero divisor stays as it is.
            (_is_negative(self.dividend) ^ _is_negative(self.divisor)) & self.divisor.any(),
            ~self.divisor.any(),
        ]
        dividend = _magnitude(self.dividend)
        if len(dividend) % 2:
            dividend = Cat(dividend, Const(0, 1))
        state: list[Value] = [dividend, Const(0, 1), divisor, *sign_bits]
        names = ["dividend", "remainder", "divisor", "negative", "quotient_negative", "by_zero"]
        for step in range(steps):
            if 0 < step < steps - 1:
                thrice = _tiny_thrice if step == 1 else _thrice
                state[:2] = _digit(state, thrice, remainder_bits)
            if step == 1:
                # Three times the divisor is not there before, nor is it needed.
                state.append(state[2] + (state[2] << 1))
                names.append("triple")
            if step == steps - 1:
                quotient = state[0][: len(self.dividend)]
                state = [
                    Mux(state[4], -quotient, Cat(quotient, state[5]).as_signed()),
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


def _digit(
    state: Sequence[Value],
    thrice: Callable[[Value, Sequence[Value]], tuple[Value, Value]],
    remainder_bits: int,
) -> tuple[Value, Value]:
    """Return (dividend, remainder) after two bits; quotient bits enter the dividend from below.

    Parameters
    ----------
    thrice: gives whether the divisor fits three times, and what it leaves then.
    """
    dividend, remainder, divisor = state[:3]
    partial = Cat(dividend[-2:], remainder)
    once, twice = partial - divisor, partial - (divisor << 1)
    fits_once, fits_twice = ~once[-1], ~twice[-1]
    fits_thrice, left = thrice(partial, state)
    shifted = Cat(Mux(fits_twice, fits_thrice, fits_once), fits_twice, dividend[:-2])
    many, few = Mux(fits_thrice, left, twice), Mux(fits_once, once, partial)
    return shifted, Mux(fits_twice, many, few)[:remainder_bits]


def _thrice(partial: Value, state: Sequence[Value]) -> tuple[Value, Value]:
    left = partial - state[6]
    return ~left[-1], left


def _tiny_thrice(partial: Value, state: Sequence[Value]) -> tuple[Value, Value]:
    """Do the same for the first digit, whose `partial` is 3 at most: no divisor but 0 or 1 fits."""
    divisor = state[2]
    is_one, is_large = divisor[0], divisor[1:].any()
    return ~is_large & (~is_one | (partial == 3)), Mux(is_one, 0, partial)


def _ends_cycle(step: int, steps: int, cycles: int) -> bool:
    """Tell whether a register stands behind `step`, so that `cycles` of them are spread evenly."""
    return (step + 1) * cycles // steps > step * cycles // steps


def _is_negative(value: Value) -> Value:
    return value[-1] if value.shape().signed else Const(0, 1)


def _magnitude(value: Value) -> Value:
    """Return the magnitude, as unsigned bits of the same width."""
    bits = value.as_unsigned()
    return Mux(value[-1], -bits, bits)[: len(value)] if value.shape().signed else bits
