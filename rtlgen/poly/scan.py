"""Write out a schedule as loops: scan the domains in the order of their time vectors.

isl generates the loops (Grosser, Verdoolaege and Cohen, "Polyhedral AST generation is more than
scanning polyhedra", TOPLAS 2015). What it returns is read into the project's own tree, with the
loops named after the iterators that they count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.code import Code, For, If, Let, Run, Variable, fresh, used_variables
from rtlgen.ir.effort import LOOP_OPERATIONS, keep_going, limited_effort
from rtlgen.ir.schedule import LoopDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets, enum_name, for_each, integer, operations, union_map
from rtlgen.poly.ast_index import index


def scan(sets: ScopSets, schedule: Schedule, taken: frozenset[str]) -> tuple[Code, ...]:
    """Return the loops that run the statements of `sets` in the order of `schedule`.

    Parameters
    ----------
    schedule: without flattened dimensions.
    taken: names that no loop may have.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its loops, written out"):
        times = list(sets.schedule_maps(schedule).values())
        union = union_map(times)
        build = isl.AstBuild.from_context(sets.read_set("{ : }"))
        depth = times[0].dim(isl.dim_type.out)
        counters = isl.IdList.alloc(sets.context, depth)
        for level in range(depth):
            counters = counters.add(isl.Id.read_from_str(sets.context, f"c{level}"))
        keep_going(sets.context)
        with operations(sets.context, LOOP_OPERATIONS):
            node = build.set_iterators(counters).node_from_schedule_map(union)
        return _Reader(sets, schedule, taken).nodes(node, {})


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads isl's tree. Names map isl's counters, `c<level>`, to the variables of the result."""

    sets: ScopSets
    schedule: Schedule
    taken: frozenset[str]

    @property
    def scop(self) -> Scop:
        return self.sets.scop

    def nodes(self, node: isl.AstNode, names: Mapping[str, Variable]) -> tuple[Code, ...]:
        match enum_name(node.get_type()):
            case "block":
                children = for_each(node.block_get_children().foreach)
                return tuple(code for child in children for code in self.nodes(child, names))
            case "for":
                return self._loop(node, names)
            case "if":
                otherwise = node.if_get_else_node() if node.if_has_else_node() else None
                return (
                    If(
                        index(node.if_get_cond(), names),
                        self.nodes(node.if_get_then_node(), names),
                        () if otherwise is None else self.nodes(otherwise, names),
                    ),
                )
            case _:
                return (self._run(node.user_get_expr(), names),)

    def _loop(self, node: isl.AstNode, names: Mapping[str, Variable]) -> tuple[Code, ...]:
        counter = node.for_get_iterator().get_id().get_name()
        outer = frozenset(variable.name for variable in names.values())
        name = self._name(counter, node.for_get_body(), outer)
        inner = {**names, counter: Variable(name)}
        first = index(node.for_get_init(), names)
        body = self.nodes(node.for_get_body(), inner)
        if node.for_is_degenerate():
            return (Let(((name, first),), body),) if name in used_variables(body) else body
        condition = index(node.for_get_cond(), inner)
        step = integer(node.for_get_inc().get_val())
        return (For(name, first, condition, step, body),)

    def _name(self, counter: str, body: isl.AstNode, outer: frozenset[str]) -> str:
        """Name a loop after the iterator that all statements in it count there, if they agree."""
        level = int(counter[1:])
        wished = {self._iterator(name, level) for name in self._statements(body)}
        name = wished.pop() if len(wished) == 1 else None
        return fresh(name or counter, self.taken | outer)

    def _iterator(self, statement: str, level: int) -> str | None:
        dims = self.schedule.dims[statement]
        dim = dims[level] if level < len(dims) else None
        return dim.loop.iterator if isinstance(dim, LoopDim) else None

    def _statements(self, node: isl.AstNode) -> frozenset[str]:
        found: set[str] = set()

        def visit(inner: isl.AstNode) -> bool:
            if enum_name(inner.get_type()) == "user":
                called = inner.user_get_expr().get_op_arg(0).get_id().get_name()
                found.add(self.sets.statement_of(called).name)
            return True

        node.foreach_descendant_top_down(visit)
        return frozenset(found)

    def _run(self, call: isl.AstExpr, names: Mapping[str, Variable]) -> Run:
        statement = self.sets.statement_of(call.get_op_arg(0).get_id().get_name())
        count = call.get_op_n_arg()
        values = tuple(index(call.get_op_arg(k), names) for k in range(1, count))
        return Run(statement.name, values)
