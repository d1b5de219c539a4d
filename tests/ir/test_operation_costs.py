"""How many multiplier blocks operations take."""

from __future__ import annotations

import pytest

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.levels import ALWAYS
from rtlgen.ir.operation_costs import blocks_of
from rtlgen.ir.operations import ConstantOp, FloatingOp, LoadOp, Operation
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FloatType


def load(type_: FloatType) -> LoadOp:
    return LoadOp(
        width_bits=type_.width_bits,
        signed=False,
        stage=0,
        memory="A",
        port=0,
        address=None,
        needed=ALWAYS,
    )


def blocks(op: FloatOp, type_: FloatType, *operands: Operation) -> int:
    operation = FloatingOp(
        width_bits=type_.width_bits,
        signed=False,
        stage=0,
        operands=tuple(range(len(operands))),
        op=op,
        of=type_,
        to=type_,
    )
    return blocks_of(operation, operands)


@pytest.mark.parametrize(
    ("type_", "expected"), [(FLOAT32, 4), (FLOAT64, 9), (FLOAT16, 1), (BFLOAT16, 1)], ids=str
)
def test_a_product_of_floats_takes_the_blocks_of_its_significands(
    type_: FloatType, expected: int
) -> None:
    each = load(type_)
    assert blocks("mul", type_, each, each) == expected
    assert blocks("fma", type_, each, each, each) == expected
    assert blocks("add", type_, each, each) == 0


@pytest.mark.parametrize(("bits", "expected"), [(0x40000000, 0), (0xBF000000, 0), (0x40400000, 4)])
def test_a_product_with_a_power_of_two_takes_none(bits: int, expected: int) -> None:
    factor = ConstantOp(width_bits=32, signed=False, stage=0, value=bits)
    assert blocks("mul", FLOAT32, load(FLOAT32), factor) == expected
    assert blocks("mul", FLOAT32, factor, load(FLOAT32)) == expected
