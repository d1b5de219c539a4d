"""Comparisons of floats, and the smaller and the greater of two."""

from __future__ import annotations

from amaranth.hdl import Mux, Value

from rtlgen.hw.float.parts import Fields, fields, flushed
from rtlgen.hw.pipeline import Steps
from rtlgen.ir.types import FloatType


def compare(steps: Steps, op: str, left: Value, right: Value, type_: FloatType) -> Value:
    """Return whether `lt`, `le` or `eq` holds of two numbers; none does of what is no number."""
    left, right = (flushed(steps, x, type_, n) for x, n in ((left, "left"), (right, "right")))
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    return steps.finish(~(a.is_nan | b.is_nan) & _holds(steps, op, left, right, a, b), "holds")


def _holds(steps: Steps, op: str, left: Value, right: Value, a: Fields, b: Fields) -> Value:
    """Return whether a comparison holds of two patterns that are numbers."""
    equal = steps.wire((left == right) | (a.is_zero & b.is_zero), "equal")
    if op == "eq":
        return equal
    # Patterns are ordered as magnitudes are: for two negative numbers in the other direction.
    below = steps.wire((left[:-1] - right[:-1])[-1], "below")
    less = Mux(a.sign ^ b.sign, a.sign, below ^ a.sign)
    return less & ~equal if op == "lt" else less | equal


def extreme(steps: Steps, op: str, left: Value, right: Value, type_: FloatType) -> Value:
    """Return the smaller number (`min`) or the greater (`max`).

    Of two equal ones, and of two that are none, it is the second.
    """
    left, right = (flushed(steps, x, type_, n) for x, n in ((left, "left"), (right, "right")))
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    if op == "min":
        less = _holds(steps, "lt", left, right, a, b)
    else:
        less = _holds(steps, "lt", right, left, b, a)
    is_first = ~a.is_nan & (b.is_nan | less)
    return steps.finish(Mux(is_first, left, right), "extreme")
