"""Random programs in random tiles, through RTL: exact, in the cycles predicted, or refused."""

from __future__ import annotations

import pytest

from tests.oracles.random_tiles.campaign import judge_tiles

SHORT = range(15)
LONG = range(100, 400)


def judged(seed: int) -> str:
    verdict = judge_tiles(seed)
    assert verdict.outcome in ("exact", "refused"), f"{verdict.code} {verdict.details}"
    return verdict.outcome


def test_random_programs_in_tiles_are_exact() -> None:
    outcomes = [judged(seed) for seed in SHORT]
    assert outcomes.count("exact") > len(outcomes) // 2


@pytest.mark.long
@pytest.mark.parametrize("first", LONG[::20])
def test_many_random_programs_in_tiles_are_exact(first: int) -> None:
    outcomes = [judged(seed) for seed in range(first, first + 20)]
    assert "exact" in outcomes
