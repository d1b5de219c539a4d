"""Arrays of which two copies are of no use are refused, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

import rtlgen
from rtlgen.transforms.interfaces import NotDoubled

FILTER = """
const int table[4] = {1, 2, 3, 4};
int gain;
void filter(int x[24], int h[4], int y[24], int unused[9]) {
  int before[24];
  for (int i = 0; i < 24; i++) before[i] = x[i] * h[i % 4] + table[i % 4] * gain;
  for (int i = 0; i < 24; i++) y[i] = before[23 - i];
}
"""


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("q", {}, "there is no array q"),
        ("unused", {}, "no statement touches unused"),
        ("before", {}, "this is local"),
        ("table", {}, "its elements are constants"),
        ("gain", {}, "this is a scalar variable"),
        ("h", {"memory": {"h": "axi"}}, "this is to be off chip, or a stream"),
        ("x", {"memory": {"x": "stream"}}, "this is a stream"),
    ],
)
def test_what_the_host_does_not_reach_is_refused(
    name: str, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(NotDoubled, match=why) as caught:
        rtlgen.compile(source=FILTER, double_buffer=name, **options)
    assert "h" in str(caught.value).partition("two copies are")[2] or name == "h"
