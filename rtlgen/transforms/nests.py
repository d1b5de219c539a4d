"""The nests of a program: where its tree of loops branches, and which nests are perfect."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, statements_under, walk_tree


@dataclass(frozen=True, slots=True)
class PerfectNest:
    """A perfect nest: its loops, outermost first, and the statements of the innermost one."""

    loops: tuple[Loop, ...]
    statements: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.loops[0].span.line


def branching(nodes: tuple[Node, ...]) -> tuple[tuple[Loop, ...], tuple[Node, ...]]:
    """Return the loops around the first level that holds several nests, and that level.

    The level of a program that holds a single nest is the body of its innermost loop.
    """
    outer: list[Loop] = []
    while True:
        match [node for node in nodes if holds_loop(node)]:
            case [LoopNode(loop, body)]:
                outer.append(loop)
                nodes = body
            case [ConditionNode(_, body)]:
                nodes = body
            case _:
                return tuple(outer), nodes


def holds_loop(node: Node) -> bool:
    return any(isinstance(inner, LoopNode) for inner in walk_tree((node,)))


def first_loop(node: Node) -> Loop:
    """Return the first loop of a node that holds one."""
    return next(n.loop for n in walk_tree((node,)) if isinstance(n, LoopNode))


def perfect_nest(node: Node) -> PerfectNest | None:
    """Return `node` as a perfect nest, or None when it is something else."""
    loops: list[Loop] = []
    while isinstance(node, LoopNode):
        loops.append(node.loop)
        if not any(map(holds_loop, node.body)):
            return PerfectNest(tuple(loops), statements_under(node.body))
        if len(node.body) > 1:
            return None
        node = node.body[0]
    return None
