"""Laws that are fitted to values of the iterators hold wherever these are."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rtlgen.frontend.analysis.ranges import IteratorRange, Ranges
from rtlgen.frontend.analysis.turn import Turn, law_of
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue, Select, children
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, IntType
from rtlgen.source import Span

SPAN = Span("kernel.c", 1, 1, 1)
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "eq": "==", "lt": "<"}


def number(value: int) -> Constant:
    return Constant(value, INT32)


def value_of(expr: Expr, at: dict[str, int]) -> int:
    parts = [value_of(part, at) for part in children(expr)]
    match expr:
        case Constant(value):
            return value
        case IndexValue(affine):
            return affine.evaluate(at)
        case Select():
            return parts[1] if parts[0] else parts[2]
        case Binary(op):
            return expr.type.wrap(result_of(SYMBOLS[op], *parts))
    assert isinstance(expr, Cast)
    return expr.type.wrap(parts[0])


def value_by(law: Turn, at: dict[str, int]) -> int:
    moved = law.pace * (law.form.evaluate(at) // law.scale)
    return law.low.evaluate(at) + (moved % law.modulus if law.modulus else moved)


class Draw:
    """Draws two loops, and values that quotients and remainders of one form make up."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = {"i": self._values([1, 1, 2]), "j": self._values([1, 1, 2, -1, -2])}
        ranges = [
            IteratorRange(k, Affine((), min(v)), Affine((), max(v))) for k, v in self.values.items()
        ]
        self.ranges = Ranges(tuple(ranges))
        self.loops = [
            Loop(k, Affine((), v.start), Affine((), v.stop), v.step, SPAN)
            for k, v in self.values.items()
        ]
        terms = {
            "i": self.random.choice([0, 1, 2, 6, 24, -1]),
            "j": self.random.choice([1, 2, -1, 8]),
        }
        self.form = Affine.of(terms)
        self.offset = self.random.randint(0, 6) - min(0, self.ranges.minimum(self.form))
        self.modulus = self.random.choice([2, 3, 4, 5, 8])

    def _values(self, steps: list[int]) -> range:
        step, first = self.random.choice(steps), self.random.randint(0, 5)
        return range(first, first + step * self.random.randint(2, 12), step)

    def divided(self, op: str) -> Expr:
        form = self.form + (self.offset + self.random.choice([0, 1, self.modulus]))
        if op == "rem" and self.random.random() < 0.4:
            form += Affine.of({"i": self.modulus * self.random.choice([1, 2])})
        assert op in ("div", "rem")
        by = number(self.modulus * self.random.choice([1, 1, 2]) if op == "div" else self.modulus)
        return Binary("div" if op == "div" else "rem", IndexValue(form, INT32), by, INT32)

    def sum(self) -> Expr:
        found: Expr = self.divided(self.random.choice(["div", "rem"]))
        if self.random.random() < 0.3:
            found = Binary("mul", found, number(self.random.choice([2, 16, -1])), INT32)
        more = (
            number(self.random.randint(-3, 9))
            if self.random.random() < 0.7
            else self.divided("rem")
        )
        found = Binary(self.random.choice(["add", "sub"]), found, more, INT32)
        if self.random.random() < 0.3:
            beside = Affine.of({self.random.choice("ij"): self.random.choice([1, -1, 3])}, -1)
            found = Binary("add", found, IndexValue(beside, INT32), INT32)
        return Cast(Cast(found, IntType(8, False)), INT32) if self.random.random() < 0.1 else found

    def value(self) -> Expr:
        old = self.sum()
        found = old
        for _ in range(self.random.randint(0, 2)):
            asked = (
                self.divided("rem") if self.random.random() < 0.8 else IndexValue(self.form, INT32)
            )
            end = number(self.random.randint(0, self.modulus))
            condition = Binary(self.random.choice(["eq", "lt"]), asked, end, INT32)
            step = number(self.random.choice([1, -1, self.modulus, 16]))
            found = Select(condition, Binary("add", old, step, INT32), found, INT32)
        return found


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_law_gives_the_value_in_every_iteration(first: int) -> None:
    laws = 0
    for seed in range(first, first + 100):
        draw = Draw(seed)
        expr = draw.value()
        law = law_of(expr, draw.loops, draw.ranges)
        laws += law is not None
        for places in product(*draw.values.values()) if law is not None else ():
            at = dict(zip(draw.values, places, strict=True))
            assert law is not None and value_by(law, at) == value_of(expr, at), (seed, at)
    assert laws > 20
