"""Ports of memories: which loads share one, which stores collide, and versions for several stores.

Memory ports: which loads may share one, and which stores would collide.

The schedule is static, so the cycles in which a load needs a port, and of which bank, are an exact
set. Two loads share a read port when their sets are disjoint, or they are of one element where they
meet; the fewest ports are a colouring of the conflict graph. Through one write port stores must be
disjoint too, or the schedule must change.

Write ports: the versions of a bank that several statements store to in one cycle.

The schedule is static. Which store the value of a load comes from is known exactly, and with it
the version: that of the statement whose value it is, or for a value from before the run the home of
the element, the version in which the last run left it. Neither the versions nor the loads need any
bookkeeping in the circuit; a load compares its counters where its value may be in several versions.

Reference: memories with several write ports, live value tables: LaForest and Steffan, FPGA 2010.
Here the table is a predicate, and only the host needs one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl
import numpy as np
import rustworkx

from rtlgen.datapath.lags import Timing
from rtlgen.ir.affine import Affine
from rtlgen.ir.bank_addresses import bank_address
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.plan import InBank
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import Access, Array, Scop, Statement
from rtlgen.ir.sets import ScopSets, attempt
from rtlgen.memories.forwarding import IssueTimes, Routing
from rtlgen.memories.predicates import index_form
from rtlgen.poly.closed_extrema import extrema
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import listed_points, members

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


MAX_WRITE_PORTS = 8
"""Versions that an array in one piece may have."""

MAX_BANK_WRITE_PORTS = 4
"""Versions that each of several banks may have: there are more ports with more of these."""

MAX_BANKED_WORDS = 1 << 16
"""Elements of an array that may have several versions: its homes are a table."""


class NoVersions(Exception):
    """An array would need too many versions, or a load cannot tell which one it reads."""


@dataclass(frozen=True, slots=True)
class VersionMap:
    """Where stores go and loads find what they want.

    Members
    -------
    port: write port of every statement.
    write_ports: by array, where there is more than one.
    loaded: by (statement, read), the instances that load version 1, 2, ..; of such arrays.
    homes: by array, the version of every element between runs; of such arrays that are visible.
    """

    port: Mapping[str, int]
    write_ports: Mapping[str, int]
    loaded: Mapping[tuple[str, int], tuple[isl.Set, ...]]
    homes: Mapping[str, tuple[int, ...]]


def versioned_arrays(scop: Scop) -> frozenset[str]:
    """Return the arrays that may have several write ports: a RAM of the user's has one."""
    external = {array.name for array in scop.arrays if array.is_external}
    return followed_arrays(scop) - external


def followed_arrays(scop: Scop) -> frozenset[str]:
    """Return the arrays of whose values it is known who reads them: of a lookup nobody knows.

    Nor where a scatter stores, even if the iterators tell its element.
    """
    looked_up = {a.array for s in scop.statements for a in s.reads if a.is_uncertain}
    looked_up |= {s.write.array for s in scop.statements if s.is_scatter}
    return frozenset(
        array.name
        for array in scop.arrays
        if not array.is_register
        and not array.is_table
        and not array.is_stream
        and array.depth <= MAX_BANKED_WORDS
        and array.name not in looked_up
    )


def with_versions(timing: Timing) -> Timing:
    """Return the timing with stores to one array allowed to meet, wherever it may have versions."""
    return replace(timing, banked=versioned_arrays(timing.scop))


def assign_versions(timing: Timing, times: IssueTimes, routing: Routing) -> VersionMap:
    """Return the fewest versions in which no two stores meet.

    Raises
    ------
    NoVersions: an array needs too many.
    """
    scop = timing.scop
    port = {statement.name: 0 for statement in scop.statements}
    write_ports: dict[str, int] = {}
    homes: dict[str, tuple[int, ...]] = {}
    loaded: dict[tuple[str, int], tuple[isl.Set, ...]] = {}
    for array in scop.arrays:
        writers = [s.name for s in scop.statements if s.write.array == array.name]
        meetings = stores_meeting(timing, times, routing, writers)
        if not meetings:
            continue
        assert array.name in timing.banked, "stores to other arrays are kept apart"
        colour = _coloured(writers, meetings)
        count = max(colour.values()) + 1
        if count > (MAX_BANK_WRITE_PORTS if array.cuts else MAX_WRITE_PORTS):
            raise NoVersions(array.name)
        home, colour = _homes(timing, array, colour)
        port |= colour
        write_ports[array.name] = count
        if array.storage != "local":
            homes[array.name] = home if any(home) else ()
        loaded |= _loads(timing, routing, array, colour, count)
    return VersionMap(port, write_ports, loaded, homes)


def _coloured(names: Sequence[str], meetings: Sequence[tuple[str, str]]) -> dict[str, int]:
    graph: rustworkx.PyGraph[str, None] = rustworkx.PyGraph()
    node = dict(zip(names, graph.add_nodes_from(list(names)), strict=True))
    for a, b in meetings:
        graph.add_edge(node[a], node[b], None)
    colours = rustworkx.graph_greedy_color(graph)
    return {name: colours[node[name]] for name in names}


def _homes(
    timing: Timing, array: Array, colour: Mapping[str, int]
) -> tuple[tuple[int, ...], dict[str, int]]:
    """Return the home of every element, and the versions numbered so that most are at home in 0."""
    kept = _home_elements(timing, colour)
    stored = {bank: count_points(elements) for bank, elements in kept.items()}
    order = sorted(kept, key=lambda bank: (-stored[bank], bank))
    renumbered = {name: order.index(bank) for name, bank in colour.items()}
    home = np.zeros(array.depth, dtype=np.int64)
    # What is at home in version 0 need not be listed.
    for number, bank in enumerate(order[1:], start=1):
        places = listed_points(kept[bank])
        home[places @ np.array(array.strides, dtype=np.int64)] = number
    return tuple(home.tolist()), renumbered


def _loads(
    timing: Timing, routing: Routing, array: Array, bank: Mapping[str, int], count: int
) -> dict[tuple[str, int], tuple[isl.Set, ...]]:
    sets = timing.sets
    kept = {} if array.storage == "local" else _home_elements(timing, bank)
    found: dict[tuple[str, int], tuple[isl.Set, ...]] = {}
    for statement in sets.scop.statements:
        for read in timing.datapaths[statement.name].node_of_read:
            access = statement.reads[read]
            if access.array != array.name:
                continue
            left = routing.loaded[statement.name, read]
            parts = [left.subtract(left) for _ in range(count)]
            for flow in timing.dataflow.flows:
                if (flow.sink, flow.sink_read) == (statement.name, read):
                    fed = flow.relation.range().intersect(left)
                    parts[bank[flow.source]] = parts[bank[flow.source]].union(fed)
                    left = left.subtract(fed)
            elements = sets.access_map(statement, access).intersect_domain(left)
            for number, home in kept.items():
                parts[number] = parts[number].union(elements.intersect_range(home).domain())
            found[statement.name, read] = tuple(part.coalesce() for part in parts[1:])
    return found


def _home_elements(timing: Timing, bank: Mapping[str, int]) -> dict[int, isl.Set]:
    """Return the elements whose last store goes to each version."""
    sets: ScopSets = timing.sets
    found: dict[int, isl.Set] = {}
    for name, number in bank.items():
        write = sets.access_map(sets.scop.statement(name), sets.scop.statement(name).write)
        elements = write.intersect_domain(timing.dataflow.live_out[name]).range()
        found[number] = found[number].union(elements) if number in found else elements
    return found
