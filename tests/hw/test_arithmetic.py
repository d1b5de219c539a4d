"""Multipliers, dividers and operators give the integers' result, after exactly their latency."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Const, Elaboratable, Module, Shape, Signal, Value, signed, unsigned
from amaranth.sim import Simulator

from rtlgen.hw.divider import Divider
from rtlgen.hw.multiplier import Multiplier
from rtlgen.hw.operators import build_arithmetic
from rtlgen.ir.operation_costs import BLOCK_BITS, partial_products, rows, signed_digits
from rtlgen.ir.plan import ArithmeticOp
from rtlgen.target import divider_steps, get_target
from tests.plans.interpreter import arithmetic, wrap

Operands = tuple[int, ...]


def stream_through(
    design: Elaboratable,
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    samples: Sequence[Operands],
    latency: int,
) -> list[tuple[int, ...]]:
    """Feed one sample a cycle and return the outputs that belong to each."""
    seen: list[tuple[int, ...]] = []

    async def bench(ctx: Any) -> None:
        for cycle in range(len(samples) + latency):
            for port, value in zip(inputs, samples[min(cycle, len(samples) - 1)], strict=True):
                ctx.set(port, value)
            await ctx.delay(0)
            if cycle >= latency:
                seen.append(tuple(ctx.get(port) for port in outputs))
            await ctx.tick()

    # The simulator's clock wants a register, and a design of latency 0 has none.
    bed = Module()
    bed.submodules.design = design
    bed.d.sync += Signal(name="clocked").eq(1)
    simulator = Simulator(bed)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def corners(shape: Shape) -> list[int]:
    """Return the values at which a width or a sign goes wrong."""
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    return sorted({low, 0, 1, high, max(low, -1)})


def samples_of(shapes: Sequence[Shape], count: int, seed: int) -> list[Operands]:
    """Return all pairs of corners, and random values over the whole range."""
    rng = random.Random(seed)
    lows = [-(1 << s.width - 1) if s.signed else 0 for s in shapes]
    found: list[Operands] = [()]
    for shape in shapes:
        found = [(*chosen, value) for chosen in found for value in corners(shape)]
    for _ in range(count):
        values = zip(lows, shapes, strict=True)
        found.append(tuple(low + rng.getrandbits(s.width) for low, s in values))
    return found


PAIRS = [
    (signed(8), unsigned(8)),
    (signed(18), signed(18)),
    (unsigned(18), signed(18)),
    (unsigned(17), signed(16)),
    (signed(32), signed(32)),
    (unsigned(32), signed(32)),
    (unsigned(32), unsigned(32)),
    (signed(64), signed(16)),
    (signed(64), unsigned(64)),
]


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_products_are_exact_modulo_the_width_of_the_result(left: Shape, right: Shape) -> None:
    samples = samples_of([left, right], 10, seed=left.width * 100 + right.width)
    for width, latency in [(16, 1), (64, 3), (96, 2), (33, 0)]:
        unit = Multiplier(left, right, width, latency)
        seen = stream_through(unit, [unit.left, unit.right], [unit.result], samples, latency)
        assert seen == [(a * b % (1 << width),) for a, b in samples], (width, latency)


@pytest.mark.parametrize("latency", [1, 2, 3, 4, 7])
def test_a_multiplier_has_just_the_latency_that_it_is_given(latency: int) -> None:
    unit = Multiplier(signed(64), signed(64), 64, latency)
    samples = samples_of([signed(64), signed(64)], 30, seed=latency)
    seen = stream_through(unit, [unit.left, unit.right], [unit.result], samples, latency)
    assert seen == [(a * b % (1 << 64),) for a, b in samples]


def test_a_sum_of_products_has_no_bits_below_them() -> None:
    """Those that begin at bit 16 are added first, in the 16 bits that they reach."""
    text = rtlil.convert(Multiplier(signed(32), signed(32), 32, 3))
    assert re.findall(r"wire width (\d+) \\sum_1_0$", text, re.MULTILINE) == ["16"]


@pytest.mark.parametrize(("width", "blocks"), [((16, 16, 32), 1), ((32, 32, 32), 3)])
def test_products_take_the_expected_number_of_blocks(
    width: tuple[int, int, int], blocks: int
) -> None:
    products = partial_products(signed(width[0]), signed(width[1]), width[2])
    assert len(products) == blocks
    for each in products:
        assert max(each.left.shape.width, each.right.shape.width) <= BLOCK_BITS


@pytest.mark.parametrize("widths", [(16, 16, 32), (32, 16, 32), (32, 32, 32), (64, 64, 64)])
def test_the_targets_latency_leaves_at_most_two_additions_a_cycle(
    widths: tuple[int, int, int],
) -> None:
    latency = get_target("ecp5").latency_cycles("mul", *widths)
    terms = len(rows(partial_products(signed(widths[0]), signed(widths[1]), widths[2])))
    assert (terms - 1).bit_length() <= 2 * (latency - 1)


def quotient_and_remainder(dividend: int, divisor: int) -> tuple[int, int]:
    """Return what C says, and the divider's own answer for a divisor of 0."""
    if divisor == 0:
        return -1, dividend
    quotient = abs(dividend) // abs(divisor) * (-1 if (dividend < 0) != (divisor < 0) else 1)
    return quotient, dividend - quotient * divisor


@pytest.mark.parametrize(
    ("shape", "latency"),
    [(signed(6), 0), (signed(6), 3), (unsigned(6), 5), (signed(6), 11), (signed(32), 18)],
    ids=str,
)
def test_division_rounds_to_zero_and_survives_zero(shape: Shape, latency: int) -> None:
    unit = Divider(shape, shape, latency)
    samples = samples_of([shape, shape], 20, seed=latency)
    ports = [unit.dividend, unit.divisor], [unit.quotient, unit.remainder]
    for (a, b), seen in zip(samples, stream_through(unit, *ports, samples, latency), strict=True):
        assert seen == quotient_and_remainder(a, b)


@pytest.mark.parametrize("shape", [signed(4), unsigned(4), signed(5), unsigned(5)], ids=str)
def test_every_division_of_few_bits_is_exact(shape: Shape) -> None:
    latency = divider_steps(shape.width)
    unit = Divider(shape, shape, latency)
    low = -(1 << (shape.width - 1)) if shape.signed else 0
    values = range(low, low + (1 << shape.width))
    samples = list(product(values, values))
    ports = [unit.dividend, unit.divisor], [unit.quotient, unit.remainder]
    for (a, b), seen in zip(samples, stream_through(unit, *ports, samples, latency), strict=True):
        assert seen == quotient_and_remainder(a, b)


def divisions_apart(unit: Divider, samples: Sequence[Operands], seed: int) -> list[Operands]:
    """Let divisions begin as early as the unit can, or later, with garbage in between."""
    rng = random.Random(seed)
    shapes = [unit.dividend.shape(), unit.divisor.shape()]
    begins: dict[int, Operands] = {}
    cycle = 0
    for sample in samples:
        begins[cycle] = sample
        cycle += unit.interval_cycles + rng.choice([0, 0, 0, 1, 2, unit.latency_cycles])
    seen: list[Operands] = []

    async def bench(ctx: Any) -> None:
        for now in range(cycle + unit.latency_cycles):
            garbage = tuple(rng.getrandbits(shape.width) for shape in shapes)
            for port, value in zip(
                (unit.dividend, unit.divisor), begins.get(now, garbage), strict=True
            ):
                ctx.set(port, value)
            ctx.set(unit.begin, now in begins)
            await ctx.delay(0)
            if now - unit.latency_cycles in begins:
                seen.append((ctx.get(unit.quotient), ctx.get(unit.remainder)))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


@pytest.mark.parametrize("interval", [2, 3, 5, 7, 15, 40])
@pytest.mark.parametrize(
    ("left", "right"),
    [(signed(32), signed(32)), (unsigned(7), signed(12)), (signed(33), unsigned(5))],
    ids=str,
)
def test_divisions_some_cycles_apart_take_digits_in_turn(
    left: Shape, right: Shape, interval: int
) -> None:
    """With the latency of a divider that begins every cycle, and the same results."""
    unit = Divider(left, right, divider_steps(left.width) + interval % 2, interval_cycles=interval)
    samples = samples_of([left, right], 30, seed=interval)
    seen = divisions_apart(unit, samples, seed=interval)
    assert seen == [quotient_and_remainder(a, b) for a, b in samples]


def test_a_divider_that_begins_more_seldom_has_fewer_circuits_for_digits() -> None:
    def subtractions(interval: int) -> int:
        text: str = rtlil.convert(Divider(signed(32), signed(32), 18, interval_cycles=interval))
        return text.count("cell $sub ")

    whole, one = subtractions(1), subtractions(8) - subtractions(15)
    left_out = [(whole - subtractions(interval)) / one for interval in (2, 4, 5, 8, 15, 99)]
    assert left_out == [15 - circuits for circuits in (8, 4, 3, 2, 1, 1)]


def test_digits_in_turn_want_a_cycle_each() -> None:
    with pytest.raises(ValueError, match="a cycle each"):
        Divider(signed(32), signed(32), 17, interval_cycles=2)


def test_division_by_a_narrow_or_a_wide_divisor_is_exact() -> None:
    for left, right in [(signed(16), unsigned(5)), (unsigned(5), signed(16))]:
        unit = Divider(left, right, 4)
        samples = [s for s in samples_of([left, right], 60, seed=3) if s[1]]
        ports = [unit.dividend, unit.divisor], [unit.quotient, unit.remainder]
        for (a, b), seen in zip(samples, stream_through(unit, *ports, samples, 4), strict=True):
            assert seen == quotient_and_remainder(a, b)


class Operator(Elaboratable):
    """One operation on inputs of given shapes; a constant stands in for an input."""

    def __init__(self, op: ArithmeticOp, shapes: Sequence[Shape], fixed: Mapping[int, int]) -> None:
        self.op = op
        self.inputs = [Signal(shape) for shape in shapes]
        self.operands: list[Value] = list(self.inputs)
        for n, value in fixed.items():
            self.operands[n] = Const(value, shapes[n])
        self.result = Signal(Shape(op.width_bits, op.signed))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.result.eq(build_arithmetic(m, self.op, self.operands, "op"))
        return m


def operation(name: str, shape: Shape, latency: int, modulus: int = 0) -> ArithmeticOp:
    return ArithmeticOp(
        width_bits=shape.width,
        signed=shape.signed,
        stage=0,
        latency_cycles=latency,
        operands=(0, 1),
        op=name,  # type: ignore[arg-type]
        modulus_bits=modulus,
    )


def check_operator(
    op: ArithmeticOp, shapes: Sequence[Shape], fixed: Mapping[int, int] | None = None
) -> None:
    samples = samples_of(shapes, 20, seed=7)
    design = Operator(op, shapes, fixed or {})
    seen = stream_through(design, design.inputs, [design.result], samples, op.latency_cycles)
    for sample, (result,) in zip(samples, seen, strict=True):
        operands = [(fixed or {}).get(n, value) for n, value in enumerate(sample)]
        expected = wrap(arithmetic(op, operands), op.width_bits, op.signed)
        assert result == expected, (op, operands)


BINARY = ["add", "sub", "mul", "and", "or", "xor", "lt", "le", "gt", "ge", "eq", "ne"]


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("name", [*BINARY, "div", "rem"])
@pytest.mark.parametrize(
    "shapes",
    [
        (signed(16), signed(16)),
        (unsigned(16), unsigned(16)),
        (unsigned(9), signed(5)),
    ],
    ids=str,
)
def test_binary_operators_are_exact(name: str, shapes: tuple[Shape, Shape]) -> None:
    check_operator(operation(name, signed(32), 2), shapes)
    check_operator(operation(name, unsigned(12), 1), shapes)


@pytest.mark.parametrize("name", ["neg", "not", "lnot"])
@pytest.mark.parametrize("shape", [signed(32), unsigned(32), unsigned(7)], ids=str)
def test_unary_operators_are_exact(name: str, shape: Shape) -> None:
    check_operator(operation(name, signed(64), 0), [shape])
    check_operator(operation(name, unsigned(16), 1), [shape])


@pytest.mark.parametrize("name", ["shl", "shr"])
@pytest.mark.parametrize("left", [signed(32), unsigned(32), signed(5), signed(64)], ids=str)
@pytest.mark.parametrize("right", [signed(32), unsigned(8), unsigned(3)], ids=str)
def test_shifts_take_the_count_modulo_the_width_of_the_type(
    name: str, left: Shape, right: Shape
) -> None:
    modulus = 64 if left.width == 64 else 32
    check_operator(operation(name, signed(modulus), 1, modulus), [left, right])
    check_operator(operation(name, unsigned(16), 2, modulus), [left, right])


@pytest.mark.parametrize("count", [0, 1, 31, 32, 37])
def test_shifts_by_a_constant_are_exact(count: int) -> None:
    for name in ("shl", "shr"):
        op = operation(name, signed(32), 0, 32)
        check_operator(op, [signed(32), signed(32)], {1: count})


@pytest.mark.parametrize("factor", [0, 1, -1, 3, -8, 10, 255, -1000, 12345, 0x5A5A5A5A])
@pytest.mark.parametrize("place", [0, 1])
def test_products_with_a_constant_are_exact(factor: int, place: int) -> None:
    op = operation("mul", signed(32), 2)
    check_operator(op, [signed(32), signed(32)], {place: factor})


def test_signed_digits_add_up_and_never_touch() -> None:
    for constant in range(-300, 300):
        digits = signed_digits(constant)
        assert sum(digit << place for place, digit in digits) == constant
        places = [place for place, _ in digits]
        assert all(b - a > 1 for a, b in pairwise(places))
