"""How many points a set has: in closed form, as a product, or row by row.

Sets as products: dimensions that no constraint relates.

Points of a set counted, or listed, row by row, all rows at once.

Where the short dimensions have values, those that are left are apart from each other as a rule:
each is an interval, whatever its length, and the points of a row are their product. So the work
grows with the short dimensions alone. Coefficients may be any: bounds are quotients of numbers.

How many points a set has, at a cost that does not depend on their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import inf, prod

import islpy as isl
import numpy as np
import rustworkx

from rtlgen.ir import effort
from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints, distinct_rows
from rtlgen.ir.sets import (
    bounding_box,
    coefficients_of,
    for_each,
    integer,
    lifted,
    linear_constraint,
    operations,
)
from rtlgen.poly.polynomial import NoClosedForm, Piece, Polynomial, Range, bounds_on, summed


def factors(piece: isl.BasicSet) -> Iterator[tuple[list[int], isl.BasicSet]]:
    """Yield the dimensions that constraints relate with each other, and their set."""
    width = piece.dim(isl.dim_type.set)
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * width)
    constraints = []
    for constraint in piece.get_constraints():
        row = coefficients_of(constraint)
        used = [k for k, coefficient in enumerate(row) if coefficient]
        constraints.append((constraint, row, used))
        related.add_edges_from_no_data(list(pairwise(used)))
    for component in rustworkx.connected_components(related):
        dims = sorted(component)
        space = isl.Space.set_alloc(piece.get_ctx(), 0, len(dims))
        factor = isl.BasicSet.universe(space)
        for constraint, row, used in constraints:
            if used and used[0] in component:
                factor = factor.add_constraint(
                    linear_constraint(
                        space,
                        [row[k] for k in dims],
                        integer(constraint.get_constant_val()),
                        equal=constraint.is_equality(),
                    )
                )
        yield dims, factor


def widest_factor(piece: isl.BasicSet) -> int:
    """Return the most dimensions that constraints relate with each other, by divisions, too."""
    width = piece.dim(isl.dim_type.set)
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * (width + piece.dim(isl.dim_type.div)))
    for constraint in piece.get_constraints():
        row = [
            k + offset
            for kind, offset in ((isl.dim_type.set, 0), (isl.dim_type.div, width))
            for k in range(piece.dim(kind))
            if constraint.involves_dims(kind, k, 1)
        ]
        related.add_edges_from_no_data(list(pairwise(row)))
    groups = rustworkx.connected_components(related)
    return max((sum(k < width for k in group) for group in groups), default=0)


def product_factors(points: Ints) -> list[tuple[list[int], Ints]]:
    """Return sets of fewer dimensions whose product the (n, dims) points are.

    Each comes with its dimensions. Of a sum with one summand a factor, the largest value over all
    points is the sum of the largest over each factor: tens of points instead of all combinations.
    """
    width = points.shape[1]
    related: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    related.add_nodes_from([None] * width)
    columns = [np.unique(points[:, k], return_inverse=True) for k in range(width)]
    for a, b in combinations(range(width), 2):
        (first, place), (second, other) = columns[a], columns[b]
        if len(np.unique(place * len(second) + other)) < len(first) * len(second):
            related.add_edge(a, b, None)
    groups = sorted(map(sorted, rustworkx.connected_components(related)))
    found = [(dims, distinct_rows(points[:, dims])) for dims in groups]
    # What no two dimensions show may still relate three.
    if prod(len(own) for _, own in found) != len(distinct_rows(points)):
        return [(list(range(width)), points)]
    return found


ROUNDS = 8
"""In which bounds follow from those of the other dimensions, before isl is asked."""

MOST_DIMS = 10
"""Dimensions of which it is tried which ones are listed."""

LARGEST = 1 << 62
"""What numbers of 64 bits have to stay below."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """The sum of coefficients, by dimension, times values, and a constant, is 0 or more."""

    coefficients: dict[int, int]
    constant: int


def count_by_rows(piece: isl.BasicSet, most_rows: int) -> int | None:
    """Return the number of points of a set without existentially quantified dimensions.

    None where they are in more rows than `most_rows`.
    """
    conditions = list(_conditions(piece))
    if any(not each.coefficients and each.constant < 0 for each in conditions):
        return 0
    bounds = _box(piece, conditions)
    if bounds is None:
        return 0
    if not _can_be_listed(bounds, conditions):
        return None
    rows = _Rows(bounds, conditions)
    if not rows.list_all(_to_list(bounds, conditions), most_rows):
        return None
    points = np.ones(rows.count, dtype=np.int64)
    for dim in range(len(bounds)):
        if dim not in rows.values:
            points *= rows.ranges(dim)[1]
    return int(points.sum())


def points_by_rows(piece: isl.BasicSet, most_points: int) -> Ints | None:
    """Return the (n, dims) points of a set without existentially quantified dimensions.

    None where more than `most_points` have to be looked at.
    """
    conditions = list(_conditions(piece))
    dims = piece.dim(isl.dim_type.set)
    bounds = _box(piece, conditions)
    if bounds is None or any(not each.coefficients and each.constant < 0 for each in conditions):
        return np.zeros((0, dims), dtype=np.int64)
    if not _can_be_listed(bounds, conditions):
        return None
    listed = _to_list(bounds, conditions)
    rows = _Rows(bounds, conditions)
    # The others are intervals in each row, in any order.
    if not rows.list_all([*listed, *(k for k in range(dims) if k not in listed)], most_points):
        return None
    return np.stack([rows.values[k] for k in range(dims)], axis=1)


def _conditions(piece: isl.BasicSet) -> Iterator[_Condition]:
    """Yield the conditions of a set; an equality is two of them."""
    kinds = isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst
    for matrix, signs in (
        (piece.equalities_matrix(*kinds), (1, -1)),
        (piece.inequalities_matrix(*kinds), (1,)),
    ):
        columns = matrix.cols()
        for row in range(matrix.rows()):
            *own, constant = (integer(matrix.get_element_val(row, k)) for k in range(columns))
            for sign in signs:
                coefficients = {k: sign * c for k, c in enumerate(own) if c}
                yield _Condition(coefficients, sign * constant)


def _box(piece: isl.BasicSet, conditions: Sequence[_Condition]) -> list[tuple[int, int]] | None:
    """Return a range for each dimension that all of its values are in; None for an empty set."""
    dims = piece.dim(isl.dim_type.set)
    lows: list[float] = [-inf] * dims
    highs: list[float] = [inf] * dims
    for _ in range(ROUNDS):
        before = [*lows, *highs]
        for each in conditions:
            _tighten(each, lows, highs)
        if any(low > high for low, high in zip(lows, highs, strict=True)):
            return None
        if before == [*lows, *highs]:
            break
    if -inf in lows or inf in highs:
        # Each of some dimensions ends where others do.
        points = isl.Set.from_basic_set(piece)
        return None if points.is_empty() else list(bounding_box(points))
    return [(int(low), int(high)) for low, high in zip(lows, highs, strict=True)]


def _tighten(condition: _Condition, lows: list[float], highs: list[float]) -> None:
    """Bound each dimension of a condition by the largest values of the others."""
    largest = {k: c * (highs[k] if c > 0 else lows[k]) for k, c in condition.coefficients.items()}
    endless = [k for k, value in largest.items() if value == inf]
    if len(endless) > 1:
        return
    total = condition.constant + sum(value for value in largest.values() if value != inf)
    for k in endless or largest:
        c = condition.coefficients[k]
        rest = total if endless else total - largest[k]
        if c > 0:
            lows[k] = max(lows[k], -(rest // c))
        else:
            highs[k] = min(highs[k], rest // -c)


def _reach(condition: _Condition, bounds: Sequence[tuple[int, int]]) -> int:
    """Return how large the sum of a condition may be, and each part of it."""
    ends = [abs(c) * max(map(abs, bounds[k])) for k, c in condition.coefficients.items()]
    return sum(ends) + abs(condition.constant)


def _can_be_listed(bounds: Sequence[tuple[int, int]], conditions: Sequence[_Condition]) -> bool:
    """Tell whether numbers of 64 bits, and a number of trials that is not large, will do."""
    reach = max((_reach(each, bounds) for each in conditions), default=0)
    size = prod(high - low + 1 for low, high in bounds)
    return len(bounds) <= MOST_DIMS and max(reach, size) < LARGEST


def _to_list(bounds: Sequence[tuple[int, int]], conditions: Sequence[_Condition]) -> list[int]:
    """Return the dimensions with the fewest values together that leave the others apart."""
    lengths = [high - low + 1 for low, high in bounds]
    dims = range(len(lengths))
    related = [0] * len(lengths)
    for each in conditions:
        together = sum(1 << k for k in each.coefficients)
        for k in each.coefficients:
            related[k] |= together & ~(1 << k)
    apart = [
        chosen
        for chosen in range(1 << len(lengths))
        if all(chosen >> k & 1 or not related[k] & ~chosen for k in dims)
    ]
    ways = [[k for k in dims if chosen >> k & 1] for chosen in apart]
    listed = min(ways, key=lambda way: prod(lengths[k] for k in way))
    return sorted(listed, key=lambda k: lengths[k])


class _Rows:
    """Values of the listed dimensions, a row for each combination of them.

    Parameters
    ----------
    bounds: of every dimension.
    """

    def __init__(self, bounds: Sequence[tuple[int, int]], conditions: Sequence[_Condition]) -> None:
        self.bounds = bounds
        self.conditions = conditions
        self.values: dict[int, Ints] = {}
        self.count = 1

    def ranges(self, dim: int) -> tuple[Ints, Ints]:
        """Return for each row the first value of a dimension, and how many there are."""
        low, high = (np.full(self.count, end, dtype=np.int64) for end in self.bounds[dim])
        for each in self.conditions:
            own = each.coefficients.get(dim)
            if own is None or not each.coefficients.keys() <= {dim, *self.values}:
                continue
            rest = np.full(self.count, each.constant, dtype=np.int64)
            for k, coefficient in each.coefficients.items():
                if k != dim:
                    rest += coefficient * self.values[k]
            if own > 0:
                np.maximum(low, -(rest // own), out=low)
            else:
                np.minimum(high, rest // -own, out=high)
        return low, np.maximum(high - low + 1, 0)

    def list_all(self, dims: Sequence[int], most_rows: int) -> bool:
        """List dimensions one after another; False where there are more rows than `most_rows`."""
        for dim in dims:
            low, trips = self.ranges(dim)
            total = int(trips.sum())
            if total > most_rows:
                return False
            keep_going(work=total)
            self.list(dim, low, trips)
        return True

    def list(self, dim: int, low: Ints, trips: Ints) -> None:
        """Make a row of each value of a dimension."""
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        own = np.repeat(low, trips) + np.arange(len(starts), dtype=np.int64) - starts
        self.values = {k: np.repeat(known, trips) for k, known in self.values.items()}
        self.values[dim] = own
        self.count = len(own)


FEW_ROWS = 1 << 14
"""Rows in which points are counted sooner than in closed form."""

MANY_ROWS = 1 << 20
"""Rows in which they are counted where they have no closed form."""


def count_points(points: isl.Set) -> int:
    """Return the number of points of a bounded set."""
    effort.keep_going(points.get_ctx())
    pieces = for_each(points.coalesce().make_disjoint().foreach_basic_set)
    return sum(_count_of_piece(piece) for piece in pieces)


def _count_of_piece(piece: isl.BasicSet) -> int:
    if piece.dim(isl.dim_type.div):
        # A quotient that follows from the dimensions is one more of them.
        if not isl.Set.from_basic_set(piece.lift()).unwrap().is_single_valued():
            return _scanned(piece)
        piece = lifted(piece)
    # What no constraint relates is a product.
    return prod(_count_of_factor(factor) for _, factor in factors(piece))


def _count_of_factor(factor: isl.BasicSet) -> int:
    found = count_by_rows(factor, FEW_ROWS)
    if found is not None:
        return found
    if factor.is_empty():
        return 0
    try:
        return _summed(factor)
    except NoClosedForm:
        found = count_by_rows(factor, MANY_ROWS)
        return _scanned(factor) if found is None else found


def _scanned(piece: isl.BasicSet) -> int:
    """Return the number of points as isl counts them: row by row of the last dimension."""
    context = piece.get_ctx()
    with operations(context, effort.COUNTING_OPERATIONS):
        return integer(isl.Set.from_basic_set(piece).count_val())


def _summed(factor: isl.BasicSet) -> int:
    """Return the number of points as a sum over one dimension after the other.

    Raises
    ------
    NoClosedForm: a dimension has another coefficient than 1 or -1 in a constraint.
    """
    names = [f"d{k}" for k in range(factor.dim(isl.dim_type.set))]
    pieces = [Piece((), Polynomial.constant(1))]
    for k in reversed(range(len(names))):
        _, lowers, uppers = bounds_on(names[k], _affine_conditions(factor, names[: k + 1]))
        factor = factor.project_out(isl.dim_type.set, k, 1)
        around = isl.Set.from_basic_set(factor)
        pieces = summed(pieces, names[k], [Range(tuple(lowers), tuple(uppers))], around, names[:k])
    return int(sum((piece.value for piece in pieces), Polynomial({})).evaluate({}))


def _affine_conditions(piece: isl.BasicSet, names: Sequence[str]) -> list[Affine]:
    """Return what is 0 or more in a piece without existentially quantified dimensions."""
    if piece.dim(isl.dim_type.div):
        raise NoClosedForm
    found = []
    for constraint in for_each(piece.remove_redundancies().foreach_constraint):
        own = dict(zip(names, coefficients_of(constraint), strict=True))
        form = Affine.of(own, integer(constraint.get_constant_val()))
        found += [form, -form] if constraint.is_equality() else [form]
    return found
