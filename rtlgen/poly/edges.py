"""The dependences that a scheduler must respect, in the iterators of the C program.

A scheduler is given the smallest set of edges whose order implies every other one: each read with
the write whose value it gets (flow), each read with the next write to its element (anti), each
write with the next one (output). A form that no edge decreases decreases along no path of edges.

Forms are written over the iterators as the C program counts them, so that i + j is what a reader
takes it for. A loop whose step is not 1 is counted by its iterations instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.last_writes import LastWrites


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
