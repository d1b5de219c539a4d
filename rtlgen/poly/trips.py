"""How often every loop of a program is reached, and how many iterations it then has.

A loop with constant bounds is counted by arithmetic. For any other one isl counts the points
(outer iterations, k) for which iteration k of the loop is still within its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from rtlgen.ir.affine import Affine, Constraint
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, StatementNode
from rtlgen.ir.sets import ScopSets, constraint_text, integer, latest
from rtlgen.poly.counting import count_points


@dataclass(frozen=True, slots=True)
class LoopTrips:
    """Trip counts of one loop.

    Members
    -------
    entries: how often it is reached; entered: how often of these it has an iteration.
    least, most: the smallest and the largest number of iterations of one entry.
    total: iterations of all entries.
    """

    entries: int
    entered: int
    least: int
    most: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.entered <= self.entries or not 0 <= self.least <= self.most:
            raise ValueError(f"no trip counts: {self}")

    @property
    def is_constant(self) -> bool:
        return self.least == self.most

    @property
    def average(self) -> float:
        return self.total / self.entries if self.entries else 0.0


def loop_trips(sets: ScopSets) -> tuple[LoopTrips, ...]:
    """Return the trip counts of every loop of the tree, in program order, an outer one first.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    found: list[LoopTrips] = []
    with limited_effort("its trip counts"):
        _visit(sets.scop.tree, _Around(sets), found)
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The iterations around a place of the tree.

    Members
    -------
    counters: 0-based iteration numbers of the loops around it, outermost first.
    values: the C iterators as functions of them. conditions: what holds there.
    count: number of these iterations.
    """

    sets: ScopSets
    counters: tuple[str, ...] = ()
    values: Mapping[str, Affine] = field(default_factory=dict)
    conditions: tuple[Constraint, ...] = ()
    count: int = 1

    def points(self, counters: Sequence[str], conditions: Sequence[Constraint]) -> isl.Set:
        """Return {[counters]} that satisfy what holds here and `conditions`."""
        dims = ",".join(f"d{k}" for k in range(len(counters)))
        parts = [constraint_text(c, counters) for c in (*self.conditions, *conditions)]
        return self.sets.read_set(f"{{ [{dims}] : {' and '.join(parts) or 'true'} }}")


def _visit(nodes: Sequence[Node], around: _Around, found: list[LoopTrips]) -> None:
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                _visit(body, _entered(loop, around, found), found)
            case ConditionNode(conditions, body):
                given = tuple(c.substitute(around.values) for c in conditions)
                count = count_points(around.points(around.counters, given))
                inside = (*around.conditions, *given)
                _visit(
                    body,
                    _Around(around.sets, around.counters, around.values, inside, count),
                    found,
                )
            case StatementNode():
                pass


def _entered(loop: Loop, around: _Around, found: list[LoopTrips]) -> _Around:
    """Append the trips of a loop, and return what is around its body."""
    counter = f"k{len(around.counters):03d}"
    value = loop.start.substitute(around.values) + Affine.variable(counter) * loop.step
    values = {**around.values, loop.iterator: value}
    stop = loop.stop.substitute(around.values)
    left = stop - value * loop.scale if loop.step > 0 else value * loop.scale - stop
    holds = (left - 1, *(limit.substitute(values) for limit in loop.limits))
    counters = (*around.counters, counter)
    if all(bound.variables <= {counter} for bound in holds):
        trips = _constant(holds, counter, around.count)
    else:
        trips = _counted(around, counters, (*holds, Affine.variable(counter)))
    found.append(trips)
    conditions = (*around.conditions, *holds, Affine.variable(counter))
    return _Around(around.sets, counters, values, conditions, trips.total)


def _constant(holds: Sequence[Affine], counter: str, entries: int) -> LoopTrips:
    """Return the trips of a loop that has the same number of them in every entry."""
    if not entries:
        return LoopTrips(0, 0, 0, 0, 0)
    trips = None
    for bound in holds:
        slope = -bound.coefficient(counter)
        if slope > 0:
            last = bound.constant // slope
            trips = last + 1 if trips is None else min(trips, last + 1)
        elif bound.constant < 0:
            trips = 0
    assert trips is not None, "every loop comes to its end"
    trips = max(0, trips)
    return LoopTrips(entries, entries if trips else 0, trips, trips, entries * trips)


def _counted(around: _Around, counters: Sequence[str], holds: Sequence[Affine]) -> LoopTrips:
    points = around.points(counters, holds)
    total = count_points(points)
    if not total:
        return LoopTrips(around.count, 0, 0, 0, 0)
    entered = count_points(around.points(counters, (*holds, -Affine.variable(counters[-1]))))
    last = len(counters) - 1
    most = integer(points.dim_max_val(last)) + 1
    least = 0
    if entered == around.count:
        runs = isl.Map.from_range(points).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, last)
        least = integer(latest(runs).range().dim_min_val(0)) + 1
    return LoopTrips(around.count, entered, least, most, total)
