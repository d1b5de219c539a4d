"""Which arrays may stand in a RAM beside the core."""

from __future__ import annotations

from typing import Any

import pytest

import rtlgen
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.transforms.interfaces import NotExternal, in_external

TEXT = """
static const int table[4] = {1, 2, 3, 4};
int seen[8], last;
void f(const int x[8], int y[8], int one[1], const int unused[8]) {
  int local[8];
  for (int i = 0; i < 8; i++) local[i] = x[i] + table[i & 3];
  for (int i = 0; i < 8; i++) { y[i] = local[i]; seen[i] += i; }
  one[0] = x[7];
  last = x[6];
}
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("local", "a local array, which nobody outside sees"),
        ("table", "a constant table"),
        ("one", "a single element"),
        ("last", "a scalar variable"),
        ("unused", "neither read nor written"),
    ],
)
def test_what_nobody_shares_is_refused(name: str, why: str) -> None:
    scop = parse_text(TEXT, "f.c", function="f").scop
    with pytest.raises(NotExternal) as caught:
        in_external(scop, {name: "external"}, "internal", "core")
    expected = f"{name} is in no RAM beside the core: it is {why}"
    assert caught.value.diagnostic.message == expected


@pytest.mark.parametrize(
    ("places", "interface", "found"),
    [
        ({}, "external", ["seen", "x", "y"]),
        ({"y": "onchip"}, "external", ["seen", "x"]),
        ({"": "onchip", "y": "external"}, "external", ["y"]),
        ({"": "external"}, "internal", ["seen", "x", "y"]),
        ({"x": "external"}, "internal", ["x"]),
        ({}, "internal", []),
    ],
)
def test_an_option_is_for_arrays_of_which_the_other_says_nothing(
    places: dict[str, str], interface: Any, found: list[str]
) -> None:
    scop = parse_text(TEXT, "f.c", function="f").scop
    outside = in_external(scop, places, interface, "core").arrays
    assert [array.name for array in outside if array.is_external] == found


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"top": "axi"}, "E0326"),
        ({"partition": {"x": "cyclic:1:2"}}, "E0310"),
        ({"double_buffer": "x"}, "E0320"),
        ({"memory": {"y": "axi"}}, "E0319"),
        ({"threads": 2}, "E0321"),
    ],
)
def test_what_one_ram_does_not_do_is_refused(options: dict[str, Any], code: str) -> None:
    with pytest.raises(RtlgenError) as caught:
        rtlgen.compile(source=TEXT, function="f", interface="external", **options)
    assert caught.value.code == code, caught.value.diagnostic.message
