"""How far sweeps are behind each other at least, against all sets of elements there are."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from rtlgen.bench.grid_floor import elements_behind

Point = tuple[int, ...]


def around(points: set[Point], extent: int) -> set[Point]:
    """Return some elements and all their neighbours in the grid."""
    found = set(points)
    for point in points:
        for dim, step in product(range(len(point)), (-1, 1)):
            moved = (*point[:dim], point[dim] + step, *point[dim + 1 :])
            if 0 <= moved[dim] < extent:
                found.add(moved)
    return found


def fewest_behind(extent: int, dims: int, sweeps: int) -> int:
    """Return the same by trying all sets of every size."""
    grid = list(product(range(extent), repeat=dims))
    most = 0
    for size in range(1, len(grid) + 1):
        fewest = len(grid)
        for chosen in combinations(grid, size):
            reached = set(chosen)
            for _ in range(sweeps - 1):
                reached = around(reached, extent)
            fewest = min(fewest, len(reached))
        most = max(most, fewest - size)
    return most


@pytest.mark.parametrize(
    ("extent", "dims", "sweeps"),
    [(5, 1, 2), (9, 1, 4), (3, 2, 2), (3, 2, 3), (2, 3, 2), (2, 3, 3)],
)
def test_no_set_of_elements_has_fewer_around_it(extent: int, dims: int, sweeps: int) -> None:
    assert elements_behind(extent, dims, sweeps) == fewest_behind(extent, dims, sweeps)


def test_eight_sweeps_of_heat() -> None:
    assert elements_behind(8, 3, 8) == 327
    assert elements_behind(8, 3, 1) == 0
