"""Dataclasses as JSON and back, exactly.

The form follows the classes: an object a dataclass with its fields by name, a list a tuple. Reading
checks every value against the declared type of its field, and the classes validate themselves. A
field whose name in JSON is another one says so in its metadata, under `JSON_NAME`; one that is left
out where it has its default, so that it is only where it says something, under `IF_GIVEN`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

JSON_NAME = "json_name"
IF_GIVEN = "if_given"


class MismatchError(ValueError):
    """A document is not what the classes declare; the message names the place."""


@dataclass(frozen=True, slots=True)
class TypedJson:
    """How dataclasses are written.

    Parameters
    ----------
    tag: the key under which an object says which class it is of, where a field may hold one of
        several; None: it is the one that has most of the object's names.
    """

    tag: str | None = None

    def encode(self, value: Any, declared: Any) -> Any:
        """Return a value of a declared type as a JSON-serialisable one."""
        if isinstance(value, tuple):
            elements = _element_types(declared, len(value))
            return [self.encode(element, t) for element, t in zip(value, elements, strict=True)]
        if isinstance(value, Mapping):
            return dict(value)
        cls: type = type(value)
        if not is_dataclass(cls):
            return value
        is_told = self.tag is not None and len(_classes(declared)) > 1
        tag = {self.tag: cls.__name__} if is_told else {}
        hints = _hints(cls)
        members = {
            key: self.encode(getattr(value, field.name), hints[field.name])
            for key, field in _keys(cls).items()
            if not (_is_optional(field) and getattr(value, field.name) == field.default)
        }
        return tag | members

    def decode(self, value: Any, declared: Any, place: str) -> Any:
        """Return the value of a declared type that `encode` wrote.

        Raises
        ------
        MismatchError; what the classes raise that is another ValueError is its cause.
        """
        if declared is object or (value is None and type(None) in _members(declared)):
            return value
        if classes := _classes(declared):
            return self._decode_class(value, classes, place)
        origins: set[Any] = set(map(get_origin, _members(declared)))
        if tuple in origins:
            return self._decode_tuple(value, declared, place)
        if Mapping in origins:
            return _required(value, dict, "an object", place)
        return _decode_leaf(value, declared, place)

    def _decode_tuple(self, value: Any, declared: Any, place: str) -> Any:
        _required(value, list, "a list", place)
        elements = _element_types(declared, len(value))
        if len(elements) != len(value):
            raise _mismatch(place, f"a list of {len(elements)}", value)
        return tuple(
            self.decode(element, type_, f"{place}[{number}]")
            for number, (element, type_) in enumerate(zip(value, elements, strict=True))
        )

    def _decode_class(self, value: Any, classes: tuple[type, ...], place: str) -> Any:
        content = dict(_required(value, dict, "an object", place))
        cls = self._class_of(content, classes, place)
        keys = _keys(cls)
        needed = [key for key, field in keys.items() if not _is_optional(field)]
        if not set(needed) <= content.keys() <= keys.keys():
            found = {
                "missing": [key for key in needed if key not in content],
                "unknown": [key for key in content if key not in keys],
            }
            told = [f"{what} entries: {', '.join(which)}" for what, which in found.items() if which]
            raise MismatchError(f"{place}: {'; '.join(told)}")
        hints = _hints(cls)
        decoded = {
            field.name: self.decode(content[key], hints[field.name], f"{place}.{key}")
            for key, field in keys.items()
            if key in content
        }
        try:
            return cls(**decoded)
        except ValueError as error:
            raise MismatchError(f"{place}: {error}") from error

    def _class_of(self, content: dict[str, Any], classes: tuple[type, ...], place: str) -> type:
        """Return the class of an object, and take its tag away."""
        if len(classes) == 1:
            return classes[0]
        if self.tag is None:
            return max(classes, key=lambda cls: len(content.keys() & _keys(cls).keys()))
        named = {candidate.__name__: candidate for candidate in classes}
        tag = content.pop(self.tag, None)
        if tag not in named:
            raise _mismatch(f"{place}.{self.tag}", f"one of {', '.join(named)}", tag)
        return named[tag]


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


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


@cache
def _keys(cls: type) -> dict[str, Field[Any]]:
    """Return a dataclass's fields, by their names in JSON."""
    return {field.metadata.get(JSON_NAME, field.name): field for field in fields(cls)}


def _is_optional(field: Field[Any]) -> bool:
    return bool(field.metadata.get(IF_GIVEN))


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


def _required(value: Any, kind: type, wanted: str, place: str) -> Any:
    if not isinstance(value, kind):
        raise _mismatch(place, wanted, value)
    return value


def _mismatch(place: str, wanted: str, value: object) -> MismatchError:
    return MismatchError(f"{place}: expected {wanted}, found {value!r}")
