"""A KernelPlan as JSON and back, exactly.

The form follows the dataclasses: an object a dataclass with its fields by name, a list a tuple.
Where a field may hold one of several classes, the object also says which, under `is`. Reading
checks every value against the declared type of its field, and the plan validates itself.
"""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from rtlgen.ir.plan import KernelPlan, PlanError

SCHEMA = "rtlgen-kernel-plan"
VERSION = 6
_TAG = "is"


def plan_to_json(plan: KernelPlan) -> dict[str, Any]:
    """Return the plan as a JSON-serialisable object."""
    return {"schema": SCHEMA, "version": VERSION, "plan": _encode(plan, KernelPlan)}


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
    plan = _decode(document.get("plan"), KernelPlan, "plan")
    assert isinstance(plan, KernelPlan)
    return plan


def _encode(value: Any, declared: Any) -> Any:
    if isinstance(value, tuple):
        elements = _element_types(declared, len(value))
        return [_encode(element, type_) for element, type_ in zip(value, elements, strict=True)]
    cls: type = type(value)
    if not is_dataclass(cls):
        return value
    tag = {_TAG: cls.__name__} if len(_classes(declared)) > 1 else {}
    hints = _hints(cls)
    return tag | {f.name: _encode(getattr(value, f.name), hints[f.name]) for f in fields(cls)}


def _decode(value: Any, declared: Any, place: str) -> Any:
    if value is None and type(None) in _members(declared):
        return None
    if classes := _classes(declared):
        return _decode_class(value, classes, place)
    if any(get_origin(member) is tuple for member in _members(declared)):
        if not isinstance(value, list):
            raise _mismatch(place, "a list", value)
        elements = _element_types(declared, len(value))
        if len(elements) != len(value):
            raise _mismatch(place, f"a list of {len(elements)}", value)
        return tuple(
            _decode(element, type_, f"{place}[{number}]")
            for number, (element, type_) in enumerate(zip(value, elements, strict=True))
        )
    return _decode_leaf(value, declared, place)


def _decode_leaf(value: Any, declared: Any, place: str) -> Any:
    for member in _members(declared):
        if get_origin(member) is Literal:
            # True == 1, so the types are compared as well.
            if any(value == choice and type(value) is type(choice) for choice in get_args(member)):
                return value
        elif type(value) is member:
            return value
    wanted = " or ".join(
        ", ".join(map(repr, get_args(member))) if get_origin(member) is Literal else member.__name__
        for member in _members(declared)
    )
    raise _mismatch(place, wanted, value)


def _decode_class(value: Any, classes: tuple[type, ...], place: str) -> Any:
    if not isinstance(value, dict):
        raise _mismatch(place, "an object", value)
    content = dict(value)
    cls = classes[0]
    if len(classes) > 1:
        named = {candidate.__name__: candidate for candidate in classes}
        tag = content.pop(_TAG, None)
        if tag not in named:
            raise _mismatch(f"{place}.{_TAG}", f"one of {', '.join(named)}", tag)
        cls = named[tag]
    names = [field.name for field in fields(cls)]
    if sorted(content) != sorted(names):
        missing = ", ".join(name for name in names if name not in content) or "none"
        unknown = ", ".join(name for name in content if name not in names) or "none"
        raise PlanError(f"{place}: missing fields: {missing}; unknown fields: {unknown}")
    hints = _hints(cls)
    decoded = {name: _decode(content[name], hints[name], f"{place}.{name}") for name in names}
    try:
        return cls(**decoded)
    except PlanError:
        raise
    except ValueError as error:
        raise PlanError(f"{place}: {error}") from error


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _members(declared: Any) -> tuple[Any, ...]:
    """Return what a declared type allows: the members of a union, flattened, or itself alone."""
    if get_origin(declared) not in (Union, types.UnionType):
        return (declared,)
    return tuple(inner for member in get_args(declared) for inner in _members(member))


def _classes(declared: Any) -> tuple[type, ...]:
    """Return the dataclasses that a declared type allows."""
    return tuple(
        member for member in _members(declared) if isinstance(member, type) and is_dataclass(member)
    )


def _element_types(declared: Any, length: int) -> tuple[Any, ...]:
    """Return the declared types of the elements of a tuple."""
    tuple_type = next(member for member in _members(declared) if get_origin(member) is tuple)
    elements = get_args(tuple_type)
    return elements[:1] * length if elements[-1:] == (Ellipsis,) else elements


def _mismatch(place: str, wanted: str, value: object) -> PlanError:
    return PlanError(f"{place}: expected {wanted}, found {value!r}")
