"""How far apart dependent instances must be, to the cycle, for pipelines of given stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from rtlgen.datapath.build import Datapath
from rtlgen.datapath.lags import Timing
from rtlgen.nests.candidates import box_placement
from rtlgen.nests.precedence import Precedence, Related
from rtlgen.planning.planned import timing_of
from rtlgen.target import get_target
from rtlgen.transforms.units import Unit
from tests.poly.sources import analysed, pairs_of

PROGRAM = """void f(int a[8], int b[8], int s[1], int d[8]) {
  for (int i = 0; i < 8; i++) a[i] = b[i];
  for (int i = 0; i < 8; i++) d[i] = a[i] + s[0];
  for (int i = 0; i < 8; i++) b[i] = d[i];
  for (int i = 0; i < 8; i++) a[i] = 5;
  s[0] = 3;
}"""


@dataclass(frozen=True, slots=True)
class Stages:
    """When a statement stores, and when the address and the value of each read are needed."""

    result_stage: int
    reads: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def node_of_read(self) -> Mapping[int, int]:
        return {read: read for read in self.reads}

    def address_stage(self, read: int) -> int:
        return self.reads[read][0]

    def use_stage(self, read: int) -> int:
        return self.reads[read][1]


STAGES = {
    "S0": Stages(7, {0: (2, 4)}),
    "S1": Stages(9, {0: (1, 3), 1: (6, 6)}),
    "S2": Stages(4, {0: (0, 2)}),
    "S3": Stages(3),
    "S4": Stages(5),
}


def timing(text: str, stages: Mapping[str, Stages], **changes: object) -> Timing:
    found = timing_of(analysed(text), get_target())
    found = replace(found, datapaths=cast(Mapping[str, Datapath], stages))
    return replace(found, **changes)  # type: ignore[arg-type]


def lags(found: tuple[Precedence, ...]) -> dict[tuple[str, str, str], tuple[int, int | None]]:
    """Return (lag, uniform lag) by source, sink and kind."""
    return {
        (p.source, p.sink, getattr(p.origin, "kind", "value")): (p.lag, p.uniform_lag)
        for p in found
    }


EXPECTED = {
    # Through the memory: stored in 7, so there from 8 on; presented in 1. Handed over: used in 3.
    ("S0", "S1", "value"): (7, 4),
    ("S1", "S2", "value"): (10, 7),
    # The address of a block RAM comes a cycle before the store, that of a register with it.
    ("S0", "S2", "anti"): (-1, None),
    ("S1", "S3", "anti"): (-1, None),
    ("S1", "S4", "anti"): (1, None),
    ("S0", "S3", "output"): (5, None),
}


def test_each_kind_has_its_lag() -> None:
    assert lags(timing(PROGRAM, STAGES).precedences()) == EXPECTED


def test_statements_of_one_unit_hand_values_over() -> None:
    apart = (Unit(("S0", "S1")), Unit(("S2", "S3", "S4")))
    found = lags(timing(PROGRAM, STAGES, units=apart).precedences())
    assert found == {**EXPECTED, ("S0", "S1", "value"): (4, 4)}
    units = (Unit(("S0", "S1", "S2", "S3", "S4")),)
    found = lags(timing(PROGRAM, STAGES, units=units).precedences())
    assert found == {
        **EXPECTED,
        ("S0", "S1", "value"): (4, 4),
        ("S1", "S2", "value"): (7, 7),
    }
    alone = frozenset({("S0", "S1", 0)})
    found = lags(timing(PROGRAM, STAGES, units=units, memory_only=alone).precedences())
    assert found[("S0", "S1", "value")] == (7, None)
    assert found[("S1", "S2", "value")] == (7, 7)


def test_nobody_is_handed_what_may_be_another_element() -> None:
    text = """void f(int m[4], int x[8], int b[8]) {
      for (int i = 0; i < 4; i++) m[i] = x[i];
      for (int i = 0; i < 8; i++) b[i] = m[x[i] & 3]; }"""
    stages = {"S0": Stages(5, {0: (0, 2)}), "S1": Stages(8, {0: (0, 2), 1: (3, 5)})}
    (unit,) = [Unit(("S0", "S1"))]
    found = timing(text, stages, units=(unit,))
    (flow,) = found.dataflow.flows
    lookup = flow.sink_read
    stages = {**stages, "S1": Stages(8, {lookup: (3, 5), 1 - lookup: (0, 2)})}
    found = timing(text, stages, units=(unit,))
    assert lags(found.precedences()) == {("S0", "S1", "value"): (3, None)}


def test_a_read_whose_value_does_not_matter_orders_nothing() -> None:
    stages = {**STAGES, "S0": Stages(7), "S1": Stages(9, {1: (6, 6)})}
    found = lags(timing(PROGRAM, stages).precedences())
    assert found == {
        key: value
        for key, value in EXPECTED.items()
        if key not in {("S0", "S1", "value"), ("S0", "S2", "anti"), ("S1", "S3", "anti")}
    }


def test_pairs_that_follow_from_others_need_no_precedence() -> None:
    class Nothing(Related):
        def of(self, origin: object) -> None:
            return None

    found = timing(PROGRAM, STAGES)
    nothing = Nothing(found.sets, frozenset())
    assert replace(found, related=nothing).precedences() == ()


def test_a_statement_takes_the_cycles_up_to_its_last_store() -> None:
    found = timing(PROGRAM, STAGES)
    placed = box_placement(found.scop.schedule.loops("S1"), found.scop.statement("S1").iterators)
    # Issued in 0, 2, ... 14; the last one stores in cycle 23.
    assert found.length_cycles("S1", placed, 2) == 24


@pytest.mark.parametrize("rows", [1, 3])
def test_statements_that_stay_apart_take_turns_in_the_loops_that_they_share(rows: int) -> None:
    text = f"""void f(int a[9], int b[9]) {{
      for (int i = 0; i < {rows}; i++) {{
        a[3 * i] = i;
        for (int j = 0; j < 3; j++) b[3 * i + j] = j; }} }}"""
    stages = {"S0": Stages(7), "S1": Stages(9)}
    found = timing(text, stages, apart=frozenset({("S0", "S1")}))
    (before, *after) = found.precedences()
    first = {(i,) for i in range(rows)}
    second = {(i, j) for i in range(rows) for j in range(3)}
    assert (before.source, before.sink, before.lag) == ("S0", "S1", -1)
    assert pairs_of(before.origin.relation) == {
        (p, q) for p in first for q in second if p[0] <= q[0]
    }
    assert len(after) == (rows > 1)
    for precedence in after:
        assert (precedence.source, precedence.sink, precedence.lag) == ("S1", "S0", 3)
        assert pairs_of(precedence.origin.relation) == {
            (p, q) for p in second for q in first if p[0] < q[0]
        }
