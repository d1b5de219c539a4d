"""Large programs: statements that are slowed down to the pace of others.

A nest for statements in a cycle is looked for once, whoever asks: the plan is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.effort import counted_effort
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.sets import ScopSets
from rtlgen.nests.candidates import Placement, placement
from rtlgen.nests.common_nest import best_common_nest
from rtlgen.nests.period import Member
from rtlgen.nests.sinking import CommonNest, common_nests
from rtlgen.options import CompileOptions
from rtlgen.scheduling import statement_nests
from rtlgen.scheduling.statement_nests import MANY_NESTS
from tests.islands import compile_island

STAGE = "for (int x = 0; x < 64; x++) for (int k = 0; k < {k}; k++) {to}[x] += {of}[x] * w[k];"


def chain(terms: list[int], others: int) -> str:
    """Return stages that sum so many terms each, and as many different nests on their own."""
    arrays = ["a", *(f"b{n}" for n in range(len(terms)))]
    stages = [
        STAGE.format(k=k, of=of, to=to)
        for k, of, to in zip(terms, arrays, arrays[1:], strict=False)
    ]
    more = [f"for (int e = 0; e <= {n}; e++) z[{n}] += a[e];" for n in range(others)]
    parameters = ", ".join(f"int {name}[64]" for name in [*arrays, "w", "z"])
    return f"void f({parameters}) {{ {' '.join(stages + more)} }}"


def total(text: str) -> int:
    return compile_island(parse_text(text)).decision.fused_iterations


def test_a_short_stage_between_long_ones_keeps_step_in_a_large_program() -> None:
    """The second stage has half the work: at full speed it would begin 128 iterations late."""
    few, many = (total(chain([4, 2, 4], others)) for others in (0, MANY_NESTS))
    assert few <= 256 + 8
    assert many == few


@pytest.mark.long
def test_nests_that_statements_may_share_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, tuple[str, ...]]] = []
    sets_seen = []

    def counted(
        members: Sequence[Member], sets: ScopSets, *rest: Any, **options: Any
    ) -> Iterator[CommonNest]:
        # Kept, so that no later one has its id.
        sets_seen.append(sets)
        asked.append((id(sets), tuple(member.name for member in members)))
        return common_nests(members, sets, *rest, **options)

    monkeypatch.setattr(statement_nests, "common_nests", counted)
    kernel = Path(__file__).parents[1] / "end_to_end" / "kernels" / "cholesky.c"
    compile_island(parse_text(kernel.read_text()), CompileOptions())
    assert asked
    assert len(asked) == len(set(asked))


def test_statements_with_the_same_instances_are_placed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[tuple[NestLoop, ...]] = []

    def counted(
        loops: Sequence[NestLoop], iterators: Sequence[str], changes: int
    ) -> Placement | None:
        placed.append(tuple(loops))
        return placement(loops, iterators, changes)

    monkeypatch.setattr(statement_nests, "placement", counted)
    body = " ".join(f"b{n}[i][j] = a[i][j] + {n};" for n in range(4))
    parameters = ", ".join(f"int b{n}[8][8]" for n in range(4))
    text = (
        f"void f(int a[8][8], {parameters}, int c[8][8][8]) {{"
        f" for (int i = 0; i < 8; i++) for (int j = 0; j <= i; j++) {{ {body} }}"
        " for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) for (int k = 0; k < 8; k++)"
        " c[i][j][k] = b0[i][j] + b3[j][i]; }"
    )
    design = compile_island(parse_text(text))
    assert design.decision.fused_iterations <= 512 + 64
    assert placed
    assert len(placed) == len(set(placed))


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

    monkeypatch.setattr(statement_nests, "best_common_nest", counted)
    options = CompileOptions(write_ports="auto", unroll={"j": 2})
    with counted_effort() as once:
        plan = compile_island(parse_text(RAGGED), options).plan
    few = len(searched)
    monkeypatch.setattr(ScopSets, "found_once", forgetful)
    with counted_effort() as always:
        assert compile_island(parse_text(RAGGED), options).plan == plan
    assert 0 < few < len(searched) - few
    assert once.steps < always.steps
