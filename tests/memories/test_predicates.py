"""Listed instances told by comparisons: just the chosen ones, or none at all."""

from __future__ import annotations

import random
from collections.abc import Callable

import islpy as isl
import numpy as np
import pytest

from rtlgen.ir.effort import limited_effort
from rtlgen.ir.ints import Ints
from rtlgen.memories import predicates
from rtlgen.memories.predicates import MAX_OCTAGONS, described
from rtlgen.options import CompileOptions
from rtlgen.poly.instances import Pairs
from tests.judges.test_replay import PROGRAMS, compiled, replays

TRIANGLE = np.array([(i, j) for i in range(9) for j in range(i + 1)])
NEIGHBOURS = "{ S[i, j] -> S[i, j + 1] : 0 <= i < 9 and 0 <= j < i }"


def neighbours() -> Pairs:
    """Return the pairs of `NEIGHBOURS`: each instance but the first of a row has the one before."""
    sinks = TRIANGLE[TRIANGLE[:, 1] > 0]
    return Pairs(sinks - np.array([0, 1]), sinks)


def told(chosen: Callable[[int, int], bool]) -> set[tuple[int, int]] | None:
    """Return which instances the circuit takes for those that are chosen."""
    pairs = neighbours()
    mask = np.array([chosen(i, j) for i, j in pairs.sinks.tolist()])
    found = described(isl.Map(NEIGHBOURS), pairs, mask, TRIANGLE)
    return None if found is None else {(i, j) for i, j in TRIANGLE.tolist() if holds(found, i, j)}


def holds(instances: isl.Set, i: int, j: int) -> bool:
    return not instances.intersect(isl.Set(f"{{ S[{i}, {j}] }}")).is_empty()


def wanted(chosen: Callable[[int, int], bool]) -> set[tuple[int, int]]:
    sinks: Ints = neighbours().sinks
    return {(i, j) for i, j in sinks.tolist() if chosen(i, j)}


@pytest.mark.parametrize(
    "chosen",
    [
        lambda i, j: True,
        lambda i, j: i == 4,
        lambda i, j: j in (1, 4, 7),
        lambda i, j: i - j == 2 or i == 8,
        lambda i, j: (i, j) == (8, 3),
        lambda i, j: (i < 4) == (j < 2),
    ],
)
def test_octagons_hold_the_chosen_instances_and_no_other(
    chosen: Callable[[int, int], bool],
) -> None:
    assert told(chosen) == wanted(chosen)


@pytest.mark.parametrize("seed", range(20))
def test_unions_of_a_few_octagons_are_told_or_given_up(seed: int) -> None:
    rng = random.Random(seed)
    parts = [(rng.randrange(9), rng.randrange(-3, 9), rng.randrange(1, 4)) for _ in range(3)]

    def chosen(i: int, j: int) -> bool:
        return (i, j) == (8, 8) or any(a <= i < a + n and i - j <= b for a, b, n in parts)

    assert told(chosen) in (None, wanted(chosen))


def test_instances_all_over_the_place_are_given_up() -> None:
    def chosen(i: int, j: int) -> bool:
        return (3 * i + 5 * j) % 7 < 2

    assert len(wanted(chosen)) > MAX_OCTAGONS
    assert told(chosen) is None


@pytest.mark.sample(
    without=(
        "products",
        "triangle",
        "quotients",
        "versions",
        "parts",
    )
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_circuit_cannot_tell_is_loaded_and_stored_by_every_instance(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compiled(PROGRAMS[name], CompileOptions())
    monkeypatch.setattr(predicates, "MAX_CONDITIONS", 2)
    simple = compiled(PROGRAMS[name], CompileOptions())
    assert replays(simple.plan, simple)
    everywhere = [s.store.when.is_true for s in simple.plan.streams]
    assert sum(everywhere) >= sum(s.store.when.is_true for s in plain.plan.streams)


def test_each_description_is_a_step_of_its_own() -> None:
    context = isl.Context()
    context.set_max_operations(3000)
    pairs = neighbours()
    relation = isl.Map(NEIGHBOURS, context)
    mask = pairs.sinks[:, 0] == 4
    # Together they take more operations than one step of isl may.
    with limited_effort():
        found = [described(relation, pairs, mask, TRIANGLE) for _ in range(40)]
    assert all(one is not None for one in found)
