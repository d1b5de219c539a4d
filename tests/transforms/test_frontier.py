"""Which partial choices of a search are followed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rtlgen.ir.ints import Ints
from rtlgen.transforms.frontier import Frontier, Growth


def column(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def grown(seed: int, size: int = 60) -> Growth:
    """Return choices of two units before, and one that is new, with small random figures."""
    numbers = random.Random(seed)

    def some(most: int, count: int) -> Ints:
        return column([numbers.randrange(most) for _ in range(count)])

    before = Frontier(
        np.stack([some(2, 8), some(3, 8)], axis=1),
        np.stack([some(5, 8), some(5, 8)], axis=1),
        *(some(5, 8) for _ in range(3)),
    )
    return Growth(before, *(some(n, size) for n in (8, 3, 5, 6, 4, 6)))


def beats(a: list[int], b: list[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("open_units", [[], [2], [0, 2]])
@pytest.mark.parametrize("fewest_changes", [True, False])
def test_only_choices_that_another_one_equals_or_beats_are_dropped(
    seed: int, open_units: list[int], fewest_changes: bool
) -> None:
    growth = grown(seed)
    parents = growth.parents
    chosen = np.column_stack([growth.before.chosen[parents], growth.candidates])
    starts = np.column_stack([growth.before.starts[parents], growth.starts])

    def seen(chosen: Ints, starts: Ints, end: int, changes: int) -> list[list[int]]:
        measures = [end, *starts[open_units].tolist()] + ([changes] if fewest_changes else [])
        return [chosen[open_units].tolist(), measures]

    kept = growth.undominated(open_units, fewest_changes=fewest_changes)
    survivors = [
        seen(*row) for row in zip(kept.chosen, kept.starts, kept.end, kept.changes, strict=True)
    ]
    for row in zip(chosen, starts, growth.end, growth.changes, strict=True):
        group, measures = seen(*row)
        assert any(group == g and beats(m, measures) for g, m in survivors)
    for n, (group, measures) in enumerate(survivors):
        others = survivors[:n] + survivors[n + 1 :]
        assert not any(group == g and beats(m, measures) for g, m in others)


def test_a_narrow_search_follows_the_best_bounds_in_the_order_of_the_choices() -> None:
    zeros = np.zeros((4, 1), dtype=np.int64)
    frontier = Frontier(
        column([0, 1, 2, 3]).reshape(4, 1),
        zeros,
        end=column([9, 8, 7, 6]),
        changes=column([0, 0, 0, 0]),
        bound=column([5, 9, 5, 6]),
    )
    assert frontier.with_best_bounds(2).chosen[:, 0].tolist() == [0, 2]
    assert frontier.with_best_bounds(1).chosen[:, 0].tolist() == [2]
    assert frontier.with_best_bounds(4) is frontier
    assert frontier.first() == 3


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="different lengths"):
        Frontier(np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int64), *[column([0])] * 3)
