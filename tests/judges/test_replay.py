"""The replay of a plan passes what the compiler makes, and catches every plan that is spoilt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.plan import ForwardOp, KernelPlan, LoadOp, PlanError, Region
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.write_history import INITIAL
from rtlgen.judges.replay import STALE, UNKNOWN, _Judge, replay
from rtlgen.options import CompileOptions, PartitionWish
from rtlgen.planning.compilation import Compilation, IslandCompilation
from tests.islands import compile_island
from tests.judges.spoilt import (
    CHANGES,
    changed_op,
    divisions,
    is_wrong,
    loads,
    spoilt_plans,
)

PROGRAMS = {
    "products": """void f(int a[3][4], int b[4][3], int c[3][3], int d[3][3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { c[i][j] = 7 - c[i][j];
        for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j]; }
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++)
        for (int k = 0; k < 3; k++) d[i][j] -= c[i][k] * d[k][j]; }""",
    "stencil": """void f(int a[8], int b[8]) {
      for (int t = 0; t < 3; t++) {
        for (int i = 1; i < 7; i++) b[i] = a[i - 1] + 3 * a[i] + a[i + 1];
        for (int i = 1; i < 7; i++) a[i] = b[i] - b[i - 1]; } }""",
    "triangle": """void f(int L[4][4], int x[4], int b[4]) {
      for (int i = 0; i < 4; i++) { x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] * L[i][i]; } }""",
    "recurrence": "void f(int a[12], int b[12]) {"
    " for (int i = 2; i < 12; i++) a[i] = a[i - 2] * b[i] - a[i - 1]; }",
    "lookups": """static const int t[8] = {3, -7, 12, 5, 0, 9, -1, 6};
      void f(int a[6], int b[6], int c[6]) { int m[4];
      for (int k = 0; k < 4; k++) m[k] = a[k] * 3;
      for (int i = 0; i < 6; i++) b[i] = m[a[i] & 3] + t[b[i] & 7];
      for (int k = 0; k < 4; k++) m[k] = b[k];
      for (int i = 0; i < 6; i++) c[i] = m[(a[i] >> 2) & 3] - t[(i * i) & 7]; }""",
    "scatters": """void f(int a[9], int b[9], int h[6]) { int m[4];
      for (int k = 0; k < 4; k++) m[k] = k;
      for (int i = 0; i < 9; i++) m[a[i] & 3] += b[i];
      for (int i = 0; i < 9; i++) if (b[i] > 4) h[a[i] & 3] = m[b[i] & 3] + h[b[i] & 3];
      h[5] = m[2]; for (int k = 0; k < 4; k++) a[k] = m[k] - h[k]; }""",
    "scattered_rows": """void f(int x[3][4], int a[3][4]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++)
        a[i][x[i][j] & 3] += x[2 - i][j];
      for (int i = 1; i < 3; i++) for (int j = 1; j < 4; j++) x[i][j] = a[i][j] - x[i][j - 1]; }""",
    "moving": """void f(int a[12], int b[8]) { int m[12];
      for (int k = 0; k < 12; k++) m[k] = k * 5;
      for (int i = 0; i < 8; i++) m[i + 1] += m[i + (a[i] & 3)] + b[7 - i];
      for (int i = 7; i >= 0; i--) m[i + 4 - (b[i] & 3)] += a[i];
      for (int k = 0; k < 12; k++) a[k] = m[k]; }""",
    "quotients": """void f(int a[8], int b[8]) { int m[8];
      for (int k = 0; k < 8; k++) m[k] = a[k] * 3;
      for (int i = 0; i < 8; i++) b[i] = m[i / 2] - m[(3 * i + 5) % 8];
      for (int k = 0; k < 8; k++) m[k] = b[k];
      for (int i = 1; i < 8; i++) b[i] ^= m[i * 5 % 8]; }""",
    "versions": """void f(int c[2][3], int a[2][3]) {
      for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) { int t = 0;
        for (int k = 0; k < i; k++) { c[k][j] += a[i][j] * a[k][j]; t -= a[k][j]; }
        c[i][j] = a[i][i] + c[i][j] * t; } }""",
    "banks": """void f(int a[14], int b[14], int c[4][5]) {
      for (int i = 0; i < 12; i += 2) { a[i] += b[i + 1]; a[i + 1] -= b[i]; }
      for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) c[i][j] += a[i + j] * b[j]; }""",
    "rows": """void f(int a[2100], int b[2100], int c[2100]) {
      for (int i = 4; i < 1060; i++) b[i] = a[i] * 3;
      for (int i = 1060; i < 2100; i++) b[i] = a[i] + 5;
      for (int i = 91; i < 2100; i++) c[i] = b[i - 12] + b[i - 40] * b[i - 75]; }""",
    "loads": """void f(int a[20][30], int b[20][30]) {
      for (int i = 1; i < 19; i++) for (int j = 1; j < 29; j++)
        b[i][j] = a[i - 1][j] + a[i][j - 1] * a[i][j + 1] - a[i + 1][j]; }""",
    "parts": """void f(int a[20][30], int b[20][30]) { for (int t = 0; t < 2; t++) {
      for (int i = 1; i < 19; i++) for (int j = 1; j < 29; j++)
        b[i][j] = a[i - 1][j] + a[i][j - 1] * a[i][j + 1];
      for (int i = 1; i < 19; i++) for (int j = 1; j < 29; j++) a[i][j] = 3 * b[i][j]; } }""",
    "divisions": """void f(int a[8], int b[8]) {
      for (int i = 2; i < 8; i++) { a[i] ^= b[i - 2]; b[i] = (b[i - 1] + 7) / a[i]; } }""",
    "units": """void f(int a[7], int b[7], int q[7], int s[1]) {
      s[0] = 0;
      for (int i = 0; i < 7; i++) { q[i] = a[i] / (b[i] | 1); s[0] += q[i]; }
      for (int i = 0; i < 7; i++) a[i] = b[i] / (s[0] | 1); }""",
    "scalars": """int f(int a[6]) { int s = 1, t;
      for (int i = 0; i < 6; i++) { t = a[i] - s; s = t * 3; a[i] = t; } return s; }""",
}  # fmt: skip


PARTITIONS = {
    "banks": {
        "a": (PartitionWish("cyclic", 1, 2),),
        "c": (PartitionWish("block", 1, 2), PartitionWish("cyclic", 2, 2)),
    }
}


ONLY_THERE = {
    "divisions": ("division_interval", "division_bound"),
    "units": ("unit_bound",),
    "versions": ("store_port", "load_version", "home"),
}
"""Kinds of changes that few programs can have: they are caught in these."""


def compiled(text: str, options: CompileOptions) -> IslandCompilation:
    return compile_island(parse_text(text, "program.c"), options)


def replays(plan: KernelPlan, compilation: Compilation) -> bool:
    scop = compilation.analysis.scop
    try:
        return replay(plan, scop, scop.schedule, compilation.stages["flatten"].schedule)
    except PlanUnsound:
        return False


@pytest.mark.sample("divisions", "recurrence", "units", "scalars", "banks", "quotients", "lookups")
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_spoilt_plan_that_computes_something_else_is_caught(name: str) -> None:
    program = parse_text(PROGRAMS[name], "program.c")
    compilation = compile_program(program, CompileOptions(partitions=PARTITIONS.get(name, {})))
    assert replays(compilation.plan, compilation)
    caught: Counter[str] = Counter()
    for spoilt in spoilt_plans(compilation.plan):
        if not replays(spoilt.plan, compilation):
            caught[spoilt.kind] += 1
        else:
            assert not is_wrong(spoilt.plan, program.scop), spoilt.kind
    assert caught["store_suppressed"] and caught["store_address"] and caught["load_address"]
    assert caught["load_bound"] or caught["tap_bound"], caught
    assert all(caught[kind] for kind in ONLY_THERE.get(name, ())), caught


@pytest.mark.long
def test_every_kind_of_change_is_caught_somewhere() -> None:
    caught = set()
    for text in PROGRAMS.values():
        compilation = compile_program(parse_text(text, "program.c"), CompileOptions())
        for spoilt in spoilt_plans(compilation.plan):
            if spoilt.kind not in caught and not replays(spoilt.plan, compilation):
                caught.add(spoilt.kind)
    assert caught == {"end", "home", "part", *(change.__name__ for change in CHANGES)}


def test_what_is_wrong_is_said() -> None:
    compilation = compile_program(parse_text(PROGRAMS["products"], "p.c"), CompileOptions())
    scop = compilation.analysis.scop
    spoilt = next(s.plan for s in spoilt_plans(compilation.plan) if s.kind == "load_address")
    with pytest.raises(PlanUnsound, match="not sound: S0 addresses the wrong element of c"):
        replay(spoilt, scop, scop.schedule, compilation.stages["flatten"].schedule)


def test_a_plan_that_contradicts_itself_cannot_even_be_written_down() -> None:
    compilation = compile_program(parse_text(PROGRAMS["products"], "p.c"), CompileOptions())
    stream = compilation.plan.streams[0]
    with pytest.raises(PlanError, match="stores its value before it is there"):
        replace(stream, store=replace(stream.store, stage=0))


def test_what_was_there_before_the_run_is_in_its_array_alone() -> None:
    compilation = compiled(PROGRAMS["recurrence"], CompileOptions())
    plan = compilation.plan
    (region,), (stream,) = plan.regions, plan.streams
    empty = replace(plan.memory("b"), name="empty", role="local", storage="local")
    for number, op in loads(stream):
        if op.memory == "b":
            stream = changed_op(stream, number, replace(op, memory="empty"))
    moved = replace(plan, memories=(*plan.memories, empty), body=(Region.whole((stream,)),))
    assert region.length_cycles == moved.regions[0].length_cycles
    scop, placed = compilation.analysis.scop, compilation.stages["flatten"].schedule
    with pytest.raises(PlanUnsound, match="loads from empty what was in b before the run"):
        replay(moved, scop, scop.schedule, placed)


def test_a_division_every_other_cycle_is_none_in_each() -> None:
    text = "void f(const int a[6], int b[6]) { for (int i = 0; i < 6; i++) b[i] = a[i] / (i + 2); }"
    compilation = compiled(text, CompileOptions())
    (stream,), scop = compilation.plan.streams, compilation.analysis.scop
    ((number, op),) = divisions(stream)
    assert op.interval_cycles == stream.ii == 1
    slow = changed_op(stream, number, replace(op, interval_cycles=2))
    moved = replace(compilation.plan, body=(Region.whole((slow,)),))
    placed = compilation.stages["flatten"].schedule
    with pytest.raises(PlanUnsound, match="divides more often than its divider does"):
        replay(moved, scop, scop.schedule, placed)


GUARDED_LANES = """void f(int a[15], int b[9], int c[15][5]) {
  for (int i0 = 0; i0 < 3; i0 += 2) {
    a[i0] = 9 * c[i0][i0];
    a[i0 + 1] = 6 - a[i0] * a[i0 + 1];
  }
  for (int i1 = 1; i1 < 4; i1++)
    for (int j1 = 0; j1 < 4; j1++) {
      c[i1][j1] = 5 ^ a[j1 + 1];
      c[i1][j1 + 1] = 3 * a[j1];
      c[i1][j1 + 1] = 4 - b[j1 + 1];
      c[i1][j1 + 1] += 6 ^ c[j1][i1];
    }
  for (int i2 = 1; i2 < 9; i2++)
    for (int j2 = 1; j2 < i2; j2++)
      a[i2] += b[j2] * a[j2];
}"""
"""Lanes of j2 do not run everywhere; where they do, they may take a[j2] on its way."""


@pytest.mark.long
def test_each_element_from_before_the_run_has_a_name_that_nothing_else_has() -> None:
    text = "void f(int a[9], int b[9]) { for (int i = 0; i < 9; i++) b[i] += a[i]; }"
    compilation = compiled(text, CompileOptions())
    judge = _Judge(compilation.plan, compilation.analysis.scop, ())
    elements = np.array([0, 1, 8, (1 << 36) - 1])
    initial = np.full(len(elements), INITIAL)
    named = [judge._named(array, elements, initial).tolist() for array in ("a", "b")]
    every = {*named[0], *named[1]}
    assert len(every) == 2 * len(elements)
    # What is unknown of the k-th use of a port is the k-th number below `UNKNOWN`.
    assert max(every) < UNKNOWN - (1 << 36) and min(every) >= -(1 << 62)
    known = np.array([5, STALE, 7, 0])
    assert judge._named("b", elements, known).tolist() == known.tolist()


def test_a_read_that_is_not_made_lacks_no_value() -> None:
    options = CompileOptions(unroll={"i1": 3, "i2": 4, "j2": 3}, write_ports="one")
    plan = compile_program(parse_text(GUARDED_LANES, "p.c"), options).plan
    loaded = {
        (s.statement, op.read)
        for s in plan.streams
        for op in s.operations
        if isinstance(op, LoadOp)
    }
    taken = {
        (s.statement, op.read)
        for s in plan.streams
        for op in s.operations
        if isinstance(op, ForwardOp)
    }
    assert taken - loaded


TWO_DIVIDERS = """void f(const int a[6], const int b[6], int c[6], int d[6]) {
  for (int i = 0; i < 6; i++) c[i] = a[i] / (b[i] | 1);
  for (int i = 0; i < 6; i++) d[i] = b[i] / (a[i] | 1);
}"""


@pytest.mark.parametrize(("later", "is_sound"), [(0, False), (5, False), (6, True), (7, True)])
def test_a_unit_is_shared_by_what_begins_in_different_cycles(later: int, is_sound: bool) -> None:
    compilation = compiled(TWO_DIVIDERS, CompileOptions())
    plan, scop = compilation.plan, compilation.analysis.scop
    (region,) = plan.regions
    streams = []
    for place, stream in enumerate(region.streams):
        ((number, op),) = divisions(stream)
        sharing = changed_op(stream, number, replace(op, unit=0))
        streams.append(replace(sharing, offset_cycles=stream.offset_cycles + later * place))
    moved = replace(region, streams=tuple(streams), length_cycles=region.length_cycles + later)
    shared, placed = replace(plan, body=(moved,)), compilation.stages["flatten"].schedule
    if is_sound:
        assert replay(shared, scop, scop.schedule, placed)
    else:
        with pytest.raises(PlanUnsound, match="begin too close together in a unit they share"):
            replay(shared, scop, scop.schedule, placed)
