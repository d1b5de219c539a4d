"""A KernelPlan as JSON and back, exactly; see `typed_json`.

Where a field may hold one of several classes, the object also says which, under `is`.
"""

from __future__ import annotations

from typing import Any

from rtlgen.ir.plan import KernelPlan, PlanError
from rtlgen.system.typed_json import MismatchError, TypedJson

SCHEMA = "rtlgen-kernel-plan"
VERSION = 9
_FORM = TypedJson(tag="is")


def plan_to_json(plan: KernelPlan) -> dict[str, Any]:
    """Return the plan as a JSON-serialisable object."""
    return {"schema": SCHEMA, "version": VERSION, "plan": _FORM.encode(plan, KernelPlan)}


def plan_from_json(document: object) -> KernelPlan:
    """Return the plan that `plan_to_json` wrote.

    Raises
    ------
    PlanError: it is not such a document; the message names the place.
    """
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise PlanError(f"this is no kernel plan: its schema is not {SCHEMA!r}")
    if document.get("version") != VERSION:
        raise PlanError(f"version {document.get('version')!r} of the plan is not {VERSION}")
    try:
        plan = _FORM.decode(document.get("plan"), KernelPlan, "plan")
    except MismatchError as error:
        raise PlanError(str(error)) from error
    assert isinstance(plan, KernelPlan)
    return plan
