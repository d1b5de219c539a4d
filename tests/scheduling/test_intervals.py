"""How far apart instances issue, beside a list of all of them."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import islpy as isl
import numpy as np
import pytest

import rtlgen
from rtlgen.ir.operations import is_by_digits, is_division
from rtlgen.ir.plan import ALWAYS, Condition, IndexForm, Level, LevelBound, Predicate
from rtlgen.report.text import plan_report_text
from rtlgen.scheduling.intervals import (
    in_starts,
    iterations_apart,
    iterations_between_starts,
    listed_iterations_apart,
)


def random_instances(seed: int) -> tuple[str, list[int], int]:
    """Return a set of counters, the extents of their loops, and how many are over tiles."""
    rng = random.Random(seed)
    extents = [rng.randint(1, 6) for _ in range(rng.randint(2, 4))]
    names = [f"d{k}" for k in range(len(extents))]
    conditions = [f"0 <= {name} < {extent}" for name, extent in zip(names, extents, strict=True)]
    for _ in range(rng.randint(0, 2)):
        terms = " + ".join(f"{rng.randint(-2, 2)} {name}" for name in names)
        conditions.append(f"{terms} + {rng.randint(-2, 3)} {rng.choice(['>=', '=', '>='])} 0")
    text = f"{{ [{','.join(names)}] : {' and '.join(conditions)} }}"
    return text, extents, rng.randint(0, len(extents) - 1)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_computed_is_what_a_list_shows(seed: int) -> None:
    text, extents, tiles = random_instances(seed)
    counted = isl.Set.read_from_str(isl.DEFAULT_CONTEXT, text)
    points: list[tuple[int, ...]] = []
    counted.foreach_point(
        lambda point: points.append(
            tuple(
                point.get_coordinate_val(isl.dim_type.set, k).to_python()
                for k in range(len(extents))
            )
        )
    )
    most = 7
    ranks: dict[tuple[int, ...], list[int]] = {}
    for point in sorted(points):
        rank = int(np.ravel_multi_index(point[tiles:], extents[tiles:]))
        ranks.setdefault(point[:tiles], []).append(rank)
    gaps = [b - a for own in ranks.values() for a, b in pairwise(own)]
    placed = in_starts(counted, extents, tiles)
    assert iterations_apart(placed, most) == min([most, *gaps])
    if points:
        first, last = min(map(min, ranks.values())), max(map(max, ranks.values()))
        assert iterations_between_starts(placed, 100) == 100 + first - last


def test_a_triangle_is_listed() -> None:
    """Rows of 1, 2, .. iterations, of which the last one is an instance."""
    levels = (
        Level(5, "i"),
        Level(5, "j", (), (LevelBound(IndexForm((1, 0), 0)),)),
    )
    ends = Predicate(((Condition(IndexForm((1, -1), 0), equal=True),),))
    assert listed_iterations_apart(levels, ends, 9) == 2
    long_rows = Predicate(((*ends.alternatives[0], Condition(IndexForm((1, 0), -2))),))
    assert listed_iterations_apart(levels, long_rows, 9) == 4
    assert listed_iterations_apart(levels, long_rows, 3) == 3
    assert listed_iterations_apart(levels, ALWAYS, 9) == 1


ROWS = """
void rows(int a[8][N], int b[8]) {
  int s = 1;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < N; j++)
      s = (s + a[i][j]) ^ j;
    b[i] = s %s b[i];
  }
}
"""


@pytest.mark.sample("/-20")
@pytest.mark.parametrize("size", [3, 5, 20])
@pytest.mark.parametrize("operator", ["/", "%"])
def test_a_division_a_row_is_exact_with_few_circuits(size: int, operator: str) -> None:
    design = rtlgen.compile(source=ROWS % operator, define={"N": size})
    (op,) = [op for s in design.plan.streams for op in s.operations if is_division(op)]
    assert op.interval_cycles > 1
    found = design.verify()
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


FLOAT_ROWS = """
#include <math.h>

void f(float a[8][N], float b[8])
{
  float s = 1;
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < N; j++)
      s = (s + a[i][j]) * 0.5f;
    b[i] = %s;
  }
}
"""


@pytest.mark.sample("s / b*")
@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("s / b[i]", "S2: a division every 13 cycles at most, so 2 circuits compute its 14 digits"),
        (
            "sqrtf(s + b[i])",
            "S2: a square root every 11 cycles at most, so 2 circuits compute its 14",
        ),
    ],
)
def test_a_float_operation_a_row_finds_digits_in_turn(expression: str, shown: str) -> None:
    design = rtlgen.compile(source=FLOAT_ROWS % expression, define={"N": 3})
    (op,) = [op for s in design.plan.streams for op in s.operations if is_by_digits(op)]
    assert op.interval_cycles > 1
    assert shown in plan_report_text(design.report())
    found = design.verify()
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles


def test_the_report_says_how_often_a_statement_divides() -> None:
    text = "void f(int a[9], int b[9]) { for (int i = 1; i < 9; i++) b[i] = b[i - 1] / a[i]; }"
    shown = plan_report_text(rtlgen.compile(source=text).report())
    assert re.search(
        "S0: a division every 15 cycles at most, so 2 circuits compute its 16 digits", shown
    )
