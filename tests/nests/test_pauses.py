"""A statement pauses after the instances whose results are needed soon, not after all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from rtlgen.design import Design
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import NestLoop
from rtlgen.nests import candidates
from rtlgen.nests.candidates import box_placement, placement
from rtlgen.nests.pauses import Pause, find_pause
from rtlgen.options import CompileOptions
from rtlgen.planning import moves
from rtlgen.planning.analysis import analyse
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.planning.planned import timing_of
from rtlgen.poly.ranks import enumerate_nest
from rtlgen.report.text import plan_report_text
from rtlgen.target import get_target
from tests.end_to_end.judge import Compiled, batch_failures
from tests.islands import compile_island

N = 8

# In row i, the result of column k is read in all columns behind it; the same of column and row.
PATHS = f"""void paths(int d[{N}][{N}]) {{
  for (int k = 0; k < {N}; k++)
    for (int i = 0; i < {N}; i++)
      for (int j = 0; j < {N}; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j]; }}"""

# The same, where a result takes several cycles more.
PIVOTS = PATHS.replace("d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j]",
                       "d[i][j] + d[i][k] * d[k][j]").replace("paths", "pivots")  # fmt: skip


@pytest.fixture(autouse=True)
def unskewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no wavefronts be found, which are faster still at these sizes."""
    monkeypatch.setattr(moves, "find_skews", lambda *_: [])


def compiled(text: str, options: CompileOptions | None = None) -> IslandCompilation:
    return compile_island(parse_text(text, "pauses.c"), options)


def slots(compilation: IslandCompilation) -> int:
    return compilation.decision.placements["S0"].count


@pytest.fixture(scope="module")
def plans() -> dict[str, IslandCompilation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves, "find_skews", lambda *_: [])
        listed = {text.split("(")[0].split()[-1]: compiled(text) for text in (PATHS, PIVOTS)}
        patch.setattr(candidates, "MANY_INSTANCES", 0)
        patch.setattr(candidates, "MANY_OF_EACH", 0)
        return {**listed, "closed": compiled(PIVOTS.replace("pivots", "closed"))}


@pytest.mark.long
def test_one_slot_a_row_is_idle_where_one_iteration_a_row_is_waited_for(
    plans: dict[str, IslandCompilation],
) -> None:
    paths = plans["paths"]
    assert paths.decision.iis["S0"] == 1
    # Nothing waits for the last column.
    assert slots(paths) == N**3 + N * (N - 1)
    assert paths.replayed


def test_a_longer_wait_is_a_longer_pause(plans: dict[str, IslandCompilation]) -> None:
    (pause,) = plans["pivots"].analysis.pauses
    assert pause.cycles > 1
    assert slots(plans["pivots"]) == N**3 + pause.cycles * pause.instances
    assert plans["pivots"].decision.iis["S0"] == 1


def test_nests_with_pauses_have_ranks_in_closed_form(plans: dict[str, IslandCompilation]) -> None:
    closed, listed = (plans[name].decision.placements["S0"] for name in ("closed", "pivots"))
    assert closed.closed is not None and listed.table is not None
    points = plans["pivots"].analysis.sets.domains["S0"]
    assert not points.is_empty()
    every = np.stack(np.meshgrid(*[np.arange(N)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    assert (closed.ranks(every) == listed.ranks(every)).all()


def test_the_report_says_after_which_instances_and_why(plans: dict[str, IslandCompilation]) -> None:
    design = Design(plans["paths"], CompileOptions())
    (pause,) = design.report()["pauses"]
    assert pause["after"][0] in ("j - k == 0", "-j + k == 0")
    assert (pause["cycles"], pause["instances"]) == (1, N * (N - 1))
    text = plan_report_text(design.report())
    line = f"S0 pauses 1 cycle after {N * (N - 1)} instances"
    assert line in text and "d[i][k] (line 5) needs the result" in text


@pytest.mark.long
@pytest.mark.simulation
def test_circuits_that_pause_are_exact(plans: dict[str, IslandCompilation], tmp_path: Path) -> None:
    programs = [Compiled(c.analysis.program.scop, c) for c in plans.values()]
    assert batch_failures(programs, tmp_path) == [[]] * len(programs)


def test_a_pause_follows_just_the_instances_that_are_waited_for() -> None:
    loops = (NestLoop("i", 3), NestLoop("j", 5))
    j, i = Affine.variable("j"), Affine.variable("i")
    pause = Pause("S0", loops, (j - i,), (i - 1,), 2, 3, 100, "it waits")
    enumerated = enumerate_nest(pause.nest)
    assert enumerated is not None
    rows, real = enumerated
    idle = [tuple(row) for row in rows[real == 0][:, :2].tolist()]
    assert idle == [(1, 1)] * 3 + [(2, 2)] * 3
    assert [tuple(row) for row in rows[real == 1][:, :2].tolist()] == [
        (a, b) for a in range(3) for b in range(5)
    ]


def test_a_set_without_an_equality_is_followed_by_one_pause_everywhere() -> None:
    form = Affine.variable("i") - 1
    pause = Pause("S0", (NestLoop("i", 9),), (), (form,), 8, 2, 100, "it waits")
    # The bounds end the loop by themselves: the box around it only says how far it may run.
    *_, pad = pause.nest
    assert min(bound.form.evaluate({"i": 8}) for bound in pad.uppers) == 2
    placed = placement(pause.nest, ("i",))
    assert placed is not None and placed.count == 9 + 2 * 8


def test_an_iterator_may_have_the_name_of_the_loop_that_pauses() -> None:
    loop = NestLoop("pause", 5)
    form = Affine.variable("pause") - 2
    nest = Pause("S0", (loop,), (form,), (), 1, 2, 10, "it waits").nest
    assert nest[-1].pad not in (None, "pause")
    assert enumerate_nest(nest) is not None


@pytest.mark.parametrize(
    "text",
    [
        "void f(int y[64], int c) { for (int i = 1; i < 64; i++) y[i] = y[i - 1] * c; }",
        "void f(int y[64], int c) { for (int i = 0; i < 64; i++) y[i] = y[i] * c; }",
    ],
    ids=["all wait", "none wait"],
)
def test_where_all_instances_wait_or_none_there_is_no_pause(text: str) -> None:
    assert compiled(text).analysis.pauses == ()


@pytest.mark.parametrize(("waited_for", "ii", "is_paused"), [
    (2, 9, True), (3, 9, True), (4, 9, False), (2, 1, False),
])  # fmt: skip
def test_pauses_save_slots_and_are_after_a_minority_of_the_instances(
    waited_for: int, ii: int, is_paused: bool
) -> None:
    # Each of the first ones of the six instances of a row is waited for by the next one.
    analysis = analyse(parse_text("""void f(int y[8][7], int c) {
      for (int i = 0; i < 8; i++) for (int j = 1; j < 7; j++) y[i][j] = y[i][j - 1] * c; }""",
      "f.c"))  # fmt: skip
    statement, domain = analysis.scop.statements[0], analysis.sets.domains["S0"]
    placed = box_placement(analysis.scop.schedule.loops("S0"), statement.iterators)
    (own,) = timing_of(analysis, get_target("ecp5")).precedences()
    first = domain.upper_bound_val(isl.dim_type.set, 1, waited_for - 1)
    origin = replace(own.origin, relation=own.origin.relation.intersect_domain(first))
    pause = find_pause("S0", placed, ii, [replace(own, origin=origin)], domain, "")
    assert (pause is not None) == is_paused
    if pause is not None:
        assert (pause.instances, pause.cycles) == (8 * waited_for, own.lag - 1)


def test_pauses_are_validated() -> None:
    pause = Pause("S0", (NestLoop("i", 4),), (Affine.variable("i") - 1,), (), 1, 1, 8, "it waits")
    for wrong in ({"cycles": 0}, {"instances": 0}, {"equal": ()}):
        with pytest.raises(ValueError, match="S0 pauses"):
            replace(pause, **wrong)
