"""The instances of a plan as streams issue them, and as a reader of the C program names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.ints import Bools, Ints
from rtlgen.ir.iterations import form_values, stream_iterations
from rtlgen.ir.levels import IndexForm
from rtlgen.ir.plan import KernelPlan, PlanError, Region, Stream
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.quasi_affine import affine_values, quasi_affine_values
from rtlgen.ir.schedule import NestLoop, Schedule
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.write_history import INITIAL


@dataclass(frozen=True, slots=True)
class Pad:
    """A pad loop: an instance runs where its counter is the largest of its places."""

    counter: IndexForm
    places: tuple[IndexForm, ...]


@dataclass(frozen=True, slots=True)
class Multiple:
    """Iterations in which a form is a multiple of a number."""

    form: IndexForm
    modulus: int


@dataclass(frozen=True, slots=True)
class InstanceMap:
    """What the iterations of a stream are in the C program. All forms are of its counters.

    Members
    -------
    statement: its name in the C program. iterators: of C, outermost first, and values: theirs.
    pads, at_least_zero, multiples: an iteration that fulfils all of them is an instance, and any
        other is padding.
    """

    statement: str
    iterators: tuple[str, ...]
    values: tuple[IndexForm, ...]
    pads: tuple[Pad, ...] = ()
    at_least_zero: tuple[IndexForm, ...] = ()
    multiples: tuple[Multiple, ...] = ()

    def __post_init__(self) -> None:
        if len(self.iterators) != len(self.values):
            raise ValueError(f"{self.statement}: {self.iterators} have {len(self.values)} values")

    def real(self, counters: Ints) -> Bools:
        """Tell of (n, levels) iterations which are instances."""
        found = np.ones(len(counters), dtype=np.bool_)
        for pad in self.pads:
            places = [form_values(place, counters) for place in pad.places]
            found &= form_values(pad.counter, counters) == np.max(places, axis=0)
        for form in self.at_least_zero:
            found &= form_values(form, counters) >= 0
        for multiple in self.multiples:
            found &= form_values(multiple.form, counters) % multiple.modulus == 0
        return found

    def points(self, counters: Ints) -> Ints:
        """Return the (n, iterators) values of C's iterators in (n, levels) iterations."""
        columns = [form_values(value, counters) for value in self.values]
        return np.stack(columns, axis=1) if columns else np.zeros((len(counters), 0), np.int64)

    def text(self, point: Sequence[int]) -> str:
        """Return an instance as `S1(i=3, j=4, k=2)`."""
        named = zip(self.iterators, point, strict=True)
        return f"{self.statement}({', '.join(f'{name}={value}' for name, value in named)})"


@dataclass(frozen=True, slots=True)
class IssuePoint:
    """Where a stream issues.

    Members
    -------
    datapath, control: the modules of the stream, and of what it shares with others.
    begin_to_issue: cycles from that in which `begin_signal` of the control is high to the first
        issue.
    valid_to_issue: those from `valid` of its index unit to the issue of the same iteration, and so
        from its counters.
    counted: the levels that counter_0, counter_1, .. of the index unit are the counters of.
    """

    datapath: str
    control: str
    begin_to_issue: int
    valid_to_issue: int
    counted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IssuedStream:
    """What a reader of waves has to know of a stream, beside the plan."""

    instances: InstanceMap
    point: IssuePoint


@dataclass(frozen=True, slots=True, eq=False)
class IssuedInstances:
    """The real iterations of a stream, n of them.

    Members
    -------
    counters: (n, levels); points: (n, iterators), the iteration in the program.
    cycles: (n,) issue cycle of each, from the start of the run.
    tokens: (n,) a number for every instance, unique in the plan.
    moments: (n,) place in program order among all instances of all statements.
    bubbles, bubble_cycles: counters and issue cycles of the iterations that are padding.
    end_cycle: in which their region ends, and all that they still do.
    """

    statement: Statement
    stream: Stream
    counters: Ints
    points: Ints
    cycles: Ints
    tokens: Ints
    moments: Ints
    bubbles: Ints
    bubble_cycles: Ints
    end_cycle: int

    def elements(self, access: Access, strides: Sequence[int], choice: Sequence[int] = ()) -> Ints:
        """Return the element that the C program's `access` touches in every instance.

        Parameters
        ----------
        choice: the values of the subscripts that depend on data.
        """
        total = np.zeros(len(self.tokens), dtype=np.int64)
        for value, stride in zip(self._values(access, choice), strides, strict=True):
            total += value * stride
        return total

    def inside(self, access: Access, shape: Sequence[int], choice: Sequence[int] = ()) -> Bools:
        """Return the instances that make an access, and make it inside of its array."""
        values = self._values(access, choice)
        return made_inside(access, values, shape, self.statement.iterators, self.points)

    def _values(self, access: Access, choice: Sequence[int]) -> Iterator[Ints]:
        return subscript_values(access, self.statement.iterators, self.points, choice)


def subscript_values(
    access: Access, names: Sequence[str], points: Ints, choice: Sequence[int] = ()
) -> Iterator[Ints]:
    """Yield the values of the subscripts of an access in some instances.

    Parameters
    ----------
    names, points: iterators of the instances, and their values, (n, iterators).
    choice: the values of the subscripts that depend on data, as `choices` yields them.
    """
    given = iter(choice)
    for subscript in access.subscripts:
        if isinstance(subscript, Affine):
            yield affine_values(subscript, names, points)
        elif subscript.known is not None:
            yield quasi_affine_values(subscript.known, names, points)
        else:
            yield affine_values(subscript.reach.base, names, points) + next(given)


def choices(access: Access) -> Iterator[tuple[int, ...]]:
    """Yield what may be added to the bases of the subscripts of an access that depend on data."""
    return product(*(range(reach.low, reach.high + 1) for reach in access.reaches))


def made_inside(
    access: Access, values: Iterable[Ints], shape: Sequence[int], names: Sequence[str], points: Ints
) -> Bools:
    """Return which of some instances make an access, and make it inside of its array.

    Parameters
    ----------
    values: of its subscripts, in every instance. names, points: iterators of the instances, and
        their values, (n, iterators).
    """
    every = np.ones(len(points), dtype=np.bool_)
    for form in access.where:
        every &= affine_values(form, names, points) >= 0
    for value, extent in zip(values, shape, strict=True):
        every &= (value >= 0) & (value < extent)
    return every


def issued_instances(
    plan: KernelPlan, scop: Scop, program: Schedule, placed: Schedule
) -> list[list[IssuedInstances]]:
    """Return the instances of every stream of every region.

    Parameters
    ----------
    scop, program, placed: see `replay`.

    Raises
    ------
    PlanUnsound: a stream issues others than the instances of its statement.
    """
    regions: list[list[IssuedInstances]] = []
    base = first_token = 0
    for region in plan.regions:
        members = []
        for stream in region.streams:
            issued = _issued(region, stream, scop, placed, base)
            time = program.time(stream.statement)
            names = issued.statement.iterators
            moments = np.stack([affine_values(dim, names, issued.points) for dim in time], axis=1)
            members.append(replace(issued, tokens=issued.tokens + first_token, moments=moments))
            first_token += len(issued.tokens)
        regions.append(members)
        base += region.length_cycles
    return _with_moments(regions)


def _issued(
    region: Region, stream: Stream, scop: Scop, placed: Schedule, base: int
) -> IssuedInstances:
    """Return the instances of a stream, its tokens counted from 0, and no moments yet."""
    statement = scop.statement(stream.statement)
    iterations = _iterations(stream)
    real, points = instances_of(statement, placed.loops(stream.statement), iterations)
    if len(points) != stream.instances:
        raise PlanUnsound(f"{stream.statement} runs {len(points)} of {stream.instances} instances")
    cycles = stream.offset_cycles + stream.ii * np.arange(len(iterations), dtype=np.int64)
    if np.any(cycles[real] + stream.depth_cycles > region.length_cycles):
        raise PlanUnsound(f"{stream.statement} is cut off before its last instance")
    padding = ~real & (cycles < region.length_cycles)
    return IssuedInstances(
        statement,
        stream,
        iterations[real],
        points,
        base + cycles[real],
        tokens=np.arange(len(points), dtype=np.int64),
        moments=np.zeros(0, dtype=np.int64),
        bubbles=iterations[padding],
        bubble_cycles=base + cycles[padding],
        end_cycle=base + region.length_cycles,
    )


def _with_moments(regions: list[list[IssuedInstances]]) -> list[list[IssuedInstances]]:
    """Replace the program's time vectors, still in `moments`, by their places in its order."""
    order = np.concatenate([m.moments for members in regions for m in members])
    place = np.empty(len(order), dtype=np.int64)
    place[np.lexsort(order.T[::-1])] = np.arange(len(order))
    return [[replace(m, moments=place[m.tokens]) for m in members] for members in regions]


def _iterations(stream: Stream) -> Ints:
    try:
        return stream_iterations(stream)
    except PlanError as error:
        raise PlanUnsound(str(error)) from error


def instances_of(
    statement: Statement, loops: Sequence[NestLoop], counters: Ints
) -> tuple[Bools, Ints]:
    """Return which iterations are instances of the program, and their points."""
    iterators = statement.iterators
    points = np.zeros((len(counters), len(iterators)), dtype=np.int64)
    real = np.ones(len(counters), dtype=np.bool_)
    for level, loop in enumerate(loops):
        if loop.iterator is not None:
            points[:, iterators.index(loop.iterator)] = counters[:, level] + loop.at
    for level, loop in enumerate(loops):
        if loop.iterator is None:
            places = [affine_values(position, iterators, points) for position in loop.position]
            real &= counters[:, level] == np.max(places, axis=0)
    for bound in statement.loops:
        value = points[:, iterators.index(bound.iterator)]
        real &= value >= affine_values(bound.start, iterators, points)
        real &= bound.scale * value < affine_values(bound.stop, iterators, points)
    for condition in statement.conditions:
        if isinstance(condition, Congruence):
            real &= affine_values(condition.form, iterators, points) % condition.modulus == 0
        else:
            real &= affine_values(condition, iterators, points) >= 0
    return real, points[real]


def tokens_at(presented: Ints, tokens: Ints, wanted: Ints) -> Ints:
    """Return the token presented in each wanted cycle, or one that matches nothing."""
    place = np.searchsorted(presented, wanted)
    inside = np.minimum(place, len(presented) - 1)
    return np.where(presented[inside] == wanted, tokens[inside], INITIAL - 1)
