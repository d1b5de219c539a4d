"""Which instances of a read take their value from a store on its way, and which stores must happen.

A store in cycle c is visible to addresses presented after c. An instance whose value is used
too early for that takes it from the source's result instead, `delay` cycles after it was there: a
tap. An accumulator is the plainest case: it always reads what the iteration before has just
computed, only the first iteration of a sum reads the memory, and only the last must write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import islpy as isl
import numpy as np

from rtlgen.datapath.lags import FlowKey, Timing, flow_key
from rtlgen.ir.affine import Affine
from rtlgen.ir.ints import Ints
from rtlgen.memories.predicates import CounterSpace, described
from rtlgen.nests.candidates import Placement
from rtlgen.nests.precedence import ClosedPairs
from rtlgen.poly.closed_ranks import affine_function
from rtlgen.poly.dependences import Flow
from rtlgen.poly.instances import Pairs
from rtlgen.poly.polynomial import NoClosedForm


class Unforwardable(Exception):
    """A forwarding path would need a predicate that cannot be built: use the memory instead."""

    def __init__(self, flow: FlowKey) -> None:
        super().__init__(flow)
        self.flow = flow


AT_ONCE = Affine()
"""No cycles."""


@dataclass(frozen=True, slots=True)
class Issue:
    """When one statement issues: cycle = offset + ii * rank + later.

    Members
    -------
    later: of the iterators, what does not follow from the rank: lanes that run behind each other.
    """

    placement: Placement
    offset: int
    ii: int
    later: Affine = AT_ONCE

    def cycle(self, stage: int) -> Affine:
        """Return the cycle of a stage as a function of the iterators, for a box."""
        placed = self.placement
        assert placed.rank is not None, "a box has affine ranks"
        coefficients, constant = placed.rank
        terms = dict(zip(placed.iterators, (self.ii * c for c in coefficients), strict=True))
        for name, coefficient in self.later.terms:
            terms[name] = terms.get(name, 0) + coefficient
        return Affine.of(terms, self.ii * constant + self.later.constant + self.offset + stage)

    def cycle_function(self, context: isl.Context, stage: int) -> isl.PwQPolynomial:
        """Return the cycle of a stage as a function of the instances, in closed form."""
        ranks = self.placement.rank_function(context)
        start = affine_function(context, self._later, self.offset + stage)
        return ranks.scale_val(isl.Val(self.ii, context)).add(start)

    def cycles(self, points: Ints, stage: int) -> Ints:
        """Return the cycles of a stage of (n, iterators) instances."""
        ranks = self.placement.ranks(points) * self.ii + (self.offset + stage)
        return ranks + points @ np.array(self._later, dtype=np.int64) if self.later.terms else ranks

    @property
    def _later(self) -> list[int]:
        return [self.later.coefficient(name) for name in self.placement.iterators]


IssueTimes: TypeAlias = Mapping[str, Issue]


@dataclass(frozen=True, slots=True, eq=False)
class TapSet:
    """Instances of a read that take the value of `source`, `delay_cycles` after its result.

    Members
    -------
    lane: of the source, where that is known.
    is_matched: they do where the source has stored to the element that they look up.
    """

    flow: Flow
    delay_cycles: int
    instances: isl.Set
    lane: int = 0
    is_matched: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PassedSet:
    """Instances of a read that take what `source`, a read, has brought `delay_cycles` before."""

    source: tuple[str, int]
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
    passed: by (statement, read), what comes from other reads.
    """

    taps: Mapping[tuple[str, int], tuple[TapSet, ...]]
    loaded: Mapping[tuple[str, int], isl.Set]
    stored: Mapping[str, isl.Set]
    passed: Mapping[tuple[str, int], tuple[PassedSet, ...]] = field(default_factory=dict)


def route(timing: Timing, times: IssueTimes) -> Routing:
    """Return the routing of every read and store under the given issue times.

    More is loaded or stored than must be where the circuit could not tell what must: then each
    instance is, so that all who ask see the same loads and stores.

    Raises
    ------
    Unforwardable: see there.
    """
    spaces = {
        s.name: CounterSpace(timing.sets, s, times[s.name].placement.loops)
        for s in timing.scop.statements
    }
    taps: dict[tuple[str, int], tuple[TapSet, ...]] = {}
    loaded: dict[tuple[str, int], isl.Set] = {}
    stored = {
        s.name: timing.dataflow.outliving(timing.scop, s.name) for s in timing.scop.statements
    }
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
                if not tap.is_matched:
                    loaded[key] = loaded[key].subtract(tap.instances)
            loaded[key] = _tellable(timing, spaces[statement.name], statement.name, loaded[key])
            for flow in flows:
                through = flow.relation.intersect_range(loaded[key]).domain()
                stored[flow.source] = stored[flow.source].union(through)
    stored = timing.dataflow.with_scatters(timing.sets, stored)
    for name, instances in stored.items():
        stored[name] = _tellable(timing, spaces[name], name, instances.coalesce())
    return Routing(taps, loaded, stored)


def _tellable(timing: Timing, space: CounterSpace, name: str, instances: isl.Set) -> isl.Set:
    """Return the instances, or all of the statement where the circuit cannot tell these."""
    if instances.is_empty() or space.predicate(instances) is not None:
        return instances
    return timing.sets.domains[name]


def tap_sets(timing: Timing, source: Issue, sink: Issue, flow: Flow) -> list[TapSet]:
    """Return the instances that need the value of `flow` before the memory can give it.

    Raises
    ------
    Unforwardable: they cannot be told by a few comparisons.
    """
    if timing.is_matched(flow):
        return _matched_taps(timing, source, flow)
    if not timing.is_known(flow):
        return []
    ranked = source.placement.rank is not None and sink.placement.rank is not None
    if ranked and not timing.related.is_by_pairs(flow):
        return _symbolic_taps(timing, source, sink, flow)
    if not timing.related.is_listed:
        return _closed_taps(timing, source, sink, flow)
    pairs = timing.related.listed(flow)
    assert pairs is not None, "every flow has pairs"
    return _listed_taps(timing, source, sink, flow, pairs)


def _matched_taps(timing: Timing, issue: Issue, flow: Flow) -> list[TapSet]:
    """Return the delays in which an instance may present what the memory does not show yet."""
    datapath, domain = timing.datapaths[flow.sink], timing.sets.domains[flow.sink]
    lag = timing.forward_lag(flow)
    last = datapath.use_stage(flow.sink_read) - datapath.address_stage(flow.sink_read)
    # Instances of one stream are a multiple of the II apart, but for what some of them wait.
    step = 1 if issue.later.terms else issue.ii
    return [
        TapSet(flow, delay, domain, is_matched=True)
        for delay in range(max(0, 1 - lag), last + 1)
        if (delay + lag) % step == 0
    ]


def _symbolic_taps(timing: Timing, source: Issue, sink: Issue, flow: Flow) -> list[TapSet]:
    sets, scop = timing.sets, timing.scop
    first = timing.forward_lag(flow)
    issue = source.cycle(0)
    at_sink = sets.time_map(scop.statement(flow.sink), [sink.cycle(0)]).reverse()
    found = []
    # Issue distances below the memory's lag: the value is not there yet when its address is due.
    for distance in range(first, timing.memory_lag(flow)):
        at_source = sets.time_map(scop.statement(flow.source), [issue + distance])
        pairs = flow.relation.intersect(at_source.apply_range(at_sink))
        if not pairs.is_empty():
            found.append(TapSet(flow, distance - first, pairs.range().coalesce()))
    return found


def _closed_taps(timing: Timing, source: Issue, sink: Issue, flow: Flow) -> list[TapSet]:
    related = timing.related.of(flow)
    assert isinstance(related, ClosedPairs), "the program is not listed"
    first = timing.forward_lag(flow)
    distance = related.distance(source.placement, sink.placement, source.ii, sink.ii)
    shift = sink.offset - source.offset
    width = flow.relation.dim(isl.dim_type.in_)
    space = flow.relation.range().get_space()
    found = []
    for wanted in range(first, timing.memory_lag(flow)):
        # offset_sink + ii * rank(q) - (offset_source + ii * rank(p)) == wanted
        try:
            pairs = distance.at(shift - wanted)
        except NoClosedForm:
            raise Unforwardable(flow_key(flow)) from None
        if not pairs.is_empty():
            sinks = pairs.project_out(isl.dim_type.set, 0, width)
            own = isl.Set.universe(space)
            instances = isl.Map.from_domain_and_range(sinks, own)
            for k in range(space.dim(isl.dim_type.set)):
                instances = instances.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
            found.append(TapSet(flow, wanted - first, instances.range().coalesce()))
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
            instances = described(flow.relation, pairs, near, timing.instances.points(flow.sink))
            if instances is None:
                raise Unforwardable(flow_key(flow))
            found.append(TapSet(flow, distance - first, instances))
    return found
