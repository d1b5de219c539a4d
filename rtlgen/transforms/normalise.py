"""Loops that count from 0 by 1: as written, and where a statement runs at some of their iterations.

Statements that run where a form is a multiple of a number: loops that step over the rest.

Rewrite
-------
    for i<64 for j<64 if ((i + j) % 2 == 0) S(i, j)   ->   for i<64 for x: S(i, 2*x - i)
                                                           where 2*x - i >= 0, 2*x < 64 + i

An iterator that a congruence determines modulo m, for given outer iterators, counts those values
alone: it becomes m*x + offset, the offset affine in the outer iterators. Then there is no iteration
in which the statement does not run.

Statements that depend on each other in a cycle keep their loops in common, so they run in every
iteration and store the old value where the congruence does not hold.

Rewrite loops to count from 0 by 1.

Rewrite
-------
    for (i = 9; i > 1; i -= 2) a[i] = i;   ->   for (i = 0; 2*i < 8; i++) a[9 - 2*i] = 9 - 2*i;
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import Binary, Constant, IndexValue, Read, Scatter, Select
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
from rtlgen.ir.types import IntType

NEVER = Affine((), -1)
"""A condition that does not hold."""

_WIDE = IntType(64, True)


def is_strided(statement: Statement) -> bool:
    """Return whether a congruence restricts the statement."""
    return any(isinstance(condition, Congruence) for condition in statement.conditions)


def strided_statements(scop: Scop) -> frozenset[str]:
    """Return the statements that run in every so many iterations of a loop."""
    return frozenset(s.name for s in scop.statements if is_strided(s))


def compacted(statement: Statement) -> tuple[Statement, Mapping[str, Affine]]:
    """Return a normalised statement without congruences.

    Its iterators keep their names; the second result gives the value that each had before.
    """
    before = {name: Affine.variable(name) for name in statement.iterators}
    todo = [c for c in statement.conditions if isinstance(c, Congruence)]
    plain = tuple(c for c in statement.conditions if not isinstance(c, Congruence))
    statement = replace(statement, conditions=plain)

    def reindex(name: str, value: Affine, modulus: int) -> None:
        nonlocal statement, todo, before
        change = {name: value}
        statement = _reindexed(statement, name, value, modulus)
        before = {n: v.substitute(change) for n, v in before.items()}
        todo = [c.substitute(change) for c in todo]

    for name in statement.iterators:
        start = next(loop.start for loop in statement.loops if loop.iterator == name)
        if start != Affine():
            reindex(name, Affine.variable(name) + start, 1)
    while todo:
        congruence = todo.pop().reduced()
        rest, own = _split(congruence, statement.iterators)
        if own is None:
            if rest.constant:
                return replace(statement, conditions=(*statement.conditions, NEVER)), before
            continue
        name, coefficient = own
        common = gcd(coefficient, congruence.modulus)
        if any(c % common for c in (rest.constant, *(c for _, c in rest.terms))):
            # The outer iterators must first make the rest divisible.
            todo += [congruence, Congruence(rest, common)]
            continue
        modulus = congruence.modulus // common
        value = _solution(name, coefficient // common, rest, common, modulus)
        if modulus > 1:
            reindex(name, value, modulus)
            statement = replace(statement, conditions=(*statement.conditions, value))
    return statement, before


def _split(
    congruence: Congruence, iterators: Sequence[str]
) -> tuple[Affine, tuple[str, int] | None]:
    """Return a congruence's innermost iterator with its coefficient, and all the rest."""
    form = congruence.form
    for name in reversed(iterators):
        coefficient = form.coefficient(name)
        if coefficient:
            return form - Affine.variable(name) * coefficient, (name, coefficient)
    return form, None


def _solution(name: str, coefficient: int, rest: Affine, common: int, modulus: int) -> Affine:
    """Return modulus * name + offset, all the values that solve the congruence.

    The offset's coefficients are not positive and its constant is below the modulus: so where
    the solution is not negative, neither is the new iterator.
    """
    inverse = pow(coefficient, -1, modulus) if modulus > 1 else 0
    terms = {n: -((c // common * inverse) % modulus) for n, c in rest.terms}
    constant = (-rest.constant // common * inverse) % modulus
    return Affine.of({**terms, name: modulus}, constant)


def _reindexed(statement: Statement, name: str, value: Affine, modulus: int) -> Statement:
    """Return the statement with an iterator that stood for itself standing for `value`."""
    change = {name: value}

    def loop(old: Loop) -> Loop:
        if old.iterator != name:
            start, stop = old.start.substitute(change), old.stop.substitute(change)
            return replace(old, start=start, stop=stop)
        offset = value - Affine.variable(name) * modulus
        stop, scale = old.stop - offset * old.scale, old.scale * modulus
        if stop.is_constant:
            stop, scale = Affine((), max(0, -(-stop.constant // scale))), 1
        return replace(old, start=Affine(), stop=stop, scale=scale)

    return statement.rewritten(change, tuple(map(loop, statement.loops)))


def guarded(statement: Statement) -> Statement:
    """Return a statement that runs without its congruences, and keeps the old value instead."""
    expr, type_ = statement.expr, statement.expr.type
    # In the other iterations the program makes no read, and what one names may be no element.
    reads = tuple(replace(read, is_conditional=True) for read in statement.reads)
    old = Read(len(reads), type_)
    if not isinstance(expr, Scatter):
        reads = (*reads, statement.write)
    zero = Constant(0, _WIDE)
    for congruence in statement.conditions:
        if isinstance(congruence, Congruence):
            form, modulus = congruence.form, Constant(congruence.modulus, _WIDE)
            # A remainder is 0 for the same dividends in C as in mathematics.
            remainder = Binary("rem", IndexValue(form, _WIDE), modulus, _WIDE)
            holds = Binary("eq", remainder, zero, IntType(32, True))
            if isinstance(expr, Scatter):
                never = Constant(0, expr.condition.type)
                expr = replace(expr, condition=Select(holds, expr.condition, never, never.type))
            else:
                expr = Select(holds, expr, old, type_)
    plain = tuple(c for c in statement.conditions if not isinstance(c, Congruence))
    return replace(statement, conditions=plain, reads=reads, expr=expr)


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
        others get loops that step over the rest (`transforms.normalise`), and their iterators no
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
