"""What precedences require, asked for all at once, is what each of them requires."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.nests.candidates import Placement, box_placement
from rtlgen.nests.precedence import (
    Feasibility,
    Precedence,
    Requirements,
    smallest_shifts,
    strongest,
)
from rtlgen.options import CompileOptions
from rtlgen.planning.planned import timing_of
from rtlgen.poly import extrema
from rtlgen.poly.extrema import PairExtrema, set_extrema

KERNELS = Path(__file__).parents[1] / "end_to_end" / "kernels"

# A congruence leaves pieces without integer vertices; the last two statements have equal distances.
MIXED = """void f(int a[8][8], int b[8][8], int c[8], int d[8], int e[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) b[i][j] = a[j][i] * 3;
  for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) c[i] += b[2 * j][i];
  for (int i = 0; i < 8; i++) if (i % 3 == 1) c[i] = c[7 - i] + 1;
  for (int i = 0; i < 8; i++) d[i] = c[i] ^ b[i][i];
  for (int i = 0; i < 8; i++) e[i] = d[i] + 5;
}"""


DECIMATE = (KERNELS.parents[1] / "kernels" / "decimate.c").read_text()


def of(text: str) -> tuple[dict[str, list[Placement]], tuple[Precedence, ...]]:
    """Return all orders of every statement's loops, and the precedences of a program."""
    compilation = compile_program(parse_text(text), CompileOptions())
    timing = timing_of(compilation.analysis, compilation.target)
    orders = {
        s.name: [
            box_placement(loops, s.iterators)
            for loops in permutations(timing.scop.schedule.loops(s.name))
        ]
        for s in timing.scop.statements
    }
    return orders, timing.precedences()


@pytest.mark.sample(without=("text1",))
@pytest.mark.parametrize("text", [MIXED, DECIMATE, (KERNELS / "trisolv.c").read_text()])
def test_all_at_once_are_as_far_apart_as_one_by_one(text: str) -> None:
    orders, precedences = of(text)
    required = Requirements(precedences)
    numbers = random.Random(0)
    for _ in range(20):
        placed = {name: numbers.choice(found) for name, found in orders.items()}
        iis = {name: numbers.randrange(1, 4) for name in orders}
        assert required.between(placed, iis) == strongest(
            (
                (p.source, p.sink),
                p.required(placed[p.source], placed[p.sink], iis[p.source], iis[p.sink]),
            )
            for p in precedences
        )


@pytest.mark.long
def test_equal_distances_and_pieces_without_vertices_are_among_them() -> None:
    orders, precedences = of(DECIMATE)
    required = Requirements(precedences)
    assert required._others and required._pairs
    placed = {name: found[0] for name, found in orders.items()}
    uniform = [
        p
        for p in precedences
        if p.uniform_lag is not None
        and len(set(p.gaps(placed[p.source], placed[p.sink], 1, 1))) == 1
    ]
    assert any(p.uniform_lag != p.lag for p in uniform)


def test_relations_that_read_the_same_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def counted(pairs: isl.Set) -> PairExtrema:
        seen.append(pairs)
        return set_extrema(pairs)

    monkeypatch.setattr(extrema, "set_extrema", counted)
    copies = " ".join(f"for (int i = 0; i < 8; i++) x{n}[i] = y{n}[i] + 1;" for n in range(3))
    more = " ".join(f"for (int i = 0; i < 8; i++) z{n}[i] = x{n}[i] * 3;" for n in range(3))
    arrays = ", ".join(f"int {name}{n}[8]" for name in "xyz" for n in range(3))
    _, found = of(f"void f({arrays}) {{ {copies} {more} }}")
    assert len(found) == 3
    assert len(seen) == 1


@pytest.mark.parametrize("seed", range(30))
def test_smallest_shifts_are_the_fixed_point_of_all_distances(seed: int) -> None:
    numbers = random.Random(seed)
    names = [f"S{n}" for n in range(8)]
    least = {name: numbers.randrange(-3, 9) for name in names[:4]}
    required = {
        (a, b): numbers.randrange(-9, 4) for a in names for b in names if numbers.random() < 0.3
    }
    required = {pair: d if pair[0] != pair[1] else min(d, 0) for pair, d in required.items()}
    shifts = {name: max(0, least.get(name, 0)) for name in names}
    for _ in range(9):
        before = dict(shifts)
        for (a, b), distance in required.items():
            shifts[b] = max(shifts[b], shifts[a] + distance)
    assert smallest_shifts(names, required, least) == (shifts if shifts == before else None)


def test_some_of_these_contradict_each_other() -> None:
    circle = {("a", "b"): 2, ("b", "c"): -1, ("c", "a"): 0}
    assert smallest_shifts(["a", "b", "c"], circle, {}) is None
    assert smallest_shifts(["a", "b", "c"], circle | {("c", "a"): -1}, {"b": 1}) == {
        "a": 0, "b": 2, "c": 1,
    }  # fmt: skip
    assert smallest_shifts(["a"], {}, {"a": 3}) == {"a": 3}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_feasible_has_shifts_and_the_other_way_round(seed: int) -> None:
    dice = random.Random(seed)
    names = [f"S{n}" for n in range(dice.randint(1, 6))]
    origin: Any = None
    precedences = [
        Precedence(
            dice.choice(names),
            dice.choice(names),
            dice.randint(-6, 4),
            origin,
            origin,
            dice.choice([None, -7]),
        )
        for _ in range(dice.randint(0, 9))
    ]
    known = Feasibility.of(names, precedences)
    for ii in (1, 2):
        smallest = [dice.randint(-4, 1) for _ in precedences]
        largest = [low + dice.choice([0, 0, 2]) for low in smallest]
        required = strongest(
            ((p.source, p.sink), p.required_between(ii * low, ii * high))
            for p, low, high in zip(precedences, smallest, largest, strict=True)
        )
        expected = smallest_shifts(names, required, {})
        found = known.shifts(smallest, largest, ii)
        assert (None if found is None else found.tolist()) == (
            None if expected is None else [expected[name] for name in names]
        )
