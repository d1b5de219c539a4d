"""Legality and distance bounds of hyperplanes as linear constraints, by Farkas' lemma.

An affine function is non-negative on a polyhedron just where it is a non-negative combination of
the polyhedron's constraints. isl's `coefficients()` gives all such functions: a cone over their
coefficients, in which the unknowns of a hyperplane enter linearly.

Sizes are fixed in the programs compiled here, but a bound u*N + w says more than a number. So the
largest extent of the program is made a symbol again: a constant m*N + r with a small r is read as
such. A polyhedron for every N that is at least the present one contains the present one, so what is
legal there is legal here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import islpy as isl

from rtlgen.ir.sets import ScopSets, coefficients_of, for_each, integer
from rtlgen.poly.edges import Edge
from rtlgen.poly.pluto.unknowns import Unknowns, Vector

NEAR = 4
"""A constant is near a multiple of N when it is off by at most N / NEAR."""


@dataclass(frozen=True, slots=True)
class Cone:
    """The functions that are non-negative on one dependence polyhedron.

    Members
    -------
    inequalities, equalities: on (constant, coefficient of N, of the source, of the sink).
    """

    source: str
    sink: str
    source_dims: int
    inequalities: tuple[Vector, ...]
    equalities: tuple[Vector, ...]

    def constraints(self, unknowns: Unknowns) -> Constraints:
        """Return what the unknowns of a hyperplane must satisfy because of this polyhedron.

        Tiling legality: phi(sink) - phi(source) >= 0. Bounded volume: it is at most u*N + w.
        """
        difference = _difference(self, unknowns)
        negated = [tuple(-x for x in row) for row in difference]
        bound = [list(row) for row in negated]
        bound[0][1] += 1
        bound[1][0] += 1
        return _substituted(self, difference) | _substituted(self, [tuple(r) for r in bound])


@dataclass(frozen=True, slots=True)
class Constraints:
    """Rows whose product with the unknowns is >= 0, or == 0."""

    inequalities: frozenset[Vector]
    equalities: frozenset[Vector]

    def __or__(self, other: Constraints) -> Constraints:
        return Constraints(
            self.inequalities | other.inequalities, self.equalities | other.equalities
        )


def cones(sets: ScopSets, edge: Edge, size: int) -> tuple[Cone, ...]:
    """Return the cone of every polyhedron of an edge; `size` is what N stands for."""
    source_dims = edge.relation.dim(isl.dim_type.in_)
    flat = edge.relation.wrap().flatten().remove_divs().coalesce()
    found = []
    for piece in for_each(flat.foreach_basic_set):
        for symbolic in for_each(_symbolic(sets, piece, size).foreach_basic_set):
            dual = symbolic.coefficients()
            inequalities, equalities = _rows(dual)
            found.append(Cone(edge.source, edge.sink, source_dims, inequalities, equalities))
    return tuple(found)


def _symbolic(sets: ScopSets, piece: isl.BasicSet, size: int) -> isl.Set:
    dims = piece.dim(isl.dim_type.set)
    parts = [f"N >= {size}"]
    for constraint in for_each(piece.foreach_constraint):
        terms = [f"{c}*d{k}" for k, c in enumerate(coefficients_of(constraint))]
        multiple, rest = split(integer(constraint.get_constant_val()), size)
        relation = "=" if constraint.is_equality() else ">="
        parts.append(" + ".join([*terms, f"{multiple}*N", str(rest)]) + f" {relation} 0")
    names = ",".join(f"d{k}" for k in range(dims))
    return sets.read_set(f"[N] -> {{ [{names}] : {' and '.join(parts)} }}")


def split(constant: int, size: int) -> tuple[int, int]:
    """Return (m, r) with constant == m*size + r, m != 0 only where r is small against size."""
    multiple = (2 * constant + size - 1) // (2 * size)
    rest = constant - multiple * size
    near = abs(rest) <= max(size // NEAR, 2)
    return (multiple, rest) if near else (0, constant)


def _rows(dual: isl.BasicSet) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
    inequalities: list[Vector] = []
    equalities: list[Vector] = []
    for constraint in for_each(dual.foreach_constraint):
        row = tuple(coefficients_of(constraint))
        (equalities if constraint.is_equality() else inequalities).append(row)
    return tuple(inequalities), tuple(equalities)


def _difference(cone: Cone, unknowns: Unknowns) -> list[Vector]:
    """Return phi(sink) - phi(source) as one row of unknowns a coefficient of the cone."""
    zero = (0,) * unknowns.size
    rows: list[Vector] = [_constant_difference(cone, unknowns), zero]
    for statement, sign in ((cone.source, -1), (cone.sink, 1)):
        iterators = unknowns.iterators[statement]
        for k in range(len(iterators)):
            unit = [0] * len(iterators)
            unit[k] = sign
            rows.append(unknowns.linear(statement, unit))
    return rows


def _constant_difference(cone: Cone, unknowns: Unknowns) -> Vector:
    row = [0] * unknowns.size
    row[unknowns.place(cone.sink) + len(unknowns.iterators[cone.sink])] += 1
    row[unknowns.place(cone.source) + len(unknowns.iterators[cone.source])] -= 1
    return tuple(row)


def _substituted(cone: Cone, values: list[Vector]) -> Constraints:
    return Constraints(
        _products(cone.inequalities, values),
        _products(cone.equalities, values),
    )


def _products(rows: tuple[Vector, ...], values: list[Vector]) -> frozenset[Vector]:
    found = set()
    for row in rows:
        product = [0] * len(values[0])
        for factor, value in zip(row, values, strict=True):
            if factor:
                product = [a + factor * b for a, b in zip(product, value, strict=True)]
        divisor = gcd(*product)
        if divisor:
            found.add(tuple(x // divisor for x in product))
    return frozenset(found)
