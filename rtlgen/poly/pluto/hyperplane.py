"""One hyperplane: the lexicographically smallest solution of its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import MAX_OPERATIONS, keep_going
from rtlgen.ir.sets import ScopSets, integer, linear_constraint, operations
from rtlgen.poly.pluto.farkas import Cone, Constraints
from rtlgen.poly.pluto.independence import directions, rank
from rtlgen.poly.pluto.unknowns import Unknowns, Vector

MAX_DIRECTIONS = 64
"""Combinations of sub-spaces tried where PLUTO's own choice has no solution."""

SMALL_TABLEAU = 1_000
"""Numbers in the tableau of an integer program up to which isl changes all of them, which is one
operation, about as fast as it does others."""

FEW_CONSTRAINTS = 16
"""That are put together one by one."""


@dataclass(frozen=True, slots=True)
class Hyperplane:
    """One affine form a statement.

    Members
    -------
    bound: (u, w), the dependences span at most u*N + w.
    """

    forms: Mapping[str, Affine]
    bound: tuple[int, int]


Found = Mapping[str, tuple[Vector, ...]]
"""The coefficient rows of every statement so far."""


def is_complete(iterators: Sequence[str], rows: Sequence[Vector]) -> bool:
    """Return whether the rows tell any two instances apart."""
    return rank(rows) == len(iterators)


def best_hyperplane(
    sets: ScopSets, unknowns: Unknowns, cones: Sequence[Cone], found: Found
) -> Hyperplane | None:
    """Return the next hyperplane: legal, independent of those found, with the smallest bound.

    None: there is none. No coefficient is negative.
    """
    legal = Constraints(frozenset(), frozenset())
    for cone in cones:
        legal |= cone.constraints(unknowns)
    choices = [
        [_in_unknowns(unknowns, name, wanted) for wanted in directions(found[name], len(names))]
        for name, names in unknowns.iterators.items()
        if not is_complete(names, found[name])
    ]
    first, *others = islice(product(*choices), MAX_DIRECTIONS)
    allowed = _allowed(sets, unknowns, legal)
    solution = _lexmin(sets, allowed, first)
    if solution is None:
        solutions = [_lexmin(sets, allowed, choice) for choice in others]
        solution = min((s for s in solutions if s is not None), default=None)
    if solution is None:
        return None
    forms = {name: unknowns.form(name, solution) for name in unknowns.iterators}
    return Hyperplane(forms, (solution[0], solution[1]))


Bounds = tuple[tuple[Vector, int], ...]


def _in_unknowns(unknowns: Unknowns, statement: str, wanted: Bounds) -> Bounds:
    # The trivial hyperplane is excluded with every other dependent one.
    return tuple((unknowns.linear(statement, row), least) for row, least in wanted)


def _allowed(sets: ScopSets, unknowns: Unknowns, legal: Constraints) -> isl.BasicSet:
    """Return the unknowns of legal hyperplanes.

    isl's parser takes far longer to read so many constraints than what is asked about them then.
    """
    size = unknowns.size
    own = [tuple(int(k == place) for k in range(size)) for place in range(size)]
    # However many they are, to put them together is one step.
    keep_going(sets.context)
    with operations(sets.context, 0):
        space = isl.Space.set_alloc(sets.context, 0, size)
        constraints = [
            *(linear_constraint(space, row, 0, equal=True) for row in sorted(legal.equalities)),
            *(linear_constraint(space, row, 0) for row in (*own, *sorted(legal.inequalities))),
        ]
        return _polyhedron(space, constraints)


def _polyhedron(space: isl.Space, constraints: Sequence[isl.Constraint]) -> isl.BasicSet:
    """Return the points under some constraints.

    For each of them that is added, isl looks at all that are there. So halves are put together.
    """
    if len(constraints) > FEW_CONSTRAINTS:
        half = len(constraints) // 2
        first, second = (_polyhedron(space, c) for c in (constraints[:half], constraints[half:]))
        return first.intersect(second)
    found = isl.BasicSet.universe(space)
    for constraint in constraints:
        found = found.add_constraint(constraint)
    return found


def _lexmin(sets: ScopSets, allowed: isl.BasicSet, choice: tuple[Bounds, ...]) -> Vector | None:
    with operations(sets.context, 0):
        for row, least in (bound for bounds in choice for bound in bounds):
            allowed = allowed.add_constraint(linear_constraint(allowed.space, row, -least))
        rest = isl.Set.from_basic_set(allowed)
    dims = rest.dim(isl.dim_type.set)
    each = max(1, dims * len(allowed.get_constraints()) // SMALL_TABLEAU)
    # One integer program a dimension: isl's own lexmin of the whole is some hundred times slower.
    solution = []
    for k in range(dims):
        with operations(sets.context, MAX_OPERATIONS // each, each):
            value = rest.dim_min_val(k)
        if not value.is_int():
            return None
        solution.append(integer(value))
        rest = rest.fix_val(isl.dim_type.set, k, value)
    return tuple(solution)
