"""Which instances of a read take their value from a store on its way, and which stores must happen.

A store in cycle c is visible to addresses presented after c. An instance whose value is used
too early for that takes it from the source's result instead, `delay` cycles after it was there: a
tap. An accumulator is the plainest case: it always reads what the iteration before has just
computed, only the first iteration of a sum reads the memory, and only the last must write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import Statement
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.lags import Timing


@dataclass(frozen=True, slots=True)
class IssueTimes:
    """When every statement issues: cycle = offset + ii * rank."""

    loops: Mapping[str, tuple[NestLoop, ...]]
    offsets: Mapping[str, int]
    iis: Mapping[str, int]

    def cycle(self, statement: str, stage: int) -> Affine:
        """Return the region cycle of a stage as a function of the iterators."""
        rank = FlatDim(self.loops[statement]).rank
        return rank * self.iis[statement] + (self.offsets[statement] + stage)


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
    """Return the routing of every read and store under the given issue times."""
    taps: dict[tuple[str, int], tuple[TapSet, ...]] = {}
    loaded: dict[tuple[str, int], isl.Set] = {}
    stored = {s.name: _outliving(timing, s) for s in timing.scop.statements}
    for statement in timing.scop.statements:
        for read in timing.datapaths[statement.name].node_of_read:
            key = (statement.name, read)
            flows = [f for f in timing.dataflow.flows if (f.sink, f.sink_read) == key]
            taps[key] = tuple(tap for flow in flows for tap in _taps(timing, times, flow))
            loaded[key] = timing.sets.domains[statement.name]
            for tap in taps[key]:
                loaded[key] = loaded[key].subtract(tap.instances)
            for flow in flows:
                through = flow.relation.intersect_range(loaded[key]).domain()
                stored[flow.source] = stored[flow.source].union(through)
    return Routing(taps, loaded, {name: found.coalesce() for name, found in stored.items()})


def _outliving(timing: Timing, statement: Statement) -> isl.Set:
    scop = timing.scop
    array = scop.array(statement.write.array)
    live = timing.dataflow.live_out[statement.name]
    if array.storage == "local" and array.name != scop.returned:
        return live.subtract(live)
    return live


def _taps(timing: Timing, times: IssueTimes, flow: Flow) -> list[TapSet]:
    sets, scop = timing.sets, timing.scop
    first = timing.forward_lag(flow)
    found = []
    # Issue distances below the memory's lag: the value is not there yet when its address is due.
    for distance in range(first, timing.memory_lag(flow)):
        at_source = times.cycle(flow.source, distance)
        at_sink = times.cycle(flow.sink, 0)
        source = sets.time_map(scop.statement(flow.source), [at_source])
        sink = sets.time_map(scop.statement(flow.sink), [at_sink])
        pairs = flow.relation.intersect(source.apply_range(sink.reverse()))
        if not pairs.is_empty():
            found.append(TapSet(flow, distance - first, pairs.range().coalesce()))
    return found
