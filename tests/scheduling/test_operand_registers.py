"""Values settle in a register where that makes the clock faster and nothing slower."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.plan import ArithmeticOp, CastOp, ForwardOp, KernelPlan, LoadOp, Operation
from rtlgen.options import CompileOptions
from rtlgen.planning import choice, one_form
from rtlgen.planning.analysis import analyse
from rtlgen.planning.planned import Planned
from rtlgen.scheduling.decide import Decision, StoresCollide
from rtlgen.scheduling.operand_registers import Wait, affordable_waits, decide_later, useful_waits
from rtlgen.scheduling.space import Space
from rtlgen.target import get_target
from tests.end_to_end.judge import Compiled, assert_plan_exact, compiled

EXAMPLES = Path(__file__).parents[2] / "examples"

# The first element of a is in the memory, the others are forwarded.
CHOSEN = """void f(int a[8], int b[8], int c[8], int y[8]) {
  for (int i = 1; i < 8; i++) a[i] = b[i] + 1;
  for (int i = 0; i < 8; i++) y[i] = a[i] * c[i]; }"""
BANKED = """void f(int alpha, int A[8][8], int B[8][8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) {
    for (int k = i + 1; k < 8; k++) B[i][j] += A[k][i] * B[k][j];
    B[i][j] *= alpha; } }"""
LOGIC = """void f(int a[8], int b[8], int y[8]) {
  for (int i = 0; i < 8; i++) y[i] = (a[i] ^ b[i]) * b[i]; }"""
NARROWED = """void f(int a[8], short b[8], int y[8]) {
  for (int i = 0; i < 8; i++) y[i] = (short)(a[i] | 1) * b[i]; }"""
# A row of a is loaded once and kept for the next one, where the first row is loaded twice.
IN_ROWS = """void f(int a[32][32], int y[32][32], int u, int v) {
  for (int i = 1; i < 32; i++) for (int j = 0; j < 32; j++)
    y[i][j] = a[i - 1][j] * u + a[i][j] * v; }"""
RECURRENCE = """void f(int a[8], int c[8]) {
  for (int i = 1; i < 8; i++) a[i] = a[i - 1] * c[i]; }"""
STRAIGHT = """void f(int a[8], int b[8], int y[8]) {
  for (int i = 0; i < 8; i++) y[i] += a[i] * b[i]; }"""
SHIFTED = """void f(int a[8], int b[8], int y[8]) {
  for (int i = 0; i < 8; i++) y[i] = (a[i] ^ b[i]) * 40; }"""
"""Its product is a sum."""
ACCUMULATED = """void f(int a[8][8], int y[8]) {
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) y[i] += a[i][j]; }"""

SETTLING = {
    "CHOSEN": CHOSEN,
    "BANKED": BANKED,
    "LOGIC": LOGIC,
    "NARROWED": NARROWED,
    "IN_ROWS": IN_ROWS,
}
PLAIN = {"RECURRENCE": RECURRENCE, "STRAIGHT": STRAIGHT, "SHIFTED": SHIFTED}


def planned(text: str) -> Planned:
    with limited_effort():
        return choice.choose_plan(analyse(parse_text(text)), CompileOptions())


def accepted(text: str) -> Compiled:
    found = compiled(text)
    assert found is not None
    return found


def as_before(monkeypatch: pytest.MonkeyPatch, text: str) -> KernelPlan:
    """Return the plan in which nothing settles."""
    with monkeypatch.context() as patch:
        patch.setattr(choice, "with_settled", lambda planned, options: planned)
        return planned(text).plan


def factors(plan: KernelPlan) -> list[tuple[ArithmeticOp, Operation]]:
    """Return every multiplication with what it multiplies, seen through casts."""
    found: list[tuple[ArithmeticOp, Operation]] = []
    for stream in plan.streams:
        for mul in stream.operations:
            if not isinstance(mul, ArithmeticOp) or mul.op != "mul":
                continue
            for number in mul.operands:
                op = stream.operations[number]
                while isinstance(op, CastOp):
                    op = stream.operations[op.operands[0]]
                found.append((mul, op))
    return found


def waits_of(planned: Planned) -> dict[str, tuple[int, int]]:
    """Return how many words are held and how many values settle, where any do."""
    datapaths = planned.space.timing.datapaths.items()
    return {s: (len(d.held), len(d.settled)) for s, d in datapaths if d.held or d.settled}


@pytest.mark.parametrize("text", SETTLING.values(), ids=SETTLING)
def test_what_is_chosen_or_computed_settles_before_a_multiplier(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = accepted(text).plan
    assert any(op.result_stage < mul.stage for mul, op in factors(plan))
    before = as_before(monkeypatch, text)
    assert all(op.result_stage == mul.stage for mul, op in factors(before) if op.operands)
    assert predicted_cycles(plan) == predicted_cycles(before) + 1
    assert_plan_exact(accepted(text))


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_nothing_settles_where_nothing_is_gained_or_an_interval_would_grow(text: str) -> None:
    assert waits_of(planned(text)) == {}


def test_a_wait_is_affordable_where_no_interval_grows() -> None:
    found = planned(RECURRENCE)
    timing, decision = found.space.timing, found.decision
    useful = useful_waits(timing, found.plan, found.target)
    assert useful == (Wait("S0", timing.datapaths["S0"].node_of_read[0], is_word=False),)
    assert decision.iis == {"S0": 2}
    assert affordable_waits(timing, decision, useful) == ()
    assert affordable_waits(timing, replace(decision, iis={"S0": 3}), useful) == useful


def test_a_value_settles_between_its_choice_and_its_use() -> None:
    found = planned(CHOSEN)
    assert waits_of(found) == {"S1": (0, 1)}
    (stream,) = [s for s in found.plan.streams if s.statement == "S1"]
    (forward,) = [op for op in stream.operations if isinstance(op, ForwardOp)]
    (product,) = [op for op in stream.operations if isinstance(op, ArithmeticOp)]
    assert product.stage == forward.stage + 1


def test_unfused_nests_settle_too() -> None:
    options = CompileOptions(fuse="none")
    found = compiled(LOGIC, options)
    assert found is not None
    assert found.plan == accepted(LOGIC).plan


@pytest.mark.sample(without=("tce",))
@pytest.mark.parametrize("name", ["dct", "symm", "tce", "trmm"])
def test_examples_have_no_slow_path_that_a_wait_would_shorten(name: str) -> None:
    found = planned((EXAMPLES / name / f"{name}.c").read_text())
    assert useful_waits(found.space.timing, found.plan, found.target) == ()


@pytest.fixture
def scattered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every memory is far from its readers."""
    target = replace(get_target(), near_block_rams=0)
    monkeypatch.setattr(one_form, "get_target", lambda name: target)


def test_words_of_a_large_memory_are_held_before_forwarded_values_are_chosen(
    scattered: None,
) -> None:
    found = accepted(ACCUMULATED)
    (stream,) = found.plan.streams
    loads = [op for op in stream.operations if isinstance(op, LoadOp)]
    (forward,) = [op for op in stream.operations if isinstance(op, ForwardOp)]
    (total,) = [op for op in stream.operations if isinstance(op, ArithmeticOp)]
    assert {op.latency_cycles for op in loads} == {get_target().memory_read_latency_cycles}
    assert all(op.result_stage + 1 == total.stage for op in loads)
    assert forward.stage == total.stage
    assert stream.ii == 1
    assert_plan_exact(found)


def test_a_small_memory_is_near() -> None:
    assert waits_of(planned(ACCUMULATED)) == {}


def test_stores_that_meet_because_of_a_wait_leave_the_plan_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def collide(space: Space, decision: Decision) -> Decision:
        raise StoresCollide([("S0", "S1")])

    before = as_before(monkeypatch, CHOSEN)
    monkeypatch.setattr(one_form, "decide_later", collide)
    assert planned(CHOSEN).plan == before


def test_waits_that_cost_more_than_a_cycle_each_leave_the_plan_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(space: Space, decision: Decision) -> Decision:
        found = decide_later(space, decision)
        return replace(found, iis={name: 2 * ii for name, ii in found.iis.items()})

    before = as_before(monkeypatch, LOGIC)
    monkeypatch.setattr(one_form, "decide_later", late)
    assert planned(LOGIC).plan == before
