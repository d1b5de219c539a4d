"""Exact dependences of a Scop: memory-based for legality, value-based flows for hardware.

The flow of the values of a small program, from a list of its instances.

isl finds last writes by maxima over relations, and with a few subscripts like (x + 2 * y) % 5 that
takes more operations than the whole program has instances. Those are listed then, each access
between its neighbours at the same element, and told to isl in runs.

    t[5 * (y % 5) + x % 5], read at (0, 0), (0, 1), .. (0, 4)  ->  one run: { [0, x] : 0 <= x < 5 }

A memory-based dependence relates every two instances that touch the same element, at least one of
them writing, in program order. Of a stream it relates the accesses to neighbouring elements, which
come one after the other. A value-based flow relates a read to the one write whose value it gets
(Feautrier, "Dataflow analysis of array and scalar references", IJPP 1991).

Dependences in the words of the C program, for reports.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import TooComplex, keep_going, limited_effort
from rtlgen.ir.ints import Ints, distinct_rows
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import ScopSets, affine_text, for_each, integer
from rtlgen.poly.counting import count_points, widest_factor
from rtlgen.poly.instances import (
    MANY_INSTANCES,
    Pairs,
    dependent_pairs,
    enumerated_size,
    statement_points,
    touched_elements,
)
from rtlgen.poly.last_writes import LastWrites
from rtlgen.source import Span

MOST_RUNS = 256
"""Runs of one relation. isl compares each with every other one: those in a third of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedFlows:
    """Where values come from, and which outlive the program.

    Members
    -------
    flows: by source, sink and read of the sink: {writing instance -> reading instance}.
    live_out: by statement, the instances that may write an element that is not written again.
    """

    flows: Mapping[tuple[str, str, int], isl.Map]
    live_out: Mapping[str, isl.Set]


def listed_flows(sets: ScopSets) -> ListedFlows | None:
    """Return the flow of the values of a normalised program, scheduled in program order.

    None: it has too many instances, or too many runs.
    """
    scop = sets.scop
    counts = {name: count_points(domain) for name, domain in sets.domains.items()}
    size = enumerated_size(scop, counts)
    if size > MANY_INSTANCES:
        return None
    keep_going(sets.context, work=size)
    flows: dict[tuple[str, str, int], isl.Map] = {}
    written_again: dict[str, list[Ints]] = {s.name: [] for s in scop.statements}
    for (source, sink, source_read, sink_read), pairs in dependent_pairs(scop).items():
        if scop.array(scop.statement(source).write.array).is_stream and source_read is None:
            # The one writes behind the other, not over it.
            continue
        if source_read is None and sink_read is None:
            written_again[source].append(pairs.sources)
        elif source_read is None and sink_read is not None:
            relation = _relation(sets, scop.statement(source), scop.statement(sink), pairs)
            if relation is None:
                return None
            flows[source, sink, sink_read] = relation
    live_out: dict[str, isl.Set] = {}
    for statement in scop.statements:
        points = statement_points(scop, statement)
        # A pair is of one element; a scatter may write several.
        again = Counter(row.tobytes() for rows in written_again[statement.name] for row in rows)
        touched = (touched_elements(scop, statement, statement.write, points) >= 0).sum(axis=1)
        written = np.array([again[row.tobytes()] for row in points], dtype=np.int64)
        left = points[written < touched]
        # What a relation to themselves leads to.
        alive = _relation(sets, statement, statement, Pairs(left, left))
        if alive is None:
            return None
        live_out[statement.name] = alive.range()
    return ListedFlows(flows, live_out)


def _relation(sets: ScopSets, source: Statement, sink: Statement, pairs: Pairs) -> isl.Map | None:
    """Return {source instance -> sink instance} of some pairs, None where these are many runs."""
    names = sets.statement_tuple(source.name), sets.statement_tuple(sink.name)
    rows = distinct_rows(np.concatenate([pairs.sinks, pairs.sources], axis=1))
    runs = _runs(rows, pairs.sinks.shape[1])
    if len(runs) > MOST_RUNS:
        return None
    spans = [(rows[first], rows[min(first + 1, end - 1)], end - first) for first, end in runs]
    found = [_run_text(names, pairs.sinks.shape[1], *span) for span in spans]
    if not found:
        every = (sets.domains[statement.name].get_space() for statement in (source, sink))
        return isl.Map.from_domain_and_range(*map(isl.Set.empty, every))
    return sets.read_map("{ " + "; ".join(found) + " }").reverse().coalesce()


def _runs(rows: Ints, own: int) -> list[tuple[int, int]]:
    """Return the first row of each run, and the one behind its last.

    From row to row of a run the last iterator of the sink counts up, and those of the source move
    by the same.

    Parameters
    ----------
    rows: (pairs, iterators of the sink, then of the source), sorted. own: how many the sink has.
    """
    count = len(rows)
    if own == 0:
        return [(n, n + 1) for n in range(count)]
    steps = np.diff(rows, axis=0)
    near = (steps[:, : own - 1] == 0).all(axis=1) & (steps[:, own - 1] == 1)
    runs: list[tuple[int, int]] = []
    first = 0
    while first < count:
        end = first + 1
        while end < count and near[end - 1] and (steps[end - 1] == steps[first]).all():
            end += 1
        runs.append((first, end))
        first = end
    return runs


def _run_text(names: tuple[str, str], own: int, first: Ints, second: Ints, length: int) -> str:
    """Return one run in isl's words, from the sink to the source.

    Parameters
    ----------
    own: iterators of the sink. first, second: two rows of the run, see `_runs`; the same if alone.
    """
    begin, step = first.tolist(), (second - first).tolist()
    if length == 1:
        ends = [", ".join(map(str, part)) for part in (begin[own:], begin[:own])]
        return f"{names[1]}[{ends[1]}] -> {names[0]}[{ends[0]}]"
    # The last iterator of the sink, d0, is where it was, and so much further.
    at = begin[own - 1]
    source = ", ".join(
        affine_text(Affine.of({"d0": by}, value - by * at), ("d0",))
        for value, by in zip(begin[own:], step[own:], strict=True)
    )
    sink = ", ".join([*map(str, begin[: own - 1]), "d0"])
    return f"{names[1]}[{sink}] -> {names[0]}[{source}] : {at} <= d0 < {at + length}"


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


def distance(dependence: Dependence) -> tuple[int, ...] | None:
    """Return the constant iteration distance of a dependence of a statement on itself, or None."""
    if dependence.source != dependence.sink:
        return None
    deltas = dependence.relation.deltas()
    if not deltas.is_singleton():
        return None
    point = deltas.sample_point()
    count = deltas.dim(isl.dim_type.set)
    return tuple(integer(point.get_coordinate_val(isl.dim_type.set, k)) for k in range(count))


def access_text(scop: Scop, access: Access) -> str:
    """Return an access as the C text has it; its subscripts are those of normalised loops."""
    written = source_text(scop, access.span)
    # Behind a macro the text is another one.
    return written if subscript_texts(written, access.array) else str(access)


def subscript_texts(written: str, array: str) -> list[str]:
    """Return the subscripts of an element as they are written; none of what is no such text.

    a[i][j + 1]           of `a`: i, j + 1
    points[i].at[k]       of `points_at`, which holds this member of all points: i, k
    """
    found: list[str] = []
    start = re.match(r"\w+", written)
    name, place = "" if start is None else start[0], 0 if start is None else start.end()
    while place < len(written):
        member = re.compile(r"\s*(?:\.|->)\s*(\w+)").match(written, place)
        if member is not None:
            name += f"_{member[1]}"
            place = member.end()
            continue
        depth, first = 0, place
        while place < len(written) and (depth > 0 or place == first):
            depth += {"[": 1, "]": -1}.get(written[place], 0)
            place += 1
        if depth != 0 or written[first] != "[":
            if written[first].isspace() and depth == 0:
                continue
            return []
        found.append(written[first + 1 : place - 1].strip())
    return found if name == array else []


def source_text(scop: Scop, span: Span) -> str:
    """Return a piece of the C text; nothing where it stands in another file."""
    if span.file != scop.source.path:
        return ""
    return scop.source.line(span.line)[span.column - 1 :][: span.length]


def relation_text(sets: ScopSets, dependence: Dependence) -> str:
    """Return the relation with the statements' and iterators' own names."""
    relation = dependence.relation.coalesce()
    for kind, name in ((isl.dim_type.in_, dependence.source), (isl.dim_type.out, dependence.sink)):
        suffix = "" if kind == isl.dim_type.in_ else "'"
        relation = relation.set_tuple_name(kind, name)
        for k, iterator in enumerate(sets.scop.statement(name).iterators):
            relation = relation.set_dim_name(kind, k, iterator + suffix)
    return str(relation)


def dependence_rows(sets: ScopSets, dependences: Sequence[Dependence]) -> list[dict[str, Any]]:
    """Return one JSON-serialisable entry a dependence.

    `distance` is the iteration distance where it is constant, else null; `relation` is exact, in
    isl's notation, over the normalised iterators.

    Raises
    ------
    TooComplex: a relation takes too long to describe.
    """
    rows = []
    with limited_effort("its dependences"):
        for dependence in dependences:
            keep_going(sets.context)
            rows.append(_row(sets, dependence))
    return rows


def _row(sets: ScopSets, dependence: Dependence) -> dict[str, Any]:
    apart = distance(dependence)
    return {
        "kind": dependence.kind,
        "array": dependence.array,
        "source": dependence.source,
        "sink": dependence.sink,
        "source_access": access_text(sets.scop, dependence.source_access),
        "sink_access": access_text(sets.scop, dependence.sink_access),
        "source_line": dependence.source_access.span.line,
        "sink_line": dependence.sink_access.span.line,
        "file": dependence.sink_access.span.file,
        "distance": None if apart is None else list(apart),
        "relation": relation_text(sets, dependence),
    }
