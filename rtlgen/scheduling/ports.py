"""Memory ports: which loads may share one, and which stores would collide.

The schedule is static, so the cycles in which a load needs its port are an exact set. Two loads
share a read port when their sets are disjoint; the fewest ports are a colouring of the conflict
graph. Through one write port stores must be disjoint too, or the schedule must change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl
import numpy as np
import rustworkx
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.poly.closed_extrema import extrema
from rtlgen.poly.instances import members
from rtlgen.scheduling.forwarding import IssueTimes, Routing
from rtlgen.scheduling.lags import Timing

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PortMap:
    """Members: port of every (statement, load node), and number of read ports of every array."""

    port: Mapping[tuple[str, int], int]
    read_ports: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _SharedNest:
    """Loops with their counters by number, II, and the first cycle of some use."""

    loops: tuple[NestLoop, ...]
    ii: int
    start: int

    @staticmethod
    def of(loops: Sequence[NestLoop], ii: int, start: int) -> _SharedNest:
        """Return loops in the names that those of all statements in them have in common."""
        names = {loop.counter: f"c{n}" for n, loop in enumerate(loops) if loop.counter is not None}
        values = {name: Affine.variable(number) for name, number in names.items()}

        def renamed(bounds: Sequence[Bound]) -> tuple[Bound, ...]:
            return tuple(replace(bound, form=bound.form.substitute(values)) for bound in bounds)

        shared = tuple(
            replace(
                loop,
                iterator=names.get(loop.counter or ""),
                lowers=renamed(loop.lowers),
                uppers=renamed(loop.uppers),
                pad=None,
                pinned=(),
            )
            for loop in loops
        )
        return _SharedNest(shared, ii, start)


@dataclass(frozen=True, slots=True, eq=False)
class Busy:
    """The cycles in which a port is used: a set, a list, or a function of instances.

    Members
    -------
    cycles: a set for boxes; a list for ragged nests.
    user, instances, function: in place of the cycles, where there are too many to be listed: who
        uses it, when in its own pipeline, and the cycle as a function of the instances.
    nest, places: likewise the loops and when they start, by whatever names, and where in them the
        instances run.
    """

    cycles: isl.Set | Ints | None
    user: tuple[str, int]
    instances: isl.Set
    function: isl.PwQPolynomial | None = None
    nest: _SharedNest | None = None
    places: isl.Set | None = None

    def meets(self, other: Busy) -> bool:
        """Tell whether both use some cycle; both are of the same form.

        Of functions it is assumed where the times from the first to the last use overlap, but for
        statements that are in step in one nest: these meet where they share an iteration.
        """
        if self.function is not None and other.function is not None:
            return self._may_meet(self.function, other, other.function)
        if isinstance(self.cycles, isl.Set):
            assert isinstance(other.cycles, isl.Set)
            return not self.cycles.is_disjoint(other.cycles)
        assert isinstance(self.cycles, np.ndarray) and isinstance(other.cycles, np.ndarray)
        return bool(np.intersect1d(self.cycles, other.cycles).size)

    def _may_meet(self, function: isl.PwQPolynomial, other: Busy, later: isl.PwQPolynomial) -> bool:
        if self.user == other.user:
            # No two instances of a statement are issued in one cycle.
            return not self.instances.is_disjoint(other.instances)
        if self.instances.is_empty() or other.instances.is_empty():
            return False
        if self.nest == other.nest and self.places is not None and other.places is not None:
            return not self.places.is_disjoint(other.places)
        (first, last), (begin, end) = (
            extrema(function, self.instances),
            extrema(later, other.instances),
        )
        return first <= end and begin <= last


def busy_cycles(
    timing: Timing, times: IssueTimes, statement: str, stage: int, instances: isl.Set
) -> Busy:
    """Return the region cycles in which `instances` of a statement are in `stage`."""
    issue, user = times[statement], (statement, stage)
    if timing.related.ragged and not timing.related.is_listed:
        function = issue.cycle_function(instances.get_ctx(), stage)
        loops, own = issue.placement.loops, timing.scop.statement(statement)
        places = timing.sets.place_map(own, [loop.place for loop in loops])
        nest = _SharedNest.of(loops, issue.ii, issue.offset + stage)
        return Busy(
            None, user, instances, function, nest, places.intersect_domain(instances).range()
        )
    if timing.related.ragged:
        points = timing.instances.points(statement)
        cycles = issue.cycles(points[members(instances, points)], stage)
        return Busy(cycles, user, instances)
    cycle = timing.sets.time_map(timing.scop.statement(statement), [issue.cycle(stage)])
    return Busy(instances.apply(cycle), user, instances)


def assign_read_ports(timing: Timing, times: IssueTimes, routing: Routing) -> PortMap:
    """Return ports such that no two needed loads use one in the same cycle."""
    loads: dict[str, list[tuple[str, int]]] = {}
    cycles: dict[tuple[str, int], Busy] = {}
    for statement in timing.scop.statements:
        datapath = timing.datapaths[statement.name]
        for read, node in datapath.node_of_read.items():
            key = (statement.name, node)
            loads.setdefault(statement.reads[read].array, [])
            if key not in cycles:
                loads[statement.reads[read].array].append(key)
                cycles[key] = busy_cycles(
                    timing,
                    times,
                    statement.name,
                    datapath.starts[node],
                    routing.loaded[statement.name, read],
                )
    port: dict[tuple[str, int], int] = {}
    read_ports = {array.name: 1 for array in timing.scop.arrays}
    for array, keys in loads.items():
        colours = _colours([cycles[key] for key in keys])
        port |= dict(zip(keys, colours, strict=True))
        read_ports[array] = max(colours) + 1
    return PortMap(port, read_ports)


def _colours(cycles: Sequence[Busy]) -> list[int]:
    graph: rustworkx.PyGraph[int, None] = rustworkx.PyGraph()
    graph.add_nodes_from(list(range(len(cycles))))
    for a, b in combinations(range(len(cycles)), 2):
        if cycles[a].meets(cycles[b]):
            graph.add_edge(a, b, None)
    colours = rustworkx.graph_greedy_color(graph)
    return [colours[n] for n in range(len(cycles))]


def store_conflicts(timing: Timing, times: IssueTimes, routing: Routing) -> list[tuple[str, str]]:
    """Return all pairs of statements whose stores meet in some cycle and may not."""
    writers: dict[str, list[str]] = {}
    for statement in timing.scop.statements:
        if statement.write.array not in timing.banked:
            writers.setdefault(statement.write.array, []).append(statement.name)
    return [
        pair for names in writers.values() for pair in stores_meeting(timing, times, routing, names)
    ]


def stores_meeting(
    timing: Timing, times: IssueTimes, routing: Routing, names: Sequence[str]
) -> list[tuple[str, str]]:
    """Return all pairs of the given statements whose stores meet in some cycle."""
    if len(names) < 2:
        return []
    busy = {
        name: busy_cycles(
            timing, times, name, timing.datapaths[name].result_stage, routing.stored[name]
        )
        for name in names
    }
    return [(a, b) for a, b in combinations(names, 2) if busy[a].meets(busy[b])]
