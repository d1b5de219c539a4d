"""An operation on floats takes just the cycles that it is given."""

from __future__ import annotations

import random

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Const, signed, unsigned

from rtlgen.hw.float.build import FloatUnit
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.plan import FloatingOp
from rtlgen.ir.types import FLOAT16, INT32, FloatType, IntType, NumberType, power_of_two
from rtlgen.target import float_steps
from tests.hw.test_arithmetic import stream_through

OPERATIONS: list[tuple[FloatOp, int, NumberType, NumberType]] = [
    ("add", 2, FLOAT16, FLOAT16),
    ("mul", 2, FLOAT16, FLOAT16),
    ("fma", 3, FLOAT16, FLOAT16),
    ("div", 2, FLOAT16, FLOAT16),
    ("sqrt", 1, FLOAT16, FLOAT16),
    ("le", 2, FLOAT16, INT32),
    ("max", 2, FLOAT16, FLOAT16),
    ("rint", 1, FLOAT16, FLOAT16),
    ("from_int", 1, INT32, FLOAT16),
    ("to_int", 1, FLOAT16, INT32),
    ("convert", 1, FLOAT16, FloatType(4, 3)),
]


def operation(op: FloatOp, of: NumberType, to: NumberType, cycles: int) -> FloatingOp:
    return FloatingOp(
        width_bits=to.width_bits,
        signed=to.signed,
        stage=0,
        latency_cycles=cycles,
        op=op,
        of=of,
        to=to,
    )


def results(
    op: FloatOp, of: NumberType, to: NumberType, samples: list[tuple[int, ...]], cycles: int
) -> list[int]:
    shape = signed(of.width_bits) if of.signed else unsigned(of.width_bits)
    unit = FloatUnit(operation(op, of, to, cycles), [shape] * len(samples[0]))
    ports = [getattr(unit, f"operand{n}") for n in range(len(samples[0]))]
    return [r for (r,) in stream_through(unit, ports, [unit.result], samples, cycles)]


@pytest.mark.parametrize(("op", "count", "of", "to"), OPERATIONS)
def test_an_operation_has_just_the_latency_that_it_is_given(
    op: FloatOp, count: int, of: NumberType, to: NumberType
) -> None:
    rng = random.Random(count)
    samples = [
        tuple(rng.randrange(of.minimum, of.maximum + 1) for _ in range(count)) for _ in range(40)
    ]
    expected = [evaluate(op, sample, of, to) & ((1 << to.width_bits) - 1) for sample in samples]
    steps = float_steps(op, 11, subnormals=True)
    for cycles in (0, 1, steps - 1, steps, steps + 2):
        assert results(op, of, to, samples, cycles) == expected, cycles


def test_an_operand_may_be_constant_or_lack_upper_bits_that_are_zero() -> None:
    three = Const(0x4200, 15)
    op = operation("sub", FLOAT16, FLOAT16, 5)
    unit = FloatUnit(op, [three, unsigned(12)])
    samples = [(0x0FFF,), (0,), (0x0400,)]
    seen = stream_through(unit, [unit.operand1], [unit.result], samples, 5)
    wanted = [evaluate("sub", (0x4200, *sample), FLOAT16, FLOAT16) for sample in samples]
    assert [r for (r,) in seen] == wanted


@pytest.mark.sample("float2_3")
@pytest.mark.parametrize("type_", [FloatType(2, 3), FloatType(3, 2), FloatType(4, 3)], ids=str)
def test_a_product_with_a_power_of_two_needs_no_multiplier(type_: FloatType) -> None:
    samples = [(n,) for n in range(1 << type_.width_bits)]
    least = 1 << type_.fraction_bits
    powers = [n for n in range(0, 1 << type_.width_bits, least) if power_of_two(n, type_)]
    for power in powers:
        factor = Const(power, type_.width_bits)
        op = operation("mul", type_, type_, 4)
        unit = FloatUnit(op, [unsigned(type_.width_bits), factor])
        assert "multiplier" not in rtlil.convert(unit)
        unit = FloatUnit(op, [factor, unsigned(type_.width_bits)])
        seen = stream_through(unit, [unit.operand1], [unit.result], samples, 4)
        wanted = [evaluate("mul", (*sample, power), type_, type_) for sample in samples]
        assert [r for (r,) in seen] == wanted, power


def test_an_integer_may_have_fewer_bits_than_its_type() -> None:
    op = operation("from_int", IntType(64, True), FLOAT16, 3)
    unit = FloatUnit(op, [signed(5)])
    samples = [(n,) for n in range(-16, 16)]
    seen = stream_through(unit, [unit.operand0], [unit.result], samples, 3)
    wanted = [evaluate("from_int", sample, INT32, FLOAT16) for sample in samples]
    assert [r for (r,) in seen] == wanted
