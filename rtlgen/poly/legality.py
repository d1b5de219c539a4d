"""The independent judge of schedules: does any of them break a dependence, and for which instances.

It knows nothing of how a schedule was made: it takes the memory-based dependences of the original
program and the time vectors of the new one, and asks isl for a pair in the wrong order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import zip_longest

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.errors import Label
from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.ints import Ints
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.schedule import Dim, FlatDim, LoopDim, Place, Schedule
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets, first_point, sample_pair
from rtlgen.poly.closed_extrema import Distance, flattened
from rtlgen.poly.closed_ranks import ClosedRanks, affine_function, closed_ranks
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import IllegalSchedule, IllegalShift
from rtlgen.poly.instances import (
    MANY_INSTANCES,
    MAX_INSTANCES,
    PairKey,
    Pairs,
    dependent_pairs,
    enumerated_size,
)
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.poly.ranks import rank_table

Instance = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """A dependence that a schedule breaks, with the first pair of instances in the wrong order.

    Members
    -------
    source_time, sink_time: their time vectors; the source's is not before the sink's.
    """

    dependence: Dependence
    source_instance: Instance
    sink_instance: Instance
    source_time: tuple[int, ...]
    sink_time: tuple[int, ...]


def find_violation(
    sets: ScopSets, dependences: Iterable[Dependence], schedule: Schedule
) -> Violation | None:
    """Return a dependence that `schedule` does not respect, or None when it is legal."""
    return Judge(sets, tuple(dependences)).violation(schedule)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges schedules of one program; what is listed of its dependences is listed once."""

    sets: ScopSets
    dependences: tuple[Dependence, ...]

    def violation(self, schedule: Schedule) -> Violation | None:
        """Return a dependence that `schedule` does not respect, or None when it is legal."""
        sets = self.sets
        if any(
            isinstance(d, FlatDim) and not d.is_affine
            for dims in schedule.dims.values()
            for d in dims
        ):
            counts = {name: count_points(domain) for name, domain in sets.domains.items()}
            size = enumerated_size(sets.scop, counts)
            if size > (MANY_INSTANCES if _is_plain(schedule) else MAX_INSTANCES):
                try:
                    return _find_closed_violation(sets, self.dependences, schedule)
                except NoClosedForm:
                    if size > MAX_INSTANCES:
                        raise
            return _find_listed_violation(sets.scop, self.dependences, schedule, self._pairs)
        return _find_affine_violation(sets, self.dependences, schedule)

    @cached_property
    def _pairs(self) -> Mapping[PairKey, Pairs]:
        return dependent_pairs(self.sets.scop)

    def require_legal(self, schedule: Schedule, what: str) -> None:
        """Raise unless `schedule` respects every dependence; `what` names what is being judged.

        Raises
        ------
        IllegalShift: the schedule is a fused one and a shift is too small.
        IllegalSchedule: any other broken order.
        """
        violation = self.violation(schedule)
        if violation is None:
            return
        if isinstance(schedule.dims[violation.dependence.sink][0], FlatDim):
            raise illegal_shift(self.sets.scop, violation, schedule)
        raise illegal_schedule(self.sets.scop, violation, what)


def _find_affine_violation(
    sets: ScopSets, dependences: Iterable[Dependence], schedule: Schedule
) -> Violation | None:
    """Judge a schedule whose times are affine functions."""
    with limited_effort("the legality of its schedule"):
        times = sets.schedule_maps(schedule)
        for dependence in dependences:
            keep_going(sets.context)
            not_before = times[dependence.source].lex_ge_map(times[dependence.sink])
            broken = dependence.relation.intersect(not_before)
            if not broken.is_empty():
                source, sink = sample_pair(broken)
                return Violation(
                    dependence,
                    source,
                    sink,
                    _time(sets.scop, schedule, dependence.source, source),
                    _time(sets.scop, schedule, dependence.sink, sink),
                )
    return None


def _is_plain(schedule: Schedule) -> bool:
    """Tell whether the loops of all flattened nests just have bounds: no pads, no least lengths."""
    loops = [
        loop
        for dims in schedule.dims.values()
        for dim in dims
        if isinstance(dim, FlatDim)
        for loop in dim.loops
    ]
    return not any(
        loop.at_least or bound.divisor > 1 or loop.iterator is None
        for loop in loops
        for bound in (*loop.lowers, *loop.uppers)
    )


def _time(scop: Scop, schedule: Schedule, name: str, point: Instance) -> tuple[int, ...]:
    values = dict(zip(scop.statement(name).iterators, point, strict=True))
    return tuple(max(f.evaluate(values) for f in place) for place in schedule.places(name))


def _find_listed_violation(
    scop: Scop,
    dependences: Iterable[Dependence],
    schedule: Schedule,
    pairs: Mapping[PairKey, Pairs],
) -> Violation | None:
    """Judge a schedule with ranks that are no affine functions, pair by pair."""
    for d in dependences:
        related = pairs.get((d.source, d.sink, d.source_read, d.sink_read))
        if related is None:
            continue
        early = _listed_times(scop, schedule, d.source, related.sources)
        late = _listed_times(scop, schedule, d.sink, related.sinks)
        broken = np.flatnonzero(~_lexicographically_less(early, late))
        if len(broken):
            k = int(broken[0])
            return Violation(
                d,
                tuple(related.sources[k].tolist()),
                tuple(related.sinks[k].tolist()),
                tuple(early[k].tolist()),
                tuple(late[k].tolist()),
            )
    return None


def _find_closed_violation(
    sets: ScopSets, dependences: Iterable[Dependence], schedule: Schedule
) -> Violation | None:
    """Judge a schedule with ranks in closed form, dimension by dimension."""
    scop = sets.scop
    times = {name: _closed_times(sets, schedule, name) for name in schedule.dims}
    for d in dependences:
        keep_going(sets.context)
        alike = d.relation
        for early, late in zip_longest(times[d.source], times[d.sink]):
            if alike.is_empty():
                break
            first = _zero(sets, scop.statement(d.source)) if early is None else early
            second = _zero(sets, scop.statement(d.sink)) if late is None else late
            distance = Distance.between(alike, first, second, 1, 1)
            largest = distance.extrema()[1]
            if largest > 0:
                return _closed_violation(sets, schedule, d, distance.at(largest))
            # The rest of the vectors decides between pairs at one time so far.
            alike = _pairs_of(alike, distance.at(0)) if largest == 0 else _none_of(alike)
        if not alike.is_empty():
            return _closed_violation(sets, schedule, d, flattened(alike))
    return None


def _zero(sets: ScopSets, statement: Statement) -> isl.PwQPolynomial:
    return affine_function(sets.context, [0] * len(statement.iterators), 0)


def _none_of(relation: isl.Map) -> isl.Map:
    return isl.Map.empty(relation.get_space())


def _pairs_of(relation: isl.Map, pairs: isl.Set) -> isl.Map:
    """Return the pairs of a relation that are among `pairs`, in one unnamed space."""
    kept = flattened(relation).intersect(pairs)
    spread = isl.Map.from_domain_and_range(relation.wrap(), kept)
    for k in range(kept.dim(isl.dim_type.set)):
        spread = spread.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return spread.domain().unwrap()


def _closed_violation(
    sets: ScopSets, schedule: Schedule, dependence: Dependence, pairs: isl.Set
) -> Violation:
    """Return the violation by the first of some pairs."""
    values = first_point(pairs)
    cut = len(sets.scop.statement(dependence.source).iterators)
    source, sink = values[:cut], values[cut:]
    length = max(map(len, schedule.dims.values()))

    def time(name: str, instance: Instance) -> tuple[int, ...]:
        values = dict(zip(sets.scop.statement(name).iterators, instance, strict=True))
        found = []
        for dim in schedule.dims[name]:
            if isinstance(dim, FlatDim) and not dim.is_affine:
                ranks = _closed_ranks(sets, name, dim)
                (rank,) = ranks.of(np.array([instance], dtype=np.int64)).tolist()
                found.append(rank + dim.shift)
            else:
                found.append(max(form.evaluate(values) for form in _place(dim)))
        return tuple(found) + (0,) * (length - len(found))

    return Violation(
        dependence,
        source,
        sink,
        time(dependence.source, source),
        time(dependence.sink, sink),
    )


def _closed_ranks(sets: ScopSets, name: str, dim: FlatDim) -> ClosedRanks:
    found = closed_ranks(sets.domains[name], sets.scop.statement(name).iterators, dim.loops)
    assert found is not None, "a ragged nest has been ranked before"
    return found


def _closed_times(sets: ScopSets, schedule: Schedule, name: str) -> list[isl.PwQPolynomial]:
    """Return the dimensions of a statement's time as functions of its iterators."""
    iterators = sets.scop.statement(name).iterators
    found = []
    for dim in schedule.dims[name]:
        if isinstance(dim, FlatDim) and not dim.is_affine:
            closed = _closed_ranks(sets, name, dim)
            shift = affine_function(sets.context, [0] * len(iterators), dim.shift)
            found.append(closed.function.add(shift))
        else:
            found.append(_largest_of(sets.context, iterators, _place(dim)))
    return found


def _place(dim: Dim) -> Place:
    """Return the place of an instance in a dimension without ranks."""
    return dim.place if isinstance(dim, LoopDim) else (dim.time,)


def _largest_of(context: isl.Context, iterators: Sequence[str], place: Place) -> isl.PwQPolynomial:
    """Return the largest of some affine functions, over the unnamed space of the iterators."""
    space = isl.LocalSpace.from_space(isl.Space.set_alloc(context, 0, len(iterators)))
    found: list[isl.PwAff] = []
    for form in place:
        function = isl.Aff.zero_on_domain(space)
        function = function.set_constant_val(isl.Val(form.constant, context))
        for k, iterator in enumerate(iterators):
            coefficient = isl.Val(form.coefficient(iterator), context)
            function = function.set_coefficient_val(isl.dim_type.in_, k, coefficient)
        found.append(isl.PwAff.from_aff(function))
    return isl.PwQPolynomial.from_pw_aff(reduce(isl.PwAff.max, found))


def _listed_times(scop: Scop, schedule: Schedule, name: str, points: Ints) -> Ints:
    """Return the (n, dimensions) time vectors of (n, iterators) instances."""
    iterators = scop.statement(name).iterators
    columns = []
    for dim in schedule.dims[name]:
        if isinstance(dim, FlatDim) and not dim.is_affine:
            table = rank_table(dim.loops, iterators)
            assert table is not None, "a ragged nest has been enumerated before"
            columns.append(table.of(points) + dim.shift)
        else:
            values = [affine_values(form, iterators, points) for form in _place(dim)]
            columns.append(np.max(values, axis=0))
    length = max(map(len, schedule.dims.values()))
    columns += [np.zeros(len(points), dtype=np.int64)] * (length - len(columns))
    return np.stack(columns, axis=1)


def _lexicographically_less(a: Ints, b: Ints) -> NDArray[np.bool_]:
    less = np.zeros(len(a), dtype=np.bool_)
    equal = np.ones(len(a), dtype=np.bool_)
    for column in range(a.shape[1]):
        less |= equal & (a[:, column] < b[:, column])
        equal &= a[:, column] == b[:, column]
    return less


def require_legal(
    sets: ScopSets, dependences: Iterable[Dependence], schedule: Schedule, what: str
) -> None:
    """Raise unless `schedule` respects every dependence; `what` names the change being judged.

    Raises
    ------
    IllegalShift: the schedule is a fused one and a shift is too small.
    IllegalSchedule: any other broken order.
    """
    Judge(sets, tuple(dependences)).require_legal(schedule, what)


def _verbs(dependence: Dependence) -> tuple[str, str]:
    source = "written" if dependence.source_read is None else "read"
    sink = "written" if dependence.sink_read is None else "read"
    return source, sink


def illegal_schedule(
    scop: Scop,
    violation: Violation,
    what: str,
    *,
    where: Callable[[str, Instance], str] | None = None,
    notes: tuple[str, ...] = (),
    remedy: str = "this order of loops or statements is not possible; choose another",
) -> IllegalSchedule:
    """Return the error for a schedule that `violation` breaks.

    Parameters
    ----------
    what: the change that is judged. where: what is said of the place of a statement's instance.
    """
    dependence = violation.dependence
    shown = []
    for name, instance in (
        (dependence.source, violation.source_instance),
        (dependence.sink, violation.sink_instance),
    ):
        place = "" if where is None else where(name, instance)
        shown.append(scop.statement(name).instance_text(instance) + place)
    first, second = _verbs(dependence)
    return IllegalSchedule(
        f"{what} breaks {_article(dependence.kind)} dependence",
        labels=(
            Label(dependence.sink_access.span, f"{second} by {shown[1]}, which would run first"),
            Label(dependence.source_access.span, f"{first} by {shown[0]}"),
        ),
        notes=notes,
        help=remedy,
    )


def illegal_shift(
    scop: Scop, violation: Violation, schedule: Schedule, smallest: int | None = None
) -> IllegalShift:
    """Return the error for a fused schedule that `violation` breaks.

    `smallest` is the smallest legal shift of the sink statement, where the caller knows it.
    """
    dependence = violation.dependence
    dim = schedule.dims[dependence.sink][0]
    assert isinstance(dim, FlatDim), "a fused schedule has been broken"
    source = scop.statement(dependence.source).instance_text(violation.source_instance)
    sink = scop.statement(dependence.sink).instance_text(violation.sink_instance)
    source_n, sink_n = violation.source_time[0], violation.sink_time[0]
    first, second = _verbs(dependence)
    return IllegalShift(
        f"shift of {dependence.sink} by {dim.shift} breaks {_article(dependence.kind)} dependence",
        labels=(Label(dependence.sink_access.span, f"{second} at n={sink_n} by {sink}"),),
        notes=(f"{first} at {dependence.source_access.span} by {source}, at n={source_n}",),
        help=(
            "leave the shift to the compiler"
            if smallest is None
            else f"the smallest legal shift is {smallest}"
        ),
    )


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'ao' else 'a'} {kind}"
