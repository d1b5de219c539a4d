"""Narrowed, reordered and pipelined datapaths compute what C computes, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rtlgen.datapath.build import Datapath, build_datapath
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    Binary,
    BinaryOp,
    Constant,
    Expr,
    Read,
    ScalarParameter,
    Select,
    UnaryOp,
)
from rtlgen.ir.plan import ArithmeticOp
from rtlgen.ir.scop import LoopNode, ScalarArgument, Scop, StatementNode
from rtlgen.ir.types import INT32, IntType
from rtlgen.ir.value_ranges import value_range, width_of
from rtlgen.target import get_target
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.scops import HERE, TYPES, access, array, expressions, loop, scop
from tests.plans.interpreter import arithmetic, wrap

BOX = {"i": (-3, 3), "j": (2, 5)}
SCALARS = (ScalarArgument("p", INT32, HERE), ScalarArgument("q", IntType(8, False), HERE))
OPERANDS = 3


@st.composite
def programs(draw: st.DrawFn) -> Scop:
    """Draw a program that evaluates one expression at every point of `BOX`."""
    types = [draw(TYPES) for _ in range(OPERANDS)]
    result = draw(TYPES)
    reads = [Read(k, type_) for k, type_ in enumerate(types)]
    expr = draw(expressions(result, reads, ("i", "j")))
    return program_of(expr, types, result)


def program_of(expr: Expr, types: list[IntType], result: IntType) -> Scop:
    operands = [array(f"x{k}", (1,), "in", type_) for k, type_ in enumerate(types)]
    (a, b), (c, d) = BOX["i"], BOX["j"]
    out = array("out", (b - a + 1, d - c + 1), "out", result)
    place = access("out", Affine.of({"i": 1}, -a), Affine.of({"j": 1}, -c))
    accesses = tuple(access(f"x{k}", 0) for k in range(len(types)))
    body = {"S0": (place, accesses, expr)}
    inner = LoopNode(loop("j", c, d + 1), (StatementNode("S0"),))
    tree = [LoopNode(loop("i", a, b + 1), (inner,))]
    return scop([*operands, out], tree, body, SCALARS)


def evaluate(
    datapath: Datapath,
    iterators: Mapping[str, int],
    scalars: Mapping[str, int],
    reads: Mapping[int, int],
) -> int:
    """Return the result of the graph, every node wrapped to its own width."""
    values: list[int] = []
    for node in datapath.nodes:
        operands = [values[n] for n in node.operands]
        match node.op:
            case "constant":
                value = node.value
            case "parameter":
                value = scalars[node.name]
            case "index":
                assert node.affine is not None
                value = node.affine.evaluate(iterators)
            case "load":
                value = reads[node.read]
            case "cast":
                value = operands[0]
            case "select":
                value = operands[1] if operands[0] else operands[2]
            case _:
                op = ArithmeticOp(
                    width_bits=node.width_bits,
                    signed=node.signed,
                    stage=0,
                    op=cast(UnaryOp | BinaryOp, node.op),
                    modulus_bits=node.modulus_bits,
                )
                value = arithmetic(op, operands)
        values.append(wrap(value, node.width_bits, node.signed))
    return values[datapath.result]


QUICK = settings(
    max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@QUICK
@given(programs(), st.integers(0, 99), st.dictionaries(st.integers(0, 2), st.integers(1, 3)))
def test_the_graph_computes_the_expression(program: Scop, seed: int, late: dict[int, int]) -> None:
    (statement,) = program.statements
    datapath = build_datapath(program, statement, BOX, get_target(), late)
    inputs = random_inputs(program, seed)
    expected = run_golden(program, inputs, engine="interpreter").arrays["out"]
    reads = {k: int(inputs[f"x{k}"][0]) for k in range(OPERANDS)}  # type: ignore[index]
    scalars = {s.name: int(inputs[s.name]) for s in program.scalars}
    result = program.array("out").element
    low, high = value_range(statement.expr, BOX)
    for i in range(BOX["i"][0], BOX["i"][1] + 1):
        for j in range(BOX["j"][0], BOX["j"][1] + 1):
            value = int(expected[i - BOX["i"][0], j - BOX["j"][0]])
            assert result.wrap(evaluate(datapath, {"i": i, "j": j}, scalars, reads)) == value
            assert low <= value <= high


@pytest.mark.long
@QUICK
@given(programs())
def test_no_node_is_wider_than_its_type_or_reads_too_early(program: Scop) -> None:
    (statement,) = program.statements
    datapath = build_datapath(program, statement, BOX, get_target())
    ready = [s + n for s, n in zip(datapath.starts, datapath.latencies, strict=True)]
    for number, node in enumerate(datapath.nodes):
        # A dividend of 64 bits times its reciprocal is wider than any C type.
        assert 1 <= node.width_bits <= (192 if node.op == "mul" else 64)
        for operand in node.operands:
            assert operand < number and ready[operand] <= datapath.starts[number]
    assert min(datapath.starts) >= 0
    assert ready[datapath.result] == datapath.result_stage


@example(-1, 0)
@example(-128, 0)
@example(-(1 << 63), 5)
@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 1 << 70))
def test_a_width_holds_its_range_and_one_bit_less_does_not(low: int, size: int) -> None:
    high = low + size
    width, signed = width_of((low, high))
    assert wrap(low, width, signed) == low and wrap(high, width, signed) == high
    assert signed == (low < 0)
    if width > 1:
        assert wrap(low, width - 1, signed) != low or wrap(high, width - 1, signed) != high


def depth_of(expr: Expr, types: list[IntType], result: IntType, late: dict[int, int]) -> Datapath:
    program = program_of(expr, types, result)
    return build_datapath(program, program.statements[0], BOX, get_target(), late)


def test_a_late_operand_of_a_sum_is_added_last() -> None:
    expr: Expr = Read(0, INT32)
    for k in range(1, 5):
        expr = Binary("add", expr, Read(k, INT32), INT32)
    for k in range(5):
        datapath = depth_of(expr, [INT32] * 5, INT32, {k: 1})
        assert datapath.result_stage - datapath.use_stage(k) == 1


def test_a_product_with_zero_reads_nothing_and_needs_no_time() -> None:
    zero = Binary("sub", Read(0, INT32), Read(0, INT32), INT32)
    program = program_of(Binary("and", zero, Read(1, INT32), INT32), [INT32] * 2, INT32)
    kept = build_datapath(program, program.statements[0], BOX, get_target())
    assert set(kept.node_of_read) <= {0, 1}


def test_wiring_counts_for_no_logic_in_a_row() -> None:
    x = Read(0, INT32)
    shifted = Binary("shl", x, Constant(1, INT32), INT32)
    folded = Binary("xor", shifted, Constant(0x1021, INT32), INT32)
    answer = Binary("and", Read(1, INT32), Constant(1, INT32), INT32)
    chosen = Select(answer, folded, shifted, INT32)
    mixed = Select(answer, Binary("xor", folded, Read(2, INT32), INT32), x, INT32)
    deeper = Binary("or", Binary("xor", mixed, x, INT32), Read(1, INT32), INT32)
    depths = [
        depth_of(expr, [INT32] * 3, INT32, {}).result_stage for expr in (x, chosen, mixed, deeper)
    ]
    assert depths == [depths[0], depths[0], depths[0], depths[0] + 1]


def test_an_eight_bit_result_is_multiplied_in_eight_bits() -> None:
    int8 = IntType(8, True)
    product = Binary("mul", Read(0, INT32), Read(1, INT32), INT32)
    datapath = depth_of(product, [INT32] * 2, int8, {})
    (multiply,) = (node for node in datapath.nodes if node.op == "mul")
    assert multiply.width_bits == 8
    assert all(datapath.nodes[n].width_bits == 8 for n in multiply.operands)


@pytest.mark.parametrize("early", range(3))
def test_a_factor_that_settles_is_used_last_and_costs_no_cycle(early: int) -> None:
    p, x, y = ScalarParameter("p", INT32), Read(0, INT32), Read(1, INT32)
    factors: list[Expr] = [x, y]
    factors.insert(early, p)
    product = reduce(lambda a, b: Binary("mul", a, b, INT32), factors)
    plain = depth_of(product, [INT32] * 2, INT32, {})
    for node in {plain.node_of_read[0], plain.node_of_read[1]}:
        settled = plain.with_waits(settled=[node])
        assert settled.result_stage == plain.result_stage
        (user,) = (n for n, each in enumerate(settled.nodes) if node in each.operands)
        assert settled.starts[user] == settled.starts[node] + settled.latencies[node] + 1


PRODUCTS = st.lists(
    st.one_of(
        st.integers(0, OPERANDS - 1).map(lambda k: Read(k, INT32)),
        st.just(ScalarParameter("p", INT32)),
        st.integers(-3, 3).map(lambda value: Constant(value, INT32)),
    ),
    min_size=3,
    max_size=6,
)


@QUICK
@example([Read(0, INT32), Read(0, INT32), Read(1, INT32)], 1, INT32)
@given(PRODUCTS, st.integers(0, 99), TYPES)
def test_a_product_is_the_same_whatever_settles(
    factors: list[Expr], seed: int, result: IntType
) -> None:
    program = program_of(
        reduce(lambda a, b: Binary("mul", a, b, INT32), factors), [INT32] * OPERANDS, result
    )
    datapath = build_datapath(program, program.statements[0], BOX, get_target())
    inputs = random_inputs(program, seed)
    reads = {k: int(inputs[f"x{k}"][0]) for k in range(OPERANDS)}  # type: ignore[index]
    scalars = {s.name: int(inputs[s.name]) for s in program.scalars}
    expected = evaluate(datapath, {}, scalars, reads)
    for node in range(len(datapath.nodes)):
        settled = datapath.with_waits(settled=[node])
        assert evaluate(settled, {}, scalars, reads) == expected
        assert settled.result_stage <= datapath.result_stage + 1
