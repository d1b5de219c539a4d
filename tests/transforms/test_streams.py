"""Which arrays may be streams."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.transforms.interfaces import NoStream, in_streams

TEXT = """
static const int table[4] = {1, 2, 3, 4};
int seen[8];
void f(const int x[8], int y[8], int z[8], int one[1], const int unused[8]) {
  int local[8];
  for (int i = 0; i < 8; i++) local[i] = x[i] + table[i & 3];
  for (int i = 0; i < 8; i++) { y[i] = local[i]; z[i] += 1; seen[i] = i; }
  one[0] = x[7];
}
"""


@pytest.mark.parametrize("name", ["x", "y", "seen"])
def test_what_is_only_read_or_only_written_may_be_one(name: str) -> None:
    scop = in_streams(parse_text(TEXT, "f.c", function="f").scop, {name: "stream"})
    assert [array.name for array in scop.arrays if array.is_stream] == [name]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("z", "read and written"),
        ("local", "a local array, which nobody outside sees"),
        ("table", "a constant table"),
        ("one", "a single element"),
        ("unused", "neither read nor written"),
    ],
)
def test_others_are_refused(name: str, why: str) -> None:
    scop = parse_text(TEXT, "f.c", function="f").scop
    with pytest.raises(NoStream) as caught:
        in_streams(scop, {name: "stream"})
    assert caught.value.diagnostic.message == f"{name} is no stream: it is {why}"


def test_all_arrays_are_those_that_are_seen_outside() -> None:
    scop = parse_text(TEXT.replace("z[i] += 1", "z[i] = 1"), "f.c", function="f").scop
    found = in_streams(scop, {"": "stream", "y": "onchip"})
    assert [array.name for array in found.arrays if array.is_stream] == ["seen", "x", "z"]


def test_no_checksum_is_made_of_what_is_gone() -> None:
    scop = parse_text(TEXT, "f.c", function="f").scop
    assert in_streams(scop, {"x": "stream"}, checksum=True)
    with pytest.raises(NoStream, match="checksum"):
        in_streams(scop, {"y": "stream"}, checksum=True)
