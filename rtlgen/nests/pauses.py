"""Let a statement pause after those instances whose results are needed soon, instead of after all.

Where the result of some instances is not there yet when the next iterations of their innermost loop
need it, all iterations could be issued further apart. A loop inside of all others that has one
iteration mostly, and more of them after just those instances, takes fewer issue slots.

Rewrite
-------
    for k for i for j                     for k for i for j for p = 0..min(j - k, k - j) + 1
      S: a[i][j] = f(a[i][k])       ->      if (p == 0) S
    every 2 cycles                        every cycle; p takes one value at least, two at most

Reference: Griebl, Feautrier, Lengauer, "Index set splitting", IJPP 28(6), 2000, tell instances
apart in this way, in statements of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.sets import coefficients_of, for_each, integer
from rtlgen.nests.candidates import Placement
from rtlgen.nests.precedence import Precedence
from rtlgen.poly.counting import count_points

PAD = "pause"
"""What bounds call the loop that pauses; it has a longer name where an iterator is called so."""

MOST_INSTANCES = 0.5
"""Share of the instances after which a statement may pause: more is an interval in disguise."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Idle issue slots of a statement after some of its instances.

    Members
    -------
    loops: those that it pauses in, outermost first.
    equal, least: forms over its iterators that are 0, and 0 or more, just after which it pauses.
    instances: how many these are. cycles: for how long.
    slots_before: issue slots without pauses. reason: why so many.
    """

    statement: str
    loops: tuple[NestLoop, ...]
    equal: tuple[Affine, ...]
    least: tuple[Affine, ...]
    instances: int
    cycles: int
    slots_before: int
    reason: str

    def __post_init__(self) -> None:
        if self.cycles < 1 or self.instances < 1:
            raise ValueError(f"{self.statement} pauses {self.instances} times for {self.cycles}")
        if not self.equal and not self.least:
            raise ValueError(f"{self.statement} pauses after every instance")

    @property
    def nest(self) -> tuple[NestLoop, ...]:
        """The loops with the one that pauses inside of all others."""
        name = PAD
        while name in {loop.counter for loop in self.loops}:
            name += "_"
        # Where a form is -1 or less its bound is 0 or less: the loop then runs once. Where several
        # are more than 0 the box does not end it, but the last bound does.
        forms = [*self.equal, *(-form for form in self.equal), *self.least]
        bounds = [form * self.cycles + self.cycles for form in forms]
        uppers = tuple(map(Bound, [*bounds, *([] if self.equal else [Affine((), self.cycles)])]))
        pad = NestLoop(
            None, self.cycles + 1, uppers=uppers, at_least=1, pad=name, pinned=(Affine(),)
        )
        return (*self.loops, pad)


def find_pause(
    statement: str,
    placed: Placement,
    ii: int,
    precedences: Sequence[Precedence],
    domain: isl.Set,
    reason: str,
) -> Pause | None:
    """Return pauses with which a statement takes fewer issue slots than at an interval, if any do.

    Whether every precedence is kept at an interval of 1 is left to whoever places the statement.

    Parameters
    ----------
    placed: its loops, at the initiation interval `ii`. precedences: its own, in cycles.
    """
    order = [loop.iterator for loop in placed.loops]
    names = placed.iterators
    if not order or None in order:
        return None
    own = [names.index(name) for name in order if name is not None]
    early: isl.Set | None = None
    cycles = 0
    for p in precedences:
        for distance in range(1, p.lag):
            sources = _sources(p.origin.relation, own, distance)
            if not sources.is_empty():
                cycles = max(cycles, p.lag - distance)
                early = sources if early is None else early.union(sources)
    if early is None:
        return None
    hull = isl.Set.from_basic_set(early.coalesce().simple_hull().remove_divs())
    instances = count_points(hull.intersect(domain))
    slots_before = ii * (placed.count - 1) + 1
    if placed.count + cycles * instances >= slots_before:
        return None
    if instances > MOST_INSTANCES * count_points(domain):
        return None
    equal, least = _forms(hull.gist(domain), names)
    if not equal and not least:
        return None
    return Pause(statement, placed.loops, equal, least, instances, cycles, slots_before, reason)


def _sources(relation: isl.Map, order: Sequence[int], distance: int) -> isl.Set:
    """Return the sources of pairs that are some iterations of the innermost loop apart.

    Parameters
    ----------
    order: the dimensions that the loops count, outermost first.
    """
    space = isl.LocalSpace.from_space(relation.get_space())
    for k in order:
        constraint = isl.Constraint.equality_alloc(space)
        constraint = constraint.set_coefficient_val(isl.dim_type.out, k, 1)
        constraint = constraint.set_coefficient_val(isl.dim_type.in_, k, -1)
        if k == order[-1]:
            constraint = constraint.set_constant_val(-distance)
        relation = relation.add_constraint(constraint)
    return relation.domain()


def _forms(points: isl.Set, names: Sequence[str]) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
    """Return what is 0, and what is 0 or more, in a convex set."""
    equal: list[Affine] = []
    least: list[Affine] = []
    (piece,) = for_each(points.foreach_basic_set)
    for constraint in for_each(piece.foreach_constraint):
        coefficients = dict(zip(names, coefficients_of(constraint), strict=True))
        form = Affine.of(coefficients, integer(constraint.get_constant_val()))
        (equal if constraint.is_equality() else least).append(form)
    return tuple(equal), tuple(least)
