"""The dependences that a scheduler must respect, and the times that rows of a schedule give.

The dependences that a scheduler must respect, in the iterators of the C program.

A scheduler is given the smallest set of edges whose order implies every other one: each read with
the write whose value it gets (flow), each read with the next write to its element (anti), each
write with the next one (output). A form that no edge decreases decreases along no path of edges.

Forms are written over the iterators as the C program counts them, so that i + j is what a reader
takes it for. A loop whose step is not 1 is counted by its iterations instead.

The times that rows of a schedule give: which pairs they tell apart, and the loops' marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.last_writes import LastWrites
from rtlgen.poly.schedule_tree import Band, Leaf, Mark, Node, Part, Row, statements_of
from rtlgen.poly.schedule_tree import Sequence as InSequence


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Pairs of instances in an order to be kept: {C iterators of source -> of sink}."""

    source: str
    sink: str
    relation: isl.Map


def coordinates(statement: Statement) -> tuple[Affine, ...]:
    """Return what forms call the iterators of a normalised statement, in terms of them.

    A loop of step 1 is counted as in C. The map is unimodular: triangular, with ones. Loops in
    strips are more than those of C, and count themselves.
    """
    if len(statement.origin) != len(statement.iterators):
        return tuple(map(Affine.variable, statement.iterators))
    return tuple(
        value if value.coefficient(name) == 1 else Affine.variable(name)
        for name, value in zip(statement.iterators, statement.origin, strict=True)
    )


def in_coordinates(statement: Statement, form: Affine) -> Affine:
    """Return a form over the iterators of a normalised statement, over its coordinates instead."""
    known: dict[str, Affine] = {}
    for name, value in zip(statement.iterators, coordinates(statement), strict=True):
        outer = value - Affine.variable(name)
        known[name] = Affine.variable(name) - outer.substitute(known)
    return form.substitute(known)


def coordinate_map(sets: ScopSets, statement: str) -> isl.Map:
    """Return {instance -> its coordinates}, a tuple of the same name."""
    found = sets.scop.statement(statement)
    relation = sets.time_map(found, coordinates(found))
    return relation.set_tuple_name(isl.dim_type.out, sets.statement_tuple(statement))


def schedule_edges(sets: ScopSets, flows: Dataflow) -> tuple[Edge, ...]:
    """Return the edges of a normalised program.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its dependences"):
        maps = {s.name: coordinate_map(sets, s.name) for s in sets.scop.statements}
        found = [Edge(f.source, f.sink, f.relation) for f in flows.flows]
        found += _before_next_writes(sets)
        return tuple(
            Edge(
                e.source,
                e.sink,
                e.relation.apply_domain(maps[e.source]).apply_range(maps[e.sink]).coalesce(),
            )
            for e in found
        )


def _before_next_writes(sets: ScopSets) -> list[Edge]:
    """Relate every access to the next write of its element: the last one in reversed time."""
    scop = sets.scop
    reversed_time = {
        s.name: sets.time_map(s, [-dim for dim in scop.schedule.time(s.name)])
        for s in scop.statements
    }
    following = LastWrites(sets, reversed_time)
    return [
        Edge(statement.name, later, relation.reverse())
        for statement in scop.statements
        for access in _distinct((statement.write, *statement.reads))
        for later, relation in following.of(statement, access).items()
    ]


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """Return one access for each element function; the spans of equal ones differ."""
    return list({(a.array, a.subscripts): a for a in reversed(accesses)}.values())


def within_rows(sets: ScopSets, edges: Sequence[Edge], rows: Sequence[Row]) -> list[Edge]:
    """Return the edges between instances to which every row gives the same time."""
    found = []
    for edge in edges:
        relation = edge.relation
        for row in rows:
            relation = relation.intersect(_same_time(sets, edge, row))
        if not relation.is_empty():
            found.append(replace(edge, relation=relation.coalesce()))
    return found


def marked(sets: ScopSets, edges: Sequence[Edge], node: Node) -> Node:
    """Return the schedule with every loop marked as the edges allow.

    A loop is parallel where no edge crosses it inside one iteration of the loops around it.
    """
    match node:
        case Leaf():
            return node
        case InSequence(children):
            return InSequence(tuple(marked(sets, edges, child) for child in children))
        case Band(rows, permutable, child):
            names = statements_of(node)
            own = [e for e in edges if e.source in names and e.sink in names]
            inside = list(own)
            found: list[Row] = []
            for row in rows:
                crossed = not all(e.relation.is_subset(_same_time(sets, e, row)) for e in inside)
                carried: Mark = "pipeline" if permutable else "sequential"
                found.append(replace(row, mark=carried if crossed else "parallel"))
                inside = within_rows(sets, inside, [row])
            return Band(tuple(found), permutable, marked(sets, inside, child))


def _same_time(sets: ScopSets, edge: Edge, row: Row) -> isl.Map:
    source = _time(sets, sets.scop.statement(edge.source), row)
    sink = _time(sets, sets.scop.statement(edge.sink), row)
    return source.apply_range(sink.reverse())


def _time(sets: ScopSets, statement: Statement, row: Row) -> isl.Map:
    """Return {coordinates of an instance -> [time]}."""
    dims = ",".join(f"d{k}" for k in range(len(statement.iterators)))
    parts = [_value(part, statement) for part in row.parts]
    tuple_name = sets.statement_tuple(statement.name)
    return sets.read_map(f"{{ {tuple_name}[{dims}] -> [{' + '.join(parts)}] }}")


def _value(part: Part, statement: Statement) -> str:
    form = affine_text(part.forms[statement.name], statement.iterators)
    return f"({form})" if part.size == 1 else f"floor(({form})/{part.size})"
