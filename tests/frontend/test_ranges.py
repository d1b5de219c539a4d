"""Ranges never leave out a value that occurs, and are exact on simple nests."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.frontend.analysis.ranges import IteratorRange, Ranges
from rtlgen.ir.affine import Affine

small = st.integers(-3, 3)


def constant(value: int) -> Affine:
    return Affine((), value)


@st.composite
def affine(draw: st.DrawFn, names: tuple[str, ...]) -> Affine:
    return Affine.of({name: draw(small) for name in names}, draw(small))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_every_value_lies_in_the_range(data: st.DataObject) -> None:
    i = IteratorRange("i", constant(data.draw(small)), constant(data.draw(small)))
    j = IteratorRange("j", data.draw(affine(("i",))), data.draw(affine(("i",))))
    conditions = tuple(data.draw(st.lists(affine(("i", "j")), max_size=2)))
    expression = data.draw(affine(("i", "j")))
    ranges = Ranges((i, j), conditions)
    for a, b in product(range(-3, 4), range(-12, 13)):
        point = {"i": a, "j": b}
        inside = all(
            bounds.low.evaluate(point) <= point[bounds.name] <= bounds.high.evaluate(point)
            for bounds in (i, j)
        )
        if inside and all(condition.evaluate(point) >= 0 for condition in conditions):
            assert ranges.minimum(expression) <= expression.evaluate(point)
            assert expression.evaluate(point) <= ranges.maximum(expression)


def test_a_triangle_is_exact() -> None:
    i, j = Affine.variable("i"), Affine.variable("j")
    ranges = Ranges().inside(IteratorRange("i", constant(0), constant(7)))
    ranges = ranges.inside(IteratorRange("j", i, constant(7)))
    assert (ranges.minimum(j - i), ranges.maximum(j - i)) == (0, 7)


def test_a_condition_narrows() -> None:
    i = Affine.variable("i")
    ranges = Ranges().inside(IteratorRange("i", constant(0), constant(7))).under((i - 2,))
    assert ranges.minimum(i * 2 - 4) == 0
    assert ranges.maximum(i) == 7
