"""Statements in a cycle take whatever orders and pads make the fused loop shortest."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import NestLoop
from rtlgen.nests.candidates import Placement, box_placement
from rtlgen.nests.cyclic_orders import best_orders
from rtlgen.nests.period import Grouping, self_distance
from rtlgen.nests.precedence import (
    Precedence,
    Related,
    iteration_precedences,
    requirements,
    smallest_shifts,
)
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import analyse
from rtlgen.poly.legality import find_violation
from tests.islands import compile_island
from tests.oracles.exhaustive_fusion import ExhaustiveFusion

# One row of sums for all rows of the matrix: a row is copied back while its last sums are made.
ROW_OF_SUMS = """void f(int a[3][4], int c[4][4], int sum[4]) {
  for (int q = 0; q < 3; q++) {
    for (int p = 0; p < 4; p++) {
      sum[p] = 0;
      for (int s = 0; s < 4; s++) sum[p] += a[q][s] * c[s][p]; }
    for (int p = 0; p < 4; p++) a[q][p] = sum[p]; } }"""

TURNED = """void f(int a[3][3], int b[3][3]) {
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) b[i][j] = a[j][i] + t;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) a[i][j] = b[i][j] ^ a[i][j]; } }"""

RING = """void f(int a[2][3], int b[2][3]) {
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 3; j++) b[i][j] += a[i][j];
    for (int j = 0; j < 3; j++) a[1][j] = b[0][j]; } }"""

PROGRAMS = {"row of sums": (ROW_OF_SUMS, 48), "turned": (TURNED, 31), "ring": (RING, 24)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_total_is_that_of_the_exhaustive_search(name: str) -> None:
    text, total = PROGRAMS[name]
    compilation = compile_island(parse_text(text, "p.c"), CompileOptions(expand="never"))
    assert compilation.decision.fused_iterations == total
    assert compilation.decision.fused_proven
    analysis = compilation.analysis
    fusion = ExhaustiveFusion(analysis.scop)
    assert fusion.reaches(total)
    assert not fusion.reaches(total - 1)
    schedule = compilation.stages["fuse"].schedule
    assert find_violation(analysis.sets, analysis.dependences, schedule) is None
    assert compilation.replayed


Problem = tuple[dict[str, list[Placement]], tuple[Precedence, ...]]


def problem(text: str) -> Problem:
    """Return the orders of every statement, shallow ones padded too, and what they must keep."""
    analysis = analyse(parse_text(text, "p.c"))
    scop = analysis.scop
    related = Related(analysis.sets, frozenset())
    precedences = iteration_precedences(scop, analysis.dependences, related)
    nests: dict[str, list[Placement]] = {}
    for statement in scop.statements:
        own = scop.schedule.loops(statement.name)
        sizes = (2, 3, 4)
        pads = [NestLoop(None, n, at) for n in sizes for at in (0, n - 1)] if len(own) < 3 else []
        orders = [*permutations(own), *(o for pad in pads for o in permutations([*own, pad]))]
        placed = [box_placement(order, statement.iterators) for order in orders]
        kept = [p for p in precedences if p.source == p.sink == statement.name]
        nests[statement.name] = [x for x in placed if all(self_distance(p, x) > 0 for p in kept)]
    return nests, precedences


def last_issue_of_the_best(nests: dict[str, list[Placement]], kept: tuple[Precedence, ...]) -> int:
    """Try every combination."""
    found = []
    for chosen in product(*nests.values()):
        placed = dict(zip(nests, chosen, strict=True))
        required = requirements(kept, placed, dict.fromkeys(placed, 1))
        shifts = smallest_shifts(list(placed), required, {})
        if shifts is not None:
            found.append(Grouping(placed, 1, shifts).last_issue)
    return min(found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_combination_is_left_out(name: str) -> None:
    nests, kept = problem(PROGRAMS[name][0])
    found = best_orders(nests, kept, kept, ii=1, limit=None)
    assert found.exhausted and found.best is not None
    best = found.best.last_issue
    assert best == last_issue_of_the_best(nests, kept)
    assert best_orders(nests, kept, kept, ii=1, limit=best).best is None


def test_the_shifts_keep_every_precedence() -> None:
    nests, kept = problem(ROW_OF_SUMS)
    best = best_orders(nests, kept, (), ii=1, limit=None).best
    assert best is not None
    required = requirements(kept, best.placements, dict.fromkeys(nests, 1))
    assert all(best.shifts[b] - best.shifts[a] >= least for (a, b), least in required.items())


def test_what_must_hold_without_latencies_is_asked_for_too() -> None:
    nests, kept = problem(RING)
    free = best_orders(nests, (), (), ii=1, limit=None).best
    bound = best_orders(nests, (), kept, ii=1, limit=None).best
    assert free is not None and bound is not None
    assert free.last_issue <= bound.last_issue
    required = requirements(kept, bound.placements, dict.fromkeys(nests, 1))
    assert smallest_shifts(list(nests), required, {}) is not None


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nests, kept = problem(ROW_OF_SUMS)
    monkeypatch.setattr("rtlgen.nests.cyclic_orders.MAX_NODES", 1)
    assert not best_orders(nests, kept, kept, ii=1, limit=None).exhausted
    monkeypatch.setattr("rtlgen.nests.cyclic_orders.MAX_TABLE", 1)
    assert not best_orders(nests, kept, kept, ii=1, limit=None).exhausted
