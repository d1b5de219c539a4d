"""Whether an instance is one of a set, as a condition on its iterators."""

from __future__ import annotations

import islpy as isl

from rtlgen.ir.code import Index, Variable
from rtlgen.ir.effort import LOOP_OPERATIONS, keep_going
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, operations
from rtlgen.poly.ast_index import index


def membership(sets: ScopSets, statement: Statement, instances: isl.Set) -> Index | None:
    """Return a condition that holds for just those instances of a statement, None for all of them.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    domain = sets.domains[statement.name]
    if domain.is_subset(instances):
        return None
    keep_going(sets.context)
    context = _as_parameters(domain)
    with operations(sets.context, LOOP_OPERATIONS):
        inside = _as_parameters(instances.intersect(domain)).gist(context).coalesce()
        expression = isl.AstBuild.from_context(context).expr_from_set(inside)
    names = {_name(k): Variable(name) for k, name in enumerate(statement.iterators)}
    return index(expression, names)


def _as_parameters(instances: isl.Set) -> isl.Set:
    """Return the values of the iterators as values of parameters: isl's conditions are on these."""
    count = instances.dim(isl.dim_type.set)
    moved = instances.reset_tuple_id().move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, count)
    for k in range(count):
        moved = moved.set_dim_name(isl.dim_type.param, k, _name(k))
    return moved.params()


def _name(place: int) -> str:
    return f"d{place}"
