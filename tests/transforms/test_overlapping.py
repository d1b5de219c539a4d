"""Iterations of an outer loop that overlap by their short rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.ranks import enumerate_nest
from rtlgen.transforms.overlapping import overlapping
from rtlgen.transforms.sink import CommonNest
from rtlgen.transforms.sinkings import Sinking

SWEEPS, SIDE = 3, 6
ROW = Affine.variable("d1")


def wavefronts(sweeps: int = SWEEPS) -> CommonNest:
    """Return sweeps over a square along wavefronts d1 = i + j, in the loops (d0, d1, i = d2)."""
    loops = (
        NestLoop("d0", sweeps),
        NestLoop("d1", 2 * SIDE - 1),
        NestLoop("d2", SIDE, 0, (Bound(ROW - (SIDE - 1)),), (Bound(ROW),)),
    )
    place = tuple((Affine.variable(name),) for name in "twi")
    return CommonNest(Sinking({"S0": place}, {"S0": ("t", "w", "i")}), ("d0", "d1", "d2"), loops, 0)


def with_minima(nest: CommonNest, least: int) -> tuple[NestLoop, ...]:
    return (*nest.loops[:2], replace(nest.loops[2], at_least=least))


def rows_of(loops: tuple[NestLoop, ...]) -> np.ndarray:
    enumerated = enumerate_nest(loops)
    assert enumerated is not None
    return enumerated[0]


@pytest.mark.parametrize("least", [2, 3, 4])
def test_every_iteration_is_there_once_and_rows_are_as_long_as_they_must_be(least: int) -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, least))
    assert found is not None
    front, *others = (found.loops[n].counter for n in range(4))
    assert (front, *others) == ("d3", "d0", "d1", "d2")
    rows = rows_of(found.loops)
    real = [tuple(row[1:]) for row in rows.tolist() if 0 <= row[1] < SWEEPS]
    assert sorted(real) == sorted(map(tuple, rows_of(nest.loops).tolist()))
    stride = 2 * SIDE - 1 - (least - 1)
    assert [f == w + stride * t for f, t, w, _ in rows.tolist()] == [True] * len(rows)
    lengths = np.unique(rows[:, 0], return_counts=True)[1]
    assert lengths.min() == least
    # Only the first and the last rows have iterations that are not there.
    assert len(rows) == len(real) + least * (least - 1)


def test_a_member_runs_where_its_own_loops_say() -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, 3))
    assert found is not None
    (pinned, *own) = found.loops_of("S0", found.loops)
    assert [loop.iterator for loop in own] == ["t", "w", "i"]
    assert pinned.iterator is None
    assert pinned.pinned == (Affine.variable("w") + Affine.variable("t") * 9,)


def test_what_has_no_short_rows_does_not_overlap() -> None:
    nest = wavefronts()
    assert overlapping(nest, nest.loops) is None
    assert overlapping(nest, with_minima(nest, 1)) is None
    box = replace(nest, loops=(*nest.loops[:2], NestLoop("d2", SIDE)))
    assert overlapping(box, with_minima(box, 3)) is None


def test_where_no_row_is_long_enough_none_overlap() -> None:
    nest = wavefronts()
    padded = (*nest.loops[:2], NestLoop("d2", SIDE + 1, at_least=SIDE + 1))
    assert overlapping(nest, padded) is None


def test_one_iteration_has_nothing_to_overlap_with() -> None:
    nest = wavefronts(sweeps=1)
    assert overlapping(nest, with_minima(nest, 3)) is None


def test_rows_that_differ_from_iteration_to_iteration_do_not_overlap() -> None:
    nest = wavefronts()
    rows = replace(nest.loops[1], uppers=(Bound(Affine.variable("d0") + 5),))
    growing = replace(nest, loops=(nest.loops[0], rows, nest.loops[2]))
    assert overlapping(growing, with_minima(growing, 3)) is None
    inner = replace(nest.loops[2], uppers=(Bound(ROW), Bound(Affine.variable("d0") + 3)))
    cut = replace(nest, loops=(*nest.loops[:2], inner))
    assert overlapping(cut, with_minima(cut, 3)) is None


def test_a_member_that_is_in_one_of_two_rows_does_not_overlap() -> None:
    nest = wavefronts()
    (t, w, i) = nest.sinking.values["S0"]
    values = {"S0": (t, (*w, Affine.variable("t")), i)}
    pinned = replace(nest, sinking=Sinking(values, {"S0": ("t", None, "i")}))
    assert overlapping(pinned, with_minima(pinned, 3)) is None


def test_an_overlapped_nest_is_not_overlapped_again() -> None:
    nest = wavefronts()
    found = overlapping(nest, with_minima(nest, 3))
    assert found is not None
    padded = (*found.loops[:3], replace(found.loops[3], at_least=3))
    assert overlapping(found, padded) is None
