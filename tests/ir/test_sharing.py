"""Which iterations are whose: the formulas, and loops that run through the same ones."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.ir.iterations import form_values, iterations_of
from rtlgen.ir.plan import IndexForm, Level, LevelBound
from rtlgen.ir.sharing import SharedLoops, share_of, shared_loops
from rtlgen.options import POLICIES, Policy

COUNTS = range(-3, 201)


def sizes(policy: Policy, count: int, workers: int) -> list[int]:
    return [len(share_of(policy, 0, count - 1, workers, worker)) for worker in range(workers)]


@pytest.mark.parametrize(
    ("policy", "count", "expected"),
    [
        ("F", 7, [1, 1, 1, 4]),
        ("C", 7, [2, 2, 2, 1]),
        ("cyclic", 7, [2, 2, 2, 1]),
        ("F", 9, [2, 2, 2, 3]),
        ("C", 9, [3, 3, 3, 0]),
        ("F", 3, [1, 1, 1, 0]),
        ("C", 3, [1, 1, 1, 0]),
        ("F", 0, [0, 0, 0, 0]),
        ("C", -2, [0, 0, 0, 0]),
    ],
)
def test_shares_are_the_published_ones(policy: Policy, count: int, expected: list[int]) -> None:
    assert sizes(policy, count, 4) == expected


def published(policy: Policy, first: int, last: int, workers: int, worker: int) -> range:
    """Return the published definition of F and C, with its cases."""
    count = last - first + 1
    if count <= workers:
        chunk, active = 1, max(0, count)
    elif policy == "F":
        chunk, active = count // workers, workers
    else:
        chunk = -(-count // workers)
        active = -(-count // chunk)
    if worker >= active:
        return range(0)
    begin = first + chunk * worker
    end = last if worker == active - 1 else max(begin, begin + chunk - 1)
    return range(begin, end + 1)


@pytest.mark.parametrize("workers", range(1, 18))
@pytest.mark.parametrize("policy", ["F", "C"])
def test_one_formula_says_what_the_published_cases_say(policy: Policy, workers: int) -> None:
    for count in COUNTS:
        for worker in range(workers):
            own = share_of(policy, 5, 4 + count, workers, worker)
            assert list(own) == list(published(policy, 5, 4 + count, workers, worker))


def waves() -> tuple[Level, Level]:
    """Return a loop, and one inside that runs -3 to 200 times, between quotients."""
    wave = Level(len(COUNTS))
    lower = LevelBound(IndexForm((1, 0), 2), 3)
    upper = LevelBound(IndexForm((4, 0), -11), 3)
    return wave, Level(300, None, (lower,), (upper,))


def runs(shared: SharedLoops) -> np.ndarray:
    """Return the (count, 2) counters of the loops before in which a worker has something to do."""
    rows = iterations_of(shared.levels)
    works = np.ones(len(rows), dtype=np.bool_)
    for condition in shared.has_work:
        works &= form_values(condition.form, rows) >= 0
    counters = [form_values(form, rows) for form in shared.counters]
    return np.stack(counters, axis=1)[works]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("workers", range(1, 18))
@pytest.mark.parametrize("policy", POLICIES)
def test_loops_run_through_what_the_formulas_say(policy: Policy, workers: int) -> None:
    for worker in range(workers):
        found = runs(shared_loops(waves(), 1, policy, workers, worker))
        expected = [
            (wave, own)
            for wave in range(len(COUNTS))
            for own in share_of(policy, (wave + 4) // 3, (4 * wave - 11) // 3, workers, worker)
        ]
        assert found.tolist() == [list(pair) for pair in expected]


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("space", [0, 1])
def test_boxes_are_shared_without_further_loops(policy: Policy, workers: int, space: int) -> None:
    levels = (Level(5), Level(6), Level(4))
    every: list[list[int]] = []
    for worker in range(workers):
        shared = shared_loops(levels, space, policy, workers, worker)
        assert len(shared.levels) == 3
        assert not shared.has_work or shared.never
        every += [] if shared.never else runs(shared).tolist()
    assert sorted(every) == iterations_of(levels).tolist()


@pytest.mark.parametrize("lower", [IndexForm((0, 1, 0)), IndexForm((0, -1, 0), 5)])
def test_loops_inside_of_the_shared_one_go_with_it(lower: IndexForm) -> None:
    """Where a worker has nothing to do, they run once, wherever that would be."""
    inner = Level(11, None, (LevelBound(lower),), (LevelBound(IndexForm((1, 0, 0), 5)),))
    outer = Level(6), Level(6, None, (), (LevelBound(IndexForm((1, 0, 0))),))
    for policy in POLICIES:
        every: list[list[int]] = []
        for worker in range(3):
            every += runs(shared_loops((*outer, inner), 1, policy, 3, worker)).tolist()
        assert sorted(every) == iterations_of((*outer, inner)).tolist()
