"""The one home of isl's quirks."""

from __future__ import annotations

import islpy as isl
import pytest

from rtlgen.analysis import analyse
from rtlgen.frontend import parse_text
from rtlgen.ir.sets import earliest, latest

# Which write is the last one depends on quotients: those of i + j and of the counter that wraps.
QUOTIENTS = """void f(unsigned short a[8][4], const unsigned c[4]) {
  for (int i = 5; i >= 0; --i) {
    int k = 1;
    for (int j = 0; j <= 3; j++) {
      a[(i + j) % 8][k % 4] = c[j];
      k = (k + 1) % 5;
      for (int h = 2; h >= 0; h--)
        a[h][h < 1 ? h : 1] ^= (a[h % 2][h % 2] <= a[h % 2][h == 1 ? 2 : h]) + a[3][h % 2 + 1];
    } } }"""


def test_last_writes_are_found_where_isl_loses_a_quotient(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = []
    ask = isl.Map.lexmax

    def asked(relation: isl.Map) -> isl.Map:
        try:
            return ask(relation)
        except isl.Error as error:
            lost.append(str(error))
            raise

    monkeypatch.setattr(isl.Map, "lexmax", asked)
    assert analyse(parse_text(QUOTIENTS, "quotients.c")).flows.flows
    assert lost, "isl has learned to do it: the second attempt is no longer needed"


def test_ends_of_a_set_and_of_each_image() -> None:
    context = isl.Context()
    points = isl.Set.read_from_str(context, "{ [i, j] : 0 <= i < 3 and i < j < 6 }")
    assert latest(points).is_equal(isl.Set.read_from_str(context, "{ [2, 5] }"))
    assert earliest(points).is_equal(isl.Set.read_from_str(context, "{ [0, 1] }"))
    images = isl.Map.read_from_str(context, "{ [i] -> [j] : 0 <= i < 3 and i < j < 6 }")
    assert earliest(images).is_equal(
        isl.Map.read_from_str(context, "{ [i] -> [i + 1] : 0 <= i < 3 }")
    )


def test_an_error_of_isl_that_is_not_about_quotients_is_not_hidden() -> None:
    context = isl.Context()
    space = isl.Map.read_from_str(context, "{ [i, j] -> [k, l] : 0 <= k, l <= i + 2j <= 99 + 3k }")
    context.set_max_operations(1)
    with pytest.raises(isl.Error, match="operations"):
        latest(space)
