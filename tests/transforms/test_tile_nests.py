"""Cutting loops into tiles, in any unimodular order."""

from __future__ import annotations

import pytest

from rtlgen.ir.affine import Affine
from rtlgen.transforms.normalise import normalise
from rtlgen.transforms.tile_nests import (
    Tiling,
    cut_into_tiles,
    inner_strip_order,
    tile_orders,
    woven_order,
)
from tests.tiling.programs import TRANSPOSED, parsed


@pytest.mark.parametrize("order", tile_orders(3))
def test_tile_coordinates_are_what_the_order_makes_of_them(
    order: tuple[tuple[int, ...], ...],
) -> None:
    coordinates = Tiling((4, 4, 4), order).coordinates(("u", "v", "w"))
    for tile in [(0, 0, 0), (1, 2, 3), (5, 0, 2)]:
        loops = [sum(c * t for c, t in zip(row, tile, strict=True)) for row in order]
        values = dict(zip(("u", "v", "w"), loops, strict=True))
        assert tuple(form.evaluate(values) for form in coordinates) == tile


def test_an_order_that_loses_tiles_is_no_order() -> None:
    with pytest.raises(ValueError, match="not unimodular"):
        Tiling((8, 8), ((2, 0), (0, 1)))


def test_tiles_begin_where_c_counts_from() -> None:
    scop = parsed(TRANSPOSED, 20).scop
    scop = normalise(scop, frozenset(s.name for s in scop.statements))
    cut = cut_into_tiles(scop, Tiling((8, 8), ((1, 1), (1, 0))))
    (statement,) = cut.scop.statements
    assert statement.iterators == ("t0", "t1", "i", "j")
    row, column = statement.write.affine
    assert row == Affine.of({"t1": 8, "i": 1})
    assert column == Affine.of({"t0": 8, "t1": -8, "j": 1})
    (inside,) = cut.inside.statements
    assert [loop.stop.constant for loop in inside.loops] == [1, 1, 8, 8]


def test_tile_loops_of_one_row_count_together() -> None:
    tiling = Tiling((4, 2), ((1, 0), (0, 1)), (1, 4))
    assert tiling.loop_count == 3
    assert tiling.phase_loops == ((2, 4),)
    first, second = tiling.coordinates(("t", "u", "v"))
    assert (str(first), str(second)) == ("t", "4*u + v")


def test_the_inner_loop_of_a_woven_order_is_the_innermost() -> None:
    tiling = woven_order((1, 1))
    first, second = tiling.coordinates(("t", "u", "v"))
    assert (str(first), str(second)) == ("8*t + v", "-8*t + u - v")


def test_an_inner_strip_is_run_through_before_the_next_one() -> None:
    tiling = inner_strip_order((8, 4, 16), 5, 2)
    names = ("t", "strip", "i", "j")
    assert [str(form) for form in tiling.coordinates(names)] == ["t", "i", "j + 5*strip"]
    assert [step.row for step in tiling.steps] == [0, 1, 2, 1]
