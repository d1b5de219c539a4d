"""Float operations in less precision: the same bits, exhaustively in small formats."""

from __future__ import annotations

from itertools import product

import pytest

from rtlgen.ir.constant_folding import folded_float, is_innocuous
from rtlgen.ir.expr import Constant, Expr, FloatOp, FloatOperation, Read
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, FloatType, IntType

NARROW = FloatType(3, 2)
WIDE = FloatType(6, 7)
X, Y = Read(0, FLOAT32), Read(1, FLOAT32)


def wide(x: Expr) -> Expr:
    return FloatOperation("convert", (x,), FLOAT64)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_rounding_twice_is_rounding_once(op: FloatOp) -> None:
    assert is_innocuous(WIDE, NARROW)
    for a, b in product(range(1 << NARROW.width_bits), repeat=2):
        widened = [evaluate("convert", [x], NARROW, WIDE) for x in (a, b)]
        twice = evaluate("convert", [evaluate(op, widened, WIDE, WIDE)], WIDE, NARROW)
        assert twice == evaluate(op, [a, b], NARROW, NARROW)


def test_a_root_rounded_twice_is_rounded_once() -> None:
    for a in range(1 << NARROW.width_bits):
        root = evaluate("sqrt", [evaluate("convert", [a], NARROW, WIDE)], WIDE, WIDE)
        assert evaluate("convert", [root], WIDE, NARROW) == evaluate("sqrt", [a], NARROW, NARROW)


def test_one_digit_less_is_not_enough() -> None:
    too_narrow = FloatType(6, 5)
    assert not is_innocuous(too_narrow, NARROW)
    different = 0
    for a, b in product(range(1 << NARROW.width_bits), repeat=2):
        widened = [evaluate("convert", [x], NARROW, too_narrow) for x in (a, b)]
        for op in ("add", "mul", "div"):
            known = evaluate(op, widened, too_narrow, too_narrow)
            twice = evaluate("convert", [known], too_narrow, NARROW)
            different += twice != evaluate(op, [a, b], NARROW, NARROW)
    assert different


def test_formats_of_c() -> None:
    assert is_innocuous(FLOAT64, FLOAT32)
    assert is_innocuous(FLOAT32, FLOAT16)
    assert is_innocuous(FLOAT64, BFLOAT16)
    # Products of the smallest numbers of the one are none of the other.
    assert not is_innocuous(FLOAT32, BFLOAT16)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_an_operation_on_floats_is_done_in_float(op: FloatOp) -> None:
    inner = FloatOperation(op, (wide(X), wide(Y)), FLOAT64)
    assert folded_float(FloatOperation("convert", (inner,), FLOAT32)) == FloatOperation(
        op, (X, Y), FLOAT32
    )


@pytest.mark.parametrize(
    ("constant", "pattern"),
    [(0x3FE0000000000000, 0x3F000000), (0xC000000000000000, 0xC0000000)],
    ids=["0.5", "-2.0"],
)
def test_a_constant_that_is_a_float_does_not_widen(constant: int, pattern: int) -> None:
    inner = FloatOperation("mul", (wide(X), Constant(constant, FLOAT64)), FLOAT64)
    found = folded_float(FloatOperation("convert", (inner,), FLOAT32))
    assert found == FloatOperation("mul", (X, Constant(pattern, FLOAT32)), FLOAT32)


def test_a_constant_that_is_none_stays_double() -> None:
    inner = FloatOperation("mul", (wide(X), Constant(0x3FB999999999999A, FLOAT64)), FLOAT64)
    outer = FloatOperation("convert", (inner,), FLOAT32)
    assert folded_float(outer) == outer


def test_what_is_rounded_once_more_in_between_stays() -> None:
    product_ = FloatOperation("mul", (wide(X), wide(Y)), FLOAT64)
    total = FloatOperation("add", (product_, wide(X)), FLOAT64)
    outer = FloatOperation("convert", (total,), FLOAT32)
    assert folded_float(outer) == outer


def test_quotients_by_powers_of_two_are_products() -> None:
    for bits in range(1 << NARROW.width_bits):
        x = Read(0, NARROW)
        found = folded_float(FloatOperation("div", (x, Constant(bits, NARROW)), NARROW))
        assert isinstance(found, FloatOperation)
        if found.op == "mul":
            factor = found.operands[1]
            assert isinstance(factor, Constant)
            for a in range(1 << NARROW.width_bits):
                quotient = evaluate("div", [a, bits], NARROW, NARROW)
                assert quotient == evaluate("mul", [a, factor.value], NARROW, NARROW)
    two = Constant(0x40000000, FLOAT32)
    halved = FloatOperation("mul", (X, Constant(0x3F000000, FLOAT32)), FLOAT32)
    assert folded_float(FloatOperation("div", (X, two), FLOAT32)) == halved


def test_a_conversion_that_c_leaves_open_is_not_folded() -> None:
    huge = Constant(0x7F000000, FLOAT32)
    conversion = FloatOperation("to_int", (huge,), INT32)
    assert folded_float(conversion) == conversion
    one = FloatOperation("to_int", (Constant(0x3F800000, FLOAT32),), IntType(8, False))
    assert folded_float(one) == Constant(1, IntType(8, False))
