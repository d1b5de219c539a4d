"""Random programs in random tiles, through RTL: exact, in the cycles predicted, or refused.

A generator that is built differently from that of `test_random_off_chip`: several nests a program,
some arrays on chip, any order of subscripts.
"""

from __future__ import annotations

import pytest

from tests.oracles.random_tiles.campaign import judge_tiles

FEW = range(3)
MANY = range(100, 400)


def judged(seed: int) -> str:
    verdict = judge_tiles(seed)
    assert verdict.outcome in ("exact", "refused"), f"{seed}: {verdict.code} {verdict.details}"
    return verdict.outcome


def test_some_random_programs_in_tiles_are_exact() -> None:
    assert [judged(seed) for seed in FEW].count("exact") > 1


@pytest.mark.long
@pytest.mark.parametrize("first", MANY[::20])
def test_many_random_programs_in_tiles_are_exact(first: int) -> None:
    assert "exact" in [judged(seed) for seed in range(first, first + 20)]
