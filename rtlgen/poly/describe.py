"""Dependences in the words of the C program, for reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import islpy as isl

from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.scop import Access, Scop
from rtlgen.ir.sets import ScopSets, integer
from rtlgen.poly.dependences import Dependence
from rtlgen.source import Span


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
