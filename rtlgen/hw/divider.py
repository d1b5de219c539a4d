"""A divider with C's rounding, two bits of the quotient at a time.

Three subtractions side by side tell whether the divisor fits once, twice or three times: one carry
chain and one multiplexer, where two restoring rows would be two of each in a row. What is left
after some digits has no more bits than these took of the dividend: so wide are the subtractions,
and whether the divisor has a bit above them is found out a digit before.

Where a division may begin in every cycle, each digit of the quotient has a circuit of its own.
Where the next one begins some cycles later, one circuit computes as many digits before it hands the
remainder on: in the same time, with a fraction of the area.

Reference: Ercegovac and Lang, "Digital Arithmetic", 2004, chapter 5 (radix 4, digits 0 to 3).
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import DelayLines, Stages, mark
from rtlgen.source import Span
from rtlgen.target import divider_digits, divider_shares, divider_steps

_SIGNS = ("negative", "quotient_negative", "by_zero")
_STATE = ("dividend", "remainder", "divisor", "above", "triple", *_SIGNS)


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

        dividend, divisor, *signs = end(0, self._magnitudes(), ("dividend", "divisor", *_SIGNS))
        # Three times the divisor is not there before, nor is it needed.
        triple = divisor + (divisor << 1)
        first = [*_first_digit(dividend, divisor), divisor, _above(divisor, 1), triple, *signs]
        if self.interval_cycles > 1:
            state = self._digits_in_turn(m, stages, first)
        else:
            state = end(1, first, _STATE)
            for step in range(2, steps - 1):
                dividend, remainder, divisor, above, triple, *signs = state
                after = _digit(step - 1, dividend, remainder, divisor, above, triple)
                state = end(step, [*after, divisor, _above(divisor, step), triple, *signs], _STATE)
        dividend, remainder, _, _, _, *signs = state
        names = ["quotient", "remainder"]
        results = end(steps - 1, self._signed(dividend, remainder, *signs), names)
        while stages.cycles_left:
            results = stages.cut(results, [f"{name}_hold" for name in names])
        m.d.comb += [self.quotient.eq(results[0]), self.remainder.eq(results[1])]
        return m

    def _magnitudes(self) -> list[Value]:
        """Return what a division begins with: its operands without signs, and what these say."""
        dividend = _magnitude(self.dividend)
        if len(dividend) % 2:
            dividend = Cat(dividend, Const(0, 1))
        return [
            dividend,
            _magnitude(self.divisor),
            _is_negative(self.dividend),
            # A quotient of all ones by a zero divisor stays as it is.
            (_is_negative(self.dividend) ^ _is_negative(self.divisor)) & self.divisor.any(),
            ~self.divisor.any(),
        ]

    def _signed(
        self,
        dividend: Value,
        remainder: Value,
        negative: Value,
        quotient_negative: Value,
        by_zero: Value,
    ) -> list[Value]:
        """Return the quotient, which took the dividend's place, and the remainder with signs."""
        quotient = dividend[: len(self.dividend)]
        return [
            Mux(quotient_negative, -quotient, Cat(quotient, by_zero).as_signed()),
            Mux(negative, -remainder, Cat(remainder, Const(0, 1)).as_signed()),
        ]

    def _digits_in_turn(self, m: Module, stages: Stages, state: Sequence[Value]) -> list[Value]:
        """Return the state after all digits, several of which are computed by one circuit.

        A circuit takes over a division from the one before when that is done with its digits, and
        then goes on with what it has itself.

        Parameters
        ----------
        state: after the first digit, one cycle behind the operands.
        """
        begun = DelayLines(m)
        dividend, remainder, divisor, above, triple, *signs = state
        names = [f"{name}_1" for name in ("dividend", "remainder", *_SIGNS)]
        dividend, remainder, *signs = stages.cut([dividend, remainder, *signs], names)
        cycle = 2
        for digits in divider_shares(divider_digits(len(self.dividend)), self.interval_cycles):
            # As wide as the last of its digits needs it.
            last = cycle - 2 + digits
            # The divisor is there a cycle sooner than what it is subtracted from: so the first
            # digit needs no choice between this circuit's and the one before.
            sooner = begun.at(self.begin, cycle - 1, reset=True)
            given = [divisor, _above(divisor, last), triple]
            divisor, above, triple = self._held(m, sooner, given, _STATE[2:5], cycle)
            taken = begun.at(self.begin, cycle, reset=True)
            own = [
                mark(Signal(size, name=f"{name}_{cycle + 1}", reset_less=True), self.span)
                for name, size in (("dividend", len(dividend)), ("remainder", 2 * last + 2))
            ]
            chosen = [Mux(taken, dividend, own[0]), Mux(taken, remainder, own[1])]
            labels = [f"dividend_{cycle}_taken", f"remainder_{cycle}_taken"]
            dividend, remainder = stages.name(chosen, labels)
            after = _digit(last, dividend, remainder, divisor, above, triple)
            m.d.sync += [register.eq(value) for register, value in zip(own, after, strict=True)]
            # Signs are wanted behind the last digit, when the next division may have its divisor.
            signs = self._held(m, taken, signs, _SIGNS, cycle)
            dividend, remainder = own
            cycle += digits
            stages.pass_by(digits)
        return [dividend, remainder, divisor, above, triple, *signs]

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


def _first_digit(dividend: Value, divisor: Value) -> tuple[Value, Value]:
    """Return (dividend, remainder) after the first digit, whose parts are 3 at most.

    Zero fits three times, as often as it is asked for.
    """
    partial, low = dividend[-2:], divisor[:2]
    is_small = ~_above(divisor, 0)
    fits_once = is_small & (low <= partial)
    fits_twice = is_small & (~low[1] & (~low[0] | partial[1]))
    fits_thrice = is_small & (~low[1] & (~low[0] | partial.all()))
    # One and three go into it, two leaves what is odd, and zero takes nothing away.
    left = Mux(low[0], 0, Mux(low[1], partial[0], partial))
    return _shifted(dividend, fits_once, fits_twice, fits_thrice), Mux(fits_once, left, partial)[:2]


def _digit(
    digit: int, dividend: Value, remainder: Value, divisor: Value, above: Value, triple: Value
) -> tuple[Value, Value]:
    """Return (dividend, remainder) after two bits; quotient bits enter the dividend from below.

    Parameters
    ----------
    digit: how many are before it. above: see `_above`. triple: three times the divisor.
    """
    width = 2 * digit + 2
    partial = Cat(dividend[-2:], remainder[: width - 2])
    once = partial - divisor[:width]
    twice = partial - Cat(Const(0, 1), divisor)[:width]
    thrice = partial - triple[:width]
    too_large = above | divisor[width - 1 : width].any()
    fits_once = ~(once[-1] | above)
    fits_twice = ~(twice[-1] | too_large)
    # Where it fits twice, no more than one bit of its triple can be above.
    fits_thrice = ~(thrice[-1] | triple[width : width + 1].any())
    many, few = Mux(fits_thrice, thrice, twice), Mux(fits_once, once, partial)
    shifted = _shifted(dividend, fits_once, fits_twice, fits_thrice)
    return shifted, Mux(fits_twice, many, few)[:width]


def _shifted(dividend: Value, once: Value, twice: Value, thrice: Value) -> Value:
    """Return the dividend without its upper two bits, and with those of the quotient below."""
    return Cat(Mux(twice, thrice, once), twice, dividend[:-2])


def _above(divisor: Value, digit: int) -> Value:
    """Return whether a divisor has a bit above the part of the dividend that a digit looks at."""
    return divisor[2 * digit + 2 :].any()


def _ends_cycle(step: int, steps: int, cycles: int) -> bool:
    """Tell whether a register stands behind `step`, so that `cycles` of them are spread evenly."""
    return (step + 1) * cycles // steps > step * cycles // steps


def _is_negative(value: Value) -> Value:
    return value[-1] if value.shape().signed else Const(0, 1)


def _magnitude(value: Value) -> Value:
    """Return the magnitude, as unsigned bits of the same width."""
    bits = value.as_unsigned()
    return Mux(value[-1], -bits, bits)[: len(value)] if value.shape().signed else bits
