"""Cycles of statements in triangular nests share one nest: no iteration more than there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import loop_paths
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.nests import sinking
from rtlgen.nests import sinking as sinkings_module
from rtlgen.nests.padding import nest_with_minima
from rtlgen.nests.period import Member
from rtlgen.nests.precedence import Precedence, Related, iteration_precedences
from rtlgen.nests.sinking import CommonNest, LoopOrders, Sinking, common_nests, sinkings
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.poly.instances import Pairs
from rtlgen.poly.ranks import enumerate_nest
from rtlgen.transforms.lanes import LaneWishes
from tests.islands import compile_island

FOLDER = Path(__file__).parents[1] / "end_to_end" / "kernels"

LU = """
void lu(int A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}
"""

SUMMED_LU = """
void lu(int A[N][N]) {
  int sum;
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      sum = A[i][j];
      for (int k = 0; k < j; k++)
        sum -= A[i][k] * A[k][j];
      A[i][j] = sum / A[j][j];
    }
    for (int j = i; j < N; j++) {
      sum = A[i][j];
      for (int k = 0; k < i; k++)
        sum -= A[i][k] * A[k][j];
      A[i][j] = sum;
    }
  }
}
"""

CHOLESKY = """
void cholesky(int A[N][N], int root[N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
    update:
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    root[i] = A[i][i] ^ 5;
    A[i][i] = root[i] ^ i;
  }
}
"""

SUBSTITUTION = """
void substitute(int L[N][N], int x[N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] ^ i;
  }
}
"""


ROWS = """
void rows(int a[N][N], int x[1], int y[N]) {
  for (int i = 0; i < N; i++) {
    x[0] = i;
    for (int j = LOW; j < i; j++)
      x[0] ^= a[i][j];
    y[i] = x[0];
  }
}
"""


def parsed(text: str, size: int) -> ParsedProgram:
    return parse_text(text, "program.c", defines={"N": str(size)})


def analysed(text: str, size: int) -> Analysis:
    return analyse(parsed(text, size))


def compiled(text: str, size: int) -> IslandCompilation:
    return compile_island(parsed(text, size))


def steps(compilation: IslandCompilation) -> int:
    """Return how many statement instances there are."""
    return sum(stream.instances for stream in compilation.plan.streams)


@pytest.mark.long
@pytest.mark.sample("5")
@pytest.mark.parametrize("size", [5, 8])
def test_lu_takes_no_more_than_one_iteration_for_every_statement_instance(size: int) -> None:
    compilation = compiled(LU, size)
    # A quotient is computed beside the last product that it waits for, where there is one.
    assert compilation.plan.fused_iterations < steps(compilation)


@pytest.mark.long
def test_only_the_dividers_latency_keeps_lu_from_one_instance_a_cycle() -> None:
    compilation = compiled(LU, 16)
    # Fifteen columns are divided one after another; where few rows are left, a division takes
    # longer than all work that could be done beside it.
    assert predicted_cycles(compilation.plan) <= steps(compilation) + 15 * 16
    assert compilation.replayed


@pytest.mark.long
def test_statements_with_loops_in_orders_of_their_own_fill_one_triangle_together() -> None:
    compilation = compiled(LU, 24)
    floor = compilation.decision.floor_iterations
    assert floor == 24 * 23 * 25 // 6
    # One triangle runs beside the transposed other one; what is left are the chains of divisions.
    assert compilation.plan.fused_iterations <= floor + 24 * 4
    assert compilation.replayed


@pytest.mark.long
def test_what_begins_and_ends_a_sum_goes_with_its_loops() -> None:
    compilation = compiled(SUMMED_LU, 24)
    floor = compilation.decision.floor_iterations
    assert floor == 24 * 23 * 25 // 6
    # Both products run side by side, as without the scalar; one after the other they take 4,624.
    assert compilation.plan.fused_iterations <= floor + 24 * 16
    assert compilation.replayed


def test_short_rows_wait_for_the_value_of_the_row_before_and_long_ones_do_not() -> None:
    short, long = compiled(SUBSTITUTION, 8), compiled(SUBSTITUTION, 40)
    assert predicted_cycles(short.plan) < steps(short) + 60
    assert predicted_cycles(long.plan) < steps(long) + 60


@pytest.mark.parametrize("low", [0, 1, 3])
def test_an_empty_row_takes_one_iteration(low: int) -> None:
    program = parse_text(ROWS, "rows.c", defines={"N": "9", "LOW": str(low)})
    compilation = compile_island(program)
    assert compilation.decision.fused_iterations == sum(max(1, i - low) for i in range(9))


def test_what_runs_behind_a_row_runs_in_its_last_iteration() -> None:
    text = (FOLDER / "empty_rows.c").read_text()
    decision = compile_island(parse_text(text, "rows.c"), CompileOptions(expand="never")).decision
    pad = decision.placements["S2"].loops[1]
    assert str(pad) == "pad c1@(max(i - 1, 3))=2..i - 1 at least 2"
    # Row 5 has the iterations 2, 3 and 4; a row without an instance of S1 has 2 and 3.
    ranks = decision.placements["S2"].ranks(np.array([[0], [1], [5], [6]]))
    assert np.diff(ranks).tolist() == [2, 2 + 2 + 2 + 3, 4]


def backward(
    members: Sequence[Member],
    precedences: Sequence[Precedence],
    sinking: Sinking,
    order: Sequence[int],
) -> float:
    """Return the share of each precedence's pairs that runs backward, weighted by the loop."""
    iterators = {member.name: member.iterators for member in members}

    def place(name: str, point: list[int]) -> list[int]:
        indices = dict(zip(iterators[name], point, strict=True))
        return [max(form.evaluate(indices) for form in dim) for dim in sinking.values[name]]

    total = 0.0
    for p in precedences:
        assert isinstance(p.related, Pairs)
        weights = []
        for early, late in zip(p.related.sources.tolist(), p.related.sinks.tolist(), strict=True):
            places = zip(place(p.source, early), place(p.sink, late), strict=True)
            steps = [b - a for a, b in places]
            levels = [n for n, dim in enumerate(order) if steps[dim]]
            is_backward = bool(levels) and steps[order[levels[0]]] < 0
            weights.append(4 ** (len(order) - 1 - levels[0]) if is_backward else 0)
        total += sum(weights) / len(weights)
    return total


def members_of(analysis: Analysis) -> tuple[list[Member], Sequence[Precedence]]:
    """Return all statements as members of one unit, and what must come first."""
    scop, paths = analysis.scop, loop_paths(analysis.scop.tree)
    members = [
        Member(s.name, s.iterators, scop.schedule.loops(s.name), paths[s.name])
        for s in scop.statements
    ]
    names = frozenset(member.name for member in members)
    related = Related(analysis.sets, names)
    return members, iteration_precedences(scop, analysis.dependences, related)


def nests_of(text: str, size: int) -> list[CommonNest]:
    analysis = analysed(text, size)
    members, precedences = members_of(analysis)
    return list(common_nests(members, analysis.sets, precedences))


def iterations(nest: CommonNest) -> int:
    enumerated = enumerate_nest(nest.loops)
    assert enumerated is not None
    return len(enumerated[0])


TRIANGLES = """
void triangles(int A[N][N], int B[N][N]) {
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < k + 1; i++)
      for (int j = 0; j < N; j++)
        B[i][j] = B[i][j] - A[i][j] * B[k][j];
    for (int i = k; i < N; i++)
      for (int j = 0; j < k + 1; j++)
        A[i][j] = A[i][j] - B[i][k] * B[k][j];
  }
}
"""


@pytest.mark.parametrize("text", [TRIANGLES, SUBSTITUTION, LU])
def test_a_convex_hull_comes_behind_the_plain_one_where_it_is_smaller(text: str) -> None:
    nests = nests_of(text, 6)
    pairs = [(a, b) for a, b in pairwise(nests) if b.gain == TOLERANCE]
    assert pairs
    for plain, convex in pairs:
        assert plain.gain == 1.0 and plain.sinking == convex.sinking
        assert iterations(convex) <= iterations(plain)
    assert any(iterations(convex) < iterations(plain) for plain, convex in pairs)


def test_a_hull_that_is_hard_to_find_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinking, "HULL_OPERATIONS", 1)
    assert {nest.gain for nest in nests_of(TRIANGLES, 6)} == {1.0}


def test_an_order_is_as_backward_as_its_dependent_pairs_are() -> None:
    analysis = analysed(LU, 5)
    members, precedences = members_of(analysis)
    orders = LoopOrders(members, precedences, 3, in_order=False)
    different = set()
    for way in sinkings(members, analysis.sets.domains, orders)[:8]:
        found = orders.backward(way.values)
        expected = {order: backward(members, precedences, way, order) for order in found}
        assert found == pytest.approx(expected)
        different |= set(expected.values())
    assert 0 in different and len(different) > 2


def test_deep_nests_keep_their_outermost_loops_and_rank_so_many_pins() -> None:
    analysis = analysed(LU, 5)
    members, precedences = members_of(analysis)
    orders = LoopOrders(members, precedences, 3, in_order=False)
    assert len(sinkings(members, analysis.sets.domains, orders)) > 1
    orders.weighed = sinkings_module.MAX_WEIGHED + 1
    assert not sinkings(members, analysis.sets.domains, orders)
    deep = LoopOrders([], [], 8, in_order=False).backward({})
    assert len(deep) == 120 and all(order[:3] == (0, 1, 2) for order in deep)


def test_an_order_gets_the_pins_that_suit_it() -> None:
    analysis = analyse(parsed(CHOLESKY, 8), wishes=LaneWishes({"update": 2}))
    members, precedences = members_of(analysis)

    def least_backward(weighed_apart: int) -> dict[tuple[int, ...], float]:
        orders = LoopOrders(members, precedences, 3, in_order=False)
        orders.weighed_apart = weighed_apart
        found = sinkings(members, analysis.sets.domains, orders)
        every = [orders.backward(way.values) for way in found]
        return {order: min(each[order] for each in every) for order in every[0]}

    alike, apart = least_backward(sinkings_module.MAX_WEIGHED + 1), least_backward(0)
    assert alike[1, 2, 0] > apart[1, 2, 0] == 0
    assert all(apart[order] <= alike[order] for order in alike)


def test_a_loop_says_where_it_begins_in_iterations_outside_of_the_domain() -> None:
    a, b = Affine.variable("a"), Affine.variable("b")
    loops = [
        NestLoop("a", 4),
        NestLoop("b", 4, uppers=(Bound(a),)),
        NestLoop("c", 4, lowers=(Bound(a - b),)),
    ]
    plain = nest_with_minima(loops, (0, 0, 0), 100)
    assert plain is not None
    assert plain[0][2].lowers == (Bound(a - b),)
    padded = nest_with_minima(loops, (0, 3, 0), 100)
    assert padded is not None
    # b runs to 2 where a is 0: c would begin at -2 there.
    assert padded[0][2].lowers == (Bound(a - b), Bound(Affine()))
    assert (padded[1] >= 0).all()
