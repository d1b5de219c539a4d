"""Loops whose bounds depend on outer loops: the exact nest of a domain, in any order.

Rewrite
-------
    { (i, j) : 0 <= j <= i < 8 }   in the order (j, i)   ->   for j = 0..7  for i = j..7

Bounds come from projecting the domain; the inner loop of every outer iteration runs at least once.
Where a domain has no such nest (a shadow with holes) the nearest nest around it is taken, and the
iterations outside of the domain stay empty.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Literal, TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going, note_limit
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import ScopSets, coefficients_of, for_each, integer
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.instances import MANY_INSTANCES, MAX_INSTANCES, enumerated_size
from rtlgen.transforms.units import Unit

Ranking: TypeAlias = Literal["free", "listed"]
"""How iterations of nests that are no boxes are ranked: in closed form where there are many, or by
listing them. Where they are too many for that, their nests become boxes."""


def ragged_statements(
    sets: ScopSets, units: Sequence[Unit], ranking: Ranking = "free"
) -> frozenset[str]:
    """Return the statements whose instances do not fill their bounding box.

    All statements of a unit count where any of them does.
    """
    found = _not_boxes(sets, units)
    if found and not is_listable(sets, ranking) and ranking != "free":
        note_limit(
            f"{', '.join(sorted(found))} run in boxes around their loops: the program has more "
            f"than {MAX_INSTANCES:,} instances, and their distances have no closed form"
        )
        return frozenset()
    return found


def _not_boxes(sets: ScopSets, units: Sequence[Unit]) -> frozenset[str]:
    scop = sets.scop
    counts = {name: count_points(d) for name, d in sets.domains.items()}
    boxes = {name: prod(loop.extent for loop in scop.schedule.loops(name)) for name in sets.domains}
    return frozenset(
        name
        for unit in units
        if any(counts[other] != boxes[other] for other in unit.statements)
        for name in unit.statements
    )


def is_listable(sets: ScopSets, ranking: Ranking = "free") -> bool:
    """Tell whether all instances of a program are to be listed.

    They are where they are few: for all others there are closed forms.
    """
    counts = {name: count_points(d) for name, d in sets.domains.items()}
    size = enumerated_size(sets.scop, counts)
    return size <= (MANY_INSTANCES if ranking == "free" else MAX_INSTANCES)


def beside_ragged(
    sets: ScopSets, dependences: Sequence[Dependence], ragged: frozenset[str]
) -> frozenset[str]:
    """Return the statements that may be sunk into the nest of a ragged one: it is deeper."""
    depths = {statement.name: len(statement.loops) for statement in sets.scop.statements}
    pairs = [(d.source, d.sink) for d in dependences]
    return frozenset(
        name
        for a, b in pairs
        for name, other in ((a, b), (b, a))
        if other in ragged and name not in ragged and depths[name] < depths[other]
    )


def ragged_loops(
    domain: isl.Set, iterators: Sequence[str], order: Sequence[NestLoop]
) -> tuple[NestLoop, ...]:
    """Return `order` with the bounds that the domain gives each loop: see `RaggedBounds`."""
    return RaggedBounds(domain, iterators).loops(order)


class RaggedBounds:
    """The bounds that a domain gives the loops over it, in whatever order they stand.

    Those of a loop depend on which loops are around it, not on their order: each is asked for once.
    """

    def __init__(self, domain: isl.Set, iterators: Sequence[str]) -> None:
        self._context = domain.get_ctx()
        self._iterators = iterators
        self._hull = isl.Set.from_basic_set(domain.coalesce().simple_hull())
        self._known: dict[tuple[NestLoop, frozenset[str]], NestLoop] = {}

    def loops(self, order: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
        """Return `order` with the bounds that the domain gives each loop.

        Parameters
        ----------
        order: loops over the bounding box, pads included, outermost first.
        """
        outer: set[str] = set()
        loops: list[NestLoop] = []
        for loop in order:
            if loop.iterator is None:
                loops.append(loop)
                continue
            outer.add(loop.iterator)
            key = loop, frozenset(outer)
            if key not in self._known:
                self._known[key] = self._bounded(loop, outer)
            loops.append(self._known[key])
        return tuple(loops)

    def _bounded(self, loop: NestLoop, outer: Collection[str]) -> NestLoop:
        keep_going(self._context)
        shadow = self._hull
        for place in reversed(range(len(self._iterators))):
            if self._iterators[place] not in outer:
                shadow = shadow.project_out(isl.dim_type.set, place, 1)
        return _bounded(shadow, [name for name in self._iterators if name in outer], loop)


def _bounded(shadow: isl.Set, names: Sequence[str], loop: NestLoop) -> NestLoop:
    assert loop.iterator is not None
    position = names.index(loop.iterator)
    context = shadow.get_ctx()
    first, last = isl.Val(loop.at, context), isl.Val(loop.at + loop.extent - 1, context)
    hull = shadow.coalesce().simple_hull().remove_divs()
    hull = hull.lower_bound_val(isl.dim_type.set, position, first)
    hull = hull.upper_bound_val(isl.dim_type.set, position, last)
    lowers: list[Bound] = []
    uppers: list[Bound] = []
    for constraint in for_each(hull.remove_redundancies().foreach_constraint):
        coefficients = coefficients_of(constraint)
        own = coefficients[position]
        rest = Affine.of(
            {n: c for n, c in zip(names, coefficients, strict=True) if n != loop.iterator},
            integer(constraint.get_constant_val()),
        )
        # own * iterator + rest >= 0, and with equality the same for the negated form.
        for sign in (1, -1) if constraint.is_equality() else (1,):
            if own * sign > 0:
                lowers.append(Bound(rest * -sign, own * sign))
            elif own * sign < 0:
                uppers.append(Bound(rest * sign, -own * sign))
    return replace(loop, lowers=_varying(lowers), uppers=_varying(uppers))


def _varying(bounds: Sequence[Bound]) -> tuple[Bound, ...]:
    """Return the bounds, or () where they are the end of the box whatever the outer loops are."""
    return () if all(bound.is_constant for bound in bounds) else tuple(bounds)
