"""PLUTO finds the schedules that the literature prints, and only legal ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product

import pytest

from rtlgen.ir import effort
from rtlgen.options import Fusion
from rtlgen.planning.analysis import Analysis
from rtlgen.poly.edges import Edge, coordinate_map, marked, schedule_edges
from rtlgen.poly.errors import NoHyperplane
from rtlgen.poly.isl_scheduler import Algorithm, isl_schedule
from rtlgen.poly.pluto import orthogonal, pluto, rank, split
from rtlgen.poly.schedule_tree import Node, Row, bands_of, loop_rows, statements_of
from tests.poly.enumeration import Point
from tests.poly.sources import SMALL, analysed, pairs_of
from tests.poly.stencils import STENCILS, stencil

Instance = tuple[str, Point]


def scheduled(text: str, fusion: Fusion = "smart") -> Node:
    analysis = analysed(text)
    edges = schedule_edges(analysis.sets, analysis.flows)
    return marked(analysis.sets, edges, pluto(analysis.sets, edges, fusion))


def forms(tree: Node) -> dict[str, list[str]]:
    """Return the loops of every statement, outermost first."""
    return {name: [row.text(name) for row in loop_rows(tree, name)] for name in statements_of(tree)}


def vectors(tree: Node, iterators: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Return (u, w, coefficients) of the rows of a program with one statement."""
    (name,) = statements_of(tree)
    return [
        (*(row.bound or ()), *(row.forms[name].coefficient(i) for i in iterators))
        for row in loop_rows(tree, name)
    ]


@pytest.mark.parametrize("size", [8, 9, 16, 64, 1024])
def test_the_transposed_sum_has_the_published_space_and_time_hyperplanes(size: int) -> None:
    tree = scheduled(stencil("transposed", size))
    assert vectors(tree, ("i", "j")) == [(0, 1, 1, 1), (1, 0, 1, 0)]
    (band,) = bands_of(tree)
    assert band.permutable
    assert [row.mark for row in band.rows] == ["pipeline", "pipeline"]


@pytest.mark.parametrize(("size", "steps"), [(12, 4), (40, 20)])
def test_a_gauss_seidel_sweep_is_skewed_twice(size: int, steps: int) -> None:
    tree = scheduled(stencil("seidel_2d", size, steps))
    assert forms(tree) == {"S0": ["t", "i + t", "i + j + 2*t"]}
    assert [band.permutable for band in bands_of(tree)] == [True]


@pytest.mark.parametrize(("size", "steps"), [(12, 4), (30, 20)])
def test_two_sweeps_of_a_jacobi_step_overlap(size: int, steps: int) -> None:
    tree = scheduled(stencil("jacobi_1d", size, steps))
    assert forms(tree) == {"S0": ["t", "i + 2*t"], "S1": ["t", "j + 2*t + 1"]}
    assert statements_of(tree) == ("S0", "S1"), "the scalar dimension: S0 first"


ADI = """void adi(int u[10][10], int v[10][10], int p[10][10], int q[10][10]) {
  for (int t = 1; t <= 2; t++) {
    for (int i = 1; i < 9; i++) {
      v[0][i] = 1; p[i][0] = 0; q[i][0] = v[0][i];
      for (int j = 1; j < 9; j++) {
        p[i][j] = -3 - p[i][j-1];
        q[i][j] = u[j][i-1] + 5 * u[j][i] - u[j][i+1] - q[i][j-1] + p[i][j-1];
      }
      v[9][i] = 1;
      for (int j = 8; j >= 1; j--) v[j][i] = p[i][j] * v[j+1][i] + q[i][j];
    }
    for (int i = 1; i < 9; i++) {
      u[i][0] = 1; p[i][0] = 0; q[i][0] = u[i][0];
      for (int j = 1; j < 9; j++) {
        p[i][j] = -3 - p[i][j-1];
        q[i][j] = v[i-1][j] + 5 * v[i][j] - v[i+1][j] - q[i][j-1] + p[i][j-1];
      }
      u[i][9] = 1;
      for (int j = 8; j >= 1; j--) u[i][j] = p[i][j] * u[i][j+1] + q[i][j];
    }
  }
}
"""


def test_hundreds_of_constraints_are_no_great_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two alternating sweeps of 14 statements: they were read as one text, in 70 million steps."""
    analysis = analysed(ADI)
    edges = schedule_edges(analysis.sets, analysis.flows)
    monkeypatch.setattr(effort, "MAX_WORK", 5_000_000)
    with effort.limited_effort():
        assert len(statements_of(pluto(analysis.sets, edges, "smart"))) == 14


@pytest.mark.parametrize(("size", "steps"), [(12, 4), (30, 20)])
def test_four_sweeps_of_fdtd_share_one_band(size: int, steps: int) -> None:
    tree = scheduled(stencil("fdtd_2d", size, steps))
    assert forms(tree) == {
        "S0": ["t", "j + t", "t"],
        "S1": ["t", "j + t", "i + t"],
        "S2": ["t", "j + t", "i + t"],
        "S3": ["t", "j + t + 1", "i + t + 1"],
    }


def test_the_second_stage_of_a_blur_follows_one_row_behind() -> None:
    assert forms(scheduled(stencil("blur"))) == {"S0": ["i", "j"], "S1": ["i + 1", "j + 1"]}


def test_fdtd_is_scheduled_in_two_seconds() -> None:
    analysis = analysed(stencil("fdtd_2d", 30, 20))
    edges = schedule_edges(analysis.sets, analysis.flows)
    begin = time.process_time()
    pluto(analysis.sets, edges)
    assert time.process_time() - begin < 2


SHALLOW_AND_DEEP = """void f(int a[8], int b[8][8], int c[8][8]) {
  for (int i = 0; i < 8; i++) a[i] = a[i] * 3;
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) b[i][j] = a[i] + j;
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) c[i][j] = b[i][j] * b[i][7 - j]; }"""


@pytest.mark.parametrize(
    ("fusion", "nests"),
    [("no", [("S0",), ("S1",), ("S2",)]), ("smart", [("S0",), ("S1", "S2")])],
)
def test_a_fusion_heuristic_decides_what_shares_loops(
    fusion: Fusion, nests: list[tuple[str, ...]]
) -> None:
    tree = scheduled(SHALLOW_AND_DEEP, fusion)
    outermost: list[tuple[str, ...]] = []
    for band in bands_of(tree):
        names = statements_of(band)
        if not any(set(names) <= set(outer) for outer in outermost):
            outermost.append(names)
    assert outermost == nests


def test_maximal_fusion_puts_everything_into_one_outer_loop() -> None:
    first = next(bands_of(scheduled(SHALLOW_AND_DEEP, "max")))
    assert statements_of(first) == ("S0", "S1", "S2")


def assert_no_row_runs_backward(analysis: Analysis, edges: Sequence[Edge], tree: Node) -> None:
    """Check every row of every band on every pair of instances that the loops outside leave."""
    for edge in edges:
        for p, q in pairs_of(edge.relation):
            outer = 0
            for band in bands_of(tree):
                if not {edge.source, edge.sink} <= set(statements_of(band)) or outer:
                    continue
                for row in band.rows:
                    early = time_of(analysis, edge.source, row, p)
                    late = time_of(analysis, edge.sink, row, q)
                    assert early <= late
                    outer += late - early


def time_of(analysis: Analysis, statement: str, row: Row, point: Point) -> int:
    names = analysis.scop.statement(statement).iterators
    return row.forms[statement].evaluate(dict(zip(names, point, strict=True)))


@pytest.mark.parametrize("name", STENCILS)
def test_no_row_of_a_band_runs_against_a_dependence(name: str) -> None:
    analysis = analysed(stencil(name, 6, 3))
    edges = schedule_edges(analysis.sets, analysis.flows)
    assert_no_row_runs_backward(analysis, edges, pluto(analysis.sets, edges))


def test_a_reversed_row_is_noticed_by_that_check() -> None:
    analysis = analysed(stencil("transposed", 6))
    edges = schedule_edges(analysis.sets, analysis.flows)
    turned = tuple(Edge(e.sink, e.source, e.relation.reverse()) for e in edges)
    with pytest.raises(AssertionError):
        assert_no_row_runs_backward(analysis, turned, pluto(analysis.sets, edges))


@pytest.mark.parametrize("name", [*SMALL, "transposed"])
@pytest.mark.parametrize("fusion", ["no", "smart", "max"])
def test_every_instance_gets_a_time_of_its_own(name: str, fusion: Fusion) -> None:
    text = SMALL.get(name) or stencil(name, 6)
    analysis = analysed(text)
    tree = pluto(analysis.sets, schedule_edges(analysis.sets, analysis.flows), fusion)
    for statement in analysis.scop.statements:
        matrix = [
            [row.forms[statement.name].coefficient(i) for i in statement.iterators]
            for row in loop_rows(tree, statement.name)
        ]
        assert rank(matrix) == len(statement.iterators)


@pytest.mark.parametrize("name", SMALL)
def test_the_edges_of_a_program_imply_all_of_its_dependences(name: str) -> None:
    analysis = analysed(SMALL[name])
    reached = connected_pairs(schedule_edges(analysis.sets, analysis.flows))
    for d in analysis.dependences:
        source, sink = (coordinate_map(analysis.sets, end) for end in (d.source, d.sink))
        for p, q in pairs_of(d.relation.apply_domain(source).apply_range(sink)):
            assert (d.sink, q) in reached[d.source, p]


def connected_pairs(edges: Sequence[Edge]) -> dict[Instance, set[Instance]]:
    """Return the instances that paths of edges lead to, from every instance."""
    after: dict[Instance, set[Instance]] = {}
    for edge in edges:
        for p, q in pairs_of(edge.relation):
            after.setdefault((edge.source, p), set()).add((edge.sink, q))
    reached: dict[Instance, set[Instance]] = {}
    for start in after:
        seen = reached[start] = set()
        todo = list(after[start])
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += after.get(node, ())
    return reached


def test_a_cycle_without_a_common_loop_is_refused() -> None:
    analysis = analysed("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }")
    # No program has these: 0 before 3, and 3 before 0.
    contradiction = analysis.sets.read_map("{ s0[i] -> s0[3 - i] : 0 <= i < 4 }")
    with pytest.raises(NoHyperplane):
        pluto(analysis.sets, [Edge("S0", "S0", contradiction)])


ALGORITHMS: tuple[Algorithm, ...] = ("isl", "feautrier")


def test_a_cycle_for_which_feautrier_finds_no_loops_is_refused() -> None:
    analysis = analysed("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }")
    contradiction = analysis.sets.read_map("{ s0[i] -> s0[3 - i] : 0 <= i < 4 }")
    before = analysis.sets.context.get_schedule_algorithm()
    with pytest.raises(NoHyperplane, match="isl's scheduler feautrier found no loops"):
        isl_schedule(analysis.sets, [Edge("S0", "S0", contradiction)], "feautrier")
    assert analysis.sets.context.get_schedule_algorithm() == before


def test_isl_finds_the_same_band_for_the_transposed_sum() -> None:
    analysis = analysed(stencil("transposed", 16))
    edges = schedule_edges(analysis.sets, analysis.flows)
    own, theirs = pluto(analysis.sets, edges), isl_schedule(analysis.sets, edges, "isl")
    assert forms(own) == forms(theirs) == {"S0": ["i + j", "i"]}
    (band,) = bands_of(theirs)
    assert band.permutable


def test_feautrier_carries_all_dependences_of_the_transposed_sum_by_one_loop() -> None:
    analysis = analysed(stencil("transposed", 16))
    edges = schedule_edges(analysis.sets, analysis.flows)
    tree = marked(analysis.sets, edges, isl_schedule(analysis.sets, edges, "feautrier"))
    outer, inner = bands_of(tree)
    assert [row.text("S0") for row in outer.rows] == ["2*i + j"]
    assert [row.mark for row in inner.rows] == ["parallel"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_algorithm_of_the_isl_context_is_put_back(algorithm: Algorithm) -> None:
    analysis = analysed(stencil("transposed", 8))
    edges = schedule_edges(analysis.sets, analysis.flows)
    before = analysis.sets.context.get_schedule_algorithm()
    isl_schedule(analysis.sets, edges, algorithm)
    assert analysis.sets.context.get_schedule_algorithm() == before


def test_a_constant_near_the_size_is_read_as_symbolic() -> None:
    for constant, size in product(range(-20, 30), (5, 8, 16)):
        multiple, rest = split(constant, size)
        assert multiple * size + rest == constant
    assert split(14, 16) == (1, -2)
    assert split(-15, 16) == (-1, 1)
    assert split(3, 16) == (0, 3)
    assert split(33, 16) == (2, 1)


@pytest.mark.parametrize(
    "rows", [[(1, 0, 0)], [(1, 1)], [(1, 1, 0), (2, 1, 1)], [(0, 1, 0), (1, 0, 0)], []]
)
def test_the_orthogonal_space_completes_the_rows(rows: list[tuple[int, ...]]) -> None:
    dims = len(rows[0]) if rows else 2
    spanning = orthogonal(rows, dims)
    assert len(rows) + len(spanning) == dims
    assert rank([*rows, *spanning]) == dims
    assert all(sum(a * b for a, b in zip(x, y, strict=True)) == 0 for x in rows for y in spanning)
