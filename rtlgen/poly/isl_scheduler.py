"""isl's own schedulers, answering in the same form as PLUTO.

`isl` is a variant of PLUTO that also tries negative coefficients; `feautrier` carries as many
dependences as possible by each outer loop.

References: Verdoolaege and Janssens, "Scheduling for PPCG", KU Leuven CW706, 2017; Feautrier, "Some
efficient solutions to the affine scheduling problem", IJPP 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets, for_each, integer, union_map
from rtlgen.poly import schedule_tree
from rtlgen.poly.edges import Edge, coordinate_map
from rtlgen.poly.errors import NoHyperplane
from rtlgen.poly.pluto import rank
from rtlgen.poly.schedule_tree import Band, Leaf, Node, Row, in_sequence

Algorithm: TypeAlias = Literal["isl", "feautrier"]
_ALGORITHMS = {
    "isl": isl.schedule_algorithm.ISL,
    "feautrier": isl.schedule_algorithm.FEAUTRIER,
}


def isl_schedule(sets: ScopSets, edges: Sequence[Edge], algorithm: Algorithm) -> Node:
    """Return the schedule of a normalised program.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    NoHyperplane: isl found no schedule.
    """
    with limited_effort("its schedule"):
        names = [s.name for s in sets.scop.statements]
        domain = isl.UnionSet.from_set(coordinate_map(sets, names[0]).range())
        for name in names[1:]:
            domain = domain.union(isl.UnionSet.from_set(coordinate_map(sets, name).range()))
        constraints = isl.ScheduleConstraints.on_domain(domain)
        if edges:
            order = union_map(edge.relation for edge in edges)
            constraints = constraints.set_validity(order).set_proximity(order)
            constraints = constraints.set_coincidence(order)
        schedule = _computed(constraints, sets.context, algorithm)
        return _completed(sets.scop, _Reader(sets).node(schedule.get_root(), tuple(names)), ())


def _computed(
    constraints: isl.ScheduleConstraints, context: isl.Context, algorithm: Algorithm
) -> isl.Schedule:
    before = context.get_schedule_algorithm()
    context.set_schedule_algorithm(_ALGORITHMS[algorithm])
    try:
        return constraints.compute_schedule()
    except isl.Error as error:
        # Feautrier's algorithm gives up where no loop carries any dependence of some cycle.
        if "unable to carry dependences" not in str(error):
            raise
        others = ", ".join(f"--scheduler {name}" for name in _ALGORITHMS if name != algorithm)
        raise NoHyperplane(
            f"isl's scheduler {algorithm} found no loops that carry all dependences",
            help=f"leave out --scheduler, or use --scheduler pluto, {others}",
        ) from None
    finally:
        context.set_schedule_algorithm(before)


def _completed(scop: Scop, node: Node, outer: tuple[Row, ...]) -> Node:
    """Give every statement a loop for each iterator: isl leaves out what has one value only."""
    match node:
        case Band():
            child = _completed(scop, node.child, (*outer, *node.rows))
            return Band(node.rows, node.permutable, child)
        case schedule_tree.Sequence(children):
            return schedule_tree.Sequence(
                tuple(_completed(scop, child, outer) for child in children)
            )
        case Leaf(name):
            return _with_missing_loops(scop.statement(name), node, outer)


def _with_missing_loops(statement: Statement, leaf: Leaf, outer: tuple[Row, ...]) -> Node:
    iterators = statement.iterators
    forms = [row.forms[statement.name] for row in outer]
    known = [[form.coefficient(name) for name in iterators] for form in forms]
    missing: list[Row] = []
    for place, name in enumerate(iterators):
        unit = [int(n == place) for n in range(len(iterators))]
        if rank([*known, unit]) > rank(known):
            known.append(unit)
            missing.append(Row.of({statement.name: Affine.variable(name)}))
    node: Node = leaf
    for row in reversed(missing):
        node = Band((row,), False, node)
    return node


class _Reader:
    def __init__(self, sets: ScopSets) -> None:
        self.sets = sets

    def node(self, node: isl.ScheduleNode, statements: tuple[str, ...]) -> Node:
        """Return what stands at `node`, which schedules `statements`."""
        kind = isl.schedule_node_type(node.get_type())
        kinds = isl.schedule_node_type
        if kind == kinds.band:
            return self._band(node, statements)
        if kind in (kinds.sequence, kinds.set):
            children = [node.get_child(k) for k in range(node.n_children())]
            parts = [(child, self._filtered(child)) for child in children]
            return in_sequence([self.node(child, own) for child, own in parts])
        if kind == kinds.leaf:
            return in_sequence([Leaf(name) for name in statements])
        own = self._filtered(node) if kind == kinds.filter else statements
        return self.node(node.get_child(0), own)

    def _filtered(self, node: isl.ScheduleNode) -> tuple[str, ...]:
        found = {
            self.sets.statement_of(part.get_tuple_name()).name
            for part in for_each(node.filter_get_filter().foreach_set)
        }
        return tuple(s.name for s in self.sets.scop.statements if s.name in found)

    def _band(self, node: isl.ScheduleNode, statements: tuple[str, ...]) -> Node:
        schedule = node.band_get_partial_schedule()
        rows = [
            Row.of(dict(self._form(part) for part in for_each(member.foreach_pw_aff)))
            for member in (schedule.get_union_pw_aff(k) for k in range(node.band_n_member()))
        ]
        child = self.node(node.get_child(0), statements)
        if node.band_get_permutable():
            return Band(tuple(rows), len(rows) > 1, child)
        # Loops that must stay in this order are bands of their own.
        for row in reversed(rows):
            child = Band((row,), False, child)
        return child

    def _form(self, piecewise: isl.PwAff) -> tuple[str, Affine]:
        # isl splits no statement: one piece, on the whole domain.
        form = piecewise.as_aff()
        statement = self.sets.statement_of(piecewise.domain().get_tuple_name())
        terms = {
            iterator: integer(form.get_coefficient_val(isl.dim_type.in_, k))
            for k, iterator in enumerate(statement.iterators)
        }
        return statement.name, Affine.of(terms, integer(form.get_constant_val()))
