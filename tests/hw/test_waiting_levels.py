"""Levels that run for a minimal number of iterations, whatever their bounds say."""

from __future__ import annotations

import pytest

from rtlgen.hw.elastic import ElasticOdometer
from rtlgen.hw.ragged import RaggedOdometer, nest_of
from rtlgen.ir.plan import IndexForm, Level, LevelBound
from tests.hw.nests import issued

LEAST = [(0, 1), (3, 1), (1, 4), (7, 2), (4, 9)]


def levels(least_j: int, least_k: int) -> tuple[Level, ...]:
    """Return for i<5, j=i..4, k=j..min(4, 2*i), the inner loops with minimal trip counts."""
    four = LevelBound(IndexForm((0, 0, 0), 4))
    i, j = LevelBound(IndexForm((1, 0, 0))), LevelBound(IndexForm((0, 1, 0)))
    twice_i = LevelBound(IndexForm((2, 0, 0)))
    return (
        Level(5),
        Level(20, None, (i,), (four,), least_j),
        Level(40, None, (j,), (four, twice_i), least_k),
    )


def expected(least_j: int, least_k: int) -> list[tuple[int, ...]]:
    return [
        (i, j, k)
        for i in range(5)
        for j in range(i, max(5, i + least_j))
        for k in range(j, max(min(4, 2 * i) + 1, j + least_k))
    ]


@pytest.mark.parametrize("least", LEAST)
def test_a_ragged_odometer_waits_in_levels_that_must(least: tuple[int, int]) -> None:
    nest = nest_of(levels(*least))
    assert nest is not None
    assert issued(RaggedOdometer(nest, 1), runs=2) == expected(*least) * 2


@pytest.mark.parametrize("least", LEAST)
def test_an_elastic_odometer_waits_in_levels_that_must(least: tuple[int, int]) -> None:
    assert issued(ElasticOdometer(levels(*least), 1), runs=2) == expected(*least) * 2
