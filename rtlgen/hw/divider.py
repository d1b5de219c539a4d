"""A divider with C's rounding, two bits of the quotient at a time.

Three subtractions side by side tell whether the divisor fits once, twice or three times: one carry
chain and one multiplexer, where two restoring rows would be two of each in a row.

Where a division may begin in every cycle, each digit of the quotient has a circuit of its own.
Where the next one begins some cycles later, one circuit computes as many digits before it hands the
remainder on: in the same time, with a fraction of the area.

Reference: Ercegovac and Lang, "Digital Arithmetic", 2004, chapter 5 (radix 4, digits 0 to 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import DelayLines, Stages
from rtlgen.hw.source_lines import mark
from rtlgen.source import Span
from rtlgen.target import divider_digits, divider_steps

_STATE = ("dividend", "remainder", "divisor", "negative", "quotient_negative", "by_zero", "triple")


class Divider(wiring.Component):
    """dividend / divisor rounded towards zero, and the remainder with the dividend's sign.

    Division by zero gives the quotient -1 (all ones) and the dividend as remainder.

    Members
    -------
    dividend, divisor: In. quotient, remainder: Out, one bit wider than the dividend, so that
        the smallest value divided by -1 is exact.
    begin: In(1), beside operands whose quotient is wanted, `interval_cycles` apart at least; where
        that is more than one.

    Timing
    ------
    Latency `latency_cycles`. With `divider_steps` cycles each one holds a single carry chain; with
    fewer, several share a cycle, and the interval is 1.
    """

    def __init__(
        self,
        dividend: Shape,
        divisor: Shape,
        latency_cycles: int,
        span: Span | None = None,
        interval_cycles: int = 1,
    ) -> None:
        self.latency_cycles = latency_cycles
        self.interval_cycles = interval_cycles
        self.span = span
        result = signed(dividend.width + 1)
        members = {
            "dividend": In(dividend),
            "divisor": In(divisor),
            "quotient": Out(result),
            "remainder": Out(result),
        }
        if interval_cycles > 1:
            if latency_cycles < divider_steps(dividend.width):
                raise ValueError(f"{interval_cycles} digits in turn take a cycle each")
            members["begin"] = In(1)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stages = Stages(m, self.latency_cycles, self.span)
        steps = divider_steps(len(self.dividend))

        def end(step: int, values: Sequence[Value], names: Sequence[str]) -> list[Value]:
            labels = [f"{name}_{step}" for name in names]
            if _ends_cycle(step, steps, self.latency_cycles):
                return stages.cut(values, labels)
            return stages.name(values, labels)

        state = end(0, self._magnitudes(), _STATE[:-1])
        # Three times the divisor is not there before, nor is it needed.
        triple = state[2] + (state[2] << 1)
        state = [*self._digit(state, _tiny_thrice), *state[2:], triple]
        if self.interval_cycles > 1:
            state = self._digits_in_turn(m, stages, state)
        else:
            state = end(1, state, _STATE)
            for step in range(2, steps - 1):
                state = end(step, [*self._digit(state, _thrice), *state[2:]], _STATE)
        names = ["quotient", "remainder"]
        results = end(steps - 1, self._signed(state), names)
        while stages.cycles_left:
            results = stages.cut(results, [f"{name}_hold" for name in names])
        m.d.comb += [self.quotient.eq(results[0]), self.remainder.eq(results[1])]
        return m

    def _magnitudes(self) -> list[Value]:
        """Return what a division begins with, `triple` left out."""
        dividend = _magnitude(self.dividend)
        if len(dividend) % 2:
            dividend = Cat(dividend, Const(0, 1))
        return [
            dividend,
            Const(0, 1),
            _magnitude(self.divisor),
            _is_negative(self.dividend),
            # A quotient of all ones by a zero divisor stays as it is.
            (_is_negative(self.dividend) ^ _is_negative(self.divisor)) & self.divisor.any(),
            ~self.divisor.any(),
        ]

    def _signed(self, state: Sequence[Value]) -> list[Value]:
        """Return the quotient and the remainder with their signs."""
        quotient, remainder = state[0][: len(self.dividend)], state[1]
        return [
            Mux(state[4], -quotient, Cat(quotient, state[5]).as_signed()),
            Mux(state[3], -remainder, Cat(remainder, Const(0, 1)).as_signed()),
        ]

    def _digit(
        self,
        state: Sequence[Value],
        thrice: Callable[[Value, Sequence[Value]], tuple[Value, Value]],
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
        return shifted, Mux(fits_twice, many, few)[: self._remainder_bits]

    @property
    def _remainder_bits(self) -> int:
        return max(len(self.dividend), len(self.divisor))

    def _digits_in_turn(self, m: Module, stages: Stages, state: Sequence[Value]) -> list[Value]:
        """Return the state after all digits, several of which are computed by one circuit.

        A circuit takes over a division from the one before when that is done with its digits, and
        then goes on with what it has itself.

        Parameters
        ----------
        state: after the first digit, one cycle behind the operands.
        """
        begun = DelayLines(m)
        dividend, remainder, divisor, *signs, triple = state
        names = [f"{name}_1" for name in ("dividend", "remainder", *_STATE[3:6])]
        dividend, remainder, *signs = stages.cut([dividend, remainder, *signs], names)
        held, cycle = [divisor, triple], 2
        for digits in _shares(divider_digits(len(self.dividend)), self.interval_cycles):
            # The divisor is there a cycle sooner than what it is subtracted from: so the first
            # digit needs no choice between this circuit's and the one before.
            sooner = begun.at(self.begin, cycle - 1, reset=True)
            held = self._held(m, sooner, held, ["divisor", "triple"], cycle)
            taken = begun.at(self.begin, cycle, reset=True)
            own = [
                mark(Signal(size, name=f"{name}_{cycle + 1}", reset_less=True), self.span)
                for name, size in (("dividend", len(dividend)), ("remainder", self._remainder_bits))
            ]
            chosen = [Mux(taken, dividend, own[0]), Mux(taken, remainder, own[1])]
            chosen = stages.name(chosen, [f"dividend_{cycle}_taken", f"remainder_{cycle}_taken"])
            after = self._digit([*chosen, held[0], *signs, held[1]], _thrice)
            m.d.sync += [register.eq(value) for register, value in zip(own, after, strict=True)]
            # Signs are wanted behind the last digit, when the next division may have its divisor.
            signs = self._held(m, taken, signs, _STATE[3:6], cycle)
            dividend, remainder = own
            cycle += digits
            stages.pass_by(digits)
        return [dividend, remainder, held[0], *signs, held[1]]

    def _held(
        self,
        m: Module,
        taken: Value,
        values: Sequence[Value],
        names: Sequence[str],
        cycle: int,
    ) -> list[Value]:
        """Return registers with what the values were in the cycle in which they were taken."""
        held: list[Value] = []
        with m.If(taken):
            for value, name in zip(values, names, strict=True):
                shape = value.shape()
                register = mark(
                    Signal(shape, name=f"{name}_{cycle}_held", reset_less=True), self.span
                )
                m.d.sync += register.eq(value)
                held.append(register)
        return held


def _shares(count: int, most: int) -> list[int]:
    """Return `count` as a sum of as few numbers as can be, none above `most`, nearly equal."""
    parts = -(-count // most)
    return [count * (n + 1) // parts - count * n // parts for n in range(parts)]


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
