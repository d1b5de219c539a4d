"""Give a program the loops of a schedule: new iterators for the same instances.

Rewrite
-------
    for i for j  a[i][j] = ...         ->   for t1 for t2  a[t2][t1 - t2] = ...
    rows (i + j), (i)

Every statement's iterators become affine functions of the new ones; its domain becomes conditions
on them. A tiled row counts the tiles. Where the rows reach only some integers (a stride), the
missing iterator stays as an innermost loop that runs once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import (
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
)
from rtlgen.ir.sets import ScopSets, affine_text, integer
from rtlgen.poly import schedule_tree
from rtlgen.poly.schedule_tree import Band, Leaf
from rtlgen.source import Span
from rtlgen.transforms.change_iterators import Change, change_iterators
from rtlgen.transforms.normalise import boxed, program_order

Range = tuple[int, int]


def reschedule(sets: ScopSets, tree: schedule_tree.Node) -> Scop:
    """Return the normalised program of `sets` in the loops of `tree`."""
    nodes, statements = rescheduled(sets, tree)
    return boxed(
        replace(sets.scop, statements=statements, tree=nodes, schedule=program_order(nodes))
    )


def rescheduled(
    sets: ScopSets, tree: schedule_tree.Node
) -> tuple[tuple[Node, ...], tuple[Statement, ...]]:
    """Return the loops that `tree` gives its statements, and these in their new iterators.

    The rest of the program may have statements that are not in `tree`.
    """
    rescheduler = _Rescheduler(sets, tree)
    nodes = rescheduler.nodes(tree, ())
    return nodes, tuple(rescheduler.statements)


@dataclass(frozen=True, slots=True)
class _Counter:
    """A new loop. Its iterator is 0 at the time `low`, which is negative or 0."""

    loop: Loop
    low: int

    @property
    def time(self) -> Affine:
        return Affine.variable(self.loop.iterator) + self.low


class _Rescheduler:
    def __init__(self, sets: ScopSets, tree: schedule_tree.Node) -> None:
        self.sets = sets
        prefix = name_prefix(sets.scop)
        self.changes = {
            name: change_iterators(
                sets.scop.statement(name), schedule_tree.loop_rows(tree, name), prefix
            )
            for name in schedule_tree.statements_of(tree)
        }
        self.ranges = {name: self._ranges(change) for name, change in self.changes.items()}
        self.statements: list[Statement] = []

    def _ranges(self, change: Change) -> dict[str, Range]:
        """Return the smallest and largest value of every new iterator."""
        conditions = [f"{affine_text(c, change.names)} >= 0" for c in change.conditions]
        dims = ",".join(f"d{k}" for k in range(len(change.names)))
        domain = self.sets.read_set(f"{{ [{dims}] : {' and '.join(conditions) or 'true'} }}")
        return {
            name: (integer(domain.dim_min_val(k)), integer(domain.dim_max_val(k)))
            for k, name in enumerate(change.names)
        }

    def nodes(self, node: schedule_tree.Node, outer: tuple[_Counter, ...]) -> tuple[Node, ...]:
        """Return the tree of `node`, which stands in the loops `outer`."""
        match node:
            case Leaf(name):
                return (self._leaf(self.sets.scop.statement(name), outer),)
            case schedule_tree.Sequence(children):
                return tuple(n for child in children for n in self.nodes(child, outer))
            case Band(child=child):
                counters = self._counters(node, len(outer))
                return _nested(counters, self.nodes(child, (*outer, *counters)))

    def _counters(self, band: Band, depth: int) -> tuple[_Counter, ...]:
        names = schedule_tree.statements_of(band)
        span = _loop_span(self.sets.scop.statement(names[0]))
        found = []
        for place in range(depth, depth + len(band.rows)):
            iterator = self.changes[names[0]].times[place]
            ranges = [self.ranges[name][iterator] for name in names]
            found.append(_counter(iterator, ranges, span))
        return tuple(found)

    def _leaf(self, statement: Statement, outer: tuple[_Counter, ...]) -> Node:
        change, ranges = self.changes[statement.name], self.ranges[statement.name]
        own = tuple(_counter(name, [ranges[name]], statement.span) for name in change.own)
        times = {counter.loop.iterator: counter.time for counter in (*outer, *own)}
        values = {name: value.substitute(times) for name, value in change.values.items()}
        conditions = tuple(c.substitute(times) for c in change.conditions)
        loops = tuple(counter.loop for counter in (*outer, *own))
        self.statements.append(replace(statement.rewritten(values, loops), conditions=conditions))
        body: tuple[Node, ...] = (StatementNode(statement.name),)
        if conditions:
            body = (ConditionNode(conditions, body),)
        (node,) = _nested(own, body)
        return node


def name_prefix(scop: Scop) -> str:
    """Return the beginning of iterator names that are no names of the program."""
    taken = {a.name for a in scop.arrays} | {s.name for s in scop.scalars}
    prefix = "t"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in taken):
        prefix += "t"
    return prefix


def new_iterators(scop: Scop, count: int, stem: str = "") -> tuple[str, ...]:
    """Return names of so many loops that are no names of the program, with a stem in them."""
    taken = {name for statement in scop.statements for name in statement.iterators}
    prefix = name_prefix(scop) + stem
    while any(f"{prefix}{k}" in taken for k in range(count)):
        prefix += "t"
    return tuple(f"{prefix}{k}" for k in range(count))


def _loop_span(statement: Statement) -> Span:
    return statement.loops[0].span if statement.loops else statement.span


def _counter(iterator: str, ranges: Sequence[Range], span: Span) -> _Counter:
    """Return a loop that covers all `ranges`. It begins at 0: normalised loops do."""
    low = min(0, *(first for first, _ in ranges))
    last = max(last for _, last in ranges)
    return _Counter(Loop(iterator, Affine(), Affine((), last - low + 1), 1, span), low)


def _nested(counters: Sequence[_Counter], body: tuple[Node, ...]) -> tuple[Node, ...]:
    for counter in reversed(counters):
        body = (LoopNode(counter.loop, body),)
    return body
