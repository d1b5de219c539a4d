"""Division by constants, built from multiplications and shifts, rounds as C does."""

from __future__ import annotations

import random
from typing import Literal, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rtlgen.datapath.graph import ConstantDivision, Graph, Node, pairs_divided_twice
from rtlgen.ir.expr import Binary, BinaryOp, Constant, Expr, Read
from rtlgen.ir.plan import ArithmeticOp
from rtlgen.ir.types import IntType
from rtlgen.ir.value_ranges import Range, width_of
from rtlgen.target import get_target
from tests.datapath.test_build import depth_of
from tests.plans.interpreter import arithmetic, wrap

Op = Literal["div", "rem"]
Ints = NDArray[np.int64]


def c_result(op: Op, dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
    return quotient if op == "div" else dividend - quotient * divisor


def divided(
    op: Op, values: Range, divisor: int, width: int, signed: bool, whole: bool = False
) -> tuple[list[Node], int]:
    """Return the graph of a division and its result; node 0 is the dividend."""
    graph = Graph()
    dividend = graph.add(Node("load", *width_of(values), read=0))
    division = ConstantDivision(graph, dividend, values, divisor, whole)
    build = division.quotient if op == "div" else division.remainder
    return graph.nodes, build(width, signed)


def evaluate(nodes: list[Node], result: int, dividend: int) -> int:
    seen: list[int] = []
    for node in nodes:
        operands = [seen[n] for n in node.operands]
        match node.op:
            case "load":
                value = dividend
            case "constant":
                value = node.value
            case "cast":
                value = operands[0]
            case _:
                op = ArithmeticOp(
                    width_bits=node.width_bits,
                    signed=node.signed,
                    stage=0,
                    op=cast(BinaryOp, node.op),
                    modulus_bits=node.modulus_bits,
                )
                value = arithmetic(op, operands)
        seen.append(wrap(value, node.width_bits, node.signed))
    return seen[result]


def evaluate_all(nodes: list[Node], result: int, dividends: Ints) -> Ints:
    """Do what `evaluate` does for many small dividends at once."""
    seen: list[Ints] = []
    for node in nodes:
        a, b = (seen[node.operands[k]] if node.operands else dividends for k in (0, -1))
        exact = {
            "load": dividends, "constant": np.full_like(dividends, node.value), "cast": a,
            "add": a + b, "sub": a - b, "mul": a * b, "neg": -a, "and": a & b,
            "shl": a << np.clip(b, 0, 62), "shr": a >> np.clip(b, 0, 62),
        }[node.op]  # fmt: skip
        assert node.width_bits < 40, "the exact result fits the type"
        low = exact & ((1 << node.width_bits) - 1)
        top = low >> (node.width_bits - 1) if node.signed else 0
        seen.append(low - (top << node.width_bits))
    return seen[result]


@pytest.mark.parametrize("op", ["div", "rem"])
@pytest.mark.parametrize("values", [(-128, 127), (0, 255)], ids=["signed", "unsigned"])
def test_every_byte_by_every_divisor_is_exact(op: Op, values: Range) -> None:
    dividends = np.arange(values[0], values[1] + 1, dtype=np.int64)
    divisors = range(-128, 256) if values[0] == 0 else range(-128, 128)
    for divisor in filter(None, divisors):
        nodes, result = divided(op, values, divisor, 9, True)
        expected = [c_result(op, int(x), divisor) for x in dividends]
        assert evaluate_all(nodes, result, dividends).tolist() == expected, divisor


@given(
    op=st.sampled_from(["div", "rem"]),
    ends=st.tuples(st.integers(-(1 << 63), (1 << 64) - 1), st.integers(-(1 << 63), (1 << 64) - 1)),
    divisor=st.integers(-(1 << 63), (1 << 64) - 1).filter(bool)
    | st.integers(-200, 200).filter(bool)
    | st.integers(0, 63).map(lambda n: 1 << n)
    | st.integers(0, 63).map(lambda n: -1 << n),
    bits=st.integers(1, 64),
    whole=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_division_is_exact_for_the_range_that_it_is_made_for(
    op: Op, ends: tuple[int, int], divisor: int, bits: int, whole: bool, seed: int
) -> None:
    low, high = min(ends), max(ends)
    if low < 0:
        low, high = max(low, -(1 << 63)), min(high, (1 << 63) - 1)
    nodes, result = divided(op, (low, high), divisor, bits, False, whole)
    rng = random.Random(seed)
    around = [n * divisor + r for n in (-2, -1, 0, 1, 2, low // divisor) for r in (-1, 0, 1)]
    samples = [low, high, *(x for x in around if low <= x <= high)]
    for dividend in [*samples, *(rng.randint(low, high) for _ in range(20))]:
        expected = wrap(c_result(op, dividend, divisor), bits, False)
        assert evaluate(nodes, result, dividend) == expected, dividend


def test_a_reciprocal_that_is_one_too_small_is_noticed() -> None:
    nodes, result = divided("div", (0, 255), 7, 8, False)
    factor = max(range(len(nodes)), key=lambda n: nodes[n].value)
    value = nodes[factor].value - 1
    nodes[factor] = Node("constant", value.bit_length(), False, value=value)
    assert any(evaluate(nodes, result, x) != x // 7 for x in range(256))


INTS = [IntType(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False)]


@pytest.mark.parametrize("type_", INTS, ids=str)
@pytest.mark.parametrize("op", ["div", "rem"])
def test_division_by_a_constant_takes_few_cycles_and_no_divider(op: Op, type_: IntType) -> None:
    result = type_.promoted
    for divisor in (-9, 3, 5, 7, 10, 16, 100, result.maximum, result.minimum):
        value = result.wrap(divisor)
        if value == 0:
            continue
        expr = Binary(op, Read(0, type_), Constant(value, result), result)
        datapath = depth_of(expr, [type_], result, {})
        assert {"div", "rem"}.isdisjoint(node.op for node in datapath.nodes)
        assert datapath.result_stage - datapath.use_stage(0) <= 6 if datapath.node_of_read else True


def test_quotient_and_remainder_share_a_multiplication() -> None:
    type_ = IntType(32, True)
    seven, x = Constant(7, type_), Read(0, type_)
    both = Binary("xor", Binary("div", x, seven, type_), Binary("rem", x, seven, type_), type_)
    assert pairs_divided_twice(both) == {(x, seven)}
    nodes = depth_of(both, [type_], type_, {}).nodes
    wide = [node for node in nodes if node.op == "mul" and node.width_bits > 32]
    assert len(wide) == 1


def test_what_is_known_of_the_dividend_makes_the_reciprocal_smaller() -> None:
    byte, type_ = IntType(8, False), IntType(32, True)

    def product_width(dividend: Expr) -> int:
        expr = Binary("div", dividend, Constant(9, type_), type_)
        nodes = depth_of(expr, [byte, type_], type_, {}).nodes
        return max(node.width_bits for node in nodes if node.op == "mul")

    total: Expr = Binary("add", Read(0, type_), Read(0, type_), type_)
    assert product_width(Read(0, byte)) < 18 < product_width(Read(1, type_))
    assert product_width(total) > 50


def test_a_divisor_that_is_zero_or_unknown_takes_the_divider() -> None:
    type_ = IntType(32, True)
    for divisor in (Constant(0, type_), Read(1, type_)):
        expr = Binary("div", Read(0, type_), divisor, type_)
        datapath = depth_of(expr, [type_] * 2, type_, {})
        (divider,) = (n for n, node in enumerate(datapath.nodes) if node.op == "div")
        assert datapath.latencies[divider] == get_target().divider_latency(32)
