"""Rewrite loops to count from 0 by 1.

Rewrite
-------
    for (i = 9; i > 1; i -= 2) a[i] = i;   ->   for (i = 0; 2*i < 8; i++) a[9 - 2*i] = 9 - 2*i;
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Dim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import (
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
    statements_under,
)
from rtlgen.ir.sets import ScopSets
from rtlgen.transforms.strides import compacted, guarded, is_strided

Replacements = Mapping[str, Affine]


def normalise(
    scop: Scop, as_written: frozenset[str] = frozenset(), kept: frozenset[str] = frozenset()
) -> Scop:
    """Return the same program with normalised loops, scheduled in program order.

    The new iterator keeps the name of the old one; `Statement.origin` gives the C value back. A
    statement whose domain is empty is left out: it never runs.

    Parameters
    ----------
    as_written: statements around which loops that count by 1 keep their first value, so that
        iterators of different loops keep the relation that they have in the program.
    kept: statements that are to run in every iteration, where congruences restrict them. All
        others get loops that step over the rest (`transforms.strides`), and their iterators no
        longer count what the loops of the tree count.
    """
    rewriter = _Rewriter(scop, as_written)
    tree = rewriter.nodes(scop.tree, {}, {})
    found = [_dense(statement, kept) for statement in rewriter.statements]
    statements, values = [s for s, _ in found], {s.name: v for s, v in found}
    rewritten = replace(scop, statements=tuple(statements), tree=tree, schedule=program_order(tree))
    return boxed(_without_empty(rewritten), values)


def _dense(statement: Statement, kept: frozenset[str]) -> tuple[Statement, Replacements]:
    """Return a statement without congruences, and what its iterators stood for before."""
    if not is_strided(statement):
        return statement, {}
    if statement.name in kept:
        return guarded(statement), {}
    return compacted(statement)


def program_order(tree: tuple[Node, ...]) -> Schedule:
    """Return Kelly's 2d+1 schedule of a tree, its loops not yet given an extent."""
    dims: dict[str, tuple[ScalarDim | LoopDim, ...]] = {}

    def visit(nodes: tuple[Node, ...], prefix: tuple[ScalarDim | LoopDim, ...], first: int) -> int:
        place = first
        for node in nodes:
            match node:
                case StatementNode(name):
                    dims[name] = (*prefix, ScalarDim(place))
                    place += 1
                case LoopNode(loop, body):
                    counter = LoopDim(NestLoop(loop.iterator, 1))
                    visit(body, (*prefix, ScalarDim(place), counter), 0)
                    place += 1
                case ConditionNode(_, body):
                    place = visit(body, prefix, place)
        return place

    visit(tree, (), 0)
    return Schedule(dict(dims))


@dataclass
class _Rewriter:
    scop: Scop
    as_written: frozenset[str]

    def __post_init__(self) -> None:
        self.statements: list[Statement] = []

    def nodes(
        self, nodes: tuple[Node, ...], values: Replacements, loops: Mapping[str, Loop]
    ) -> tuple[Node, ...]:
        """Rewrite nodes under iterators that stand for `values`, in normalised `loops`."""
        return tuple(self._node(node, values, loops) for node in nodes)

    def _node(self, node: Node, values: Replacements, loops: Mapping[str, Loop]) -> Node:
        match node:
            case LoopNode(loop, body):
                value = Affine.variable(loop.iterator)
                if loop.step == 1 and not self.as_written.isdisjoint(statements_under(body)):
                    new = loop.substitute(values)
                else:
                    new = loop.substitute(values).counted()
                    value = loop.start.substitute(values) + value * loop.step
                inner = {**values, loop.iterator: value}
                new = new.limited(inner)
                return LoopNode(new, self.nodes(body, inner, {**loops, loop.iterator: new}))
            case ConditionNode(conditions, body):
                rewritten = tuple(c.substitute(values) for c in conditions)
                return ConditionNode(rewritten, self.nodes(body, values, loops))
            case StatementNode(name):
                old = self.scop.statement(name)
                own = tuple(loops[iterator] for iterator in old.iterators)
                self.statements.append(old.rewritten(values, own))
                return node


def _without_empty(scop: Scop) -> Scop:
    sets = ScopSets(scop)
    names = frozenset(s.name for s in scop.statements if not sets.domains[s.name].is_empty())
    return scop if len(names) == len(scop.statements) else with_statements(scop, names)


def with_statements(scop: Scop, names: frozenset[str]) -> Scop:
    """Return a program of some of its statements alone, in program order and in the same loops."""
    tree = restricted(scop.tree, names)
    statements = tuple(s for s in scop.statements if s.name in names)
    order = {
        name: _in_loops(dims, scop.schedule.dims.get(name, dims))
        for name, dims in program_order(tree).dims.items()
    }
    return replace(scop, statements=statements, tree=tree, schedule=Schedule(order))


def _in_loops(dims: tuple[Dim, ...], loops: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return places among other statements with loops that may step over some iterations."""
    known = iter([dim for dim in loops if isinstance(dim, LoopDim)])
    return tuple(next(known) if isinstance(dim, LoopDim) else dim for dim in dims)


def restricted(nodes: tuple[Node, ...], names: frozenset[str]) -> tuple[Node, ...]:
    """Return the nodes with no other statements than these, and no loops without any."""
    kept: list[Node] = []
    for node in nodes:
        if isinstance(node, StatementNode):
            kept += [node] if node.statement in names else []
        else:
            body = restricted(node.body, names)
            kept += [replace(node, body=body)] if body else []
    return tuple(kept)


def boxed(scop: Scop, values: Mapping[str, Replacements] | None = None) -> Scop:
    """Give the loops of the schedule the extents of each statement's bounding box.

    Parameters
    ----------
    values: by statement, what iterators stand for in the order of the program; by default
        what they stand for already.
    """
    sets = ScopSets(scop)
    schedule = scop.schedule
    for statement in scop.statements:
        box = sets.bounding_box(statement)
        assert box is not None, "empty statements have been left out"
        extents = dict(zip(statement.iterators, box, strict=True))
        dims = tuple(
            _loop_dim(dim, extents, (values or {}).get(statement.name, {}))
            if isinstance(dim, LoopDim)
            else dim
            for dim in schedule.dims[statement.name]
        )
        schedule = schedule.replaced(statement.name, dims)
    return scop.with_schedule(schedule)


def _loop_dim(
    dim: LoopDim, extents: Mapping[str, tuple[int, int]], values: Replacements
) -> LoopDim:
    iterator = dim.loop.iterator
    assert iterator is not None
    low, high = extents[iterator]
    value = values.get(iterator, dim.value)
    is_itself = value is None or value == Affine.variable(iterator)
    return LoopDim(NestLoop(iterator, high - low + 1, low), None if is_itself else value)
