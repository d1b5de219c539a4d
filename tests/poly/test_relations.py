"""What is known of some integers together holds of every run that was joined into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.poly.relations import Relations, joined

NAMES = ("x", "y", "z")
Point = Mapping[str, int]
Change = tuple[Relations, list[Point]]

_NUMBERS = st.integers(-3, 3)
_TERMS = st.fixed_dictionaries({name: st.integers(-2, 2) for name in NAMES})
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(NAMES), _TERMS, _NUMBERS, st.integers(0, 1)),
        st.tuples(st.just("where"), _TERMS, st.integers(-2, 6), st.booleans()),
        st.tuples(st.just("join")),
    ),
    max_size=5,
)


def terms_of(numbers: Mapping[str, int]) -> dict[str, int]:
    return {name: c for name, c in numbers.items() if c}


def value(terms: Mapping[str, int], point: Point) -> int:
    return sum(c * point[name] for name, c in terms.items())


def carried_out(steps: list[tuple], points: list[Point], known: Relations) -> list[Change]:  # type: ignore[type-arg]
    """Carry steps out on numbers, and on what is known of them."""
    ways: list[Change] = [(known, points)]
    for step in steps:
        relations, here = ways[-1]
        match step:
            case ("set", name, numbers, low, more):
                terms = terms_of(numbers)
                after = relations.with_value(name, terms, (low, low + more))
                made: list[Point] = [
                    {**p, name: value(terms, p) + by} for p in here for by in (low, low + more)
                ]
                ways.append((after, made))
            case ("where", numbers, constant, is_equation):
                terms = terms_of(numbers)
                after = relations.where(terms, constant, is_equation=is_equation)
                sums = [value(terms, p) + constant for p in here]
                holds = [s == 0 if is_equation else s >= 0 for s in sums]
                ways.append((after, [p for p, held in zip(here, holds, strict=True) if held]))
            case _:
                ways.append((joined([r for r, _ in ways]), [p for _, ps in ways for p in ps]))
    return ways


@settings(max_examples=25)
@given(_STEPS, st.lists(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS), min_size=1, max_size=3))
def test_what_is_known_holds_of_every_run(
    steps: list[tuple],  # type: ignore[type-arg]
    starts: list[tuple[int, int, int]],
) -> None:
    points: list[Point] = [dict(zip(NAMES, start, strict=True)) for start in starts]
    first = []
    for point in points:
        known = Relations.unknown(NAMES)
        for name in NAMES:
            known = known.with_value(name, {}, (point[name], point[name]))
        first.append(known)
    for relations, here in carried_out(steps, points, joined(first)):
        assert not (here and relations.is_empty)
        for point in here:
            for numbers in product((-1, 0, 1), repeat=3):
                terms = terms_of(dict(zip(NAMES, numbers, strict=True)))
                low, high = relations.bounds(terms)
                assert low <= value(terms, point) <= high
            ends = np.array([0.0, 4.0, np.inf])
            low, high = known.widened(relations, ends).bounds({"x": 1})
            assert low <= point["x"] <= high


def counted(change: Callable[[Relations], list[Relations]], rounds: int = 4) -> Relations:
    """Return what is known behind some iterations that begin with x = y = z = 0."""
    known = Relations.unknown(NAMES)
    for name in NAMES:
        known = known.with_value(name, {}, (0, 0))
    for _ in range(rounds):
        known = joined([known, *change(known)])
    return known


def stepped(known: Relations, *names: str) -> Relations:
    for name in names:
        known = known.with_value(name, {name: 1}, (1, 1))
    return known


def test_a_sum_of_two_counters_is_a_third_one() -> None:
    known = counted(lambda r: [stepped(r, "x", "z"), stepped(r, "y", "z")])
    assert known.bounds({"z": 1, "x": -1, "y": -1}) == (0, 0)
    assert known.where({"x": -1}, 2).where({"y": -1}, 2).bounds({"z": 1}) == (0, 4)


def test_who_is_behind_stays_behind() -> None:
    known = counted(lambda r: [stepped(r, "x"), stepped(r, "x", "y")])
    assert known.bounds({"x": 1, "y": -1})[0] == 0
    assert known.where({"x": -1}, 2).bounds({"y": 1}) == (0, 2)


@pytest.mark.parametrize(("terms", "constant"), [({"x": 1, "y": -1}, -1), ({"z": -1}, -1)])
def test_what_cannot_be_is_empty(terms: Mapping[str, int], constant: int) -> None:
    known = counted(lambda r: [stepped(r, "y"), stepped(r, "x", "y", "z")])
    assert known.where(terms, constant).is_empty
