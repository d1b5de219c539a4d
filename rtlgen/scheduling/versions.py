"""Write ports: the versions of a bank that several statements store to in one cycle.

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

import islpy as isl
import numpy as np
import rustworkx

from rtlgen.ir.scop import Array, Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.counting import count_points
from rtlgen.poly.listing import listed_points
from rtlgen.scheduling.forwarding import IssueTimes, Routing
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.ports import stores_meeting

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
