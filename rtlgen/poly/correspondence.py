"""Prove that a change of iterators left every instance of a program as it was.

Both versions know the C iterators of their instances. That relates the instances of one to those
of the other, whatever the transform did in between; the judge asks that the relation is one to one
and onto, and that related instances touch the same elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from rtlgen.ir.effort import limited_effort
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dataflow, Dependence
from rtlgen.poly.errors import RewriteUnsound

Correspondence = Mapping[str, isl.Map]
"""Statement -> {instance before -> instance after}."""


def correspondence(before: ScopSets, after: ScopSets) -> Correspondence:
    """Return which instance became which, of two normalised versions of a program.

    Both are in one isl context.

    Raises
    ------
    RewriteUnsound: an instance was lost, doubled, or touches other elements.
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its loops, changed"):
        if {s.name for s in before.scop.statements} != {s.name for s in after.scop.statements}:
            raise RewriteUnsound("a change of iterators lost a statement")
        found = {}
        for old in before.scop.statements:
            new = after.scop.statement(old.name)
            relation = _c_iterators(before, old).apply_range(_c_iterators(after, new).reverse())
            _require_all(before, after, old.name, relation)
            _require_same_accesses(before, after, old, new, relation)
            found[old.name] = relation.coalesce()
        return found


def _c_iterators(sets: ScopSets, statement: Statement) -> isl.Map:
    return sets.time_map(statement, statement.origin)


def _require_all(before: ScopSets, after: ScopSets, name: str, relation: isl.Map) -> None:
    whole = relation.domain().is_equal(before.domains[name])
    if not (whole and relation.range().is_equal(after.domains[name]) and relation.is_bijective()):
        raise RewriteUnsound(f"a change of iterators lost or doubled instances of {name}")


def _require_same_accesses(
    before: ScopSets, after: ScopSets, old: Statement, new: Statement, relation: isl.Map
) -> None:
    accesses = ((old.write, new.write), *zip(old.reads, new.reads, strict=True))
    for first, second in accesses:
        touched = relation.apply_range(after.access_map(new, second))
        if not touched.is_equal(before.access_map(old, first)):
            raise RewriteUnsound(f"a change of iterators moved {first.array} of {old.name}")


def moved_dependences(
    dependences: Sequence[Dependence], after: ScopSets, moved: Correspondence
) -> tuple[Dependence, ...]:
    """Return the same dependences between the instances after a change of iterators."""

    def access(statement: str, read: int | None) -> Access:
        found = after.scop.statement(statement)
        return found.write if read is None else found.reads[read]

    return tuple(
        replace(
            d,
            source_access=access(d.source, d.source_read),
            sink_access=access(d.sink, d.sink_read),
            relation=_moved(d.relation, moved[d.source], moved[d.sink]),
        )
        for d in dependences
    )


def moved_dataflow(flows: Dataflow, moved: Correspondence) -> Dataflow:
    """Return the same dataflow between the instances after a change of iterators."""
    return Dataflow(
        tuple(
            replace(f, relation=_moved(f.relation, moved[f.source], moved[f.sink]))
            for f in flows.flows
        ),
        {name: live.apply(moved[name]).coalesce() for name, live in flows.live_out.items()},
    )


def renumbered(relation: isl.Map, before: ScopSets, after: ScopSets) -> isl.Map:
    """Return {instance -> instance} for a program that has some of the statements alone."""
    for kind in (isl.dim_type.in_, isl.dim_type.out):
        name = before.statement_of(relation.get_tuple_name(kind)).name
        relation = relation.set_tuple_name(kind, after.statement_tuple(name))
    return relation


def _moved(relation: isl.Map, source: isl.Map, sink: isl.Map) -> isl.Map:
    return relation.apply_domain(source).apply_range(sink).coalesce()
