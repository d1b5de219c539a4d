"""Bring nests that follow each other into the same loops, to cut them into common tiles.

Each statement gets as many loops as the deepest one: what has fewer runs in one iteration of those
that it lacks. A whole nest may be delayed in a loop, so that its iterations stand beside later ones
of the nests before it.

Rewrite
-------
    for i<N  S0(i)                              for i<N  for k in {0}      S0(i)
    for i<N  for k<N  S1(i, k)           ->     for i<N  for k<N           S1(i, k)
    for i<N  for k<N  S2(i, k)                  for i in 8..N+7  for k<N   S2(i - 8, k)

Reference: the pads and shifts of MF3 (section 3), here of loops that are cut afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from rtlgen.transforms.normalise import boxed, program_order, restricted
from rtlgen.transforms.reschedule import new_iterators

Values = Mapping[str, Affine]
"""What iterators stand for."""


def side_by_side(
    scop: Scop, nests: Sequence[Sequence[str]], pads: Mapping[str, Sequence[int]]
) -> Scop:
    """Return a normalised program with its statements in nests, one after another, and padded.

    Parameters
    ----------
    nests: the statements of each; together those of the program.
    pads: by statement, in which iteration of each of the loops that it lacks it runs, outermost
        first.
    """
    names = new_iterators(scop, max((len(each) for each in pads.values()), default=0), "pad")

    def loops_of(statement: Statement) -> list[Loop]:
        places = pads.get(statement.name, ())
        return [
            Loop(name, Affine((), place), Affine((), place + 1), 1, statement.span)
            for name, place in zip(names, places, strict=False)
        ]

    def padded(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            if isinstance(node, StatementNode):
                inner: Node = node
                for loop in reversed(loops_of(scop.statement(node.statement))):
                    inner = LoopNode(loop, (inner,))
                found.append(inner)
            else:
                found.append(replace(node, body=padded(node.body)))
        return tuple(found)

    tree = tuple(
        node for names in nests for node in padded(restricted(scop.tree, frozenset(names)))
    )
    every = [scop.statement(name) for names in nests for name in names]
    statements = tuple(
        statement.rewritten({}, (*statement.loops, *loops_of(statement))) for statement in every
    )
    return _rebuilt(scop, statements, tree)


def delayed(scop: Scop, level: int, iterations: Mapping[str, int]) -> Scop:
    """Return a program in which statements run so many iterations later in one of their loops.

    Parameters
    ----------
    level: of that loop; 0: the outermost. iterations: by statement; statements that share the loop
        are delayed alike.
    """

    def moved(nodes: tuple[Node, ...], depth: int, by: int, values: Values) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case LoopNode(loop, body):
                    inner = values
                    if depth == level:
                        inner = {loop.iterator: Affine.variable(loop.iterator) - by}
                    new = _moved(loop, by if depth == level else 0, inner)
                    found.append(LoopNode(new, moved(body, depth + 1, by, inner)))
                case ConditionNode(conditions, body):
                    there = tuple(c.substitute(values) for c in conditions)
                    found.append(ConditionNode(there, moved(body, depth, by, values)))
                case StatementNode():
                    found.append(node)
        return tuple(found)

    tree = tuple(
        new for node in scop.tree for new in moved((node,), 0, iterations[_first_of(node)], {})
    )
    statements = tuple(
        _delayed(statement, level, iterations[statement.name]) for statement in scop.statements
    )
    return _rebuilt(scop, statements, tree)


def _delayed(statement: Statement, level: int, by: int) -> Statement:
    iterator = statement.iterators[level]
    values = {iterator: Affine.variable(iterator) - by}
    loops = tuple(
        loop if k < level else _moved(loop, by if k == level else 0, values)
        for k, loop in enumerate(statement.loops)
    )
    return statement.rewritten(values, loops)


def _moved(loop: Loop, by: int, values: Values) -> Loop:
    """Return a loop that counts from `by` iterations further on, with `values` in its bounds."""
    new = loop.substitute(values)
    limits = tuple(limit.substitute(values) for limit in loop.limits)
    return replace(new, start=new.start + by, stop=new.stop + by * loop.scale, limits=limits)


def _first_of(node: Node) -> str:
    while not isinstance(node, StatementNode):
        node = node.body[0]
    return node.statement


def _rebuilt(scop: Scop, statements: tuple[Statement, ...], tree: tuple[Node, ...]) -> Scop:
    return boxed(replace(scop, statements=statements, tree=tree, schedule=program_order(tree)))
