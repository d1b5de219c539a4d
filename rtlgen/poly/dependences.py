"""Exact dependences of a Scop: memory-based ones for legality, value-based flows for hardware.

A memory-based dependence relates every two instances that touch the same element, at least one of
them writing, in program order. Of a stream it relates the accesses to neighbouring elements, which
come one after the other. A value-based flow relates a read to the one write whose value it gets
(Feautrier, "Dataflow analysis of array and scalar references", IJPP 1991).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import islpy as isl

from rtlgen.ir.effort import TooComplex, keep_going, limited_effort
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import ScopSets, for_each
from rtlgen.poly.factors import widest_factor
from rtlgen.poly.last_writes import LastWrites
from rtlgen.poly.listed_flows import listed_flows

DependenceKind: TypeAlias = Literal["flow", "anti", "output", "order"]


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """All pairs of instances that must stay in order because of one pair of accesses.

    Members
    -------
    source, sink: statement names; source_access, sink_access: what they touch.
    source_read, sink_read: index into the statement's reads, or None for its write.
    relation: {source instance -> sink instance}, not empty.
    """

    kind: DependenceKind
    source: str
    sink: str
    source_access: Access
    sink_access: Access
    source_read: int | None
    sink_read: int | None
    relation: isl.Map

    @property
    def array(self) -> str:
        return self.source_access.array


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The instances of one read that get their value from one statement.

    Members
    -------
    relation: {writing instance -> reading instance}, one writing instance for each reading one. A
        lookup may get its value from the last writer of every element in its windows.
    """

    source: str
    sink: str
    sink_read: int
    relation: isl.Map


@dataclass(frozen=True, slots=True, eq=False)
class Dataflow:
    """Where every read gets its value from, and which writes outlive the program.

    Members
    -------
    flows: by sink, in program order.
    live_out: statement -> instances whose value is in the memory at the end (of any array).
    """

    flows: tuple[Flow, ...]
    live_out: dict[str, isl.Set]

    def outliving(self, scop: Scop, statement: str) -> isl.Set:
        """Return the instances of a statement whose value is there for others after the run."""
        array = scop.array(scop.statement(statement).write.array)
        live = self.live_out[statement]
        if array.storage == "local" and array.name != scop.returned:
            return live.subtract(live)
        return live

    def with_scatters(self, sets: ScopSets, stored: Mapping[str, isl.Set]) -> dict[str, isl.Set]:
        """Return the instances whose value a memory needs, with those that scatters ask for.

        What follows a scatter may see its value, or what was there before, in any element.
        """
        found = dict(stored)
        for statement in sets.scop.statements:
            if statement.is_scatter and statement.name in found:
                found[statement.name] = sets.domains[statement.name]
                for flow in self.flows:
                    if (flow.sink, flow.sink_read) == (statement.name, statement.old_read):
                        left_alone = flow.relation.domain()
                        found[flow.source] = found[flow.source].union(left_alone)
        return found

    def unfed(self, sets: ScopSets, statement: str, read: int) -> isl.Set:
        """Return the instances of a read whose element no statement has written before."""
        left = sets.domains[statement]
        for flow in self.flows:
            if (flow.sink, flow.sink_read) == (statement, read):
                left = left.subtract(flow.relation.range())
        return left


def memory_dependences(sets: ScopSets) -> tuple[Dependence, ...]:
    """Return every memory-based dependence of the Scop under its schedule.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its dependences"):
        scop = sets.scop
        times = sets.schedule_maps(scop.schedule)
        touches = {s.name: _touches(sets, s) for s in scop.statements}
        found: list[Dependence] = []
        for source in scop.statements:
            for sink in scop.statements:
                pairs = [
                    (first, second)
                    for first in touches[source.name]
                    for second in touches[sink.name]
                    if first.access.array == second.access.array
                    and (
                        first.read is None
                        or second.read is None
                        or scop.array(first.access.array).is_stream
                    )
                ]
                if pairs:
                    keep_going(sets.context)
                    earlier = times[source.name].lex_lt_map(times[sink.name])
                    found += _between(sets, source.name, sink.name, pairs, earlier)
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Touch:
    """{instance -> element} of an access: of read number `read`, or of the write."""

    access: Access
    read: int | None
    elements: isl.Map


def _touches(sets: ScopSets, statement: Statement) -> list[_Touch]:
    accesses = [(None, statement.write), *enumerate(statement.reads)]
    return [_Touch(access, k, sets.access_map(statement, access)) for k, access in accesses]


def _between(
    sets: ScopSets,
    source: str,
    sink: str,
    pairs: Sequence[tuple[_Touch, _Touch]],
    earlier: isl.Map,
) -> list[Dependence]:
    found = []
    for first, second in pairs:
        keep_going(earlier.get_ctx())
        array = sets.scop.array(first.access.array)
        touched = first.elements
        if array.is_stream:
            touched = touched.apply_range(sets.next_element_map(array))
        relation = touched.apply_range(second.elements.reverse()).intersect(earlier).coalesce()
        if relation.is_empty():
            continue
        kind: DependenceKind = "flow" if first.read is None else "anti"
        if first.read is None and second.read is None:
            kind = "output"
        if array.is_stream:
            kind = "order"
        found.append(
            Dependence(
                kind,
                source,
                sink,
                first.access,
                second.access,
                first.read,
                second.read,
                relation,
            )
        )
    return found


def dataflow(sets: ScopSets) -> Dataflow:
    """Return the value-based flows and the live-out writes of the Scop under its schedule.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    return sets.once(_dataflow)


def _dataflow(sets: ScopSets) -> Dataflow:
    subject = "the flow of its values"
    try:
        with limited_effort(subject):
            return _related_values(sets)
    except TooComplex:
        with limited_effort(subject):
            listed = _listed_values(sets)
        if listed is None:
            raise
        return listed


def _related_values(sets: ScopSets) -> Dataflow:
    """Return the dataflow from the relations of the accesses."""
    scop = sets.scop
    times = sets.schedule_maps(scop.schedule)
    last = LastWrites(sets, times)
    flows = [
        Flow(source, sink.name, number, _joined(relation))
        for sink in scop.statements
        for number, access in enumerate(sink.reads)
        for source, relation in last.of(sink, access).items()
    ]
    return Dataflow(tuple(flows), _live_out(sets, times))


def _joined(relation: isl.Map) -> isl.Map:
    """Return a relation in fewer pieces, where these are as simple.

    The pieces of a flow from iteration to iteration are products of segments, a loop each. Joined
    to one they are a polyhedron over all loops at once, at which isl looks for minutes.
    """
    joined = relation.coalesce()
    if relation.n_basic_map() == joined.n_basic_map():
        return joined
    return joined if _widest(joined) <= _widest(relation) else relation


def _widest(relation: isl.Map) -> int:
    """Return the most dimensions that constraints of a piece tie together."""
    pieces = for_each(relation.wrap().foreach_basic_set)
    return max(map(widest_factor, pieces), default=0)


def _listed_values(sets: ScopSets) -> Dataflow | None:
    """Return the dataflow from a list of the instances, or None where that is too long."""
    found = listed_flows(sets)
    if found is None:
        return None
    flows = [
        Flow(source.name, sink.name, number, found.flows[source.name, sink.name, number])
        for sink in sets.scop.statements
        for number in range(len(sink.reads))
        for source in sets.scop.statements
        if (source.name, sink.name, number) in found.flows
    ]
    return Dataflow(tuple(flows), dict(found.live_out))


def _live_out(sets: ScopSets, times: dict[str, isl.Map]) -> dict[str, isl.Set]:
    """A write is live out when some element that it may write is not written again."""
    scop: Scop = sets.scop
    live = {}
    for statement in scop.statements:
        left = sets.access_map(statement, statement.write)
        for other in scop.statements:
            if other.write.array != statement.write.array:
                continue
            keep_going(sets.context)
            later = times[statement.name].lex_lt_map(times[other.name])
            again = later.apply_range(sets.access_map(other, other.write))
            left = left.subtract(again)
        live[statement.name] = left.domain().coalesce()
    return live


def same_values(before: Dataflow, after: Dataflow) -> bool:
    """Tell whether every read gets its value from the same instance in both programs.

    Both have the same statements over the same domains, in one isl context.
    """
    early, late = _flow_relations(before), _flow_relations(after)
    return early.keys() == late.keys() and all(
        relation.is_equal(late[key]) for key, relation in early.items()
    )


def _flow_relations(flows: Dataflow) -> dict[tuple[str, str, int], isl.Map]:
    found: dict[tuple[str, str, int], isl.Map] = {}
    for flow in flows.flows:
        key = (flow.source, flow.sink, flow.sink_read)
        found[key] = found[key].union(flow.relation) if key in found else flow.relation
    return found
