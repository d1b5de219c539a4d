"""Rows of tiles that wait for each other: against what a search through all tiles finds."""

from __future__ import annotations

from itertools import pairwise

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import Predicate
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets
from rtlgen.windows.waiting import (
    covers,
    doacross,
    pairing,
    pairing_for_room,
    room_ahead,
    smallest_lag,
)
from tests.poly.sources import points_of

SETS = ScopSets(parse_text("void f(int a[4]) { a[0] = 1; }", "f.c").scop)
"""Those of any program: what is asked are its relations between tiles."""

Rows = list[tuple[int, int]]
"""First and last column of each row."""

ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda ends: (ends[0], sum(ends))),
    min_size=2,
    max_size=6,
)


def tiles_of(rows: Rows) -> isl.Set:
    points = "; ".join(f"[{i}, j] : {low} <= j <= {high}" for i, (low, high) in enumerate(rows))
    return isl.Set(f"{{ {points} }}")


@given(ROWS, st.integers(0, 3))
def test_each_tile_has_waited_for_what_it_may_need(rows: Rows, lag: int) -> None:
    """Workers that run as far as they may, each its row: what is behind them is what they need."""
    tiles = tiles_of(rows)
    if not covers(tiles, lag):
        return
    taken_for = {}
    for i, j, row, column in points_of(pairing(tiles, lag).wrap()):
        assert row == i - 1
        assert (i, j) not in taken_for
        taken_for[i, j] = column
    assert len({(i, column) for (i, _), column in taken_for.items()}) == len(taken_for)
    # By induction over the rows: the columns that are done of all of those before.
    done: dict[tuple[int, int], list[int]] = {}
    for i, (low, high) in enumerate(rows):
        known = [-1] * i
        for j in range(low, high + 1):
            if (i, j) in taken_for:
                column = taken_for[i, j]
                known = [
                    max(pair) for pair in zip(known, [*done[i - 1, column], column], strict=True)
                ]
            done[i, j] = known
            for before in range(i):
                wanted = min(j + lag * (i - before), rows[before][1])
                assert wanted < rows[before][0] or known[before] >= wanted


@given(ROWS, st.integers(1, 4))
def test_a_row_is_no_farther_ahead_than_there_is_room(rows: Rows, ahead: int) -> None:
    """Of the row behind, all up to `ahead` columns before a tile is done when it begins."""
    waits = {
        (i, j): column for i, j, _, column in paired_of(pairing_for_room(tiles_of(rows), ahead))
    }
    assert len({(i, column) for (i, _), column in waits.items()}) == len(waits)
    for i, (low, high) in enumerate(rows[:-1]):
        first, last = rows[i + 1]
        done = -1
        for j in range(low, high + 1):
            done = max(done, waits.get((i, j), -1))
            wanted = min(j - ahead, last)
            assert wanted < first or done >= wanted


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=9),
    st.integers(0, 2),
    st.integers(1, 4),
)
def test_rows_with_room_for_as_many_columns_as_there_are_end(
    more: list[int], lag: int, workers: int
) -> None:
    """Rows of any lengths that begin together: those of all workers go on until all are done."""
    rows = [(0, high) for high in more]
    tiles = tiles_of(rows)
    if not covers(tiles, lag):
        return
    ahead = room_ahead(lag, max(more) + 1, workers)
    before = {(i, j): tile for i, j, *tile in paired_of(pairing(tiles, lag))}
    room = {(i, j): tile for i, j, *tile in paired_of(pairing_for_room(tiles, ahead))}
    assert runs_to_its_end(rows, workers, [before, room])
    # With room for fewer columns than a row has they wait for each other for ever.
    scarce = {(i, j): tile for i, j, *tile in paired_of(pairing_for_room(tiles, lag + 1))}
    if len(rows) > workers and min(more) >= workers * (lag + 1):
        assert not runs_to_its_end(rows, workers, [before, scarce])


def runs_to_its_end(
    rows: Rows, workers: int, waits: list[dict[tuple[int, int], list[int]]]
) -> bool:
    """Tell whether all tiles run, those of a worker row by row, each when what it wants is done."""
    left = [
        [(i, j) for i in range(w, len(rows), workers) for j in range(rows[i][0], rows[i][1] + 1)]
        for w in range(workers)
    ]
    done: set[tuple[int, ...]] = set()
    goes_on = True
    while goes_on:
        goes_on = False
        for own in left:
            while own and all(tuple(w[own[0]]) in done for w in waits if own[0] in w):
                done.add(own.pop(0))
                goes_on = True
    return not any(left)


def paired_of(pairs: isl.Map) -> list[tuple[int, ...]]:
    return [] if pairs.is_empty() else list(points_of(pairs.wrap()))


@given(ROWS, st.integers(0, 3))
def test_rows_that_end_too_early_are_told(rows: Rows, lag: int) -> None:
    ends = [high for _, high in rows]
    expected = all(before <= end + lag for before, end in pairwise(ends))
    assert covers(tiles_of(rows), lag) == expected


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4), st.integers(0, 5)),
        min_size=1,
        max_size=5,
    )
)
def test_the_smallest_lag_is_what_a_search_finds(pairs: list[tuple[int, int, int, int]]) -> None:
    text = "; ".join(f"[{i}, {j}] -> [{i + more}, {k}]" for i, j, more, k in pairs)
    wanted = max(0, *(-(-(j - k) // more) for _, j, more, k in pairs))
    assert smallest_lag([isl.Map(f"{{ {text} }}")], 6) == wanted


def loops(columns: int) -> tuple[NestLoop, ...]:
    return NestLoop("t0", 4), NestLoop("t1", columns)


def held(predicate: Predicate, columns: int) -> set[tuple[int, int]]:
    return {(i, j) for i in range(4) for j in range(columns) if predicate.holds((i, j))}


def test_the_tiles_that_wait_are_as_many_as_those_they_wait_for() -> None:
    found = doacross(SETS, loops(5), 0, [SETS.read_map("{ [i, j] -> [i + 1, j - 1] }")], 4)
    assert found is not None
    assert (found.lag, found.columns, found.rows_at_a_time) == (1, 5, 3)
    assert held(found.taken, 5) == {(i, j) for i in (1, 2, 3) for j in range(4)}
    assert held(found.given, 5) == {(i, j) for i in (0, 1, 2) for j in range(1, 5)}
    assert found.wait("a_out").distance == 0
    assert found.wait("a_out").loops == 2


def test_a_dependence_upwards_within_the_last_row_needs_all_of_it() -> None:
    """Each row waits for the end of the one before: that is no lag, but its whole length."""
    found = doacross(SETS, loops(5), 0, [SETS.read_map("{ [i, 4] -> [i + 1, 0] }")], 4)
    assert found is not None
    assert (found.lag, found.rows_at_a_time) == (4, 1)


@pytest.mark.parametrize("space", [1, 2])
def test_a_loop_without_one_inside_has_no_columns(space: int) -> None:
    nest = [NestLoop(f"t{k}", 1 if k < space else 4) for k in range(space + 1)]
    assert doacross(SETS, nest, space, [], 4) is None


def test_rows_without_tiles_are_not_shared() -> None:
    """Row i has columns 0 to 4 - 3 i: one that is short says nothing of longer ones before."""
    upper = Bound(Affine.of({"t0": -3}, 9))
    nest = (NestLoop("t0", 4), NestLoop("t1", 10, uppers=(upper,)))
    assert doacross(SETS, nest, 0, [SETS.read_map("{ [i, j] -> [i + 1, j] }")], 4) is None
