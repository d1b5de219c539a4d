"""The independent judge of schedules: does any of them break a dependence, and for which instances.

It knows nothing of how a schedule was made: it takes the memory-based dependences of the original
program and the time vectors of the new one, and asks isl for a pair in the wrong order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rtlgen.errors import Label
from rtlgen.ir.schedule import FlatDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets, isl_failures, sample_pair
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.errors import IllegalSchedule, IllegalShift

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
    with isl_failures():
        times = sets.schedule_maps(schedule)
        for dependence in dependences:
            not_before = times[dependence.source].lex_ge_map(times[dependence.sink])
            broken = dependence.relation.intersect(not_before)
            if not broken.is_empty():
                return _violation(sets.scop, dependence, schedule, *sample_pair(broken))
    return None


def _violation(
    scop: Scop, dependence: Dependence, schedule: Schedule, source: Instance, sink: Instance
) -> Violation:
    def time(name: str, point: Instance) -> tuple[int, ...]:
        values = dict(zip(scop.statement(name).iterators, point, strict=True))
        return tuple(dim.evaluate(values) for dim in schedule.time(name))

    return Violation(
        dependence, source, sink, time(dependence.source, source), time(dependence.sink, sink)
    )


def require_legal(
    sets: ScopSets, dependences: Iterable[Dependence], schedule: Schedule, what: str
) -> None:
    """Raise unless `schedule` respects every dependence; `what` names the change being judged.

    Raises
    ------
    IllegalShift: the schedule is a fused one and a shift is too small.
    IllegalSchedule: any other broken order.
    """
    violation = find_violation(sets, dependences, schedule)
    if violation is None:
        return
    if isinstance(schedule.dims[violation.dependence.sink][0], FlatDim):
        raise illegal_shift(sets.scop, violation, schedule)
    raise _illegal_schedule(sets.scop, violation, what)


def _verbs(dependence: Dependence) -> tuple[str, str]:
    source = "written" if dependence.source_read is None else "read"
    sink = "written" if dependence.sink_read is None else "read"
    return source, sink


def _illegal_schedule(scop: Scop, violation: Violation, what: str) -> IllegalSchedule:
    dependence = violation.dependence
    source = scop.statement(dependence.source).instance_text(violation.source_instance)
    sink = scop.statement(dependence.sink).instance_text(violation.sink_instance)
    first, second = _verbs(dependence)
    return IllegalSchedule(
        f"{what} breaks {_article(dependence.kind)} dependence",
        labels=(
            Label(dependence.sink_access.span, f"{second} by {sink}, which would run first"),
            Label(dependence.source_access.span, f"{first} by {source}"),
        ),
        help="this order of loops or statements is not possible; choose another",
    )


def illegal_shift(
    scop: Scop, violation: Violation, schedule: Schedule, smallest: int | None = None
) -> IllegalShift:
    """Return the error for a fused schedule that `violation` breaks.

    `smallest` is the smallest legal shift of the sink statement, where the caller knows it.
    """
    dependence = violation.dependence
    dim = schedule.dims[dependence.sink][0]
    shift = dim.shift if isinstance(dim, FlatDim) else 0
    source = scop.statement(dependence.source).instance_text(violation.source_instance)
    sink = scop.statement(dependence.sink).instance_text(violation.sink_instance)
    source_n, sink_n = violation.source_time[0], violation.sink_time[0]
    first, second = _verbs(dependence)
    return IllegalShift(
        f"shift of {dependence.sink} by {shift} breaks {_article(dependence.kind)} dependence",
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
