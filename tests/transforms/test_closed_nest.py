"""Cycles of statements with too many instances to be listed share a nest that is proven."""

from __future__ import annotations

from typing import Literal

import islpy as isl
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.poly.closed_ranks import Sunk, common_ranks, exact_loops
from rtlgen.poly.instances import Pairs, statement_points
from rtlgen.poly.pair_samples import corner_pairs
from rtlgen.poly.ranks import enumerate_nest
from rtlgen.search.compilation import IslandCompilation
from rtlgen.transforms import precedence, ragged
from rtlgen.transforms.row_pads import stretched
from rtlgen.transforms.sink import exchanged_nests
from tests.islands import compile_island
from tests.transforms.test_sink import LU, SUBSTITUTION, analysed, members_of

SYMM = """
void symm(int C[N][N], int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int t = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += 3 * B[i][j] * A[i][k];
        t += B[k][j] * A[i][k];
      }
      C[i][j] = 5 * C[i][j] + B[i][j] * A[i][i] + t;
    }
}
"""


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no program have so few instances that its pairs are listed."""
    monkeypatch.setattr(ragged, "MANY_INSTANCES", 0)


def compiled(
    text: str, size: int, write_ports: Literal["auto", "one"] = "auto"
) -> IslandCompilation:
    program = parse_text(text, "program.c", defines={"N": str(size)})
    options = CompileOptions(write_ports=write_ports, memory={EVERY_ARRAY: "onchip"})
    return compile_island(program, options)


@pytest.mark.long
@pytest.mark.usefixtures("unlisted")
def test_a_cycle_that_nobody_lists_takes_as_long_as_one_that_is_listed() -> None:
    found = compiled(LU, 16)
    # Listed it takes 747: the minima are found one by one there.
    assert predicted_cycles(found.plan) <= 780
    assert found.decision.floor_iterations == 680
    assert found.replayed


@pytest.mark.long
@pytest.mark.usefixtures("unlisted")
def test_stores_through_one_port_are_in_step_in_a_nest_that_nobody_lists() -> None:
    several, one = compiled(SUBSTITUTION, 8), compiled(SUBSTITUTION, 8, write_ports="one")
    ports = [{m.name: m.write_ports for m in found.plan.memories} for found in (several, one)]
    assert ports == [{"L": 1, "x": 2}, {"L": 1, "x": 1}]
    assert one.decision.fused_iterations == several.decision.fused_iterations == 7 * 8 // 2 + 7
    assert one.replayed


@pytest.mark.long
@pytest.mark.usefixtures("unlisted")
def test_triangles_with_one_port_are_in_step_in_a_nest_that_nobody_lists() -> None:
    found = compiled(LU, 10, write_ports="one")
    assert [memory.write_ports for memory in found.plan.memories] == [1]
    # The triangles follow each other in the rows of one square.
    assert found.decision.fused_iterations < 9 * 10 * 10
    assert found.replayed


@pytest.mark.usefixtures("unlisted")
def test_a_nest_that_only_fits_the_corners_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_pair(relation: isl.Map) -> Pairs:
        found = corner_pairs(relation)
        return Pairs(found.sources[:1], found.sinks[:1])

    monkeypatch.setattr(precedence, "corner_pairs", first_pair)
    # The judge enumerates every instance: what is built keeps all precedences.
    assert compiled(SUBSTITUTION, 8).replayed


@pytest.mark.long
def test_symm_of_a_size_that_is_not_listed_stays_in_its_triangle() -> None:
    found = compiled(SYMM, 128)
    assert found.decision.floor_iterations == 128 * 128 * 127 // 2
    # One row more, in which only sums begin and end.
    assert found.plan.fused_iterations == 128 * 128 * 127 // 2 + 128 * 128
    # No search ended for its effort; the arrays are on chip since they are asked to be.
    assert found.limits == (
        "ECP5-25k has 112 KiB for arrays: they take 512 with their copies, which is for a larger "
        "device; --max-bram 112 is for this one",
    )


@pytest.mark.sample("least2")
@pytest.mark.parametrize("least", [(0, 0), (3, 0), (2, 5)])
def test_ranks_of_all_members_of_a_nest_are_those_of_its_iterations(
    least: tuple[int, int],
) -> None:
    analysis = analysed(LU, 6)
    members, precedences = members_of(analysis)
    nest = next(exchanged_nests(members, analysis.sets, precedences))
    outermost, *inner = nest.loops
    wide = [outermost, *(stretched(loop, n) for loop, n in zip(inner, least, strict=True))]
    loops = exact_loops(wide, analysis.sets.context)
    enumerated = enumerate_nest(loops)
    rows = [] if enumerated is None else enumerated[0].tolist()
    ranks = {tuple(row): n for n, row in enumerate(rows)}
    sunk = [
        Sunk(
            analysis.sets.domains[member.name],
            member.iterators,
            nest.sinking.values[member.name],
            analysis.sets.place_map(
                analysis.scop.statement(member.name), nest.sinking.values[member.name]
            ).range(),
        )
        for member in members
    ]
    found = common_ranks(loops, sunk)
    # Where some loop is empty there is no closed form.
    assert (found is None) == (enumerated is None)
    assert found is not None or least == (3, 0)
    if found is None:
        return
    points = {
        m.name: statement_points(analysis.scop, analysis.scop.statement(m.name)) for m in members
    }
    for member, closed in zip(members, found, strict=True):
        places = nest.coordinates(member, points[member.name])
        assert closed.of(points[member.name]).tolist() == [ranks[tuple(p)] for p in places.tolist()]
        assert closed.count == len(ranks)
