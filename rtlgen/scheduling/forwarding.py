"""Which instances of a read take their value from a store on its way, and which stores must happen.

A store in cycle c is visible to addresses presented after c. An instance whose value is used
too early for that takes it from the source's result instead, `delay` cycles after it was there: a
tap. An accumulator is the plainest case: it always reads what the iteration before has just
computed, only the first iteration of a sum reads the memory, and only the last must write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TypeAlias

import islpy as isl
import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.sets import for_each, linear_constraint
from rtlgen.poly.dependences import Flow
from rtlgen.poly.instances import Pairs, members
from rtlgen.scheduling.lags import FlowKey, Timing, flow_key
from rtlgen.transforms.candidates import Placement

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


MAX_STEPS = 8
"""Steps between producer and consumer that one forwarding path may serve."""

MAX_OCTAGONS = 4
"""Octagons of instances on one forwarding path."""


class Unforwardable(Exception):
    """A forwarding path would need a predicate that cannot be built: use the memory instead."""

    def __init__(self, flow: FlowKey) -> None:
        super().__init__(flow)
        self.flow = flow


@dataclass(frozen=True, slots=True)
class Issue:
    """When one statement issues: cycle = offset + ii * rank."""

    placement: Placement
    offset: int
    ii: int

    def cycle(self, stage: int) -> Affine:
        """Return the cycle of a stage as a function of the iterators, for a box."""
        return self.placement.flat(0).rank * self.ii + (self.offset + stage)

    def cycles(self, points: Ints, stage: int) -> Ints:
        """Return the cycles of a stage of (n, iterators) instances."""
        return self.placement.ranks(points) * self.ii + (self.offset + stage)


IssueTimes: TypeAlias = Mapping[str, Issue]


@dataclass(frozen=True, slots=True, eq=False)
class TapSet:
    """Instances of a read that take the value of `source`, `delay_cycles` after its result."""

    flow: Flow
    delay_cycles: int
    instances: isl.Set


@dataclass(frozen=True, slots=True, eq=False)
class Routing:
    """How values travel.

    Members
    -------
    taps: by (statement, read).
    loaded: by (statement, read), the instances that need the memory's value.
    stored: by statement, the instances whose result must reach the memory.
    """

    taps: Mapping[tuple[str, int], tuple[TapSet, ...]]
    loaded: Mapping[tuple[str, int], isl.Set]
    stored: Mapping[str, isl.Set]


def route(timing: Timing, times: IssueTimes) -> Routing:
    """Return the routing of every read and store under the given issue times.

    Raises
    ------
    Unforwardable: see there.
    """
    taps: dict[tuple[str, int], tuple[TapSet, ...]] = {}
    loaded: dict[tuple[str, int], isl.Set] = {}
    stored = {s.name: outliving(timing, s.name) for s in timing.scop.statements}
    for statement in timing.scop.statements:
        for read in timing.datapaths[statement.name].node_of_read:
            key = (statement.name, read)
            flows = [f for f in timing.dataflow.flows if (f.sink, f.sink_read) == key]
            taps[key] = tuple(
                tap
                for flow in flows
                for tap in tap_sets(timing, times[flow.source], times[flow.sink], flow)
            )
            loaded[key] = timing.sets.accessing(statement, statement.reads[read])
            for tap in taps[key]:
                loaded[key] = loaded[key].subtract(tap.instances)
            for flow in flows:
                through = flow.relation.intersect_range(loaded[key]).domain()
                stored[flow.source] = stored[flow.source].union(through)
    return Routing(taps, loaded, {name: found.coalesce() for name, found in stored.items()})


def outliving(timing: Timing, name: str) -> isl.Set:
    """Return the instances of a statement whose value is there after the run."""
    scop = timing.scop
    array = scop.array(scop.statement(name).write.array)
    live = timing.dataflow.live_out[name]
    if array.storage == "local" and array.name != scop.returned:
        return live.subtract(live)
    return live


def tap_sets(timing: Timing, source: Issue, sink: Issue, flow: Flow) -> list[TapSet]:
    """Return the instances that need the value of `flow` before the memory can give it.

    Raises
    ------
    Unforwardable: they cannot be told by a few comparisons.
    """
    if timing.scop.statement(flow.sink).reads[flow.sink_read].is_uncertain:
        return []
    pairs = None
    if flow.source in timing.related.ragged or flow.sink in timing.related.ragged:
        pairs = timing.related.listed(flow)
        assert pairs is not None, "every flow has pairs"
    if pairs is None:
        return _symbolic_taps(timing, source, sink, flow)
    return _listed_taps(timing, source, sink, flow, pairs)


def _symbolic_taps(timing: Timing, source: Issue, sink: Issue, flow: Flow) -> list[TapSet]:
    sets, scop = timing.sets, timing.scop
    first = timing.forward_lag(flow)
    at_sink = sets.time_map(scop.statement(flow.sink), [sink.cycle(0)]).reverse()
    found = []
    # Issue distances below the memory's lag: the value is not there yet when its address is due.
    for distance in range(first, timing.memory_lag(flow)):
        at_source = sets.time_map(scop.statement(flow.source), [source.cycle(distance)])
        pairs = flow.relation.intersect(at_source.apply_range(at_sink))
        if not pairs.is_empty():
            found.append(TapSet(flow, distance - first, pairs.range().coalesce()))
    return found


def _listed_taps(
    timing: Timing, source: Issue, sink: Issue, flow: Flow, pairs: Pairs
) -> list[TapSet]:
    first = timing.forward_lag(flow)
    distances = sink.cycles(pairs.sinks, 0) - source.cycles(pairs.sources, 0)
    found = []
    for distance in range(first, timing.memory_lag(flow)):
        near = distances == distance
        if near.any():
            instances = _described(flow.relation.range(), pairs.sinks, near)
            if instances is None:
                instances = _described_by_steps(flow.relation, pairs, near)
            if instances is None:
                raise Unforwardable(flow_key(flow))
            found.append(TapSet(flow, distance - first, instances))
    return found


def _described(everywhere: isl.Set, points: Ints, chosen: Bools) -> isl.Set | None:
    """Return a set that holds just the chosen ones of `points`, all of which are in `everywhere`.

    Tried are whole pieces of `everywhere`, and the part of it inside of the chosen points'
    octagons.
    """
    if chosen.all():
        return everywhere
    found = everywhere.subtract(everywhere)
    covered = np.zeros(len(points), dtype=np.bool_)
    for piece in for_each(everywhere.make_disjoint().foreach_basic_set):
        whole = isl.Set.from_basic_set(piece)
        inside = members(whole, points)
        if inside.any() and not (inside & ~chosen).any():
            found = found.union(whole)
            covered |= inside
    if np.array_equal(covered, chosen):
        return found
    return _octagons(everywhere, points, chosen)


def _octagons(everywhere: isl.Set, points: Ints, chosen: Bools) -> isl.Set | None:
    """Return the part of `everywhere` that holds just the chosen points, cut out by octagons.

    One octagon, or up to `MAX_OCTAGONS`: one for each value, or for each run of neighbouring
    values, of an iterator or of a sum or difference of two.
    """
    found = _octagonal(everywhere, points, chosen)
    if found is not None:
        return found
    for form in _forms(points.shape[1]):
        values = points @ form
        for low, high in (_distinct(values[chosen]), _runs(values[chosen])):
            if not 1 < len(low) <= MAX_OCTAGONS:
                continue
            parts = [
                _octagonal(everywhere, points, chosen & (values >= a) & (values <= b))
                for a, b in zip(low, high, strict=True)
            ]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                return reduce(isl.Set.union, known)
    return None


def _forms(count: int) -> list[Ints]:
    """Return the linear forms whose bounds make an octagon."""
    units = np.eye(count, dtype=np.int64)
    pairs = list(combinations(units, 2))
    return [*units, *(a - b for a, b in pairs), *(a + b for a, b in pairs)]


def _distinct(values: Ints) -> tuple[Ints, Ints]:
    different = np.unique(values)
    return different, different


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last of each run of consecutive values."""
    different = np.unique(values)
    ends = np.flatnonzero(np.diff(different) > 1)
    return different[[0, *(ends + 1)]], different[[*ends, -1]]


def _octagonal(everywhere: isl.Set, points: Ints, chosen: Bools) -> isl.Set | None:
    """Return the part of `everywhere` that holds just the chosen points, cut out by an octagon.

    A bound that leaves no point out is left out itself.
    """
    found, covered = everywhere, np.ones(len(points), dtype=np.bool_)
    for form in _forms(points.shape[1]):
        values = points @ form
        least, most = int(values[chosen].min()), int(values[chosen].max())
        inside = (values >= least) & (values <= most)
        if (covered & ~inside).any():
            found = _between(found, form.tolist(), least, most)
            covered &= inside
    return found if np.array_equal(covered, chosen) else None


def _between(instances: isl.Set, form: list[int], least: int, most: int) -> isl.Set:
    """Return the instances for which a linear form of the iterators lies between two values."""
    space = instances.get_space()
    low = linear_constraint(space, form, -least)
    high = linear_constraint(space, [-coefficient for coefficient in form], most)
    return instances.add_constraint(low).add_constraint(high)


def _described_by_steps(relation: isl.Map, pairs: Pairs, chosen: Bools) -> isl.Set | None:
    """Return a set that holds just the sinks of the chosen pairs, or None.

    Tried are, for every step between chosen ones, all pairs that are this step apart, and octagons
    of them.
    """
    if pairs.sources.shape != pairs.sinks.shape:
        return None
    steps = pairs.sinks - pairs.sources
    wanted = np.unique(steps[chosen], axis=0)
    if len(wanted) > MAX_STEPS:
        return None
    found = relation.range().subtract(relation.range())
    for step in wanted:
        alike = (steps == step).all(axis=1)
        same = relation
        for k, distance in enumerate(step.tolist()):
            same = same.intersect(_step(relation.get_space(), k, distance))
        every = bool(chosen[alike].all())
        part = same.range() if every else _octagons(same.range(), pairs.sinks[alike], chosen[alike])
        if part is None:
            return None
        found = found.union(part)
    return found.coalesce()


def _step(space: isl.Space, dimension: int, distance: int) -> isl.Map:
    """Return {source -> sink : sink_k == source_k + distance}."""
    step = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(space))
    step = step.set_coefficient_val(isl.dim_type.out, dimension, -1)
    step = step.set_coefficient_val(isl.dim_type.in_, dimension, 1)
    return isl.Map.universe(space).add_constraint(step.set_constant_val(distance))
