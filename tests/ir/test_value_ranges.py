"""What conditions tell of values: no fact that bounds a value is passed over."""

from __future__ import annotations

import random

import pytest

from rtlgen.ir.affine import Affine
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
)
from rtlgen.ir.types import INT32, INT64, IntType
from rtlgen.ir.value_ranges import Shapes, ValueRanges, facts_of

BOX = {"i": (0, 9), "j": (-3, 5)}
TYPES = (INT32, IntType(32, False), INT64, IntType(8, True))
ARITHMETIC: tuple[BinaryOp, ...] = ("add", "sub", "mul", "and")
QUESTIONS: tuple[BinaryOp, ...] = ("lt", "le", "gt", "ge", "eq", "ne")


def drawn(rng: random.Random, depth: int, pool: list[Expr]) -> Expr:
    """Return a random expression, some parts of which occur in several places."""
    if pool and rng.random() < 0.4:
        return rng.choice(pool)
    if depth == 0:
        affine = Affine.variable(rng.choice("ij")) + rng.randrange(4)
        leaves = (Read(rng.randrange(3), INT32), Constant(rng.randrange(40), INT32))
        return rng.choice((*leaves, IndexValue(affine, INT32)))
    parts = [drawn(rng, depth - 1, pool) for _ in range(3)]
    match rng.randrange(4):
        case 0:
            made: Expr = Cast(parts[0], rng.choice(TYPES))
        case 1:
            made = Binary(rng.choice(ARITHMETIC), parts[0], parts[1], INT32)
        case 2:
            made = Unary("neg", parts[0], INT32)
        case _:
            left, right = rng.choice(parts), rng.choice([*parts, Constant(7, INT32)])
            condition = Binary(rng.choice(QUESTIONS), left, right, INT32)
            made = Select(condition, parts[0], parts[1], INT32)
    pool.append(made)
    return made


def test_what_shapes_leave_out_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    exprs = [drawn(random.Random(seed), 6, []) for seed in range(400)]
    quickly = [ValueRanges(BOX).range(expr) for expr in exprs]
    passed_over = 0

    def counted(shapes: Shapes, fact: object, expr: Expr) -> bool:
        nonlocal passed_over
        passed_over += not judged(shapes, fact, expr)  # type: ignore[arg-type]
        return True

    judged = Shapes.may_tell
    monkeypatch.setattr(Shapes, "may_tell", counted)
    assert [ValueRanges(BOX).range(expr) for expr in exprs] == quickly
    assert passed_over > 1000
    # That the facts matter: without any, some of the ranges are wider.
    monkeypatch.setattr(Shapes, "may_tell", lambda *_: False)
    assert (
        sum(ValueRanges(BOX).range(e) != known for e, known in zip(exprs, quickly, strict=True))
        > 20
    )


def test_what_is_half_way_between_two_values_lies_between_them() -> None:
    low, high = Read(0, INT32), Read(1, INT32)
    known = {0: (0, 64), 1: (-1, 63)}
    ranges = ValueRanges({}, lambda read: known[read.index])
    half = Binary("div", Binary("sub", high, low, INT32), Constant(2, INT32), INT32)
    middle = Binary("add", low, half, INT32)
    asked = Binary("le", low, high, INT32)
    assert ranges.range(middle, facts_of(asked, True)) == (0, 63)
    assert ranges.range(middle, facts_of(Binary("gt", high, low, INT32), True)) == (0, 63)
    for told in (facts_of(asked, False), ()):
        assert ranges.range(middle, told)[0] < 0
