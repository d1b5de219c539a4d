"""How many points a set has, at a cost that does not depend on their number."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl

from rtlgen.ir import effort
from rtlgen.ir.affine import Affine
from rtlgen.ir.sets import coefficients_of, for_each, integer, lifted, operations
from rtlgen.poly.factors import factors
from rtlgen.poly.piecewise import NoClosedForm, Piece, Range, bounds_on, summed
from rtlgen.poly.polynomial import Polynomial
from rtlgen.poly.row_counts import count_by_rows

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
        _, lowers, uppers = bounds_on(names[k], _conditions(factor, names[: k + 1]))
        factor = factor.project_out(isl.dim_type.set, k, 1)
        around = isl.Set.from_basic_set(factor)
        pieces = summed(pieces, names[k], [Range(tuple(lowers), tuple(uppers))], around, names[:k])
    return int(sum((piece.value for piece in pieces), Polynomial({})).evaluate({}))


def _conditions(piece: isl.BasicSet, names: Sequence[str]) -> list[Affine]:
    """Return what is 0 or more in a piece without existentially quantified dimensions."""
    if piece.dim(isl.dim_type.div):
        raise NoClosedForm
    found = []
    for constraint in for_each(piece.remove_redundancies().foreach_constraint):
        own = dict(zip(names, coefficients_of(constraint), strict=True))
        form = Affine.of(own, integer(constraint.get_constant_val()))
        found += [form, -form] if constraint.is_equality() else [form]
    return found
