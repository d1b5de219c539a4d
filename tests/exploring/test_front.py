"""What is on the front is dominated by nothing, and what is not is dominated by something."""

from __future__ import annotations

import random

from rtlgen.exploring.search import front


def _at_least_as_good(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def test_the_front_of_random_figures_is_what_nothing_dominates() -> None:
    rng = random.Random(1)
    for _ in range(50):
        items = [tuple(rng.randrange(6) for _ in range(3)) for _ in range(rng.randrange(1, 20))]
        found = front(items, lambda item: item)
        assert len(set(found)) == len(found)
        for item in items:
            better = [o for o in items if o != item and _at_least_as_good(o, item)]
            assert (item in found) == (not better)


def test_of_equal_ones_the_first_stays() -> None:
    assert front(["first", "second"], lambda _: (1, 2)) == ["first"]
