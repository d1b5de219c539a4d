"""The one home of isl's quirks."""

from __future__ import annotations

import islpy as isl
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.effort import is_out_of_operations
from rtlgen.ir.sets import ScopSets, earliest, latest, linear_constraint
from rtlgen.planning.analysis import examine

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
    assert examine(parse_text(QUOTIENTS, "quotients.c")).flows.flows
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


def test_a_text_is_parsed_once_for_all_scops_of_a_context() -> None:
    scop = parse_text("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }", "f.c").scop
    sets, text = ScopSets(scop), "{ [i] : 0 <= i < 7 }"
    assert ScopSets(scop, sets).read_set(text) is sets.read_set(text)
    assert ScopSets(scop).read_set(text) is not sets.read_set(text)


def test_to_know_a_text_is_a_step_of_its_own() -> None:
    scop = parse_text("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = i; }", "f.c").scop
    sets = ScopSets(scop)
    sets.context.set_max_operations(3000)
    for _ in range(100):
        # More than half of what one step may take.
        isl.Set.read_from_str(sets.context, "{ [i, j] : 0 <= i < 10 and 0 <= j < i }")
        sets.read_set("{ [i] : 0 <= i < 7 }")


def test_a_step_that_ends_in_a_number_of_python_is_out_of_operations_too() -> None:
    """It is islpy that fails then: it cannot make a value of the number, and says no more."""
    context = isl.Context()
    space = isl.Space.set_alloc(context, 0, 1)
    context.set_max_operations(1)
    with pytest.raises(isl.Error) as caught:
        for _ in range(3):
            linear_constraint(space, (3,), 7)
    assert is_out_of_operations(caught.value)
