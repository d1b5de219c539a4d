"""Ranks of the iterations of nests whose bounds depend on outer loops, in closed form.

The rank of an iteration is the number of iterations before it: loop by loop, those with a smaller
value of the loop and the same ones outside of it. Where bounds are affine, these numbers are
polynomials, one for each combination of bounds that bind (Clauss and Loechner, "Parametric
analysis of polyhedral iteration spaces", 1998). The cost does not depend on the number of
iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import integer
from rtlgen.poly.polynomial import (
    NoClosedForm,
    Piece,
    Polynomial,
    Range,
    extreme,
    in_closed_form,
    merged,
    ranges,
    restricted,
    summed,
)

_LAST = "'"
"""Behind a counter's name: the value up to which it is summed."""


@dataclass(frozen=True, slots=True, eq=False)
class ClosedRanks:
    """The ranks of a statement's instances in a nest.

    Members
    -------
    pieces: whose sum is the rank, over the statement's iterators.
    function: the same for isl, over the unnamed space of the iterators.
    count: number of iterations, pads included.
    """

    iterators: tuple[str, ...]
    pieces: tuple[Piece, ...]
    function: isl.PwQPolynomial
    count: int

    def of(self, points: Ints) -> Ints:
        """Return the ranks of (n, iterators) points of the nest."""
        total = np.zeros(len(points), dtype=np.int64)
        for piece in self.pieces:
            holds = np.ones(len(points), dtype=np.bool_)
            for form in piece.conditions:
                holds &= _values(Polynomial.of(form), self.iterators, points) >= 0
            total[holds] += _values(piece.value, self.iterators, points[holds])
        return total


def _values(polynomial: Polynomial, names: Sequence[str], points: Ints) -> Ints:
    """Return the integer values of a polynomial at (n, names) points."""
    scale = np.lcm.reduce([c.denominator for c in polynomial.terms.values()] or [1])
    total = np.zeros(len(points), dtype=np.int64)
    for monomial, coefficient in polynomial.terms.items():
        part = np.full(len(points), int(coefficient * int(scale)), dtype=np.int64)
        for name, exponent in monomial:
            part *= points[:, names.index(name)] ** exponent
        total += part
    result: Ints = total // scale
    return result


def closed_ranks(
    domain: isl.Set, iterators: Sequence[str], loops: Sequence[NestLoop]
) -> ClosedRanks | None:
    """Return the ranks of the instances of a statement in a nest.

    None: the nest has no closed form, or an empty loop, or no iteration for some instance.

    Parameters
    ----------
    domain: the instances, over `iterators`.
    """
    keep_going(domain.get_ctx())
    try:
        with in_closed_form(domain.get_ctx()):
            return _Nest.of(loops, domain.get_ctx()).ranks(domain, tuple(iterators))
    except NoClosedForm:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Sunk:
    """A statement in a nest over common dimensions.

    Members
    -------
    domain: its instances. values: its counter of every loop, the largest of some functions of its
        iterators. places: all its iterations in the order of the loops.
    """

    domain: isl.Set
    iterators: tuple[str, ...]
    values: tuple[tuple[Affine, ...], ...]
    places: isl.Set


def common_ranks(loops: Sequence[NestLoop], statements: Sequence[Sunk]) -> list[ClosedRanks] | None:
    """Return the ranks of statements in one nest, whose iterations are counted once for all.

    None: see `closed_ranks`.
    """
    context = statements[0].domain.get_ctx()
    keep_going(context)
    try:
        with in_closed_form(context):
            nest = _Nest.of(loops, context)
            counted = nest.counted()
            if counted is None:
                return None
            if not all(each.places.is_subset(nest.outside[-1]) for each in statements):
                return None
            pieces, count = counted
            return [
                _ranked(
                    each.domain,
                    each.iterators,
                    _at_places(pieces, dict(zip(nest.names, each.values, strict=True))),
                    count,
                )
                for each in statements
            ]
    except NoClosedForm:
        return None


def exact_loops(loops: Sequence[NestLoop], context: isl.Context) -> tuple[NestLoop, ...]:
    """Return loops over counters of their own in boxes that hold all their iterations.

    Inside of the domain a loop's bounds never begin before its box; in iterations that a minimum
    adds outside of it they may, and the loop then says itself where it begins.

    Raises
    ------
    NoClosedForm: bounds are quotients, or too many of them bind in turns.
    """
    keep_going(context)
    with in_closed_form(context):
        return _exact(loops, context)


def _exact(loops: Sequence[NestLoop], context: isl.Context) -> tuple[NestLoop, ...]:
    nest = _Nest.of(loops, context)
    found = []
    for k, (loop, level) in enumerate(zip(loops, nest.levels, strict=True)):
        last = integer(nest.outside[-1].dim_max_val(k))
        before = [-low + (loop.first - 1) for low in level.lowers if not low.is_constant]
        begins_early = before and not restricted(nest.outside[k], nest.names, before).is_empty()
        lowers = (*loop.lowers, Bound(Affine((), loop.first))) if begins_early else loop.lowers
        found.append(replace(loop, extent=last - loop.at + 1, lowers=lowers))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Level:
    """One loop: its counter runs from the largest of `lowers` to the smallest of `uppers`.

    Members
    -------
    at_least: iterations that it has whatever its bounds.
    """

    name: str
    lowers: tuple[Affine, ...]
    uppers: tuple[Affine, ...]
    at_least: int

    @staticmethod
    def of(loop: NestLoop, name: str) -> _Level:
        first, last = Affine((), loop.first), Affine((), loop.first + loop.extent - 1)
        return _Level(
            name,
            tuple(dict.fromkeys([*map(_undivided, loop.lowers), first])),
            tuple(dict.fromkeys([*map(_undivided, loop.uppers), last])),
            loop.at_least,
        )

    def ranges(self) -> Iterator[Range]:
        """Yield the ranges of the counter."""
        if not self.at_least:
            yield Range(self.lowers, self.uppers)
            return
        for bounds, first, last in ranges(self.lowers, self.uppers):
            most = first + (self.at_least - 1)
            yield Range((first,), (last,), (*bounds, last - most))
            yield Range((first,), (most,), (*bounds, most - last - 1))


def _undivided(bound: Bound) -> Affine:
    if bound.divisor != 1:
        raise NoClosedForm
    return bound.form


@dataclass(frozen=True, slots=True, eq=False)
class _Nest:
    """The loops of a nest, outermost first, with a counter for each.

    Members
    -------
    places: for a pad loop, the values that an instance's counter is the largest of.
    outside: for each level, the iterations of the loops outside of it, over all counters.
    """

    levels: tuple[_Level, ...]
    places: Mapping[str, tuple[Affine, ...]]
    outside: tuple[isl.Set, ...]

    @staticmethod
    def of(loops: Sequence[NestLoop], context: isl.Context) -> _Nest:
        names = [loop.counter or f"pad {n}" for n, loop in enumerate(loops)]
        levels = tuple(_Level.of(loop, name) for loop, name in zip(loops, names, strict=True))
        places = {
            name: loop.place
            for loop, name in zip(loops, names, strict=True)
            if loop.iterator is None
        }
        outside = [isl.Set.universe(isl.Space.set_alloc(context, 0, len(names)))]
        for level in levels:
            outside.append(outside[-1].intersect(_iterations(level, names, context)))
        return _Nest(levels, places, tuple(outside))

    @property
    def names(self) -> list[str]:
        return [level.name for level in self.levels]

    def ranks(self, domain: isl.Set, iterators: tuple[str, ...]) -> ClosedRanks | None:
        """Return the ranks of the instances in `domain`."""
        counted = self.counted()
        if counted is None or not self._covers(domain, iterators):
            return None
        pieces, count = counted
        return _ranked(domain, iterators, _at_places(pieces, self.places), count)

    def counted(self) -> tuple[list[Piece], int] | None:
        """Return the rank of an iteration as a function of the counters, and how many there are.

        None: some loop is empty.
        """
        if not self._is_full():
            return None
        inner = [Piece((), Polynomial.constant(1))]
        total: list[Piece] = []
        for depth in range(len(self.levels) - 1, -1, -1):
            total += self._before(depth, inner)
            inner = self._summed(depth, inner)
        count = sum((piece.value for piece in inner), Polynomial({})).evaluate({})
        return total, int(count)

    def _is_full(self) -> bool:
        """Tell whether every loop has an iteration in each iteration of those outside of it."""
        for level, outside in zip(self.levels, self.outside[:-1], strict=True):
            if level.at_least:
                continue
            for first, last in product(level.lowers, level.uppers):
                if not restricted(outside, self.names, [first - last - 1]).is_empty():
                    return False
        return True

    def _covers(self, domain: isl.Set, iterators: Sequence[str]) -> bool:
        """Tell whether the nest has an iteration for every instance."""
        pads = list(self.places)
        space = isl.Set.universe(isl.Space.set_alloc(domain.get_ctx(), 0, len(self.names)))
        wide = domain.reset_tuple_id().add_dims(isl.dim_type.set, len(pads))
        names = [*iterators, *pads]
        for pad, place in self.places.items():
            choices = []
            for conditions, value in extreme(place, 1):
                own = Affine.variable(pad) - value
                choices.append(restricted(wide, names, [*conditions, own, -own]))
            wide = reduce(isl.Set.union, choices)
        moved = isl.Map.from_domain_and_range(wide, space)
        for k, name in enumerate(names):
            moved = moved.equate(isl.dim_type.in_, k, isl.dim_type.out, self.names.index(name))
        return bool(moved.range().is_subset(self.outside[-1]))

    def _summed(self, depth: int, inner: Sequence[Piece]) -> list[Piece]:
        """Return the number of iterations inside of one of the loops outside of `depth`."""
        return self._sums(depth, inner, self.levels[depth])

    def _before(self, depth: int, inner: Sequence[Piece]) -> list[Piece]:
        """Return the number of iterations with a smaller value of the loop at `depth`."""
        level = self.levels[depth]
        # Every value before the counter's own is inside of the upper bounds.
        before = Affine.variable(level.name + _LAST) - 1
        own = {level.name + _LAST: Affine.variable(level.name)}
        return [
            Piece(
                tuple(form.substitute(own) for form in piece.conditions),
                piece.value.substitute(own),
            )
            for piece in self._sums(depth, inner, replace(level, uppers=(before,), at_least=0))
        ]

    def _sums(self, depth: int, inner: Sequence[Piece], level: _Level) -> list[Piece]:
        names = [*self.names[:depth], level.name + _LAST]
        around = self.outside[depth].project_out(isl.dim_type.set, depth, len(self.names) - depth)
        around = around.add_dims(isl.dim_type.set, 1)
        return summed(inner, level.name, list(level.ranges()), around, names)


def _at_places(
    pieces: Sequence[Piece], places: Mapping[str, tuple[Affine, ...]]
) -> tuple[Piece, ...]:
    """Return the pieces with counters where instances are: the largest of some functions."""
    moved = []
    for chosen in product(*(extreme(place, 1) for place in places.values())):
        conditions = [form for each, _ in chosen for form in each]
        own = {name: value for name, (_, value) in zip(places, chosen, strict=True)}
        moved += [
            Piece(
                (*conditions, *(form.substitute(own) for form in piece.conditions)),
                piece.value.substitute(own),
            )
            for piece in pieces
        ]
    return tuple(merged(moved))


def _ranked(
    domain: isl.Set, iterators: tuple[str, ...], pieces: tuple[Piece, ...], count: int
) -> ClosedRanks:
    return ClosedRanks(iterators, pieces, _function(domain, iterators, pieces), count)


def _iterations(level: _Level, names: Sequence[str], context: isl.Context) -> isl.Set:
    """Return where the counter of a loop is inside of its bounds, over all counters."""
    everywhere = isl.Set.universe(isl.Space.set_alloc(context, 0, len(names)))
    own = Affine.variable(level.name)
    found = everywhere.subtract(everywhere)
    for each in level.ranges():
        inside = [*(own - low for low in each.lowers), *(high - own for high in each.uppers)]
        found = found.union(restricted(everywhere, names, [*each.conditions, *inside]))
    return found


def _function(domain: isl.Set, names: Sequence[str], pieces: Sequence[Piece]) -> isl.PwQPolynomial:
    instances = domain.reset_tuple_id()
    space = instances.get_space()
    total = _constant(space, 0)
    result = isl.PwQPolynomial.from_qpolynomial(total).intersect_domain(instances)
    for piece in pieces:
        value = _quasi_polynomial(space, names, piece.value)
        where = restricted(instances, names, piece.conditions)
        result = result.add(isl.PwQPolynomial.from_qpolynomial(value).intersect_domain(where))
    return result


def affine_function(
    context: isl.Context, coefficients: Sequence[int], constant: int
) -> isl.PwQPolynomial:
    """Return coefficients . iterators + constant, over the unnamed space of the iterators."""
    space = isl.Space.set_alloc(context, 0, len(coefficients))
    names = [f"d{k}" for k in range(len(coefficients))]
    form = Affine.of(dict(zip(names, coefficients, strict=True)), constant)
    value = _quasi_polynomial(space, names, Polynomial.of(form))
    return isl.PwQPolynomial.from_qpolynomial(value)


def _constant(space: isl.Space, value: int) -> isl.QPolynomial:
    return isl.QPolynomial.val_on_domain(space, isl.Val(value, space.get_ctx()))


def _quasi_polynomial(
    space: isl.Space, names: Sequence[str], polynomial: Polynomial
) -> isl.QPolynomial:
    total = _constant(space, 0)
    for monomial, coefficient in polynomial.terms.items():
        part = _constant(space, coefficient.numerator)
        part = part.scale_down_val(isl.Val(coefficient.denominator, space.get_ctx()))
        for name, exponent in monomial:
            variable = isl.QPolynomial.var_on_domain(space, isl.dim_type.set, names.index(name))
            part = part.mul(variable.pow(exponent))
        total = total.add(part)
    return total
