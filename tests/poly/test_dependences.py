"""Dependences and flows are those of the program, pair by pair."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import islpy as isl
import pytest
from hypothesis import HealthCheck, given, settings

from rtlgen.frontend import parse_text
from rtlgen.ir.sets import ScopSets, latest
from rtlgen.planning.analysis import Analysis
from rtlgen.poly import last_writes as last_writes_module
from rtlgen.poly.dependences import Dataflow, dataflow, same_values
from rtlgen.poly.edges import coordinate_map, schedule_edges
from rtlgen.poly.instances import dependent_pairs, statement_points
from rtlgen.transforms.normalise import normalise
from tests.end_to_end.programs import programs
from tests.poly.enumeration import (
    Instance,
    Pair,
    PairKey,
    instances,
    last_writes,
    memory_pairs,
    next_writes,
    value_pairs,
)
from tests.poly.sources import (
    ONE_ITERATION,
    SMALL,
    analysed,
    analysed_if_small,
    example,
    pairs_of,
    points_of,
)

PROGRAMS = SMALL | ONE_ITERATION


def memory_relation(analysis: Analysis) -> dict[PairKey, set[Pair]]:
    found: dict[PairKey, set[Pair]] = defaultdict(set)
    for d in analysis.dependences:
        found[d.source, d.sink, d.source_read, d.sink_read] |= pairs_of(d.relation)
    return dict(found)


def assert_as_enumerated(analysis: Analysis) -> None:
    scop = analysis.scop
    assert memory_relation(analysis) == memory_pairs(scop)
    flows: dict[tuple[str, str, int], set[Pair]] = defaultdict(set)
    for flow in analysis.flows.flows:
        flows[flow.source, flow.sink, flow.sink_read] |= pairs_of(flow.relation)
    assert dict(flows) == value_pairs(scop)
    live = {
        Instance(name, point)
        for name, alive in analysis.flows.live_out.items()
        for point in points_of(alive)
    }
    assert live == last_writes(scop)


@pytest.mark.parametrize("name", PROGRAMS)
def test_dependences_flows_and_last_writes_are_those_of_the_enumerated_program(name: str) -> None:
    assert_as_enumerated(analysed(PROGRAMS[name]))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(programs())
def test_those_of_random_programs_are_too(text: str) -> None:
    analysis = analysed_if_small(text)
    if analysis is not None:
        assert_as_enumerated(analysis)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_access_has_its_edge_to_the_next_write(name: str) -> None:
    analysis = analysed(PROGRAMS[name])
    # What comes after all values is the order: each access with the next write of its element.
    edges = schedule_edges(analysis.sets, Dataflow((), {}))
    found: dict[str, set[tuple[str, Pair]]] = defaultdict(set)
    for edge in edges:
        source = coordinate_map(analysis.sets, edge.source).reverse()
        sink = coordinate_map(analysis.sets, edge.sink).reverse()
        relation = edge.relation.apply_domain(source).apply_range(sink)
        found[edge.source] |= {(edge.sink, pair) for pair in pairs_of(relation)}
    assert dict(found) == next_writes(analysis.scop)


def test_the_flow_of_mms_d_is_the_one_worked_out_by_hand() -> None:
    analysis = example("mms_d")
    (flow,) = (
        d for d in analysis.dependences if (d.source, d.sink, d.kind) == ("S0", "S1", "flow")
    )
    by_hand = analysis.sets.read_map(
        "{ s0[i, j, k] -> s1[i, j, y] : 0 <= i < 8 and 0 <= j < 9 and 0 <= k < 11 and 0 <= y < 9 }"
    )
    assert flow.relation.is_equal(by_hand)
    (value,) = (f for f in analysis.flows.flows if (f.source, f.sink) == ("S0", "S1"))
    last = analysis.sets.read_map("{ s0[i, j, k] -> s1[x, y, z] : k = 10 }")
    assert value.relation.is_equal(by_hand.intersect(last))


def test_an_accumulation_depends_on_itself_in_all_three_ways() -> None:
    analysis = analysed("void f(int s[1], int a[4]) { for (int i = 0; i < 4; i++) s[0] += a[i]; }")
    assert sorted(d.kind for d in analysis.dependences) == ["anti", "flow", "output"]
    later = analysis.sets.read_map("{ s0[i] -> s0[j] : 0 <= i < j < 4 }")
    assert all(d.relation.is_equal(later) for d in analysis.dependences)
    (flow,) = analysis.flows.flows
    assert flow.relation.is_equal(analysis.sets.read_map("{ s0[i] -> s0[i + 1] : 0 <= i < 3 }"))


@pytest.mark.parametrize("name", SMALL)
def test_enumerated_points_are_the_domains(name: str) -> None:
    analysis = analysed(SMALL[name])
    for statement in analysis.scop.statements:
        points = {tuple(map(int, p)) for p in statement_points(analysis.scop, statement)}
        assert points == points_of(analysis.sets.domains[statement.name])


@pytest.mark.parametrize("name", SMALL)
def test_nearest_pairs_imply_all_dependences(name: str) -> None:
    scop = analysed(SMALL[name]).scop
    order = {instance: n for n, instance in enumerate(instances(scop))}

    def edges(related: dict[PairKey, set[Pair]]) -> set[tuple[int, int]]:
        return {
            (order[Instance(source, p)], order[Instance(sink, q)])
            for (source, sink, *_), pairs in related.items()
            for p, q in pairs
        }

    near = edges(
        {
            key: {
                (tuple(map(int, p)), tuple(map(int, q)))
                for p, q in zip(pairs.sources, pairs.sinks, strict=True)
            }
            for key, pairs in dependent_pairs(scop).items()
        }
    )
    every = edges(memory_pairs(scop))
    assert near <= every
    reached: dict[int, set[int]] = {n: set() for n in range(len(order))}
    for a, b in sorted(near, reverse=True):
        reached[a] |= {b} | reached[b]
    assert all(b in reached[a] for a, b in every)


def test_the_flow_of_equal_programs_is_looked_for_once() -> None:
    text = "void f(int a[8]) { for (int i = 1; i < 8; i++) a[i] = a[i - 1]; }"
    sets = ScopSets(normalise(parse_text(text).scop))
    found = dataflow(sets)
    assert dataflow(ScopSets(normalise(parse_text(text).scop), sets)) is found
    other = ScopSets(normalise(parse_text(text.replace("i - 1", "7 - i")).scop), sets)
    assert not same_values(dataflow(other), found)
    # In another context its relations could not be compared with anything.
    assert dataflow(ScopSets(sets.scop)) is not found


def test_a_read_asks_the_nests_before_it_from_the_last_one_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nests = "for (int i = 0; i < 8; i++) a[i] = a[i] * 3 + b[i];" * 8
    asked: list[isl.Map] = []

    def noted(relation: isl.Map) -> isl.Map:
        asked.append(relation)
        return latest(relation)

    monkeypatch.setattr(last_writes_module, "latest", noted)
    sets = ScopSets(normalise(parse_text(f"void f(int a[8], const int b[8]) {{ {nests} }}").scop))
    flows = dataflow(sets).flows
    names = [statement.name for statement in sets.scop.statements]
    assert [(f.source, f.sink) for f in flows] == list(pairwise(names))
    # Each of them has written all elements.
    assert len(asked) == len(flows)
