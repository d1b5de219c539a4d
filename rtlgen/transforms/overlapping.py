"""Let the last rows in one iteration of an outer loop run together with the first in the next.

Where the rows of a nest are short at both ends, as the wavefronts of a rectangle are, each has to
be made as long as what the next one waits for. In front of the outer loop comes a new one that
counts the rows of all of its iterations, the last few of each along with the first few of the next:
what is short in one is filled up by the other. At the very ends it is filled up by iterations that
are not there.

Rewrite
-------
    for t<5 for w<112                  ->   for f = w + 104 * t
      for i in row w, at least 5: S            for t with 0 <= f - 104 * t < 112
                                                 for i in row w = f - 104 * t: S
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.schedule import Bound, NestLoop, only
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.poly.ranks import enumerate_nest
from rtlgen.transforms.sink import CommonNest
from rtlgen.transforms.sinkings import Sinking


def overlapping(nest: CommonNest, padded: Sequence[NestLoop]) -> CommonNest | None:
    """Return a nest in which iterations of the outermost loop overlap by their short rows.

    None: it has no such rows, or they are not the same in all iterations.

    Parameters
    ----------
    padded: its loops with the minimal trip counts that they need without.
    """
    if len(nest.loops) < 3:
        return None
    outer, rows, *inner = nest.loops
    least = max(loop.at_least for loop in padded[2:])
    if least < 2 or outer.extent < 2 or not (outer.is_box and rows.is_box):
        return None
    if any(_mentions(loop, outer) for loop in inner) or not _are_affine(nest, outer, rows):
        return None
    overlap = _short_rows(nest.loops[1:], least)
    if overlap == 0 or 2 * overlap >= rows.extent:
        return None
    return _overlapped(nest, rows.extent - overlap)


def _mentions(loop: NestLoop, outer: NestLoop) -> bool:
    bounds = (*loop.lowers, *loop.uppers)
    assert outer.counter is not None, "every loop of the nest is a common dimension"
    return any(bound.form.coefficient(outer.counter) for bound in bounds)


def _are_affine(nest: CommonNest, *loops: NestLoop) -> bool:
    """Tell whether the places of every member in these loops are affine."""
    places = [nest.dims.index(loop.counter or "") for loop in loops]
    return all(len(own[place]) == 1 for own in nest.sinking.values.values() for place in places)


def _short_rows(loops: Sequence[NestLoop], least: int) -> int:
    """Return how many rows are shorter than `least` at either end, at least."""
    enumerated = enumerate_nest(loops)
    if enumerated is None:
        return 0
    rows = enumerated[0][:, 0]
    lengths = np.bincount(rows - rows.min())
    long = np.flatnonzero(lengths >= least)
    return 0 if len(long) == 0 else int(min(long[0], len(lengths) - 1 - long[-1]))


def _overlapped(nest: CommonNest, stride: int) -> CommonNest:
    """Return the nest in which an iteration of the outer loop begins so many rows after another."""
    outer, rows, *inner = nest.loops
    assert outer.counter is not None and rows.counter is not None, "both are common dimensions"
    first, last = rows.at, rows.at + rows.extent - 1
    front = f"d{len(nest.dims)}"
    at, here = Affine.variable(front), Affine.variable(outer.counter)
    row = Bound(at - here * stride)
    loops = (
        NestLoop(front, rows.extent + stride * (outer.extent - 1), first + stride * outer.at),
        replace(
            outer,
            extent=outer.extent + 2,
            at=outer.at - 1,
            lowers=(Bound(at - last, stride),),
            uppers=(Bound(at - first, stride),),
        ),
        replace(rows, lowers=(row,), uppers=(row,)),
        *inner,
    )
    places = nest.dims.index(outer.counter), nest.dims.index(rows.counter)
    values = {
        name: (*own, (affine_sum([only(own[places[0]]) * stride, only(own[places[1]])]),))
        for name, own in nest.sinking.values.items()
    }
    pinned = {name: (*own, None) for name, own in nest.sinking.own.items()}
    return replace(
        nest,
        sinking=Sinking(values, pinned),
        dims=(*nest.dims, front),
        loops=loops,
        gain=min(nest.gain, TOLERANCE),
        iterations=0,
        overlaps=True,
    )
