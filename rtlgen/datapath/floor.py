"""How few cycles datapaths could take, if nothing but the data and their places were waited for.

The program is walked in its own order. An instance of a statement can be issued once the values
that it reads are there, each handed on in the very cycle in which it is ready for its store; its
*head* is the first such cycle. Its *tail* are the cycles from its issue to the end of the last
instance that depends on it. The longest head and tail together are the chain of latencies.

A stream issues one instance a cycle. Among unit jobs with heads and tails on one machine, issuing
the ready one with the longest tail is optimal, so what that order takes is a bound too, and one
that no other order of the instances, nest or shift could beat.

The floor of a program counts the order of accesses to one element, too: a store comes behind the
reads of what was there, and behind the store before it. The limit of a plan does not, since more
memory would dissolve that. Elements that depend on data, or that may lie outside of their array,
are left out of both.

Reference
---------
Jackson, Scheduling a production line to minimize maximum tardiness, 1955: the rule. Carlier, The
one-machine sequencing problem, 1982: heads and tails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from rtlgen.datapath.build import Datapath
from rtlgen.datapath.lags import Timing
from rtlgen.datapath.value_flows import FlowKind, TooManyIterations, ValueFlows, value_flows
from rtlgen.ir.ints import Ints
from rtlgen.ir.operations import ForwardOp, LoadOp
from rtlgen.ir.plan import KernelPlan, Stream
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets

MAX_ITERATIONS = 20_000
"""Iterations of loops up to which a search asks for the floor of a program: a tenth of a second."""


@dataclass(frozen=True, slots=True)
class DataflowLimit:
    """What a program takes at least, in cycles.

    Members
    -------
    instances: of the statement with the most, one a cycle, up to the end of the last.
    chain: of the longest chain of dependent instances.
    both: of the statement whose instances, one a cycle, each between its head and its tail, take
        longest. No smaller than the other two.
    """

    instances: int
    chain: int
    both: int


@dataclass(frozen=True, slots=True)
class Stages:
    """When values enter and leave a pipeline, in cycles from the issue of an instance.

    Members
    -------
    uses: by read, in which its value enters. result: in which the value of the instance is there.
    depth_cycles: up to its end.
    frees: by read, in which the value of another instance may be stored in the same place at the
        earliest. None: stores wait for nobody.
    """

    uses: Mapping[int, int]
    result: int
    depth_cycles: int
    frees: Mapping[int, int] | None = None

    @classmethod
    def of_stream(cls, stream: Stream) -> Stages:
        uses: dict[int, int] = {}
        for op in stream.operations:
            if isinstance(op, LoadOp | ForwardOp):
                uses[op.read] = max(uses.get(op.read, 0), op.result_stage)
        return cls(uses, stream.store.stage, stream.depth_cycles)

    @classmethod
    def of_datapath(cls, scop: Scop, statement: Statement, datapath: Datapath) -> Stages:
        uses = {read: datapath.use_stage(read) for read in datapath.node_of_read}
        # A store to a block RAM never meets a read of the element, one to a register may.
        waits = {r: not scop.array(statement.reads[r].array).is_register for r in uses}
        frees = {read: datapath.address_stage(read) + waits[read] for read in uses}
        return cls(uses, datapath.result_stage, datapath.result_stage + 1, frees)

    def lag(self, kind: FlowKind, source: Stages) -> int | None:
        """Return how many cycles behind an instance of `source` one of this statement comes.

        None: it waits for nothing.
        """
        if kind.is_value:
            assert kind.read is not None, "a value is read"
            return source.result - self.uses[kind.read] if kind.read in self.uses else None
        if source.frees is None:
            return None
        if kind.read is None:
            return source.result + 1 - self.result
        return source.frees[kind.read] - self.result if kind.read in source.frees else None


def limit_of_plan(scop: Scop, plan: KernelPlan) -> DataflowLimit:
    """Return the limit of a plan's datapaths.

    Parameters
    ----------
    scop: the program whose statements the streams are, in program order.
    """
    streams = {stream.statement: Stages.of_stream(stream) for stream in plan.streams}
    return dataflow_limit(value_flows(scop), streams)


def floor_cycles(timing: Timing, names: Sequence[str] | None = None) -> int:
    """Return the cycles that statements take at least, from the first issue to the last end.

    0: nobody has counted, since loops have too many iterations.

    Parameters
    ----------
    names: statements that are looked at by themselves; None: the whole program.
    """
    walked = timing.sets.once(_walked)
    if walked is None:
        return 0
    stages = {
        name: Stages.of_datapath(timing.scop, timing.scop.statement(name), timing.datapaths[name])
        for name in (timing.datapaths if names is None else names)
    }
    delays = _delays(walked.flows, stages)
    key = tuple(delays), tuple((name, of.depth_cycles) for name, of in stages.items())
    if key not in walked.limits:
        walked.limits[key] = _limit(walked.flows, stages, delays).both
    return walked.limits[key]


_Delays = Sequence[int | None]


@dataclass(frozen=True, slots=True, eq=False)
class _Walked:
    """The instances of a program, and the floors that are known of it."""

    flows: ValueFlows
    limits: dict[tuple[_Delays, Sequence[tuple[str, int]]], int]


def _walked(sets: ScopSets) -> _Walked | None:
    """Return the instances of a program; None: its loops have too many iterations."""
    with suppress(TooManyIterations):
        return _Walked(value_flows(sets.scop, MAX_ITERATIONS), {})
    return None


def dataflow_limit(flows: ValueFlows, stages: Mapping[str, Stages]) -> DataflowLimit:
    """Return the limit of pipelines through which values flow.

    Parameters
    ----------
    stages: of the statements that are looked at; nothing flows to others or from them.
    """
    return _limit(flows, stages, _delays(flows, stages))


def _delays(flows: ValueFlows, stages: Mapping[str, Stages]) -> _Delays:
    """Return how many cycles each kind of flow takes; None: nothing is waited for."""
    return [
        stages[kind.sink].lag(kind, stages[kind.source])
        if kind.source in stages and kind.sink in stages
        else None
        for kind in flows.kind_list
    ]


def _limit(flows: ValueFlows, stages: Mapping[str, Stages], delays: _Delays) -> DataflowLimit:
    waits = np.array([delay is not None for delay in delays], np.bool_)[flows.kinds]
    lags = np.array([delay or 0 for delay in delays], np.int64)[flows.kinds[waits]]
    pairs = (flows.sources[waits].tolist(), flows.sinks[waits].tolist(), lags.tolist())
    depths = np.zeros(flows.count, np.int64)
    for name, of in stages.items():
        depths[flows.numbers[name]] = of.depth_cycles
    heads, tails = _heads(*pairs, flows.count), _tails(*pairs, depths.tolist())
    jobs = {name: (heads[numbers], tails[numbers]) for name, numbers in flows.numbers.items()}
    jobs = {name: each for name, each in jobs.items() if name in stages}
    return DataflowLimit(
        instances=max(len(of) - 1 + stages[name].depth_cycles for name, (of, _) in jobs.items()),
        chain=max(int((head + tail).max()) for head, tail in jobs.values()),
        both=_longest(list(jobs.values())),
    )


def _heads(sources: Sequence[int], sinks: Sequence[int], lags: Sequence[int], count: int) -> Ints:
    """Return the first cycle in which each instance may be issued; flows are ordered by sinks."""
    # A value that is needed late would do for an instance issued before the kernel starts.
    heads = [0] * count
    for source, sink, lag in zip(sources, sinks, lags, strict=True):
        head = heads[source] + lag
        if head > heads[sink]:
            heads[sink] = head
    return np.array(heads, np.int64)


def _tails(
    sources: Sequence[int], sinks: Sequence[int], lags: Sequence[int], depths: list[int]
) -> Ints:
    """Return the cycles from the issue of each instance to the last end that depends on it."""
    tails = depths
    flows = zip(reversed(sources), reversed(sinks), reversed(lags), strict=True)
    for source, sink, lag in flows:
        tail = tails[sink] + lag
        if tail > tails[source]:
            tails[source] = tail
    return np.array(tails, np.int64)


def _longest(jobs: Sequence[tuple[Ints, Ints]]) -> int:
    """Return what the statement takes whose instances, one a cycle, take longest.

    Parameters
    ----------
    jobs: heads and tails of the instances of each statement.
    """
    longest = 0
    most = [int(heads.max()) + len(heads) - 1 + int(tails.max()) for heads, tails in jobs]
    for bound, (heads, tails) in sorted(zip(most, jobs, strict=True), key=lambda each: -each[0]):
        # One that cannot take longer in any order need not be looked at.
        if bound > longest:
            longest = one_a_cycle(heads, tails, longest)
    return longest


def one_a_cycle(heads: Ints, tails: Ints, least: int = 0) -> int:
    """Return the fewest cycles to the last end of jobs of which one a cycle is issued.

    Parameters
    ----------
    heads, tails: of each job the first cycle in which it may be issued, and the cycles from there
        to its end.
    least: what is returned where they take less.
    """
    order = np.lexsort((-tails, heads))
    heads, tails = heads[order], tails[order]
    places = np.arange(len(heads))
    # In whatever order those are issued that are ready, the same cycles are idle.
    issues = np.maximum.accumulate(heads - places) + places
    firsts = np.flatnonzero(np.diff(issues, prepend=-2) > 1)
    lasts = np.append(firsts[1:], len(issues))
    bounds = issues[lasts - 1] + np.maximum.reduceat(tails, firsts)
    for run in np.argsort(-bounds, kind="stable").tolist():
        if bounds[run] <= least:
            break
        of = slice(firsts[run], lasts[run])
        least = max(least, _in_turn(heads[of], tails[of], issues[of]))
    return least


def _in_turn(heads: Ints, tails: Ints, issues: Ints) -> int:
    """Return the last end of jobs, ordered by heads, that fill a number of cycles.

    Parameters
    ----------
    issues: the cycles in which one of them is issued.
    """
    if (np.diff(tails) <= 0).all() or (issues == heads).all():
        # The one that is ready first has the longest tail, or none else is ready.
        return int((issues + tails).max())
    waiting, ready, end = list(zip(heads.tolist(), tails.tolist(), strict=True)), list[int](), 0
    place = 0
    for cycle in issues.tolist():
        while place < len(waiting) and waiting[place][0] <= cycle:
            heappush(ready, -waiting[place][1])
            place += 1
        end = max(end, cycle - heappop(ready))
    return end
