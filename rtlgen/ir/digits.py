"""Operations that find their results digit by digit, and how many circuits that takes.

Where one may begin in every cycle, each digit has a circuit of its own. Where the next one begins
some cycles later, one circuit computes as many digits in turn, in the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rtlgen.ir.operations import FloatingOp, Operation, UnitOp
from rtlgen.ir.types import FloatType
from rtlgen.target import (
    divider_bits,
    divider_digits,
    divider_shares,
    divider_steps,
    float_quotient_steps,
    float_root_steps,
    float_steps,
)


def digits_alike(op: UnitOp, operations: Sequence[Operation]) -> list[int]:
    """Return how many digits are alike, so that a circuit can do several, in each group of them.

    Parameters
    ----------
    op: see `is_by_digits`. operations: of its stream.
    """
    if not isinstance(op, FloatingOp):
        return [divider_digits(_dividend_bits(op, operations))]
    if op.op == "div":
        return [float_quotient_steps(_precision(op)) - 1]
    # Of a root, a step finds two bits or one.
    return [len(list(group)) for _, group in groupby(float_root_steps(_precision(op)))]


def all_digits(op: UnitOp, operations: Sequence[Operation]) -> int:
    """Return how many digits there are: of a quotient, the first one has a circuit of its own."""
    return sum(digits_alike(op, operations)) + (op.op != "sqrt")


def digit_circuits(op: UnitOp, operations: Sequence[Operation], interval_cycles: int) -> int:
    """Return how many circuits compute the digits of an operation that begins so often."""
    shares = (divider_shares(n, interval_cycles) for n in digits_alike(op, operations))
    return sum(map(len, shares)) + (op.op != "sqrt")


def cycles_of_digits(op: UnitOp, operations: Sequence[Operation]) -> int:
    """Return the latency with which each digit has a cycle of its own, which turns take."""
    if isinstance(op, FloatingOp):
        assert isinstance(op.of, FloatType)
        return float_steps(op.op, _precision(op), subnormals=op.of.subnormals)
    return divider_steps(_dividend_bits(op, operations))


def carry_bits(op: UnitOp, operations: Sequence[Operation], interval_cycles: int) -> int:
    """Return the bits that take carry chains if an operation begins so often.

    What normalises operands of floats, and rounds their results, is as large as some three rows of
    its digits: of a quotient of `float` 600 look-up tables and 180 for each row.
    """
    if not isinstance(op, FloatingOp):
        return divider_bits(_dividend_bits(op, operations), interval_cycles)
    return (digit_circuits(op, operations, interval_cycles) + 3) * _precision(op)


def _dividend_bits(op: UnitOp, operations: Sequence[Operation]) -> int:
    return operations[op.operands[0]].width_bits


def _precision(op: FloatingOp) -> int:
    assert isinstance(op.of, FloatType)
    return op.of.fraction_bits + 1
