"""Sets of instances as what a circuit can tell: predicates on the counters of a stream.

isl sets of statement instances as predicates on the counters of a stream.

Sets of listed instances as what a circuit can tell: a few comparisons of iterators.

Given are the points of a set, some of which are chosen. Wanted is a set that holds the chosen
points and no other ones; what lies outside of all the points does not matter. It is put together
from the pieces of the set, from steps between dependent instances, and from octagons: bounds of the
iterators and of the sums and differences of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.plan import NEVER, Condition, IndexForm, Predicate
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, coefficients_of, for_each, integer, linear_constraint
from rtlgen.poly.instances import Pairs, members

MAX_CONDITIONS = 24
"""Conditions in one predicate; a set that needs more is too ragged to be worth the logic."""


def index_form(affine: Affine, loops: Sequence[NestLoop]) -> IndexForm:
    """Return an affine function of iterators as a function of the level counters."""
    coefficients, constant = [], affine.constant
    for loop in loops:
        c = 0 if loop.counter is None else affine.coefficient(loop.counter)
        coefficients.append(c)
        constant += c * loop.first
    return IndexForm(tuple(coefficients), constant)


class CounterSpace:
    """The counters of one statement's levels, as an isl space."""

    def __init__(self, sets: ScopSets, statement: Statement, loops: Sequence[NestLoop]) -> None:
        self._counters = sets.place_map(statement, [loop.position for loop in loops])
        self._box = counter_box(sets, loops)

    def predicate(self, instances: isl.Set) -> Predicate | None:
        """Return a predicate that holds, within the bounds of the levels, just for `instances`.

        None means that the set has no such form: it needs a modulus or too many conditions.
        """
        return predicate_within(self.counted(instances).coalesce(), self._box)

    def counted(self, instances: isl.Set) -> isl.Set:
        """Return instances by the counters of their levels."""
        return instances.apply(self._counters)


def counter_box(sets: ScopSets, loops: Sequence[NestLoop]) -> isl.Set:
    """Return the counters of all iterations of a nest."""
    bounds = [f"0 <= d{k} < {loop.extent}" for k, loop in enumerate(loops)]
    for k, loop in enumerate(loops):
        value = f"(d{k} + {loop.first})"
        bounds += [f"{b.divisor}*{value} >= {_form_text(b.form, loops)}" for b in loop.lowers]
        # A loop that must run a while may run past its bounds.
        ends = () if loop.at_least else loop.uppers
        bounds += [f"{b.divisor}*{value} <= {_form_text(b.form, loops)}" for b in ends]
    dims = ",".join(f"d{k}" for k in range(len(loops)))
    return sets.read_set(f"{{ [{dims}] : {' and '.join(bounds) or 'true'} }}")


def predicate_within(
    counted: isl.Set, box: isl.Set, most: int = MAX_CONDITIONS
) -> Predicate | None:
    """Return a predicate that holds just for `counted` among the counters of a nest, or None.

    Parameters
    ----------
    most: conditions that it may have.
    """
    if counted.is_empty():
        return NEVER
    simplified = counted.remove_redundancies().gist(box).coalesce()
    alternatives = []
    for piece in for_each(simplified.foreach_basic_set):
        conditions = _conditions(piece)
        if conditions is None:
            return None
        alternatives.append(conditions)
    if sum(map(len, alternatives)) > most:
        return None
    return Predicate(tuple(alternatives))


def _form_text(affine: Affine, loops: Sequence[NestLoop]) -> str:
    form = index_form(affine, loops)
    terms = [f"{c}*d{k}" for k, c in enumerate(form.coefficients)]
    return " + ".join([*terms, str(form.constant)])


def _conditions(piece: isl.BasicSet) -> tuple[Condition, ...] | None:
    piece = piece.remove_redundancies()
    if piece.dim(isl.dim_type.div):
        return None
    conditions = []
    for constraint in for_each(piece.foreach_constraint):
        constant = integer(constraint.get_constant_val())
        form = IndexForm(tuple(coefficients_of(constraint)), constant)
        conditions.append(Condition(form, equal=bool(constraint.is_equality())))
    return tuple(conditions)


MAX_STEPS = 8
"""Steps between producer and consumer that one set may be put together from."""

MAX_OCTAGONS = 6
"""Octagons in one set."""

MAX_CUTS = 64
"""Places at which an iterator, or the sum or difference of two, is tried to be cut."""

VALUES_PER_STEP = 16
"""Values that NumPy compares in the time of an elementary step."""


def described(relation: isl.Map, pairs: Pairs, chosen: Bools, instances: Ints) -> isl.Set | None:
    """Return a set that holds just the sinks of the chosen pairs of a relation, or None.

    Parameters
    ----------
    instances: all of the sink's statement. What else there is in the set does not matter.
    """
    everywhere = relation.range()
    found = _in_pieces(everywhere, pairs.sinks, chosen)
    if found is None:
        # What isl says about a step takes no search.
        found = _in_steps(relation, pairs, chosen, 1)
    if found is None:
        wanted = _among(instances, pairs.sinks[chosen])
        anything = isl.Set.universe(everywhere.get_space())
        found = _in_octagons(anything, instances, wanted, MAX_OCTAGONS)
    if found is None:
        found = _in_octagons(everywhere, pairs.sinks, chosen, MAX_OCTAGONS)
    return _in_steps(relation, pairs, chosen, MAX_OCTAGONS) if found is None else found


def _among(points: Ints, wanted: Ints) -> Bools:
    """Tell which of the (n, iterators) points are wanted."""
    low = np.minimum(points.min(axis=0), wanted.min(axis=0))
    extents = tuple((np.maximum(points.max(axis=0), wanted.max(axis=0)) - low + 1).tolist())
    found: Bools = np.isin(
        np.ravel_multi_index(tuple((points - low).T), extents),
        np.ravel_multi_index(tuple((wanted - low).T), extents),
    )
    return found


def _in_pieces(everywhere: isl.Set, points: Ints, chosen: Bools) -> isl.Set | None:
    """Return a set that holds just the chosen ones of `points`, all of which are in `everywhere`.

    Tried are whole pieces of `everywhere`, and the part of it inside of the chosen points' octagon.
    """
    keep_going(everywhere.get_ctx())
    if chosen.all():
        return everywhere
    found = everywhere.subtract(everywhere)
    covered = np.zeros(len(points), dtype=np.bool_)
    for piece in for_each(everywhere.make_disjoint().foreach_basic_set):
        keep_going(everywhere.get_ctx())
        whole = isl.Set.from_basic_set(piece)
        inside = members(whole, points)
        if inside.any() and not (inside & ~chosen).any():
            found = found.union(whole)
            covered |= inside
    if np.array_equal(covered, chosen):
        return found
    return _in_octagons(everywhere, points, chosen, 1)


def _in_steps(relation: isl.Map, pairs: Pairs, chosen: Bools, octagons: int) -> isl.Set | None:
    """Return a set that holds just the sinks of the chosen pairs, or None.

    Tried are, for every step between chosen ones, all pairs that are this step apart, and up to
    so many octagons of them.
    """
    if pairs.sources.shape != pairs.sinks.shape:
        return None
    steps = pairs.sinks - pairs.sources
    wanted = np.unique(steps[chosen], axis=0)
    if len(wanted) > MAX_STEPS:
        return None
    found = relation.range().subtract(relation.range())
    for step in wanted:
        alike = (steps == step).all(axis=1)
        same = relation
        for k, distance in enumerate(step.tolist()):
            same = same.intersect(_step(relation.get_space(), k, distance))
        near = pairs.sinks[alike], chosen[alike]
        part = _in_pieces(same.range(), *near)
        if part is None and octagons > 1:
            part = _in_octagons(same.range(), *near, octagons)
        if part is None:
            return None
        found = found.union(part)
    return found.coalesce()


def _step(space: isl.Space, dimension: int, distance: int) -> isl.Map:
    """Return {source -> sink : sink_k == source_k + distance}."""
    step = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(space))
    step = step.set_coefficient_val(isl.dim_type.out, dimension, -1)
    step = step.set_coefficient_val(isl.dim_type.in_, dimension, 1)
    return isl.Map.universe(space).add_constraint(step.set_constant_val(distance))


def _in_octagons(everywhere: isl.Set, points: Ints, chosen: Bools, allowed: int) -> isl.Set | None:
    """Return the part of `everywhere` inside of octagons that hold the chosen points alone."""
    forms = _forms(points.shape[1])
    values = points @ np.array(forms).T
    parts = _Split(values).parts(chosen, allowed)
    if parts is None:
        return None
    return reduce(isl.Set.union, (_octagon(everywhere, forms, values, part) for part in parts))


def _forms(count: int) -> list[Ints]:
    """Return the linear forms whose bounds make an octagon."""
    units = np.eye(count, dtype=np.int64)
    pairs = list(combinations(units, 2))
    return [*units, *(a - b for a, b in pairs), *(a + b for a, b in pairs)]


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """How points are told apart by cutting their values, (points, forms), again and again.

    A cut is chosen for the points that are not wanted but inside of the octagons of the two parts:
    the fewer the better.
    """

    values: Ints

    def parts(self, chosen: Bools, allowed: int) -> list[Bools] | None:
        """Return up to `allowed` parts of the chosen points whose octagons hold no other point."""
        if not self._strangers(chosen):
            return [chosen]
        if allowed < 2:
            return None
        cut = self._best_cut(chosen)
        if cut is None:
            return None
        form, value = cut
        below = self.values[:, form] <= value
        first = self.parts(chosen & below, allowed - 1)
        if first is None:
            return None
        second = self.parts(chosen & ~below, allowed - len(first))
        return None if second is None else [*first, *second]

    def _best_cut(self, chosen: Bools) -> tuple[int, int] | None:
        own = self.values[chosen]
        # Who is outside of the octagon of all is outside of those of both parts.
        others = self.values[self._within(own) & ~chosen]
        best: tuple[int, int, int] | None = None
        for form in range(self.values.shape[1]):
            keep_going(work=_work(own) + _work(others))
            order = np.argsort(own[:, form], kind="stable")
            ordered = own[order]
            different, first = np.unique(ordered[:, form], return_index=True)
            every = -(-(len(different) - 1) // MAX_CUTS) or 1
            ends = first[1::every]
            if not len(ends):
                continue
            strangers = _inside_of_starts(ordered, ends, others)
            strangers += _inside_of_starts(ordered[::-1], (len(own) - ends)[::-1], others)[::-1]
            cut = int(strangers.argmin())
            if best is None or strangers[cut] < best[0]:
                best = int(strangers[cut]), form, int(different[cut * every])
        return None if best is None else best[1:]

    def _strangers(self, chosen: Bools) -> int:
        """Return how many other points are inside of the octagon of the chosen ones."""
        keep_going(work=_work(self.values))
        return int(np.count_nonzero(self._within(self.values[chosen]) & ~chosen))

    def _within(self, own: Ints) -> Bools:
        """Tell which points are inside of the octagon of some."""
        least, most = own.min(axis=0), own.max(axis=0)
        inside: Bools = ((self.values >= least) & (self.values <= most)).all(axis=1)
        return inside


def _inside_of_starts(ordered: Ints, ends: Ints, others: Ints) -> Ints:
    """Return how many of the others are in the octagon of the first `ends` points, for each end.

    These octagons grow, so that each of the others is in all from a certain one on.
    """
    entered = np.zeros(len(others), dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    for column, values in zip(ordered.T, others.T, strict=True):
        most = np.maximum.accumulate(np.maximum.reduceat(column[: ends[-1]], starts))
        least = np.minimum.accumulate(np.minimum.reduceat(column[: ends[-1]], starts))
        np.maximum(entered, np.searchsorted(most, values), out=entered)
        np.maximum(entered, np.searchsorted(-least, -values), out=entered)
    counts = np.bincount(entered, minlength=len(ends) + 1)[: len(ends)]
    inside: Ints = np.cumsum(counts)
    return inside


def _work(values: Ints) -> int:
    """Return the elementary steps of looking at all values once."""
    return values.size // VALUES_PER_STEP


def _octagon(everywhere: isl.Set, forms: Sequence[Ints], values: Ints, chosen: Bools) -> isl.Set:
    """Return the part of `everywhere` inside of the octagon of the chosen points.

    Of its bounds it has those that are needed to keep out the other points, of which `values`,
    (points, forms), says where they are.
    """
    own = values[chosen]
    space = everywhere.get_space()
    least, most = own.min(axis=0).tolist(), own.max(axis=0).tolist()
    bounds = [linear_constraint(space, f.tolist(), -a) for f, a in zip(forms, least, strict=True)]
    bounds += [linear_constraint(space, (-f).tolist(), b) for f, b in zip(forms, most, strict=True)]
    outside = np.concatenate([values < own.min(axis=0), values > own.max(axis=0)], axis=1)
    outside = outside[~chosen]
    found = everywhere
    while len(outside):
        # The one that keeps out most of the others.
        bound = int(outside.sum(axis=0).argmax())
        found = found.add_constraint(bounds[bound])
        outside = outside[~outside[:, bound]]
    return found
