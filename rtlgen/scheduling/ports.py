"""Memory ports: which loads may share one, and which stores would collide.

The schedule is static, so the cycles in which a load needs a port, and of which bank, are an exact
set. Two loads share a read port when their sets are disjoint, or they are of one element where they
meet; the fewest ports are a colouring of the conflict graph. Through one write port stores must be
disjoint too, or the schedule must change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl
import numpy as np
import rustworkx

from rtlgen.ir.affine import Affine
from rtlgen.ir.bank_addresses import bank_address
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.plan import InBank
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import attempt
from rtlgen.poly.closed_extrema import extrema
from rtlgen.poly.instances import members
from rtlgen.scheduling.forwarding import IssueTimes, Routing
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.predicates import index_form

MAX_SHARING_OPERATIONS = 1_000_000
"""Of isl, for the question whether two loads are of one element wherever they meet."""


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
    """When an access uses a port of which bank: a set, a list, or a function of instances.

    Members
    -------
    cycles: a set of (cycle, digits of the bank) for boxes; for ragged nests a list of numbers, one
        for each cycle and bank.
    user, instances, function: in place of the cycles, where there are too many to be listed: who
        uses it, when in its own pipeline, and the cycle as a function of the instances.
    nest, places: likewise the loops and when they start, by whatever names, and where in them the
        instances run.
    bank: likewise the one bank that is used, or None where there may be several.
    elements: of an access that is known beforehand, what it touches: a relation from the set, or a
        list beside the list.
    """

    cycles: isl.Set | Ints | None
    user: tuple[str, int]
    instances: isl.Set
    function: isl.PwQPolynomial | None = None
    nest: _SharedNest | None = None
    places: isl.Set | None = None
    bank: int | None = None
    elements: isl.Map | Ints | None = None

    def meets(self, other: Busy) -> bool:
        """Tell whether both use some bank in some cycle; both are of the same form.

        Of functions it is assumed where the times from the first to the last use overlap, but for
        statements that are in step in one nest: these meet where they share an iteration.
        """
        if self.function is not None and other.function is not None:
            keep_going(self.instances.get_ctx())
            return self._may_meet(self.function, other, other.function)
        if isinstance(self.cycles, isl.Set):
            keep_going(self.instances.get_ctx())
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
        if None not in (self.bank, other.bank) and self.bank != other.bank:
            return False
        if self.nest == other.nest and self.places is not None and other.places is not None:
            return not self.places.is_disjoint(other.places)
        (first, last), (begin, end) = (
            extrema(function, self.instances),
            extrema(later, other.instances),
        )
        return first <= end and begin <= last

    def differs(self, other: Busy) -> bool:
        """Tell whether two accesses that meet are of different elements somewhere, or may be."""
        mine, others = self.elements, other.elements
        if isinstance(mine, isl.Map) and isinstance(others, isl.Map):
            return _is_some_pair_different(mine, others)
        if isinstance(mine, np.ndarray) and isinstance(others, np.ndarray):
            assert isinstance(self.cycles, np.ndarray) and isinstance(other.cycles, np.ndarray)
            _, here, there = np.intersect1d(self.cycles, other.cycles, return_indices=True)
            return bool((mine[here] != others[there]).any())
        return True


def _is_some_pair_different(mine: isl.Map, others: isl.Map) -> bool:
    """Tell whether what two relations give for one point differs somewhere, or may."""

    def compute() -> bool:
        pairs = mine.reverse().apply_range(others)
        return not pairs.is_subset(isl.Map.identity(pairs.get_space()))

    found = attempt(mine.get_ctx(), MAX_SHARING_OPERATIONS, compute)
    return True if found is None else found


def busy_cycles(
    timing: Timing,
    times: IssueTimes,
    statement: str,
    access: Access,
    stage: int,
    instances: isl.Set,
) -> Busy:
    """Return when `instances` of a statement are in `stage`, and which bank `access` then needs."""
    issue, user = times[statement], (statement, stage)
    own = timing.scop.statement(statement)
    if timing.related.ragged and not timing.related.is_listed:
        function = issue.cycle_function(instances.get_ctx(), stage)
        loops = issue.placement.loops
        places = timing.sets.place_map(own, [loop.place for loop in loops])
        nest = _SharedNest.of(loops, issue.ii, issue.offset + stage)
        return Busy(
            cycles=None,
            user=user,
            instances=instances,
            function=function,
            nest=nest,
            places=places.intersect_domain(instances).range(),
            bank=only_bank(timing.scop, access, loops),
        )
    if timing.related.ragged:
        points = timing.instances.points(statement)
        points = points[members(instances, points)]
        cycles = issue.cycles(points, stage)
        if access.is_uncertain or access.is_lookup:
            return Busy(cycles, user, instances)
        banks, count = banks_at(timing.scop, own, access, points), bank_count(timing.scop, access)
        strides = timing.scop.array(access.array).strides
        subscripts = (affine_values(s, own.iterators, points) for s in access.affine)
        numbers = np.zeros(len(points), dtype=np.int64)
        for value, stride in zip(subscripts, strides, strict=True):
            numbers += value * stride
        return Busy(cycles * count + banks, user, instances, elements=numbers)
    cycle = timing.sets.time_map(own, [issue.cycle(stage)])
    if timing.scop.array(access.array).cuts:
        cycle = cycle.flat_range_product(timing.sets.bank_map(own, access))
    elements = None
    if not access.is_lookup:
        touched = timing.sets.access_map(own, access).intersect_domain(instances)
        elements = cycle.reverse().apply_range(touched)
    return Busy(instances.apply(cycle), user, instances, elements=elements)


def bank_count(scop: Scop, access: Access) -> int:
    """Return the number of banks of the array that an access is to."""
    return scop.array(access.array).bank_map.banks


def banks_at(scop: Scop, statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the bank that an access with affine subscripts is to at each of (n, iterators) points.

    Outside of the array, where the access is not made, it is the one of an element inside.
    """
    array = scop.array(access.array)
    if not array.cuts:
        return np.zeros(len(points), dtype=np.int64)
    subscripts = [
        np.clip(affine_values(subscript, statement.iterators, points), 0, extent - 1)
        for subscript, extent in zip(access.affine, array.shape, strict=True)
    ]
    return array.bank_map.of_subscripts(subscripts)[0]


def only_bank(scop: Scop, access: Access, loops: Sequence[NestLoop]) -> int | None:
    """Return the bank that an access is to in all iterations of some loops, if there is but one."""
    array = scop.array(access.array)
    if access.is_lookup:
        return None
    subscripts = [index_form(subscript, loops) for subscript in access.affine]
    found = bank_address(array.bank_map, subscripts, [loop.extent for loop in loops])
    return found.bank if isinstance(found, InBank) else None


def assign_read_ports(timing: Timing, times: IssueTimes, routing: Routing) -> PortMap:
    """Return ports such that no two needed loads use one of a bank in the same cycle.

    Loads of one element may: a lane that wants the word of another one takes it from there.
    """
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
                    statement.reads[read],
                    datapath.starts[node],
                    routing.loaded[statement.name, read],
                )
    port: dict[tuple[str, int], int] = {}
    read_ports = {array.name: 1 for array in timing.scop.arrays}
    for array, keys in loads.items():
        found = colours([cycles[key] for key in keys])
        port |= dict(zip(keys, found, strict=True))
        read_ports[array] = max(found) + 1
    return PortMap(port, read_ports)


def colours(cycles: Sequence[Busy]) -> list[int]:
    """Return a port for each of some loads: of another one for those that meet and differ."""
    graph: rustworkx.PyGraph[int, None] = rustworkx.PyGraph()
    graph.add_nodes_from(list(range(len(cycles))))
    for a, b in combinations(range(len(cycles)), 2):
        if cycles[a].meets(cycles[b]) and cycles[a].differs(cycles[b]):
            graph.add_edge(a, b, None)
    found = rustworkx.graph_greedy_color(graph)
    return [found[n] for n in range(len(cycles))]


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
            timing,
            times,
            name,
            timing.scop.statement(name).write,
            timing.datapaths[name].result_stage,
            routing.stored[name],
        )
        for name in names
    }
    return [(a, b) for a, b in combinations(names, 2) if busy[a].meets(busy[b])]
