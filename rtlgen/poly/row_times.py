"""The times that rows of a schedule give: which pairs they tell apart, and the loops' marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.edges import Edge
from rtlgen.poly.schedule_tree import Band, Leaf, Mark, Node, Part, Row, statements_of
from rtlgen.poly.schedule_tree import Sequence as InSequence


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
