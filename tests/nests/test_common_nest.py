"""Iterations of an outer loop that overlap by their short rows.

Nests that no minimal trip count helps are given up before any is tried.

Cycles of statements with too many instances to be listed share a nest that is proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import islpy as isl
import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.nests import candidates, precedence
from rtlgen.nests.common_nest import overlapping, padded_nest
from rtlgen.nests.padding import Effort
from rtlgen.nests.period import Grouping
from rtlgen.nests.precedence import Precedence
from rtlgen.nests.row_pads import stretched
from rtlgen.nests.sinking import CommonNest, Sinking, common_nests, exchanged_nests
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.poly.closed_extrema import corner_pairs
from rtlgen.poly.closed_ranks import Sunk, common_ranks, exact_loops
from rtlgen.poly.instances import Pairs, statement_points
from rtlgen.poly.ranks import enumerate_nest
from tests.islands import compile_island
from tests.nests.test_sinking import LU, SUBSTITUTION, analysed, members_of

SWEEPS, SIDE = 3, 6
ROW = Affine.variable("d1")


def wavefronts(sweeps: int = SWEEPS) -> CommonNest:
    """Return sweeps over a square along wavefronts d1 = i + j, in the loops (d0, d1, i = d2)."""
    loops = (
        NestLoop("d0", sweeps),
        NestLoop("d1", 2 * SIDE - 1),
        NestLoop("d2", SIDE, 0, (Bound(ROW - (SIDE - 1)),), (Bound(ROW),)),
    )
    place = tuple((Affine.variable(name),) for name in "twi")
    return CommonNest(Sinking({"S0": place}, {"S0": ("t", "w", "i")}), ("d0", "d1", "d2"), loops, 0)


def with_minima(nest: CommonNest, least: int) -> tuple[NestLoop, ...]:
    return (*nest.loops[:2], replace(nest.loops[2], at_least=least))


def rows_of(loops: tuple[NestLoop, ...]) -> np.ndarray:
    enumerated = enumerate_nest(loops)
    assert enumerated is not None
    return enumerated[0]


@pytest.mark.parametrize("least", [2, 3, 4])
def test_every_iteration_is_there_once_and_rows_are_as_long_as_they_must_be(least: int) -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, least))
    assert found is not None
    front, *others = (found.loops[n].counter for n in range(4))
    assert (front, *others) == ("d3", "d0", "d1", "d2")
    rows = rows_of(found.loops)
    real = [tuple(row[1:]) for row in rows.tolist() if 0 <= row[1] < SWEEPS]
    assert sorted(real) == sorted(map(tuple, rows_of(nest.loops).tolist()))
    stride = 2 * SIDE - 1 - (least - 1)
    assert [f == w + stride * t for f, t, w, _ in rows.tolist()] == [True] * len(rows)
    lengths = np.unique(rows[:, 0], return_counts=True)[1]
    assert lengths.min() == least
    # Only the first and the last rows have iterations that are not there.
    assert len(rows) == len(real) + least * (least - 1)


def test_a_member_runs_where_its_own_loops_say() -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, 3))
    assert found is not None
    (pinned, *own) = found.loops_of("S0", found.loops)
    assert [loop.iterator for loop in own] == ["t", "w", "i"]
    assert pinned.iterator is None
    assert pinned.pinned == (Affine.variable("w") + Affine.variable("t") * 9,)


def test_what_has_no_short_rows_does_not_overlap() -> None:
    nest = wavefronts()
    assert overlapping(nest, nest.loops) is None
    assert overlapping(nest, with_minima(nest, 1)) is None
    box = replace(nest, loops=(*nest.loops[:2], NestLoop("d2", SIDE)))
    assert overlapping(box, with_minima(box, 3)) is None


def test_where_no_row_is_long_enough_none_overlap() -> None:
    nest = wavefronts()
    padded = (*nest.loops[:2], NestLoop("d2", SIDE + 1, at_least=SIDE + 1))
    assert overlapping(nest, padded) is None


def test_one_iteration_has_nothing_to_overlap_with() -> None:
    nest = wavefronts(sweeps=1)
    assert overlapping(nest, with_minima(nest, 3)) is None


def test_rows_that_differ_from_iteration_to_iteration_do_not_overlap() -> None:
    nest = wavefronts()
    rows = replace(nest.loops[1], uppers=(Bound(Affine.variable("d0") + 5),))
    growing = replace(nest, loops=(nest.loops[0], rows, nest.loops[2]))
    assert overlapping(growing, with_minima(growing, 3)) is None
    inner = replace(nest.loops[2], uppers=(Bound(ROW), Bound(Affine.variable("d0") + 3)))
    cut = replace(nest, loops=(*nest.loops[:2], inner))
    assert overlapping(cut, with_minima(cut, 3)) is None


def test_a_member_that_is_in_one_of_two_rows_does_not_overlap() -> None:
    nest = wavefronts()
    (t, w, i) = nest.sinking.values["S0"]
    values = {"S0": (t, (*w, Affine.variable("t")), i)}
    pinned = replace(nest, sinking=Sinking(values, {"S0": ("t", None, "i")}))
    assert overlapping(pinned, with_minima(pinned, 3)) is None


def test_an_overlapped_nest_is_not_overlapped_again() -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, 3))
    assert found is not None
    padded = (*found.loops[:3], replace(found.loops[3], at_least=3))
    assert overlapping(found, padded) is None


ENOUGH = 1_000_000_000


def padded(backward: Sequence[str]) -> tuple[Grouping | None, int, int]:
    """Return what the first nest of an LU becomes, what that cost, and the dependent pairs.

    Parameters
    ----------
    backward: statements of which a later instance must run before an earlier one.
    """
    analysis = analysed(LU, 6)
    members, precedences = members_of(analysis)
    nest = next(iter(common_nests(members, analysis.sets, precedences)))
    changed = [reversed_(p) if p.source == p.sink in backward else p for p in precedences]
    points = {s.name: statement_points(analysis.scop, s) for s in analysis.scop.statements}
    effort = Effort(ENOUGH)
    found = padded_nest(members, nest, points, changed, changed, {}, None, effort)
    pairs = sum(len(p.related.sources) for p in changed if isinstance(p.related, Pairs))
    return found, ENOUGH - effort.left, pairs


def reversed_(precedence: Precedence) -> Precedence:
    assert isinstance(precedence.related, Pairs)
    related = Pairs(precedence.related.sinks, precedence.related.sources)
    return replace(precedence, related=related)


def test_a_nest_in_which_an_instance_comes_too_late_costs_one_look() -> None:
    found, _, pairs = padded(())
    assert found is not None and pairs > 0
    for statement in ("S0", "S2"):
        found, cost, pairs = padded((statement,))
        assert found is None
        assert cost == pairs


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
    monkeypatch.setattr(candidates, "MANY_INSTANCES", 0)
    monkeypatch.setattr(candidates, "MANY_OF_EACH", 0)


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
