"""Floating-point arithmetic against Berkeley SoftFloat, by softfloatpy."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import softfloatpy as soft

from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, FloatType

FORMATS: dict[FloatType, Any] = {
    FLOAT16: soft.Float16,
    FLOAT32: soft.Float32,
    FLOAT64: soft.Float64,
}
NAMES = {FLOAT16: "f16", FLOAT32: "f32", FLOAT64: "f64"}
ARITHMETIC: dict[FloatOp, tuple[str, int]] = {
    "add": ("add", 2),
    "sub": ("sub", 2),
    "mul": ("mul", 2),
    "div": ("div", 2),
    "sqrt": ("sqrt", 1),
    "fma": ("mul_add", 3),
}


def drawn(rng: random.Random, type_: FloatType) -> int:
    """Return a pattern: any, near a power of two, subnormal, or with an end of the exponents."""
    fraction, exponents = type_.fraction_bits, (1 << type_.exponent_bits) - 1
    sign = rng.getrandbits(1) << type_.width_bits - 1
    kind = rng.random()
    if kind < 0.5:
        return sign | rng.getrandbits(type_.width_bits - 1)
    exponent = (
        exponents // 2 + rng.randrange(-3, 4)
        if kind < 0.75
        else rng.choice((0, 0, 1, exponents - 1, exponents))
    )
    low = rng.choice((0, 1, (1 << fraction) - 1, rng.getrandbits(fraction)))
    return sign | exponent << fraction | low


def soft_number(type_: FloatType, pattern: int) -> Any:
    return FORMATS[type_].from_bytes(pattern.to_bytes(type_.width_bits // 8, "big"))


def pattern_of(number: Any) -> int:
    return int.from_bytes(number.to_bytes(), "big")


def is_nan(type_: FloatType, pattern: int) -> bool:
    magnitude = pattern & (1 << type_.width_bits - 1) - 1
    return magnitude > ((1 << type_.exponent_bits) - 1) << type_.fraction_bits


def require_same(
    op: FloatOp,
    of: FloatType,
    to: FloatType,
    operands: int,
    judge: Callable[..., object],
    count: int,
) -> None:
    rng = random.Random(f"{op} {of} {to}")
    for _ in range(count):
        given = tuple(drawn(rng, of) for _ in range(operands))
        found = evaluate(op, given, of, to) & (1 << to.width_bits) - 1
        wanted = pattern_of(judge(*(soft_number(of, word) for word in given)))
        same = found == wanted or (is_nan(to, found) and is_nan(to, wanted))
        assert same, f"{op} {of} of {[hex(word) for word in given]}: {found:#x}, {wanted:#x}"


COUNTS = [pytest.param(4_000, id="few"), pytest.param(400_000, id="many", marks=pytest.mark.long)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("op", list(ARITHMETIC))
@pytest.mark.parametrize("type_", FORMATS, ids=str)
def test_operations_are_those_of_softfloat(type_: FloatType, op: FloatOp, count: int) -> None:
    name, operands = ARITHMETIC[op]
    judge = getattr(soft, f"{NAMES[type_]}_{name}")
    require_same(op, type_, type_, operands, judge, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("of", "to"), [(a, b) for a in FORMATS for b in FORMATS if a != b], ids=str
)
def test_conversions_are_those_of_softfloat(of: FloatType, to: FloatType, count: int) -> None:
    judge = getattr(soft, f"{NAMES[of]}_to_{NAMES[to]}")
    require_same("convert", of, to, 1, judge, count)
