"""Floating-point arithmetic against Berkeley SoftFloat; `tests/hw/float` has the circuits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import FLOAT32, INT32, FloatType
from tests.hw.float.operands import drawn
from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.softfloat import FORMATS, SoftFloat

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc")

OPERATIONS: tuple[FloatOp, ...] = ("add", "sub", "mul", "div", "sqrt", "fma", "lt", "le", "eq")

COUNTS = [pytest.param(4_000, id="few"), pytest.param(400_000, id="many", marks=pytest.mark.long)]


def require_same(op: FloatOp, of: FloatType, to: FloatType, count: int, folder: Path) -> None:
    type_ = INT32 if op in ("lt", "le", "eq") else to
    samples = drawn(of, count, np.random.default_rng(count))
    judged = SoftFloat(folder).results(op, of, type_, samples)
    assert judged is not None
    operands = {"sqrt": 1, "convert": 1, "fma": 3}.get(op, 2)
    for row, wanted in zip(samples[:, :operands].tolist(), judged[0].tolist(), strict=True):
        found = evaluate(op, row, of, type_)
        assert found == wanted, f"{op} {of} of {[*map(hex, row)]}: {found:#x}, {wanted:#x}"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("type_", FORMATS, ids=str)
def test_operations_are_those_of_softfloat(
    type_: FloatType, op: FloatOp, count: int, tmp_path: Path
) -> None:
    require_same(op, type_, type_, count, tmp_path)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("of", "to"), [(a, b) for a in FORMATS for b in FORMATS if a != b], ids=str
)
def test_conversions_are_those_of_softfloat(
    of: FloatType, to: FloatType, count: int, tmp_path: Path
) -> None:
    require_same("convert", of, to, count, tmp_path)


def test_softfloat_rounds_as_it_is_told(tmp_path: Path) -> None:
    # 1 and half of its last place is a tie, and goes down; a bit more goes up.
    samples = np.array([[0x3F800000, 0x33800000, 0], [0x3F800000, 0x33800001, 0]], np.uint64)
    judged = SoftFloat(tmp_path).results("add", FLOAT32, FLOAT32, samples)
    assert judged is not None
    assert judged[0].tolist() == [0x3F800000, 0x3F800001]
