"""Extrema and level sets of the distance of dependent instances whose ranks are polynomials.

Some of the related pairs of a relation that has too many to be listed: those near its corners.

A distance that a nest keeps too short is mostly too short where some loop is shortest, which is at
a corner of the relation. So a nest that fits these pairs is worth a proof for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, product
from typing import Literal

import islpy as isl
import numpy as np

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.sets import coefficients_of, for_each, integer
from rtlgen.poly.extrema import set_extrema
from rtlgen.poly.instances import Pairs, listed_points
from rtlgen.poly.polynomial import NoClosedForm, in_closed_form

MAX_HALVINGS = 200
"""Halves of a polyhedron that are looked at for one extremum."""

MAX_CUTS = 10
"""Halvings of a polyhedron, one inside of the other, in the search for a level set."""

MAX_LAYERS = 64
"""Values of one dimension, from its first one on, in which a level set may lie."""


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """ii_source * rank(p) - ii_sink * rank(q), over related pairs (p, q) in one space.

    Members
    -------
    function: the distance; where it has no value, it is 0. pairs: all pairs.
    """

    function: isl.PwQPolynomial
    pairs: isl.Set

    @staticmethod
    def between(
        relation: isl.Map,
        source: isl.PwQPolynomial,
        sink: isl.PwQPolynomial,
        source_ii: int,
        sink_ii: int,
    ) -> Distance:
        """Return the distance of the pairs of a relation; ranks are over unnamed dimensions."""
        before = relation.dim(isl.dim_type.in_)
        after = relation.dim(isl.dim_type.out)
        context = relation.get_ctx()
        with in_closed_form(context):
            pairs = flattened(relation)
            early = source.insert_dims(isl.dim_type.in_, before, after)
            late = sink.insert_dims(isl.dim_type.in_, 0, before)
            early = early.scale_val(isl.Val(source_ii, context))
            late = late.scale_val(isl.Val(sink_ii, context))
            return Distance(early.sub(late).intersect_domain(pairs), pairs)

    def extrema(self) -> tuple[int, int]:
        """Return the smallest and the largest value over all pairs, of which there are some.

        Raises
        ------
        NoClosedForm: it was not found by bounds and halves.
        """
        with in_closed_form(self.pairs.get_ctx()):
            return self._extremum("min"), self._extremum("max")

    def _extremum(self, which: Literal["min", "max"]) -> int:
        choose = min if which == "min" else max
        parts, nowhere = self._parts()
        found = [_extremum(part, which) for part in parts]
        return choose([*found, *([] if nowhere.is_empty() else [0])])

    def at(self, distance: int) -> isl.Set:
        """Return the pairs that are `distance` apart.

        Raises
        ------
        NoClosedForm: they are no union of a few polyhedra that the bounds tell.
        """
        with in_closed_form(self.pairs.get_ctx()):
            parts, nowhere = self._parts()
            found = self.pairs.subtract(self.pairs) if distance else nowhere
            for part in parts:
                found = found.union(_level_set(part, distance))
            return found.coalesce()

    def _parts(self) -> tuple[list[_Part], isl.Set]:
        """Return the polyhedra on which the distance is a polynomial, and where it is 0."""
        found: list[_Part] = []

        def visit(domain: isl.Set, value: isl.QPolynomial) -> None:
            found.extend(_Part(value, domain.coalesce()).pieces())

        self.function.foreach_piece(visit)
        return found, self.pairs.subtract(self.function.domain())


def extrema(function: isl.PwQPolynomial, points: isl.Set) -> tuple[int, int]:
    """Return the smallest and the largest value of a function over points, of which there are some.

    Raises
    ------
    NoClosedForm
    """
    plain = points.reset_tuple_id()
    return Distance(function.intersect_domain(plain), plain).extrema()


def flattened(relation: isl.Map) -> isl.Set:
    """Return the pairs of a relation as points of one unnamed space, sources first."""
    return relation.wrap().flatten().reset_tuple_id()


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A polynomial over a polyhedron."""

    value: isl.QPolynomial
    points: isl.Set

    def within(self, points: isl.Set) -> _Part:
        return _Part(self.value, points)

    def pieces(self) -> list[_Part]:
        """Return the part cut into convex ones that have some point."""
        found = for_each(self.points.make_disjoint().foreach_basic_set)
        parts = [self.within(isl.Set.from_basic_set(piece)) for piece in found]
        return [part for part in parts if not part.points.is_empty()]

    def bound(self, which: Literal["min", "max"]) -> tuple[int, bool]:
        """Return a bound of the integer values, and whether one of them reaches it."""
        function = isl.PwQPolynomial.from_qpolynomial(self.value).intersect_domain(self.points)
        if self.value.is_zero():
            return 0, True
        fold, is_tight = function.bound(getattr(isl.fold, which))
        values: list[isl.Val] = []

        def visit(_: isl.Set, piece: isl.QPolynomialFold) -> None:
            piece.foreach_qpolynomial(lambda value: values.append(value.get_constant_val()))

        fold.foreach_piece(visit)
        if any(not value.is_rat() for value in values):
            raise NoClosedForm
        rounded = [integer(v.floor() if which == "max" else v.ceil()) for v in values]
        is_whole = all(value.is_int() for value in values)
        choose = max if which == "max" else min
        # Nothing is said of a bound that is 0.
        return choose(rounded, default=0), bool(is_tight) and is_whole

    def at(self, point: isl.Point) -> int:
        function = isl.PwQPolynomial.from_qpolynomial(self.value)
        return integer(function.eval(point))

    def halves(self) -> tuple[_Part, _Part]:
        """Cut the polyhedron across its longest dimension.

        Raises
        ------
        NoClosedForm: it is a point.
        """
        points = self.points
        dims = range(points.dim(isl.dim_type.set))
        ranges = [(integer(points.dim_min_val(k)), integer(points.dim_max_val(k))) for k in dims]
        longest = max(dims, key=lambda k: ranges[k][1] - ranges[k][0])
        low, high = ranges[longest]
        if low == high:
            raise NoClosedForm
        middle = isl.Val((low + high) // 2, points.get_ctx())
        above = isl.Val((low + high) // 2 + 1, points.get_ctx())
        return (
            self.within(points.upper_bound_val(isl.dim_type.set, longest, middle)),
            self.within(points.lower_bound_val(isl.dim_type.set, longest, above)),
        )

    def without(self, k: int, form: isl.QPolynomial) -> _Part:
        """Return the part over the other dimensions; dimension k is `form` of them everywhere."""
        return _Part(
            _replaced(self.value, k, form).drop_dims(isl.dim_type.in_, k, 1),
            self.points.project_out(isl.dim_type.set, k, 1),
        )


def _extremum(part: _Part, which: Literal["min", "max"]) -> int:
    sign = 1 if which == "max" else -1
    best: int | None = None
    # The half with the farthest bound comes first; a number breaks ties.
    heap: list[tuple[int, int, _Part]] = []
    number = count()

    def look_at(half: _Part) -> None:
        nonlocal best
        if half.points.is_empty():
            return
        keep_going(half.points.get_ctx())
        bound, is_reached = half.bound(which)
        value = sign * (bound if is_reached else half.at(half.points.sample_point()))
        best = value if best is None else max(best, value)
        if not is_reached:
            heappush(heap, (-sign * bound, next(number), half))

    for piece in _ends(_essence(part), which):
        look_at(piece)
    for _ in range(MAX_HALVINGS):
        assert best is not None, "there are some points"
        if not heap or -heap[0][0] <= best:
            return sign * best
        for half in heappop(heap)[2].halves():
            look_at(half)
    raise NoClosedForm


def _essence(part: _Part) -> _Part:
    """Return a part with the same values over those dimensions alone that they depend on."""
    while (fixed := _equality(part.points)) is not None:
        part = part.without(*fixed)
    value, points = part.value, part.points
    for k in range(points.dim(isl.dim_type.set) - 1, -1, -1):
        if not value.involves_dims(isl.dim_type.in_, k, 1):
            value = value.drop_dims(isl.dim_type.in_, k, 1)
            points = points.project_out(isl.dim_type.set, k, 1)
    return _Part(value, points)


def _ends(part: _Part, which: Literal["min", "max"]) -> list[_Part]:
    """Return parts that have the extremum of a part.

    Along a dimension in which the polynomial never falls, the largest value of every line is at its
    end.
    """
    points = part.points
    (piece,) = for_each(points.foreach_basic_set)
    if piece.dim(isl.dim_type.div) or part.bound(which)[1]:
        return [part]
    for k, direction in product(range(points.dim(isl.dim_type.set)), (1, -1)):
        growth = _growth(part, k, direction if which == "max" else -direction)
        if growth is not None and all(each.bound("min")[0] >= 0 for each in growth.pieces()):
            end = points.subtract(points.apply(_step(points.get_space(), k, -direction)))
            parts = part.within(end.coalesce()).pieces()
            return [found for each in parts for found in _ends(_essence(each), which)]
    return [part]


def _level_set(part: _Part, value: int, cuts: int = MAX_CUTS) -> isl.Set:
    """Return where a polynomial has a value.

    Parameters
    ----------
    cuts: how often a polyhedron may be halved in which it neither only grows nor only falls.
    """
    points = part.points
    nothing = points.subtract(points)
    if points.is_empty():
        return nothing
    keep_going(points.get_ctx())
    low, high = _extremum(part, "min"), _extremum(part, "max")
    if not low <= value <= high:
        return nothing
    if low == high:
        return points
    fixed = _equality(points)
    if fixed is not None:
        k, form = fixed
        smaller = _level_set(part.without(k, form), value)
        return points.intersect(smaller.insert_dims(isl.dim_type.set, k, 1))
    # Where the polynomial only grows along a dimension, it is small near where lines begin, and
    # large near where they end.
    for k, direction in product(range(points.dim(isl.dim_type.set)), (1, -1)):
        growth = _growth(part, k, direction)
        if growth is not None and min(_extremum(x, "min") for x in growth.pieces()) > 0:
            if value - low <= high - value:
                return _near_level_set(part, value, k, direction, "min")
            return _near_level_set(part, value, k, -direction, "max")
    if cuts == 0:
        raise NoClosedForm
    first, second = (_level_set(half, value, cuts - 1) for half in part.halves())
    return first.union(second)


def _near_level_set(
    part: _Part, value: int, k: int, direction: int, which: Literal["min", "max"]
) -> isl.Set:
    """Return where a polynomial has a value that it only reaches near the begins of lines.

    Parameters
    ----------
    direction: of the lines, along which the polynomial grows from its smallest value, or falls from
        its largest one.
    """
    found, rest = part.points.subtract(part.points), part.points
    sign = 1 if which == "min" else -1
    for _ in range(MAX_LAYERS):
        layer = rest.subtract(rest.apply(_step(rest.get_space(), k, direction)))
        near = part.within(layer.coalesce()).pieces()
        near = [each for each in near if sign * _extremum(each, which) <= sign * value]
        if not near:
            return found
        for each in near:
            found = found.union(_level_set(each, value))
        rest = rest.subtract(layer).coalesce()
    raise NoClosedForm


def _growth(part: _Part, k: int, direction: int) -> _Part | None:
    """Return the growth to each point from the one before it; None: none has one before it."""
    points = part.points
    after = points.apply(_step(points.get_space(), k, direction)).intersect(points)
    if after.is_empty():
        return None
    space = points.get_space()
    step = isl.QPolynomial.val_on_domain(space, isl.Val(-direction, space.get_ctx()))
    own = isl.QPolynomial.var_on_domain(space, isl.dim_type.set, k).add(step)
    return _Part(part.value.sub(_replaced(part.value, k, own)), after)


def _equality(points: isl.Set) -> tuple[int, isl.QPolynomial] | None:
    """Return a dimension that is a function of the others, and the function, or None."""
    (piece,) = for_each(points.foreach_basic_set)
    if piece.dim(isl.dim_type.div):
        return None
    dims = range(points.dim(isl.dim_type.set))
    for constraint in for_each(piece.detect_equalities().foreach_constraint):
        if not constraint.is_equality():
            continue
        own = coefficients_of(constraint)
        for k in dims:
            if abs(own[k]) == 1:
                space, context = points.get_space(), points.get_ctx()
                constant = -own[k] * integer(constraint.get_constant_val())
                form = isl.QPolynomial.val_on_domain(space, isl.Val(constant, context))
                for n in dims:
                    if n != k and own[n]:
                        variable = isl.QPolynomial.var_on_domain(space, isl.dim_type.set, n)
                        form = form.add(variable.scale_val(isl.Val(-own[k] * own[n], context)))
                return k, form
    return None


def _replaced(value: isl.QPolynomial, k: int, form: isl.QPolynomial) -> isl.QPolynomial:
    """Return the polynomial with dimension k replaced."""
    space = value.get_domain_space()
    total = isl.QPolynomial.zero_on_domain(space)
    for term in value.get_terms():
        part = isl.QPolynomial.val_on_domain(space, term.get_coefficient_val())
        for n in range(space.dim(isl.dim_type.set)):
            own = form if n == k else isl.QPolynomial.var_on_domain(space, isl.dim_type.set, n)
            part = part.mul(own.pow(term.get_exp(isl.dim_type.set, n)))
        total = total.add(part)
    return total


def _step(space: isl.Space, k: int, distance: int) -> isl.Map:
    """Return {point -> the one `distance` further along dimension k}."""
    offset = isl.MultiAff.identity(space.map_from_set())
    own = offset.get_aff(k).add_constant_val(isl.Val(distance, space.get_ctx()))
    return isl.Map.from_multi_aff(offset.set_aff(k, own))


REACH = 2
"""How far from a corner pairs are listed, in every dimension."""

MAX_SAMPLES = 2_000
"""Pairs of one relation that are listed, and no more than those of one corner beyond it."""


def corner_pairs(relation: isl.Map) -> Pairs:
    """Return the pairs of a bounded relation that are near its integer vertices."""
    pairs = flattened(relation)
    dims = relation.dim(isl.dim_type.in_)
    vertices = set_extrema(pairs).vertices
    found = [vertices]
    for vertex in vertices.tolist():
        if sum(map(len, found)) > MAX_SAMPLES:
            break
        found.append(_near(pairs, vertex))
    rows = np.unique(np.concatenate(found), axis=0)
    return Pairs(rows[:, :dims], rows[:, dims:])


def _near(pairs: isl.Set, vertex: list[int]) -> Ints:
    context = pairs.get_ctx()
    keep_going(context)
    for k, value in enumerate(vertex):
        pairs = pairs.lower_bound_val(isl.dim_type.set, k, isl.Val(value - REACH, context))
        pairs = pairs.upper_bound_val(isl.dim_type.set, k, isl.Val(value + REACH, context))
    return listed_points(pairs)
