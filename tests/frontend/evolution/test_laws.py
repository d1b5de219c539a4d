"""Laws that are fitted to values give these values, and are found where values follow one."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rtlgen.frontend.analysis.ranges import IteratorRange, Ranges
from rtlgen.frontend.analysis.turn import Turn, law_in, value_in
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32
from rtlgen.source import Span


def value_of(expr: Expr, at: dict[str, int]) -> int:
    match expr:
        case Constant(value):
            return value
        case IndexValue(affine):
            return affine.evaluate(at)
        case Binary(op, left, right):
            a, b = value_of(left, at), value_of(right, at)
            return {"add": a + b, "mul": a * b, "div": a // (b or 1), "rem": a % (b or 1)}[op]
    assert isinstance(expr, Cast)
    return value_of(expr.operand, at)


def value_by(law: Turn, at: dict[str, int]) -> int:
    moved = law.pace * (law.form.evaluate(at) // law.scale)
    return law.low.evaluate(at) + (moved % law.modulus if law.modulus else moved)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_values_that_follow_a_law_are_fitted_by_one(first: int) -> None:
    for seed in range(first, first + 100):
        draw = random.Random(seed)
        a, d, p, c = (draw.randint(*ends) for ends in ((-4, 4), (1, 5), (1, 6), (-9, 9)))
        b, m = draw.randint(0, 7), draw.choice((None, 2, 3, 5, 7))
        heights = [(a * k + b) // d for k in range(90)]
        values = {k: c + p * (h % m if m else h) for k, h in enumerate(heights)}
        law = law_in(values)
        assert law is not None, (a, b, d, m)
        assert all(value_in(law, k) == value for k, value in values.items()), (seed, law)


@pytest.mark.parametrize(
    "values", [[0, 1, 4, 9, 16, 25], [0, 3, 1, 0, 2, 2, 1], [5, 0, 0, 1, 0, 0, 0, 1, 0, 0]]
)
def test_values_that_follow_no_law_have_none(values: list[int]) -> None:
    assert law_in(dict(enumerate(values))) is None


def test_a_law_of_a_loop_is_an_expression_of_its_iterator() -> None:
    for seed in range(120):
        draw = random.Random(seed)
        step, start = draw.choice((1, 2, -1, -3)), draw.randint(-5, 5)
        loop = Loop(
            "i", Affine((), start), Affine((), start + 12 * step), step, Span("k.c", 1, 1, 1)
        )
        d, m = draw.randint(1, 4), draw.choice((None, 2, 3))
        values = {k: 3 * (k // d % m if m else k // d) - 4 for k in range(12)}
        fitted = law_in(values)
        assert fitted is not None
        ends = sorted((start, start + 11 * step))
        outer = IteratorRange("o", Affine(), Affine((), 3))
        inner = IteratorRange("i", Affine((), ends[0]), Affine((), ends[1]))
        law = fitted.over(loop)
        law = law.moved(Affine.of({"o": law.period or law.scale}))
        ranges = Ranges((outer, inner))
        low, high = law.range(ranges)
        for o, k in product(range(4), range(12)):
            at = {"i": start + k * step, "o": o}
            value = value_by(law, at)
            assert value == values[k] + (0 if law.modulus else law.pace * o), (seed, law)
            assert low <= value <= high
            assert value_of(law.expr(INT32, ranges), at) == value, (seed, law)
