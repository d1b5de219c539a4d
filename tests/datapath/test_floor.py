"""A floor is below every plan, and where a plan is as short nothing else is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.datapath import floor as module
from rtlgen.datapath.floor import floor_cycles
from rtlgen.datapath.value_flows import value_flows
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.options.choices import ExpandMode
from rtlgen.planning import moves
from rtlgen.planning.planned import least_cycles, timing_of
from rtlgen.target import get_target
from tests.poly.sources import analysed

KERNELS = Path(__file__).parents[1] / "end_to_end" / "kernels"

CHAIN = """void f(int a[16], const int b[16]) {
  for (int i = 1; i < 16; i++) a[i] = a[i - 1] * b[i];
}
"""
SWEEP = """void f(int a[10][10]) {
  for (int i = 1; i < 9; i++)
    for (int j = 1; j < 9; j++) a[i][j] = (a[i - 1][j] + a[i][j - 1]) * 3;
}
"""
MIXED = """void f(int a[16], int b[16], int c[16]) {
  for (int i = 1; i < 16; i++) a[i] = a[i - 1] * b[i];
  for (int i = 0; i < 16; i++) c[i] = b[i] + 1;
}
"""


@pytest.mark.sample("gramschmidt", "trisolv")
@pytest.mark.parametrize("name", sorted(path.stem for path in KERNELS.glob("*.c")))
def test_no_kernel_is_planned_below_its_floor(name: str) -> None:
    design = rtlgen.compile(KERNELS / f"{name}.c")
    target = get_target("ecp5")
    least = least_cycles(timing_of(design.compilation.analysis, target), target, CompileOptions())
    assert 0 < least <= predicted_cycles(design.plan)


def test_the_floor_of_a_recurrence_is_what_its_plan_takes() -> None:
    design = rtlgen.compile(source=CHAIN, path="f.c")
    target = get_target("ecp5")
    least = least_cycles(timing_of(design.compilation.analysis, target), target, CompileOptions())
    assert least == predicted_cycles(design.plan)


def test_statements_by_themselves_have_a_floor_of_their_own() -> None:
    timing = timing_of(analysed(MIXED), get_target("ecp5"))
    chain, row, both = (floor_cycles(timing, names) for names in (["S0"], ["S1"], None))
    assert row == 15 + timing.datapaths["S1"].result_stage + 1 < chain == both


def test_programs_of_many_iterations_have_no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ITERATIONS", 30)
    assert floor_cycles(timing_of(analysed(MIXED), get_target("ecp5"))) == 0


def test_iterations_without_an_instance_count_too() -> None:
    """Else a walk through a program of few instances might take for ever."""
    text = """void f(int a[8]) {
      for (int i = 0; i < 30000; i++) for (int j = 0; j < i - 29997; j++) a[j]++;
    }"""
    assert floor_cycles(timing_of(analysed(text), get_target("ecp5"))) == 0


def flows_of(scop: Scop) -> set[tuple[int, int, int | None, bool]]:
    """Return what flows: from where, to where, which read, whether it is a value."""
    flows = value_flows(scop)
    kinds = [flows.kind_list[kind] for kind in flows.kinds]
    return {
        (source, sink, kind.read, kind.is_value)
        for source, sink, kind in zip(
            flows.sources.tolist(), flows.sinks.tolist(), kinds, strict=True
        )
    }


def test_behind_a_store_to_an_unknown_element_no_value_is_known_to_be_needed() -> None:
    text = """void f(int a[8], const int x[8], int y[8]) {
      a[3] = x[0] + 1;
      a[x[1] & 7] = 5;
      y[0] = a[3];
      a[2] = x[2] * 3;
      y[1] = a[2];
    }"""
    scop = analysed(text).scop
    reader, other = (s.name for s in scop.statements if s.write.array == "y")
    needed = [sink for _, sink, read, _ in flows_of(scop) if read is not None]
    flows = value_flows(scop)
    assert flows.numbers[reader][0] not in needed and flows.numbers[other][0] in needed


def test_a_plan_at_its_floor_is_the_end_of_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> object:
        raise AssertionError("no other loops can be shorter")

    monkeypatch.setattr(moves, "find_skews", refused)
    monkeypatch.setattr(moves, "find_pauses", refused)
    monkeypatch.setattr(moves, "find_strips", refused)
    monkeypatch.setattr(moves, "find_reversals", refused)
    plan = rtlgen.compile(source=CHAIN, path="f.c").plan
    monkeypatch.undo()
    monkeypatch.setattr(module, "MAX_ITERATIONS", 0)
    assert rtlgen.compile(source=CHAIN, path="f.c").plan == plan


def test_a_floor_that_is_too_high_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = rtlgen.compile(source=SWEEP, path="f.c").plan
    monkeypatch.setattr(moves, "least_cycles", lambda *_: 1_000_000)
    worse = rtlgen.compile(source=SWEEP, path="f.c").plan
    assert predicted_cycles(worse) > predicted_cycles(plan)


IN_PLACE = """void f(const int a[8][9], const int b[8][9], int c[8], int d[8]) {
  int t;
  for (int i = 0; i < 8; i++) {
    t = 0;
    for (int j = 0; j < 9; j++) t += a[i][j];
    c[i] = t;
  }
  for (int i = 0; i < 8; i++) {
    t = 1;
    for (int j = 0; j < 9; j++) t += b[i][j];
    d[i] = t;
  }
}
"""


def test_a_temporary_as_declared_has_a_floor_by_its_place() -> None:
    """The second sum begins when the first one has been read: expanded, both run at once."""
    target = get_target("ecp5")

    def found(expand: ExpandMode) -> tuple[int, int]:
        design = rtlgen.compile(source=IN_PLACE, path="f.c", expand=expand)
        timing = timing_of(design.compilation.analysis, target)
        return least_cycles(timing, target, CompileOptions()), predicted_cycles(design.plan)

    declared, cycles = found("never")
    expanded, _ = found("always")
    assert expanded < declared <= cycles


def test_accesses_of_one_element_are_in_the_order_of_the_program() -> None:
    text = """void f(int a[4], int y[4], const int x[4]) {
      y[0] = a[1] + a[1];
      a[1] = x[0];
      a[1] = x[1] + a[1];
      y[1] = a[2];
    }"""
    # Both reads of the first one, its store; and the third one's own read is of that value.
    assert flows_of(analysed(text).scop) == {
        (0, 1, 0, False),
        (0, 1, 1, False),
        (1, 2, None, False),
        (1, 2, 1, True),
    }
