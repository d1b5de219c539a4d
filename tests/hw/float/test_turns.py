"""Quotients and roots that begin some cycles apart, whose digits one circuit finds in turn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import unsigned
from amaranth.sim import Simulator

from rtlgen.hw.float.build import FloatUnit
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.operation_costs import digit_circuits
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, FloatType
from rtlgen.target import float_steps
from tests.hw.float.test_steps import operation

OPERATIONS: list[tuple[FloatOp, int]] = [("div", 2), ("sqrt", 1)]


def steps_of(op: FloatOp, type_: FloatType) -> int:
    return float_steps(op, type_.fraction_bits + 1, subnormals=type_.subnormals)


def unit_of(
    op: FloatOp, operands: int, type_: FloatType, interval: int, late: int = 0
) -> FloatUnit:
    cycles = steps_of(op, type_) + late
    planned = replace(operation(op, type_, type_, cycles), interval_cycles=interval)
    return FloatUnit(planned, [unsigned(type_.width_bits)] * operands)


def results_apart(
    unit: FloatUnit, samples: Sequence[tuple[int, ...]], cycles: int, interval: int
) -> list[int]:
    """Let operations begin as early as the unit can, or later, with garbage in between."""
    rng = random.Random(interval)
    ports = [getattr(unit, f"operand{n}") for n in range(len(samples[0]))]
    begins: dict[int, tuple[int, ...]] = {}
    cycle = 0
    for sample in samples:
        begins[cycle] = sample
        cycle += interval + rng.choice([0, 0, 0, 1, 2, cycles])
    seen: list[int] = []

    async def bench(ctx: Any) -> None:
        for now in range(cycle + cycles):
            garbage = [rng.getrandbits(len(port)) for port in ports]
            for port, value in zip(ports, begins.get(now, garbage), strict=True):
                ctx.set(port, value)
            ctx.set(unit.begin, now in begins)
            await ctx.delay(0)
            if now - cycles in begins:
                seen.append(ctx.get(unit.result))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


@pytest.mark.sample("*float16-3", "*float2_3-2", "*float4_3z-3")
@pytest.mark.parametrize("interval", [2, 3, 5, 13, 40])
@pytest.mark.parametrize(
    "type_",
    [FloatType(2, 3), FloatType(4, 3), FLOAT16, FLOAT32, FLOAT64, FloatType(4, 3, False),
     FLOAT32.without_subnormals],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(("op", "operands"), OPERATIONS)
def test_operations_some_cycles_apart_find_digits_in_turn(
    op: FloatOp, operands: int, type_: FloatType, interval: int
) -> None:
    """With the latency of one that begins every cycle, and the same results."""
    late = interval % 2
    unit = unit_of(op, operands, type_, interval, late)
    rng = random.Random(type_.width_bits)
    samples = [
        tuple(rng.getrandbits(type_.width_bits - (op == "sqrt")) for _ in range(operands))
        for _ in range(60)
    ]
    cycles = steps_of(op, type_) + late
    assert results_apart(unit, samples, cycles, interval) == [
        evaluate(op, sample, type_, type_) for sample in samples
    ]


@pytest.mark.parametrize(("op", "operands"), OPERATIONS)
def test_what_begins_more_seldom_has_as_many_circuits_as_the_plan_says(
    op: FloatOp, operands: int
) -> None:
    def subtractions(interval: int) -> int:
        text: str = rtlil.convert(unit_of(op, operands, FLOAT16, interval))
        return text.count("cell $sub ")

    # Three subtractions find two bits.
    least, circuits = subtractions(99), {2: 3, 3: 2, 4: 2, 6: 1} if op == "div" else {2: 3, 3: 2}
    planned = operation(op, FLOAT16, FLOAT16, 40)
    for interval, expected in circuits.items():
        assert subtractions(interval) - least == 3 * (expected - 1), interval
        assert digit_circuits(planned, [], interval) == expected + (op == "div")


def test_digits_in_turn_want_a_cycle_each() -> None:
    with pytest.raises(ValueError, match="take a cycle each"):
        unit_of("div", 2, FLOAT32, 2, late=-1)
