"""Which statements share loops: strongly connected components and where to cut between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

import rustworkx

from rtlgen.poly.edges import Edge

Fusion: TypeAlias = Literal["no", "smart", "max"]
"""What may share loops.

`no`: only the statements of one component. `smart`: components of the same depth. `max`: whatever
a common hyperplane exists for.
"""
FUSIONS: tuple[Fusion, ...] = ("no", "smart", "max")

Group = tuple[str, ...]


def connected(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the groups of statements that edges connect, in the order of their first members."""
    graph, _ = _graph(statements, edges)
    parts = sorted(sorted(part) for part in rustworkx.weakly_connected_components(graph))
    return [tuple(statements[k] for k in part) for part in parts]


def components(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the strongly connected components, sources first, else in the given order."""
    graph, _ = _graph(statements, edges)
    members = [sorted(part) for part in rustworkx.strongly_connected_components(graph)]
    home = {k: number for number, part in enumerate(members) for k in part}
    condensed: rustworkx.PyDiGraph[list[int], None] = rustworkx.PyDiGraph()
    condensed.add_nodes_from(members)
    condensed.add_edges_from_no_data(
        sorted({(home[a], home[b]) for a, b in graph.edge_list() if home[a] != home[b]})
    )
    order = rustworkx.lexicographical_topological_sort(condensed, key=lambda part: f"{part[0]:09d}")
    return [tuple(statements[k] for k in part) for part in order]


def cut_by_depth(groups: Sequence[Group], depths: Mapping[str, int]) -> list[Group]:
    """Return neighbouring groups of the same depth as one."""
    return [
        tuple(name for group in same for name in group)
        for _, same in groupby(groups, lambda group: max(depths[name] for name in group))
    ]


def cut_after_longest(groups: Sequence[Group], possible: Callable[[Group], bool]) -> list[Group]:
    """Cut once: after the longest run of leading groups that may share a hyperplane."""
    for count in range(len(groups) - 1, 0, -1):
        leading = tuple(name for group in groups[:count] for name in group)
        if count == 1 or possible(leading):
            rest = tuple(name for group in groups[count:] for name in group)
            return [leading, rest]
    return list(groups)


def _graph(
    statements: Sequence[str], edges: Sequence[Edge]
) -> tuple[rustworkx.PyDiGraph[str, None], dict[str, int]]:
    place = {name: k for k, name in enumerate(statements)}
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(statements))
    graph.add_edges_from_no_data(
        sorted({(place[e.source], place[e.sink]) for e in edges if e.source != e.sink})
    )
    return graph, place
