"""Loops whose bounds depend on outer loops: the exact nest of a domain, in any order.

Rewrite
-------
    { (i, j) : 0 <= j <= i < 8 }   in the order (j, i)   ->   for j = 0..7  for i = j..7

Bounds come from projecting the domain; the inner loop of every outer iteration runs at least once.
Where a domain has no such nest (several lower bounds at one level, a stride) the nearest nest
around it is taken, and the iterations outside of the domain stay empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets, for_each
from rtlgen.poly.instances import MAX_INSTANCES, box_size
from rtlgen.transforms.units import Unit


def ragged_statements(sets: ScopSets, units: Sequence[Unit]) -> frozenset[str]:
    """Return the statements whose instances do not fill their bounding box.

    Only those that may be placed alone count, in programs small enough to be enumerated.
    """
    scop = sets.scop
    if box_size(scop) > MAX_INSTANCES:
        return frozenset()
    alone = (unit.statements[0] for unit in units if len(unit.statements) == 1)
    return frozenset(
        name
        for name in alone
        if sets.domains[name].count_val().to_python()
        != prod(loop.extent for loop in scop.schedule.loops(name))
    )


def ragged_loops(
    domain: isl.Set, iterators: Sequence[str], order: Sequence[NestLoop]
) -> tuple[NestLoop, ...]:
    """Return `order` with the bounds that the domain gives each loop.

    Parameters
    ----------
    order: loops over the bounding box, pads included, outermost first.
    """
    hull = domain.coalesce().simple_hull()
    inner = [loop.iterator for loop in order if loop.iterator is not None]
    loops: list[NestLoop] = []
    for loop in order:
        if loop.iterator is None:
            loops.append(loop)
            continue
        inner.remove(loop.iterator)
        shadow = isl.Set.from_basic_set(hull)
        for name in sorted(inner, key=iterators.index, reverse=True):
            shadow = shadow.project_out(isl.dim_type.set, iterators.index(name), 1)
        outer = [name for name in iterators if name not in inner]
        loops.append(_bounded(shadow, outer, loop))
    return tuple(loops)


def _bounded(shadow: isl.Set, names: Sequence[str], loop: NestLoop) -> NestLoop:
    assert loop.iterator is not None
    position = names.index(loop.iterator)
    lowers: list[Affine] = []
    uppers: list[Affine] = []
    hull = shadow.coalesce().simple_hull().remove_redundancies()
    for constraint in for_each(hull.foreach_constraint):
        if constraint.is_div_constraint() or _uses_divs(constraint, hull):
            continue
        coefficients = [
            constraint.get_coefficient_val(isl.dim_type.set, k).to_python()
            for k in range(len(names))
        ]
        own = coefficients[position]
        rest = Affine.of(
            {n: c for n, c in zip(names, coefficients, strict=True) if n != loop.iterator},
            constraint.get_constant_val().to_python(),
        )
        # A bound with a factor rounds, which no affine form does: the loop keeps its other bounds.
        if own == 1 or (own == -1 and constraint.is_equality()):
            lowers.append(rest * -own)
        if own == -1 or (own == 1 and constraint.is_equality()):
            uppers.append(rest * -own if own == 1 else rest)
    # The larger of several lower bounds is no affine form either.
    single = len(lowers) == 1 and not lowers[0].is_constant
    varying = any(not bound.is_constant for bound in uppers)
    return replace(
        loop,
        lowers=(Bound(lowers[0]),) if single else (),
        uppers=tuple(map(Bound, uppers)) if varying else (),
    )


def _uses_divs(constraint: isl.Constraint, hull: isl.BasicSet) -> bool:
    return any(
        not constraint.get_coefficient_val(isl.dim_type.div, k).is_zero()
        for k in range(hull.dim(isl.dim_type.div))
    )
