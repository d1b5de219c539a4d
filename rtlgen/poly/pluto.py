"""The PLUTO algorithm: hyperplanes that make loops permutable and dependences short.

The unknowns of one hyperplane: the bound u, w and the coefficients of every statement.

Their order is that of the lexicographic minimum. Of each statement the innermost coefficient comes
first, so that among equally good hyperplanes the one of the outermost loop is taken.

Rows that a new hyperplane must be linearly independent of: the orthogonal sub-space.

Legality and distance bounds of hyperplanes as linear constraints, by Farkas' lemma.

An affine function is non-negative on a polyhedron just where it is a non-negative combination of
the polyhedron's constraints. isl's `coefficients()` gives all such functions: a cone over their
coefficients, in which the unknowns of a hyperplane enter linearly.

Sizes are fixed in the programs compiled here, but a bound u*N + w says more than a number. So the
largest extent of the program is made a symbol again: a constant m*N + r with a small r is read as
such. A polyhedron for every N that is at least the present one contains the present one, so what is
legal there is legal here.

One hyperplane: the lexicographically smallest solution of its constraints.

Which statements share loops: strongly connected components and where to cut between them.

The search: hyperplanes while there are any, then cuts, down to single statements.

A band takes hyperplanes for as long as all its dependences allow one more: every row of it is legal
for every dependence, so its loops can be permuted and tiled. Where no further one exists, the pairs
that the band orders are dropped and the next band begins inside; where a band cannot even begin,
the statements are cut into groups that run one after another (a scalar dimension).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice, product
from math import gcd, lcm

import islpy as isl
import rustworkx

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import MAX_OPERATIONS, keep_going, limited_effort
from rtlgen.ir.sets import (
    ScopSets,
    coefficients_of,
    for_each,
    integer,
    linear_constraint,
    operations,
)
from rtlgen.options import Fusion
from rtlgen.poly.edges import Edge, within_rows
from rtlgen.poly.errors import NoHyperplane
from rtlgen.poly.schedule_tree import Band, Leaf, Node, Row, in_sequence
from rtlgen.poly.strong_components import strong_components

Vector = tuple[int, ...]
BOUND_DIMS = 2
"""u and w stand before the coefficients."""


@dataclass(frozen=True, slots=True)
class Unknowns:
    """The vector (u, w, then of every statement c_m, ..., c_1, c_0).

    Members
    -------
    iterators: of every statement, outermost first.
    """

    iterators: Mapping[str, tuple[str, ...]]

    @property
    def size(self) -> int:
        return BOUND_DIMS + sum(len(names) + 1 for names in self.iterators.values())

    def place(self, statement: str) -> int:
        """Return the position of c_m of a statement."""
        position = BOUND_DIMS
        for name, iterators in self.iterators.items():
            if name == statement:
                return position
            position += len(iterators) + 1
        raise KeyError(statement)

    def linear(self, statement: str, coefficients: Sequence[int]) -> Vector:
        """Return the row whose product with the unknowns is coefficients . (c_1, ..., c_m)."""
        row = [0] * self.size
        last = self.place(statement) + len(coefficients) - 1
        for k, coefficient in enumerate(coefficients):
            row[last - k] = coefficient
        return tuple(row)

    def form(self, statement: str, values: Vector) -> Affine:
        """Return the hyperplane of a statement that the unknowns' `values` stand for."""
        names = self.iterators[statement]
        first = self.place(statement)
        own = values[first : first + len(names) + 1]
        terms = dict(zip(reversed(names), own[:-1], strict=True))
        return Affine.of(terms, own[-1])


def rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the number of linearly independent rows."""
    return len(_orthogonalised(rows))


def orthogonal(rows: Sequence[Vector], dims: int) -> tuple[Vector, ...]:
    """Return independent integer rows that span what is orthogonal to `rows`.

    They are rows of I - H^T (H H^T)^-1 H, scaled to coprime integers: c is independent of H where
    one of them is not orthogonal to c.
    """
    basis = _orthogonalised(rows)
    found: list[Vector] = []
    for k in range(dims):
        unit = [Fraction(int(k == column)) for column in range(dims)]
        for vector in basis:
            unit = _minus(unit, vector, _dot(unit, vector) / _dot(vector, vector))
        scaled = _integers(unit)
        if any(scaled) and rank([*found, scaled]) > len(found):
            found.append(scaled)
    return tuple(found)


def directions(rows: Sequence[Vector], dims: int) -> Iterator[tuple[tuple[Vector, int], ...]]:
    """Yield conjunctions (row, least value of row . c) that force c to be independent of `rows`.

    The first is PLUTO's own: no component in the orthogonal sub-space is negative, and their sum is
    at least 1. The others, one component positive or negative, together cover every c.
    """
    spanning = orthogonal(rows, dims)
    total = tuple(sum(column) for column in zip(*spanning, strict=True))
    yield (*((row, 0) for row in spanning), (total, 1))
    for row in spanning:
        yield ((row, 1),)
        yield ((tuple(-x for x in row), 1),)


def _orthogonalised(rows: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    basis: list[list[Fraction]] = []
    for row in rows:
        rest = [Fraction(x) for x in row]
        for vector in basis:
            rest = _minus(rest, vector, _dot(rest, vector) / _dot(vector, vector))
        if any(rest):
            basis.append(rest)
    return basis


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _minus(a: Sequence[Fraction], b: Sequence[Fraction], factor: Fraction) -> list[Fraction]:
    return [x - factor * y for x, y in zip(a, b, strict=True)]


def _integers(row: Sequence[Fraction]) -> Vector:
    scale = lcm(*(x.denominator for x in row))
    scaled = [int(x * scale) for x in row]
    divisor = gcd(*scaled) or 1
    return tuple(x // divisor for x in scaled)


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
    flat = edge.relation.wrap().flatten().remove_divs().coalesce()
    found = []
    for piece in for_each(flat.foreach_basic_set):
        for symbolic in for_each(_symbolic(sets, piece, size).foreach_basic_set):
            dual = symbolic.coefficients()
            inequalities, equalities = _rows(dual)
            found.append(Cone(edge.source, edge.sink, inequalities, equalities))
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


Group = tuple[str, ...]


def connected(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the groups of statements that edges connect, in the order of their first members."""
    place = {name: k for k, name in enumerate(statements)}
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(statements))
    graph.add_edges_from_no_data(sorted({(place[e.source], place[e.sink]) for e in edges}))
    parts = sorted(sorted(part) for part in rustworkx.weakly_connected_components(graph))
    return [tuple(statements[k] for k in part) for part in parts]


def components(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the strongly connected components, sources first, else in the given order."""
    return strong_components(statements, [(e.source, e.sink) for e in edges])


def cut_by_depth(groups: Sequence[Group], depths: Mapping[str, int]) -> list[Group]:
    """Return neighbouring groups of the same depth as one."""
    return [
        tuple(name for group in same for name in group)
        for _, same in groupby(groups, lambda group: max(depths[name] for name in group))
    ]


def cut_after_longest(groups: Sequence[Group], possible: Callable[[Group], bool]) -> list[Group]:
    """Cut once: after the longest run of leading groups that may share a hyperplane."""
    for count in range(len(groups) - 1, 0, -1):
        leading = tuple(name for group in groups[:count] for name in group)
        if count == 1 or possible(leading):
            rest = tuple(name for group in groups[count:] for name in group)
            return [leading, rest]
    return list(groups)


def pluto(sets: ScopSets, edges: Ordered[Edge], fusion: Fusion = "smart") -> Node:
    """Return the schedule of a normalised program.

    Parameters
    ----------
    edges: see `poly.edges.schedule_edges`.

    Raises
    ------
    NoHyperplane: a cycle of statements has no common hyperplane.
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its hyperplanes"):
        return _Search(sets, fusion).schedule(edges)


@dataclass(frozen=True, slots=True, eq=False)
class _Constrained:
    """An edge, and the functions that are non-negative on it."""

    edge: Edge
    cones: tuple[Cone, ...]


class _Search:
    def __init__(self, sets: ScopSets, fusion: Fusion) -> None:
        self.sets = sets
        self.fusion = fusion
        self.iterators = {s.name: s.iterators for s in sets.scop.statements}
        schedule = sets.scop.schedule
        self.size = max(
            (loop.at + loop.extent for name in self.iterators for loop in schedule.loops(name)),
            default=1,
        )

    def schedule(self, edges: Ordered[Edge]) -> Node:
        names = tuple(self.iterators)
        found: Found = dict.fromkeys(names, ())
        groups = [names]
        if self.fusion != "max":
            groups = components(names, edges)
        if self.fusion == "smart":
            groups = cut_by_depth(groups, {n: len(self.iterators[n]) for n in names})
        return in_sequence([self._node(g, _inside(edges, g), found) for g in groups])

    def _node(self, group: Group, edges: Ordered[Edge], found: Found) -> Node:
        """Return the schedule of a group inside the rows found so far."""
        constrained = [_Constrained(e, cones(self.sets, e, self.size)) for e in edges]
        rows: list[Row] = []
        inner = dict(found)
        while not self._complete(group, inner):
            row = self._row(group, constrained, inner)
            if row is None:
                break
            rows.append(row)
            for name in group:
                inner[name] = (*inner[name], self._coefficients(name, row.forms[name]))
        if rows:
            remaining = within_rows(self.sets, edges, rows)
            return Band(tuple(rows), len(rows) > 1, self._node(group, remaining, inner))
        if len(group) == 1 and self._complete(group, found):
            return Leaf(group[0])
        groups = self._cut(group, constrained, found)
        return in_sequence([self._node(g, _inside(edges, g), found) for g in groups])

    def _complete(self, group: Group, found: Found) -> bool:
        return all(is_complete(self.iterators[name], found[name]) for name in group)

    def _coefficients(self, name: str, form: Affine) -> tuple[int, ...]:
        return tuple(form.coefficient(iterator) for iterator in self.iterators[name])

    def _row(self, group: Group, edges: Ordered[_Constrained], found: Found) -> Row | None:
        """Return one hyperplane of every connected part of the group, side by side."""
        forms: dict[str, Affine] = {}
        bounds: list[tuple[int, int]] = []
        for part in connected(group, [c.edge for c in edges]):
            hyperplane = self._hyperplane(part, edges, found)
            if hyperplane is None:
                return None
            forms |= hyperplane.forms
            bounds.append(hyperplane.bound)
        return Row.of(forms, bound=max(bounds))

    def _hyperplane(
        self, part: Group, edges: Ordered[_Constrained], found: Found
    ) -> Hyperplane | None:
        unknowns = Unknowns({name: self.iterators[name] for name in part})
        own = [cone for c in edges if c.edge.source in part for cone in c.cones]
        if self._complete(part, found):
            # Nothing is left to tell apart: these statements wait for the others.
            return Hyperplane({name: Affine() for name in part}, (0, 0))
        return best_hyperplane(self.sets, unknowns, own, found)

    def _cut(self, group: Group, edges: Ordered[_Constrained], found: Found) -> list[Group]:
        groups = components(group, [c.edge for c in edges])
        if len(groups) == 1:
            raise NoHyperplane(
                f"no hyperplane orders {', '.join(group)}",
                notes=("they depend on each other in a cycle",),
                help="use --scheduler isl",
            )
        if self.fusion != "max" or self._complete(group, found):
            return groups

        def possible(leading: Group) -> bool:
            return self._row(leading, _constrained_inside(edges, leading), found) is not None

        return cut_after_longest(groups, possible)


def _inside(edges: Ordered[Edge], group: Group) -> list[Edge]:
    return [e for e in edges if e.source in group and e.sink in group]


def _constrained_inside(edges: Ordered[_Constrained], group: Group) -> list[_Constrained]:
    return [c for c in edges if c.edge.source in group and c.edge.sink in group]
