"""A nest for statements in a cycle is looked for once, whoever asks: the plan is the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.effort import counted_effort
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions
from rtlgen.scheduling import group_nests
from rtlgen.transforms.common_nest import best_common_nest
from tests.islands import compile_island

RAGGED = """
void ragged(int C[6][6], int A[6][6]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] *= 3;
      for (int k = 0; k < i; k++)
        C[i][j] += A[i][k] * C[j][k];
    }
}
"""


def test_what_was_asked_before_is_not_searched_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[object] = []

    def counted(*given: Any, **others: Any) -> object:
        searched.append(given)
        return best_common_nest(*given, **others)

    def forgetful(sets: ScopSets, question: Hashable, find: Callable[[], Any]) -> object:
        return find()

    monkeypatch.setattr(group_nests, "best_common_nest", counted)
    options = CompileOptions(write_ports="auto")
    with counted_effort() as once:
        plan = compile_island(parse_text(RAGGED), options).plan
    few = len(searched)
    monkeypatch.setattr(ScopSets, "found_once", forgetful)
    with counted_effort() as always:
        assert compile_island(parse_text(RAGGED), options).plan == plan
    assert 0 < few < len(searched) - few
    assert once.steps == always.steps
