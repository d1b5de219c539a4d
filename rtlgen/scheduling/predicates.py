"""isl sets of statement instances as predicates on the counters of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import NEVER, Condition, IndexForm, Predicate
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, coefficients_of, for_each, integer

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
