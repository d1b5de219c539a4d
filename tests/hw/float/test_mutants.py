"""Circuits that round wrongly are told from right ones by the operands of a small format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Mux, Value

from rtlgen.hw.float import parts, products, sums
from rtlgen.hw.float.parts import Fields, Outcome, Shift, Significand
from rtlgen.hw.pipeline import Kept, Steps
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import FloatType
from rtlgen.target import float_steps
from tests.hw.float.test_steps import results

FORMAT = FloatType(3, 2)
SAMPLES = list(product(range(64), repeat=2))[::3]


def _with_rest(steps: Steps, value: Significand, rest: Value) -> Significand:
    return replace(value, kept=steps.keep(Cat(rest, value.kept.now[1:]), "mutant"))


def without_sticky_bit(*given: Any, **options: Any) -> Significand:
    """What is below the guard bit is forgotten: more is a tie."""
    return _with_rest(given[0], parts.shifted(*given, **options), Const(0, 1))


def with_ties_away(*given: Any, **options: Any) -> Significand:
    """There is always something below the guard bit."""
    return _with_rest(given[0], parts.shifted(*given, **options), Const(1, 1))


def to_the_largest(
    steps: Steps, value: Significand, base: Kept, result: Outcome, type_: FloatType
) -> Value:
    """What is too large becomes the largest finite number."""
    right = steps.wire(parts.round_and_pack(steps, value, base, result, type_), "right")
    overflows = (right[:-1] == type_.infinity) & ~result.is_special.now
    return Mux(overflows, Cat(Const(type_.infinity - 1, type_.width_bits - 1), right[-1]), right)


def shifted_by_one_less(
    steps: Steps, room: Value, zeros: Value | None, type_: FloatType, *, can_underflow: bool
) -> Shift:
    """There is room for one more place."""
    return parts.limited_shift(steps, room + 1, zeros, type_, can_underflow=can_underflow)


MUTANTS: dict[str, tuple[ModuleType, str, Callable[..., Any], FloatOp]] = {
    "no sticky bit in a product": (products, "shifted", without_sticky_bit, "mul"),
    "no sticky bit in a sum": (sums, "shifted", without_sticky_bit, "add"),
    "ties away in a product": (products, "shifted", with_ties_away, "mul"),
    "ties away in a sum": (sums, "shifted", with_ties_away, "add"),
    "the largest number instead of infinity": (products, "round_and_pack", to_the_largest, "mul"),
    "the largest sum instead of infinity": (sums, "round_and_pack", to_the_largest, "add"),
    "subnormal products off by one": (products, "limited_shift", shifted_by_one_less, "mul"),
    "subnormal differences off by one": (sums, "limited_shift", shifted_by_one_less, "add"),
}


def with_subnormal_operands(*given: Any, **options: Any) -> Fields:
    """What is subnormal is no zero."""
    steps, bits, type_, name = given
    return parts.fields(steps, bits, replace(type_, subnormals=True), name)


def without_the_least_number(
    steps: Steps, value: Significand, base: Kept, result: Outcome, type_: FloatType
) -> Value:
    """What rounds to the least normal number becomes 0."""
    right = steps.wire(parts.round_and_pack(steps, value, base, result, type_), "right")
    is_least = (right[:-1] == 1 << type_.fraction_bits) & base.now[-1]
    is_least &= ~(base.now.all() & value.is_top.now)
    return Mux(is_least, Cat(Const(0, type_.width_bits - 1), right[-1]), right)


MUTANTS_OF_FLUSHES: dict[str, tuple[ModuleType, str, Callable[..., Any], FloatOp]] = {
    "a subnormal factor": (products, "fields", with_subnormal_operands, "mul"),
    "a subnormal term": (sums, "fields", with_subnormal_operands, "add"),
    "the least product": (products, "round_and_pack", without_the_least_number, "mul"),
}


def differences(op: FloatOp, type_: FloatType = FORMAT) -> int:
    """Return how many results are not those of `ir.float_arithmetic`."""
    cycles = float_steps(op, type_.fraction_bits + 1, subnormals=type_.subnormals)
    got = results(op, type_, type_, SAMPLES, cycles)
    wanted = [evaluate(op, sample, type_, type_) for sample in SAMPLES]
    return sum(a != b for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("op", ["add", "mul"])
def test_the_circuits_themselves_differ_nowhere(op: FloatOp) -> None:
    assert differences(op) == 0


@pytest.mark.parametrize("name", MUTANTS)
def test_a_circuit_that_rounds_wrongly_differs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, mutant, op = MUTANTS[name]
    monkeypatch.setattr(module, function, mutant)
    assert differences(op) > 0


@pytest.mark.parametrize("op", ["add", "mul"])
def test_the_circuits_without_subnormals_differ_nowhere(op: FloatOp) -> None:
    assert differences(op, FORMAT.without_subnormals) == 0


@pytest.mark.parametrize("name", MUTANTS_OF_FLUSHES)
def test_a_circuit_that_does_not_flush_differs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, mutant, op = MUTANTS_OF_FLUSHES[name]
    monkeypatch.setattr(module, function, mutant)
    assert differences(op, FORMAT.without_subnormals) > 0
