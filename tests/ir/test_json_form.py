"""A plan survives JSON exactly, and anything else is refused with the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from rtlgen.ir.json_form import plan_from_json, plan_to_json
from rtlgen.ir.plan import KernelPlan, PlanError
from tests.oracles.plans import chained_sums, random_plans


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
