"""Dataclasses as JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from rtlgen.system.typed_json import IF_GIVEN, MismatchError, TypedJson

FORM = TypedJson()


@dataclass(frozen=True, slots=True)
class Place:
    """Something with an entry that most have no use for."""

    name: str
    limits: tuple[int, int] | None = field(default=None, metadata={IF_GIVEN: True})


@pytest.mark.parametrize(
    ("place", "document"),
    [
        (Place("a"), {"name": "a"}),
        (Place("a", (1, 2)), {"name": "a", "limits": [1, 2]}),
    ],
)
def test_an_entry_is_there_where_it_says_something(place: Place, document: object) -> None:
    assert FORM.encode(place, Place) == document
    assert FORM.decode(document, Place, "place") == place


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"limits": [1, 2]}, "place: missing entries: name"),
        ({"name": "a", "limit": 1}, "place: unknown entries: limit"),
        ({"name": "a", "limits": [1, "2"]}, "place.limits"),
    ],
)
def test_every_other_entry_is_needed_and_none_is_unknown(document: object, message: str) -> None:
    with pytest.raises(MismatchError, match=message):
        FORM.decode(document, Place, "place")
