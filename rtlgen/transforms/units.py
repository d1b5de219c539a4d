"""Units of the fused loop: statements that can be placed alone, and cycles that must move together.

Loop distribution (Allen and Kennedy, TOPLAS 1987) splits a program into the strongly connected
components of its dependence graph. A component of one statement is a perfect nest of its own. The
statements of a larger one feed each other across the iterations of loops that they share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rustworkx

from rtlgen.ir.scop import LoopNode, Node, Scop, StatementNode
from rtlgen.poly.dependences import Dependence


@dataclass(frozen=True, slots=True)
class Unit:
    """Statements of one strongly connected component, in program order."""

    statements: tuple[str, ...]


def dependence_units(scop: Scop, dependences: Sequence[Dependence]) -> tuple[Unit, ...]:
    """Return the components so that every dependence points forward, near program order."""
    order = {statement.name: n for n, statement in enumerate(scop.statements)}
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(order))
    graph.add_edges_from_no_data(
        sorted({(order[d.source], order[d.sink]) for d in dependences if d.source != d.sink})
    )
    components = [sorted(c) for c in rustworkx.strongly_connected_components(graph)]
    condensed: rustworkx.PyDiGraph[list[int], None] = rustworkx.PyDiGraph()
    condensed.add_nodes_from(components)
    home = {member: n for n, members in enumerate(components) for member in members}
    condensed.add_edges_from_no_data(
        sorted({(home[a], home[b]) for a, b in graph.edge_list() if home[a] != home[b]})
    )
    sequence = rustworkx.lexicographical_topological_sort(
        condensed, key=lambda members: f"{members[0]:09d}"
    )
    names = list(order)
    return tuple(Unit(tuple(names[m] for m in members)) for members in sequence)


def loop_paths(tree: tuple[Node, ...]) -> dict[str, tuple[int, ...]]:
    """Return the loops around every statement, outermost first, as numbers in program order."""
    paths: dict[str, tuple[int, ...]] = {}
    count = 0

    def visit(nodes: tuple[Node, ...], path: tuple[int, ...]) -> None:
        nonlocal count
        for node in nodes:
            if isinstance(node, StatementNode):
                paths[node.statement] = path
            elif isinstance(node, LoopNode):
                count += 1
                visit(node.body, (*path, count - 1))
            else:
                visit(node.body, path)

    visit(tree, ())
    return paths
