"""Folded expressions have the value that they had, in C's types."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtlgen.ir.affine import Affine
from rtlgen.ir.constant_folding import folded, unconverted
from rtlgen.ir.expr import (
    Binary,
    BinaryOp,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    Unary,
    children,
    to_text,
    with_children,
)
from rtlgen.ir.scop import Scop
from rtlgen.ir.types import INT32, INT64, IntType
from rtlgen.ir.value_ranges import Range, ValueRanges
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.datapath.test_build import BOX, programs

UINT32, INT8, UINT8 = IntType(32, False), IntType(8, True), IntType(8, False)
BOOL = IntType(8, False, is_bool=True)
X, Y, U = Read(0, INT32), Read(1, INT32), Read(2, UINT32)
SMALL = Read(3, UINT8)


def number(value: int, type_: IntType = INT32) -> Constant:
    return Constant(value, type_)


def of_type(read: Read) -> Range:
    return read.type.minimum, read.type.maximum


def binary(op: BinaryOp, left: Expr, right: Expr, type_: IntType = INT32) -> Binary:
    return Binary(op, left, right, type_)


def compared(op: BinaryOp, left: Expr, right: Expr) -> Binary:
    return Binary(op, left, right, INT32)


LOW, HIGH = INT32.minimum, INT32.maximum
FOLDED: dict[str, tuple[Expr, str]] = {
    "a product with 0": (binary("mul", X, number(0)), "0"),
    "a product with 1": (binary("mul", number(1), X), "x"),
    "a product with -1": (binary("mul", X, number(-1)), "-x"),
    "a product with UINT_MAX": (binary("mul", U, number(UINT32.maximum, UINT32), UINT32), "-u"),
    "a product with a power of two stays": (binary("mul", X, number(4)), "(x * 4)"),
    "a sum with 0": (binary("add", number(0), X), "x"),
    "a difference with 0": (binary("sub", X, number(0)), "x"),
    "0 less something": (binary("sub", number(0), X), "-x"),
    "0 less what is negated": (binary("sub", number(0), Unary("neg", X, INT32)), "x"),
    "a sum with what is negated": (binary("add", Unary("neg", X, INT32), Y), "(y - x)"),
    "a difference with what is negated": (binary("sub", X, Unary("neg", Y, INT32)), "(x + y)"),
    "products of a sum": (
        binary("add", binary("mul", X, number(0)), binary("mul", Y, number(-1))),
        "-y",
    ),
    "a sum that wraps": (binary("add", number(HIGH), number(1)), str(LOW)),
    "a product that wraps": (binary("mul", number(LOW), number(-1)), str(LOW)),
    "a quotient by 1": (binary("div", X, number(1)), "x"),
    "a quotient by -1": (binary("div", X, number(-1)), "-x"),
    "a quotient by UINT_MAX": (
        binary("div", U, number(UINT32.maximum, UINT32), UINT32),
        f"(u / {UINT32.maximum})",
    ),
    "a remainder by 1": (binary("rem", X, number(1)), "0"),
    "a quotient by 0 stays": (binary("div", X, number(0)), "(x / 0)"),
    "all bits": (binary("and", X, number(-1)), "x"),
    "all bits of an unsigned": (binary("and", U, number(UINT32.maximum, UINT32), UINT32), "u"),
    "bits of a larger type": (
        binary("and", Cast(U, INT64), number(UINT32.maximum, INT64), INT64),
        f"((int64)u & {UINT32.maximum})",
    ),
    "no bits": (binary("and", X, number(0)), "0"),
    "one of all bits": (binary("or", X, number(-1)), "-1"),
    "no further bits": (binary("or", number(0), X), "x"),
    "no bits changed": (binary("xor", X, number(0)), "x"),
    "constants": (binary("xor", number(-6), number(5)), str(-6 ^ 5)),
    "a shift by 0": (binary("shl", X, number(0)), "x"),
    "a shift of 0": (binary("shr", number(0), number(3)), "0"),
    "a count out of range stays": (binary("shl", X, number(32)), "(x << 32)"),
    "a comparison that always holds": (compared("ge", Cast(SMALL, INT32), number(0)), "1"),
    "a comparison that never holds": (compared("eq", Cast(SMALL, INT32), number(256)), "0"),
    "a comparison of equal numbers": (compared("le", number(3), number(3)), "1"),
    "what is not 0": (Unary("lnot", number(7), INT32), "0"),
    "what is 0": (Unary("lnot", number(0), INT32), "1"),
    "twice negated": (Unary("neg", Unary("neg", X, INT32), INT32), "x"),
    "twice inverted": (Unary("not", Unary("not", X, INT32), INT32), "x"),
    "a condition that holds": (Select(number(1), X, Y, INT32), "x"),
    "a condition that does not": (
        Select(compared("lt", Cast(SMALL, INT32), number(0)), X, Y, INT32),
        "y",
    ),
    "arms that are alike": (Select(Y, binary("add", X, number(0)), X, INT32), "x"),
    "what a condition tells": (
        Select(compared("eq", X, number(4)), binary("add", X, Y), Y, INT32),
        "((x == 4) ? (4 + y) : y)",
    ),
    "a truth value": (Cast(number(2), BOOL), "1"),
    "a number that wraps": (Cast(number(200, UINT8), INT8), "-56"),
    "an index": (IndexValue(Affine.of({"i": 2}, -1), INT64), "5"),
}


def in_text(expr: Expr) -> str:
    ranges = ValueRanges({"i": (3, 3), "j": (0, 9)}, of_type)
    return to_text(folded(expr, ranges), ("x", "y", "u", "s"))


@pytest.mark.parametrize("name", FOLDED)
def test_an_operation_with_constants_is_what_it_does(name: str) -> None:
    expr, text = FOLDED[name]
    assert in_text(expr) == text


def test_a_read_that_some_iterations_do_not_make_keeps_its_condition() -> None:
    def at_least(low: int) -> Expr:
        form = IndexValue(Affine.of({"j": 1}, -low), INT64)
        return Binary("ge", form, Constant(0, INT64), INT32)

    inner = Select(at_least(3), X, number(0), INT32)
    outer = Select(at_least(5), inner, Y, INT32)
    assert in_text(outer) == "(((j - 5) >= 0) ? (((j - 3) >= 0) ? x : 0) : y)"
    assert in_text(Select(at_least(0), X, Y, INT32)) == "x"
    assert in_text(Select(at_least(10), X, Y, INT32)) == "y"


def test_conversions_are_left_out_that_change_nothing() -> None:
    ranges = ValueRanges({}, of_type)
    assert unconverted(Cast(Cast(SMALL, INT32), UINT8), ranges) == SMALL
    assert unconverted(Cast(X, UINT8), ranges) == Cast(X, UINT8)


SPECIAL = (0, 1, -1, 2, -2, 3, 4, 8, 64, 127, 128, 255, 256, LOW, HIGH, 1 << 31, 1 << 40, 1 << 63)


@st.composite
def programs_of_constants(draw: st.DrawFn) -> Scop:
    """Draw a program that evaluates an expression in which many operands are constants."""
    program = draw(programs())
    (statement,) = program.statements

    def drawn(expr: Expr) -> Expr:
        parts = tuple(map(drawn, children(expr)))
        if not parts and draw(st.integers(0, 2)):
            return Constant(expr.type.wrap(draw(st.sampled_from(SPECIAL))), expr.type)
        return with_children(expr, parts)

    return replace(program, statements=(replace(statement, expr=drawn(statement.expr)),))


@pytest.mark.long
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs_of_constants(), st.integers(0, 99))
def test_a_folded_expression_has_the_value_that_it_had(program: Scop, seed: int) -> None:
    (statement,) = program.statements
    ranges = ValueRanges(BOX, of_type)
    changed = replace(statement, expr=folded(statement.expr, ranges))
    inputs = random_inputs(program, seed)
    before, after = (
        run_golden(scop, inputs, engine="interpreter").arrays["out"].tolist()
        for scop in (program, replace(program, statements=(changed,)))
    )
    assert after == before
