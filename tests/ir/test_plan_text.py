"""A plan survives JSON exactly, and anything else is refused with the place.

Plans and Scops print completely, in the reader's terms.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Read
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    Condition,
    IndexForm,
    KernelPlan,
    Level,
    PlanError,
    Predicate,
)
from rtlgen.ir.plan_text import (
    condition_text,
    form_text,
    level_names,
    plan_from_json,
    plan_text,
    plan_to_json,
    predicate_text,
    scop_text,
)
from rtlgen.ir.schedule import Bound, FlatDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import ConditionNode, LoopNode, StatementNode
from rtlgen.ir.types import INT32, IntType
from tests.oracles.plans import chained_sums, random_plans
from tests.oracles.scops import access, array, loop, scop


@settings(max_examples=50, deadline=None)
@given(plan=random_plans())
def test_a_plan_comes_back_equal(plan: KernelPlan) -> None:
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_a_plan_with_every_kind_of_operation_comes_back_equal() -> None:
    plan = chained_sums()
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_two_plans_have_two_forms() -> None:
    plan = chained_sums()
    document = plan_to_json(plan)
    document["plan"]["body"][0]["streams"][1]["offset_cycles"] += 1
    assert plan_from_json(document) != plan


def at(document: Any, *path: str | int) -> Any:
    for step in path:
        document = document[step]
    return document


STREAM = ("plan", "body", 0, "streams", 0)


@pytest.mark.parametrize(
    ("path", "key", "value", "message"),
    [
        ((), "schema", "other", "its schema is not"),
        ((), "version", 1, "version 1 of the plan is not 9"),
        ((), "plan", [], "plan: expected an object, found []"),
        (("plan",), "name", 3, "plan.name: expected str, found 3"),
        (("plan",), "index_latency_cycles", True, "expected int, found True"),
        (
            ("plan",),
            "index_style",
            "guess",
            "expected 'odometer', 'divide', 'shift', found 'guess'",
        ),
        (("plan",), "checksum", "b", "plan.checksum: expected a list, found 'b'"),
        (("plan",), "extra", 1, "plan: unknown entries: extra"),
        (STREAM, "ii", 0, "S0: II 0, offset 0"),
        (STREAM, "ii", 1.0, r"streams[0].ii: expected int, found 1.0"),
        ((*STREAM, "span"), "line", 0, "1-based"),
        ((*STREAM, "operations", 0), "is", "Load", "operations[0].is: expected one of ConstantOp,"),
        ((*STREAM, "operations", 0), "memory", "Z", "loads from unknown Z"),
        (
            (*STREAM, "operations", 3),
            "op",
            "power",
            "operations[3].op: expected 'neg', 'not', 'lnot'",
        ),
    ],
)
def test_a_wrong_document_is_refused(
    path: tuple[str | int, ...], key: str, value: object, message: str
) -> None:
    document = json.loads(json.dumps(plan_to_json(chained_sums())))
    at(document, *path)[key] = value
    with pytest.raises(PlanError) as caught:
        plan_from_json(document)
    assert message in str(caught.value)


def test_a_missing_field_is_refused() -> None:
    document = plan_to_json(chained_sums())
    del document["plan"]["body"][0]["streams"][0]["ii"]
    with pytest.raises(PlanError, match=r"streams\[0\]: missing entries: ii$"):
        plan_from_json(document)


@pytest.mark.parametrize("document", [None, [], "plan", {}])
def test_what_is_no_document_is_refused(document: object) -> None:
    with pytest.raises(PlanError, match="no kernel plan"):
        plan_from_json(document)


CHAINED_SUMS = """\
kernel sums from sums.c
  index odometer, latency 0
  fused iterations 16, floor 16
  scalar alpha: i16
  memory A[4][4]: i32 in parameter, block, 1 read port of latency 2
  memory b[4]: i32 inout parameter, block, 2 read ports of latency 2
  memory c[4]: i32 out parameter, block, 1 read port of latency 2
  checksum over b, c
region 0, 25 cycles
  stream S0 at +0, II 1, depth 7: for i<4, j<4  -- b[i] += A[i][j] * alpha
    -- 16 of 16 iterations are instances
    %0 = load.i32 A[4*i + j] port 0 @0..2
    %1 = scalar.i16 alpha @0
    %2 = cast.i32 %1 @0
    %3 = mul.i32 %0, %2 @2..5
    %4 = load.i32 b[i] port 0 if j == 0 @3..5
    %5 = forward.i32 %4; store S0 -0 if j >= 1 @5
    %6 = add.i32 %5, %3 @5..6
    store b[i] = %6 @6
  stream S1 at +6, II 1, depth 4: for i<4, pad1<4  -- c[i] = i < 2 ? b[i] : 7
    -- 4 of 16 iterations are instances
    %0 = index.i32 i @0
    %1 = const.i32 2 @0
    %2 = lt.i32 %0, %1 @0
    %3 = load.i32 b[i] port 1 if i <= 1 and pad1 >= 3 @0..2
    %4 = forward.i32 %3; store S0 -2 if i <= 1 and pad1 >= 3 @2
    %5 = const.i32 7 @0
    %6 = select.i32 %2, %4, %5 @2..3
    store c[i] = %6 if pad1 == 3 @3"""


def test_a_plan_prints_every_operation_with_its_stages() -> None:
    assert plan_text(chained_sums()) == CHAINED_SUMS


def test_what_is_unusual_is_said() -> None:
    plan = chained_sums()
    region = plan.regions[0]
    slow = replace(region.streams[0], ii=2, ii_reason="S0 reads what it wrote 2 cycles ago")
    changed = replace(
        plan,
        memories=(replace(plan.memories[0], collision_free=False), *plan.memories[1:]),
        body=(replace(region, streams=(slow, region.streams[1])),),
        returned="c",
        checksum=(),
    )
    text = plan_text(changed)
    assert "-- II 2: S0 reads what it wrote 2 cycles ago" in text
    assert "latency 2, may collide" in text
    assert "  returns c\n  checksum over nothing\n" in text


@settings(max_examples=50, deadline=None)
@given(plan=random_plans())
def test_any_plan_prints_one_line_an_operation(plan: KernelPlan) -> None:
    lines = plan_text(plan).splitlines()
    assert sum(line.startswith("    %") for line in lines) == sum(
        len(stream.operations) for stream in plan.streams
    )
    assert sum(line.startswith("    store ") for line in lines) == len(plan.streams)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (IndexForm((0, 0)), "0"),
        (IndexForm((0, 0), -3), "-3"),
        (IndexForm((8, 1)), "8*i + j"),
        (IndexForm((-1, 2), 5), "2*j - i + 5"),
        (IndexForm((-1, -2)), "-i - 2*j"),
        (IndexForm((1, -8), -1), "i - 8*j - 1"),
    ],
)
def test_forms_read_as_arithmetic(form: IndexForm, text: str) -> None:
    assert form_text(form, ("i", "j")) == text


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition(IndexForm((1, 0), -1)), "i >= 1"),
        (Condition(IndexForm((-1, 0), 4)), "i <= 4"),
        (Condition(IndexForm((-1, 2), 4)), "2*j - i >= -4"),
        (Condition(IndexForm((-2, 1), 4)), "2*i - j <= 4"),
        (Condition(IndexForm((0, 1)), equal=True), "j == 0"),
        (Condition(IndexForm((0, -1), 7), equal=True), "j == 7"),
        (Condition(IndexForm((0, 0), 7)), "0 >= -7"),
    ],
)
def test_conditions_have_their_constant_on_the_right(condition: Condition, text: str) -> None:
    assert condition_text(condition, ("i", "j")) == text


def test_predicates_read_as_logic() -> None:
    first = Condition(IndexForm((1, 0)), equal=True)
    later = Condition(IndexForm((0, 1), -1))
    names = ("i", "j")
    assert predicate_text(ALWAYS, names) == "always"
    assert predicate_text(NEVER, names) == "never"
    assert predicate_text(Predicate(((first, later),)), names) == "i == 0 and j >= 1"
    both = Predicate(((first, later), (later,)))
    assert predicate_text(both, names) == "(i == 0 and j >= 1) or j >= 1"


def test_levels_have_distinct_names() -> None:
    assert level_names((Level(2, "i"), Level(3), Level(4, "i"))) == ("i", "pad1", "i_2")


def test_a_scop_prints_domains_accesses_and_schedule() -> None:
    body = {
        "S0": (
            access("c", Affine.variable("i") + 1),
            (access("c", "i"), access("t")),
            Binary("add", Read(0, INT32), Read(1, INT32), INT32),
        )
    }
    guard = ConditionNode((Affine.variable("i") - 2,), (StatementNode("S0"),))
    program = scop(
        [array("c", (9,)), array("t", (), "in", IntType(8, False))],
        [LoopNode(loop("i", 0, 15, 2, 2), (guard,))],
        body,
        returned="t",
    )
    flat = FlatDim((NestLoop("i", 8), NestLoop(None, 3, 2)), 26)
    shown = program.with_schedule(Schedule({"S0": (flat, ScalarDim(1))}))
    assert scop_text(shown) == (
        "scop f from test.c\n"
        "  array c[9]: i32 inout parameter\n"
        "  array t: u8 in parameter\n"
        "  returns t\n"
        "statement S0 at test.c:1:1\n"
        "  for    i = 0; 2*i < 15; i += 2\n"
        "  where  i - 2 >= 0\n"
        "  read   c[i]\n"
        "  read   t\n"
        "  write  c[i + 1] = (c[i] + t)\n"
        "schedule\n"
        "  S0: ([i<8, pad@2<3] + 26, 1)"
    )


def test_bounds_read_as_arithmetic() -> None:
    lowers = (Bound(Affine.variable("i") * 2 - 3, 4), Bound(Affine((), 1)))
    uppers = (Bound(Affine.variable("i"), 2),)
    assert str(NestLoop("j", 9, 0, lowers, uppers)) == "j=max((2*i - 3)/4, 1)..i/2"
    assert str(NestLoop("j", 9, 2, uppers=uppers)) == "j=2..i/2"
