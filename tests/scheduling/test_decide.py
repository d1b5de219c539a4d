"""Several fused loops where one is longer or too complex."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from rtlgen.design import Design
from rtlgen.frontend import parse_text
from rtlgen.ir import effort
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex
from rtlgen.options import CompileOptions
from rtlgen.planning import choice, one_form
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.compilation import IslandCompilation
from rtlgen.planning.planned import Planned, timing_of
from rtlgen.poly.legality import find_violation
from rtlgen.report.text import plan_report_text
from rtlgen.scheduling.decide import decide_fused, shortest_regions
from rtlgen.scheduling.space import Space
from rtlgen.transforms.fuse import fuse
from rtlgen.transforms.units import Unit
from tests.islands import compile_island

# The third statement waits for its own results, the others could run beside it.
THREE = """void f(int a[8], int b[8], int c[8], int t[1]) {
  for (int i = 0; i < 8; i++) b[i] = a[i] + 1;
  for (int i = 0; i < 8; i++) t[0] = (t[0] + b[i]) * 3;
  for (int i = 0; i < 8; i++) c[i] = b[i] * t[0]; }"""


def refuse(*_: object) -> None:
    raise TooComplex("the analysis of this program is too complex", notes=("it is a test",))


def in_one_late_loop(analysis: Analysis, options: CompileOptions, free: Space) -> Planned:
    """Plan one loop that is legal, and far too long."""
    return one_form.plan_of(analysis, options, free, lambda space: decide_fused(space, {"S2": 99}))


def first_and_others(space: Space) -> list[list[Unit]]:
    units = list(space.timing.units)
    return [units[:1], units[1:]]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> IslandCompilation:
    """A program that is built as two loops, since its only loop for all would be too long."""
    monkeypatch.setattr(one_form, "_in_one_loop", in_one_late_loop)
    monkeypatch.setattr(one_form, "shortest_regions", first_and_others)
    return compile_island(parse_text(THREE))


def apart() -> int:
    """Return the cycles of all nests one after another."""
    return predicted_cycles(compile_island(parse_text(THREE), CompileOptions(fuse="none")).plan)


def test_a_loop_for_all_that_is_longer_than_the_nests_apart_is_not_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_form, "_in_one_loop", in_one_late_loop)
    found = compile_island(parse_text(THREE))
    assert found.replayed
    assert predicted_cycles(found.plan) < apart()
    assert found.decision.why == "the search for one loop found none with fewer than 133 cycles"


def test_neighbours_are_joined_as_long_as_that_saves_cycles() -> None:
    compilation = compile_island(parse_text(THREE))
    space = Space(timing_of(compilation.analysis, compilation.target), compilation.analysis.scop)
    units = list(space.timing.units)
    cuts = [
        [units[a:b] for a, b in pairwise((0, *places, len(units)))]
        for count in range(len(units))
        for places in combinations(range(1, len(units)), count)
    ]

    def cycles(regions: list[list[Unit]]) -> int:
        return sum(space.fastest_of(region).end for region in regions)

    assert cycles(shortest_regions(space.as_written())) <= min(map(cycles, cuts))


def test_two_loops_are_exact_and_shorter_than_the_nests_apart(cut: IslandCompilation) -> None:
    assert cut.decision.regions == [["S0"], ["S1", "S2"]]
    assert cut.replayed
    assert predicted_cycles(cut.plan) < apart()
    assert not Design(cut, CompileOptions()).report()["perfect"]


def test_a_search_that_is_too_complex_leaves_nests_that_are_fused_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_form, "_in_one_loop", refuse)
    found = compile_island(parse_text(THREE))
    assert found.decision.why == "the search for one loop is too complex: it is a test"
    assert found.replayed
    assert predicted_cycles(found.plan) <= apart()


def test_where_joining_nests_is_too_complex_too_they_run_one_after_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_form, "_in_one_loop", refuse)
    monkeypatch.setattr(one_form, "shortest_regions", refuse)
    found = compile_island(parse_text(THREE))
    assert found.replayed
    assert len(found.decision.regions) == 3


def test_what_a_search_has_found_when_nothing_is_left_to_spend_is_proven_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose = choice.choose_plan

    def late(analysis: Analysis, options: CompileOptions) -> Planned:
        planned = choose(analysis, options)
        account = effort._account.get()
        assert account is not None
        account.left = 0
        return planned

    monkeypatch.setattr(choice, "choose_plan", late)
    assert compile_island(parse_text(THREE)).replayed


def test_shifts_of_the_user_are_for_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_form, "plan_of", refuse)
    with pytest.raises(TooComplex):
        compile_island(parse_text(THREE), CompileOptions(shifts={"S2": 40}))


def test_the_legality_of_regions_is_judged_in_their_order(cut: IslandCompilation) -> None:
    analysis, flat = cut.analysis, cut.stages["flatten"]
    shifts, regions = cut.decision.shifts, cut.decision.regions

    def violated(order: list[list[str]]) -> bool:
        schedule = fuse(flat, shifts, order).schedule
        return find_violation(analysis.sets, analysis.dependences, schedule) is not None

    assert not violated([list(names) for names in regions])
    assert violated([list(names) for names in reversed(regions)])


def test_the_plan_tells_the_regions_and_why(cut: IslandCompilation) -> None:
    report = Design(cut, CompileOptions()).report()
    why = "the search for one loop found none with fewer than 133 cycles"
    assert {region["why"] for region in report["regions"]} == {why}
    assert f"2 regions, since {why}\n  S0: 11 cycles\n  S1 S2: " in plan_report_text(report)
