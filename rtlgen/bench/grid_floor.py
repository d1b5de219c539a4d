"""How far behind each other the sweeps of a stencil must run, in any order of their elements.

A sweep that reads all neighbours of an element in a grid needs them from the sweep before. When the
last of several sweeps has computed m elements, the first one has computed all that are within as
many steps of them as there are sweeps between. A set of m elements has fewest around it where it
is cut off from a corner by diagonals, and the set around that is such a set again. So with one
element a cycle in each sweep, the last one is behind by the largest difference of the two sizes:

    8 x 8 x 8, 8 sweeps: 91 elements have at least 418 within 7 steps, so the last is 327 behind

Reference
---------
Bollobas, Leader, Compressions and isoperimetric inequalities, Journal of Combinatorial Theory A,
1991: initial segments of the simplicial order have the fewest neighbours in a grid.
"""

from __future__ import annotations

from itertools import product

import numpy as np


def elements_behind(extent: int, dims: int, sweeps: int) -> int:
    """Return how many elements the last of some sweeps is behind the first one at some time.

    Parameters
    ----------
    extent: of the grid, in each of so many dimensions.
    """
    order = sorted(product(range(extent), repeat=dims), key=_simplicial)
    points = np.array(order)
    numbers = np.arange(len(points))
    apart = np.zeros((len(points), len(points)), dtype=np.int64)
    for column in points.T:
        apart += np.abs(column[:, None] - column[None, :])
    # The first element in whose reach each one is: from that on it is around the set.
    reached = np.where(apart < sweeps, numbers[:, None], len(points)).min(axis=0)
    around = np.searchsorted(np.sort(reached), numbers, side="right")
    return int((around - (numbers + 1)).max())


def _simplicial(point: tuple[int, ...]) -> tuple[int, ...]:
    return sum(point), *(-x for x in point)
