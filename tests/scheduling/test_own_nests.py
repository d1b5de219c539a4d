"""Large programs: statements that are slowed down to the pace of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.sets import ScopSets
from rtlgen.options import CompileOptions
from rtlgen.scheduling import own_nests
from rtlgen.scheduling.own_nests import MANY_STATEMENTS
from rtlgen.transforms.candidates import Placement, placement
from rtlgen.transforms.period import Member
from rtlgen.transforms.sink import CommonNest, common_nests
from tests.islands import compile_island

STAGE = "for (int x = 0; x < 64; x++) for (int k = 0; k < {k}; k++) {to}[x] += {of}[x] * w[k];"


def chain(terms: list[int], others: int) -> str:
    """Return stages that sum so many terms each, and statements on their own."""
    arrays = ["a", *(f"b{n}" for n in range(len(terms)))]
    stages = [
        STAGE.format(k=k, of=of, to=to)
        for k, of, to in zip(terms, arrays, arrays[1:], strict=False)
    ]
    more = [f"z[{n}] = a[{n}];" for n in range(others)]
    parameters = ", ".join(f"int {name}[64]" for name in [*arrays, "w", "z"])
    return f"void f({parameters}) {{ {' '.join(stages + more)} }}"


def total(text: str) -> int:
    return compile_island(parse_text(text)).decision.fused_iterations


def test_a_short_stage_between_long_ones_keeps_step_in_a_large_program() -> None:
    """The second stage has half the work: at full speed it would begin 128 iterations late."""
    few, many = (total(chain([4, 2, 4], others)) for others in (0, MANY_STATEMENTS))
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

    monkeypatch.setattr(own_nests, "common_nests", counted)
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

    monkeypatch.setattr(own_nests, "placement", counted)
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
