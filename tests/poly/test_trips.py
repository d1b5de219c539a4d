"""Trip counts are those of plain execution, whatever the shape of the nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count, takewhile

import pytest
from hypothesis import HealthCheck, given, settings

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import constraint_holds
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, StatementNode, walk_tree
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.trips import LoopTrips, loop_trips
from tests.oracles.scops import random_scops


def executed(scop: Scop) -> tuple[LoopTrips, ...]:
    """Return the trip counts by running every loop."""
    seen: dict[int, list[int]] = {
        id(node): [] for node in walk_tree(scop.tree) if isinstance(node, LoopNode)
    }
    _run(scop.tree, {}, seen)
    return tuple(
        LoopTrips(
            len(trips), sum(n > 0 for n in trips), min(trips, default=0),
            max(trips, default=0), sum(trips),
        )
        for trips in seen.values()
    )  # fmt: skip


def _run(nodes: Sequence[Node], values: Mapping[str, int], seen: dict[int, list[int]]) -> None:
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                inside = list(takewhile(partial(_runs, loop), _steps(loop, values)))
                seen[id(node)].append(len(inside))
                for each in inside:
                    _run(body, each, seen)
            case ConditionNode(conditions, body):
                if all(constraint_holds(c, values) for c in conditions):
                    _run(body, values, seen)
            case StatementNode():
                pass


def _steps(loop: Loop, values: Mapping[str, int]) -> list[dict[str, int]]:
    start = loop.start.evaluate(values)
    within = takewhile(lambda n: abs(n) < 100, count(start, loop.step))
    return [{**values, loop.iterator: value} for value in within]


def _runs(loop: Loop, values: Mapping[str, int]) -> bool:
    value, stop = loop.scale * values[loop.iterator], loop.stop.evaluate(values)
    before = value < stop if loop.step > 0 else value > stop
    return before and all(limit.evaluate(values) >= 0 for limit in loop.limits)


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random_scops())
def test_they_are_those_of_execution(scop: Scop) -> None:
    assert loop_trips(ScopSets(scop)) == executed(scop)


SHAPES = {
    "triangle": ("for (int i = 0; i < 6; i++) for (int j = 0; j < i; j++)", (6, 5, 0, 5, 15)),
    "strided down": ("for (int i = 0; i < 6; i++) for (int j = 9; j > i; j -= 4)",
                     (6, 6, 1, 3, 12)),
    "two limits": ("for (int i = 0; i < 6; i++) for (int j = i; j < 8 && j < 2 * i; j++)",
                   (6, 5, 0, 4, 13)),
    "under a condition": ("for (int i = 0; i < 6; i++) if (i > 3) for (int j = 0; j < 3; j++)",
                          (2, 2, 3, 3, 6)),
}  # fmt: skip


@pytest.mark.parametrize(("header", "expected"), SHAPES.values(), ids=SHAPES)
def test_the_inner_loop_of_a_shape(header: str, expected: tuple[int, ...]) -> None:
    scop = parse_text(f"void f(int a[10]) {{ {header} a[j] = j; }}").scop
    trips = loop_trips(ScopSets(scop))
    assert trips == executed(scop)
    assert trips[1] == LoopTrips(*expected)


def test_a_large_box_is_not_enumerated() -> None:
    header = "".join(f"for (int {i} = 0; {i} < 250; {i}++) " for i in "ijkl")
    scop = parse_text(f"void f(int a[1]) {{ {header} a[0] += l; }}").scop
    assert loop_trips(ScopSets(scop))[3].total == 250**4


def test_counts_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="no trip counts"):
        LoopTrips(entries=1, entered=2, least=0, most=1, total=1)
