"""Operations that take subnormal numbers as zeros, and give none."""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np
import pytest

import rtlgen
from rtlgen.frontend import FloatRewriting, parse_text
from rtlgen.ir.constant_folding import folded_float
from rtlgen.ir.expr import (
    COMPARISONS,
    SIGN_OPS,
    Constant,
    FloatOp,
    FloatOperation,
    Read,
    walk,
)
from rtlgen.ir.float_arithmetic import evaluate, flushed
from rtlgen.ir.types import FLOAT32, FLOAT64, INT32, FloatType
from rtlgen.verify.golden import run_golden

PLAIN = FloatType(3, 2)
FORMAT = PLAIN.without_subnormals
ONE_OPERAND = ("sqrt", "floor", "ceil", "trunc", "round", "rint")
OPERATIONS = [
    op
    for op in get_args(FloatOp)
    if op not in SIGN_OPS and op not in ("from_int", "to_int", "convert", "fma")
]


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_operation_is_one_on_numbers_that_are_made_zeros(op: FloatOp) -> None:
    to, without = (INT32, INT32) if op in COMPARISONS else (PLAIN, FORMAT)
    for row in product(range(1 << PLAIN.width_bits), repeat=1 if op in ONE_OPERAND else 2):
        found = evaluate(op, row, FORMAT, without)
        result = evaluate(op, [flushed(bits, FORMAT) for bits in row], PLAIN, to)
        assert found == (flushed(result, FORMAT) if op not in COMPARISONS else result)


def test_what_rounds_to_the_least_normal_number_is_that() -> None:
    # 15/16 of it, rounded to the subnormal numbers: a tie between 3/4 and 1.
    least, product_ = 1 << FLOAT32.fraction_bits, (0x3F7FFFFF, 0x00800000)
    assert evaluate("mul", product_, FLOAT32, FLOAT32) == least
    assert evaluate("mul", product_, *(FLOAT32.without_subnormals,) * 2) == least
    assert evaluate("mul", (0x3F7FFFFE, least), *(FLOAT32.without_subnormals,) * 2) == 0


def test_every_operation_of_a_program_flushes_but_those_on_signs() -> None:
    text = """
    #include <math.h>
    void f(const float x[8], float y[8]) {
      for (int i = 0; i < 8; i++) y[i] = x[i] < 0 ? -x[i] : fabsf(x[i]) * 2.0f + (float)i;
    }"""
    (statement,) = parse_text(text, floats=FloatRewriting(flush=True)).scop.statements
    operations = [node for node in walk(statement.expr) if isinstance(node, FloatOperation)]
    assert {node.op for node in operations if node.flushes} == {"lt", "mul", "add", "from_int"}
    assert {node.op for node in operations if not node.flushes} == {"neg", "abs"}


def test_an_operation_on_signs_does_not_flush() -> None:
    with pytest.raises(ValueError, match="signs"):
        FloatOperation("neg", (Read(0, FLOAT32),), FLOAT32, flushes=True)


@pytest.mark.parametrize(("factor", "is_narrowed"), [(0.5, True), (2.0**-140, False)])
def test_a_constant_that_would_be_zero_keeps_a_product_wide(
    factor: float, is_narrowed: bool
) -> None:
    bits = int(np.array(factor).view(np.uint64))
    wide = FloatOperation("convert", (Read(0, FLOAT32),), FLOAT64, flushes=True)
    product_ = FloatOperation("mul", (wide, Constant(bits, FLOAT64)), FLOAT64, flushes=True)
    found = folded_float(FloatOperation("convert", (product_,), FLOAT32, flushes=True))
    assert isinstance(found, FloatOperation) and found.flushes
    assert (found.op == "mul") == is_narrowed


def test_subnormal_operands_and_results_are_zeros() -> None:
    text = """
    void f(const float x[4], const float y[4], float z[4]) {
      for (int i = 0; i < 4; i++) z[i] = x[i] * y[i];
    }"""
    scop = parse_text(text, floats=FloatRewriting(flush=True)).scop
    x = np.array([1e-40, -1e-20, 1e-20, -1e-40], np.float32)
    y = np.array([1e30, 1e-20, 1e20, 1.0], np.float32)
    found = run_golden(scop, {"x": x, "y": y}).arrays["z"]
    assert found.tolist() == [0.0, 0.0, float(x[2] * y[2]), 0.0]
    assert np.signbit(found).tolist() == [False, True, False, True]


@pytest.mark.simulation
def test_a_circuit_without_subnormals_is_exact() -> None:
    text = """
    void f(const float x[32], const float y[32], float z[32]) {
      for (int i = 0; i < 32; i++) z[i] = (x[i] * y[i] + x[i]) * 0.5f;
    }"""
    design = rtlgen.compile(source=text, float="ftz")
    verified = design.verify()
    assert verified.exact, verified.failures
    assert verified.cycles == verified.predicted_cycles
    tiny = np.full(32, 1e-30, np.float32)
    out = design.run(x=tiny, y=tiny).arrays["z"]
    assert out.tolist() == [np.float32(0.5) * np.float32(1e-30)] * 32
