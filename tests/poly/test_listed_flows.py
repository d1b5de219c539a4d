"""The flow of values that is listed is that of the relations."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from hypothesis import HealthCheck, given, settings

from rtlgen.frontend import parse_text
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.ir.sets import ScopSets
from rtlgen.planning.analysis import Analysis
from rtlgen.poly import dependences
from rtlgen.poly.dependences import Dataflow, dataflow, same_values
from rtlgen.transforms.normalise import normalise
from tests.end_to_end.programs import programs
from tests.poly.enumeration import Pair, Point
from tests.poly.sources import (
    ONE_ITERATION,
    SMALL,
    analysed,
    analysed_if_small,
    pairs_of,
    points_of,
)

PROGRAMS = SMALL | ONE_ITERATION

TORUS = Path(__file__).parents[1] / "end_to_end" / "regressions" / "torus.c"


def assert_listed(analysis: Analysis) -> None:
    listed = dependences._listed_values(analysis.sets)
    assert listed is not None
    assert same_values(analysis.flows, listed)
    for name, alive in analysis.flows.live_out.items():
        assert alive.is_equal(listed.live_out[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_listed_values_are_those_of_the_relations(name: str) -> None:
    assert_listed(analysed(PROGRAMS[name]))


SCATTERED = """void f(const unsigned char x[9], int a[4]) { for (int i = 0; i < 9; i++) {
  a[3] = i; a[x[i] & 3] = 5; a[2] = a[x[i] >> 6]; } for (int i = 1; i < 4; i++) a[i] ^= i; }"""


def test_an_element_of_a_scatter_that_is_written_again_does_not_end_the_others() -> None:
    analysis = analysed(SCATTERED)
    assert_listed(analysis)
    alive = {name: points_of(found) for name, found in analysis.flows.live_out.items()}
    assert alive == {"S0": set(), "S1": {(8,)}, "S2": set(), "S3": {(0,), (1,), (2,)}}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(programs())
def test_those_of_random_programs_are_too(text: str) -> None:
    analysis = analysed_if_small(text)
    if analysis is not None:
        assert_listed(analysis)


def test_a_program_is_listed_where_isl_gives_up() -> None:
    sets = ScopSets(normalise(parse_text(TORUS.read_text()).scop))
    with pytest.raises(TooComplex), limited_effort():
        dependences._related_values(sets)
    found = dataflow(sets)
    listed = {(f.source, f.sink, f.sink_read): pairs_of(f.relation) for f in found.flows}
    assert listed == values_of_a_run(sets)


def values_of_a_run(sets: ScopSets) -> dict[tuple[str, str, int], set[Pair]]:
    """Return which instance each read has its value from, one instance after another."""
    run = []
    for statement in sets.scop.statements:
        times = sets.scop.schedule.time(statement.name)
        touched = [
            dict(pairs_of(sets.access_map(statement, access)))
            for access in (*statement.reads, statement.write)
        ]
        for point in points_of(sets.domains[statement.name]):
            values = dict(zip(statement.iterators, point, strict=True))
            time = tuple(part.evaluate(values) for part in times)
            run.append((time, statement, point, [elements[point] for elements in touched]))
    last: dict[tuple[str, Point], tuple[str, Point]] = {}
    found: dict[tuple[str, str, int], set[Pair]] = {}
    for _, statement, point, (*read, written) in sorted(run, key=lambda event: event[0]):
        for number, (access, element) in enumerate(zip(statement.reads, read, strict=True)):
            if (access.array, element) in last:
                source, early = last[access.array, element]
                found.setdefault((source, statement.name, number), set()).add((early, point))
        last[statement.write.array, written] = statement.name, point
    return found


def test_long_lists_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = analysed(SMALL["product"]).sets
    monkeypatch.setattr(dependences, "MOST_RUNS", 2)
    assert dependences.listed_flows(sets) is None
    monkeypatch.undo()
    monkeypatch.setattr(dependences, "MANY_INSTANCES", 20)
    assert dependences.listed_flows(sets) is None
    # What gave up before says so then.
    monkeypatch.setattr(dependences, "_related_values", _out_of_operations)
    with pytest.raises(TooComplex, match="too complex"):
        dataflow(ScopSets(sets.scop))


def _out_of_operations(sets: ScopSets) -> Dataflow:
    sets.context.set_max_operations(1)
    isl.Set.read_from_str(sets.context, "{ [i, j] : 0 <= i < j < 9 }").coalesce()
    raise AssertionError("isl has no operations left")
