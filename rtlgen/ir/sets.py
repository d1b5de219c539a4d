"""The isl view of a Scop, and the one home of islpy's quirks.

Tuples are named by position (`s0` for the first statement, `a2` for the third array) and dimensions
have no names, so that no C identifier can meet an isl keyword. Every compilation has a context of
its own, since isl's options and its operation count belong to the context. isl objects are neither
compared with `==` nor hashed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, reduce
from typing import Any, Literal, TypeVar, cast

import islpy as isl

from rtlgen.ir import effort
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.quasi_affine import quasi_affine_text
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Array, Scop, Statement, Window

T = TypeVar("T")


@contextmanager
def operations(context: isl.Context, allowed: int, each: int = 1) -> Iterator[None]:
    """Replace the operation limit for one step; 0 for none.

    Parameters
    ----------
    each: elementary steps that an operation counts for.
    """
    limit = context.get_max_operations()
    context.set_max_operations(allowed)
    try:
        yield
    finally:
        context.set_max_operations(limit)
        effort.keep_going(context, each=each)


def attempt(context: isl.Context, allowed: int, compute: Callable[[], T]) -> T | None:
    """Return what isl computes, or None where that takes more than `allowed` operations."""
    effort.keep_going(context)
    try:
        with operations(context, allowed):
            return compute()
    except isl.Error as error:
        if not effort.is_out_of_operations(error):
            raise
        return None


def affine_text(affine: Affine, names: Sequence[str]) -> str:
    """Return `affine` in isl syntax, with dimension k called `d<k>`; `names` gives the order."""
    parts = [f"{c}*d{names.index(name)}" for name, c in affine.terms]
    return " + ".join([*parts, str(affine.constant)])


def constraint_text(constraint: Constraint, names: Sequence[str]) -> str:
    """Return a condition on iterators in isl syntax, likewise."""
    if isinstance(constraint, Congruence):
        return f"({affine_text(constraint.form, names)}) mod {constraint.modulus} = 0"
    return f"{affine_text(constraint, names)} >= 0"


def _window_text(window: Window, name: str, names: Sequence[str]) -> str:
    """Return what holds for a computed subscript `name`."""
    if window.known is not None:
        return f"{name} = {quasi_affine_text(window.known, names)}"
    reach = window.reach
    low, high = (affine_text(reach.base + end, names) for end in (reach.low, reach.high))
    return f"{low} <= {name} <= {high}"


def domain_text(statement: Statement) -> str:
    """Return where the instances of a statement are, in isl syntax."""
    names = statement.iterators
    constraints, strides = [], []
    for k, loop in enumerate(statement.loops):
        start, stop = affine_text(loop.start, names), affine_text(loop.stop, names)
        forward = loop.step > 0
        constraints.append(f"d{k} {'>=' if forward else '<='} {start}")
        constraints.append(f"{loop.scale}*d{k} {'<' if forward else '>'} {stop}")
        if abs(loop.step) > 1:
            strides.append(f"e{k}")
            constraints.append(f"d{k} - ({start}) = {loop.step}*e{k}")
    constraints += [constraint_text(c, names) for c in statement.conditions]
    where = " and ".join(constraints) or "true"
    return f"exists {', '.join(strides)} : {where}" if strides else where


def has_instances(statement: Statement) -> bool:
    """Tell whether a statement, which need not be one of a program, is ever executed."""
    dims = ",".join(f"d{k}" for k in range(len(statement.loops)))
    points = isl.Set.read_from_str(isl.Context(), f"{{ [{dims}] : {domain_text(statement)} }}")
    return not points.is_empty()


def linear_constraint(
    space: isl.Space, coefficients: Sequence[int], constant: int, *, equal: bool = False
) -> isl.Constraint:
    """Return `coefficients . dimensions + constant >= 0`, or == 0, in a space of sets."""
    allocate = isl.Constraint.equality_alloc if equal else isl.Constraint.inequality_alloc
    constraint = allocate(isl.LocalSpace.from_space(space)).set_constant_val(constant)
    for k, coefficient in enumerate(coefficients):
        if coefficient:
            constraint = constraint.set_coefficient_val(isl.dim_type.set, k, coefficient)
    return constraint


REMEMBERED = 4096
"""Texts whose sets are kept."""


def _remembering(context: isl.Context, read: Callable[[isl.Context, str], T]) -> Callable[[str], T]:
    """Return what reads a text, but knows those that were read before.

    Parsing takes longer than most questions about what was parsed, and much is asked for again by
    those who look at a program in another way.
    """

    @lru_cache(REMEMBERED)
    def parsed(text: str) -> T:
        # isl's parser would report a limit that is reached as a syntax error.
        with operations(context, 0):
            return read(context, text)

    def known(text: str) -> T:
        effort.keep_going(context)
        return parsed(text)

    return known


class _Reader:
    """A context of its own, and what reads sets and relations in it."""

    def __init__(self) -> None:
        self.context = isl.Context()
        self.context.set_max_operations(effort.MAX_OPERATIONS)
        self.read_set = _remembering(self.context, isl.Set.read_from_str)
        self.read_map = _remembering(self.context, isl.Map.read_from_str)
        self.answers: dict[object, list[tuple[Scop, object]]] = {}
        self.found: dict[Hashable, object] = {}


class ScopSets:
    """Domains, access relations and schedules of one Scop, in one isl context.

    Parameters
    ----------
    beside: the sets of another Scop, whose context they share.
    """

    def __init__(self, scop: Scop, beside: ScopSets | None = None) -> None:
        self.scop = scop
        self._reader: _Reader = _Reader() if beside is None else beside._reader
        self.context = self._reader.context
        self._statement_tuples = {s.name: f"s{n}" for n, s in enumerate(scop.statements)}
        self._array_tuples = {a.name: f"a{n}" for n, a in enumerate(scop.arrays)}
        self._maps: dict[tuple[str, str], isl.Map] = {}

    def once(self, question: Callable[[ScopSets], T]) -> T:
        """Return what is found of these sets, asked once of all equal programs in one context."""
        answers = self._reader.answers.setdefault(question, [])
        for scop, known in answers:
            if scop == self.scop:
                # Each question has answers of its own type.
                return cast(T, known)
        found = question(self)
        answers.append((self.scop, found))
        return found

    def found_once(self, question: Hashable, find: Callable[[], T]) -> T:
        """Return what is found, looked for once for all equal questions in one context."""
        known = self._reader.found
        if question not in known:
            known[question] = find()
        # Each question has answers of its own type.
        return cast(T, known[question])

    def statement_tuple(self, statement: str) -> str:
        """Return the isl tuple name of a statement's instances."""
        return self._statement_tuples[statement]

    def statement_of(self, tuple_name: str) -> Statement:
        """Return the statement whose instances have that isl tuple name."""
        return self.scop.statements[int(tuple_name[1:])]

    @cached_property
    def domains(self) -> dict[str, isl.Set]:
        """The instance set of every statement."""
        return {s.name: self._domain(s) for s in self.scop.statements}

    def _domain(self, statement: Statement) -> isl.Set:
        return self.read_set(f"{{ {self._instance(statement)} : {domain_text(statement)} }}")

    def _instance(self, statement: Statement) -> str:
        dims = ",".join(f"d{k}" for k in range(len(statement.loops)))
        return f"{self._statement_tuples[statement.name]}[{dims}]"

    def instance_set(self, statement: Statement, point: Sequence[int]) -> isl.Set:
        """Return the set of one instance."""
        where = " and ".join(f"d{k} = {value}" for k, value in enumerate(point)) or "true"
        return self.read_set(f"{{ {self._instance(statement)} : {where} }}")

    def instances_where(self, statement: Statement, text: str) -> isl.Set:
        """Return the instances for which a condition holds, iterator k called `d<k>` in it."""
        where = self.read_set(f"{{ {self._instance(statement)} : {text} }}")
        return where.intersect(self.domains[statement.name])

    def read_set(self, text: str) -> isl.Set:
        """Parse a set in this context."""
        return self._reader.read_set(text)

    def read_map(self, text: str) -> isl.Map:
        """Parse a map in this context."""
        return self._reader.read_map(text)

    def element_set(self, array: Array) -> isl.Set:
        """Return the elements of `array`."""
        dims = ",".join(f"d{k}" for k in range(len(array.shape)))
        inside = " and ".join(f"0 <= d{k} < {extent}" for k, extent in enumerate(array.shape))
        return self.read_set(f"{{ {self._array_tuples[array.name]}[{dims}] : {inside or 'true'} }}")

    def next_element_map(self, array: Array) -> isl.Map:
        """Return {element of `array` -> the one behind it in row-major order}."""
        name, dims = self._array_tuples[array.name], range(len(array.shape))
        inside = " and ".join(f"0 <= d{k} < {extent}" for k, extent in enumerate(array.shape))
        pieces = []
        for moved in dims:
            image = [f"d{k}" if k < moved else f"d{k} + 1" if k == moved else "0" for k in dims]
            where = [inside, f"d{moved} + 1 < {array.shape[moved]}"]
            where += [f"d{k} = {array.shape[k] - 1}" for k in dims if k > moved]
            element = ",".join(f"d{k}" for k in dims)
            pieces.append(f"{name}[{element}] -> {name}[{','.join(image)}] : {' and '.join(where)}")
        return self.read_map(f"{{ {'; '.join(pieces)} }}")

    def access_map(self, statement: Statement, access: Access) -> isl.Map:
        """Return {instance -> elements of the array that it may touch} of `access`.

        What depends on data touches no element outside of its array: that is proven beforehand, or
        a condition keeps the program from making the access.
        """
        relation = self.touched(statement, access)
        if access.is_lookup or access.is_conditional:
            relation = relation.intersect_range(self.element_set(self.scop.array(access.array)))
        return relation

    def touched(self, statement: Statement, access: Access) -> isl.Map:
        """Return {instance -> what its subscripts may name, inside of the array or not}."""
        names, subscripts = statement.iterators, []
        inside = [constraint_text(form, names) for form in access.where]
        for k, subscript in enumerate(access.subscripts):
            if isinstance(subscript, Window):
                subscripts.append(f"w{k}")
                inside.append(_window_text(subscript, f"w{k}", names))
            else:
                subscripts.append(affine_text(subscript, names))
        target = f"{self._array_tuples[access.array]}[{','.join(subscripts)}]"
        where = f" : {' and '.join(inside)}" if inside else ""
        return self._from_domain(statement, f"{target}{where}")

    def bank_map(self, statement: Statement, access: Access) -> isl.Map:
        """Return {instance -> digits of the bank that it touches}, with affine subscripts."""
        array = self.scop.array(access.array)
        digits = []
        for cut in array.cuts:
            subscript = affine_text(access.affine[cut.dim], statement.iterators)
            if cut.kind == "cyclic":
                digits.append(f"({subscript}) mod {cut.count}")
            else:
                digits.append(f"floor(({subscript}) / {cut.part_extent(array.shape[cut.dim])})")
        return self._from_domain(statement, f"[{', '.join(digits)}]")

    def _from_domain(self, statement: Statement, image: str) -> isl.Map:
        """Return {instance -> image} over the statement's domain."""
        effort.keep_going(self.context)
        key = statement.name, image
        if key not in self._maps:
            relation = self.read_map(f"{{ {self._instance(statement)} -> {image} }}")
            self._maps[key] = relation.intersect_domain(self.domains[statement.name])
        return self._maps[key]

    def accessing(self, statement: Statement, access: Access) -> isl.Set:
        """Return the instances that make an access, and make it inside of its array."""
        if not access.is_partial:
            return self.domains[statement.name]
        return self.access_map(statement, access).domain()

    def time_map(self, statement: Statement, time: Sequence[Affine]) -> isl.Map:
        """Return {instance -> time vector} over the statement's domain."""
        return self.place_map(statement, [(dim,) for dim in time])

    def place_map(self, statement: Statement, places: Sequence[Sequence[Affine]]) -> isl.Map:
        """Return {instance -> vector}, each of whose elements is the largest of some functions."""
        names = statement.iterators
        vector = ",".join(
            reduce(lambda a, b: f"max({a}, {b})", [affine_text(form, names) for form in place])
            for place in places
        )
        return self._from_domain(statement, f"[{vector}]")

    def schedule_maps(self, schedule: Schedule) -> dict[str, isl.Map]:
        """Return the time map of every statement."""
        return {s.name: self.place_map(s, schedule.places(s.name)) for s in self.scop.statements}

    def affine_range(self, statement: Statement, affine: Affine) -> tuple[int, int]:
        """Return the smallest and the largest value of a function in the instances, if any."""
        ((low, high),) = bounding_box(self.time_map(statement, [affine]).range())
        return low, high

    def bounding_box(self, statement: Statement) -> tuple[tuple[int, int], ...] | None:
        """Return (smallest, largest) value of each iterator, or None for an empty domain."""
        domain = self.domains[statement.name]
        if domain.is_empty():
            return None
        return bounding_box(domain)


_LOST_DIVISION = "involves some of the domain dimensions"
"""What isl says where it takes a quotient for another than the equal one that it needs."""


_Ordered = TypeVar("_Ordered", isl.Set, isl.Map)


def latest(points: _Ordered) -> _Ordered:
    """Return the last point of a set, or of every image of a relation."""
    return _end_of(points, "lexmax")


def earliest(points: _Ordered) -> _Ordered:
    """Return the first point of a set, or of every image of a relation."""
    return _end_of(points, "lexmin")


def _end_of(points: _Ordered, which: Literal["lexmin", "lexmax"]) -> _Ordered:
    """Ask isl for an end. It finds none with some quotients, until their equalities are known."""
    try:
        found: _Ordered = getattr(points, which)()
    except isl.Error as error:
        if _LOST_DIVISION not in str(error):
            raise
        found = getattr(points.detect_equalities(), which)()
    return found


def bounding_box(points: isl.Set) -> tuple[tuple[int, int], ...]:
    """Return (smallest, largest) value of each dimension of a non-empty bounded set."""
    return tuple(
        (integer(points.dim_min_val(k)), integer(points.dim_max_val(k)))
        for k in range(points.dim(isl.dim_type.set))
    )


def coefficients_of(constraint: isl.Constraint) -> list[int]:
    """Return the coefficients of all dimensions of a constraint in a space of sets."""
    return [
        integer(constraint.get_coefficient_val(isl.dim_type.set, k))
        for k in range(constraint.dim(isl.dim_type.set))
    ]


def integer(value: isl.Val) -> int:
    """Return an isl integer as one of Python.

    Raises
    ------
    TooComplex: isl's operation limit was met; islpy's own conversion would fail over it.
    """
    text = value.to_str()
    if text is None:
        raise effort.out_of_operations()
    return int(text)


def point_values(point: isl.Point) -> tuple[int, ...]:
    """Return the coordinates of a point."""
    count = point.get_space().dim(isl.dim_type.set)
    return tuple(integer(point.get_coordinate_val(isl.dim_type.set, k)) for k in range(count))


def first_point(points: isl.Set) -> tuple[int, ...]:
    """Return the lexicographically first point of a non-empty set."""
    return point_values(earliest(points).sample_point())


def sample_pair(relation: isl.Map) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the lexicographically first (source, sink) pair of a non-empty relation."""
    source_dims = relation.dim(isl.dim_type.in_)
    flat = earliest(relation.wrap().flatten())
    values = point_values(flat.sample_point())
    return values[:source_dims], values[source_dims:]


def union_map(maps: Iterable[isl.Map]) -> isl.UnionMap:
    """Return the union of at least one map; their tuples may differ."""
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, maps))


def equal_outer(relation: isl.Map, count: int) -> isl.Map:
    """Restrict a relation to pairs with the same `count` outermost dimensions."""
    for k in range(count):
        relation = relation.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return relation


def enum_name(member: Any) -> str:
    """Return the name of a member of an isl enumeration; islpy's type stubs call it an int."""
    name: str = member.name
    return name.rstrip("_")


def lifted(piece: isl.BasicSet) -> isl.BasicSet:
    """Return a set with its existentially quantified dimensions behind its own."""
    (found,) = for_each(isl.Set.from_basic_set(piece.lift()).flatten().foreach_basic_set)
    return found


def for_each(visit: Callable[[Callable[[T], None]], None]) -> list[T]:
    """Collect what an isl `foreach_...` method hands to its callback."""
    found: list[T] = []
    visit(found.append)
    return found
